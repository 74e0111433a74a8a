"""Which panes are shown, and how large: what a person has chosen, as plain values. Knows nothing of widgets.

A preset hides some panes; what is toggled is shown or hidden against it. Sizes are shares: of the height of a column,
of the whole height ("panes" and what stands below), and of the width ("said", "guessed", "measured").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

ALL, LAB, FIGURES = "all", "lab", "figures"
SHOWN: Mapping[str, frozenset[str] | None] = {
    "chat": frozenset({"conversation"}),
    ALL: None,
    LAB: None,
    "demo": frozenset({"conversation", "candidate", "timeline"}),
}
"""Preset → the panes that it shows; None: all for which there is room. One of them has figures in them, too."""
PRESETS = tuple(SHOWN)
LARGEST = 10_000


@dataclass(frozen=True, slots=True)
class Layout:
    """``toggled``: panes, and figures, shown or hidden against the preset. ``sizes``: shares, by name. ``zoomed``: the
    pane that is shown alone for now; empty: none."""

    preset: str = ALL
    toggled: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    zoomed: str = ""

    def shows(self, pane: str) -> bool:
        """Where there is room for it."""
        if self.zoomed:
            return pane == self.zoomed
        shown = SHOWN[self.preset]
        return (shown is None or pane in shown) != (pane in self.toggled)

    @property
    def figured(self) -> bool:
        """Whether panes show figures beside plain words."""
        return (self.preset == LAB) != (FIGURES in self.toggled)

    def turn_figures(self) -> Layout:
        """With figures, or without."""
        return replace(self, toggled=self.toggled ^ {FIGURES})

    def zoom(self, pane: str) -> Layout:
        """That pane alone, or all as before where it was."""
        return replace(self, zoomed="" if self.zoomed == pane else pane)

    def toggle(self, pane: str) -> Layout:
        """Hides the pane, or shows it."""
        return replace(self, toggled=self.toggled ^ {pane}, zoomed="")

    def sized(self, shares: Mapping[str, int]) -> Layout:
        return replace(self, sizes={**self.sizes, **{name: max(1, share) for name, share in shares.items()}})

    @property
    def kept(self) -> dict[str, str]:
        """As settings, by their keys: what ``layout`` reads."""
        sizes = " ".join(f"{name}={share}" for name, share in sorted(self.sizes.items()))
        return {"ui.preset": self.preset, "ui.toggled": " ".join(sorted(self.toggled)), "ui.sizes": sizes}


def layout(preset: str, toggled: str, sizes: str) -> Layout:
    """Of the settings. What names nothing, or is no size, is left out."""
    pairs = [part.partition("=") for part in sizes.split()]
    shares = {name: int(share) for name, _, share in pairs if share.isascii() and share.isdigit() and len(share) < 6}
    return Layout(
        preset if preset in SHOWN else ALL,
        frozenset(toggled.replace(",", " ").split()),
        {name: share for name, share in shares.items() if 0 < share < LARGEST},
    )

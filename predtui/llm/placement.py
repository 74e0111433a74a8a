"""Where a model is to be held, and how: what a person may choose of it. Must not know of engines."""

from __future__ import annotations

from dataclasses import dataclass

from predtui.errors import PredtuiError
from predtui.settings import LlmSettings

AUTO, ALL = "auto", "-1"
LEAST_BATCH = 32


@dataclass(frozen=True, slots=True)
class Placement:
    """``gpu_layers``: as many as fit ("auto"), all ("-1"), or how many. ``kv``: type of the cache's numbers, f16, q8_0
    or q4_0. ``flash``: auto, on or off. ``mapped``: whether weights are mapped from the file, so that the system may
    take their memory back; ``locked``: whether it may not. ``batch``: tokens that are evaluated at once at most, 0 for
    the engine's own. ``split``: shares of the GPUs, as "3,1"; ``device``: their names, with commas, or "cpu"; both may
    be empty. ``graphs``: whether forwards are to be CUDA graphs: auto, on or off."""

    gpu_layers: str = AUTO
    kv: str = "f16"
    flash: str = AUTO
    mapped: bool = True
    locked: bool = False
    batch: int = 0
    split: str = ""
    device: str = ""
    graphs: str = AUTO

    @classmethod
    def of(cls, settings: LlmSettings) -> Placement:
        return cls(
            gpu_layers=settings.gpu_layers,
            kv=settings.kv_type,
            flash=settings.flash_attention,
            mapped=settings.mmap,
            locked=settings.mlock,
            batch=settings.batch,
            split=settings.tensor_split,
            device=settings.device,
            graphs=settings.graphs,
        )

    def shares(self) -> tuple[float, ...]:
        """Those of the GPUs. Raises PredtuiError where ``split`` is no list of numbers."""
        try:
            shares = tuple(float(part) for part in self.split.split(",")) if self.split.strip() else ()
        except ValueError:
            shares = (-1.0,)
        if any(not 0 <= share < 1e9 for share in shares) or (shares and not sum(shares)):
            raise PredtuiError(
                f"llm.tensor_split = {self.split!r} should be the share of each GPU.",
                "Write it as 3,1 for two of them.",
            )
        return shares

    def devices(self) -> tuple[str, ...]:
        """Names of those that are asked for; none where the engine may choose."""
        return tuple(name.strip() for name in self.device.split(",") if name.strip())

    def check(self) -> None:
        """Raises PredtuiError where a choice is none, or where they do not go together."""
        self.shares()
        if self.gpu_layers not in (AUTO, ALL) and not self.gpu_layers.isdecimal():
            raise PredtuiError(f"llm.gpu_layers = {self.gpu_layers!r} should be auto, -1 for all, or a number.")
        if 0 < self.batch < LEAST_BATCH:
            raise PredtuiError(f"llm.batch = {self.batch} should be {LEAST_BATCH} to 256, or 0.")
        if self.flash == "off" and self.kv != "f16":
            raise PredtuiError(
                f"llm.kv_type = {self.kv!r} needs flash attention.",
                "Set llm.flash_attention to auto, or kv_type to f16.",
            )


USUAL = Placement()
"""What suits where nothing is chosen."""

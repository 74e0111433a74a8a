"""PEARL (Liu et al. 2024): draft and target work at the same time, each on what the other will need next.

It is DuoDecoding with a single sequence, so ``Duo`` does the work. Pre-verify: with nothing left to verify, the
target evaluates the context while the draft is made, which judges the draft's first token. Post-verify: it verifies
what is left of a draft while the draft goes on, as if all of that were accepted. The length of drafts adapts: as long
as all is accepted the draft never stops, and how many tokens it makes a forward of the target follows from measured
costs and acceptance (``costs.budget``), where the paper takes the ratio of the two models' speeds. Must not know of
engines.
"""

from __future__ import annotations

from predtui.decoding import duo
from predtui.decoding.base import Decoder
from predtui.decoding.duo import DuoOptions
from predtui.decoding.parts import Parts

OPTIONS = DuoOptions(sequences=1)


def make(parts: Parts) -> Decoder:
    """Raises PredtuiError as ``duo.make``."""
    return duo.make(parts, OPTIONS)

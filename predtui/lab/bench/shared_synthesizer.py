"""One loaded synthesiser for many stages, in turn. Must not know what they say with it."""

from __future__ import annotations

from predtui.clock import Clock
from predtui.lab.bench.virtual import PricedSynthesizer
from predtui.lab.profiles import HardwareProfile
from predtui.llm.base import Counters
from predtui.settings import TtsSettings
from predtui.tts.base import NeuralSynthesizer
from predtui.tts.stage import TtsStage, synthesizer


class SharedSynthesizer:
    """The synthesiser of the settings on this machine."""

    def __init__(self, options: TtsSettings) -> None:
        """Raises PredtuiError where it cannot be loaded."""
        self._options = options
        self._engine = synthesizer(options)

    @property
    def counters(self) -> Counters | None:
        """What its network has done; None where it has none."""
        return self._engine.counters if isinstance(self._engine, NeuralSynthesizer) else None

    def stage(self, clock: Clock) -> TtsStage:
        """A stage that has nothing in store."""
        return TtsStage(lambda: self._engine, ahead=self._options.ahead, memory_mb=self._options.memory)


class SilentSynthesizer:
    """A silent synthesiser at the prices of ``profile``, without a network."""

    counters = None

    def __init__(self, profile: HardwareProfile) -> None:
        self._profile = profile

    def stage(self, clock: Clock) -> TtsStage:
        return TtsStage(lambda: PricedSynthesizer(self._profile, clock))

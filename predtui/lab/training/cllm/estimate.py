"""What tuning is going to take, told before it begins. Must not know how it is done."""

from __future__ import annotations

from dataclasses import dataclass

from predtui.lab.training.cllm.config import Recipe
from predtui.lab.training.heads.estimate import require_memory, told_time
from predtui.lab.training.pocket.config import Budget
from predtui.llm.base import LoadedModel
from predtui.llm.memory import told


@dataclass(frozen=True, slots=True)
class Estimate:
    """``memory`` in bytes, beside the model's own."""

    memory: int

    def line(self, budget: Budget) -> str:
        """For a person."""
        time = f"{budget.steps:,} steps" if budget.minutes is None else told_time(60 * budget.minutes)
        return f"about {time}, the collecting of replies included, {told(self.memory)} of memory beside the model"


def estimated(loaded: LoadedModel, recipe: Recipe, full: bool) -> Estimate:
    """``full``: whether all weights are tuned. Raises PredtuiError where there is not enough memory."""
    network = loaded.model.network.config.get_text_config()  # type: ignore[attr-defined]
    weights = loaded.parameters * (16 if full else 4)
    columns = recipe.batch_tokens + recipe.replay_tokens
    activations = 4 * columns * (4 * loaded.model.vocab_size + 20 * network.hidden_size * network.num_hidden_layers)
    require_memory(memory := weights + activations, "Tune a smaller model, or without --full.")
    return Estimate(memory)

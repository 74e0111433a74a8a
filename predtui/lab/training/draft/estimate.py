"""What training a draft is going to take, told before it begins. Must not know how it is trained."""

from __future__ import annotations

from predtui.lab.training.draft.config import Recipe
from predtui.lab.training.heads.estimate import ONE_BY_ONE, PROMPT, Estimate, rate
from predtui.lab.training.pocket.config import Budget, Shape
from predtui.llm.base import LoadedModel


def estimated(loaded: LoadedModel, shape: Shape, recipe: Recipe, budget: Budget, collects: bool) -> Estimate:
    """``collects``: whether replies are still to be collected. Raises PredtuiError where there is not enough memory."""
    said = recipe.reply_tokens / 2
    speed = rate(shape.hidden, 32 * recipe.batch)
    collecting = 2 * loaded.parameters * recipe.replies * (PROMPT + ONE_BY_ONE * said) / speed
    tokens = recipe.batch * (PROMPT + said)
    step = tokens * (6 * shape.parameters + (1 - recipe.pretraining) * 2 * loaded.parameters) / speed
    training = 60 * budget.minutes if budget.minutes is not None else step * (budget.steps or 0)
    logits = 4 * 6 * recipe.batch * (recipe.reply_tokens + PROMPT) * shape.vocab
    activations = 4 * 20 * int(tokens) * shape.hidden * shape.layers
    memory = 16 * shape.parameters + logits + activations
    found = Estimate(recipe.replies, collecting * collects, training, memory, "")
    found.require("Give a smaller --width or --batch.")
    return found

"""The networks of the methods, as they are trained: weights by the names that ``predtui.decoding.drafters`` reads.

Each takes the states behind tokens, the tokens that follow and what could be copied after each of those, and the tokens
before; it tells what does come. Must not know where states come from, or of losses.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork
from predtui.lab.training.heads.networks.chimera import ChimeraNetwork
from predtui.lab.training.heads.networks.clover import CloverNetwork
from predtui.lab.training.heads.networks.eagle import EagleNetwork
from predtui.lab.training.heads.networks.falcon import FalconNetwork
from predtui.lab.training.heads.networks.hydra import HydraNetwork
from predtui.lab.training.heads.networks.medusa import MedusaNetwork

NETWORKS: dict[str, Callable[[Tensor, Tensor, Recipe], HeadNetwork]] = {
    "medusa": MedusaNetwork,
    "hydra": HydraNetwork,
    "eagle": EagleNetwork,
    "clover": CloverNetwork,
    "falcon": FalconNetwork,
    "chimera": ChimeraNetwork,
}
"""By the method, of (embedding, output, recipe)."""

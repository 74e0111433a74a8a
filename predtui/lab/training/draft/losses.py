"""How far a draft's distribution is from its target's. Must not know of networks.

TVD++ is the total variation distance as a policy gradient: drawing x from the draft p is rewarded where the target q
thinks it likelier than the draft does, and rewards are normalised over the batch (Goel et al. 2024, section 3). The
expectation over x is taken whole rather than sampled, so that the mean of the rewards changes nothing and what remains
is the distance's own gradient, scaled by how much rewards vary.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

_SMALL = 1e-6


def tvd(draft: Tensor, target: Tensor) -> Tensor:
    """Total variation distance, 0 to 1, a place; logits [places, vocabulary]."""
    return 0.5 * (draft.softmax(-1) - target.softmax(-1)).abs().sum(-1).mean()


def tvd_plus_plus(draft: Tensor, target: Tensor) -> Tensor:
    """Its gradient is what counts: the value itself is no distance. Logits [places, vocabulary]."""
    log_p, q = draft.log_softmax(-1), target.softmax(-1)
    p = log_p.exp().detach()
    reward = (q > p + _SMALL).to(p.dtype)
    mean = (p * reward).sum(-1).mean()
    spread = (p * (reward - mean).square()).sum(-1).mean().sqrt()
    return -(p * log_p * (reward - mean) / (spread + _SMALL)).sum(-1).mean()


def kl(draft: Tensor, target: Tensor) -> Tensor:
    """Kullback-Leibler divergence of the draft from the target, in nats a place; logits [places, vocabulary]."""
    return functional.kl_div(draft.log_softmax(-1), target.log_softmax(-1), log_target=True, reduction="batchmean")


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"tvd++": tvd_plus_plus, "tvd": tvd, "kl": kl}

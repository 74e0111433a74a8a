"""Each part against a formulation of its own, in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from predtui.tts.zonos.backbone import Attention, BackboneConfig, GatedMlp, KeyValueCache, rotate, turn
from predtui.tts.zonos.config import CODEBOOKS, EOS, MASKED
from predtui.tts.zonos.model import ZonosModel
from predtui.tts.zonos.pattern import audible, delayed, forced, undelayed
from predtui.tts.zonos.quantize import Int8Linear, quantize
from predtui.tts.zonos.sampling import SamplingOptions, cut, guided, penalised, sample, unified
from predtui.tts.zonos.symbols import LANGUAGES, VOCABULARY, ids

IDS = 1025
seeds = st.integers(0, 2**32 - 1)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


@given(seeds, st.integers(0, 3000), st.sampled_from([2, 8, 16]))
def test_rotary_pairs_are_complex_numbers_turned(seed: int, position: int, head_dim: int) -> None:
    x = normal(seed, head_dim)
    turned = rotate(x.view(1, 1, 1, -1), turn(torch.tensor([position]), head_dim, torch.float64)).flatten()
    for pair in range(head_dim // 2):
        before = complex(float(x[2 * pair]), float(x[2 * pair + 1]))
        angle = position * 10_000 ** (-2 * pair / head_dim)
        after = before * complex(math.cos(angle), math.sin(angle))
        assert complex(float(turned[2 * pair]), float(turned[2 * pair + 1])) == pytest.approx(after, abs=1e-9)


def naive_attention(layer: Attention, x: Tensor, head_dim: int) -> Tensor:
    """One query at a time, over the keys up to it; group by group."""
    time = x.shape[1]
    rows = layer.in_proj(x).view(*x.shape[:2], -1, head_dim)
    by = turn(torch.arange(time), head_dim, x.dtype)
    queries = rotate(rows[:, :, : layer.heads], by)
    keys = rotate(rows[:, :, layer.heads : layer.heads + layer.kv_heads], by)
    values = rows[:, :, layer.heads + layer.kv_heads :]
    out = torch.zeros_like(queries)
    for t in range(time):
        for head in range(layer.heads):
            group = head // (layer.heads // layer.kv_heads)
            scores = (keys[:, : t + 1, group] * queries[:, None, t, head]).sum(-1) / math.sqrt(head_dim)
            weights = scores.exp() / scores.exp().sum(1, keepdim=True)
            out[:, t, head] = (weights[..., None] * values[:, : t + 1, group]).sum(1)
    return layer.out_proj(out.flatten(2))


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_attention_is_a_weighted_mean_of_values_of_the_past(kv_heads: int) -> None:
    torch.manual_seed(kv_heads)
    config = BackboneConfig(d_model=16, layers=1, d_ff=8, heads=4, kv_heads=kv_heads)
    layer = Attention(config, 0).double()
    x = normal(1, 2, 7, 16)
    positions = torch.arange(7)
    cache = KeyValueCache.empty(config, 2, x, capacity=7)
    seen = torch.arange(7) <= positions[:, None]
    got = layer(x, turn(positions, 4, x.dtype), cache, positions, seen)
    assert torch.allclose(got, naive_attention(layer, x, 4), atol=1e-12)


def test_the_mlp_gates_its_first_half_with_its_second() -> None:
    config = BackboneConfig(d_model=6, layers=1, d_ff=5, heads=1, kv_heads=1)
    mlp = GatedMlp(config).double()
    x = normal(2, 6)
    first = mlp.fc1.weight @ x
    gated = torch.stack([first[i] * first[5 + i] / (1 + torch.exp(-first[5 + i])) for i in range(5)])
    assert torch.allclose(mlp(x), mlp.fc2.weight @ gated, atol=1e-12)


@pytest.mark.parametrize("pieces", [[9], [1] * 9, [4, 5], [5, 1, 3]])
def test_the_cache_stands_for_what_came_before(models: dict[str, ZonosModel], pieces: list[int]) -> None:
    backbone = models["published"].backbone
    x = normal(3, 2, 9, 32)
    whole = backbone.extend(x, KeyValueCache.empty(backbone.config, 2, x))
    cache = KeyValueCache.empty(backbone.config, 2, x, capacity=1)
    parts = [backbone.extend(part, cache) for part in x.split(pieces, dim=1)]
    assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-12)


@given(seeds, st.integers(0, 12))
def test_the_delay_pattern_shifts_codebook_k_by_k_plus_one(seed: int, frames: int) -> None:
    codes = torch.from_numpy(np.random.default_rng(seed).integers(0, 1024, size=(CODEBOOKS, frames)))
    columns = delayed(codes)
    for k in range(CODEBOOKS):
        assert columns[k].tolist() == [MASKED] * (k + 1) + codes[k].tolist() + [MASKED] * (8 - k)
    assert torch.equal(undelayed(columns), codes)


@given(seeds, st.integers(0, 5), st.integers(0, 8), st.integers(1, 6))
def test_the_columns_around_known_frames_and_the_end(seed: int, frames: int, own: int, extra: int) -> None:
    """Free places aside, columns are the delay pattern of known frames, then free ones, then one frame of EOS."""
    known = torch.from_numpy(np.random.default_rng(seed).integers(0, 1024, size=(CODEBOOKS, frames)))
    free = torch.full((CODEBOOKS, own), -1)
    ending = torch.full((CODEBOOKS, 1), EOS)
    wanted = delayed(torch.cat((known, free, ending), dim=1))
    end = frames + own + 1
    got = [forced(column, known, end if column >= end else None) for column in range(end + CODEBOOKS)]
    assert torch.equal(torch.stack(got, 1), wanted)
    assert forced(end + CODEBOOKS + extra, known, end).tolist() == [MASKED] * CODEBOOKS


def test_the_staircase_is_one_codebook_a_column() -> None:
    none = torch.empty((CODEBOOKS, 0), dtype=torch.long)
    for step in range(CODEBOOKS):
        assert forced(20 + step, none, 20).tolist() == [MASKED] * step + [EOS] + [-1] * (8 - step)


def test_special_ids_make_no_sound() -> None:
    assert audible(torch.tensor([[0, 1023, EOS, MASKED]])).tolist() == [[0, 1023, 0, 0]]


@given(seeds, st.floats(0, 5))
def test_guidance_goes_beyond_the_condition(seed: int, scale: float) -> None:
    logits = normal(seed, 2, CODEBOOKS, 4)
    for conditional, unconditional, mixed in zip(
        logits[0].flatten(), logits[1].flatten(), guided(logits, scale).flatten(), strict=True
    ):
        assert float(mixed) == pytest.approx(scale * float(conditional) + (1 - scale) * float(unconditional))


@given(seeds, st.integers(0, 4), st.floats(1, 4))
def test_the_penalty_counts_occurrences(seed: int, columns: int, penalty: float) -> None:
    random = np.random.default_rng(seed)
    logits = normal(seed, CODEBOOKS, IDS)
    recent = torch.from_numpy(random.choice([0, 1, 5, 1023, EOS, MASKED], size=(CODEBOOKS, columns)))
    got = penalised(logits, recent, penalty)
    for k in range(CODEBOOKS):
        for code in (0, 1, 2, 5, 1023, EOS):
            times = recent[k].tolist().count(code) if code < EOS else 0
            value, factor = float(logits[k, code]), penalty**times
            assert float(got[k, code]) == pytest.approx(value / factor if value > 0 else value * factor)


NOTHING = torch.empty((CODEBOOKS, 0), dtype=torch.long)


@given(seeds, st.floats(0.01, 1.0))
def test_min_p_lets_only_likely_codes_pass(seed: int, min_p: float) -> None:
    logits = normal(seed, CODEBOOKS, IDS) * 2
    probabilities = logits.softmax(1)
    options = SamplingOptions(min_p=min_p, seed=seed)
    chosen = sample(logits, NOTHING, 3, options)
    for k in range(CODEBOOKS):
        ids_allowed = probabilities[k] if k == 0 else probabilities[k, :EOS]
        assert probabilities[k, chosen[k]] >= min_p * ids_allowed.max() * (1 - 1e-9)


@given(seeds, st.floats(0.05, 1.0), st.integers(1, 50))
def test_top_p_and_top_k_let_only_the_likeliest_codes_pass(seed: int, top_p: float, top_k: int) -> None:
    logits = normal(seed, CODEBOOKS, IDS) * 2
    within = cut(logits, SamplingOptions(top_p=top_p, top_k=top_k, min_p=0.0)).isfinite()
    for row, kept in zip(logits.softmax(1), within, strict=True):
        ordered = row.sort(descending=True).values
        before = ordered.cumsum(0) - ordered
        count = min(top_k, int((before <= top_p).sum()))
        assert kept.sum() == count
        assert row[kept].min() >= ordered[count - 1]


@given(seeds, st.floats(0.1, 2), st.floats(-1, 1), st.floats(-1, 1))
def test_linear_sampling_is_a_line_and_a_square_of_log_probabilities(
    seed: int, linear: float, confidence: float, quadratic: float
) -> None:
    logits = normal(seed, CODEBOOKS, IDS)
    logits[:, 7] = -torch.inf
    got = unified(logits, linear, confidence, quadratic)
    for row, changed in zip(logits.log_softmax(1).tolist(), got.tolist(), strict=True):
        entropy = -sum(math.exp(value) * value for value in row if value > -math.inf)
        for value, other in zip(row, changed, strict=True):
            wanted = value * (linear + entropy * confidence) - value**2 * quadratic if value > -math.inf else value
            assert other == pytest.approx(wanted)


def test_only_the_first_codebook_may_end_a_sentence() -> None:
    logits = torch.zeros(CODEBOOKS, IDS, dtype=torch.float64)
    logits[:, EOS] = 100
    assert sample(logits, NOTHING, 0, SamplingOptions())[0] == EOS
    assert (sample(logits, NOTHING, 0, SamplingOptions())[1:] != EOS).all()


def test_samples_follow_the_distribution_and_the_seed() -> None:
    logits = torch.full((CODEBOOKS, IDS), -torch.inf, dtype=torch.float64)
    logits[:, :3] = torch.tensor([0.5, 0.3, 0.2]).log()
    options = SamplingOptions(min_p=0.0)
    drawn = torch.stack([sample(logits, NOTHING, column, options) for column in range(1500)]).flatten()
    shares = torch.bincount(drawn, minlength=3) / drawn.numel()
    assert shares.tolist() == pytest.approx([0.5, 0.3, 0.2], abs=0.02)
    assert torch.equal(sample(logits, NOTHING, 5, options), sample(logits, NOTHING, 5, options))


def test_greedy_takes_the_likeliest() -> None:
    logits = normal(9, CODEBOOKS, IDS)
    logits[:, EOS] = -100
    assert torch.equal(sample(logits, NOTHING, 1, SamplingOptions(temperature=0.0)), logits.argmax(1))


def test_the_prefix_is_its_parts_in_order(models: dict[str, ZonosModel]) -> None:
    """Fourier features, embeddings and learned vectors, joined, projected, normalised; by hand."""
    prefix = models["published"].prefix_conditioner
    state = prefix.state_dict()
    said = torch.tensor(ids("həlˈoʊ"))
    value = torch.tensor([15.0], dtype=torch.float64)
    got = prefix({"espeak": said, "speaking_rate": value})
    rows = [state["conditioners.0.phoneme_embedder.weight"][said]]
    for n in (1, 2, 3, 4, 6):
        rows.append(state[f"conditioners.{n}.uncond_vector"][None])
    angles = 2 * math.pi * (15.0 / 40) * state["conditioners.5.weight"][:, 0]
    features = torch.cat((angles.cos(), angles.sin()))
    rate = state["conditioners.5.project.weight"] @ features + state["conditioners.5.project.bias"]
    rows.insert(-1, rate[None])
    joined = torch.cat(rows) @ state["project.weight"].T + state["project.bias"]
    centred = joined - joined.mean(1, keepdim=True)
    normed = centred / (centred.pow(2).mean(1, keepdim=True) + 1e-5).sqrt()
    assert torch.allclose(got[0], normed * state["norm.weight"] + state["norm.bias"], atol=1e-10)


def test_the_unconditional_prefix_has_the_text_and_learned_vectors(models: dict[str, ZonosModel]) -> None:
    prefix = models["published"].prefix_conditioner
    said = {"espeak": torch.tensor(ids("a")), "fmax": torch.tensor([100.0])}
    both = prefix.guided(said)
    assert torch.equal(both[0], prefix(said)[0])
    assert torch.equal(both[1], prefix({"espeak": said["espeak"]})[0])


def test_symbols() -> None:
    assert VOCABULARY == 189
    assert ids(";a☃") == [2, 4, 4 + 24 + 26, 1, 3]
    assert LANGUAGES.index("af") == 0
    assert len(set(LANGUAGES)) == len(LANGUAGES)


def test_int8_rounds_to_the_nearest_of_255_steps_a_row() -> None:
    linear = torch.nn.Linear(20, 7, bias=False).double()
    weight = linear.weight.detach().clone()
    small = Int8Linear(linear)
    restored = small.weight.double() * small.scale[:, None]
    assert ((restored - weight).abs() <= small.scale[:, None] / 2 + 1e-12).all()
    x = normal(4, 20)
    assert torch.allclose(small(x), restored @ x, atol=1e-12)


def test_quantizing_leaves_layers_with_a_bias() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False)))
    quantize(network)
    assert isinstance(network[0], torch.nn.Linear)
    assert isinstance(network[1][0], Int8Linear)  # type: ignore[index]

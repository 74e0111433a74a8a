"""The predgen bench: prices add up to its latencies, two runs agree to the byte, speculation changes no reply."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench import calibrate, figures, methods, predgen, streams
from predtui.lab.bench.plots import Chart, svg
from predtui.lab.bench.streams import Dialogue
from predtui.lab.profiles import HardwareProfile
from predtui.predgen.options import SpeculationOptions

FORWARD_MS, FIRST_SOUND_MS = 10.0, 50.0
PROFILE = HardwareProfile("toy", "made up", (1, 512), (0,), ((FORWARD_MS, FORWARD_MS),), 1e9, FIRST_SOUND_MS, 2.0)
OPTIONS = SpeculationOptions(engine="scripted", model="5", system="sys", reply_tokens=120)
QUESTIONS = ["what is the sun made of", "why", "no is the sun what made"]
DIALOGUES = [
    *(Dialogue((streams.typed(text),)) for text in QUESTIONS),
    Dialogue((streams.typed("is it"), streams.typed("so"))),
]


def bench(names: str = "baseline,greedy", **changes: Any) -> predgen.PredgenBench:
    chosen: dict[str, Any] = {"dialogues": DIALOGUES, "models": ["5"], "options": OPTIONS, "profile": PROFILE} | changes
    return predgen.PredgenBench(methods=methods.chosen(names), **chosen)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return predgen.result(bench())


def rows_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in result["rows"]}


def test_the_cascades_latency_is_its_forwards_and_its_first_sound(found: dict[str, Any]) -> None:
    plain = [turn for turn in found["turns"] if turn["method"] == "baseline"]
    assert len(plain) == 5
    for turn in plain:
        assert turn["ttfs_ms"] == pytest.approx(turn["nfetfs"] * FORWARD_MS)
        assert turn["audio_latency_ms"] == pytest.approx(turn["ttfs_ms"] + FIRST_SOUND_MS)
        assert turn["input_forwards"] == 0
        assert turn["generated"] == turn["tokens"]


def test_speculation_is_no_slower_and_changes_no_reply(found: dict[str, Any]) -> None:
    by_method = {name: [t for t in found["turns"] if t["method"] == name] for name in ("baseline", "greedy")}
    for plain, ours in zip(by_method["baseline"], by_method["greedy"], strict=True):
        assert (ours["prompt"], ours["reply"]) == (plain["prompt"], plain["reply"])
        assert ours["identical"]
        under_way = FORWARD_MS + FIRST_SOUND_MS
        assert ours["audio_latency_ms"] <= plain["audio_latency_ms"] + under_way
    row = rows_of(found)["greedy"]
    assert row["identical_share"] == 1.0
    assert row["speedup"] > 1.0
    assert row["input_forwards"] > 0
    assert 0 < row["wasted_token_share"] < 1


def test_synthesis_is_told_by_what_became_of_the_first_sentence(found: dict[str, Any]) -> None:
    turn = predgen.TurnRecord(**found["turns"][0])
    made = [("accept", 0, 0), ("partial", 30, 40), ("partial", 10, 20), ("reject", 50, 90)]
    records = [replace(turn, outcome=o, speech_forwards=f, speech_positions=p) for o, f, p in made]
    (row,) = predgen.rows(records)
    told = [[row[f"speech_{what}_{o}"] for what in ("turns", "forwards", "positions")] for o in ("accept", "partial")]
    assert told == [[1, 0.0, 0.0], [2, 20.0, 30.0]]
    assert row["speech_forwards_reject"] == 50.0
    unspoken = predgen.rows([turn])[0]
    assert unspoken["speech_turns_accept"] is None


def test_rows_have_what_the_table_needs(found: dict[str, Any]) -> None:
    for row in found["rows"]:
        assert {
            "method", "n", "ttfs_ms", "nfetfs", "audio_latency_ms", "p50_ms", "p95_ms", "nfetfs_1_share",
            "identical_share", "speedup", "input_forwards", "wasted_token_share",
        } <= row.keys()  # fmt: skip
        assert row["n"] == 5
        assert row["p50_ms"] <= row["p95_ms"]
        assert row["accuracy"] is None
    assert found["histograms"]["baseline"][2]
    assert sum(found["histograms"]["greedy"][1].values()) == 4


def test_each_method_is_held_against_the_same_turns_without_speculation(found: dict[str, Any]) -> None:
    plain, ours = (
        {(t["dialogue"], t["round"]): t["audio_latency_ms"] for t in found["turns"] if t["method"] == method}
        for method in ("baseline", "greedy")
    )
    assert sorted(plain) == sorted(ours) == [(0, 1), (1, 1), (2, 1), (3, 1), (3, 2)]
    row, same = rows_of(found)["greedy"], rows_of(found)["baseline"]
    assert row["forward_ms"] == FORWARD_MS
    assert row["slower_turns"] == sum(ours[turn] > plain[turn] + FORWARD_MS for turn in plain)
    firsts = [turn for turn in plain if turn[1] == 1]
    ratio = sum(plain[turn] for turn in firsts) / sum(ours[turn] for turn in firsts)
    assert row["first_turn_speedup"] == pytest.approx(ratio, abs=1e-3)
    assert (same["speedup"], same["first_turn_speedup"], same["slower_turns"]) == (1.0, 1.0, 0)


def test_a_bench_that_is_stopped_has_tables_of_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    turn, left = predgen._turn, iter(range(3))

    def stopped(*arguments: Any) -> predgen.TurnRecord:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return turn(*arguments)

    monkeypatch.setattr(predgen, "_turn", stopped)
    assert predgen.main(bench(), tmp_path / "out.json", tmp_path / "out.svg") == 130
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["stopped"] is True
    assert [row["n"] for row in written["rows"]] == [2, 1]
    assert predgen.main(bench(), tmp_path / "none.json", tmp_path / "none.svg") == 130
    assert json.loads((tmp_path / "none.json").read_text())["rows"] == []
    assert "Stopped after 0 of 10 turns." in capsys.readouterr().out


def test_a_turn_that_was_taken_back_has_no_reply_and_no_share_in_the_means() -> None:
    gone = Dialogue((streams.Stream(((0.0, "what is"), (1.0, "what"), (2.0, ""))),))
    asked = Dialogue((streams.Stream(((0.0, "what is"), (2.0, "why"))),))
    both, one = (predgen.result(bench("baseline", dialogues=said)) for said in ([gone, asked], [asked]))
    (row,), (expected,) = both["rows"], one["rows"]
    assert {**row, "n": 1} == expected
    assert both["histograms"] == one["histograms"]
    (alone,) = predgen.result(bench("baseline", dialogues=[gone]))["rows"]
    assert (alone["nfetfs"], alone["nfetfs_1_share"], alone["ttfs_ms"]) == (None, None, None)
    predgen.main(bench("baseline", dialogues=[gone]))


def test_turns_of_a_dialogue_build_on_each_methods_own_replies(found: dict[str, Any]) -> None:
    alone = predgen.result(bench("baseline", dialogues=[Dialogue((streams.typed("so"),))]))["turns"][0]
    after = next(turn for turn in found["turns"] if turn["prompt"] == "so")
    assert after["round"] == 2
    assert alone["round"] == 1
    assert after["reply"] != alone["reply"]


def test_two_runs_are_the_same_to_the_byte(found: dict[str, Any]) -> None:
    assert json.dumps(predgen.result(bench())) == json.dumps(found)


def test_sampled_replies_are_those_of_plain_sampling_with_each_seed() -> None:
    sampled = SpeculationOptions(engine="scripted", model="5", system="sys", reply_tokens=60, temperature=0.8, seed=3)
    found = predgen.result(bench(options=sampled, seeds=2))
    assert rows_of(found)["greedy"]["identical_share"] == 1.0
    assert {turn["seed"] for turn in found["turns"]} == {3, 4}
    replies = [{turn["reply"] for turn in found["turns"] if turn["seed"] == seed} for seed in (3, 4)]
    assert replies[0] != replies[1]


def test_without_the_tie_sampled_replies_are_others_and_two_runs_agree() -> None:
    sampled = SpeculationOptions(engine="scripted", model="5", system="sys", reply_tokens=60, temperature=0.8, seed=3)
    found, again = (predgen.result(bench("greedy,independent", options=sampled)) for _ in range(2))
    assert found == again
    rows = rows_of(found)
    assert rows["greedy"]["identical_share"] == 1.0
    assert rows["independent"]["identical_share"] < 1.0


def test_a_drafts_forwards_have_their_price_in_virtual_time() -> None:
    cascade = {"drafted": replace(methods.METHODS["drafted"], speculates=False)}
    waits = []
    for speed in (1e9, 2.0):
        profile = replace(PROFILE, draft_speed=speed)
        (turn,) = predgen.run(cascade, [Dialogue((streams.typed("why"),))], OPTIONS, profile)
        waits.append(turn.ttfs_ms or 0)
    assert 0 < waits[0] < waits[1]
    with pytest.raises(PredtuiError, match="does not say what a draft model costs"):
        predgen.result(bench("drafted"))


def test_whatever_is_switched_off_the_reply_is_the_same() -> None:
    names = [name for name in methods.chosen("ablation") if name != "drafted"]
    found = predgen.result(bench(",".join(names)))
    assert {row["identical_share"] for row in found["rows"]} == {1.0}
    replies = {name: [turn["reply"] for turn in found["turns"] if turn["method"] == name] for name in names}
    assert all(said == replies["baseline"] for said in replies.values())


def test_in_real_time_replies_are_the_same(found: dict[str, Any]) -> None:
    quick = [Dialogue((streams.typed("what is the sun made of", rate=60_000),))]
    turns = predgen.result(bench(dialogues=quick, profile=None))["turns"]
    expected = next(turn["reply"] for turn in found["turns"] if turn["prompt"] == "what is the sun made of")
    assert [turn["reply"] for turn in turns] == [expected, expected]
    assert all(turn["identical"] and turn["audio_latency_ms"] > 0 for turn in turns)


def test_files_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    predgen.main(bench(models=["5", "6"]), tmp_path / "out.json", tmp_path / "out.svg")
    written = json.loads((tmp_path / "out.json").read_text())
    assert {"command", "machine", "models", "rows", "turns"} <= written.keys()
    assert [row["method"] for row in written["rows"]] == ["baseline", "greedy"] * 2
    assert "identical to plain" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "out.svg").getroot().tag.endswith("svg")


def test_many_methods_stand_in_several_tables(found: dict[str, Any]) -> None:
    many = [row | {"method": f"m{number}"} for number in range(3) for row in found["rows"]]
    tables = figures.latencies(many, "here")
    assert [len(table.columns) - 1 for table in tables] == [4, 2]
    names = [list(table.columns[0].cells) for table in tables]
    assert names[0] == names[1]
    assert "identical to plain" in names[0]
    assert "replies right" not in names[0]


def test_unknown_methods_are_told_the_known_ones() -> None:
    for names in ("greedy,quick", "", ","):
        with pytest.raises(PredtuiError, match=r"Choose of baseline, greedy.*ablation"):
            methods.chosen(names)


def test_bars_are_as_tall_as_their_values() -> None:
    root = ElementTree.fromstring(svg([Chart("a < b", {"x": {"one": 10, "two": 5}, "y": {"two": 0}})]))
    bars = [e for e in root.iter() if e.tag.endswith("rect") and e.get("width") == "48.0"]
    one, two, none = (float(bar.get("height", "")) for bar in bars)
    assert one == pytest.approx(2 * two)
    assert none == 0


def test_many_series_stay_within_the_picture_and_look_different() -> None:
    names = [f"method {number}" for number in range(14)]
    root = ElementTree.fromstring(svg([Chart("t", {name: {"x": 1.0} for name in names})]))
    told = [e for e in root.iter() if e.tag.endswith("text") and (e.text or "").startswith("method")]
    assert [e.text for e in told] == names
    assert max(float(e.get("x", "")) + 7 * len(e.text or "") for e in told) <= int(root.get("width", ""))
    assert max(float(e.get("y", "")) for e in told) < 64
    marks = [e for e in root.iter() if e.tag.endswith("rect") and e.get("width") == "10"]
    assert len({(e.get("fill"), e.get("stroke")) for e in marks}) == 14


def test_each_round_of_a_dialogue_has_a_picture_of_its_own(found: dict[str, Any]) -> None:
    drawn = figures.charts(found["rows"], found["histograms"])
    assert [list(chart.bars) for chart in drawn] == [["baseline", "greedy"]] * 3
    assert [sum(chart.bars["greedy"].values()) for chart in drawn[1:]] == [100.0, 100.0]
    assert ["round 1" in drawn[1].title, "round 2" in drawn[2].title] == [True, True]


def test_calibration_measures_what_fits_the_model() -> None:
    found = calibrate.measure("5", "scripted", 0, repeats=1)
    assert found.tokens == calibrate.TOKENS
    assert found.context[-1] + found.tokens[-1] <= 1024
    assert found.name == "this-machine"
    assert "scripted" in found.source
    assert min(min(row) for row in found.forward_ms) >= 0
    assert found.first_audio_ms > 0

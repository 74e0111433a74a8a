"""The decoding bench: every method on the same prompts, tables and figures out of one run, replies compared."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from predtui.decoding import datastore
from predtui.errors import PredtuiError
from predtui.lab.bench import calibrate, decoding, decoding_figures, decoding_spec_bench, streams
from predtui.lab.bench.decoding_methods import BUDGETS, METHODS, STATIC, chosen
from predtui.lab.bench.streams import Dialogue
from predtui.lab.profiles import HardwareProfile
from predtui.llm.load import load
from predtui.models.shipped import asset
from tests.heads import heads_of

OURS = [name for name in METHODS if name not in ("transformers", "llama-cpp-python")]
TASKS = {
    "one": [Dialogue((streams.typed("what is the sun"),)), Dialogue((streams.typed("why"),))],
    "two": [Dialogue((streams.typed("is it"), streams.typed("so")))],
}

STEADY = HardwareProfile("steady", "", (1, 512), (0, 4096), ((10.0, 10.0),) * 2, 1e9, 1.0, 1.0, draft_speed=20.0)


def bench(methods: str, **changes: Any) -> decoding.DecodingBench:
    given: dict[str, Any] = {"target": "5", "draft": "5", "target_engine": "scripted", "draft_engine": "scripted"}
    return decoding.DecodingBench(
        methods=chosen(methods, ablations=True), tasks=TASKS, max_tokens=40, **given | changes
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    state, target = tmp_path_factory.mktemp("state"), load("5", "scripted")
    texts = [random.Random(seed).choices(range(4, target.model.vocab_size), k=30) for seed in range(9)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREDTUI_STATE_DIR", str(state))
        datastore.write(datastore.build(texts, datastore.fingerprint(target)), datastore.default_folder())
        return decoding.result(bench(",".join(OURS), heads=str(heads_of(target))))


def test_every_method_replies_to_every_prompt_as_vanilla_does(found: dict[str, Any]) -> None:
    methods = {row["method"] for row in found["rows"]}
    assert methods == {*OURS, *STATIC, *BUDGETS}
    assert len(found["rows"]) == 2 * len(methods)
    for row in found["rows"]:
        assert row["n"] == 2
        assert row["identical_share"] == 1.0
        assert {
            "task", "method", "n", "tokens_per_s", "speedup", "ttft_ms", "relative_ttft", "acceptance_rate",
            "tokens_per_forward", "identical_share", "decode_speedup",
        } <= row.keys()  # fmt: skip
    assert found["diverged"] == []
    for row in found["rows"]:
        if row["method"] == "vanilla":
            assert (row["speedup"], row["relative_ttft"], row["tokens_per_forward"]) == (1.0, 1.0, 1.0)
        if row["method"] == "duo-c+2":
            assert row["acceptance_rate"] == 1.0
            assert row["tokens_per_forward"] > 1.0


def test_the_speed_after_the_prompt_leaves_out_what_all_pay_alike() -> None:
    def record(method: str, seconds: float, ttft_ms: float | None) -> decoding.ReplyRecord:
        return decoding.ReplyRecord("task", method, "prompt", 11, seconds, ttft_ms, 5, 0, 0, 0.0, 0, (0,) * 8, -1, 0.0)

    rows = {
        row["method"]: row
        for row in decoding.rows(
            [record("vanilla", 0.5, 300.0), record("quick", 0.4, None), record("slow", 0.7, 350.0)]
        )
    }
    assert {name: row["decode_speedup"] for name, row in rows.items()} == {"vanilla": 1.0, "quick": 2.0, "slow": 0.5}


def test_duos_iterations_fill_table_4_and_figure_5(found: dict[str, Any]) -> None:
    assert {row["method"] for row in found["iterations"]} == {"duo", *STATIC, *BUDGETS}
    for row in found["iterations"]:
        assert sum(row["table_4"].values()) == pytest.approx(1.0, abs=1e-3)
        assert sum(row["sequences"].values()) == row["n"]
        assert row["wall_ms"] >= row["target_ms"]
        if row["method"] == "duo-2":
            assert max(row["sequences"]) <= 2


def test_tables_and_charts_show_what_was_found(found: dict[str, Any]) -> None:
    titles = [str(table.title) for table in decoding_figures.tables(found)]
    assert [title.split(":")[0] for title in titles] == [
        "Table 1", "Table 2", "Table 3", "Table 4", "iterations of Duo",
    ]  # fmt: skip
    charts = [chart.title.split(":")[0] for chart in decoding_figures.charts(found)]
    assert charts == ["Figure 1", "Table 1", "Figure 3", "Figure 4", "Figure 4", "Figure 5"]


def test_a_use_of_heads_takes_a_draft_models_forward_on_the_virtual_clock() -> None:
    heads = str(heads_of(load("5", "scripted")))
    run = decoding.Run(bench("eagle,medusa", profile=STEADY, heads=heads))
    start = run.clock.now()
    run.target.looked(2)
    assert run.clock.now() - start == pytest.approx(0.0005)
    eagle = [record for record in run.records() if record.method == "eagle"]
    run.close()
    assert sum(record.seconds - 0.01 * record.forwards for record in eagle) >= 0.0005


def test_files_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decoding.main(bench("pld"), tmp_path / "out.json", tmp_path / "out.svg", tmp_path / "out.md")
    written = json.loads((tmp_path / "out.json").read_text())
    assert {row["method"] for row in written["rows"]} == {"vanilla", "pld"}
    assert written["iterations"] == []
    printed = capsys.readouterr().out
    assert "Table 1" in printed
    assert "Spec-Bench" in printed
    assert "| pld |" in (tmp_path / "out.md").read_text()
    assert ElementTree.parse(tmp_path / "out.svg").getroot().tag.endswith("svg")


def test_spec_benchs_table_has_a_column_a_task_and_the_speed_of_all(found: dict[str, Any]) -> None:
    head, *rows = decoding_spec_bench.cells(found)
    assert head == ["method", "one", "two", "mean accepted", "overall", "identical"]
    assert {row[0] for row in rows} == {*OURS}
    overall = {row["method"]: row for row in found["overall"]}
    for row in rows:
        tokens = overall[row[0]]["tokens_per_forward"]
        assert row[-3:] == [f"{tokens:.2f}", f"{overall[row[0]]['speedup']:.2f}x", "100.0%"]


def test_the_tasks_of_spec_bench_stand_in_its_order_and_the_best_is_bold() -> None:
    def row(method: str, task: str, speedup: float) -> dict[str, Any]:
        return {"method": method, "task": task, "speedup": speedup, "tokens_per_forward": 1.5, "identical_share": 1.0}

    tasks = {"own": 1.5, "qa": 1.2, "mt_bench": 1.1}
    rows = [row(method, task, speed) for task, speed in tasks.items() for method in ("vanilla", "suffix")]
    rows = [{**one, "speedup": 1.0} if one["method"] == "vanilla" else one for one in rows]
    overall = [row("vanilla", "overall", 1.0), row("suffix", "overall", 1.25)]
    told = {"command": "predtui bench decoding", "machine": "a machine", "models": ["a", "b"]}
    drawn = decoding_spec_bench.markdown({"rows": rows, "overall": overall, **told}).splitlines()
    assert drawn[0] == "| method | multi-turn | questions | own | mean accepted | overall | identical |"
    assert drawn[2] == "| vanilla | 1.00x | 1.00x | 1.00x | 1.50 | 1.00x | 100.0% |"
    assert drawn[3] == "| suffix | **1.10x** | **1.20x** | **1.50x** | 1.50 | **1.25x** | 100.0% |"
    assert drawn[-1] == "a; b; a machine: `predtui bench decoding`"


def test_a_reply_that_differs_is_reported_with_its_gap() -> None:
    found = decoding.result(bench("sps", draft="6", temperature=1.0, seed=3))
    assert found["diverged"]
    for case in found["diverged"]:
        assert case["method"] == "sps"
        assert case["divergence"] >= 0
        assert case["logit_gap"] >= 0


def test_sampled_replies_are_those_of_plain_sampling() -> None:
    found = decoding.result(bench("duo,model,suffix", draft="6", temperature=0.9, seed=3))
    assert found["diverged"] == []


def test_the_cost_coefficient_is_told_for_each_context_that_both_models_hold() -> None:
    draft = str(asset("pocket", "draft", "model.gguf"))
    found = calibrate.cost_coefficients("5", draft, "scripted", threads=1, repeats=1)
    assert set(found) == {0, 64, 256}
    assert min(found.values()) > 0


def test_tasks_are_named_after_their_files(tmp_path: Path) -> None:
    path = tmp_path / "quiz.jsonl"
    path.write_text('{"turns": ["one", "two"]}\n{"prompt": "three"}\n')
    found = decoding.tasks([str(path), "pocket"], limit=1, seed=1)
    assert {name: [len(d.turns) for d in dialogues] for name, dialogues in found.items()} == {
        "quiz": [2],
        "pocket": [1],
    }


def test_what_is_not_known_or_cannot_be_compared_is_named() -> None:
    with pytest.raises(PredtuiError, match="Choose of vanilla"):
        chosen("vanilla,quick", ablations=False)
    for name in ("transformers", "llama-cpp-python"):
        with pytest.raises(PredtuiError, match="methods"):
            decoding.result(bench(name))
        with pytest.raises(PredtuiError, match="temperature"):
            decoding.result(bench(name, temperature=1.0))


def test_on_the_virtual_clock_a_reply_takes_its_forwards_and_nothing_else() -> None:
    def rows() -> dict[str, dict[str, Any]]:
        found = decoding.result(bench("lookup,sps", profile=STEADY))
        assert found["machine"].startswith("steady")
        return {row["method"]: row for row in found["rows"] if row["task"] == "one"}

    first = rows()
    assert first == rows()
    plain = first["vanilla"]
    assert plain["tokens_per_s"] == pytest.approx(100.0, rel=1e-3)
    assert first["lookup"]["speedup"] == pytest.approx(first["lookup"]["tokens_per_forward"], rel=1e-3)
    assert first["sps"]["speedup"] < first["sps"]["tokens_per_forward"]


@pytest.mark.parametrize("method", ["duo", "pearl", "duo-2"])
def test_what_works_on_two_processors_at_once_is_refused_on_the_virtual_clock(method: str) -> None:
    with pytest.raises(PredtuiError, match=f"{method} is timed on the real clock only"):
        decoding.result(bench(method, profile=STEADY))

"""Every system of the survey that the engine was laid out by has its row: what it is in the code, or why it is not."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers-to-code.md"
IN = """TriForce, RSD, LongSpec, RASD, RAPID, PEARL, SJD, STAND, Token Recycling, CopySpec, SmartSpec, SpecMQuant,
RaLMSpec, DySpec, SpecMemo, Direct Alignment, FastDraft, Medusa, SWIFT, DEL, Kangaroo,
Clover, Falcon, Chimera, OSD, PPD, Hidden Transfer"""
OUT = """Judge Decoding, Scylla,
HAMburger, BlockFFN, SpecVLM, Mirror-SD, Arbitrage, SpecEE, SpecKV and SpecPC, SpeContext, STree,
Pangu Pro MoE, MuLo-SD, GSD, Seedream 4.0, LANTERN, ViSpec, Continuous SD, FLASH, EasySpec, ATTS"""


def names(text: str) -> list[str]:
    return [" ".join(name.split()) for name in text.split(",")]


def test_each_of_the_48_systems_is_in_the_code_or_has_a_reason() -> None:
    """Names of modules in those rows exist: tests/test_docs.py:test_names_in_the_code_exist."""
    above, missing = PAGE.read_text(encoding="utf-8").split("## Systems of the survey that are not in")
    assert len({*names(IN), *names(OUT)}) == 48
    for name in names(IN):
        found = [line for line in above.splitlines() if re.search(rf"\b{name}\b", line)]
        assert found, name
        assert name == "RaLMSpec" or any(re.search(r"`[\w.]+:\w+`", line) for line in found), name
    rows = [line.split("|")[1:-1] for line in missing.splitlines() if re.match(r"\| \w.*\(20\d\d\)", line)]
    assert sorted(row[0].split(" (20")[0].strip() for row in rows) == sorted(names(OUT))
    assert all(len(row) == 2 and row[1].strip() for row in rows)

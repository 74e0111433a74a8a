"""Methods that load a model by themselves ask the self-test first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.lab.bench import decoding_methods
from predtui.lab.bench.decoding_methods import MethodParts, chosen
from predtui.registry import DRAFTERS
from tests.tiny_gguf import write


def test_a_method_that_always_repacks_is_refused_where_the_self_test_advises_against_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "model.gguf")
    monkeypatch.setattr(decoding_methods, "may_repack", lambda *_: False)
    target = cast(Any, SimpleNamespace(parameters=1))
    bench = MethodParts(target, target, (tmp_path, tmp_path), Greedy(), None, 1, lambda *_: None)
    with pytest.raises(PredtuiError, match="always repacks weights") as caught:
        decoding_methods._llamacpp_lookup(bench, "llama.cpp-lookup")
    assert "--methods" in caught.value.remedy


def test_drafters_stands_for_all_that_any_engine_feeds() -> None:
    fed = {name for name, entry in DRAFTERS.items() if "soft" not in entry.needs}
    assert set(chosen("drafters", ablations=False)) == {"vanilla", *fed}

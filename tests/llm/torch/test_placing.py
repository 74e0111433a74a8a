"""Where a network goes, by what a machine has; GPUs and Apple's are played, and the CPU stands for them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.placement import Placement
from tests import tiny_folder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from predtui.llm.torch.placing import Machine, place  # noqa: E402

MEMORY = st.integers(0, 400)
MACHINES = st.builds(Machine, MEMORY, st.lists(MEMORY, max_size=3).map(tuple), st.booleans(), st.booleans())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_folder.write(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("machine", "wanted"),
    [
        (Machine(400), ("cpu", "float32", "cpu")),
        (Machine(399), ("cpu", "bfloat16", "cpu, bfloat16")),
        (Machine(400, metal=True), ("mps", "float16", "mps, float16")),
        (Machine(0, (200,)), ("cuda", "float16", "gpu, float16")),
        (Machine(0, (200, 200), True), ("cuda", "bfloat16", "gpu, bfloat16")),
        (Machine(0, (150, 50), True), ("auto", "bfloat16", "2 gpus, bfloat16")),
    ],
)
def test_a_hundred_numbers_go_where_there_is_room(machine: Machine, wanted: tuple[str, str, str]) -> None:
    found = place("m", 200, 400, machine)
    assert (found.device, str(found.dtype).removeprefix("torch."), found.told) == wanted


@given(MACHINES, st.integers(1, 400), st.integers(1, 400))
def test_nothing_goes_where_it_does_not_fit(machine: Machine, small: int, more: int) -> None:
    room = sum(machine.gpus) if machine.gpus else machine.memory
    if small > room:
        with pytest.raises(PredtuiError, match="m needs"):
            place("m", small, small + more, machine)
        return
    found = place("m", small, small + more, machine)
    assert (small if found.dtype.itemsize == 2 else small + more) <= room
    assert (found.device in ("cuda", "auto")) == bool(machine.gpus)


class Played:
    """A machine as it is said to be, whose devices are all the CPU; ``asked``: where networks were to go."""

    def __init__(self, machine: Machine, patch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        opened, moved = transformers.AutoModelForCausalLM.from_pretrained, transformers.PreTrainedModel.to

        def from_pretrained(*given: Any, **named: Any) -> Any:
            self.asked.append(named.get("device_map"))
            return opened(*given, **{**named, "device_map": "cpu"} if named.get("device_map") else named)

        def to(network: Any, where: Any, *more: Any, **named: Any) -> Any:
            self.asked.append(where)
            return moved(network, "cpu", *more, **named)

        patch.setattr(Machine, "here", classmethod(lambda cls: machine))
        patch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", from_pretrained)
        patch.setattr(transformers.PreTrainedModel, "to", to)


def rows(loaded: LoadedModel) -> Any:
    asked = random.Random(0).choices(range(200), k=20)
    loaded.model.forward(asked[:7])
    return loaded.model.forward(asked, 3).logits


def test_on_apples_gpu_it_computes_in_16_bits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = rows(load(str(folder), "torch", threads=1))
    played = Played(Machine(1 << 40, metal=True), monkeypatch)
    loaded = load(str(folder), "torch", threads=1)
    assert (loaded.device, played.asked[-1]) == ("mps, float16", "mps")
    assert next(loaded.model.network.parameters()).dtype == torch.float16  # type: ignore[attr-defined]
    assert abs(rows(loaded) - wanted).max() < 0.02 * abs(wanted).max()


def test_on_one_gpu_it_has_graphs_unless_they_are_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = rows(load(str(folder), "torch", threads=1))
    played = Played(Machine(1 << 40, (1 << 40,)), monkeypatch)
    for graphs, told in (("auto", "gpu, float16, graphs"), ("on", "gpu, float16, graphs"), ("off", "gpu, float16")):
        loaded = load(str(folder), "torch", threads=1, placement=Placement(graphs=graphs))
        assert (loaded.device, played.asked[-1]) == (told, "cuda")
        assert abs(rows(loaded) - wanted).max() < 0.02 * abs(wanted).max()
        loaded.model.close()


def test_what_no_gpu_holds_alone_is_shared_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = 2 * load(str(folder), "torch", threads=1).parameters
    wanted = rows(load(str(folder), "torch", threads=1))
    played = Played(Machine(1 << 40, (needs, needs << 20), True), monkeypatch)
    loaded = load(str(folder), "torch", threads=1)
    assert (loaded.device, played.asked[0]) == ("2 gpus, bfloat16", "auto")
    assert abs(rows(loaded) - wanted).max() < 0.1 * abs(wanted).max()
    kept = load(str(folder), "torch", threads=1, placement=Placement(device="cpu"))
    assert (kept.device, played.asked[-2:]) == ("cpu", [None, "cpu"])


def test_the_cache_counts_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with room for the weights alone holds a model with a short context, or none."""
    weights = 4 * load(str(folder), "torch", threads=1).parameters
    Played(Machine(weights + 20_000), monkeypatch)
    assert load(str(folder), "torch", threads=1, context=8).device == "cpu"
    assert load(str(folder), "torch", threads=1, context=64).device == "cpu, bfloat16"
    Played(Machine(weights // 2 + 10), monkeypatch)
    with pytest.raises(PredtuiError, match=r"needs .* of memory"):
        load(str(folder), "torch", threads=1)


def test_it_tells_how_far_the_weights_are_and_can_be_given_up(folder: Path) -> None:
    size, heard = (folder / "model.safetensors").stat().st_size, []

    def told(done: int, total: int) -> bool:
        heard.append((done, total))
        return len(heard) != 5

    with pytest.raises(PredtuiError, match=f"The loading of {folder} was given up"):
        load(str(folder), "torch", threads=1, told=told)
    assert len(heard) == 5
    assert heard == sorted(heard)
    assert {total for _, total in heard} == {size}
    load(str(folder), "torch", threads=1, told=told)
    assert len(heard) > 10

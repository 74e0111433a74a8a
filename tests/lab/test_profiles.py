"""Hardware profiles: interpolation that can be done by hand, a round trip, and lines that say what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab import profiles as profile
from predtui.lab.profiles import HardwareProfile

TOY = HardwareProfile(
    name="toy",
    source='a "made-up" \\ machine\n',
    tokens=(1, 11),
    context=(0, 100),
    forward_ms=((10.0, 20.0), (30.0, 60.0)),
    prefill_rate=1000.0,
    first_audio_ms=50.0,
    speech_rate=2.0,
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path / "config"))


@pytest.mark.parametrize(
    ("new", "context", "ms"),
    [
        (1, 0, 10),
        (11, 100, 60),
        (6, 0, 15),
        (1, 50, 20),
        (6, 50, 30),  # between all four: 15 and 45
        (1, 900, 30),  # beyond the last context its row holds
        (21, 0, 30),  # ten tokens beyond the table, a millisecond each
    ],
)
def test_linear_between_the_points(new: int, context: int, ms: float) -> None:
    assert TOY.forward_seconds(new, context) == pytest.approx(ms / 1000)


def test_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "toy.toml"
    profile.write(TOY, path)
    assert profile.load(str(path)) == TOY


def test_a_draft_costs_a_share_of_the_model_where_the_profile_says_which(tmp_path: Path) -> None:
    path = tmp_path / "toy.toml"
    profile.write(replace(TOY, draft_speed=4.0), path)
    assert profile.load(str(path)).draft_seconds(6, 50) == pytest.approx(0.030 / 4)
    with pytest.raises(PredtuiError, match=r"'toy' does not say what a draft model costs.*draft_speed"):
        TOY.draft_seconds(1, 0)


def test_a_users_profile_comes_first(tmp_path: Path) -> None:
    assert profile.load("a5000-7b").first_audio_ms == 240
    profile.write(replace(TOY, name="a5000-7b"), profile.user_profiles() / "a5000-7b.toml")
    assert profile.load("a5000-7b").first_audio_ms == 50


def test_more_tokens_and_more_context_never_cost_less_on_shipped_machines() -> None:
    for name in profile.available():
        machine = profile.load(name)
        assert machine.name == name
        sizes, contexts = (1, 2, 16, 40, 128, 512, 600, 2000), (0, 100, 4096)
        for context in contexts:
            prices = [machine.forward_seconds(size, context) for size in sizes]
            assert prices == sorted(prices)
        assert [machine.forward_seconds(1, c) for c in contexts] == sorted(
            machine.forward_seconds(1, c) for c in contexts
        )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("prefil_rate = 3", "unknown key 'prefil_rate'. Did you mean 'prefill_rate'?"),
        ("speech_rate = 0", "speech_rate must be a number above 0, not 0"),
        ("draft_speed = 0", "draft_speed must be a number above 0, not 0"),
        ("speech_rate = true", "speech_rate must be a number above 0, not True"),
        ("first_audio_ms = inf", "first_audio_ms must be a number above 0, not inf"),
        ("tokens = [1, 1]", "tokens must grow strictly from 1 or more"),
        ("tokens = [0, 11]", "tokens must grow strictly from 1 or more"),
        ("context = []", "context must be a list of whole numbers"),
        ("context = [0]", "forward_ms must have a row for each of the 1 values of context"),
        ("forward_ms = [[1.0], [2.0, 3.0]]", "each row of forward_ms must have 2 values"),
        ("name = 3", "name must be a string"),
        ("= 3", "cannot be read as a hardware profile"),
        ("", "first_audio_ms missing"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "toy.toml"
    profile.write(TOY, path)
    key = line.split("=")[0].strip() or "first_audio_ms"
    kept = [text for text in path.read_text().splitlines() if not text.startswith(f"{key} ")]
    path.write_text("\n".join([*kept, line]))
    with pytest.raises(PredtuiError) as error:
        profile.load(str(path))
    assert complaint in str(error.value)
    assert str(path) in str(error.value)


def test_unknown_names_are_told_the_known_ones() -> None:
    with pytest.raises(PredtuiError, match="a5000-7b"):
        profile.load("a6000")
    with pytest.raises(PredtuiError, match="predtui calibrate"):
        profile.load(profile.THIS_MACHINE)

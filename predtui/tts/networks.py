"""Voices in ONNX: where they lie on this machine, and a session that keeps to its threads.

Reads ONNX and JSON, no pickles; fetches nothing. Must not know what a network says.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.files import read_json, resolve
from predtui.models import curated
from predtui.models.names import parse
from predtui.models.places import pulled


def needs(package: str, module: str, extra: str) -> None:
    """Raises PredtuiError, with the command that installs it, where ``package`` is missing."""
    if importlib.util.find_spec(module) is None:
        raise PredtuiError(f"--tts {extra} needs {package}.", f"Install it: pip install 'predtui[{extra}]'")


def find(model: str) -> Path:
    """The folder of a voice, or its file where one is named: a path, or what ``predtui models pull`` has fetched by
    that name. Raises PredtuiError with how to get it."""
    path = resolve(model)
    if path.exists():
        return path
    folder = pulled(model)
    path = folder / parse(curated.source(model)).file if folder else path
    if not path.exists():
        known = model in curated.proposals() or parse(model).kind == "hub"
        remedy = f"Get it: predtui models pull {model}" if known else "Which voices there are: predtui models list"
        raise PredtuiError(f"The voice {model} is not on this machine.", remedy)
    return path


def within(folder: Path, *names: str) -> tuple[Path, ...]:
    """These files of a folder. Raises PredtuiError for the first that it lacks."""
    for name in names:
        if not (folder / name).is_file():
            raise PredtuiError(
                f"{folder} holds no {name}.", "Give --tts-model the voice's own folder, or pull it again."
            )
    return tuple(folder / name for name in names)


def facts(path: Path) -> dict[str, Any]:
    """A JSON object. Raises PredtuiError where it cannot be read, or is none."""
    try:
        read = read_json(path)
    except (OSError, ValueError) as error:
        raise PredtuiError(f"{path} cannot be read: {error}.", "Pull the voice again.") from error
    if not isinstance(read, dict):
        raise PredtuiError(f"{path} holds no JSON object.", "Pull the voice again.")
    return read


def session(path: Path, threads: int) -> Any:
    """An ``onnxruntime.InferenceSession`` on the CPU whose ``threads`` do not spin while they wait. Raises PredtuiError
    where the file is damaged or no network."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime's own types
        raise PredtuiError(f"{path} is damaged or no network: {first_line(error)}.", "Pull the voice again.") from error


def run(network: Any, inputs: dict[str, Any], who: str) -> Any:
    """The first output of ``network``. Raises PredtuiError where it does not take these inputs."""
    try:
        return network.run(None, inputs)[0]
    except Exception as error:  # of onnxruntime's own types
        raise PredtuiError(f"{who} failed: {first_line(error)}.", "Is it the voice's own network?") from error


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".:")[:200]

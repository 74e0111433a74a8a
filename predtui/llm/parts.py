"""A GGUF model in several files, by their names: NAME-00001-of-00003.gguf and so on. Must not know what is in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from predtui.errors import PredtuiError

_PATTERN = re.compile(r"(?P<name>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
_SHOWN = 3


def part_names(path: Path, metadata: Mapping[str, object]) -> list[str]:
    """Names of all files of the model whose first one ``path`` is, by what its ``metadata`` say; none where it is the
    only one. Raises PredtuiError for another than the first, for a name that does not tell, and for a missing one."""
    count, number = _whole(metadata.get("split.count")), _whole(metadata.get("split.no"))
    if count < 2:
        return []
    found = _PATTERN.fullmatch(path.name)
    if found is None or int(found["count"]) != count:
        raise PredtuiError(
            f"{path} is part {number + 1} of a model in {count} files, and its name does not say so.",
            f"Call them as they were published: NAME-00001-of-{count:05}.gguf and so on.",
        )
    names = [f"{found['name']}-{each:05}-of-{count:05}.gguf" for each in range(1, count + 1)]
    if number:
        raise PredtuiError(f"{path} is part {number + 1} of {count}.", f"Choose the first: {path.with_name(names[0])}")
    missing = [name for name in names if not path.with_name(name).is_file()]
    if missing:
        shown = ", ".join(missing[:_SHOWN]) + (f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else "")
        raise PredtuiError(
            f"{path} is the first of {count} files of a model, and {shown} {_verb(missing)} missing beside it.",
            "Fetch or copy what is missing into the same folder.",
        )
    return names


def _whole(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 100_000 else 0


def _verb(missing: list[str]) -> str:
    return "is" if len(missing) == 1 else "are"

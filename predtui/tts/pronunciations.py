"""How the user wants words to be said: ``pronunciations.toml`` beside the settings.

    nginx = "engine x"
    Reading = "redding"
    tomato = "[[t@m'A:t@U]]"

    [de]
    Handy = "Händi"

Words are whole; one without capitals holds for any case, one with capitals for itself alone. What stands in double
brackets is phonemes of eSpeak NG. A table holds for voices of its language. Must not know of any synthesiser.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from predtui.errors import reason
from predtui.files import LARGEST_TOML, parse_toml, read_text
from predtui.settings import user_folder

_FIRST = 0xE000
_MOST = 0x1900
"""Words of a text that are respelled at most: characters that stand for nothing else."""
_LONGEST = 200


@dataclass(frozen=True)
class Pronunciations:
    """Words, and how they are said, by language; "" is every one."""

    respelt: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.respelt.values()))

    def without_phonemes(self) -> Pronunciations:
        """For an engine that takes none: these words are said as they are written."""
        if not any(_phonemic(said) for table in self.respelt.values() for said in table.values()):
            return self
        return Pronunciations(
            {
                name: {word: said for word, said in table.items() if not _phonemic(said)}
                for name, table in self.respelt.items()
            }
        )

    def marked(self, text: str, language: str) -> tuple[str, list[str]]:
        """The text with a private character for each word that is respelt, and how these are said, in their order."""
        words = self._of(language)
        if not words:
            return text, []
        kept: list[str] = []

        def keep(match: re.Match[str]) -> str:
            exact, said = words.get(match[0]), words.get(match[0].lower(), "")
            if not (exact or said) or len(kept) == _MOST:
                return match[0]
            begins = match[0][0].isupper() and not _phonemic(said)
            kept.append(exact or (said[0].upper() + said[1:] if begins else said))
            return chr(_FIRST + len(kept) - 1)

        return self._pattern(words).sub(keep, text), kept

    def restored(self, text: str, kept: list[str]) -> str:
        for at, said in enumerate(kept):
            text = text.replace(chr(_FIRST + at), said)
        return text

    def _of(self, language: str) -> dict[str, str]:
        names = ("", language.lower().split("-")[0], language.lower())
        return {word: said for name in names for word, said in self.respelt.get(name, {}).items()}

    def _pattern(self, words: Mapping[str, str]) -> re.Pattern[str]:
        key = tuple(words)
        if key not in self._patterns:
            alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
            self._patterns[key] = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)
        return self._patterns[key]

    @cached_property
    def _patterns(self) -> dict[tuple[str, ...], re.Pattern[str]]:
        return {}


NONE = Pronunciations()


def user_file() -> Path:
    return user_folder() / "pronunciations.toml"


def read(path: Path) -> tuple[Pronunciations, str]:
    """What a file holds, and a line about what of it cannot be used, else nothing. A file that is not there holds
    nothing."""
    try:
        document = parse_toml(read_text(path, LARGEST_TOML))
    except (FileNotFoundError, NotADirectoryError):
        return NONE, ""
    except (OSError, UnicodeDecodeError) as error:
        return NONE, f"{path} cannot be read: {reason(error)}. Words are said as they are written."
    except ValueError as error:
        return NONE, f"{path} is not valid TOML: {error}. Words are said as they are written."
    tables = {"": {word: said for word, said in document.items() if not isinstance(said, dict)}}
    tables |= {name.lower(): table for name, table in document.items() if isinstance(table, dict)}
    wrong = [word for table in tables.values() for word, said in table.items() if not _usable(word, said)]
    used = {
        name: {word: said.strip() for word, said in table.items() if _usable(word, said)}
        for name, table in tables.items()
    }
    return Pronunciations(used), _told(path, wrong)


def _usable(word: str, said: Any) -> bool:
    return isinstance(said, str) and 0 < len(said.strip()) <= _LONGEST and bool(word.strip()) and said.isprintable()


def _phonemic(said: str) -> bool:
    return said.startswith("[[") and said.endswith("]]")


def _told(path: Path, wrong: list[str]) -> str:
    if not wrong:
        return ""
    names = ", ".join(wrong[:3]) + (", ..." if len(wrong) > 3 else "")
    return f'{path}: not used: {names}. A line is a word and how it is said: nginx = "engine x".'

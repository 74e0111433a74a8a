"""E-mail and web addresses, names of files, paths, and @names. Must not know a language's words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from predtui.tts.spoken.lexicon import Lexicon

_EMAIL = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@([\w-]{1,63}(?:\.[\w-]{1,63})+)\b")
_URL = re.compile(r"(?:\b[a-z]{2,10}://|www\.)[^\s<>\"')\]]+", re.IGNORECASE)
_DOMAIN = re.compile(
    r"(?<![\w.@/-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,4}"
    r"(?:com|org|net|io|dev|edu|gov|info|app|ai|co|uk|de|fr|es|eu|ch|at)(?![\w-]|\.\w)(?:/[^\s<>\"')\]]*)?",
    re.IGNORECASE,
)
_ENDINGS = (
    "py js ts tsx jsx json toml yaml yml md txt csv tsv html htm css xml sh bat exe zip tar gz pdf png jpg jpeg gif "
    "svg mp3 mp4 wav flac ogg c h cpp hpp cc rs go rb java kt swift php sql ini cfg conf log lock gguf onnx bin so "
    "dll db doc docx xls xlsx ppt pptx ipynb env"
)
_FILE = re.compile(
    rf"(?<![\w./\\@-])\.?[\w-]{{2,64}}(?:\.[\w-]{{1,32}}){{0,3}}\.(?:{'|'.join(_ENDINGS.split())})(?![\w/])"
)
_PATH = re.compile(
    r"(?<![\w./\\])(?:~|\.{1,2})?(?:/[\w.@+~-]{1,64}){2,20}/?(?![\w/])"
    r"|(?<![\w./\\])(?:~|\.{1,2})/[\w.@+~-]{1,64}(?:/[\w.@+~-]{1,64}){0,20}/?(?![\w/])"
    r"|(?<![\w./\\])/(?:bin|boot|dev|etc|home|lib|mnt|opt|proc|root|run|srv|sys|tmp|usr|var)\b/?(?!/)"
    rf"|(?<![\w./\\@-])[\w.-]{{1,64}}(?:/[\w.-]{{1,64}}){{0,20}}/[\w.-]{{1,64}}\.(?:{'|'.join(_ENDINGS.split())})(?![\w/])"
    r"|\b[A-Z]:\\(?:[\w.$~-]{1,64}\\?){0,20}"
)
_HANDLE = re.compile(r"(?<![\w@])@(?=\w)")
_STOP = re.compile(r"[.,;:!?]*$")


def said(text: str, words: Lexicon) -> str:
    if not words.address:
        return text
    names = words.address
    if "@" in text:
        text = _EMAIL.sub(lambda match: f"{_spelled(match[1], names)} {names['@']} {_spelled(match[2], names)}", text)
    text = _URL.sub(lambda match: _host(match[0], names), text)
    text = _DOMAIN.sub(lambda match: _host(match[0], names), text)
    text = _PATH.sub(lambda match: _whole(match[0], names), text)
    text = _FILE.sub(lambda match: _spelled(match[0], names), text)
    return _HANDLE.sub(f"{names['@']} ", text)


def is_address(text: str) -> bool:
    """Whether it is one as a whole."""
    return any(kind.fullmatch(text) for kind in (_EMAIL, _URL, _DOMAIN, _PATH, _FILE))


def _host(address: str, names: Mapping[str, str]) -> str:
    stop = (_STOP.search(address) or [""])[0]
    host = re.sub(r"^(?:[a-z]{2,10}://)?(?:www\.)?", "", address.removesuffix(stop), flags=re.IGNORECASE)
    return _spelled(re.split(r"[/?#:]", host, maxsplit=1)[0] or host, names) + stop


def _whole(path: str, names: Mapping[str, str]) -> str:
    stop = (_STOP.search(path) or [""])[0]
    return f" {_spelled(path.removesuffix(stop), names)}{stop}"


def _spelled(address: str, names: Mapping[str, str]) -> str:
    return " ".join("".join(f" {names[mark]} " if mark in names else mark for mark in address).split())

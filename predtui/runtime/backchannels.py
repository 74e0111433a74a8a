"""What a listener says without wanting to speak, by language (Yngve 1970: the back channel). Data only."""

from __future__ import annotations

COMMON = frozenset({"mm", "mhm", "mm-hm", "mmhmm", "hm", "hmm", "uh", "um", "ah", "aha", "oh", "huh", "eh"})
"""Sounds that most languages have."""
BACKCHANNELS: dict[str, frozenset[str]] = {
    "en": frozenset(
        {"yeah", "yes", "yep", "yup", "okay", "ok", "right", "sure", "uh-huh", "i", "see", "wow", "really"}
    ),
    "de": frozenset({"ja", "genau", "okay", "ok", "ach", "so", "gut", "klar", "stimmt", "echt"}),
    "fr": frozenset({"oui", "ouais", "ok", "okay", "d'accord", "bon", "bien", "ah", "tiens", "voilà"}),
    "es": frozenset({"sí", "si", "ok", "okay", "vale", "claro", "ya", "bueno", "ajá"}),
    "it": frozenset({"sì", "si", "ok", "okay", "certo", "già", "bene", "esatto"}),
    "pt": frozenset({"sim", "ok", "okay", "certo", "pois", "é", "tá", "claro"}),
    "nl": frozenset({"ja", "oké", "ok", "okay", "precies", "goed", "juist"}),
}


def only_backchannels(text: str, language: str) -> bool:
    """Whether ``text`` asks for nothing: all of its words are such, or there are none."""
    known = COMMON | BACKCHANNELS.get(language[:2].lower(), frozenset())
    return all(word.strip(".,!?;:…") in known for word in text.lower().split())

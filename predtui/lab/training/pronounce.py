"""English words in the phonemes of the CMU dictionary, for words that it does not have: eSpeak NG's rules, translated.

Knows no corpus.
"""

from __future__ import annotations

import re

from predtui.tts.espeak import transcribe

PHONES = {
    "tʃ": "CH", "dʒ": "JH", "aɪɚ": "AY ER", "aɪə": "AY AH", "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "ɔɪ": "OY",
    "ɔːɹ": "AO R", "oːɹ": "AO R", "ɑːɹ": "AA R", "ɪɹ": "IH R", "ɛɹ": "EH R", "ʊɹ": "UH R", "iə": "IY AH", "əl": "AH L",
    "iː": "IY", "uː": "UW", "ɑː": "AA", "ɔː": "AO", "ɜː": "ER", "oː": "AO", "ɚ": "ER", "ɝ": "ER", "ɐ": "AH", "ə": "AH",
    "ʌ": "AH", "ɪ": "IH", "ᵻ": "IH", "i": "IY", "ɛ": "EH", "æ": "AE", "a": "AA", "ɑ": "AA", "ɔ": "AO", "o": "OW",
    "ʊ": "UH", "u": "UW", "e": "EY", "b": "B", "d": "D", "ð": "DH", "f": "F", "ɡ": "G", "h": "HH", "j": "Y", "k": "K",
    "l": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P", "ɹ": "R", "r": "R", "s": "S", "ʃ": "SH", "t": "T", "ɾ": "T",
    "ʔ": "T", "θ": "TH", "v": "V", "w": "W", "x": "K", "z": "Z", "ʒ": "ZH", "n̩": "AH N", "ɬ": "L", "ɲ": "N Y",
}  # fmt: skip
"""IPA as eSpeak's American English writes it → CMU phonemes; the longest match counts."""

_PIECE = re.compile("|".join(sorted(map(re.escape, PHONES), key=len, reverse=True)))
_SILENT = re.compile("[ˈˌː̩\u200d\u0303 _-]")


def phones(ipa: str) -> str:
    """An IPA transcription as CMU phonemes, separated by blanks. Raises ValueError for a sound that English lacks."""
    found: list[str] = []
    rest = re.sub("[ˈˌ]", "", ipa)
    while rest:
        if match := _PIECE.match(rest):
            found.append(PHONES[match[0]])
            rest = rest[match.end() :]
        elif _SILENT.match(rest):
            rest = rest[1:]
        else:
            raise ValueError(f"no English phoneme for {rest[0]!r} in {ipa!r}")
    return " ".join(found)


def pronounce(word: str, voice: str = "en-us") -> str:
    """The CMU phonemes of a word, by the rules of eSpeak NG, without which it raises PredtuiError."""
    return phones(transcribe([word], voice)[0])

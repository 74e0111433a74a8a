"""The phoneme symbols and languages of a Zonos checkpoint by id, as in its authors' code (zonos/conditioning.py).

Must not know how text becomes phonemes.
"""

from __future__ import annotations

UNKNOWN, BEGIN, END = 1, 2, 3
_FIRST = 4
"""The first symbol's id. Those below are special; 0 is padding."""
PUNCTUATION = ';:,.!?¡¿—…"«»“”() *~-/\\&'
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IPA = "ɑɐɒæɓʙβɔɕçɗɖðʤəɘɚɛɜɝɞɟʄɡɠɢʛɦɧħɥʜɨɪʝɭɬɫɮʟɱɯɰŋɳɲɴøɵɸθœɶʘɹɺɾɻʀʁɽʂʃʈʧʉʊʋⱱʌɣɤʍχʎʏʑʐʒʔʡʕʢǀǁǂǃˈˌːˑʼʴʰʱʲʷˠˤ˞↓↑→↗↘'̩'ᵻ"
_SYMBOLS = PUNCTUATION + _LETTERS + _IPA
_IDS = {symbol: number for number, symbol in enumerate(_SYMBOLS, start=_FIRST)}
VOCABULARY = _FIRST + len(_SYMBOLS)

_NAMES = (
    "af am an ar as az ba bg bn bpy bs ca cmn cs cy da de el en-029 en-gb en-gb-scotland en-gb-x-gbclan "
    "en-gb-x-gbcwmd en-gb-x-rp en-us eo es es-419 et eu fa fa-latn fi fr-be fr-ch fr-fr ga gd gn grc gu hak "
    "hi hr ht hu hy hyw ia id is it ja jbo ka kk kl kn ko kok ku ky la lfn lt lv mi mk ml mr ms mt my nb nci "
    "ne nl om or pa pap pl pt pt-br py quc ro ru ru-lv sd shn si sk sl sq sr sv sw ta te tn tr tt ur uz vi "
    "vi-vn-x-central vi-vn-x-south yue"
)
LANGUAGES = _NAMES.split()
"""eSpeak NG's names; a language's index is its ``language_id``."""


def ids(phonemes: str) -> list[int]:
    """``BEGIN``, one id per character of ``phonemes`` (``UNKNOWN`` for one that the checkpoint lacks), ``END``."""
    return [BEGIN, *(_IDS.get(character, UNKNOWN) for character in phonemes), END]

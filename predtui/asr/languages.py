"""The languages that Whisper knows, by code and by name. Must not know of any model."""

from __future__ import annotations

import difflib

from predtui.errors import PredtuiError

AUTO = "auto"
"""Which one is spoken is to be found out."""
_NAMES = """
af afrikaans · am amharic · ar arabic · as assamese · az azerbaijani · ba bashkir · be belarusian · bg bulgarian
bn bengali · bo tibetan · br breton · bs bosnian · ca catalan valencian · cs czech · cy welsh · da danish · de german
el greek · en english · es spanish castilian · et estonian · eu basque · fa persian farsi · fi finnish · fo faroese
fr french · gl galician · gu gujarati · ha hausa · haw hawaiian · he hebrew · hi hindi · hr croatian · ht haitian
hu hungarian · hy armenian · id indonesian · is icelandic · it italian · ja japanese · jw javanese · ka georgian
kk kazakh · km khmer · kn kannada · ko korean · la latin · lb luxembourgish · ln lingala · lo lao · lt lithuanian
lv latvian · mg malagasy · mi maori · mk macedonian · ml malayalam · mn mongolian · mr marathi · ms malay · mt maltese
my myanmar burmese · ne nepali · nl dutch flemish · nn nynorsk · no norwegian · oc occitan · pa punjabi panjabi
pl polish · ps pashto · pt portuguese · ro romanian moldovan · ru russian · sa sanskrit · sd sindhi · si sinhala
sk slovak · sl slovenian · sn shona · so somali · sq albanian · sr serbian · su sundanese · sv swedish · sw swahili
ta tamil · te telugu · tg tajik · th thai · tk turkmen · tl tagalog · tr turkish · tt tatar · uk ukrainian · ur urdu
uz uzbek · vi vietnamese · yi yiddish · yo yoruba · zh chinese mandarin · yue cantonese
"""
CODES = {
    name: entry.split()[0]
    for line in _NAMES.strip().splitlines()
    for entry in line.split(" · ")
    for name in entry.split()
}
"""Codes and English names, each with the code that Whisper has for it."""


def code(asked: str) -> str:
    """Whisper's code for what ``asr.language`` asks for: a code, an English name or a locale (``de-AT``), or ``AUTO``
    itself. Raises PredtuiError, with the nearest names, for what is none."""
    name = asked.strip().lower()
    if name == AUTO:
        return AUTO
    found = CODES.get(name) or CODES.get(name.replace("_", "-").partition("-")[0])
    if found:
        return found
    near = difflib.get_close_matches(name, CODES, n=2, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else "Give a code such as de, an English name, or auto."
    raise PredtuiError(f"Whisper knows no language {asked!r}.", hint)


def only_english(model: object, language: str) -> PredtuiError | None:
    """What is wrong with asking an English-only ``model`` for ``language``, a code."""
    if language in ("en", AUTO):
        return None
    return PredtuiError(
        f"{model} hears English only, and asr.language is {language}.",
        "Choose a Whisper without .en in its name (--asr-model), or --asr-language en.",
    )

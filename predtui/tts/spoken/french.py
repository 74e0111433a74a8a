"""The words of French. Whole numbers are left to the synthesiser, which reads them."""

from __future__ import annotations

import re

from predtui.tts.spelled import NumberWords
from predtui.tts.spoken.english_names import roman
from predtui.tts.spoken.lexicon import Lexicon, Rule, nouns

MONTHS = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
]


def _date(match: re.Match[str]) -> str:
    day = int(match["day"])
    return f"{'premier' if day == 1 else day} {MONTHS[int(match['month']) - 1]} {match['year']}"


def _clock(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), (match[2] or "").lstrip("0")
    return f"{'une' if hour == 1 else hour} heure{'s' if hour > 1 else ''}{' ' if minute else ''}{minute}"


def _ordinal(match: re.Match[str]) -> str:
    return NumberWords("fr").ordinal(match[1])


def _century(match: re.Match[str]) -> str:
    return NumberWords("fr").ordinal(str(roman(match[1])))


def _numbered(match: re.Match[str]) -> str:
    return f"{match[1]} {roman(match[2])}"


_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<=\d)[\u00a0\u202f ](?=\d{3}(?!\d))"), ""),
    (re.compile(r"(?<![\w-])(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?![\w-])"), _date),
    (re.compile(r"(?<![\w/.])(?P<day>[0-3]?\d)[/.](?P<month>1[0-2]|0?[1-9])[/.](?P<year>[12]\d{3})(?![\w/])"), _date),
    (re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])\s?(?:h\s?|:)([0-5]\d)(?![\w:])"), _clock),
    (re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])\s?h()(?!\w)"), _clock),
    (re.compile(r"\b1er\b"), "premier"),
    (re.compile(r"\b1re\b"), "première"),
    (re.compile(r"(?<![\w.,])(\d{1,4})(?:e|ème)\b"), _ordinal),
    (re.compile(r"\b([IVX]{2,7})(?:e|ème)\b"), _century),
    (re.compile(r"\b([VX])(?:e|ème)(?=\s(?:siècle|arrondissement|République))"), _century),
    (re.compile(r"(\b[A-ZÉ][a-zéèêëïô]{2,20})\s([IVX]{2,7})\b"), _numbered),
    (re.compile(r"\bv(?=\d{1,4}\.\d)"), "version "),
    (re.compile(r"(?<!\w)M\.(?=\s[A-ZÉÈÀ])"), "Monsieur"),
)

_EURO, _CENTIME = ("euro", "euros"), ("centime", "centimes")
_DOLLAR, _POUND = ("dollar", "dollars"), ("livre", "livres")

LEXICON = Lexicon(
    number=r"\d+(?:,\d+)?",
    point=",",
    rules=_RULES,
    address={
        ".": "point", "@": "arobase", "/": "barre oblique", "-": "tiret", "_": "tiret bas", "+": "plus",
        ":": "deux-points", "\\": "barre inverse", "~": "tilde", "$": "dollar",
    },
    abbreviations={
        "p. ex.": "par exemple", "p.ex.": "par exemple", "par ex.": "par exemple", "etc.": "et cetera",
        "c.-à-d.": "c'est-à-dire", "Mme": "Madame", "Mme.": "Madame", "Mlle": "Mademoiselle", "MM.": "Messieurs",
        "Dr": "Docteur", "Dr.": "Docteur", "Pr": "Professeur", "env.": "environ", "av. J.-C.": "avant Jésus-Christ",
        "apr. J.-C.": "après Jésus-Christ", "St": "Saint", "Ste": "Sainte", "vs": "contre",
    },
    numbered={"n°": "numéro", "N°": "numéro", "no": "numéro", "p.": "page", "art.": "article", "#": "numéro"},
    units=nouns("""
        % | pour cent | pour cent
        °C | degré Celsius | degrés Celsius
        °F | degré Fahrenheit | degrés Fahrenheit
        ° | degré
        km/h | kilomètre heure | kilomètres heure
        km | kilomètre
        m | mètre
        cm | centimètre
        mm | millimètre
        kg | kilogramme
        g | gramme
        mg | milligramme
        t | tonne
        l L | litre
        ml mL | millilitre
        h | heure
        min | minute
        s | seconde
        ms | milliseconde
        Hz | hertz | hertz
        kHz | kilohertz | kilohertz
        MHz | mégahertz | mégahertz
        GHz | gigahertz | gigahertz
        ko Ko | kilooctet
        Mo | mégaoctet
        Go | gigaoctet
        To | téraoctet
        kB KB | kilobyte
        MB | mégabyte
        GB | gigabyte
        W | watt
        kW | kilowatt
        kWh | kilowattheure
        V | volt
        dB | décibel
        px | pixel
        ha | hectare
    """),
    per="par",
    powers={"2": "{} carrés", "3": "{} cubes"},
    currencies={
        "€": (_EURO, _CENTIME), "EUR": (_EURO, _CENTIME), "$": (_DOLLAR, ("cent", "cents")),
        "USD": (_DOLLAR, ("cent", "cents")), "£": (_POUND, ("penny", "pence")), "CHF": (("franc", "francs"), None),
    },
    scales={
        "M": "millions", "millions": "millions de", "milliards": "milliards de",
        "million": "million de", "Md": "milliards",
    },
    to="à",
    minus="moins",
    symbols={
        "×": "fois", "÷": "divisé par", "by": "par", "and": "et", "->": "vers", "→": "vers", "≠": "différent de",
        ">=": "au moins", "≥": "au moins", "<=": "au plus", "≤": "au plus", "±": "plus ou moins", "≈": "environ",
        "==": "égale", "=": "égale", "√": "racine de", "∞": "l'infini", "&": "et", "+": "plus", "%": "pour cent",
        "°C": "degrés Celsius", "°": "degrés", "−": "moins",
    },
    power="puissance",
    squared={"2": "au carré", "3": "au cube"},
    fractions={
        "24/7": "24 heures sur 24",
        "1/2": "un demi", "1/3": "un tiers", "2/3": "deux tiers", "1/4": "un quart", "3/4": "trois quarts",
    },
    fraction=lambda over, under: f"{over} sur {under}",
    code="code {}",
    scripts={
        "CJK": "texte chinois", "HIRAGANA": "texte japonais", "KATAKANA": "texte japonais", "HANGUL": "texte coréen",
        "CYRILLIC": "texte en cyrillique", "GREEK": "texte grec", "ARABIC": "texte arabe", "HEBREW": "texte hébreu",
        "": "texte dans une autre écriture",
    },
)  # fmt: skip

"""The words of German. Whole numbers are left to the synthesiser, which reads them."""

from __future__ import annotations

import re

from predtui.tts.spelled import NumberWords
from predtui.tts.spoken.english_names import roman
from predtui.tts.spoken.lexicon import TELEPHONE, Lexicon, Rule, nouns, one_by_one

MONTHS = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]
_NOUNS = "Jahrhundert|Jahrhunderts|Weltkrieg|Weltkriegs|Klasse|Stock|Etage|Mal|Lebensjahr|Auflage|Bundesliga"
COUNTED = f"{'|'.join(MONTHS)}|{_NOUNS}"
_OBLIQUE = "am|vom|zum|beim|im|dem|den|des|bis|ab|seit|jeden|jedem"


def _words() -> NumberWords:
    return NumberWords("de")


def _ordinal(match: re.Match[str]) -> str:
    """ "dritte", "am dritten", "ein dritter"."""
    said, before = _words().ordinal(match["day"]), (match["before"] or "").strip().lower()
    ending = "n" if before in _OBLIQUE.split("|") else "" if before in ("der", "die", "das") else "r"
    if not before and match["noun"] not in MONTHS:
        ending = ""
    return f"{match['before'] or ''}{said}{ending} {match['noun']}"


def _date(match: re.Match[str]) -> str:
    said = _words().ordinal(match["day"])
    before = (match["before"] or "").strip().lower()
    ending = "n" if before in _OBLIQUE.split("|") else "" if before == "der" else "r"
    return f"{match['before'] or ''}{said}{ending} {MONTHS[int(match['month']) - 1]} {_words().year(match['year'])}"


def _first_of_two(match: re.Match[str]) -> str:
    return f"{_words().ordinal(match[1])}n {match[2]}"


def _numbered(match: re.Match[str]) -> str:
    return f"{match[1]} {roman(match[2])}"


def _ruler(match: re.Match[str]) -> str:
    stop = "." if match.end() == len(match.string) else ""
    return f"{match[1]} der {_words().ordinal(str(roman(match[2])))}{stop}"


def _year(match: re.Match[str]) -> str:
    return _words().year(match[0])


def _clock(match: re.Match[str]) -> str:
    minute = match[2].lstrip("0")
    return f"{int(match[1])} Uhr{' ' if minute else ''}{minute}"


_BEFORE = rf"(?P<before>\b(?:{_OBLIQUE}|der|die|das)\s)?"
_DAY, _MONTH, _YEAR = r"(?P<day>[0-3]?\d)", r"(?P<month>1[0-2]|0?[1-9])", r"(?P<year>[12]\d{3})"
_A_COUNT = r"[\w,]|\.\d|\s?(?:%|°|€|\$|km\b|m\b|kg\b|g\b|Euro\b|Meter\b)"
_RULES: tuple[Rule, ...] = (
    (re.compile(rf"(?<![\d.])(\d{{1,2}})\.\s(bis|und|oder)(?=\s\d{{1,2}}\.\s(?:{COUNTED})\b)"), _first_of_two),
    (re.compile(r"\b(Kapitel|Teil|Band|Akt|Artikel|Typ|Stufe|Klasse)\s([IVX]{1,7})\b"), _numbered),
    (re.compile(r"(\b[A-ZÄÖÜ][a-zäöüß]{2,20})\s([IVX]{2,7})\b\.?"), _ruler),
    (re.compile(r"\bv(?=\d{1,4}\.\d)"), "Version "),
    (TELEPHONE, one_by_one),
    (re.compile(rf"{_BEFORE}(?<![\w-]){_YEAR}-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?![\w-])"), _date),
    (re.compile(rf"{_BEFORE}(?<![\d.]){_DAY}\.\s?{_MONTH}\.\s?{_YEAR}(?!\d)", re.IGNORECASE), _date),
    (re.compile(rf"{_BEFORE}(?<![\d.])(?P<day>\d{{1,2}})\.\s(?P<noun>{COUNTED})\b", re.IGNORECASE), _ordinal),
    (re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])[:.]([0-5]\d)(?:\sUhr\b)"), _clock),
    (re.compile(r"(?<![\w:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\w:])"), _clock),
    (re.compile(rf"(?<![\w.,-])1[1-9]\d\d(?=er\b|(?!{_A_COUNT}))"), _year),
)  # fmt: skip


_EURO, _CENT = ("Euro", "Euro"), ("Cent", "Cent")
_DOLLAR, _POUND, _PENCE = ("Dollar", "Dollar"), ("Pfund", "Pfund"), ("Penny", "Pence")

LEXICON = Lexicon(
    number=r"(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+(?:,\d+)?)",
    point=",",
    rules=_RULES,
    counted=COUNTED,
    address={
        ".": "Punkt", "@": "ät", "/": "Schrägstrich", "-": "Bindestrich", "_": "Unterstrich", "+": "plus",
        ":": "Doppelpunkt", "\\": "Backslash", "~": "Tilde", "$": "Dollar",
    },
    abbreviations={
        "z. B.": "zum Beispiel", "z.B.": "zum Beispiel", "Z. B.": "Zum Beispiel", "Z.B.": "Zum Beispiel",
        "d. h.": "das heißt", "d.h.": "das heißt", "D. h.": "Das heißt", "D.h.": "Das heißt", "u. a.": "unter anderem",
        "u.a.": "unter anderem", "usw.": "und so weiter", "etc.": "et cetera", "bzw.": "beziehungsweise",
        "ca.": "circa", "ggf.": "gegebenenfalls", "evtl.": "eventuell", "inkl.": "inklusive", "vgl.": "vergleiche",
        "o. ä.": "oder ähnlich", "o.ä.": "oder ähnlich", "i. d. R.": "in der Regel", "i.d.R.": "in der Regel",
        "z. T.": "zum Teil", "z.T.": "zum Teil", "v. a.": "vor allem", "v.a.": "vor allem", "sog.": "sogenannt",
        "bspw.": "beispielsweise", "Dr.": "Doktor", "Prof.": "Professor", "Hr.": "Herr", "Fr.": "Frau",
        "Str.": "Straße", "St.": "Sankt", "Mio.": "Millionen", "Mrd.": "Milliarden", "Tsd.": "Tausend",
        "v. Chr.": "vor Christus", "n. Chr.": "nach Christus",
    },
    numbered={
        "Nr.": "Nummer", "Abs.": "Absatz", "Art.": "Artikel", "Kap.": "Kapitel", "S.": "Seite", "Abb.": "Abbildung",
        "Bd.": "Band", "§": "Paragraf", "#": "Nummer", "~": "etwa", "≈": "etwa",
    },
    units=nouns("""
        % | Prozent | Prozent
        ‰ | Promille | Promille
        °C | Grad Celsius | Grad Celsius
        °F | Grad Fahrenheit | Grad Fahrenheit
        ° | Grad | Grad
        km | Kilometer | Kilometer
        m | Meter | Meter
        cm | Zentimeter | Zentimeter
        mm | Millimeter | Millimeter
        kg | Kilogramm | Kilogramm
        g | Gramm | Gramm
        mg | Milligramm | Milligramm
        t | Tonne | Tonnen
        l L | Liter | Liter
        ml mL | Milliliter | Milliliter
        h Std. Std | Stunde | Stunden
        min Min. Min | Minute | Minuten
        s Sek. Sek | Sekunde | Sekunden
        ms | Millisekunde | Millisekunden
        Hz | Hertz | Hertz
        kHz | Kilohertz | Kilohertz
        MHz | Megahertz | Megahertz
        GHz | Gigahertz | Gigahertz
        kB KB | Kilobyte | Kilobyte
        MB | Megabyte | Megabyte
        GB | Gigabyte | Gigabyte
        TB | Terabyte | Terabyte
        W | Watt | Watt
        kW | Kilowatt | Kilowatt
        MW | Megawatt | Megawatt
        kWh | Kilowattstunde | Kilowattstunden
        V | Volt | Volt
        dB | Dezibel | Dezibel
        px | Pixel | Pixel
        ha | Hektar | Hektar
    """),
    per="pro",
    powers={"2": "Quadrat{}", "3": "Kubik{}"},
    currencies={
        "€": (_EURO, _CENT), "EUR": (_EURO, _CENT), "$": (_DOLLAR, _CENT), "USD": (_DOLLAR, _CENT),
        "£": (_POUND, _PENCE), "GBP": (_POUND, _PENCE), "CHF": (("Franken", "Franken"), None),
        "¥": (("Yen", "Yen"), None),
    },
    scales={
        "Mio.": "Millionen", "Mio": "Millionen", "Mrd.": "Milliarden", "Mrd": "Milliarden", "Millionen": "Millionen",
        "Milliarden": "Milliarden", "Tsd.": "Tausend",
    },
    to="bis",
    minus="minus",
    symbols={
        "×": "mal", "÷": "geteilt durch", "by": "mal", "and": "und", "->": "nach", "→": "nach", "≠": "ist ungleich",
        ">=": "mindestens", "≥": "mindestens", "<=": "höchstens", "≤": "höchstens", "±": "plus minus",
        "≈": "ist ungefähr", "==": "gleich", "=": "gleich", "√": "Wurzel aus", "∞": "unendlich", "&": "und",
        "+": "plus", "%": "Prozent", "°C": "Grad Celsius", "°": "Grad", "−": "minus",
    },
    power="hoch",
    squared={"2": "zum Quadrat"},
    fractions={
        "24/7": "vierundzwanzig sieben",
        "1/2": "ein halb", "1/3": "ein Drittel", "2/3": "zwei Drittel", "1/4": "ein Viertel", "3/4": "drei Viertel",
    },
    fraction=lambda over, under: f"{over} durch {under}",
    code="Code in {}",
    scripts={
        "CJK": "chinesischer Text", "HIRAGANA": "japanischer Text", "KATAKANA": "japanischer Text",
        "HANGUL": "koreanischer Text", "CYRILLIC": "kyrillischer Text", "GREEK": "griechischer Text",
        "ARABIC": "arabischer Text", "HEBREW": "hebräischer Text", "": "Text in anderer Schrift",
    },
)  # fmt: skip

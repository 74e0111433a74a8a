"""The words of English, and what it says of numbers; its dates and times have a module of their own."""

from __future__ import annotations

import re

from predtui.tts.spelled import NumberWords
from predtui.tts.spoken import english_dates, english_names
from predtui.tts.spoken.lexicon import Lexicon, Rule, nouns

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<!\w)\.\d+)"
_YEARS = range(1100, 2100)
_COUNTED_BELOW = 1900
"""Before a noun in the plural, an earlier year is none."""
_NOT_PLURAL = "as|is|was|has|does|its|this|us|across|towards|perhaps|always|thus|plus|minus|times|equals|versus|less"
_PLURAL = re.compile(r"s\b")
_CALCULATED = re.compile(r"\b(?:equals|times|plus|minus|by|power of [\w-]{1,20} is)\s\Z")
_DATED = re.compile(r"\b(?:[Ii]n|[Ss]ince|[Uu]ntil|[Bb]efore|[Aa]fter|[Aa]round|[Cc]irca|[Yy]ear)\s\Z")
_INITIALISMS = ["AM", "PM", "AWS", "UX", "AR", "CI", "UAE", "IPO", "EV", "ETA", "NYC", "LED", "IDE"]
"""Read as words by eSpeak NG, or as an article and a letter."""


def say(written: str) -> str:
    """A number as it is written, in words."""
    plain = written.replace(",", "")
    return NumberWords("en").cardinal(f"0{plain}" if plain.startswith(".") else plain)


def _bare(match: re.Match[str]) -> str:
    """A number without anything to tell what it counts: a year where it may be one, a code where it begins with 0."""
    written = match["number"]
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    coded = (len(written) > 1 and written[0] == "0") or (len(written) > 2 and before.isalpha())
    if coded and written.isdecimal():
        said = NumberWords("en").digits(written)
    elif _is_year(match):
        said = NumberWords("en").year(written)
    else:
        said = say(written)
    apart = after.isalnum() and not _PLURAL.match(match.string, match.end())
    return f"{' ' if before.isalnum() else ''}{said}{' ' if apart else ''}"


def _is_year(match: re.Match[str]) -> bool:
    written, before = match["number"], match.string[: match.start()]
    if not written.isdecimal() or len(written) != 4 or _CALCULATED.search(before):
        return False
    if match["things"] is not None and int(written) < _COUNTED_BELOW:
        return False
    return int(written) in _YEARS or (_DATED.search(before) is not None and int(written) % 1000 > 0)


def _ordinal(match: re.Match[str]) -> str:
    return NumberWords("en").ordinal(match[1].replace(",", ""))


def _fraction(over: str, under: str) -> str:
    if under == "1" or not int(under) or int(over) >= int(under) or (over, under) == ("24", "7"):
        return f"{say(over)} {'' if (over, under) == ('24', '7') else 'over '}{say(under)}"
    name = NumberWords("en").ordinal(under)
    if over == "1" and name.startswith("one "):
        return name
    return f"{say(over)} {name}" if over == "1" else f"{say(over)} {name}s"


_ENDINGS: tuple[Rule, ...] = (
    (re.compile(r"(?<=\d),(?!\d{3}(?!\d))(?=\d)"), ", "),
    (re.compile(r"(?<=[A-Za-z])/(?=[A-Za-z])"), " "),
    (re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)\b"), _ordinal),
    (
        re.compile(rf"(?P<number>{_NUMBER})(?P<things>(?=\s(?!(?:{_NOT_PLURAL})\b)[a-z]{{2,20}}s\b))?"),
        _bare,
    ),
)


UNITS = nouns("""
    % | percent | percent
    ‰ | per mille | per mille
    °C ℃ | degree Celsius | degrees Celsius
    °F ℉ | degree Fahrenheit | degrees Fahrenheit
    ° | degree
    km | kilometer
    m | meter
    cm | centimeter
    mm | millimeter
    µm μm | micrometer
    nm | nanometer
    mi | mile
    yd | yard
    ft | foot | feet
    mph | mile per hour | miles per hour
    kmh kph | kilometer per hour | kilometers per hour
    mpg | mile per gallon | miles per gallon
    kg | kilogram
    g | gram
    mg | milligram
    µg μg | microgram
    t | ton
    lb lbs | pound
    oz | ounce
    tsp | teaspoon
    tbsp | tablespoon
    l L | liter
    ml mL | milliliter
    cl | centiliter
    dl dL | deciliter
    h hr hrs | hour
    min mins | minute
    s sec secs | second
    ms | millisecond
    µs μs | microsecond
    ns | nanosecond
    Hz | hertz | hertz
    kHz | kilohertz | kilohertz
    MHz | megahertz | megahertz
    GHz | gigahertz | gigahertz
    THz | terahertz | terahertz
    kB KB | kilobyte
    MB | megabyte
    GB | gigabyte
    TB | terabyte
    PB | petabyte
    KiB | kibibyte
    MiB | mebibyte
    GiB | gibibyte
    TiB | tebibyte
    kbit | kilobit
    Mbit | megabit
    Gbit | gigabit
    kbps Kbps | kilobit per second | kilobits per second
    Mbps | megabit per second | megabits per second
    Gbps | gigabit per second | gigabits per second
    fps | frame per second | frames per second
    rpm | revolution per minute | revolutions per minute
    bpm | beat per minute | beats per minute
    px | pixel
    dpi | dot per inch | dots per inch
    W | watt
    kW | kilowatt
    MW | megawatt
    GW | gigawatt
    Wh | watt hour
    kWh | kilowatt hour
    MWh | megawatt hour
    mAh | milliamp hour
    V | volt
    kV | kilovolt
    mV | millivolt
    mA | milliamp
    Ω | ohm
    kΩ | kiloohm
    J | joule
    kJ | kilojoule
    kcal | kilocalorie
    cal | calorie
    N | newton
    Pa | pascal
    hPa | hectopascal
    kPa | kilopascal
    dB | decibel
    ppm | part per million | parts per million
    psi | pound per square inch | pounds per square inch
    ha | hectare
    hp | horsepower | horsepower
""")

_POUND, _DOLLAR, _EURO = ("pound", "pounds"), ("dollar", "dollars"), ("euro", "euros")
_CENT = ("cent", "cents")
_PENCE = ("penny", "pence")

LEXICON = Lexicon(
    number=_NUMBER,
    say=say,
    rules=(*english_dates.RULES, *english_names.RULES),
    endings=_ENDINGS,
    address={
        ".": "dot", "@": "at", "/": "slash", "-": "dash", "_": "underscore", "+": "plus", ":": "colon",
        "\\": "backslash", "~": "tilde", "$": "dollar",
    },
    abbreviations={
        "e.g.": "for example", "E.g.": "For example", "i.e.": "that is", "I.e.": "That is", "etc.": "et cetera",
        "vs.": "versus", "vs": "versus", "a.k.a.": "also known as", "aka": "also known as", "approx.": "approximately",
        "et al.": "and others", "cf.": "compare", "viz.": "namely", "N.B.": "note", "Inc.": "Incorporated",
        "Ltd.": "Limited", "Corp.": "Corporation", "Co.": "Company", "Jr.": "Junior", "Sr.": "Senior",
        "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz",
        "Prof.": "Professor", "Gen.": "General", "Col.": "Colonel", "Lt.": "Lieutenant", "Sgt.": "Sergeant",
        "Capt.": "Captain", "Gov.": "Governor", "Sen.": "Senator", "Rev.": "Reverend", "Hon.": "Honorable",
        "Mt.": "Mount", "Ave.": "Avenue", "Blvd.": "Boulevard", "Rd.": "Road", "Dept.": "Department",
        "dept.": "department", "est.": "established", "Ph.D.": "PhD", "M.Sc.": "MSc", "B.Sc.": "BSc", "w/o": "without",
        "w/": "with ", "and/or": "and or", "Q&A": "Q and A", "R&D": "R and D", "TCP/IP": "TCP IP",
        "km/h": "kilometers per hour", "m/s": "meters per second",
        **{word: ".".join(word) + "." for word in _INITIALISMS if word not in ("AM", "PM")},
    },
    numbered={
        "No.": "number", "Nos.": "numbers", "№": "number", "Fig.": "figure",
        "fig.": "figure", "Figs.": "figures", "Vol.": "volume", "vol.": "volume", "Ch.": "chapter", "ch.": "chapter",
        "Sec.": "section", "sec.": "section", "§": "section", "pp.": "pages", "p.": "page", "Eq.": "equation",
        "eq.": "equation", "#": "number", "ca.": "circa", "c.": "circa", "~": "about", "≈": "about",
    },
    units=UNITS,
    per="per",
    powers={"2": "square {}", "3": "cubic {}"},
    per_power={"2": "{} squared", "3": "cubic {}"},
    currencies={
        "$": (_DOLLAR, _CENT), "USD": (_DOLLAR, _CENT), "€": (_EURO, _CENT), "EUR": (_EURO, _CENT),
        "£": (_POUND, _PENCE), "GBP": (_POUND, _PENCE), "¥": (("yen", "yen"), None), "JPY": (("yen", "yen"), None),
        "₹": (("rupee", "rupees"), None), "INR": (("rupee", "rupees"), None), "₩": (("won", "won"), None),
        "₽": (("ruble", "rubles"), None), "₪": (("shekel", "shekels"), None), "₺": (("lira", "lira"), None),
        "₿": (("bitcoin", "bitcoins"), None), "BTC": (("bitcoin", "bitcoins"), None), "¢": (_CENT, None),
        "CHF": (("Swiss franc", "Swiss francs"), None), "CNY": (("yuan", "yuan"), None),
    },
    money="{whole} and {part} {small}",
    scales={
        "k": "thousand", "K": "thousand", "thousand": "thousand", "m": "million", "M": "million", "mn": "million",
        "million": "million", "bn": "billion", "B": "billion", "b": "billion", "billion": "billion", "tn": "trillion",
        "T": "trillion", "trillion": "trillion",
    },
    to="to",
    minus="minus",
    symbols={
        "×": "times", "÷": "divided by", "by": "by", "and": "and", "->": "to", "=>": "to", "→": "to", "←": "from",
        "!=": "is not", "≠": "is not", "==": "equals", ">=": "at least", "≥": "at least", "<=": "at most",
        "≤": "at most", "±": "plus or minus", "≈": "is about", "=": "equals",
        "√": "the square root of", "∞": "infinity",
        "∑": "the sum", "∈": "in", "⇒": "implies", "&": "and", "+": "plus", "%": "percent", "°C": "degrees Celsius",
        "°F": "degrees Fahrenheit", "°": "degrees", "§": "section", "©": "copyright", "€": "euros", "£": "pounds",
        "−": "minus", " < ": "is less than", " > ": "is greater than",
    },
    power="to the power of",
    squared={"2": "squared", "3": "cubed"},
    fractions={
        "1/2": "one half", "1/4": "one quarter", "3/4": "three quarters", "1/3": "one third", "2/3": "two thirds",
        "9/11": "nine eleven", "24/7": "twenty-four seven",
    },
    fraction=_fraction,
    code="{} code",
    scripts={
        "CJK": "Chinese text", "HIRAGANA": "Japanese text", "KATAKANA": "Japanese text", "HANGUL": "Korean text",
        "CYRILLIC": "text in Cyrillic", "GREEK": "Greek text", "ARABIC": "text in Arabic script",
        "HEBREW": "Hebrew text", "DEVANAGARI": "text in Devanagari", "THAI": "Thai text", "": "text in another script",
    },
)  # fmt: skip

"""The words of Spanish. Whole numbers are left to the synthesiser, which reads them."""

from __future__ import annotations

import re

from predtui.tts.spoken.english_names import roman
from predtui.tts.spoken.lexicon import TELEPHONE, Lexicon, Rule, nouns, one_by_one

MONTHS = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
]


def _date(match: re.Match[str]) -> str:
    return f"{int(match['day'])} de {MONTHS[int(match['month']) - 1]} de {match['year']}"


def _clock(match: re.Match[str]) -> str:
    minute = match[2].lstrip("0")
    return f"{int(match[1])}{' y ' if minute else ' en punto'}{minute}"


def _numbered(match: re.Match[str]) -> str:
    return f"{match[1]} {roman(match[2])}"


_RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<=\d)[\u00a0\u202f ](?=\d{3}(?!\d))"), ""),
    (re.compile(r"(?<![\w-])(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?![\w-])"), _date),
    (re.compile(r"(?<![\w/.])(?P<day>[0-3]?\d)[/.](?P<month>1[0-2]|0?[1-9])[/.](?P<year>[12]\d{3})(?![\w/])"), _date),
    (re.compile(r"(?<![\w:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\w:])"), _clock),
    (re.compile(r"\b([Ss]iglo|[Cc]apítulo)\s([IVXL]{1,7})\b"), _numbered),
    (re.compile(r"(\b[A-ZÁÉÍÓÚ][a-záéíóúñ]{2,20})\s([IVX]{2,7})\b"), _numbered),
    (re.compile(r"\bv(?=\d{1,4}\.\d)"), "versión "),
    (TELEPHONE, one_by_one),
)

_EURO, _CENT = ("euro", "euros"), ("céntimo", "céntimos")
_DOLLAR, _CENTAVO = ("dólar", "dólares"), ("centavo", "centavos")

LEXICON = Lexicon(
    number=r"(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+(?:,\d+)?)",
    point=",",
    rules=_RULES,
    address={
        ".": "punto", "@": "arroba", "/": "barra", "-": "guion", "_": "guion bajo", "+": "más", ":": "dos puntos",
        "\\": "barra invertida", "~": "tilde", "$": "dólar",
    },
    abbreviations={
        "p. ej.": "por ejemplo", "p.ej.": "por ejemplo", "por ej.": "por ejemplo", "etc.": "etcétera",
        "Sr.": "señor", "Sra.": "señora", "Srta.": "señorita", "Dr.": "doctor", "Dra.": "doctora", "Ud.": "usted",
        "Uds.": "ustedes", "EE. UU.": "Estados Unidos", "EE.UU.": "Estados Unidos", "aprox.": "aproximadamente",
        "a. C.": "antes de Cristo", "d. C.": "después de Cristo", "Avda.": "avenida", "D.": "don",
    },
    numbered={"núm.": "número", "n.º": "número", "nº": "número", "pág.": "página", "cap.": "capítulo", "#": "número"},
    units=nouns("""
        % | por ciento | por ciento
        °C | grado Celsius | grados Celsius
        °F | grado Fahrenheit | grados Fahrenheit
        ° | grado
        km | kilómetro
        m | metro
        cm | centímetro
        mm | milímetro
        kg | kilogramo
        g | gramo
        mg | miligramo
        t | tonelada
        l L | litro
        ml mL | mililitro
        h | hora
        min | minuto
        s | segundo
        ms | milisegundo
        Hz | hercio
        kHz | kilohercio
        MHz | megahercio
        GHz | gigahercio
        kB KB | kilobyte
        MB | megabyte
        GB | gigabyte
        TB | terabyte
        W | vatio
        kW | kilovatio
        kWh | kilovatio hora | kilovatios hora
        V | voltio
        dB | decibelio
        px | píxel | píxeles
        ha | hectárea
    """),
    per="por",
    powers={"2": "{} cuadrados", "3": "{} cúbicos"},
    currencies={
        "€": (_EURO, _CENT), "EUR": (_EURO, _CENT), "$": (_DOLLAR, _CENTAVO), "USD": (_DOLLAR, _CENTAVO),
        "£": (("libra", "libras"), ("penique", "peniques")),
    },
    money="{whole} con {part}",
    scales={"M": "millones de", "millones": "millones de", "millón": "millón de"},
    to="a",
    minus="menos",
    symbols={
        "×": "por", "÷": "entre", "by": "por", "and": "y", "->": "a", "→": "a", "≠": "distinto de",
        ">=": "al menos", "≥": "al menos", "<=": "como máximo", "≤": "como máximo", "±": "más menos",
        "≈": "aproximadamente", "==": "igual a", "=": "igual a", "√": "raíz de", "∞": "infinito", "&": "y", "+": "más",
        "%": "por ciento", "°C": "grados Celsius", "°": "grados", "−": "menos",
    },
    power="elevado a",
    squared={"2": "al cuadrado", "3": "al cubo"},
    fractions={
        "24/7": "24 horas",
        "1/2": "un medio", "1/3": "un tercio", "2/3": "dos tercios", "1/4": "un cuarto", "3/4": "tres cuartos",
    },
    fraction=lambda over, under: f"{over} partido por {under}",
    code="código {}",
    scripts={
        "CJK": "texto chino", "HIRAGANA": "texto japonés", "KATAKANA": "texto japonés", "HANGUL": "texto coreano",
        "CYRILLIC": "texto en cirílico", "GREEK": "texto griego", "ARABIC": "texto árabe", "HEBREW": "texto hebreo",
        "": "texto en otra escritura",
    },
)  # fmt: skip

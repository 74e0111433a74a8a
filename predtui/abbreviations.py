"""Words that a full stop does not end a sentence behind, by language, in lower case.

Must not know how sentences are found.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEVER_END = _set(
    "mr mrs ms mx dr prof rev hon st mt gen capt cpt lt sgt gov sen messrs mme mlle sr "
    "e.g i.e cf viz vs approx ca u.s u.k u.n e.u u.s.a "
    # German
    "z.b d.h u.a o.ä u.ä i.d.r z.t s.o s.u u.u m.e v.a bzw bspw vgl ggf evtl inkl exkl zzgl sog insb allg geb gest "
    "fr frl hrsg dipl dipl.-ing str tel jh jhdt "
    # Spanish, Portuguese
    "sra srta dra ud uds vd vds p.ej aprox avda ee exmo exma profa "
    # French, Italian
    "mlles mmes mgr env c.-à-d p.ex sig sigg sig.ra dott dott.ssa prof.ssa ing avv geom p.es "
    # Dutch, Swedish, Danish, Norwegian
    "bijv dhr mevr drs d.w.z o.a m.a.w i.v.m t.o.v t.ex bl.a dvs d.v.s f.eks "
    # Polish, Czech, Slovak, Hungarian, Finnish, Turkish
    "np tj tzn tzw tzv ul godz św m.in např napr resp pl ún esim örn bkz "
    # Russian, Ukrainian, Greek
    "т.е т.к т.н т.о т.зв напр ул вул гг рис проф акад π.χ δηλ "
    # Hindi, Bengali
    "डॉ प्रो ডা ড মো"
) | frozenset(("p ej", "por ej", "p ex", "par ex", "por ex", "p es", "per es"))
"""Abbreviations that something always follows, or that stand within a sentence as often as at its end. Pairs are of
words that are none of their own."""
BEFORE_NUMBERS = _set("no nos fig figs vol pp ch sec art nr núm pág págs cap nº kl klo стр ст")
"""Abbreviations where a number follows, words where none does."""
COUNTED = _set("mio mrd tsd")
"""Abbreviations that something follows where a number stands before, in German."""
MAY_END = _set(
    "a.m p.m etc inc ltd co corp jr ph.d m.d b.a m.a b.c a.d d.c a.c usw uu ecc enz osv m.m m.fl itd itp atd apod stb "
    "jne vb dll dsb dst v.v т.д т.п др руб тыс млн млрд κ.λπ κλπ κ.ά"
) | frozenset(("a m", "p m", "a c", "d c", "т д", "т п"))
"""Abbreviations that end a sentence where the next word is capitalised."""

ARTICLES = _set("der die das dem den des am im vom zum zur beim jeder jede jedes jeden jedem")
"""Words before a number with a full stop that make it an ordinal, in German."""
ORDINALS = _set(
    "januar jänner februar feber märz april mai juni juli august september oktober november dezember "
    "jahrhundert jahrhunderts jahrhunderte weltkrieg weltkriegs klasse stock etage mal lebensjahr auflage bundesliga"
)
"""Words behind one that do: months, and what is often counted so."""
COUNTING = _set(
    "is are was were be to of than equals and or by for in at on with no number only just about have has had got "
    "from until ist sind war waren von mit und oder im am est sont de à et ou en es son y o"
)
"""Words before a number with a full stop that say that it counts, and marks no item of a list."""

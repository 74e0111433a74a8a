"""A Jinja environment for templates that nobody vouches for: what they compute is metered, and ends when it is much.

Jinja's own sandbox keeps a template from reaching Python; it may still loop for ever or print a gigabyte. Here each
round of a loop, each call and each value made is charged before it is paid for, by a visitor that puts the meter into
the syntax tree. Must not know of messages or of what a template is for.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import wraps
from itertools import islice
from typing import Any

from jinja2 import TemplateError, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from predtui.llm.metering import ADDED, JOINED, MADE, SLICED, SPEND, Metering

SECONDS = 1.0
"""Of its thread's own time that a rendering may take."""
LARGEST = 1 << 22
"""Characters of a text, or values in a list however deep, that one step may make."""
TOTAL = 1 << 27
"""The same, of all steps together."""
_GLANCE = 1 << 14
"""What may be spent between two looks at the clock."""
LONGEST_SOURCE = 1 << 17
"""Characters of a template. Compiling them takes a second or two."""
_AT_ONCE = 256
"""Pieces of the text that are looked at together."""
_FREE = 64
"""A number up to which an argument makes nothing large."""
_MOST_BITS = 1 << 13
_DIGITS = re.compile(r"\d+")
_LEFT_OUT = ("pprint", "striptags", "urlize", "wordwrap", "xmlattr")
"""Filters that take far longer than their text is long, and that no chat template has a use for."""
_TEXTS = {str}
_LIGHT = frozenset({
    "attr", "batch", "count", "d", "default", "dictsort", "first", "groupby", "items", "last", "length", "list", "map",
    "max", "min", "random", "reject", "rejectattr", "reverse", "select", "selectattr", "slice", "sort", "unique",
})  # fmt: skip
"""Filters that write out nothing of what is in their arguments."""
_LINEAR = frozenset({
    "strip", "lstrip", "rstrip", "startswith", "endswith", "split", "rsplit", "lower", "upper", "title", "capitalize",
    "find", "rfind", "count",
})  # fmt: skip
"""Methods of a text that make nothing larger than it."""
_COMPUTED_WIDTH = re.compile(r"%[^a-zA-Z%]*\*|\{[^{}]*\{")


_ORDERING = frozenset({"dictsort", "groupby", "max", "min", "sort", "unique"})
"""Filters that compare what they are given, each value about as often as their number has bits."""
_COMPARING = (
    "eq", "equalto", "==", "ne", "!=", "lt", "lessthan", "<", "le", "<=", "gt", "greaterthan", ">", "ge", ">=", "in",
)  # fmt: skip
"""Tests that compare."""


class ExceededError(TemplateError):
    """A template takes too long, or makes too much."""


class _Meter:
    """What a rendering may still spend."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self._left, self._glance = TOTAL, TOTAL - _GLANCE
        self._until, self._cpu = time.monotonic() + SECONDS, time.thread_time() + SECONDS

    def spend(self, amount: int) -> None:
        """Raises ExceededError where that is too much, or too late."""
        self._left = left = self._left - 1 - amount
        if left < self._glance:
            self._look(amount)

    def _look(self, amount: int) -> None:
        self._glance = self._left - _GLANCE
        if amount > LARGEST or self._left < 0:
            raise ExceededError(f"it makes more than {(LARGEST if amount > LARGEST else TOTAL) >> 20} MB of text")
        if time.monotonic() > self._until and time.thread_time() > self._cpu:
            raise ExceededError(f"it takes longer than {SECONDS:g} s")


class MeteredEnvironment(ImmutableSandboxedEnvironment):
    """Its templates are rendered by ``render`` alone, within ``SECONDS``, ``LARGEST`` and ``TOTAL``."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        super().__init__(optimized=False, **options)
        self.meter = _Meter()
        self._rendering = threading.Lock()
        self.finalize = self._printed
        self.concat = self._concatenated  # type: ignore[method-assign]
        for name in _LEFT_OUT:
            del self.filters[name]
        del self.globals["lipsum"]

    def seal(self) -> None:
        """Puts all filters on the meter. To be called once they are all there."""
        self.filters = {name: self._metered(name, function) for name, function in self.filters.items()}
        self.filters |= {SPEND: self.meter.spend, MADE: self._made, SLICED: self._sliced}
        self.tests |= {name: self._weighed(self.tests[name]) for name in _COMPARING}
        self.filters |= {JOINED: self._joined, ADDED: self._added}

    def render(self, source: Any, **variables: Any) -> str:
        """A compiled template's text. Raises what the template raises, and ExceededError."""
        with self._rendering:
            self.meter.start()
            text: str = source.render(**variables)
        return text

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > LONGEST_SOURCE:
            raise ExceededError(f"it is longer than {LONGEST_SOURCE:,} characters")
        self.meter.start()
        parsed: nodes.Template = Metering().visit(super()._parse(source, name, filename))
        return parsed

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "%":
            if isinstance(left, str):
                self.meter.spend(_formatted(left, right if isinstance(right, tuple) else (right,)))
        elif isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() + right.bit_length() if operator == "*" else left.bit_length() * abs(right)
            if bits > _MOST_BITS:
                raise ExceededError("it counts too high")
        elif operator == "*" and isinstance(right, int):
            self.meter.spend(_size(left) * max(0, right))
        elif operator == "*" and isinstance(left, int):
            self.meter.spend(_size(right) * max(0, left))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, called: Any, *args: Any, **kwargs: Any) -> Any:
        """Of a macro, a function, or a method of a value."""
        owner = getattr(getattr(called, "__wrapped__", called), "__self__", None)
        if type(owner) is str and called.__name__ in _LINEAR:
            self.meter.spend(len(owner))
            return super().call(context, called, *args, **kwargs)
        if isinstance(owner, list | tuple):
            self.meter.spend(weight((owner, args)))
        args = tuple(list(one) if isinstance(one, Iterator) else one for one in args)
        self.meter.spend(_made_by(getattr(called, "__name__", ""), owner, args, kwargs))
        return self._result(super().call(context, called, *args, **kwargs))

    def _metered(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        passed = 1 if hasattr(function, "jinja_pass_arg") else 0
        alone = passed + 1

        @wraps(function)
        def metered(*args: Any, **kwargs: Any) -> Any:
            if not kwargs and len(args) == alone and type(args[passed]) is str:
                self.meter.spend(len(args[passed]))
                return self._result(function(*args))
            value, *others = args[passed:]
            if name == "sum" and not isinstance(kwargs.get("start", (*others, 0, 0)[1]), int | float):
                raise ExceededError("it adds up what are no numbers")
            if name in _ORDERING:
                value = list(value) if isinstance(value, Iterator) else value
                heavy = weight(value)
                for _ in range(_size(value).bit_length()):
                    self.meter.spend(heavy)
            elif name in _LIGHT:
                self.meter.spend(_size(value))
            elif not isinstance(value, str):
                value = list(value) if isinstance(value, Iterator) else value
                self.meter.spend(weight(value) + weight((others, kwargs)))
            self.meter.spend(_made_by(name, value, others, kwargs))
            return self._result(function(*args[:passed], value, *others, **kwargs))

        return metered

    def _weighed(self, test: Any) -> Callable[..., Any]:
        @wraps(test)
        def weighed(*args: Any) -> Any:
            self.meter.spend(weight(args))
            return test(*args)

        return weighed

    def _result(self, value: Any) -> Any:
        if isinstance(value, str):
            self.meter.spend(len(value))
            return value
        if isinstance(value, bytes):
            raise ExceededError("it asks for bytes")
        return self._counted(value) if isinstance(value, Iterator) else value

    def _counted(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.meter.spend(weight(value))
            yield value

    @pass_context
    def _printed(self, _: Context, value: Any) -> Any:
        self.meter.spend(len(value) if type(value) is str else weight(value))
        return value

    def _concatenated(self, pieces: Iterable[str]) -> str:
        kept: list[str] = []
        size, rest = 0, iter(pieces)
        while some := list(islice(rest, _AT_ONCE)):
            kept += some
            size += sum(map(len, some))
            self.meter.spend(size)
        return "".join(kept)

    def _made(self, value: Any) -> Any:
        self.meter.spend(weight(value))
        return value

    def _sliced(self, value: Any) -> Any:
        self.meter.spend(_size(value))
        return value

    def _added(self, values: tuple[Any, ...]) -> Any:
        """Of ``a + b + c``: texts at once, anything else from the left."""
        if set(map(type, values)) == _TEXTS:
            self.meter.spend(sum(map(len, values)))
            return "".join(values)
        total = values[0]
        for value in values[1:]:
            if isinstance(total, Sized):
                self.meter.spend(_size(total) + _size(value))
            total = total + value
        return total

    def _joined(self, values: tuple[Any, ...]) -> str:
        self.meter.spend(weight(values))
        return "".join(map(str, values))


def weight(value: Any) -> int:
    """About how many characters ``value`` has when it is written out; counting ends beyond ``LARGEST``."""
    if isinstance(value, str):
        return _size(value)
    total, waiting = 0, [value]
    while waiting and total <= LARGEST:
        one = waiting.pop()
        if isinstance(one, str | range):
            total += _size(one)
        elif isinstance(one, int):
            total += one.bit_length() // 3
        elif isinstance(one, dict):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, Namespace):
            waiting.append(object.__getattribute__(one, "_Namespace__attrs"))
        elif isinstance(one, Iterable) and isinstance(one, Sized):
            waiting.extend(one)
        total += 1
    return total


def _made_by(name: str, value: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> int:
    """What a filter or method of ``value`` may make, beyond what there is: it is told how wide, how often, or what goes
    between."""
    given = [*args, *kwargs.values()]
    numbers = sum(abs(one) for one in given if isinstance(one, int) and abs(one) > _FREE)
    text = value if isinstance(value, str) else ""
    if name in ("format", "format_map", "strftime_now"):
        return _formatted(text or "".join(one for one in given if isinstance(one, str)), given)
    if name == "replace" and given:
        whole = text or str(value)
        return (whole.count(str(given[0])) + 1) * max(map(weight, given))
    if name in ("join", "translate"):
        most = max((_size(one) for one in (value, *given) if isinstance(one, Sized)), default=0)
        return most * weight(given) if name == "translate" else weight(value) + weight(given) + _between(value, given)
    return numbers * (1 + text.count("\n") + text.count("\t"))


def _between(value: Any, given: list[Any]) -> int:
    """What stands between the parts that a filter or a method joins: one is the text, the other the parts."""
    sizes = [_size(one) for one in (value, *given) if isinstance(one, Sized)]
    return sizes[0] * sizes[1] if len(sizes) > 1 else 0


def _size(value: Any) -> int:
    """Characters of a text, items of a list."""
    return len(value) if isinstance(value, str | Sized) else 1


def _formatted(form: str, args: Iterable[Any]) -> int:
    """Of a format: the widths it names, and each argument as often as it may be named."""
    if _COMPUTED_WIDTH.search(form):
        raise ExceededError("it computes the width of a text")
    named = sum(int(digits) if len(digits) < 10 else LARGEST for digits in _DIGITS.findall(form))
    return _size(form) + named + (form.count("%") + form.count("{")) * weight(list(args))

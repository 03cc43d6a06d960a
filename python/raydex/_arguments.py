# SPDX-License-Identifier: Apache-2.0
"""Arguments of public functions that are no columns: names, options, flags."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from raydex._errors import InvalidArgument, InvalidType
from raydex._structures import known

_Function = TypeVar("_Function", bound=Callable[..., Any])


def renamed(**new_names: str) -> Callable[[_Function], _Function]:
    """Has a function take keyword arguments by their old names as well: `old="new"`."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            for old, new in new_names.items():
                if old in named and new not in named:
                    named[new] = named.pop(old)
            return function(*arguments, **named)

        return cast(_Function, called)

    return decorate


SUMS_BY = (
    "an index has the sums of groups by their keys: raydex.build(by).sum(groups, values=column); raydex.rolling and "
    "raydex.join_window take by"
)


def without(**instead: str) -> Callable[[_Function], _Function]:
    """Has a function say what to write instead of keyword arguments that it has not."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            for name in instead.keys() & named.keys():
                raise InvalidType(f"{name}: {function.__qualname__} has no such argument; {instead[name]}")
            return function(*arguments, **named)

        return cast(_Function, called)

    return decorate


def flag(argument: str, value: object) -> bool:
    """A word that is yes or no."""
    if type(value).__name__ not in ("bool", "bool_"):  # the latter of NumPy
        raise InvalidType(f"{argument}: {value!r} is neither True nor False")
    return bool(value)


def option_texts(options: Mapping[str, object], structure: str, called: Callable[..., Any]) -> dict[str, str]:
    """Options as the library reads them, of what a function was called with beyond its parameters."""
    if not options:
        return {}
    check_words(options, structure, called)
    return {
        name: ("on" if value else "off") if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }


def check_words(options: Iterable[str], structure: str, called: Callable[..., Any]) -> None:
    """Refuses what is neither a parameter of a function nor an option of a structure."""
    candidates = [one for one in known() if structure in ("auto", one.name)]
    there = {option.name for one in candidates for option in one.options}
    parameters = [name for name, one in inspect.signature(called).parameters.items() if one.kind != one.VAR_KEYWORD]
    for name in options:
        if candidates and name not in there:
            near = difflib.get_close_matches(name, [*parameters, *sorted(there)], 1, 0.7)
            hint = f"; do you mean {near[0]}?" if near else f"; it has {', '.join(parameters)}, and options"
            owner = "structure" if structure == "auto" else structure
            raise InvalidArgument(
                f"{name}: {called.__qualname__} has no such argument, and no {owner} such an option{hint}"
            )

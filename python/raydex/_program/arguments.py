# SPDX-License-Identifier: Apache-2.0
"""What the commands are told in the same words."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

import raydex
from raydex._program.keys import Column
from raydex._program.messages import Failed, Refused, check_word, quoted
from raydex._program.tables import Name, parse, parse_ranges

_BACKENDS = ("auto", "cpu", "cuda", "optix")
_ARGUMENTS = ("device", "extremes", "progress", "rows", "stream", "structure")
"""What `raydex.build` and `raydex.rmq` take beside options."""


def structure_options(given: argparse.Namespace, minima: bool) -> dict[str, str]:
    """Checks the structure and the backend; returns the options that are given."""
    options: dict[str, str] = {}
    for text in given.option:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise Refused(f"option: {quoted(text)} is not of the form name=value")
        if name in options:
            raise Refused(f"option: {quoted(name)} is given twice")
        if name in _ARGUMENTS:
            raise Refused(f"option: {quoted(name)} is none of a structure")
        options[name] = value
    check_word("backend", given.backend, _BACKENDS)
    if given.backend in ("cuda", "optix"):
        raise Failed(
            f"backend {given.backend}: columns of files are in host memory, where the package answers on "
            "cpu; the C++ program copies them to a GPU"
        )
    names = [one.name for one in raydex.structures() if one.minima == minima]
    check_word("structure", given.structure, ["auto", *dict.fromkeys(names)])
    return options


class Files:
    """The columns that options name, `--ranges` by lower and upper ends."""

    def __init__(self, given: argparse.Namespace, *options: str) -> None:
        self._names: dict[str, tuple[Name, ...]] = {}
        for option in options:
            text = getattr(given, option.removeprefix("--").replace("-", "_"))
            if text is not None:
                self._names[option] = parse_ranges(text) if option == "--ranges" else (parse(text),)

    def __contains__(self, option: str) -> bool:
        return option in self._names

    def __getitem__(self, option: str) -> tuple[Name, ...]:
        return self._names[option]

    def names(self) -> list[Name]:
        return [name for names in self._names.values() for name in names]

    def paths(self) -> list[tuple[str, str]]:
        """Options and the files that they name."""
        return [(option, names[0].path) for option, names in self._names.items()]


@contextlib.contextmanager
def naming(**columns: Column | None) -> Iterator[None]:
    """Has the package's messages name files where they name its arguments."""
    try:
        yield
    except raydex.InvalidArgument as error:
        argument, colon, rest = str(error).partition(": ")
        of = columns.get(argument)
        if of is None or not colon:
            raise
        raise Refused(f"{of}: {rest}") from None

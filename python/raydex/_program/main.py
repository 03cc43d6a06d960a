# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex`: its command line, and every error as one line on stderr."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any, NoReturn

import numpy as np

import raydex
from raydex._program import join, manual, query, rmq, structures
from raydex._program.messages import Failed, Refused, printable, quoted, suggestion
from raydex._program.outputs import write_text

_SUCCESS, _FAILURE, _MISUSE = range(3)
_ELSEWHERE = ("advise", "bench", "tune", "completion", "--aggregate", "--report", "--json")


class _Ended(BaseException):
    """A signal that ends the program, which has files to remove first."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Once(argparse.Action):
    """Stores a value; refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        if self.dest in vars(namespace).setdefault("told", set()):
            parser.error(f"{option} is given twice")
        namespace.told.add(self.dest)
        setattr(namespace, self.dest, values)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


class _Parser(argparse.ArgumentParser):
    """Its errors are `Refused`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **settings)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        needed = message.removeprefix("the following arguments are required: ")
        if needed != message:
            message = f"{needed.partition(',')[0]} is required"
        raise Refused(f"{message.removeprefix('argument ')} (see --help)")

    def option(self, name: str, word: str, what: str, required: bool = False, **more: Any) -> None:
        """Adds an option with a value."""
        metavar = f"{word} REQUIRED" if required else word
        self.add_argument(name, metavar=metavar, required=required, help=what, **more)

    def flag(self, name: str, what: str) -> None:
        """Adds an option without a value."""
        self.add_argument(name, action="store_true", help=what)

    def words(self) -> list[str]:
        """The options that it has."""
        return [word for action in self._actions for word in action.option_strings if word.startswith("--")]


_OUT = ".npy, .csv, .csv.gz, .parquet, .arrow or .feather; - is CSV"


def _add_build_options(command: _Parser, out: str) -> None:
    command.option("--out", "FILE", out, required=True)
    command.option("--structure", "NAME", "What is built; see `structures` [auto]", default="auto")
    command.option("--backend", "cpu|auto", "Who does the work [auto]", default="auto")
    what = "An option of the structure, as `structures NAME` lists them; can be repeated"
    command.option("--option", "NAME=VALUE", what, default=[], action="append")


def _add_query(command: _Parser) -> None:
    add = command.option
    add("--keys", "FILE", "The column to index", required=True)
    add("--row-ids", "FILE", "Its row ids, integers; without them, positions")
    add("--points", "FILE", "Keys to look up")
    add("--ranges", "FILE", "Inclusive ranges: lower and upper ends, two columns or an n x 2 array")
    add("--result", "|".join(query.RESULTS), "What to find out about the matching rows", required=True)
    add("--values", "FILE", "For sum: the column to sum; without it, row ids are summed")
    command.flag("--strict", "For predecessor and successor: leave keys out that equal the point")
    _add_build_options(command, f"The answers: {_OUT}; rows also .npz")
    add("--insert", "FILE", "Keys to insert after the build")
    add("--insert-rows", "FILE", "The row ids of the inserted keys")
    add("--erase", "FILE", "Keys to erase after the build, before others are inserted")
    add("--erase-rows", "FILE", "Of the erased keys only these rows; without it, all of them")


def _add_join(command: _Parser) -> None:
    add, columns = command.option, "FILE[,...]"
    add("--build", columns, "The key of the build table: its columns", required=True)
    add("--probe", columns, "The key of the probe table, which is compared with it", required=True)
    add("--kind", "|".join(join.KINDS), "Which rows match, and which are written", required=True)
    _add_build_options(command, f"The rows: {_OUT}")
    add("--columns", columns, "Write what stands in these columns instead of row numbers, as a table")
    add("--side", "|".join(join.SIDES), "For inner: the table that is indexed [auto]", default="auto")
    command.flag("--ordered", "Write rows in the order of the probe rows")
    command.flag("--missing-equal", "For inner, left, semi and anti: a missing value equals another one")
    directions = "|".join(join.DIRECTIONS)
    add("--direction", directions, "For asof: where the closest time is looked for [backward]")
    add("--tolerance", "DISTANCE", "For asof: the largest distance of times")
    command.flag("--strict", "For asof: leave equal times out")
    add("--build-by", columns, "For asof: a key of the build table that must be equal")
    add("--probe-by", columns, "For asof: the columns that it equals")
    add("--distance", "DISTANCE", "For band: the largest distance of keys")
    add("--build-upper", "FILE", "For contains: upper ends of intervals, whose lower ends are --build")


def _add_rmq(command: _Parser) -> None:
    add, ends = command.option, "lower and upper ends, two columns or an n x 2 array"
    add("--values", "FILE", "The array", required=True)
    add("--ranges", "FILE", f"Inclusive ranges of positions: {ends}", required=True)
    what = "The smallest or largest value of each range, or its leftmost position"
    add("--result", "|".join(rmq.RESULTS), what, required=True)
    _add_build_options(command, f"The answers: {_OUT}")
    command.flag("--check", "Refuse ranges that are empty or not wholly in the array")
    add("--set", "FILE", "Positions whose values change after the build")
    add("--set-values", "FILE", "Their new values; of equal positions the last counts")


def _add_structures(command: _Parser) -> None:
    what = "List the options of this structure"
    command.add_argument("structure", metavar="STRUCTURE", nargs="?", help=what)


_Adder = Callable[[_Parser], None]
_Runner = Callable[[argparse.Namespace], None]
_COMMANDS: dict[str, tuple[str, str, _Adder, _Runner]] = {
    "structures": (
        "List the structures and what each can do",
        manual.STRUCTURES,
        _add_structures,
        structures.structures,
    ),
    "query": (
        "Build an index over a column and answer points or ranges",
        manual.QUERY,
        _add_query,
        query.query,
    ),
    "join": ("Find the rows of two tables that match", manual.JOIN, _add_join, join.join),
    "rmq": ("Find the minima or maxima of ranges of an array, or where they are", manual.RMQ, _add_rmq, rmq.rmq),
}


def _version() -> str:
    lines = [f"raydex {raydex.__version__}", f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    try:
        lines.append(f"pyarrow {metadata.version('pyarrow')}")
    except metadata.PackageNotFoundError:
        lines.append("no pyarrow: columns are .npy files only")
    return "".join(f"{line}\n" for line in lines)


def _with_values(parser: _Parser, words: Sequence[str]) -> list[str]:
    """The words with `--out -dash.npy` as `--out=-dash.npy`: one that begins with a dash is the value of what takes
    one, unless it is an option itself."""
    takes = {word for action in parser._actions if action.nargs != 0 for word in action.option_strings}
    known = {word for action in parser._actions for word in action.option_strings}
    found: list[str] = []
    for word in words:
        is_value = word.startswith("-") and word != "-" and not word.startswith("--") and word not in known
        if is_value and found and found[-1] in takes:
            found[-1] = f"{found[-1]}={word}"
        else:
            found.append(word)
    return found


def _refuse_word(parser: _Parser, word: str, kind: str, known: Sequence[str]) -> NoReturn:
    hint = "; the C++ program has it" if word in _ELSEWHERE else suggestion(word, known)
    parser.error(f"{quoted(word)} is not {kind}{hint}")


def _run(words: Sequence[str]) -> None:
    """Does what the words say."""
    parser = _Parser(
        prog="python -m raydex",
        description="GPU indexes: points, ranges and joins over columns of files, answered on a CPU.",
        epilog=manual.FOOTER,
    )
    parser.flag("--version", "Print versions and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    parsers: dict[str, _Parser] = {}
    for name, (what, footer, add, run) in _COMMANDS.items():
        usage = f"python -m raydex {name} [OPTIONS]{' [STRUCTURE]' if name == 'structures' else ''}"
        parsers[name] = commands.add_parser(name, help=what, description=what, epilog=footer, usage=usage)
        parsers[name].set_defaults(run=run)
        add(parsers[name])
    if not words:
        parser.error("which command?")
    command = words[0]
    if command not in _COMMANDS and not command.startswith("-"):
        _refuse_word(parser, command, "a command of raydex", list(_COMMANDS))
    chosen = parsers.get(command, parser)
    of = f"raydex {command}" if command in parsers else "raydex"
    for word in (word.partition("=")[0] for word in words if word.startswith("--")):
        if word not in chosen.words():
            _refuse_word(parser, word, f"an option of {of}", chosen.words())
    given, unknown = parser.parse_known_args(_with_values(chosen, words))
    for word in unknown:
        _refuse_word(parser, word, f"for {of}", [])
    if given.version:
        write_text(_version())
    else:
        given.run(given)


def _end(number: int, _frame: Any) -> NoReturn:
    raise _Ended(number)


def begin() -> None:
    """What a process does first to keep files safe."""
    for stream in range(3):  # no file is to get the number of one that is closed
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_PATH)  # which cannot be written to
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # nothing is left where one writes into a pipe


def main(words: Sequence[str]) -> int:
    """Does what the words say; returns the exit status."""
    try:
        _run(words)
        return _SUCCESS
    except (Refused, raydex.InvalidArgument, raydex.Unsupported) as error:
        message, status = str(error), _MISUSE
    except (Failed, raydex.Error) as error:
        message, status = str(error), _FAILURE
    except MemoryError:
        message, status = "out of memory", _FAILURE
    except _Ended as end:
        signal.signal(end.number, signal.SIG_DFL)
        os.kill(os.getpid(), end.number)
        return _FAILURE
    if sys.stderr is not None:
        print(f"raydex: {printable(message)}", file=sys.stderr)
    return status

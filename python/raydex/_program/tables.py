# SPDX-License-Identifier: Apache-2.0
"""Columns of files as a command line names them: `keys.npy`, `flights.csv:tailnum`,
`planes.parquet:year:int32`. They are read as NumPy arrays, or as Arrow has them."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._program.messages import Refused, arrow, printable, quoted, suggestion

CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
"""How files are compressed, by what their names end in."""

MISSING = ("", "NA", "N/A", "null", "NULL")
"""The fields of a CSV file that are no values."""

VERBATIM = "verbatim"
"""The type of a CSV column whose fields are taken as they stand; none is missing."""

_TABLE = rf"\.(?:csv(?:\.(?P<codec>{'|'.join(CODECS)}))?|parquet|arrow|feather|ipc)"
_COLUMN = re.compile(rf"(?P<path>.*?{_TABLE}):(?P<column>.*)", re.IGNORECASE | re.DOTALL)
_FILE = re.compile(rf"(?P<stem>.*){_TABLE}", re.IGNORECASE | re.DOTALL)

TYPES = {
    name: kind
    for kind, others in {
        "uint32": "u4", "uint64": "u8", "int32": "i4", "int64": "i8", "float": "float32 f4",
        "double": "float64 f8",
    }.items()
    for other in others.split()
    for name in (kind, other, f"<{other}")
} | {
    name: f"bytes{width}" for width in range(1, 9) for name in (f"bytes{width}", f"S{width}", f"|S{width}")
} | {"string": "string"}  # fmt: skip
"""The words for types, and what they mean."""


@dataclasses.dataclass(frozen=True)
class Name:
    """A column as the command line names it."""

    text: str
    path: str
    column: str = ""  # none: the file is an array
    type: str = ""  # none: what the file has

    @property
    def is_csv(self) -> bool:
        return self.column != "" and format_of(self.path)[0] == "csv"

    def typed(self, kind: str) -> str:
        """The same column with a type, as the command line would name it."""
        return f"{self.text.rpartition(':')[0] if self.type else self.text}:{kind}"


def format_of(path: str) -> tuple[str, str]:
    """The format of a file by its name, `csv`, `parquet`, `arrow` or `npy`, and how it is compressed."""
    found = _FILE.fullmatch(path)
    if found is None:
        return ("npy", "")
    if found["codec"]:
        return ("csv", CODECS[found["codec"].lower()])
    ending = path.rpartition(".")[2].lower()
    return (ending if ending in ("csv", "parquet") else "arrow", "")


def stem_of(path: str) -> str:
    """The name of a file without its folder and what tells its format."""
    name = os.path.basename(path)
    found = _FILE.fullmatch(name)
    return found["stem"] if found else os.path.splitext(name)[0]


def parse(text: str) -> Name:
    """The column that a text names."""
    found = _COLUMN.fullmatch(text)
    if found is None:
        _check_is_array(text)
        return Name(text, text)
    column, colon, kind = found["column"].rpartition(":")
    if colon and kind in TYPES:
        return Name(text, found["path"], column, TYPES[kind])
    return Name(text, found["path"], found["column"])


def _check_is_array(text: str) -> None:
    if _COLUMN.fullmatch(text + ":"):
        raise Refused(f"{text}: which column? name it: {text}:column")
    path, colon, _ = text.partition(":")
    if colon and not os.path.exists(text) and os.path.exists(path):
        raise Refused(
            f"{text}: columns are named of tables, whose names end in .csv, .csv.gz, .parquet, .arrow or "
            ".feather; of an .npy file, which is one array, give the path alone"
        )


def parse_ranges(text: str) -> tuple[Name, ...]:
    """The columns of lower and upper ends, or the one array that has both."""
    both = parse(text)
    if not both.column:
        return (both,)
    lower, comma, upper = both.column.partition(",")
    if not comma:
        raise Refused(f"{text}: ranges have two columns: {both.path}:lower,upper")
    return tuple(dataclasses.replace(both, column=one) for one in (lower, upper))


def split_list(option: str, text: str) -> list[str]:
    """The columns of a list. Behind one of a table, what names no file is a further one of it."""
    texts: list[str] = []
    table = ""
    for item in text.split(","):
        if not item:
            raise Refused(
                f"{option} {text}: a name in the list is empty; names are separated by single commas"
            )
        found = _COLUMN.fullmatch(item)
        if found:
            table = found["path"]
        elif item.endswith(".npy"):
            table = ""
        texts.append(item if found or not table else f"{table}:{item}")
    return texts


def read(names: Iterable[Name]) -> dict[Name, Any]:
    """Reads columns: NumPy arrays, which are mapped, or chunked arrays of Arrow. Of a table only those
    columns are read that are named."""
    found: dict[Name, Any] = {}
    tables: dict[str, list[Name]] = {}
    for name in dict.fromkeys(names):
        if name.column:
            tables.setdefault(name.path, []).append(name)
        else:
            found[name] = _read_array(name.path)
    for path, wanted in tables.items():
        found.update(_read_table(path, wanted))
    return found


def _check_readable(path: str) -> None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Refused(f"{path}: cannot be read: not a regular file")
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None


def _other_kind(begin: bytes) -> str:
    """What a file is that begins so, and what to do with it."""
    if begin.startswith(b"PK"):
        return " but an archive, as .npz files are; save one array: numpy.save(file, archive['name'])"
    if begin.startswith(b"PAR1"):
        return " but a table of Parquet; let its name end in .parquet, and name a column: file.parquet:column"
    if begin.startswith(b"ARROW1"):
        return " but a table of Arrow; let its name end in .arrow, and name a column: file.arrow:column"
    return "; columns of tables are named so: file.csv:column, file.csv.gz:column, file.parquet:column"


def _read_array(path: str) -> npt.NDArray[Any]:
    _check_readable(path)
    try:
        with open(path, "rb") as file:
            begin = file.read(8)
        if not begin.startswith(np.lib.format.MAGIC_PREFIX):
            raise Refused(f"{path}: it is not an .npy file{_other_kind(begin)}")
        array = np.lib.format.open_memmap(path, mode="r")
        left = os.path.getsize(path) - array.offset - array.nbytes
    except OSError as error:
        raise Refused(f"{path}: cannot be read to its end: {error.strerror}") from None
    except (Refused, MemoryError):
        raise
    except Exception as error:  # NumPy reads a header as Python, which fails in many ways
        raise Refused(f"{path}: it is damaged or truncated: {error}") from None
    if left:
        raise Refused(f"{path}: {left} bytes follow the {array.nbytes} bytes of its cells")
    return array.view(np.ndarray)


def _check_columns(path: str, there: Sequence[str], wanted: Iterable[Name]) -> None:
    for name in wanted:
        count = there.count(name.column)
        if count == 0:
            listed = printable(", ".join(there), 300)
            meant = suggestion(name.column, there)
            raise Refused(f"{path}: no column {quoted(name.column)}; there are {listed}{meant}")
        if count > 1:
            raise Refused(f"{path}: {count} columns are called {quoted(name.column)}")


def _read_table(path: str, wanted: list[Name]) -> dict[Name, Any]:
    _check_readable(path)
    pa = arrow(path)
    form, codec = format_of(path)
    try:
        if form == "csv":
            return _read_csv(path, codec, wanted)
        table = _read_parquet(path, wanted) if form == "parquet" else _read_arrow(path, wanted)
        table.validate(full=True)  # of a stranger's file, else offsets and places lead anywhere
        return {name: table[name.column] for name in wanted}
    except MemoryError:
        raise
    except UnicodeError as error:
        raise Refused(f"{path}: it is damaged: {error}") from None
    except (pa.ArrowException, OSError, EOFError) as error:
        raise Refused(f"{path}: {error}") from None


def _read_parquet(path: str, wanted: list[Name]) -> Any:
    with arrow(path, "pyarrow.parquet").ParquetFile(path) as file:
        _check_columns(path, file.schema_arrow.names, wanted)
        return file.read(columns=list(dict.fromkeys(name.column for name in wanted)))


def _read_arrow(path: str, wanted: list[Name]) -> Any:
    pa, ipc = arrow(path), arrow(path, "pyarrow.ipc")
    opening: Callable[..., Any] = ipc.open_file
    try:
        there = opening(pa.memory_map(path)).schema.names
    except pa.ArrowInvalid:  # no file, but perhaps a stream
        opening = ipc.open_stream
        there = opening(pa.memory_map(path)).schema.names
    _check_columns(path, there, wanted)
    fields = [i for i, column in enumerate(there) if any(column == name.column for name in wanted)]
    options = ipc.IpcReadOptions(included_fields=fields)
    return opening(pa.memory_map(path), options=options).read_all()


def _csv_names(path: str, codec: str) -> list[str]:
    """The names in the first row of a CSV file."""
    with arrow(path).input_stream(path, compression=codec or None) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        try:
            return next((row for row in csv.reader(text) if row), [])
        except csv.Error as error:
            raise Refused(f"{path}: its first row has no names: {error}") from None


def _read_csv(path: str, codec: str, wanted: list[Name]) -> dict[Name, Any]:
    pa, reader = arrow(path), arrow(path, "pyarrow.csv")
    there = _csv_names(path, codec)
    if not there:
        raise Refused(f"{path}: it is empty")
    _check_columns(path, there, wanted)
    # A column that is wanted in two types needs two passes.
    passes: list[dict[str, str]] = []
    for name in wanted:
        if not any(one.setdefault(name.column, name.type) == name.type for one in passes):
            passes.append({name.column: name.type})
    # A blank line of one column is a missing field; else it is nothing.
    parsing = reader.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(there) > 1)
    found: dict[Name, Any] = {}
    for types in passes:
        read_as = {column: arrow_type(path, kind) for column, kind in types.items() if kind}

        def table_of(types_of: dict[str, Any], columns: list[str]) -> Any:
            converting = reader.ConvertOptions(
                include_columns=columns, column_types=types_of, null_values=list(MISSING),
                strings_can_be_null=True,
            )
            with pa.input_stream(path, compression=codec or None) as stream:
                return reader.read_csv(stream, parse_options=parsing, convert_options=converting)

        try:
            table = table_of(read_as, list(types))
        except pa.ArrowInvalid as error:
            number = r"In CSV column #([0-9]+)"
            message = re.sub(number, lambda found: f"column {there[int(found[1])]}", str(error))
            refused = Refused(f"{path}: {message}")
            # Where some are missing, others write integers as 5.0.
            whole = {column: kind for column, kind in read_as.items() if pa.types.is_integer(kind)}
            try:
                table = table_of({**read_as, **dict.fromkeys(whole, pa.string())}, list(types))
                for column, kind in whole.items():
                    at = table.column_names.index(column)
                    table = table.set_column(at, column, _whole_numbers(path, table[column], kind))
            except pa.ArrowInvalid:
                raise refused from None
        for name in wanted:
            if types.get(name.column) == name.type:
                found[name] = _without_missing(name, table[name.column])
    return found


def _whole_numbers(path: str, texts: Any, kind: Any) -> Any:
    """Texts as integers, of which 5.0 is one."""
    pc = arrow(path, "pyarrow.compute")
    return pc.replace_substring_regex(texts, r"^\s*\+?(-?[0-9]+)(?:\.0*)?\s*$", r"\1").cast(kind)


def arrow_type(path: str, kind: str) -> Any:
    """The type of Arrow that a name asks for. Texts are bytes: their encoding does not matter."""
    names = {"float": "float32", "double": "float64", "uint32": "uint32", "uint64": "uint64"}
    names |= {"int32": "int32", "int64": "int64"}
    return getattr(arrow(path), names.get(kind, "binary"))()


def _without_missing(name: Name, column: Any) -> Any:
    """The column without texts that are no values."""
    pa, pc = arrow(name.path), arrow(name.path, "pyarrow.compute")
    if name.type == VERBATIM or not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return column
    is_missing = pc.is_in(column, value_set=pa.array(MISSING, column.type))
    if not pc.any(is_missing).as_py():
        return column
    return pc.if_else(is_missing, pa.scalar(None, column.type), column)

# SPDX-License-Identifier: Apache-2.0
"""Hands columns of a table that pyarrow reads over to the program raydex, which holds this text and runs it as
`python3 -c TEXT PATH [COLUMN TYPE]...`, with a file as standard output.

The file gets each column as pyarrow_table.cpp reads it: a line `kind rows missing bytes`; if some are missing, a
byte per row, 0 for those; the cells, or of strings their lengths in bytes, 8 bytes each, and then the strings. A
CSV file has no columns named: it is decompressed. If something is wrong the file gets a line that says what, and
the exit status is 2 if the table is at fault, and 1 if this machine is.

`--read BEGIN [COLUMN TYPE]...` does so with each batch of a stream on standard input, whose first bytes are BEGIN,
in hexadecimal; standard output is a pipe, and the line that says what is wrong begins with `!`.
`--write [COLUMN TYPE NONE]...` makes a stream on standard output of batches on standard input: a number of rows, 8
bytes, and the cells of each column, NONE those that are missing.

Types: that of a number, `string`, `text` for what is written as text, and nothing for what the table has: int64,
uint64, double, nanoseconds of times, or strings."""

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # not the current one, where anything may lie

import difflib  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

OLDEST = 16  # version of pyarrow that has all that is asked of it
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
NUMBERS = {"uint32": "uint32", "uint64": "uint64", "int32": "int32", "int64": "int64", "float": "float32",
           "double": "float64"}
EXTENSIONS = ("arrow.uuid", "arrow.json")  # values of these are equal where what is stored is


def end(status: int, message: str) -> NoReturn:
    """Ends, without what standard output would still get."""
    if sys.argv[1] == "--read":  # nothing is half written there
        message = "!" + message.replace("\n", " ") + "\n"
    else:
        os.ftruncate(1, 0)
        os.lseek(1, 0, os.SEEK_SET)
    os.write(1, message.encode(errors="replace"))
    os._exit(status)


def found(path: str) -> Any:
    """pyarrow, for this file."""
    get = f"{sys.executable} -m pip install"
    try:
        import pyarrow as pa
    except ImportError as error:
        reason = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded: {error}"
        end(1, f"{path}: it is read by pyarrow, which {reason}: {get} pyarrow")
    if int(pa.__version__.partition(".")[0]) < OLDEST:
        end(1, f"{path}: it is read by pyarrow {OLDEST} or newer, and here is {pa.__version__}: {get} -U pyarrow")
    return pa


def check_names(path: str, there: list[str], names: list[str]) -> None:
    for name in names:
        if there.count(name) == 0:
            near = difflib.get_close_matches(name, there, 1)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            end(2, f"{path}: no column '{name}'; there are {', '.join(there)[:300]}{meant}")
        if there.count(name) > 1:
            end(2, f"{path}: {there.count(name)} columns are called '{name}'")


def read(pa: Any, path: str, names: list[str]) -> Any:
    """A table with these columns."""
    if path.lower().endswith(".parquet"):
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            check_names(path, file.schema_arrow.names, names)
            table = file.read(columns=names)
    else:
        opening = pa.ipc.open_file
        try:
            there = opening(pa.memory_map(path)).schema.names
        except pa.ArrowInvalid:  # no file, but perhaps a stream
            opening = pa.ipc.open_stream
            there = opening(pa.memory_map(path)).schema.names
        check_names(path, there, names)
        fields = [i for i, name in enumerate(there) if name in names]
        table = opening(pa.memory_map(path), options=pa.ipc.IpcReadOptions(included_fields=fields)).read_all()
    table.validate(full=True)  # of a stranger's file, else offsets and places lead anywhere
    return table


def plain(pa: Any, cells: Any) -> Any:
    """Cells without dictionaries and extension types, and texts of the type that all others have."""
    while True:
        kind, types = cells.type, pa.types
        if types.is_dictionary(kind):
            cells = cells.cast(kind.value_type)
        elif isinstance(kind, pa.BaseExtensionType) and kind.extension_name in EXTENSIONS:
            cells = cells.cast(kind.storage_type)
        elif types.is_binary(kind) or types.is_fixed_size_binary(kind) or types.is_binary_view(kind):
            cells = cells.cast(pa.large_binary())
        elif types.is_string(kind) or types.is_string_view(kind):
            cells = cells.cast(pa.large_string())
        else:
            return cells


def converted(pa: Any, cells: Any, wanted: str) -> tuple[str, Any]:
    """The kind of cells, and cells whose buffers are of that kind."""
    types, kind = pa.types, cells.type
    if wanted in NUMBERS:
        cells = cells.cast(pa.large_string()) if types.is_large_binary(kind) else cells
        return wanted, cells.cast(pa.type_for_alias(NUMBERS[wanted]))
    if types.is_large_binary(kind) or types.is_large_string(kind):
        return "strings", cells.cast(pa.large_binary())
    if wanted == "string" or (wanted == "text" and not types.is_integer(kind) and not types.is_floating(kind)):
        return "strings", cells.cast(pa.large_string()).cast(pa.large_binary())
    if types.is_floating(kind):
        is_short = wanted == "text" and kind.bit_width < 64
        return ("float", cells.cast(pa.float32())) if is_short else ("double", cells.cast(pa.float64()))
    if types.is_uint64(kind):
        try:
            return "int64", cells.cast(pa.int64())
        except pa.ArrowInvalid:
            return "uint64", cells
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind):
        return "int64", cells.cast(pa.int64())
    if types.is_timestamp(kind) or types.is_date(kind):
        zone = kind.tz if types.is_timestamp(kind) else None
        return "zoned" if zone else "local", cells.cast(pa.timestamp("ns", zone)).cast(pa.int64())
    if types.is_duration(kind):
        return "int64", cells.cast(pa.duration("ns")).cast(pa.int64())
    if types.is_time(kind):
        return "int64", cells.cast(pa.time64("ns")).cast(pa.int64())
    how = "; name a type to convert it to: double" if types.is_decimal(kind) else ""
    raise pa.ArrowInvalid(f"columns are of numbers, booleans, dates, times, durations or texts{how}")


def write(pa: Any, kind: str, cells: Any) -> None:
    """Writes a column into standard output."""
    import pyarrow.compute as pc

    def data(values: Any, width: int) -> Any:
        """The bytes of values that are adjacent."""
        part = slice(values.offset * width, (values.offset + len(values)) * width)
        return memoryview(values.buffers()[1] or b"")[part]

    out, none = sys.stdout.buffer, b"" if kind == "strings" else 0
    rows, missing = len(cells), cells.null_count
    valid = pc.is_valid(cells).cast(pa.uint8()) if missing else pa.chunked_array([], pa.uint8())
    if missing:
        cells = pc.fill_null(cells, pa.scalar(none, cells.type))
    lengths = pc.binary_length(cells).cast(pa.int64()) if kind == "strings" else pa.chunked_array([], pa.int64())
    size = pc.sum(lengths).as_py() or 0
    out.write(f"{kind} {rows} {missing} {size}\n".encode())
    for part in valid.chunks:
        out.write(data(part, 1))
    if kind != "strings":
        for part in cells.chunks:
            out.write(data(part, cells.type.bit_width // 8))
        return
    for part in lengths.chunks:
        out.write(data(part, 8))
    for part in cells.chunks:
        ends = data(part, 8).cast("q") if len(part) else [0]  # but for the last one
        begin = ends[0]
        out.write(memoryview(part.buffers()[2] or b"")[begin:begin + (pc.sum(pc.binary_length(part)).as_py() or 0)])


def converted_columns(pa: Any, path: str, table: Any, wanted: list[tuple[str, str]]) -> list[tuple[str, Any]]:
    """The columns of a table that are wanted, by their kinds."""
    columns = []
    for name, kind in wanted:
        cells = table[name]
        try:
            columns.append(converted(pa, plain(pa, cells), kind))
        except pa.ArrowException as error:
            end(2, f"{path}: column {name} is of {cells.type}: {error}")
    return columns


class Input:
    """Standard input, if something of it was read already."""

    closed = False

    def __init__(self, begin: bytes) -> None:
        self.begin = begin

    def read(self, size: int = -1) -> bytes:
        known, self.begin = self.begin[:size], self.begin[size:]
        return known + sys.stdin.buffer.read(size - len(known))


def read_stream(begin: bytes, wanted: list[tuple[str, str]]) -> None:
    path = "standard input"
    pa = found(path)
    try:
        reader = pa.ipc.open_stream(pa.PythonFile(Input(begin), mode="r"))
        there = reader.schema.names
        if not wanted[0][0]:
            if len(there) != len(wanted):
                end(2, f"{path}: which column? there are {', '.join(there)[:300]}; name it behind a colon")
            wanted = [(name, kind) for name, (_, kind) in zip(there, wanted)]
        check_names(path, there, [name for name, _ in wanted])
        for name, kind in wanted:
            type_there = reader.schema.field(name).type
            if kind in NUMBERS and pa.types.is_temporal(type_there):
                end(2, f"{path}: column {name} is of {type_there}, and keys are {kind}")
        for batch in reader:
            batch.validate(full=True)
            for column in converted_columns(pa, path, pa.table(batch), wanted):
                write(pa, *column)
            sys.stdout.flush()
    except MemoryError:
        end(1, "out of memory")
    except (pa.ArrowException, OSError) as error:
        end(2, f"{path}: {error}")


def write_stream(fields: list[tuple[str, str, str]]) -> None:
    pa = found("standard output")
    import pyarrow.compute as pc

    schema = pa.schema([(name, pa.type_for_alias(NUMBERS[kind])) for name, kind, _ in fields])
    with pa.ipc.new_stream(pa.PythonFile(sys.stdout.buffer, mode="w"), schema) as stream:
        sys.stdout.flush()
        while size := sys.stdin.buffer.read(8):
            rows, columns = int.from_bytes(size, "little"), []
            for field, (_, _, none) in zip(schema, fields):
                cells = sys.stdin.buffer.read(rows * field.type.bit_width // 8)
                column = pa.Array.from_buffers(field.type, rows, [None, pa.py_buffer(cells)])
                if none:
                    missing = pc.equal(column, pa.scalar(int(none), field.type))
                    column = pc.if_else(missing, pa.scalar(None, field.type), column)
                columns.append(column)
            stream.write_batch(pa.record_batch(columns, schema=schema))
            sys.stdout.flush()


def hand_over(path: str, wanted: list[tuple[str, str]]) -> None:
    pa = found(path)
    try:
        if not wanted:
            with pa.input_stream(path, compression=CODECS[path.lower().rpartition(".")[2]]) as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer, 1 << 20)
        else:
            table = read(pa, path, list(dict.fromkeys(name for name, _ in wanted)))
            for column in converted_columns(pa, path, table, wanted):
                write(pa, *column)
        sys.stdout.flush()
    except MemoryError:
        end(1, "out of memory")
    except OSError as error:
        if error.filename is None and error.errno is not None:  # of standard output
            folder = os.environ.get("TMPDIR", "/tmp")
            end(1, f"{path}: no room for it in {folder}, which TMPDIR names: {error.strerror}")
        end(2, f"{path}: {error}")
    except (pa.ArrowException, EOFError, UnicodeError) as error:
        end(2, f"{path}: {error}")


if sys.argv[1] == "--read":
    read_stream(bytes.fromhex(sys.argv[2]), list(zip(sys.argv[3::2], sys.argv[4::2])))
elif sys.argv[1] == "--write":
    write_stream(list(zip(sys.argv[2::3], sys.argv[3::3], sys.argv[4::3])))
else:
    hand_over(sys.argv[1], list(zip(sys.argv[2::2], sys.argv[3::2])))

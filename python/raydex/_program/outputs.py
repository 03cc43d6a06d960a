# SPDX-License-Identifier: Apache-2.0
"""Files that are there when they are complete, and what the program writes into them."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from raydex._program.messages import Failed, Refused, arrow
from raydex._program.tables import format_of

STRETCH = 1 << 20
"""Rows that are written at a time."""

RULES = """\
An output is there when it is complete, and replaces what was there. The target of a symbolic
link is replaced, not the link. A file that is replaced keeps its permissions; one that nobody
may write is refused, even to root. So is one that is also read. Standard output (- or
/dev/stdout), pipes and devices are written to as they are."""


def is_same_file(one: str, other: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


class Output:
    """A file that is written beside its path and moved there by `commit`; see `opened`."""

    file: BinaryIO

    def __init__(self, path: str) -> None:
        self.path = path
        self._target = os.path.realpath(path)
        self._temporary = ""

    def open(self) -> None:
        """Opens it. Refuses a path that cannot be written to."""
        try:
            self.file = os.fdopen(self._open(), "wb")
        except (OSError, ValueError) as error:
            raise Refused(self._cannot(error)) from None

    def _open(self) -> int:
        if self.path in ("-", "/dev/stdout"):
            return os.dup(1)
        try:
            before = os.stat(self._target)
        except FileNotFoundError:
            return self._open_beside()
        if stat.S_ISCHR(before.st_mode) or stat.S_ISFIFO(before.st_mode):
            return os.open(self._target, os.O_WRONLY | os.O_CLOEXEC)
        if not stat.S_ISREG(before.st_mode):
            raise ValueError("not a regular file")
        if not before.st_mode & 0o222:  # root may write it nevertheless
            raise ValueError("it is read-only")
        if not os.access(self._target, os.W_OK, effective_ids=True):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        descriptor = self._open_beside()
        with contextlib.suppress(PermissionError):  # only root can give a file away
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
        return descriptor

    def _open_beside(self) -> int:
        # Known before it is there: a signal may come in between.
        self._temporary = os.path.join(os.path.dirname(self._target), f"raydex-{secrets.token_hex(8)}.tmp")
        return os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def _cannot(self, error: Exception) -> str:
        what = "standard output" if self.path == "-" else self.path
        return f"{what}: cannot be written: {getattr(error, 'strerror', None) or error}"

    @contextlib.contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """The file, to write to within a `with`."""
        try:
            yield self.file
        except OSError as error:
            raise Failed(self._cannot(error)) from None

    def commit(self) -> None:
        """Ends writing, and moves the file to its path."""
        with self.writing() as file:
            file.flush()
            if self._temporary:
                os.fsync(file.fileno())
            file.close()
            if self._temporary:
                os.rename(self._temporary, self._target)
                self._temporary = ""

    def discard(self) -> None:
        """Removes what is not committed."""
        with contextlib.suppress(OSError, AttributeError):  # what was not written is given up
            self.file.close()
        if self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)


@contextlib.contextmanager
def opened(path: str, inputs: Iterable[tuple[str, str]]) -> Iterator[Output]:
    """An output, which is discarded at the end of a `with` unless it is committed within.

    A file at the path stays until it is, and its permissions stay for good. Standard output, pipes and
    devices are written to at once. `inputs`: options and the files that they name, none of which may be
    the output."""
    for option, text in inputs:
        if is_same_file(path, text):
            raise Refused(f"{option} {text} and --out {path} are the same file")
    output = Output(path)
    try:
        output.open()
        yield output
    finally:
        output.discard()


def write_text(text: str) -> None:
    """Writes to standard output."""
    with opened("-", []) as output:
        with output.writing() as file:
            file.write(text.encode())
        output.commit()


_WRITTEN = ".csv, .csv.gz, .parquet, .arrow, .feather or .ipc"


def check_ending(path: str, binary: str) -> None:
    """Refuses an output whose name ends in what is not written. `binary`: `.npy` or `.npz`, which a name without an
    ending is."""
    ending = os.path.splitext(path)[1].lower()
    if not is_table(path) and ending not in ("", binary):
        raise Refused(
            f"--out {path}: files that end in {ending} are not written here; let it end in {binary}, {_WRITTEN}"
        )


def is_table(path: str) -> bool:
    """Whether an output of this name is a table: CSV, Parquet or Arrow."""
    return path == "-" or format_of(path)[0] != "npy"


def is_csv(path: str) -> bool:
    return path == "-" or format_of(path)[0] == "csv"


class TableWriter:
    """Writes columns of Arrow, some rows at a time, as CSV, Parquet or Arrow."""

    def __init__(self, output: Output, titles: Sequence[str], types: Sequence[Any]) -> None:
        self._pa = arrow(output.path)
        self._output = output
        self._schema = self._pa.schema(list(zip(titles, types)))
        form, codec = ("csv", "") if output.path == "-" else format_of(output.path)
        self._table: Any = None
        self._text: Any = None
        if form == "csv":
            for title, kind in zip(titles, types):
                self._check_has_texts(title, kind)
            self._text = output.file
            if codec:  # its end closes what it writes to
                below = os.fdopen(os.dup(output.file.fileno()), "wb")
                self._text = self._pa.CompressedOutputStream(below, codec)
            self._write_lines([self._pa.array([title]) for title in titles])
        elif form == "parquet":
            self._table = arrow(output.path, "pyarrow.parquet").ParquetWriter(output.file, self._schema)
        else:
            self._table = arrow(output.path, "pyarrow.ipc").new_file(output.file, self._schema)

    def write(self, columns: Sequence[Any]) -> None:
        if self._table is None:
            self._write_lines(columns)
        else:
            self._table.write_table(self._pa.table(list(columns), schema=self._schema))

    def close(self) -> None:
        if self._table is not None:
            self._table.close()
        elif self._text is not self._output.file:
            self._text.close()

    def _check_has_texts(self, title: str, kind: Any) -> None:
        try:
            csv_fields(self._pa.nulls(0, kind))
        except self._pa.ArrowNotImplementedError:
            raise Refused(
                f"{self._output.path}: column {title} is of {kind}, which CSV has no text for; write "
                ".parquet or .arrow"
            ) from None

    def _write_lines(self, columns: Sequence[Any]) -> None:
        pc, kind = arrow(self._output.path, "pyarrow.compute"), self._pa.large_binary()
        empty, comma, end = (self._pa.scalar(text, kind) for text in (b"", b",", b"\n"))
        fields = [csv_fields(column) for column in columns]
        missing = {"null_handling": "replace", "null_replacement": b""}
        lines = fields[0]
        if len(fields) > 1:
            lines = pc.binary_join_element_wise(*fields, comma, **missing)
        ended = pc.binary_join_element_wise(lines, empty, end, **missing)
        if len(ended):
            self._text.write(ended.buffers()[2])


@contextlib.contextmanager
def writing_table(output: Output, titles: Sequence[str], types: Sequence[Any]) -> Iterator[TableWriter]:
    """A writer of a table, which is complete at the end of a `with`; for use within `Output.writing`."""
    pa = arrow(output.path)
    try:
        writer = TableWriter(output, titles, types)
        try:
            yield writer
        except BaseException:
            with contextlib.suppress(Exception):  # of a stream that failed already
                writer.close()
            raise
        writer.close()
    except MemoryError:
        raise
    except pa.ArrowException as error:
        raise Refused(f"{output.path}: cannot be written: {error}") from None


def csv_fields(cells: Any) -> Any:
    """Cells of an array of Arrow as the C++ program writes them into CSV, in quotes where they would be read
    as something else without."""
    pa, pc = arrow("-"), arrow("-", "pyarrow.compute")
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_floating(cells.type):
        return _float_fields(cells).cast(pa.large_binary())
    if pa.types.is_duration(cells.type):
        cells = cells.cast(pa.int64())
    kind = cells.type
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    texts = (cells if is_binary else cells.cast(pa.large_string())).cast(pa.large_binary())
    if pa.types.is_primitive(kind):
        return texts
    special = pc.match_substring_regex(texts, '[,"\r\n]|^[ \t]|[ \t]$')
    if not pc.any(special).as_py():
        return texts
    quote, nothing = pa.scalar(b'"', texts.type), pa.scalar(b"", texts.type)
    doubled = pc.replace_substring(texts, b'"', b'""')
    return pc.if_else(special, pc.binary_join_element_wise(quote, doubled, quote, nothing), texts)


def _float_fields(cells: Any) -> Any:
    """The shortest digits that are read as the same number, with an exponent below 1e-4 and from 1e16 on."""
    pa, pc = arrow("-"), arrow("-", "pyarrow.compute")
    texts = cells.cast(pa.large_string())
    if cells.type != pa.float64():
        cells = texts.cast(pa.float64())  # of as few digits
    size = pc.abs(cells)
    # These Arrow writes with an exponent, or without one, where others do not.
    other = pc.and_(pc.is_finite(cells), pc.or_(pc.greater_equal(size, 1e9), pc.less(size, 1e-4)))
    other = pc.and_(other, pc.not_equal(size, 0.0)).fill_null(False)
    if not pc.any(other).as_py():
        return texts
    numbers = cells.filter(other).to_numpy(zero_copy_only=False)
    exact = pa.array(numbers.astype("U32")).cast(pa.large_string())
    return pc.replace_with_mask(texts, other, pc.replace_substring_regex(exact, r"\.0$", ""))


def write_rows(
    output: Output,
    titles: Sequence[str],
    batches: Iterable[Sequence[npt.NDArray[Any]]],
    size: int,
    dtype: npt.DTypeLike,
    none: int | None = None,
    written_as: Any = None,
) -> None:
    """Writes columns of numbers that come in batches, at least one.

    As .npy they are one array of `size` rows and of `dtype`. In a table they keep the types that they have,
    or are `written_as` a type of Arrow, and `none` is a missing value."""
    stretches = (
        [one[begin : begin + STRETCH] for one in columns]
        for columns in batches
        for begin in range(0, max(len(columns[0]), 1), STRETCH)
    )
    with output.writing() as file:
        if not is_table(output.path):
            shape = (size,) if len(titles) == 1 else (size, len(titles))
            header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for columns in stretches:
                cells = columns[0] if len(titles) == 1 else np.column_stack(columns)
                file.write(np.ascontiguousarray(cells.astype(dtype, copy=False)).view(np.uint8).data)
            return
        pa = arrow(output.path)
        tables = ([_as_arrow(pa, one, none, written_as) for one in columns] for columns in stretches)
        first = next(tables)
        with writing_table(output, titles, [one.type for one in first]) as writer:
            for arrays in itertools.chain([first], tables):
                writer.write(arrays)


def _as_arrow(pa: Any, cells: npt.NDArray[Any], none: int | None, written_as: Any) -> Any:
    if written_as is not None:
        units = pa.array(cells.view(np.int64))
        return (units.cast(pa.int32()) if written_as.bit_width == 32 else units).cast(written_as)
    return pa.array(cells, mask=None if none is None else cells == none)


def write_archive(output: Output, arrays: dict[str, Any]) -> None:
    """Writes arrays into an .npz file."""
    with output.writing() as file:
        if not file.seekable():
            why = "an .npz archive cannot go to a pipe; CSV can: -"
            raise Refused(f"{output.path}: cannot be written: {why}")
        np.savez(file, **arrays)

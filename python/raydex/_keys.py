# SPDX-License-Identifier: Apache-2.0
"""What cells are as keys: dtypes of NumPy, and the units of Arrow's times."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from raydex import _raydex, _times
from raydex._errors import InvalidType

_WIDENED = {
    "b1": "u4", "i1": "i4", "i2": "i4", "u1": "u4", "u2": "u4", "f2": "f4",
}  # fmt: skip
_FORMATS = {
    "u4": "uint32", "u8": "uint64", "i4": "int32", "i8": "int64", "f4": "float", "f8": "double",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Key:
    """What cells are: a dtype, and for some of Arrow's types what their integers or strings mean."""

    dtype: np.dtype[Any] | None  # None: strings of any length
    unit: str = ""
    is_void: bool = False  # of no cells that could say what they are
    is_whole: bool = False  # of byte strings: whether they may end in NUL, as Arrow's; else that is padding

    def __eq__(self, other: object) -> bool:
        # NumPy takes None for float64 where it compares it with a dtype.
        return (
            isinstance(other, Key)
            and (self.dtype is None) == (other.dtype is None)
            and (self.dtype, self.unit, self.is_void) == (other.dtype, other.unit, other.is_void)
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.unit, self.is_void))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Key, (self.dtype, self.unit, self.is_void, self.is_whole))  # what is cached is not for other processes

    @functools.cached_property
    def native(self) -> _raydex.Format:
        return _raydex.Format(format_of(self))

    @functools.cached_property
    def time(self) -> _times.Time | None:
        """What the integers of times count."""
        return _times.time_of(self.dtype, self.unit)

    @functools.cached_property
    def scale(self) -> int | None:
        """Of decimals: how many digits they have behind the point; None of others."""
        return int(self.unit[8:-1]) if self.unit.startswith("decimal(") else None

    @property
    def is_number(self) -> bool:
        return not self.unit and self.dtype is not None and self.dtype.kind in "iuf"

    @property
    def is_integer(self) -> bool:
        return self.is_number and self.dtype is not None and self.dtype.kind != "f"

    def __str__(self) -> str:
        if self.dtype is None:
            return f"{self.unit} of 128 bits" if self.scale is not None else self.unit or "strings"
        return self.unit or (f"S{self.dtype.itemsize}" if self.dtype.kind == "S" else str(self.dtype))


TEXTS = Key(None)
"""Of strings of any length."""
VOID = Key(np.dtype("float64"), is_void=True)
"""Of an empty list, of nothing but missing cells, of Arrow's null: what equals no cell of any type."""


def unit_of_scale(scale: int) -> str:
    return f"decimal({scale})"


def code_of(dtype: np.dtype[Any]) -> str:
    return f"{dtype.kind}{dtype.itemsize}"


def format_of(key: Key) -> str:
    """The library's name of the format."""
    assert key.dtype is not None
    if key.dtype.kind == "S":
        return f"bytes{key.dtype.itemsize}"
    return "int64" if key.dtype.kind in "mM" else _FORMATS[code_of(key.dtype)]


@functools.lru_cache(maxsize=256)
def native_format(dtype: np.dtype[Any]) -> _raydex.Format:
    return Key(dtype).native


@functools.lru_cache(maxsize=256)
def natural_or_none(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    code = code_of(dtype)
    if code in _WIDENED:
        return np.dtype(_WIDENED[code])
    if code in _FORMATS or dtype.kind in "mM":
        return dtype.newbyteorder("=")
    return dtype if dtype.kind == "S" and 1 <= dtype.itemsize <= 8 else None


@functools.lru_cache(maxsize=256)
def plain_key(dtype: np.dtype[Any]) -> Key | None:
    """The key that cells are without a conversion, of numbers."""
    key = Key(dtype)
    return key if natural_or_none(dtype) == dtype and key.is_number else None


def natural(argument: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that cells are keys in: their own, or a wider one."""
    found = natural_or_none(dtype)
    if found is not None:
        return found
    hints = {
        "S": "here byte strings of 1 to 8 bytes are",
        "O": "give a list of them, x.tolist(), if all are of one kind",
        "c": "complex numbers have no order",
        "f": "floating numbers of up to 64 bits are",
        "V": "give its fields, as x['name']" if dtype.names else "give pyarrow.array(x.tolist(), pyarrow.binary())",
    }
    raise InvalidType(f"{argument}: cells of {dtype} are no keys; {hints.get(dtype.kind, 'numbers and times are')}")


def converts(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether each value of one dtype is one of the other, too, without a look at times: see `_times`."""
    if source.kind in "iu" and source.itemsize == 8 and target.kind == "f":
        return False
    if source.kind in "mM" or target.kind in "mM":
        return source == target
    return bool(np.can_cast(source, target, "safe")) and not (source.kind in "biuf" and target.kind not in "biuf")


def facts_of_key(key: Key) -> dict[str, Any]:
    """A key for a file."""
    return {
        "dtype": None if key.dtype is None else key.dtype.str, "unit": key.unit, "void": key.is_void,
        "whole": key.is_whole,
    }  # fmt: skip


def key_of_facts(facts: dict[str, Any]) -> Key:
    """Raises ValueError, TypeError or KeyError for what says nothing of a key."""
    text, unit, void, whole = (facts[name] for name in ("dtype", "unit", "void", "whole"))
    if not (isinstance(text, (str, type(None))) and isinstance(unit, str)) or len(text or "") > 20 or len(unit) > 200:
        raise ValueError("a key of no type")
    if text is not None and not re.fullmatch(r"[<|=][iufmMS]\d{1,2}(\[\w{1,9}\])?", text):
        raise ValueError(f"{text} is no type of keys")
    dtype = None if text is None else np.dtype(text)
    key = Key(dtype, unit, bool(void), bool(whole))
    if dtype is not None:
        format_of(key)
    _ = key.time  # which reads the unit
    if abs(key.scale or 0) > 1000:
        raise ValueError("a decimal of too many digits")
    return key

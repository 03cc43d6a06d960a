# SPDX-License-Identifier: Apache-2.0
"""Stands in for cuDF where there is none: what raydex calls of it, over pandas' nullable types, and nothing more.
cuDF's columns have their types with and without missing cells, and are exported by `to_pylibcudf` alone without a
copy."""

import sys
import types

import numpy as np
import pandas as pd
import pyarrow as pa


def _on_host(rows):
    """Rows of a GPU, too."""
    return rows.get() if hasattr(rows, "get") else np.asarray(rows)


class _Values:
    def __init__(self, values):
        self.of = values

    def __len__(self):
        return len(self.of)

    @property
    def index(self):
        return self.of.index

    @index.setter
    def index(self, index):
        self.of.index = index

    @property
    def ndim(self):
        return self.of.ndim

    def take(self, indices):
        rows, size = _on_host(indices), len(self.of)
        assert len(rows) == 0 or rows.dtype.kind == "i"
        if len(rows) and not (-size <= rows.min() and rows.max() < size):
            raise IndexError(f"Gather map is out of bounds for [0, {size})")
        return type(self)(self.of.take(rows))

    def reset_index(self, drop=False):
        return type(self)(self.of.reset_index(drop=drop))

    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("that would be a copy to the host")


class Series(_Values):
    exported = staticmethod(lambda array: array)  # how pylibcudf's column is given

    def __init__(self, data, dtype=None):
        on_gpu = hasattr(data, "__cuda_array_interface__")
        values = pd.Series(_on_host(data) if on_gpu else data, dtype=dtype)
        super().__init__(values.convert_dtypes() if dtype is None else values)

    @property
    def dtype(self):
        return self.of.dtype

    def where(self, cond):
        return Series(self.of.where(_on_host(cond)))

    def astype(self, dtype):
        return Series(self.of.astype("Int8" if dtype == "int8" else dtype))

    def to_pylibcudf(self):
        return (Series.exported(pa.Array.from_pandas(self.of)), {})


class DataFrame(_Values):
    def __init__(self, data):
        each = {name: data[name] for name in data}
        super().__init__(pd.DataFrame({name: Series(getattr(one, "of", one)).of for name, one in each.items()}))

    @property
    def columns(self):
        return self.of.columns

    def __getitem__(self, name):
        return DataFrame(self.of[name]) if isinstance(name, list) else Series(self.of[name])

    def __setitem__(self, name, column):
        self.of[name] = column.of

    def drop(self, columns):
        return DataFrame(self.of.drop(columns=columns))

    def rename(self, columns):
        return DataFrame(self.of.rename(columns=columns))

    def copy(self, deep=True):
        return DataFrame(self.of.copy(deep=deep))

    def assign(self, **columns):
        made = DataFrame(self.of)
        made.of = self.of.assign(**{name: column.of for name, column in columns.items()})
        return made

    def sort_values(self, by):
        return DataFrame(self.of.sort_values(by))


def concat(objects, axis=0, ignore_index=False):
    made = pd.concat([one.of for one in objects], axis=axis, ignore_index=ignore_index)
    return DataFrame(made) if made.ndim == 2 else Series(made)


def install(monkeypatch, exported=Series.exported):
    """Has it imported as cuDF during a test."""
    module = types.ModuleType("cudf")
    for name, value in {
        "Series": Series, "DataFrame": DataFrame, "Index": type("Index", (), {}), "concat": concat,
        "CategoricalDtype": pd.CategoricalDtype,
    }.items():
        setattr(module, name, value)
    monkeypatch.setattr(Series, "exported", staticmethod(exported))
    monkeypatch.setitem(sys.modules, "cudf", module)
    return module

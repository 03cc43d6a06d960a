# SPDX-License-Identifier: Apache-2.0
"""What arguments may be, for annotations of your own: `def pairs(how: raydex.typing.How) -> raydex.JoinRows`.

Type checkers find a wrong word by these, and a misspelt name of an option. Words are checked at run time as well.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsFloat, TypeAlias, TypedDict, TypeVar, Union

import numpy as np
import numpy.typing as npt

if sys.version_info >= (3, 11):
    from typing import Unpack as Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    Unpack = None  # which annotations alone name

# Words

How = Literal["inner", "left", "right", "full", "outer", "semi", "anti"]
"""Kinds of a join."""
OrderedHow = Literal["inner", "left", "semi", "anti"]
"""Kinds of a join that gives no build rows without a match: of nearest intervals, and by order over shards."""
Closed = Literal["both", "left", "right", "neither"]
"""Which ends belong to an interval or a window."""
Comparison = Literal["<", "<=", ">", ">=", "less", "less_equal", "greater", "greater_equal"]
"""How a build key compares with a probe."""
Relation = Literal["overlaps", "within", "encloses", "contains"]
"""How an interval of the build side lies to one of the probe side."""
MissingEnd = Literal["unmatched", "unbounded"]
"""What an interval is that lacks an end."""
MissingKeys = Literal["unmatched", "first", "last"]
"""What missing values of a column are in an index over several."""
Direction = Literal["backward", "forward", "nearest"]
"""On which side of a probe the closest row is looked for."""
Side = Literal["left", "right"]
"""Of `searchsorted` and `rank`: whether equal keys are behind a probe, or before it."""
AggregateName = Literal["sum", "mean", "count", "min", "max", "first", "last", "argmin", "argmax"]
"""Aggregates of a window."""
Extremes = Literal["min", "max", "both"]
"""What `raydex.rmq` is built for."""
StructureName = Literal[
    "auto", "sorted_array", "eytzinger", "pivot_tree", "btree", "direct", "hash_open", "hash_bucket", "rx", "cgrx",
    "rmq_cover", "rmq_hierarchy", "rmq_rx", "rmq_lca", "rmq_scan",
]  # fmt: skip
"""Structures, those for minima as well; `raydex.structures()` says what each can do."""
DeviceName = Literal[
    "cpu", "cuda", "optix", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7", "optix:0",
    "optix:1", "optix:2", "optix:3", "optix:4", "optix:5", "optix:6", "optix:7",
]  # fmt: skip
"""Backends and GPUs by name. Of more than eight GPUs, or in a loop, give the number."""
ExchangeName = Literal["shuffle", "broadcast"]
"""How rows of a sharded join come together."""


# What others have

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> object: ...


class _Tensor(Protocol):
    @property
    def requires_grad(self) -> bool: ...
    def data_ptr(self) -> int: ...


class _Series(Protocol):
    @property
    def to_frame(self) -> Any: ...
    @property
    def clip(self) -> Any: ...  # which an index of pandas has not


class _TorchDevice(Protocol):
    @property
    def type(self) -> str: ...
    @property
    def index(self) -> Any: ...


class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...


class _TorchStream(Protocol):
    @property
    def cuda_stream(self) -> Any: ...


# Type checkers let any object pass for these: libraries without types have columns, too. Calls look at them.
ColumnLike: TypeAlias = Any
"""A column: an array of NumPy, PyTorch or CuPy, a column of pandas, Polars, pyarrow, DuckDB or cuDF, or a list; as
probes also a single key. `raydex.build` says what else."""
KeyColumns: TypeAlias = Any
"""The columns of a key: one, or several as a tuple, a list, a dict or a data frame."""
HostColumn = Union[npt.NDArray[Any], Sequence[Any], _ArrowStream, _ArrowArray]
"""A column whose answers are arrays of NumPy."""
Scalar = Union[int, float, str, bytes, datetime.date, datetime.timedelta, np.generic]
"""A single key, whose answer is a single number."""
Tensor = TypeVar("Tensor", bound=_Tensor)
"""A tensor of PyTorch, whose answers are tensors."""
Series = TypeVar("Series", bound=_Series)
"""A Series of pandas or Polars, whose answers of one value a probe are such Series."""
Pair = Union[tuple[ColumnLike, ColumnLike], list[ColumnLike]]
"""Two columns: the lower and the upper ends of intervals, or what is compared."""
Distance = Union[SupportsFloat, datetime.timedelta, np.timedelta64, str]
"""How far keys may be apart: a number, or of times a span of time, also as a text."""
Frame = TypeVar("Frame")
"""A data frame of pandas, Polars or cuDF, or a table of pyarrow; merges of two give one."""
ColumnNames = Union[Hashable, Sequence[Hashable], None]
"""A name of a column of a data frame, or a list of names."""
Validate = Literal[
    "one_to_one", "one_to_many", "many_to_one", "many_to_many", "1:1", "1:m", "m:1", "m:m",
]  # fmt: skip
"""How often a key may be in the left frame of a merge, and in the right one."""
Suffixes = Sequence[Union[str, None]]
"""Two suffixes of names that two frames have."""
DeviceLike = Union[DeviceName, int, _TorchDevice, None]
"""Where an index is: a name, the number of a GPU, or a device of PyTorch or CuPy. None: beside its column."""
StreamLike = Union[int, _CudaStream, _TorchStream, None]
"""A stream of CUDA: a handle, or a stream of PyTorch, CuPy or Numba. None: the current one."""
RowType = Union[Literal["int64", "int32"], type[np.signedinteger[Any]], np.dtype[np.signedinteger[Any]]]
"""A type of row numbers."""


# Options of structures, by name; `raydex.structures()` says what they mean

class _Options(TypedDict, total=False):
    bits: str
    bucket: int
    compact: bool | Literal["auto", "on", "off"]
    duplicates: Literal["compress", "keep"]
    fill: int
    hits: Literal["closest", "any"]
    inverse: bool | Literal["off", "on", "auto"]
    k: int
    layout: Literal["column", "row", "keys", "aligned", "packed"]
    levels: int | Literal["all"]
    limit: int
    load: int
    lookups: int
    mapping: Literal["fit", "bits"]
    mode: Literal["3d", "naive", "extended"]
    node: int | Literal["off"]
    nodes: Literal["auto", "exact", "quantised", "narrow"]
    occupancy: int
    order: Literal["auto", "batch", "tiles", "sorted"]
    parts: int | Literal["auto"]
    pin: Literal["none", "steps", "full"]
    placement: Literal["linear", "jumps", "choices"]
    primitive: Literal["auto", "triangle", "sphere", "box"]
    primitives: Literal["sorted", "rows"]
    ranges: Literal["offset", "zero"]
    reading: Literal["shared", "single"]
    rebuild: int | Literal["never"]
    reorder: Literal["none", "single", "double"]
    repeats: Literal["allowed", "refused"]
    scale: str
    scan: Literal["multi", "single"]
    scene: Literal["auto", "spans", "optimised", "naive"]
    schedule: Literal["dynamic", "static", "one"]
    search: Literal["lines", "groups", "auto", "binary", "linear", "interpolated"]
    threads: int


class JoinOptions(_Options, total=False):
    """Options of the structures for keys, but for those that `raydex.join` has arguments of the names of."""

    group: Literal["exact", "power"]


class KeyOptions(JoinOptions, total=False):
    """Options of the structures for keys."""

    build: Literal["fast", "trace"]
    seed: int | Literal["random"]


class ShardJoinOptions(_Options, total=False):
    """Options of the structures for keys, but for those that `raydex.sharded.join` has arguments of the names of."""

    build: Literal["fast", "trace"]


class ShardOptions(ShardJoinOptions, total=False):
    """The same for `raydex.sharded.build`."""

    seed: int | Literal["random"]


class DaskJoinOptions(JoinOptions, total=False):
    """What `raydex.dask.join` hands on to `raydex.join`."""

    seed: int | None
    structure: StructureName


class MinimaOptions(TypedDict, total=False):
    """Options of the structures for minima."""

    assign: Literal["queue", "multi"]
    block: int
    build: Literal["fast", "trace"]
    chunk: int | Literal["auto"]
    compact: bool | Literal["auto", "on", "off"]
    cutoff: int | Literal["auto"]
    group: int | Literal["auto"]
    load: Literal["auto", "vector", "coalesced"]
    memory: Literal["fast", "small"]
    ties: Literal["leftmost", "rightmost"]
    top: Literal["auto", "scan", "rays"]

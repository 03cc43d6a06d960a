# SPDX-License-Identifier: Apache-2.0
"""How a sharded index is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from raydex._arguments import check_words, renamed
from raydex._errors import InvalidArgument
from raydex._sources import look
from raydex.sharded._arrays import arrays_of
from raydex.sharded._cells import Dense, dense, of_all, row_ids
from raydex.sharded._devices import DeviceExchange
from raydex.sharded._exchange import Company, Exchange, by_process
from raydex.sharded._index import SAMPLE, ShardedIndex
from raydex.sharded._routing import Routes, route, sample
from raydex.sharded._shard import row_id_bits
from raydex.sharded._shard_set import ShardSet, build_shards, packed, shard_splitters, subrange_splitters
from raydex.typing import ColumnLike, DeviceLike, ShardOptions, StructureName, Unpack


def engine_for(group: Any, devices: Any, engine: Exchange | None, timeout: float, device: Any) -> Exchange:
    """What moves arrays, of what a user says about it."""
    named = {"group": group, "devices": devices, "engine": engine}
    choices = [name for name, x in named.items() if x is not None]
    if len(choices) > 1:
        raise InvalidArgument(f"{choices[0]}: it is given with {choices[1]}; give one of {', '.join(named)}")
    if engine is not None:
        return engine
    if devices is not None:
        return DeviceExchange(devices)
    try:
        from raydex.sharded._torch import TorchExchange

        return TorchExchange(group, timeout, device)
    except ImportError:
        raise InvalidArgument(
            "group: torch.distributed is not there, PyTorch is not installed; give devices=['cpu'], or an "
            "engine"
        ) from None


@renamed(column_of="column")
def build(
    column: ColumnLike,
    structure: StructureName = "auto",
    device: DeviceLike = None,
    *,
    rows: ColumnLike = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
    most_probes: int | None = None,
    **options: Unpack[ShardOptions],
) -> ShardedIndex:
    """Builds an index over a column that is divided among processes, a slice each. A collective call.

    Parameters
    ----------
    column
        The slice of this process, as of `raydex.build`; it may be empty. All slices have one dtype. On GPUs
        they are PyTorch's tensors. Strings of any length are refused. `column_of` is its old name, and works as well.
    structure, device, options
        As of `raydex.build`, the same on all processes.
    rows
        Explicit row ids, as many as cells, on all processes or none. By default rows are numbered over all
        slices, in the order of the processes.
    group
        The `torch.distributed` process group that takes part, by default all processes: gloo for columns in
        host memory, NCCL for those on GPUs. The structure option of this name cannot be given here.
    devices
        In place of it: devices of this process alone, as `["cuda:0", "cuda:1"]`, with a shard on each.
    engine
        In place of both: an object that moves arrays, such as a `TorchExchange` to be used again.
    timeout
        After how many seconds without an answer of another process a call fails.
    most_probes
        How many probes of a process are sent at a time, by default 2^27 between GPUs and 2^24 in host memory;
        fewer where a shard has no memory for them.

    Returns
    -------
    ShardedIndex
        Splitters are drawn from samples, so that shards have about as many rows; see `rebalance`. The
        column may be freed or changed afterwards.

    Raises
    ------
    ShardError, ExchangeError
        If another process fails, or does not answer; and what `raydex.build` raises.

    Cost
    ----
    A key and a row of each cell are sent; a local build.
    """
    moves = engine_for(group, devices, engine, timeout, device)
    company = Company(moves)
    made: tuple[StructureName, DeviceLike, dict[str, Any]] = (structure, device, {**options})
    most = most_probes
    if most is None:
        most = 1 << (24 if all(one is None for one in moves.places) else 27)

    def prepare(report: dict[str, Any]) -> tuple[Dense, Any]:
        if most < 1:
            raise InvalidArgument(f"most_probes: {most} is less than 1")
        check_words(options, structure, build)
        source = look("column", column)
        if source.scalar:
            raise InvalidArgument(f"column: {column!r} is a single number; give a column, as [x]")
        cells = dense(source, moves)
        ids = None if rows is None else row_ids(rows, moves, cells, 2**63 - 1)
        report["key"], report["size"] = cells.key, len(cells)
        report["sample"] = sample(cells.array, cells.there, SAMPLE)
        report["entries"] = len(cells) if cells.there is None else int(cells.there.sum())
        report["largest"] = int(ids.max()) if ids is not None and len(ids) else -1
        return (cells, ids)

    call = (
        "build", structure, device, most, *options.items(), *(() if rows is None else ("with rows",)),
    )  # fmt: skip
    try:
        with company.together():
            (cells, ids), reports = company.agree(call, prepare)
            sizes = [one["size"] for one in reports]
            key = of_all("column", [one["key"] for one in reports], sizes)
            largest = sum(sizes) - 1 if rows is None else max(one["largest"] for one in reports)
            bits = row_id_bits(largest)
            samples = [one["sample"] for one in reports if one["size"]] or [np.empty(0, key.dtype)]
            weights = [float(one["entries"]) for one in reports if one["size"]] or [0.0]
            finer = subrange_splitters(moves, samples, weights, key, bits)
            splitters = shard_splitters(finer, moves.processes * len(moves.places))

            def divide(report: dict[str, Any]) -> tuple[Routes, Any]:
                library = arrays_of(cells.array)
                array = cells.array if len(cells) else library.empty(0, cast(Any, key.dtype))
                numbers = library.arange(len(cells), sum(sizes[: moves.process])) if ids is None else ids
                routes = route(array, None, splitters, cells.there)
                report["counts"] = routes.counts
                return (routes, packed(numbers, routes.sources, bits))

            (routes, sent), reports = company.agree(("build", "routes"), divide)
            table = np.stack([one["counts"] for one in reports])
            come = int(by_process(table)[:, moves.process].sum())
            company.agree(("build", "room"), lambda report: moves.reserve(routes.lower, 2 * come))
            own, summaries = build_shards(company, [routes], [[routes.lower, sent]], table, bits, made)
    except BaseException:
        if engine is None:
            company.close()
        raise
    shards = ShardSet(company, key, finer, own, summaries, bits)
    return ShardedIndex(shards, made, most, owned=engine is None)

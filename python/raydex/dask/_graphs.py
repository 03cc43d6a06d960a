# SPDX-License-Identifier: Apache-2.0
"""Graphs of Dask: what collections are made of, and who runs them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from raydex._errors import ExchangeError, InvalidArgument, InvalidType
from raydex.dask._libraries import (
    DataNode,
    GraphNode,
    HighLevelGraph,
    MaterializedLayer,
    TaskRef,
    arrays,
    dask,
    flatten,
    frames,
    sizeof,
)

Key = Any  # of a task: a string or a tuple
Graph = dict[Any, Any]
_large = 1 << 20  # bytes
patience = 60.0
"""Seconds to wait for a cluster without any worker."""


class Partitions(NamedTuple):
    """A collection, taken apart."""

    graph: Graph
    keys: list[Key]


def is_lazy(x: Any) -> bool:
    return bool(dask.is_dask_collection(x))


def check_column(argument: str, x: Any) -> None:
    """Refuses what is no column of Dask."""
    if isinstance(x, frames.DataFrame):
        raise InvalidType(
            f"{argument}: a DataFrame of {len(x.columns)} columns; give one of them, as x['key']"
        )
    if isinstance(x, arrays.Array):
        if x.ndim != 1:
            raise InvalidArgument(f"{argument}: it has {x.ndim} dimensions; a column has one, as x[:, 0]")
    elif not isinstance(x, frames.Series):  # an Index is one, too
        raise InvalidType(
            f"{argument}: a {type(x).__module__}.{type(x).__qualname__} is no column of Dask; give a Series, "
            "an Index or an Array. dask.dataframe.from_pandas and dask.array.from_array make them"
        )


def take_apart(collection: Any) -> Partitions:
    """The tasks of a collection, and the key of each partition."""
    # Not dask.optimize, which gives an optimized data frame the keys of what it was made from.
    if isinstance(collection, arrays.Array):
        keys = list(flatten(collection.__dask_keys__()))
        return Partitions(dict(arrays.optimize(collection.__dask_graph__(), keys)), keys)
    best = collection.optimize()
    return Partitions(dict(best.__dask_graph__()), list(flatten(best.__dask_keys__())))


def merged(graph: Graph, keys: Sequence[Key]) -> Graph:
    """The same graph, in which each of these tasks does what goes before it and is for it alone.

    A task that does next to nothing, as one that takes a partition that Dask has, costs a trip to the
    scheduler as any other one."""
    found = dict(graph)
    needs, needed_by = dask.core.get_deps(graph)
    for key in keys:
        tasks: Graph = {}
        left = [key]
        while left:
            at = left.pop()
            tasks[at] = found.pop(at)
            if at != key and len(needs[at]) > 1:
                continue  # these may be made at the same time
            alone = [one for one in needs[at] if needed_by[one] <= tasks.keys()]
            # Others are futures, and names for tasks that go by another one.
            left += [one for one in alone if isinstance(graph[one], GraphNode) and graph[one].key == one]
        found[key] = GraphNode.fuse(*tasks.values())
    return found


class Persisted(NamedTuple):
    """Results that stay where they are: futures of a cluster, or, without one, the values themselves."""

    keys: list[Key]
    values: list[Any]

    def graph(self) -> Graph:
        return {
            key: value if isinstance(value, TaskRef) else DataNode(key, value)
            for key, value in zip(self.keys, self.values)
        }


class Engine:
    """What runs graphs: the scheduler that Dask would take now, without a cluster one of this process."""

    def __init__(self) -> None:
        get = dask.base.get_scheduler()
        self._get: Any = get if get is not None else dask.threaded.get
        owner = getattr(get, "__self__", None)
        self.client: Any = owner if hasattr(owner, "scheduler_info") else None
        self._lost: tuple[type[Exception], ...] = ()
        if self.client is not None:
            distributed = importlib.import_module("distributed")
            self._lost = (
                distributed.CancelledError, distributed.KilledWorker, distributed.client.ClosedClientError,
                distributed.comm.CommClosedError, distributed.scheduler.NoValidWorkerError,
            )  # fmt: skip
            self._calls: Any = importlib.import_module("raydex.dask._calls")
            with self._reached():
                self.client.register_plugin(self._calls.Calls())

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Errors of the cluster itself as that of the library."""
        try:
            yield
        except self._lost as error:
            reason = (str(error).splitlines() or [""])[0].rstrip(".")
            raise ExchangeError(
                f"the cluster does not answer: {type(error).__name__}: {reason}. Where workers died for want "
                "of memory, more shards or workers take less each; where the client is closed, build again "
                "with another one"
            ) from error

    def workers(self) -> list[str]:
        """Addresses of the workers of the cluster; none without one."""
        with self._reached():
            return [] if self.client is None else sorted(self.client.nthreads())

    def workers_of(self, held: Persisted) -> list[tuple[str, ...]]:
        """Addresses of the workers that have each result; none without a cluster."""
        if self.client is None:
            return []
        with self._reached():
            workers = self.client.who_has(held.values)
        return [tuple(workers.get(key, ())) for key in held.keys]

    def hold(self, graph: Graph, keys: Sequence[Key], workers: Mapping[Key, str] | None = None) -> Persisted:
        """Runs tasks and leaves their results where they are; on a cluster it returns before they are there.

        `workers`: the worker of some of them. Another one takes them where it is gone."""
        if self.client is None:
            return Persisted(list(keys), list(self._get(graph, list(keys))))
        workers = workers or {}
        layers = {"": MaterializedLayer({key: task for key, task in graph.items() if key not in workers})}
        before: dict[str, set[str]] = {"": set()}
        for number, (key, worker) in enumerate(workers.items()):
            annotations = {"workers": [worker], "allow_other_workers": True}
            layers[str(number)] = MaterializedLayer({key: graph[key]}, annotations=annotations)
            before[str(number)] = {""}
        with self._reached():
            futures = self.client.get(HighLevelGraph(layers, before), list(keys), sync=False)
        return Persisted(list(keys), list(futures))

    def call(
        self, function: Callable[..., Any], held: Persisted, arguments: dict[Key, tuple[Any, ...]], size: int
    ) -> list[Any] | None:
        """What a function says of some results without tasks, which take the scheduler several times as long.

        `arguments`: of these results the keys, and what the function is given behind each, `size` bytes in all.
        None where the workers have not all of them or do not answer, where much is given, and without a
        cluster: then tasks have to ask."""
        if self.client is None or size * len(arguments) > _large:  # each worker is sent all of it
            return None
        futures = [future for key, future in zip(held.keys, held.values) if key in arguments]
        with self._reached():
            # Asked each time, since a worker that is gone would be called for long.
            workers = [some[0] for some in self.client.who_has(futures).values() if some]
            if len(workers) < len(arguments):
                return None
            found = self.client.sync(self._calls.call, self.client, set(workers), function, arguments)
        return [found[key] for key in arguments] if len(found) == len(arguments) else None

    def send(self, values: list[Any]) -> list[Any]:
        """Values as arguments of tasks. Large ones go to workers, rather than through the scheduler."""
        if self.client is None or sum(map(sizeof, values)) < _large:
            return [DataNode(None, value) for value in values]
        with self._reached():
            return list(self.client.scatter(values, hash=False))

    def get(self, graph: Graph, keys: Sequence[Key]) -> list[Any]:
        """Runs tasks and brings their results here."""
        if self.client is None:
            return list(self._get(graph, list(keys)))
        with self._reached():
            futures = self.client.get(graph, list(keys), sync=False)
            while not _are_done(futures):
                if not self.client.nthreads():
                    raise ExchangeError(
                        f"the cluster has had no worker for {patience:g} s; start some, and ask again"
                    )
            return list(self.client.gather(futures))


def _are_done(futures: list[Any]) -> bool:
    """Waits for futures, for a while."""
    try:
        importlib.import_module("distributed").wait(futures, timeout=patience)
    except TimeoutError:
        return False
    return True

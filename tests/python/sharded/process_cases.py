# SPDX-License-Identifier: Apache-2.0
"""What the processes of tests do, which exchange by gloo or, with a GPU each, by NCCL."""

import os
import pathlib
import resource
import signal
import time
import tracemalloc

import numpy as np
import raydex
import raydex.sharded
import sharded_cases as cases
from raydex.sharded import _call, _joins, _overlap, _routing, _shard_set, _small_batches, _sockets


def party(engine):
    return cases.Party(engine.process, engine.processes, engine=engine)


def put(engine):
    """What makes a column of an array of NumPy: a tensor on the GPU of this process, if it has one."""
    if engine.device is None:
        return lambda x: x
    import torch

    return lambda x: torch.as_tensor(np.array(x), device=engine.device)


def answers(engine):
    """Indexes of every dtype and kind, one after the other."""
    mine = party(engine)
    for at, dtype in list(enumerate(cases.DTYPES))[::1 if engine.processes < 4 else 3]:
        kind = cases.KINDS[(at + engine.processes) % len(cases.KINDS)]
        cases.check_index(mine, dtype, kind, at + engine.processes, size=300)
    cases.check_hot(mine, "float64", 5)
    return "done"


def in_slices(subranges):
    """Has batches be divided and go in slices, which large ones do on GPUs; with no subranges as batches of their
    size go."""
    if subranges:
        _overlap.LEAST_MOVED = _overlap.LEAST_OWN = 0
        _call.most_for = lambda _: -1
        _shard_set.subranges_for = lambda *_: subranges


def slices(engine, subranges, of):
    in_slices(subranges)
    return {"answers": answers, "on_gpus": on_gpus}[of](engine)


def few_and_many(engine):
    """Batches in which some processes have few probes and others many."""
    random = np.random.default_rng(5)
    keys = random.integers(0, 3000, 2000)
    whole = raydex.build(keys)
    own = np.array_split(keys, engine.processes)[engine.process]
    index = raydex.sharded.build(put(engine)(own), engine=engine)
    _call.most_for = lambda _: 100 * engine.processes if engine.processes > 1 else -1
    for sizes in ([100, 101, 0], [101, 0, 100], [0, 0, 0], [100, 100, 100], [0, 5000, 3]):
        size = sizes[engine.process % 3]
        points = put(engine)(random.integers(-10, 3010, size))
        cases.check_points(index, whole, points)
        cases.check_ranges(index, whole, points, points + 20)
        cases.equal(index.count(points), whole.count(cases.host(points)))
        all_sizes = [sizes[at % 3] for at in range(engine.processes)]
        if engine.processes > 1 and sum(all_sizes):
            to_all = index.balance.last == (sum(all_sizes),) * engine.processes
            assert to_all == (max(all_sizes) <= 100)
    return "done"


def messages(engine):
    """Whether messages go by sockets; short and long ones, also one after the other."""
    for size in (0, 100, _sockets.MOST, 3 * _sockets.MOST, 1):
        some = [3 * _sockets.MOST if at == 1 else size for at in range(engine.processes)]
        for of in ((size,) * engine.processes, range(size, size + engine.processes), some):
            assert engine.gather("x" * of[engine.process]) == ["x" * one for one in of]
    found = engine._sockets is not None
    engine.close()
    assert _error_of(engine.gather, 1) == ("RuntimeError", "the process groups are closed")
    return found


def joins(engine):
    for seed, (how, exchange) in enumerate(
        (how, exchange) for how in ("inner", "left", "right", "full", "semi", "anti")
        for exchange in (None, "shuffle", "broadcast", "index")
    ):
        sizes = [(300, 200), (20, 400), (400, 20), (0, 30), (30, 0)][seed % 5]
        convert = None if engine.device is None else put(engine)
        cases.check_join(party(engine), engine.gather, seed, sizes, how, exchange, 1 + seed % 2, convert)
    dtypes = cases.DTYPES if convert is None else cases.DTYPES[:5]  # those that PyTorch has
    for seed, (hot, how) in enumerate((hot, how) for hot in cases.HOT for how in ("inner", "left", "semi", "anti")):
        dtype = dtypes[seed % len(dtypes)]
        cases.check_hot_join(party(engine), engine.gather, seed, dtype, hot, how, 1 + seed // 4 % 2, convert)
    for dtype in ("int64", "float64"):
        for even in cases.EVEN:
            cases.check_even_join(party(engine), engine.gather, dtype, even, put(engine))
    return "done"


def on_gpus(engine):
    """The dtypes that PyTorch has, of all kinds without missing cells; few probes and, with a hot key, many."""
    if _call.most_for(engine) > 0:
        _call.most_for = lambda _: _small_batches.SMALL
    for at, dtype in enumerate(["int32", "int64", "uint64", "float32", "float64"]):
        for kind in ("plain", "duplicates", "equal", "few", "extremes", "empty"):
            cases.check_index(party(engine), dtype, kind, at + engine.processes, convert=put(engine))
        cases.check_hot(party(engine), dtype, at, convert=put(engine))
    return "done"


def seeds(engine, first, count, subranges):
    """Cases that seeds draw: an index with its edits, a join, and one with hot keys, each of so many."""
    in_slices(subranges)
    host = engine.device is None
    dtypes = cases.DTYPES if host else cases.DTYPES[:5]  # those that PyTorch has
    kinds = [kind for kind in cases.KINDS if host or kind != "missing"]
    convert = None if host else put(engine)
    for seed in range(first, first + count):
        random = np.random.default_rng(seed)
        dtype, kind, hot = (str(random.choice(some)) for some in (dtypes, kinds, list(cases.HOT)))
        how = str(random.choice(["inner", "left", "semi", "anti"]))
        exchange = [None, "shuffle", "broadcast", "index"][random.integers(4)]
        columns = int(random.integers(1, 3))
        size, *sizes = random.integers(0, 3000, 3).tolist()
        mine = party(engine)
        cases.check_index(mine, dtype, kind, seed, size, put(engine))
        cases.check_join(mine, engine.gather, seed, sizes, how, exchange, columns, convert)
        cases.check_hot_join(mine, engine.gather, seed, dtype, hot, how, columns, convert)
    return "done"


def tensors(engine):
    import torch

    cases.check_index(party(engine), "float32", "plain", 1, convert=lambda x: torch.as_tensor(np.array(x)))
    # Those of another process may be of NumPy.
    convert = (lambda x: x) if engine.process else (lambda x: torch.as_tensor(np.array(x)))
    cases.check_index(party(engine), "int64", "plain", 1, convert=convert)
    for dtype in ("uint64", "float32"):
        cases.check_hot_join(party(engine), engine.gather, 1, dtype, "several", "inner", 2, convert)
    return "done"


def _index_of(engine, size=1000):
    keys = np.arange(size) * 3
    part = put(engine)(np.array_split(keys, engine.processes)[engine.process])
    return raydex.sharded.build(part, engine=engine), put(engine)(keys)


def _error_of(call, *arguments, kept=None, **named):
    try:
        call(*arguments, **named)
    except Exception as error:
        if kept is not None:
            kept.append(error)
        return (type(error).__name__, str(error))
    return ("", "")


def _works(index, keys):
    cases.equal(index.first(keys), np.arange(len(keys)))


def wrong_arguments(engine):
    """Errors of one process, and what the others hear; then the index answers."""
    index, keys = _index_of(engine)
    odd = engine.process == 1
    found = {
        "dtype": _error_of(index.first, np.array([1], "M8[s]") if odd else keys),
        "sizes": _error_of(index.count, keys, keys[:5] if odd else keys),
        "complex": _error_of(index.count, np.array([1j]) if odd else keys),
        "rows": _error_of(index.insert, keys[:2], [1, -1] if odd else [1, 2]),
        "values": _error_of(index.sum, keys, values=np.arange(3)),
        "value types": _error_of(index.sum, keys, values=np.arange(1000, dtype="int32" if odd else "int64")),
        "calls": _error_of(index.first if odd else index.count, keys),
        "side": _error_of(index.rank, keys, side="left" if odd else "right"),
        "most": _error_of(index.rebalance, 0.5 if odd else 1.5),
        "build": _error_of(
            raydex.sharded.build, np.arange(5, dtype="int32" if odd else "int64"), engine=engine),
        "structure": _error_of(raydex.sharded.build, keys, "direct" if odd else "btree", engine=engine),
        "any length": _error_of(raydex.sharded.build, np.array(["a long word"]) if odd else keys, engine=engine),
        "join": _error_of(raydex.sharded.join, keys, keys, "sideways" if odd else "inner", engine=engine),
        "join types": _error_of(
            raydex.sharded.join, keys, np.array([b"a"]) if odd else keys, engine=engine),
    }
    _works(index, keys)
    return found


class Small(_shard_set.Shard):
    """A shard with memory for a few probes at a time."""

    limit = 0
    failed = 0

    def answer(self, operation, lower, upper=None, **arguments):
        if len(lower) > self.limit:
            Small.failed += 1
            raise raydex.OutOfMemory(f"no memory for {len(lower)} probes", 8 * len(lower), 0)
        return super().answer(operation, lower, upper, **arguments)


def out_of_memory(engine, subranges):
    """Process 1 has memory for a few probes: batches are split. Then for none."""
    in_slices(subranges)
    _shard_set.Shard, plain = Small, _shard_set.Shard
    begin, begun = engine.begin, []

    def noted(transfers):
        begun.extend(begin(transfers))
        return begun[-len(transfers):]

    engine.begin = noted
    try:
        Small.limit = 5000 if engine.process == 1 else 1 << 40
        random = np.random.default_rng(3)
        keys = random.permutation(30000)
        whole = raydex.build(keys)
        convert = put(engine)
        own = np.array_split(np.arange(30000), engine.processes)[engine.process]
        index = raydex.sharded.build(convert(keys[own]), engine=engine)
        points = convert(random.integers(0, 40000, 10000 * engine.process))
        cases.check_points(index, whole, points, ["first", "rank", "contains"])
        cases.check_ranges(index, whole, points, points + 3)
        cases.check_values(index, whole, points, None, np.arange(30000), convert(own))
        # Process 1 asks nothing: it fails in a slice, when others are still on their way.
        Small.limit = 1500 * (engine.processes - 1) if engine.process == 1 else 1 << 40
        first = 36000 // engine.processes
        asked = np.arange(first, first + 6000)[:0 if engine.process == 1 else None]
        cases.equal(index.count(convert(asked)), np.ones(len(asked)))
        split = Small.failed
        Small.limit = 10 if engine.process == 1 else 1 << 40
        error = _error_of(index.first, convert(keys))
        Small.limit = 1 << 40
        cases.equal(index.first(convert(keys)), np.arange(30000))
        assert begun and not any(one.works for one in begun)  # all was waited for
        return (split, error)
    finally:
        _shard_set.Shard = plain


def no_room(engine, subranges):
    """No memory for what process 0 is to receive: how often, of probes, and of rows."""
    in_slices(subranges)
    index, keys = _index_of(engine, 30000)
    reserve, make_room, refused = engine.reserve, engine.make_room, [0]

    def refuse(bytes_asked):
        if engine.process == 0 and bytes_asked > 160000:
            refused[0] += 1
            raise MemoryError("no room")

    def little(cells, count):
        refuse(8 * count)
        reserve(cells, count)

    def little_room(size):
        refuse(size)
        return make_room(size)

    engine.reserve, engine.make_room = little, little_room
    points = put(engine)(np.repeat(cases.host(keys[:5000]), 6))
    cases.equal(index.count(points), np.ones(len(points)))
    of_probes = refused[0]
    lower = keys[:2000]
    found = index.rows(lower, lower + 3 * 11)
    cases.equal(found.rows, (np.arange(2000)[:, np.newaxis] + np.arange(12)).reshape(-1))
    return (of_probes, refused[0] - of_probes)


def forked(engine):
    """The last process leaves, and one that it forked lives on: how long the others wait for it."""
    if engine.process < engine.processes - 1:
        begin = time.monotonic()
        return (_error_of(engine.gather, None)[0] != "", time.monotonic() - begin)
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    engine.close()
    time.sleep(3)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def positions(engine, subranges):
    """What is sent goes where it is received, as it has to where processes write to each other's rooms."""
    in_slices(subranges)
    begin, checked = engine.begin, [0]

    def address(cells):
        return cells.__array_interface__["data"][0]

    def noted(transfers):
        for one in transfers:
            sent = engine.gather([(position, len(part)) for position, part in zip(one.begins, one.parts)])
            for other, room in enumerate(one.room):
                position, size = sent[other][engine.process]
                assert size == len(room)
                if size:
                    assert address(room) == address(one.landing.cells) + position * room.itemsize
                    checked[0] += 1
        return begin(transfers)

    engine.begin = noted
    random = np.random.default_rng(4)
    keys = random.integers(0, 3000, 2000)
    whole = raydex.build(keys)
    index = raydex.sharded.build(np.array_split(keys, engine.processes)[engine.process], engine=engine)
    points = random.integers(-10, 3010, 100 + 50 * engine.process)
    cases.check_points(index, whole, points)
    cases.check_ranges(index, whole, points, points + 20)
    return checked[0]


def no_room_at_all(engine):
    """The room cannot be made, then it can: what is told, and that calls with and without probes go on."""
    in_slices(1)
    index, keys = _index_of(engine, 3000)
    cases.equal(index.first(keys[:10]), np.arange(10))
    make_room, made = engine.make_room, []

    def refuse(size):
        if engine.process == 0:
            raise MemoryError("no room")
        return make_room(size)

    def noted(size):
        made.append(size)
        return make_room(size)

    engine.make_room = refuse
    error = _error_of(index.first, keys[:900])
    engine.make_room = noted
    cases.equal(index.first(keys[:0]), [])
    assert len(made) == 1  # that of before is gone
    _works(index, keys)
    return error


def no_memory_to_put_in_order(engine, subranges):
    """Process 1 fails to put the answers of a round in order, and does so the next time."""
    in_slices(subranges)
    keys = np.arange(5000)
    own = np.array_split(keys, engine.processes)[engine.process]
    index = raydex.sharded.build(put(engine)(own), engine=engine, most_probes=2000)
    restore, in_one, failed = _call.restore, _call.in_one, []

    def once(call):
        def of(*arguments, **named):
            if engine.process == 1 and not failed:
                failed.append(1)
                raise MemoryError("nothing left")
            return call(*arguments, **named)
        return of

    try:
        _call.restore, _call.in_one = once(restore), once(in_one)
        _works(index, put(engine)(keys))
    finally:
        _call.restore, _call.in_one = restore, in_one
    return len(failed)


def dies(engine, when, subranges, folder):
    """The last process ends in the midst of a call. The others live on until all have heard of it: what they hear
    is not that another one ended after its own error."""
    in_slices(subranges)
    index, keys = _index_of(engine)
    _works(index, keys)
    if engine.process == engine.processes - 1:
        if when == "before":
            os._exit(1)
        if when == "answering":
            index._shards.own[0].answer = lambda *x, **y: os._exit(1)
        elif when == "exchanging":
            engine.begin = lambda *x: os._exit(1)
        else:  # in the way back
            begun = engine.begin
            engine.begin = lambda *x: (setattr(engine, "begin", lambda *x: os._exit(1)), begun(*x))[1]
    begin, kept = time.monotonic(), []
    error = _error_of(index.first, keys, kept=kept)  # what it refers to lives on
    found = (error, time.monotonic() - begin, _error_of(index.first, keys), _error_of(lambda: index.info))
    pathlib.Path(folder, f"heard-{engine.process}").touch()
    while len(list(pathlib.Path(folder).glob("heard-*"))) < engine.processes - 1 and time.monotonic() < begin + 20:
        time.sleep(0.02)
    return found


def again(engine):
    """Twenty builds and closes, of all processes and of parts of them, and joins between; how many it was in."""
    import torch.distributed as dist

    engine.close()
    every = range(engine.processes)
    members = [every, every[:-1], every, every[1:]]
    groups = [None, dist.new_group(list(members[1])), None, dist.new_group(list(members[3]))]
    made = 0
    for at in range(20):
        group, of = groups[at % 4], members[at % 4]
        if engine.process not in of:
            continue
        keys = np.arange(300) * (at + 1)
        own = put(engine)(np.array_split(keys, len(of))[engine.process - of[0]])
        with raydex.sharded.build(own, group=group, timeout=20.0) as index:
            _works(index, put(engine)(keys))
        if at % 4 < 2:
            left, _ = raydex.sharded.join(own, own, "semi", exchange="broadcast", group=group, timeout=20.0)
            cases.equal(np.sort(cases.host(left)), np.array_split(np.arange(300), len(of))[engine.process - of[0]])
        made += 1
    return made


def interrupted(engine, when):
    """Ctrl-C on process 0 in a call, which asks the same again: nobody gets what is of two calls."""
    index, keys = _index_of(engine)
    rows = put(engine)(np.array([5, 6]))
    _works(index, keys)
    begin = time.monotonic()
    if engine.process == 0:

        begun, before = engine.begin, 1 if when == "returning" else 0

        def interrupt(*arguments, **_):
            nonlocal before
            before -= 1
            if before >= 0:
                return begun(*arguments)
            undo()
            raise KeyboardInterrupt

        of, name = {
            "before": (_call, "probes_of"), "answering": (index._shards.own[0], "answer"),
            "exchanging": (engine, "begin"), "returning": (engine, "begin"),
            "putting in order": (_call, "in_one"), "editing": (index._shards.own[0], "insert"),
        }[when]
        undo = cases.replaced(of, name, interrupt)
        try:
            index.insert(keys[:2], rows) if when == "editing" else index.count(keys)
            return "not interrupted"
        except KeyboardInterrupt:
            pass
        return (_error_of(index.count, keys[:3]), _error_of(lambda: index.info), time.monotonic() - begin)
    error = _error_of(index.insert, keys[:2], rows) if when == "editing" else ("", "")
    error = error if error[0] else _error_of(index.count, keys)
    error = error if error[0] else _error_of(index.count, keys)  # of the answers that were under way
    return (error, _error_of(lambda: index.info), time.monotonic() - begin)


def out_of_step(engine):
    """Process 0 leaves a call out, and asks one of the same name; the engine then is of no use either."""
    index, keys = _index_of(engine)
    other, few = _index_of(engine, 10)
    error = _error_of(other.count if engine.process == 0 else index.count, put(engine)(np.arange(3)))
    return (error, _error_of(index.count, keys), _error_of(other.count, few))


class Odd:
    """A word of a call that is nothing to the others."""

    def __reduce__(self):
        raise TypeError("it cannot be sent")


def unsendable(engine):
    """An argument that cannot be sent, of one process and of all: refused, and nothing is lost."""
    index, keys = _index_of(engine)
    odd = engine.process == 1
    found = (
        _error_of(index.rank, keys, side=Odd() if odd else "left"),
        _error_of(index.predecessor, keys, strict=Odd()),
        _error_of(raydex.sharded.build, keys, Odd() if odd else "auto", engine=engine),
    )
    _works(index, keys)
    return found


def memory_of_a_join(engine, how, with_index=False):
    """The most that a join of many pairs holds, in arrays of 8 bytes a pair, what it returns among them."""
    import torch

    _joins.SLICE = _joins.ROUND = _routing.SLICE = 1 << 14
    one = put(engine)(np.zeros(1000, "int64"))
    other = raydex.sharded.build(one, engine=engine) if with_index else one
    if engine.device is None:
        tracemalloc.start()
    else:
        torch.cuda.reset_peak_memory_stats()
    before = 0 if engine.device is None else torch.cuda.memory_allocated()
    pairs = raydex.sharded.join(one, other, how, **({} if with_index else {"engine": engine}))
    most = tracemalloc.get_traced_memory()[1] if engine.device is None else torch.cuda.max_memory_allocated()
    return (len(pairs.left), (most - before) / 8 / max(len(pairs.left), 1))


def no_memory_for_pairs(engine):
    """Process 1 has no memory in a step of a join: what all hear each time, and then how many pairs it has."""
    import torch

    class Without(torch.cuda.OutOfMemoryError if engine.device else MemoryError):
        pass

    def none(*_, **__):
        raise Without("Unable to allocate")

    one = put(engine)(np.zeros(1000, "int64"))
    index = raydex.sharded.build(one[:5], engine=engine)
    errors = []
    everywhere = {"engine": engine, "exchange": "broadcast"}
    for of, name, right, named in (
        (_joins, "_room_for", one, everywhere), (_joins, "_write_rows", one, everywhere),
        (_joins, "_room_for", index, {}), (_call, "undo_rows", index, {}), (_joins, "_write_matches", index, {}),
    ):
        undo = cases.replaced(of, name, none) if engine.process == 1 else lambda: None
        errors.append(_error_of(raydex.sharded.join, one, right, **named))
        undo()
    pairs = raydex.sharded.join(one[:3], one[:5], engine=engine), raydex.sharded.join(one[:3], index)
    return (errors, *(len(some.left) for some in pairs))


def little_memory(engine, with_index):
    """Process 1 has too little memory for its pairs, as the system or PyTorch has it; what all hear."""
    import torch

    one = put(engine)(np.zeros(2000, "int64"))
    other = raydex.sharded.build(one, engine=engine) if with_index else one
    named = {} if with_index else {"engine": engine}
    raydex.sharded.join(one[:1], other, **named)
    margin = 32 << 20  # process 1 has 8 * 10^6 pairs of two, and more with more processes

    def limit(margin):
        if engine.device is None:
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
            most = margin and pages * resource.getpagesize() + margin
            resource.setrlimit(resource.RLIMIT_AS, (most or resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        else:
            total = torch.cuda.mem_get_info(engine.device)[1]
            torch.cuda.set_per_process_memory_fraction(
                (torch.cuda.memory_reserved() + margin) / total if margin else 1.0, engine.device)

    if engine.process == 1:
        limit(margin)
    error = _error_of(raydex.sharded.join, one, other, **named)
    limit(None)
    return (error, len(raydex.sharded.join(one, other, **named).left))


def straggles(engine, pause):
    """The last process calls too late."""
    index, keys = _index_of(engine)
    _works(index, keys)
    if engine.process == engine.processes - 1:
        time.sleep(pause)
    begin = time.monotonic()
    error = _error_of(index.first, keys)
    return (error, time.monotonic() - begin, _error_of(index.first, keys))


def silent(engine):
    """The last process sends nothing, though it goes on."""
    index, keys = _index_of(engine)
    _works(index, keys)
    if engine.process == engine.processes - 1:
        engine.begin = lambda transfers: [lambda: None] * len(transfers)
    begin = time.monotonic()
    error = _error_of(index.first, keys)
    return (error, time.monotonic() - begin, _error_of(index.first, keys))


def peers(engine):
    """Memory that other GPUs write to grows with batches; how much of it is given back."""
    import torch

    def free():
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info(engine.device)[0]

    index, keys = _index_of(engine, 30000)
    for size in (1, 1000, 4_000_000, 10):
        points = keys[torch.arange(size, device=engine.device) % len(keys)]
        cases.equal(index.first(points), np.arange(size) % len(keys))
    # Another index shares it, and needs less.
    other, few = _index_of(engine, 10)
    cases.equal(other.first(few), np.arange(10))
    # First one process has many probes, then the other.
    for one in range(engine.processes):
        at = torch.arange(4_000_000 if one == engine.process else 0, device=engine.device)
        at = at % 10000 + engine.process * 15000
        cases.equal(index.first(keys[at]), cases.host(at))
    if engine._peers is None:
        return None
    index.close()
    engine.gather(None)
    before = free()
    engine._peers.close()
    return free() - before

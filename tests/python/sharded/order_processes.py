# SPDX-License-Identifier: Apache-2.0
"""What processes do that join by order, by gloo or NCCL."""

import numpy as np
import order_cases as cases
import raydex.sharded
from process_cases import _error_of, party, put


def joins(engine, seed):
    convert = None if engine.device is None else put(engine)
    for at, kind in enumerate(cases.KINDS):
        for keys in cases.KEYS[at % 2 :: 2]:
            cases.check_asof(party(engine), engine.gather, seed + at, kind, keys, convert)
            cases.check_pairs(party(engine), engine.gather, seed + at, kind, keys, convert)
            if kind != "times":
                cases.check_windows(party(engine), engine.gather, seed + at, kind, keys, convert)
    return "done"


def wrong_arguments(engine):
    odd = engine.process == 1
    asof, ranges = raydex.sharded.join_asof, raydex.sharded.join_range
    found = {
        "direction": _error_of(asof, [1], [2], direction="up" if odd else "forward", engine=engine),
        "type": _error_of(asof, [1], ["a"] if odd else [2], engine=engine),
        "how": _error_of(ranges, [1], [2], "full" if odd else "inner", distance=1, engine=engine),
        "tolerance": _error_of(asof, [1], [2], tolerance=1 if odd else 2, engine=engine),
        "a column": _error_of(asof, [1], [2], tolerance=np.array([engine.process]), engine=engine),
    }
    assert len(asof([1], [0], engine=engine)) == 1
    return found

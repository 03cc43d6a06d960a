# SPDX-License-Identifier: Apache-2.0
"""Rows of published structures, which claims are judged by beside ours: tables in the folder `peers` of a card.

A paper's own structures ran apart from the paper's experiments, on some of their workloads. One stands in for ours of the
kind if a workload is the same: keys, hits and ranges, with all else as usual. Batches may differ once they fill a
GPU; times are then those of a batch as large as the row beside it.
"""

import results

FILLS = 2**20  # lookups that keep a GPU busy: a larger batch takes so much longer as it has more of them


def rows(spec):
    """What a table says of a method, on each card. `spec` names the table, what its rows have to be, and the `backend`
    if that is not cuda."""
    where = {name: value for name, value in spec.items() if name not in ("table", "backend")}
    found = []
    for path in sorted(results.RESULTS.glob(f"*/peers/{spec['table']}")):
        device = results.heads_of_peer(path)["device"][0]
        for cells in results.rows_of_peer(path):
            if all(cells[name] == value for name, value in where.items()) and not cells.get("error"):
                found.append({"device": device, "backend": spec.get("backend", "cuda"),
                              **{name: results.number(cell) for name, cell in cells.items()}})
    return found


def _is_of(row, of_rival):
    """Whether a row is of the workload of one of a published structure."""
    batches = row.get("probes", 0), of_rival["probes"]
    if batches[0] != batches[1] and min(batches) < FILLS:
        return False
    if "ranges" in of_rival:
        return results.matches(row, {"keys": of_rival["keys"], "ranges": of_rival["ranges"], "array": "random",
                                     "values": "float", "result": "min"})
    axes = ("keys", "key_bits", "hit_rate", "range_hits", "result", "probe_order")
    where = {name: of_rival[name] for name in axes if name in of_rival}
    return results.usual(row, {**where, "uniformity": 0 if of_rival["range_hits"] else 100})


def beside(row, name, of_rivals):
    """Rows like this one of a published structure, as far as that ran the same."""
    return [{"experiment": row["experiment"], "workload_axes": row["workload_axes"], "probes": row["probes"],
             "backend": one["backend"], "structure": name, "options": "", "device": one["device"],
             **_figures(one, row["probes"])}
            for one in of_rivals if _is_of(row, one)]


def _figures(of_rival, probes):
    """What was measured of it, in the names of `raydex bench`."""
    ms = of_rival.get("lookup_ms", of_rival.get("ms"))
    found = {"lookup_ms": ms * probes / of_rival["probes"], "build_ms": of_rival["build_ms"],
             "lookups_per_s": of_rival["probes"] / ms * 1e3}
    if "ranges" in of_rival:
        # The array, of floats, is among the bytes of these tables.
        whole = of_rival["resident_bytes"]
        return {**found, "bytes_with_array": whole, "resident_bytes": whole - 4 * of_rival["keys"]}
    if "peak_bytes" in of_rival:
        return {**found, "resident_bytes": of_rival["resident_bytes"], "build_peak_bytes": of_rival["peak_bytes"]}
    return {**found, "resident_bytes": of_rival["bytes_per_key"] * of_rival["keys"]}


def is_told(row, quantity):
    """Whether a row has what a quantity is made of."""
    made_of = {"ms_per_lookup": "lookup_ms", "bytes_per_rate": "resident_bytes"}
    return all(made_of.get(field, field) in row for field in quantity.split(" + "))

# SPDX-License-Identifier: Apache-2.0
"""The model of sharded calls finds the latencies and rates that rows were made of, and foretells what it has not seen."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lab/scripts"))

import sharded_model  # noqa: E402

MESSAGE_MS, BYTES_PER_MS = 0.01, 250e6
DIVIDING = sharded_model.Dividing([
    {"key_bits": bits, "probes": 1 << 27, "shards": shards, "divide_ms": 1, "write_ms": shards / 1024}
    for bits in (32, 64) for shards in (2, 1024)])


def rows(counts=(1, 2, 4), slower=1.0):
    """Of 2^20 probes, which go in one slice, and of a join of as many rows."""
    probes = 1 << 20
    found = []
    for gpus in counts:
        def crossing(bytes_each, gpus=gpus):
            return MESSAGE_MS * (gpus - 1) + bytes_each * (gpus - 1) / gpus / BYTES_PER_MS

        route = DIVIDING.ratio(32, 4, 4 * gpus)
        there, back, moved = crossing(4 * probes), crossing(4 * probes), crossing(2 * 8 * probes)
        steps = {
            "one index": (3, 0), "route": (route, 0), "exchange": (there, 4 * probes * (gpus - 1) // gpus),
            "lookup": (2, 0), "back": (back, 4 * probes * (gpus - 1) // gpus), "undo": (0.5, 0),
            "first": (slower * (route + 2 - 2 / gpus + max(2 / gpus, there) + back + 0.5 + 0.25), 0), "one join": (9, 0),
            "join: route": (2 * route, 0), "join: exchange": (moved, 2 * 8 * probes * (gpus - 1) // gpus),
            "join: match": (5, 0), "join": (2 * route + moved + 5 + 1, 0), "one index of 10^6": (0.1, 0),
            "first of 10^6, to all": (0.2 + 1e-7 * gpus * 10**6, 0), "first of 2^10, to all": (0.2 + 1e-7 * gpus * 1024, 0),
            "first of 10^6": (0.2 + 1e-7 * gpus * 10**6, 0),
        }
        found += [{"keys": probes, "probes": probes, "key_bits": 32, "processes": gpus, "step": step, "milliseconds": took,
                   "sent_bytes": sent} for step, (took, sent) in steps.items() if gpus > 1 or "exchange" not in step]
    return sharded_model.Rows(found)


def test_what_rows_were_made_of():
    found, model = sharded_model.predictions(rows(), DIVIDING)
    assert model.message_ms == pytest.approx(MESSAGE_MS, rel=0.01)
    assert 1 / model.byte_ms == pytest.approx(BYTES_PER_MS, rel=0.01)
    for row in found:
        if row["processes"] <= 4:
            assert float(row["error"]) == pytest.approx(0, abs=0.01)
            assert float(row["foretold"]) == pytest.approx(0, abs=0.05)
        else:
            assert row["measured_ms"] is None and row["error"] is None
    assert {row["call"] for row in found} == {"first", "join", "first of 10^6"}
    assert {row["processes"] for row in found} == {2**exponent for exponent in range(1, 11)}


def test_between_hosts_the_network_decides():
    _, model = sharded_model.predictions(rows(), DIVIDING)
    bytes_each = 1 << 30
    within, beyond = (model.crossing_ms(gpus, bytes_each) for gpus in (8, 64))
    assert within == pytest.approx(7 * MESSAGE_MS + bytes_each * 7 / 8 / BYTES_PER_MS, rel=0.01)
    network = sharded_model.NETWORK
    assert beyond == pytest.approx(56 * network.message_ms + bytes_each * 56 / 64 / network.bytes_per_ms)


def test_what_bytes_do_not_explain_is_seen():
    """Rows whose calls take as long on four GPUs as on two are no model's."""
    slow = sharded_model.Rows([*rows((1, 2)).all, *rows((4,), 3.0).all, *rows((8,)).all])
    found, _ = sharded_model.predictions(slow, DIVIDING)
    assert max(abs(float(row["error"] or 0)) for row in found) > sharded_model.WITHIN

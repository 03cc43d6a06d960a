#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sharded lookups and joins take on up to 1,024 GPUs: a model of bytes and latencies, fitted to rows of lab/sharded.py.

    f=nvidia-h100-80gb-hbm3/peers
    lab/scripts/sharded_model.py $f/sharded-4-gpus.csv > docs/results/$f/sharded-model.csv
    lab/scripts/sharded_model.py $f/sharded-4-gpus.csv --check

Every GPU has the same keys and asks as many probes. What a GPU does by itself takes the time that it was measured to
take; among more shards, dividing takes longer as raydex_divide_cub has it. What crosses within a host takes a latency
for each other GPU and a time for each byte, both fitted to the rows of the exchanges. Nobody has measured what crosses
between hosts: NETWORK states it. Both go side by side. What is left of a call, agreements among it, is fitted to whole
calls, as a constant and a part for each other GPU.

Prints CSV, a row for each workload and number of GPUs, beside what was measured there; `error` is the prediction over
that, less 1, and `foretold` the same of a model that was not fitted to this number of GPUs. With `--check` it fails
where an error is more than 0.15 either way.
"""

import argparse
import csv
import dataclasses
import math
import sys

import numpy

import cost_model
import results

GPUS = [2**exponent for exponent in range(1, 11)]
GPUS_OF_A_HOST = 8
FEW = 10**6
LARGE = 1 << 25  # probes of a process, from which a batch goes in slices
SUBRANGES = 4
WITHIN = 0.15
MOST_SHARDS = 1024
FIELDS = ["call", "keys", "probes", "key_bits", "processes", "measured_ms", "predicted_ms", "error", "foretold",
          "linear"]


@dataclasses.dataclass
class Network:
    """What is taken to lie between hosts, a link of its own for each GPU."""

    bytes_per_ms: float = 50e6  # 400 Gb/s
    message_ms: float = 0.005
    agreement_ms: float = 0.03
    """A step of gloo's all-gather; there is one less than processes."""


NETWORK = Network()


class Rows:
    """The steps of each workload, in ms, and what they sent."""

    def __init__(self, rows):
        self.all = rows
        self.of = {}
        for row in rows:
            workload = tuple(int(row[name]) for name in ("keys", "probes", "key_bits"))
            found = self.of.setdefault(workload, {}).setdefault(int(row["processes"]), {})
            found[row["step"]] = (float(row["milliseconds"]), int(row["sent_bytes"]))

    def without(self, gpus):
        return Rows([row for row in self.all if int(row["processes"]) != gpus])

    def ms(self, workload, gpus, step):
        return self.of[workload].get(gpus, {}).get(step, (None,))[0]

    def measured(self, step):
        """Workloads and numbers of GPUs, two and more, that have a step."""
        return [(workload, gpus) for workload, counts in self.of.items() for gpus, steps in sorted(counts.items())
                if gpus > 1 and step in steps]


class Dividing:
    """How much longer it takes to divide among more shards."""

    def __init__(self, rows):
        self.ms = {}
        for row in rows:
            if int(row["probes"]) == 1 << 27:
                took = float(row["divide_ms"]) + float(row["write_ms"])
                self.ms.setdefault(int(row["key_bits"]), {})[math.log2(int(row["shards"]))] = took

    def ratio(self, bits, shards, to):
        points = sorted(self.ms[bits].items())

        def at(count):
            return numpy.interp(math.log2(max(count, 2)), *zip(*points))

        return float(at(min(to, MOST_SHARDS)) / at(min(shards, MOST_SHARDS)))


def shards_of(gpus):
    """Those that a batch of points is divided among."""
    return min(SUBRANGES * gpus, MOST_SHARDS)


def fitted(equations, wanted):
    """Least squares of relative errors, with no negative number."""
    scale = 1 / numpy.array(wanted)
    return cost_model.non_negative_least_squares(numpy.array(equations, dtype=float) * scale[:, None], wanted * scale)


class Model:
    """A card's, of its rows."""

    def __init__(self, rows, dividing):
        self.rows = rows
        self.dividing = dividing
        equations, wanted = [], []
        for step in ("exchange", "back", "join: exchange"):
            for workload, gpus in rows.measured(step):
                took, sent = rows.of[workload][gpus][step]
                equations.append([gpus - 1, sent])
                wanted.append(took)
        self.message_ms, self.byte_ms = fitted(equations, numpy.array(wanted))
        self.first_rest = self._rest("first", self._first_steps)
        self.join_rest = self._rest("join", self._join_steps)
        self.few = {how: self._few_fitted(how) for how in ("to all", "divided")}

    def _rest(self, step, known):
        """What the steps do not explain: a constant, and a part for each other GPU. None: it was not measured."""
        found = self.rows.measured(step)
        if not found:
            return None
        left = [max(self.rows.ms(workload, gpus, step) - known(workload, gpus), 1e-3) for workload, gpus in found]
        equations = numpy.array([[1, gpus - 1] for _, gpus in found], dtype=float)
        scale = 1 / numpy.array([self.rows.ms(workload, gpus, step) for workload, gpus in found])
        return cost_model.non_negative_least_squares(equations * scale[:, None], left * scale)

    def _few_fitted(self, how):
        """Of few probes: a constant, a part for each other GPU, and for each probe that a GPU looks up."""
        equations, wanted = [], []
        for workload, counts in self.rows.of.items():
            for gpus, steps in counts.items():
                for step, (took, _) in steps.items():
                    if gpus > 1 and step.startswith("first of ") and step.endswith(how) and workload[2] == 32:
                        count = number_of(step[len("first of "):].partition(",")[0])
                        if count <= 1 << 22:
                            equations.append([1, gpus - 1, count * (gpus if how == "to all" else 1)])
                            wanted.append(took)
        return fitted(equations, numpy.array(wanted)) if wanted else None

    def crossing_ms(self, gpus, bytes_each):
        """Of so many bytes of each GPU that are for all alike."""
        near = min(gpus, GPUS_OF_A_HOST) - 1
        far = gpus - 1 - near
        return max(
            near * self.message_ms + bytes_each * near / gpus * self.byte_ms,
            far * NETWORK.message_ms + bytes_each * far / gpus / NETWORK.bytes_per_ms,
        )

    def agreement_ms(self, gpus):
        """More than within a host, where it is a part of what is left of a call."""
        return NETWORK.agreement_ms * (gpus - 1) if gpus > GPUS_OF_A_HOST else 0

    def _own(self, workload, step, gpus):
        """What a GPU takes by itself: as measured with the most GPUs, and while they are measured with these."""
        measured = [count for count in self.rows.of[workload] if self.rows.ms(workload, count, step) is not None]
        nearest = gpus if gpus in measured else max(measured)
        took = self.rows.ms(workload, nearest, step)
        if "route" in step:
            took *= self.dividing.ratio(workload[2], shards_of(nearest), shards_of(gpus))
        return took

    def _first_steps(self, workload, gpus):
        _, probes, bits = workload
        there = self.crossing_ms(gpus, probes * bits // 8)
        back = self.crossing_ms(gpus, probes * (4 if workload[0] * gpus < 1 << 31 else 8))
        slices = 1 if probes < LARGE else 2 if gpus == 2 else SUBRANGES
        lookup = self._own(workload, "lookup", gpus)
        # Slices overlap but for the way back of the last one; if there is one, own probes alone are looked up meanwhile.
        hidden = lookup / gpus if slices == 1 else lookup
        overlapped = lookup - hidden + max(hidden, there + back * (slices - 1) / slices)
        return self._own(workload, "route", gpus) + overlapped + back / slices + self._own(workload, "undo", gpus)

    def _join_steps(self, workload, gpus):
        _, probes, bits = workload
        moved = (workload[0] + probes) * (bits // 8 + (4 if max(workload[:2]) * gpus < 1 << 31 else 8))
        return (self._own(workload, "join: route", gpus) + self.crossing_ms(gpus, moved)
                + self._own(workload, "join: match", gpus))

    def first_ms(self, workload, gpus):
        others = min(gpus, GPUS_OF_A_HOST) - 1
        return self._first_steps(workload, gpus) + self.first_rest @ [1, others] + 2 * self.agreement_ms(gpus)

    def join_ms(self, workload, gpus):
        others = min(gpus, GPUS_OF_A_HOST) - 1
        return self._join_steps(workload, gpus) + self.join_rest @ [1, others] + 5 * self.agreement_ms(gpus)

    def few_ms(self, gpus, count):
        """Whichever way is faster."""
        others = min(gpus, GPUS_OF_A_HOST) - 1
        found = []
        for how, looked_up in (("to all", gpus * count), ("divided", count)):
            if self.few[how] is not None:
                far = max(gpus - GPUS_OF_A_HOST, 0) * (1 if how == "to all" else 1 / gpus)
                sent = far * 8 * count / NETWORK.bytes_per_ms + 2 * max(gpus - GPUS_OF_A_HOST, 0) * NETWORK.message_ms
                found.append(self.few[how] @ [1, others, looked_up] + sent + 2 * self.agreement_ms(gpus))
        return min(found)


def number_of(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent or 1)


CALLS = {  # what one GPU does alone, and the prediction
    "first": ("one index", Model.first_ms),
    "join": ("one join", Model.join_ms),
    "first of 10^6": ("one index of 10^6", lambda model, workload, gpus: model.few_ms(gpus, FEW)),
}


def predictions(rows, dividing):
    """Rows of the report, and the model."""
    model = Model(rows, dividing)
    measured = sorted({gpus for counts in rows.of.values() for gpus in counts if gpus > 1})
    fewer = {gpus: Model(rows.without(gpus), dividing) for gpus in measured} if len(measured) > 1 else {}
    found = []
    for call, (alone, predicted) in CALLS.items():
        workloads = list(dict.fromkeys(workload for workload, _ in rows.measured(call)))
        if call == "first of 10^6":  # as many keys make no difference
            workloads = [one for one in workloads if one[2] == 32][:1]
        for workload in workloads:
            base = rows.ms(workload, min(rows.of[workload]), alone)
            for gpus in GPUS:
                took, known = rows.ms(workload, gpus, call), predicted(model, workload, gpus)
                foretold = None
                if took and gpus in fewer and any(count > 1 for count in fewer[gpus].rows.of.get(workload, ())):
                    foretold = predicted(fewer[gpus], workload, gpus) / took - 1
                found.append({
                    "call": call, **dict(zip(("keys", "probes", "key_bits"), workload)), "processes": gpus,
                    "measured_ms": took and f"{took:.4g}", "predicted_ms": f"{known:.4g}",
                    "error": took and f"{known / took - 1:.3f}", "foretold": foretold and f"{foretold:.3f}",
                    "linear": base and f"{base / known:.3g}",
                })
    return (found, model)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="in docs/results, of one card")
    parser.add_argument("--check", action="store_true", help=f"fail where a prediction is off by more than {WITHIN}")
    options = parser.parse_args()
    rows = Rows([row for name in options.files for row in results.rows_of_peer(name)])
    folder = options.files[0].rpartition("/")[0]
    found, model = predictions(rows, Dividing(results.rows_of_peer(f"{folder}/divide-cub.csv")))
    print(f"# lab/scripts/sharded_model.py {' '.join(options.files)}")
    print(f"# message_us: {1000 * model.message_ms:.3g}\n# gbytes_per_s: {1e-6 / model.byte_ms:.4g}")
    writer = csv.DictWriter(sys.stdout, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    wrong = [row for row in found if abs(float(row["error"] or 0)) > WITHIN]
    if options.check and wrong:
        sys.exit(f"sharded_model: off by more than {WITHIN}: " + "; ".join(map(str, wrong)))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Edits, appends, snapshots, files and copies of one index in any order, against lists of entries."""

import copy
import os
import pickle
import tempfile

import numpy as np
import pytest
import raydex
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and one.updates and one.points})

KINDS = {
    "integers": list(range(-2, 3)),
    "short texts": ["", "a", "b", "bb"],
    "long texts": ["", "a long text of many", "a long text of more", "b" * 30],
    "columns": [(1, "x"), (1, "y"), (2, "x"), (3, "a text beyond eight")],
}
CELLS = st.lists(st.integers(0, 3), max_size=6)


class Model:
    """An index, what is in it, and the number of its next row."""

    def __init__(self, index, kind, entries, next_row):
        self.index, self.kind, self.entries, self.next_row = index, kind, entries, next_row

    def keys(self, cells):
        chosen = [KINDS[self.kind][cell] for cell in cells]
        if self.kind == "columns":
            return ([one for one, _ in chosen], [text for _, text in chosen])
        return np.array(chosen, "i4") if self.kind == "integers" else chosen

    def twin(self, index):
        return Model(index, self.kind, list(self.entries), self.next_row)

    def check(self):
        found = self.index.rows(self.keys(range(4)))
        rows = [sorted(found.rows[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        assert rows == [sorted(row for cell, row in self.entries if cell == own) for own in range(4)]
        assert len(self.index) == len(self.entries)


class Versions(RuleBasedStateMachine):
    models = Bundle("models")

    @rule(target=models, structure=st.sampled_from(STRUCTURES), kind=st.sampled_from(sorted(KINDS)), cells=CELLS)
    def build(self, structure, kind, cells):
        if structure == "direct":
            kind = "integers"
        cells = [0, 1, 2, 3, *cells]  # columns of a key take no others later
        model = Model(None, kind, [(cell, row) for row, cell in enumerate(cells)], len(cells))
        model.index = raydex.build(model.keys(cells), structure)
        return model

    @rule(model=models, cells=CELLS.filter(len))
    def append(self, model, cells):
        end = model.next_row + len(cells)
        assert model.index.append(model.keys(cells)) == range(model.next_row, end)
        model.entries += list(zip(cells, range(model.next_row, end), strict=True))
        model.next_row = end
        model.check()

    @rule(model=models, cell=st.integers(0, 3), row=st.integers(0, 40))
    def insert(self, model, cell, row):
        model.index.insert(model.keys([cell]), [row])
        model.entries.append((cell, row))
        model.next_row = max(model.next_row, row + 1)
        model.check()

    @rule(model=models, cells=CELLS.filter(len))
    def erase(self, model, cells):
        model.index.erase(model.keys(cells))
        model.entries = [one for one in model.entries if one[0] not in cells]
        model.check()

    @rule(target=models, model=models)
    def snapshot(self, model):
        return model.twin(model.index.snapshot())

    @rule(target=models, model=models, how=st.sampled_from(["copy", "pickle", "file", "unverified"]))
    def copied(self, model, how):
        if how == "copy":
            return model.twin(copy.copy(model.index))
        if model.kind == "columns":  # that are numbered: save refuses them
            return model.twin(model.index.snapshot())
        if how == "pickle":
            return model.twin(pickle.loads(pickle.dumps(model.index)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "an.index")
            model.index.save(path)
            return model.twin(raydex.load(path, verify=how == "file"))

    @rule(model=consumes(models))
    def close(self, model):
        model.check()
        model.index.close()
        with pytest.raises(raydex.InvalidArgument, match="closed"):
            model.index.count(model.keys([0]))

    @rule(model=models)
    def check(self, model):
        model.check()


TestVersions = Versions.TestCase
TestVersions.settings = settings(max_examples=40, stateful_step_count=16, deadline=None)

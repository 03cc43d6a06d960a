# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of indexes and results, read by the HTML parser of the standard library."""

from html.parser import HTMLParser

import numpy as np
import pytest
import raydex


class Table(HTMLParser):
    """A table: its caption, and the texts of its rows."""

    def __init__(self, text):
        super().__init__()
        self.caption, self.rows, self.open = "", [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] == "caption":
            self.caption += text
        else:
            self.rows[-1][-1] += text


def facts(thing):
    return dict(Table(thing._repr_html_()).rows)


def test_what_has_memory():
    with raydex.build(np.arange(100), "pivot_tree") as index:
        shown = facts(index)
        assert [shown[one] for one in ("structure", "device", "keys", "rows")] == ["pivot_tree", "cpu", "int64", "100"]
        assert shown["memory"].endswith(("bytes", "KiB")) and "nodes=auto" in shown["options"]
        with raydex.aggregate(index, np.arange(100.0)) as aggregate:
            assert facts(aggregate)["values"] == "float64"
        assert "closed" in aggregate._repr_html_()
    assert Table(index._repr_html_()).caption == "raydex.Index, closed"
    with raydex.rmq(np.arange(10, dtype="u4"), extremes="both") as minima:
        assert facts(minima)["values"] == "10 of uint32" and facts(minima)["extremes"] == "both"
    with raydex.AsofIndex([1, 2], by=["a", "b"]) as times:
        assert facts(times)["times"] == "int64" and facts(times)["rows"] == "2" and facts(times)["by"]
    with raydex.join([1, 2], [2, 2], lazy=True) as joined:
        assert facts(joined) == {"how": "inner", "device": "cpu", "rows": "2", "probe rows": "2"}
    for one in (minima, times, joined):
        assert Table(one._repr_html_()).rows == []


@pytest.mark.parametrize("size", [0, 3, 10, 11])
def test_rows_of_a_join(size):
    found = raydex.join(np.arange(size), np.flip(np.arange(size)).copy(), how="left")
    table = Table(found._repr_html_())
    assert str(size) in table.caption and ("first 10" in table.caption) == (size > 10)
    expected = [[str(at), str(probe), str(build)] for at, (probe, build) in enumerate(zip(*found))]
    assert table.rows == [["", "probe", "build"], *expected[:10]]
    only_probe = Table(raydex.join([1], [1], how="semi")._repr_html_())
    assert only_probe.rows == [["", "probe"], ["0", "0"]]


def test_rows_of_probes():
    index = raydex.build(np.repeat([1, 2], [12, 1]))
    table = Table(index.rows([2, 3, 1])._repr_html_())
    many = ", ".join(map(str, range(10))) + ", …"
    assert table.rows == [["", "matches", "rows"], ["0", "1", "12"], ["1", "0", ""], ["2", "12", many]]


def test_tensors():
    torch = pytest.importorskip("torch")
    table = Table(raydex.join(torch.tensor([1, 2]), torch.tensor([2]))._repr_html_())
    assert table.rows == [["", "probe", "build"], ["0", "0", "1"]]


def test_texts_are_escaped():
    from raydex import _html

    text = "<script>&\"'"
    assert "<script>" not in _html.facts(text, {text: text}) + _html.columns(text, {text: np.array([text])})
    assert dict(Table(_html.facts("a", {text: text})).rows) == {text: text}


def test_arrays_that_are_not_read():
    """A `DeviceArray` has no cells that the host reads: what it is stands in their place."""

    class Far:
        def __repr__(self):
            return "3 of int64 on cuda:0"

    join = raydex.JoinRows(Far(), Far())
    assert dict(Table(join._repr_html_()).rows) == {"probe": "3 of int64 on cuda:0", "build": "3 of int64 on cuda:0"}
    assert dict(Table(raydex.Matches(Far(), Far())._repr_html_()).rows).keys() == {"offsets", "rows"}

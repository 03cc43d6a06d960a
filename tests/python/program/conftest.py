# SPDX-License-Identifier: Apache-2.0
"""The program in a folder of its own, and tables for it. What is imported late skips the tests that need it,
where it is not there."""

import pytest


@pytest.fixture
def program(tmp_path, monkeypatch, capfd):
    from running import Program

    monkeypatch.chdir(tmp_path)
    return Program(tmp_path, capfd)


@pytest.fixture
def tables(random):
    """Two tables with all kinds of columns."""
    import pyarrow as pa
    from running import TEXTS

    def table(rows):
        holes = random.random(rows) < 0.1
        days = pa.array(random.integers(0, 40, rows).astype("int32")).cast(pa.date32())
        return pa.table(
            {
                "number": pa.array(random.integers(-30, 30, rows), mask=holes),
                "float": random.integers(0, 50, rows) / 4,
                "short": pa.array([f"N{i}" for i in random.integers(0, 60, rows)], mask=holes),
                "text": pa.array([TEXTS[i % 5].format(i) for i in random.integers(0, 60, rows)], mask=holes),
                "day": days,
                "time": days.cast(pa.timestamp("s")),
                "low": random.integers(0, 300, rows),
                "high": random.integers(0, 300, rows),
            }
        )

    return table(300), table(400)

# SPDX-License-Identifier: Apache-2.0
"""What is used of Dask and pandas; parts of these have no types."""

from __future__ import annotations

import importlib
from typing import Any

try:
    dask: Any = importlib.import_module("dask")
    arrays: Any = importlib.import_module("dask.array")
    frames: Any = importlib.import_module("dask.dataframe")
    _tasks: Any = importlib.import_module("dask.task_spec")
    _graphs: Any = importlib.import_module("dask.highlevelgraph")
    _sizes: Any = importlib.import_module("dask.sizeof")
    pd: Any = importlib.import_module("pandas")
    pyarrow: Any = importlib.import_module("pyarrow")
    compute: Any = importlib.import_module("pyarrow.compute")
except ImportError as error:
    raise ImportError(
        f"raydex.dask needs Dask with data frames: pip install 'dask[dataframe]' distributed ({error})"
    ) from error

DataNode = _tasks.DataNode
GraphNode = _tasks.GraphNode
List = _tasks.List
Task = _tasks.Task
TaskRef = _tasks.TaskRef
HighLevelGraph = _graphs.HighLevelGraph
MaterializedLayer = _graphs.MaterializedLayer
sizeof = _sizes.sizeof
flatten = dask.core.flatten
tokenize = dask.base.tokenize

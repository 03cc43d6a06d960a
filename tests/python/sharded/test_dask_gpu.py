# SPDX-License-Identifier: Apache-2.0
"""raydex.dask with shards on GPUs, and data in host memory. Skipped without a GPU."""

import numpy as np
import pytest
import raydex

pytest.importorskip("dask", reason="Dask is missing")
distributed = pytest.importorskip("distributed", reason="distributed is missing")
pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
if not any(one.backend == "cuda" and one.available for one in raydex.structures()):
    pytest.skip("no GPU, or a raydex without CUDA", allow_module_level=True)

import raydex.dask  # noqa: E402
import test_dask_index as of_index  # noqa: E402


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float32"])
@pytest.mark.parametrize("structure", ["auto", "btree"])
def test_as_one_index(structure, dtype):
    random = np.random.default_rng(1)
    keys = random.integers(-300 if dtype[0] != "u" else 0, 300, 1000).astype(dtype)
    index = raydex.dask.build(of_index.series(keys, [0, 200, 900]), 3, structure, "cuda")
    points = random.permutation(keys)[:200]
    of_index.check(index, raydex.build(keys), points, points + random.integers(0, 9, 200).astype(dtype))
    rows = np.arange(1000, 1100)
    index.insert(keys[:100], rows)
    index.erase(keys[100:300])
    left = np.flatnonzero(~np.isin(keys, keys[100:300]))
    added = rows[~np.isin(keys[:100], keys[100:300])]
    one = raydex.build(np.concatenate([keys[left], keys[added - 1000]]), rows=np.concatenate([left, added]))
    of_index.equal(index.count(points), one.count(points))
    of_index.equal(index.first(points), one.first(points))


def test_workers_of_a_cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client:
            keys = np.random.default_rng(2).permutation(5000)
            index = raydex.dask.build(of_index.array(keys, 700), device="cuda:0")
            of_index.equal(index.first(np.arange(5000)), np.argsort(keys))
            of_index.equal(index.count(of_index.array(keys, 900)).compute(), np.ones(5000))
            # A shard that moves is built on the GPU anew.
            worker = next(iter(client.scheduler_info()["workers"]))
            client.retire_workers([worker])
            of_index.equal(index.first(np.arange(5000)), np.argsort(keys))

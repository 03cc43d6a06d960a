# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch, called as they are and compiled. The oracles are PyTorch's own functions and NumPy, and
`torch.library.opcheck` for what operators owe PyTorch."""

import gc
import weakref

import numpy as np
import pages
import pytest
import raydex

torch = pytest.importorskip("torch")

import raydex.torch  # noqa: E402

OPERATORS = torch.ops.raydex


by_pytorch = torch.compile


def compiled(function, fullgraph=True):
    torch._dynamo.reset()
    return by_pytorch(function, fullgraph=fullgraph, backend="aot_eager")


def as_it_is(function):
    return function


HOW = pytest.mark.parametrize("how", [as_it_is, compiled])
SHAPES = [(), (0,), (5000,), (3, 4, 5)]


def drawn(random, dtype, size):
    found = torch.from_numpy(random.integers(0, 50, size))
    if dtype.is_floating_point:
        found = found / 4
        found[found == 3] = torch.nan
    return found.to(dtype)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64])
def test_searchsorted(random, dtype):
    a = drawn(random, dtype, 300).sort().values
    for shape in SHAPES:
        v = drawn(random, dtype, shape)
        for right in (False, True):
            # NaN come last, which torch.searchsorted does not know.
            expected = torch.as_tensor(np.searchsorted(a.numpy(), v.numpy(), "right" if right else "left"))
            for found in (raydex.torch.searchsorted(a, v, right=right),
                          raydex.torch.searchsorted(a, v, "right" if right else "left")):
                torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32, torch.float64])
def test_isin(random, dtype):
    tests = drawn(random, dtype, (2, 10))
    for shape in SHAPES:
        elements = drawn(random, dtype, shape)
        for invert in (False, True):
            expected = torch.from_numpy(np.asarray(np.isin(elements.numpy(), tests.numpy(), invert=invert)))
            torch.testing.assert_close(raydex.torch.isin(elements, tests, invert=invert), expected)


def test_searches_that_are_compiled(random):
    def both(a, v):
        return (raydex.torch.searchsorted(a, v, right=True), raydex.torch.isin(v, a, invert=True))

    a = drawn(random, torch.int32, 300).sort().values
    function = compiled(both)
    for shape in SHAPES:
        v = drawn(random, torch.int32, shape)
        rows, found = function(a, v)
        torch.testing.assert_close(rows, torch.searchsorted(a, v, right=True))
        torch.testing.assert_close(found, ~torch.isin(v, a))


@HOW
def test_lookup(random, how):
    keys, points = torch.from_numpy(random.permutation(1000)), torch.from_numpy(random.integers(0, 1500, (20, 30)))
    index = raydex.build(keys)
    rows = torch.full((1500,), -1)
    rows[keys] = torch.arange(1000)
    torch.testing.assert_close(how(raydex.torch.lookup)(index, points), rows[points])
    torch.testing.assert_close(how(lambda points: raydex.torch.lookup(index, points))(points[0, 0]), rows[points[0, 0]])


@HOW
def test_cells_of_a_lookup_have_gradients(random, how, cell=(3,)):
    keys = torch.from_numpy(random.permutation(10))
    index = raydex.build(keys)
    points = torch.tensor([[3, 12], [3, 0]])
    values = torch.rand((10, *cell), requires_grad=True)
    found = how(raydex.torch.lookup)(index, points, values, 7.0)
    at = torch.argsort(keys)
    expected = values.detach()[at[points.clamp(max=9)]].clone()
    expected[0, 1] = 7
    torch.testing.assert_close(found.detach(), expected)
    found.sum().backward()
    gradient = torch.zeros((10, *cell))
    gradient[at[3]], gradient[at[0]] = 2, 1
    torch.testing.assert_close(values.grad, gradient)


def test_values_and_rows():
    index = raydex.build(torch.arange(10))
    with pytest.raises(raydex.InvalidArgument, match="values: 9 rows, but the index has rows up to 9"):
        raydex.torch.lookup(index, torch.tensor([1]), torch.rand(9))
    nothing = raydex.build(torch.tensor([], dtype=torch.int64))
    assert raydex.torch.lookup(nothing, torch.tensor([1]), torch.rand(0), 5.0).tolist() == [5]


@HOW
@pytest.mark.parametrize("columns", [1, 2])
def test_join(random, how, columns):
    build, probe = ([torch.from_numpy(random.integers(0, 9, size)) for _ in range(columns)] for size in (40, 50))
    pairs = sum(x[None] == y[:, None] for x, y in zip(build, probe)) == columns
    rows, build_rows = pairs.nonzero(as_tuple=True)
    without, build_without = ((~pairs.any(axis)).nonzero().flatten() for axis in (1, 0))
    join = how(raydex.torch.join)
    for kind in ("inner", "left", "right", "full", "semi", "anti"):
        found = join(build, probe, kind) if columns == 2 else join(build[0], probe[0], kind)
        assert isinstance(found, raydex.JoinRows)
        if kind in ("semi", "anti"):
            assert found.build is None
            torch.testing.assert_close(found.probe, rows.unique() if kind == "semi" else without)
            continue
        expected = list(zip(rows.tolist(), build_rows.tolist()))
        expected += [(row, -1) for row in without.tolist()] * (kind in ("left", "full"))
        expected += [(-1, row) for row in build_without.tolist()] * (kind in ("right", "full"))
        assert sorted(zip(found.probe.tolist(), found.build.tolist())) == sorted(expected)


@HOW
def test_a_join_in_further_calls(random, how):
    keys, probe = torch.from_numpy(random.permutation(100)), torch.from_numpy(random.integers(0, 200, 500))
    index, weights = raydex.build(keys), torch.rand(100)

    def total(probe):
        rows = raydex.torch.join(index, probe)
        return torch.zeros(500).index_add(0, rows.probe, weights[rows.build])

    rows = torch.full((200,), -1)
    rows[keys] = torch.arange(100)
    expected = torch.where(rows[probe] >= 0, weights[rows[probe]], 0)
    torch.testing.assert_close(how(total)(probe), expected)


def test_inductor_compiles_it(random):
    """PyTorch's own compiler, with sizes that change."""
    torch._dynamo.reset()
    index = raydex.build(torch.arange(0, 100, 2))

    @torch.compile(fullgraph=True, dynamic=True)
    def all_of_them(a, v):
        rows = raydex.torch.join(index, v)
        return (raydex.torch.searchsorted(a, v + 1) * 2, raydex.torch.isin(v, a), raydex.torch.lookup(index, v),
                rows.probe + rows.build)

    for size in (100, 700):
        a, v = torch.arange(0, size, 3), torch.from_numpy(random.integers(0, 150, size))
        found = all_of_them(a, v)
        torch.testing.assert_close(found[0], torch.searchsorted(a, v + 1) * 2)
        torch.testing.assert_close(found[1], torch.isin(v, a))
        there = (v % 2 == 0) & (v < 100)
        torch.testing.assert_close(found[2], torch.where(there, v // 2, -1))
        torch.testing.assert_close(found[3], torch.arange(size)[there] + v[there] // 2)


def test_each_index_has_its_own_answers():
    """Also where compiled code has seen another one before."""
    look = compiled(raydex.torch.lookup)
    points = torch.tensor([3])
    for row in range(12):  # more than PyTorch compiles one function for
        index = raydex.build(torch.arange(3 - row, 20 - row + 3))
        assert look(index, points).tolist() == [row]


def test_an_edit_is_seen():
    index = raydex.build(torch.tensor([5, 6]))
    look = compiled(lambda points: raydex.torch.lookup(index, points))
    points = torch.tensor([6, 7])
    assert look(points).tolist() == [1, -1]
    index.insert(torch.tensor([7]), torch.tensor([2]))
    assert look(points).tolist() == [1, 2]
    index.close()
    with pytest.raises(raydex.InvalidArgument, match="closed"):
        look(points)


def test_compiled_code_does_not_keep_an_index():
    index = raydex.build(torch.tensor([5, 6]))
    look = compiled(raydex.torch.lookup)
    assert look(index, torch.tensor([6])).tolist() == [1]
    number, there = index._number, weakref.ref(index)
    del index
    gc.collect()
    assert there() is None
    with pytest.raises(raydex.InvalidArgument, match="index: it is gone"):
        OPERATORS.lookup(torch.tensor([6]), number)


@HOW
def test_gradients_are_refused(how):
    x = torch.rand(5).sort().values.requires_grad_()
    index = raydex.build(torch.rand(5))
    for call in (lambda x: raydex.torch.searchsorted(x, x.detach()), lambda x: raydex.torch.isin(x.detach(), x),
                 lambda x: raydex.torch.lookup(index, x), lambda x: raydex.torch.join(x.detach(), x)):
        with pytest.raises(Exception, match=r"requires a gradient, and .* have none; give \w+.detach\(\)"):
            how(call)(x)
    with torch.no_grad():  # as in inference with parameters
        how(call)(x)
    with pytest.raises(raydex.Unsupported, match="a: it requires a gradient"):
        raydex.torch.searchsorted(x, x)


def test_words_that_are_wrong():
    x = torch.arange(5)
    with pytest.raises(raydex.InvalidArgument, match="side"):
        raydex.torch.searchsorted(x, x, "middle")
    with pytest.raises(raydex.InvalidArgument, match="how"):
        raydex.torch.join(x, x, "outermost")
    with pytest.raises(raydex.InvalidArgument, match="probe: 2 columns"):
        raydex.torch.join(raydex.build(x), [x, x])
    with pytest.raises(raydex.InvalidArgument, match="2 dimensions"):
        raydex.torch.searchsorted(torch.zeros(2, 2), x)
    with pytest.raises(raydex.InvalidType):
        raydex.torch.isin(x.to(torch.bfloat16), x)


def test_operators_are_what_pytorch_expects():
    """Their schemas, their kernels for shapes, and how they are traced."""
    x = torch.arange(20)
    index = raydex.build(torch.arange(10))
    for operator, arguments in (
        (OPERATORS.searchsorted, (x, x.reshape(-1, 1), True)), (OPERATORS.isin, (x.reshape(-1, 1), x)),
        (OPERATORS.lookup, (x, index._number)), (OPERATORS.lookup, (x.reshape(-1, 1), index._number, 10)),
        (OPERATORS.join, ([x], [x], "left")), (OPERATORS.join, ([x, x], [x, x], "semi")),
        (OPERATORS.join_index, (index._number, x, "inner")),
    ):
        torch.library.opcheck(operator.default, arguments)


def test_what_waits_is_left_out_of_cuda_graphs():
    unsafe = getattr(torch.Tag, "cudagraph_unsafe", None)
    if unsafe is None:
        pytest.skip("this PyTorch has no such tag")
    for name in ("searchsorted", "isin", "join", "join_index"):
        assert unsafe in getattr(OPERATORS, name).default.tags
    assert unsafe not in OPERATORS.lookup.default.tags


needs_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@needs_a_gpu
def test_on_a_gpu(random):
    keys = torch.from_numpy(random.permutation(1000))
    points = torch.from_numpy(random.integers(0, 1500, 99))
    index = raydex.build(keys.cuda())
    look = compiled(lambda points: raydex.torch.lookup(index, points))
    torch.testing.assert_close(look(points.cuda()).cpu(), index.first(points.cuda()).cpu())
    found = compiled(raydex.torch.searchsorted)(keys.cuda().sort().values, points.cuda())
    torch.testing.assert_close(found.cpu(), points.clamp(max=1000))
    found = compiled(raydex.torch.isin)(points.cuda(), keys.cuda())
    torch.testing.assert_close(found.cpu(), torch.isin(points, keys))
    for build, probe in (([keys], [points]), ([keys, keys % 7], [points, points % 7])):
        on_gpu = [column.cuda() for column in build], [column.cuda() for column in probe]
        for how in ("inner", "left", "semi"):
            found = compiled(lambda build, probe, how=how: raydex.torch.join(build, probe, how))(*on_gpu)
            expected = raydex.torch.join(build, probe, how)
            torch.testing.assert_close(found.probe.cpu(), expected.probe)
            if how != "semi":
                torch.testing.assert_close(found.build.cpu(), expected.build)


@needs_a_gpu
def test_a_lookup_in_a_cuda_graph(random):
    keys = torch.from_numpy(random.permutation(1000)).cuda()
    index = raydex.build(keys)
    torch._dynamo.reset()
    look = by_pytorch(lambda points: raydex.torch.lookup(index, points, keys, -5), fullgraph=True, backend="cudagraphs")
    for _ in range(4):  # the first calls warm up and capture
        points = torch.from_numpy(random.integers(0, 1500, 99)).cuda()
        torch.testing.assert_close(look(points).cpu(), torch.where(points < 1000, points, -5).cpu())


def test_the_page(monkeypatch):
    monkeypatch.setattr(torch, "compile", compiled)
    pages.run("pytorch.md")

# SPDX-License-Identifier: Apache-2.0
"""The example on made-up texts: it checks its answers itself; its LCP array is checked here."""

import os
import secrets
import subprocess

import numpy as np
import pytest

BACKEND = os.environ.get("RAYDEX_TEST_BACKEND", "cpu")
SEED = int(os.environ.get("RAYDEX_TEST_SEED", secrets.randbits(32)))


def random_text(letters, size):
    print(f"RAYDEX_TEST_SEED={SEED}")
    return "".join(np.random.default_rng(SEED).choice(list(letters), size))


def fibonacci(size):
    """A word full of repeats."""
    a, b = "A", "AB"
    while len(b) < size:
        a, b = b, b + a
    return b[:size]


def common_letters(a, b):
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


def run(folder, *arguments, **settings):
    return subprocess.run(
        [os.environ["RAYDEX_EXAMPLE"], *arguments, "--backend", BACKEND],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        **settings,
    )


@pytest.mark.parametrize(
    "text",
    ["A", "CC", "ACGT", "A" * 300, "ACG" * 120 + "T", fibonacci(700), random_text("ACGT", 3000),
     random_text("ab", 500) * 3],
)
def test_extensions(tmp_path, text):
    lines = [text[i : i + 70] for i in range(0, len(text), 70)]
    (tmp_path / "t.fna").write_text("\n".join([">made up", *lines]) + "\n")
    done = run(tmp_path, "t.fna", "--pairs", "2000", "--mismatches", "2", "--lcp", "lcp.npy")
    assert done.returncode == 0, (done.stdout, done.stderr)
    rows = [line for line in done.stdout.splitlines() if line.endswith("✓")]
    assert len(rows) % 2 == 0 and len(rows) >= 2
    assert "WRONG" not in done.stdout

    suffixes = sorted(text[i:] for i in range(len(text)))
    expected = [0] + [common_letters(a, b) for a, b in zip(suffixes, suffixes[1:])]
    lcp = np.load(tmp_path / "lcp.npy")
    assert lcp.dtype == "<u4" and lcp.tolist() == expected
    if max(expected) > 0:
        assert f"The longest repeat: {max(expected)} letters" in done.stdout


@pytest.mark.parametrize("closed", [[], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]])
def test_what_is_printed_gets_into_no_file(tmp_path, closed):
    def close():
        for descriptor in closed:
            os.close(descriptor)

    (tmp_path / "t.fna").write_text(">a\nACGACG\n")
    done = run(tmp_path, "t.fna", "--pairs", "10", "--lcp", "lcp.npy", preexec_fn=close)
    assert done.returncode == 0
    assert np.load(tmp_path / "lcp.npy").tolist() == [0, 3, 0, 2, 0, 1]
    assert run(tmp_path, "none.fna", preexec_fn=close).returncode == 2


def test_the_genome_is_no_output(tmp_path):
    text = ">a\nACGACG\n"
    (tmp_path / "t.fna").write_text(text)
    os.link(tmp_path / "t.fna", tmp_path / "hard")
    for name in ["t.fna", "./t.fna", "hard"]:
        done = run(tmp_path, "t.fna", "--lcp", name)
        assert done.returncode == 2
        assert "same file" in done.stderr
    assert (tmp_path / "t.fna").read_text() == text


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "No such file"),
        ("", "not a FASTA file"),
        ("ACGT\n", "not a FASTA file"),
        (">a\n", "no letters"),
        (">a\nAC\n>b\nGT\n", "several sequences"),
    ],
)
def test_bad_genomes(tmp_path, content, part):
    if content is not None:
        (tmp_path / "t.fna").write_text(content)
    done = run(tmp_path, "t.fna", "--lcp", "lcp.npy")
    assert done.returncode == 2
    assert "t.fna" in done.stderr and part in done.stderr
    assert not (tmp_path / "lcp.npy").exists()

# SPDX-License-Identifier: Apache-2.0
"""scripts/release: what stands in the way of a release, in a repository that has only what it looks at."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [
    "scripts/release", "CMakeLists.txt", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "packaging/conda/recipe.yaml",
    "tests/consumer/project/CMakeLists.txt",
]
STEPS = ["texts", "wheel", "sdist", "docs", "conda", "sums"]


class Repository:
    def __init__(self, root):
        self.root = root
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        self.version = (root / "CMakeLists.txt").read_text().split("project(raydex VERSION ")[1].split()[0]
        self.git("init", "--quiet")
        self.edit("CHANGELOG.md", self.heading(), f"## {self.version}, 2030-01-02")
        citation = (root / "CITATION.cff").read_text().splitlines()
        citation = [line for line in citation if not line.startswith("date-released")]
        (root / "CITATION.cff").write_text("\n".join([*citation, "date-released: 2030-01-02", ""]))
        self.edit("pyproject.toml", "https://raydex.invalid/", "https://example.org/")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.root, check=True)

    def heading(self):
        return next(line for line in (self.root / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))

    def edit(self, name, old, new):
        text = (self.root / name).read_text()
        assert old in text
        (self.root / name).write_text(text.replace(old, new))

    def commit(self, tag=None):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a")
        self.git("tag", "--no-sign", tag or f"v{self.version}")

    def release(self, *words):
        done = subprocess.run(["scripts/release", *words], cwd=self.root, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_it_says_what_it_would_make(repository):
    status, out, error = repository.release("--dry-run")
    assert (status, error) == (0, "")
    assert [line.split(":")[0] for line in out.splitlines() if line.startswith("===")] == [f"=== {one}" for one in STEPS]
    assert "In the way" not in out
    assert list(repository.root.glob("build")) == []
    status, out, error = repository.release("--dry-run", "sdist")
    assert "=== sdist" in out and "=== wheel" not in out


def test_an_unknown_step(repository):
    status, out, error = repository.release("--dry-run", "whel")
    assert status == 2 and error == "release: 'whel' is none of texts wheel sdist docs conda sums\n"


@pytest.mark.parametrize("obstacle", ["tree", "untracked", "no tag", "tag", "two tags", "date", "address"])
def test_what_is_refused(repository, obstacle):
    if obstacle == "tree":
        repository.edit("pyproject.toml", "raydex", "rayclex")
        said = "1 files differ from the commit"
    elif obstacle == "untracked":
        (repository.root / "new.txt").touch()
        said = "1 files differ from the commit"
    elif obstacle == "no tag":
        repository.git("tag", "--delete", f"v{repository.version}")
        said = f"this commit has no tag, not v{repository.version}"
    elif obstacle == "tag":
        repository.git("tag", "--delete", f"v{repository.version}")
        repository.commit("v99.0.0")
        said = f"this commit has v99.0.0, not v{repository.version}"
    elif obstacle == "two tags":
        repository.git("tag", "v99.0.0")
        said = "this commit has v"
    elif obstacle == "date":
        repository.edit("CHANGELOG.md", ", 2030-01-02", ", in the making")
        repository.edit("CITATION.cff", "date-released: 2030-01-02\n", "")
        said = f"'## {repository.version}, in the making' has no date"
    else:
        repository.edit("pyproject.toml", "https://example.org/", "https://raydex.invalid/")
        said = "the addresses in [project.urls] are placeholders"
    status, out, error = repository.release()
    assert status == 1 and said in out
    assert "===" not in out
    assert repository.release("--dry-run")[0] == 0


@pytest.mark.parametrize("name, old, new", [
    ("CMakeLists.txt", "project(raydex VERSION ", "project(raydex VERSION 1"),
    ("CHANGELOG.md", "\n## ", "\n## 9.9.9, in the making\n\n## "),
    ("CITATION.cff", "\nversion: ", "\nversion: 9."),
    ("CITATION.cff", "2030-01-02", "2030-01-03"),
    ("CHANGELOG.md", ", 2030-01-02", ", in the making"),
    ("packaging/conda/recipe.yaml", '  version: "', '  version: "9.'),
    ("tests/consumer/project/CMakeLists.txt", "find_package(raydex ", "find_package(raydex 9"),
])
def test_files_that_disagree(repository, name, old, new):
    repository.edit(name, old, new)
    status, out, error = repository.release("--dry-run")
    assert status == 1 and "===" not in out
    assert name == "CMakeLists.txt" or f"release: {name if old != ', 2030-01-02' else 'CITATION.cff'}: " in error

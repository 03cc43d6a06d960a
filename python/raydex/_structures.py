# SPDX-License-Identifier: Apache-2.0
"""What there is: structures, backends, options."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import cast

from raydex import _raydex
from raydex.typing import StructureName


@dataclass(frozen=True)
class Option:
    """An option of a structure, which `raydex.build` and `raydex.rmq` take by its name."""

    name: str
    """Its name."""
    values: str
    """What is legal: words and ranges of numbers, with `|` between them."""
    usual: str
    """Its value where it is not given; empty where the structure chooses."""
    meaning: str
    """What it says."""
    belongs_to: str
    """The option and value that it belongs to, as `name=value`; or empty."""
    of_a_paper: bool
    """Whether only an experiment of a paper asks for it."""


@dataclass(frozen=True)
class Structure:
    """What a structure can do on a backend. `reason` says why it is not available here."""

    name: StructureName
    """Its name, as given to `raydex.build` or `raydex.rmq`."""
    backend: str
    """`cpu`, `cuda` or `optix`."""
    available: bool
    """Whether the backend is usable on this machine."""
    reason: str
    """Why not, and how to get it; empty if available."""
    points: bool
    """Whether it answers points."""
    ranges: bool
    """Whether it answers ranges, and where points lie among the keys (that not with nodes, of `cgrx`)."""
    minima: bool
    """Whether it answers range minima and maxima."""
    duplicates: bool
    """Whether it takes columns with equal keys."""
    updates: bool
    """Whether it takes insertions and deletions."""
    keys: tuple[str, ...]
    """The types of keys that it takes."""

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen."""
        return tuple(Option(*one) for one in _raydex.options(self.name))


def structures() -> list[Structure]:
    """All structures on all backends of this build, available on this machine or not.

    Those for keys are built by `raydex.build`, those with `minima` by `raydex.rmq`. Cost: asks the
    driver whether there is a GPU."""
    return [Structure(cast(StructureName, one[0]), *one[1:9], tuple(one[9])) for one in _raydex.structures()]


@functools.lru_cache(maxsize=None)
def known() -> tuple[Structure, ...]:
    """The same, asked once: which backends a structure has does not change."""
    return tuple(structures())

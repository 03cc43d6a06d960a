# SPDX-License-Identifier: Apache-2.0
"""What there is: structures, backends, options."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from raydex import _raydex


@dataclass(frozen=True)
class Option:
    """An option of a structure, which `raydex.build` and `raydex.rmq` take by its name."""

    name: str
    values: str
    usual: str
    meaning: str
    belongs_to: str
    of_a_paper: bool


@dataclass(frozen=True)
class Structure:
    """What a structure can do on a backend. `reason` says why it is not available here."""

    name: str
    backend: str
    available: bool
    reason: str
    points: bool
    ranges: bool
    minima: bool
    duplicates: bool
    updates: bool
    keys: tuple[str, ...]

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be chosen."""
        return tuple(Option(*one) for one in _raydex.options(self.name))


def structures() -> list[Structure]:
    """All structures on all backends of this build, available on this machine or not.

    Those for keys are built by `raydex.build`, those with `minima` by `raydex.rmq`. Cost: asks the
    driver whether there is a GPU."""
    return [Structure(*one[:9], tuple(one[9])) for one in _raydex.structures()]


@functools.lru_cache(maxsize=None)
def known() -> tuple[Structure, ...]:
    """The same, asked once: which backends a structure has does not change."""
    return tuple(structures())

# SPDX-License-Identifier: Apache-2.0
"""The exceptions of raydex: those of the library, as kinds of Python's own."""

from __future__ import annotations

__all__ = [
    "CudaError",
    "Error",
    "ExchangeError",
    "InvalidArgument",
    "InvalidType",
    "OptixError",
    "OutOfMemory",
    "ShardError",
    "Unavailable",
    "Unsupported",
]


class Error(Exception):
    """The root of all errors of raydex."""

    __module__ = "raydex"


class InvalidArgument(Error, ValueError):
    """An argument is not legal; the message names it, its value and what would be legal."""

    __module__ = "raydex"


class InvalidType(InvalidArgument, TypeError):
    """An argument is of a type or dtype that raydex does not take; the message says what to call."""

    __module__ = "raydex"


class Unsupported(Error, NotImplementedError):
    """This structure cannot do that; the message names one that can."""

    __module__ = "raydex"


class Unavailable(Error, RuntimeError):
    """This backend is not on this machine, or not in this process; the message says why."""

    __module__ = "raydex"


class OutOfMemory(MemoryError, Error):  # in this order tblib, of distributed, can make it anew
    """Memory could not be had. `asked` and `free` are bytes, 0 where they are not known."""

    __module__ = "raydex"

    def __init__(self, message: str, asked: int = 0, free: int = 0) -> None:
        super().__init__(message)
        self.asked = asked
        self.free = free


class CudaError(Error, RuntimeError):
    """CUDA reported an error, of number `code`."""

    __module__ = "raydex"

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class OptixError(Error, RuntimeError):
    """The driver's OptiX reported an error, of number `code`."""

    __module__ = "raydex"

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class ShardError(Error):
    """Another process of a sharded call failed, of number `process`; `message` is its error. All processes
    give up the call, and what they share can be used again."""

    __module__ = "raydex"

    def __init__(self, process: int, message: str) -> None:
        super().__init__(process, message)
        self.process = process
        self.message = message

    def __str__(self) -> str:
        return f"process {self.process}: {self.message}"


class ExchangeError(Error, RuntimeError):
    """Processes no longer reach each other: one died, or took too long. What they shared is lost."""

    __module__ = "raydex"

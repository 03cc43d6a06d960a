# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex ARGS`, and the command `raydex` of a wheel: the program, which comes with the package. Tables
that pyarrow reads it reads by this Python."""

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    os.environ.setdefault("RAYDEX_PYTHON", sys.executable)
    program = pathlib.Path(__file__).with_name("bin") / "raydex"
    os.execv(program, ["raydex", *sys.argv[1:]])


if __name__ == "__main__":
    main()

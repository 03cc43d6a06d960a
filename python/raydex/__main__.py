# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex`: the commands `query`, `join`, `rmq` and `structures` of the program raydex, over files
that pyarrow reads and writes, too: Parquet, Arrow and Feather, compressed CSV.

    python -m raydex query --keys flights.parquet:tailnum --points planes.csv.gz:tailnum \\
        --result count --out flights_per_plane.parquet

Options, messages and exit statuses are those of the program, and so are .npy and CSV files that both
write. It answers on cpu. Aggregates, `--report`, and the commands `advise`, `bench`, `tune` and `completion`
are the program's alone. The help says the rest: `python -m raydex query --help`.
"""

import sys

from raydex._program.main import begin, main

if __name__ == "__main__":
    begin()
    sys.exit(main(sys.argv[1:]))

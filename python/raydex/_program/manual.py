# SPDX-License-Identifier: Apache-2.0
"""What the help says below the options."""

from raydex._program.outputs import RULES

FOOTER = """\
See `python -m raydex COMMAND --help` for options and examples.

Exit status:
  0  a complete, correct output
  1  this machine cannot do it: no memory, no such backend, no pyarrow, no room for the output
  2  what was given is wrong: a word, a combination of options, or a file that is named
An error is one line on stderr, and leaves no output behind."""

_FILES = """\
Columns are .npy arrays, or columns of tables: file.parquet:column, file.arrow:column (also
.feather and .ipc), file.csv:column and file.csv.gz:column (also .bz2, .zst, .lz4 and .br). A
type may follow: file.csv:column:int64, one of uint32, uint64, int32, int64, float, double,
bytes1..bytes8 and string. For ranges there are two columns: file.csv:lower,upper. pyarrow, 16 or
newer, reads tables, and of Parquet and Arrow only the columns that are named. Nulls are missing,
and so are the fields of CSV that are empty, NA, N/A, null or NULL; spaces around texts belong to
them. Of CSV 5.0 is an integer where the type is named; a whole number that no double is is refused
beside fractions."""

_KEYS = """\
Keys are numbers, booleans, dates, times, durations and texts. Missing ones are never matched,
NaN equals NaN and follows all others, -0.0 equals 0.0. Columns that are compared become of one
type that has all their values."""

QUERY = f"""\
{_FILES}

{_KEYS} Texts have up to 8 bytes.

Results, for each point or range:
  first  the smallest id of a matching row: not the row of the smallest key. Where none
         matches, it is missing in tables; in .npy the largest number of its type: 4294967295
         for uint32
  count  how many rows match
  sum    of --values over the matching rows, without it of their ids; integers modulo 2^64
  rows   the ids of all matching rows: in tables beside the number of the probe, in .npz after
         where those of each probe begin
  rank, rank_right  of a point: how many keys are less than it, or not greater: NumPy's
         searchsorted. Of a missing point as where nothing matches
  predecessor, successor  of a point: the smallest id of the rows with the largest key not
         greater than it, or with the smallest key not less; --strict leaves equal keys out

`auto` takes the structure that was measured to be the fastest for points and ranges.

Examples:
  python -m raydex query --keys keys.npy --points probes.npy --result first --out first.npy
  python -m raydex query --keys flights.parquet:tailnum --points planes.csv.gz:tailnum \\
      --result count --out flights_per_plane.parquet
  python -m raydex query --keys flights.csv:dep_time:f8 --ranges hours.feather:from,to \\
      --result sum --values flights.csv:distance --out -
  python -m raydex query --structure sorted_array --option layout=row \\
      --keys keys.npy --ranges ranges.npy --result rows --out rows.npz
  python -m raydex query --keys keys.npy --insert more.npy --insert-rows ids.npy \\
      --erase gone.npy --points probes.npy --result count --out counts.csv.gz

{RULES}"""

JOIN = f"""\
{_FILES}

{_KEYS} Texts are of any length where keys must be equal,
else of up to 8 bytes. A key has up to 16 columns, separated by commas; of one table the others
follow by name: file.parquet:origin,time.

Kinds, and their rows:
  inner     each pair of a probe row and a build row whose keys are equal
  left      the same, and probe rows without a match, beside no build row
  semi, anti  the probe rows with a match, or without one; no build rows
  asof      each probe row and the build row with the closest time: the last one not after
            it, with --direction forward the first one not before it, with nearest the
            closer of the two, or no build row. With --build-by and --probe-by, of those
            whose keys are equal. Of build rows of the same time, the first
  band      pairs whose keys are at most --distance apart
  contains  pairs where the probe is in the interval from --build to --build-upper
  less, less_equal, greater, greater_equal  pairs where the build key compares so with the
            probe

A distance is a number; of dates and times it has a unit: 90s, 15min, 2h, 1d, also ms, us and ns.

Rows count from 0. In .npy they are uint64, n x 2: probe row and build row; the largest
number is no build row. In tables they are the columns probe,build, and no build row is
missing. Of semi and anti, they are the probe rows alone. Rows are in the order of the
probe rows, except for inner: there the smaller table is indexed, unless --ordered or
--side say otherwise.

--columns names columns of these files, likewise: file.csv:column, and of tables columns of any
type. From CSV into CSV texts are written as they stand. Where both tables are of one file,
build:file.csv:column says which.

Examples:
  python -m raydex join --build planes.csv:tailnum --probe flights.parquet:tailnum \\
      --kind inner --out pairs.npy
  python -m raydex join --build weather.csv:origin,hour --probe flights.csv:origin,hour \\
      --kind left --columns flights.csv:tailnum,weather.csv:temp --out -
  python -m raydex join --build quotes.parquet:time --probe trades.parquet:time --kind asof \\
      --build-by quotes.parquet:symbol --probe-by trades.parquet:symbol --tolerance 5s \\
      --columns trades.parquet:time,symbol,price,quotes.parquet:bid,ask --out priced.parquet
  python -m raydex join --build spans.arrow:begin --build-upper spans.arrow:end \\
      --probe events.npy --kind contains --out pairs.csv.zst

{RULES}"""

RMQ = f"""\
{_FILES}

The array is of numbers, dates or times, and none is missing. NaN comes after all other values,
-0.0 equals 0.0. Positions are integers and count from 0, both ends are included. With
--option ties=rightmost equal values count from the right.

A range is cut to the array on both sides: of 3 values, [-4, 1] has the first two. Without
--check, a range of which nothing is left, whose lower end is greater than the upper one, or
an end of which is missing, has NaN as its value, or of integers the largest one (with max the
smallest one), and as position in .npy 2^64 - 1, in tables a missing one. The ranges of an .npy
file may be larger than memory.

Examples:
  python -m raydex rmq --values lcp.npy --ranges pairs.npy --result min --check --out lce.npy
  python -m raydex rmq --values prices.parquet:low --ranges trades.csv:buy,sell \\
      --result argmin --out lows.parquet
  python -m raydex rmq --structure rmq_scan --option ties=rightmost --values v.npy \\
      --set changed.npy --set-values new.npy --ranges r.npy --result argmin --out last.npy

{RULES}"""

STRUCTURES = """\
Points and ranges are answered by `python -m raydex query`, minima by `python -m raydex rmq`; there,
keys are the types of values, and duplicates values that are equal."""

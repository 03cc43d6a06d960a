#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `raydex.build_file` over columns that are larger than its memory, beside a prediction from the disk's speed,
NumPy's sort in memory, and DuckDB's external sort into a Parquet file within the same memory.

    lab/file_builds.py [--rows 10**8] [--memory 512MiB] [--folder /var/tmp] [--programs raydex,numpy,duckdb]

Keys are random int64, which are made chunk by chunk; the time of that is taken off. Each program runs in a process of its
own, whose peak memory is that of the system. First points are looked up in the file and compared with the keys. Prints
CSV; `disk_s` is what the bytes that raydex writes and reads take at the speed that the disk was measured at just before:
with an `fsync`, and past the page cache. So much has to be free on the disk, three times 12 bytes a row.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

CHUNK = 1 << 22
FIELDS = ["program", "rows", "memory", "seconds", "chunks_s", "disk_s", "peak_mb", "bytes", "write_mb_s", "read_mb_s"]
ENTRY = 12  # bytes of a key and its row


def chunks(rows):
    for begin in range(0, rows, CHUNK):
        yield np.random.default_rng(begin).integers(0, 2**62, min(CHUNK, rows - begin))


def disk_speeds(folder, size=1 << 30):
    """Bytes a second, written and read."""
    block = np.random.default_rng(1).bytes(1 << 24)
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(size // len(block)):
            file.write(block)
        os.fsync(file.fileno())
        written = time.perf_counter() - begin
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        begin = time.perf_counter()
        while file.read(len(block)):
            pass
        return size / written, size / (time.perf_counter() - begin)


def bytes_of_memory(text):
    from raydex import _files

    return _files._bytes_in(text)


def by_raydex(rows, memory, folder):
    import raydex

    path = os.path.join(folder, "an.index")
    with raydex.build_file(chunks(rows), path, memory=memory) as index:
        first = next(chunks(rows))[:1000]
        np.testing.assert_array_equal(index.first(first), np.arange(len(first)))  # so few of 2^62 do not repeat
    return path


def by_numpy(rows, memory, folder):
    keys = np.concatenate(list(chunks(rows)))
    order = np.argsort(keys, kind="stable").astype(np.uint32)
    path = os.path.join(folder, "sorted")
    with open(path, "wb") as file:
        keys[order].tofile(file)
        order.tofile(file)
        file.flush()
        os.fsync(file.fileno())
    return path


def by_duckdb(rows, memory, folder):
    import duckdb
    import pyarrow as pa

    field = pa.schema([("key", pa.int64()), ("row", pa.int64())])

    def batches():
        begin = 0
        for chunk in chunks(rows):
            yield pa.record_batch([chunk, np.arange(begin, begin + len(chunk))], schema=field)
            begin += len(chunk)

    path = os.path.join(folder, "sorted.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{memory}'; SET threads = {os.cpu_count()}")
        connection.execute(f"SET temp_directory = '{folder}/spill'; SET preserve_insertion_order = false")
        reader = pa.RecordBatchReader.from_batches(field, batches())
        connection.register("column_by_chunks", reader)
        connection.execute(f"COPY (FROM column_by_chunks ORDER BY key, row) TO '{path}' (COMPRESSION uncompressed)")
    return path


PROGRAMS = {"raydex": by_raydex, "numpy": by_numpy, "duckdb": by_duckdb}


def run_alone(program, rows, memory, folder):
    """What a process of its own prints: seconds, peak memory in KB, bytes of the file."""
    begin = time.perf_counter()
    path = PROGRAMS[program](rows, memory, folder)
    seconds = time.perf_counter() - begin
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, os.path.getsize(path))


def measure(program, arguments, write):
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        written, read = disk_speeds(folder)
        begin = time.perf_counter()
        for _ in chunks(arguments.rows):
            pass
        made = time.perf_counter() - begin
        command = [sys.executable, __file__, "--alone", program, "--rows", str(arguments.rows)]
        command += ["--memory", arguments.memory, "--folder", folder]
        seconds, peak, size = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    is_spilled = 2 * ENTRY * arguments.rows > bytes_of_memory(arguments.memory)
    own = ENTRY * arguments.rows
    disk = own / written + (own / written + own / read if is_spilled else 0)
    write.writerow([program, arguments.rows, arguments.memory, f"{float(seconds) - made:.4g}", f"{made:.3g}",
                    f"{disk:.4g}" if program == "raydex" else "", f"{int(peak) / 1e3:.4g}", size,
                    f"{written / 1e6:.4g}", f"{read / 1e6:.4g}"])  # fmt: skip
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--alone", choices=PROGRAMS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        return run_alone(arguments.alone, arguments.rows, arguments.memory, arguments.folder)
    write = csv.writer(sys.stdout, lineterminator="\n")
    write.writerow(FIELDS)
    for program in arguments.programs.split(","):
        measure(program, arguments, write)


if __name__ == "__main__":
    main()

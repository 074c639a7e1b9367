#!/usr/bin/env python3
"""lifting_pywt.py BENCH_LIFTING_CPU [SIZE]

Compares PyWavelets' wavedec2 (float32, mode periodization, 4 levels, one thread;
filter banks) with the forward transform of the CPU backend in 1 and 2 threads,
wavelet by wavelet in the same minute; a table in Markdown. Best of several runs
each, in elapsed time and in processor time, which depends less on other load."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import subprocess
import sys
import time

try:
    import numpy
    import pywt
except ImportError as error:
    print(f"skipped: {error} (apt-get install python3-pywt)")
    sys.exit(77)

# ours to PyWavelets' names
WAVELETS = {"haar": "haar", "db2": "db2", "9/7": "bior4.4", "db10": "db10"}
ROUNDS = 3


def time_theirs(name, size):
    """Best elapsed and processor time in milliseconds."""
    random = numpy.random.default_rng(1)
    surface = random.standard_normal((size, size), dtype=numpy.float32)
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        begin = time.perf_counter(), time.process_time()
        pywt.wavedec2(surface, name, mode="periodization", level=4)
        end = time.perf_counter(), time.process_time()
        best = [min(b, 1e3 * (e - s)) for b, s, e in zip(best, begin, end)]
    return best


def time_ours(bench, name, size):
    """By threads: best ms, its processor time, and ratio to a copy."""
    ours = {}
    for threads in (1, 2):
        lines = subprocess.run(
            [bench, f"--wavelet={name}", f"--size={size}", "--way=forward",
             f"--threads={threads}", "--rounds=25"],
            check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
        line = next(l.split() for l in lines if " forward " in l)
        ours[threads] = float(line[4]), float(line[6]), float(line[7])
    return ours


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bench, size = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    print(f"PyWavelets {pywt.__version__}, {size}x{size}, 4 levels, ms\n")
    print("| wavelet | wavedec2 | processor | 1 thread | processor | 2 threads |"
          " times a copy, 2 threads | wavedec2 / 2 threads |"
          " processor, wavedec2 / 1 thread |")
    print("|---" * 9 + "|")
    for name, theirs in WAVELETS.items():
        clock, work = time_theirs(theirs, size)
        ours = time_ours(bench, name, size)
        print(f"| {name} | {clock:.0f} | {work:.0f} | {ours[1][0]:.1f} |"
              f" {ours[1][1]:.1f} | {ours[2][0]:.1f} | {ours[2][2]:.2f} |"
              f" {clock / ours[2][0]:.0f} | {work / ours[1][1]:.0f} |",
              flush=True)
    return 0


sys.exit(main())

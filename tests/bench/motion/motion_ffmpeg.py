#!/usr/bin/env python3
"""motion_ffmpeg.py BENCH_MOTION_TABLE CLIP.y4m...

ffmpeg's mestimate (esa: exhaustive, epzs and umh: zonal and hexagon search)
compared with the CPU backend, clip by clip in the same run; a table in Markdown.

mestimate has blocks of 32 and a search parameter of 64 (-64..64, inside the
frame; ours -64..63, padded), one thread. It searches each frame in the one
before and in the one after, and of N frames gives N - 1, whose first has itself
for the one before, which costs nothing: 2 (N - 1) - 1 passes. A pass's time is
processor time minus that of the same command without the filter, which excludes
waiting on a shared machine; the CPU backend's is elapsed time, the minimum of several
rounds."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import csv
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FRAMES = {"esa": 2, "epzs": 5, "umh": 5}  # read of each clip


def spent(command):
    """Processor seconds of @command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)


def ffmpeg(clip, frames, method):
    search = (f",mestimate=method={method}:mb_size=32:search_param=64"
              if method else "")
    return ["ffmpeg", "-v", "error", "-threads", "1", "-i", clip, "-vf",
            f"trim=end_frame={frames},format=gray{search}", "-f", "null", "-"]


def time_pass(clip, method):
    """Milliseconds of a pass of mestimate over a frame."""
    frames = FRAMES[method]
    runs = 1 if method == "esa" else 3
    with_it = min(spent(ffmpeg(clip, frames, method)) for _ in range(runs))
    without = min(spent(ffmpeg(clip, frames, None)) for _ in range(3))
    return 1e3 * (with_it - without) / (2 * (frames - 1) - 1)


def time_ours(bench, clip):
    """Milliseconds a frame, by (method, threads)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ours.csv")
        subprocess.run([bench, "--no-scalar", "--frames=5", f"--csv={path}",
                        clip], check=True, stdout=subprocess.DEVNULL)
        with open(path, newline="", encoding="utf-8") as stream:
            return {(r["method"], int(r["threads"])): float(r["ms"])
                    for r in csv.DictReader(stream) if r["backend"] == "cpu"}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not shutil.which("ffmpeg"):
        print("skipped: no ffmpeg on this machine (apt-get install ffmpeg)")
        return 77
    bench, clips = sys.argv[1], sys.argv[2:]
    threads = os.cpu_count() or 1
    version = subprocess.run(["ffmpeg", "-version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.split()[2]
    print(f"ffmpeg {version}, ms a pass; ours, ms a frame\n")
    print("| clip | esa | epzs | umh | ours: every candidate, 1 thread | "
          f"pruned, 1 thread | pruned, {threads} threads | SS 15x15, 1 thread | "
          "TZS, 1 thread | esa / pruned, 1 thread | "
          f"esa / pruned, {threads} threads | "
          f"every candidate / pruned, {threads} threads |")
    print("|---" * 12 + "|")
    ratios = []
    for clip in clips:
        theirs = {method: time_pass(clip, method) for method in FRAMES}
        ours = time_ours(bench, clip)
        one, all_ = ours["pruned", 1], ours["pruned", threads]
        brute = ours["brute", threads] / all_
        ratios.append(brute)
        row = [*theirs.values(), ours["brute", 1], one, all_,
               ours["SS 15x15", 1], ours["TZS", 1]]
        print("| " + pathlib.Path(clip).stem + " | "
              + " | ".join(f"{ms:,.2f}" if ms < 100 else f"{ms:,.0f}"
                           for ms in row)
              + f" | {theirs['esa'] / one:,.0f} | {theirs['esa'] / all_:,.0f}"
              + f" | {brute:.1f} |", flush=True)
    print(f"\nevery candidate / pruned, {threads} threads each: median "
          f"{statistics.median(ratios):.1f}")
    return 0


sys.exit(main())

#!/usr/bin/env python3
"""docs.py REPOSITORY: runs every documented pipeline.

A block ```sh of README.md or docs/**/*.md whose commands start with
gst-launch-1.0 is run, each command in an empty folder of its own and within 60
seconds; it must end by itself with exit status 0. Blocks ```sh gpu are left
out without a GPU. Lines joined by a backslash are one command."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 60  # seconds
BLOCK = re.compile(r"^```sh( gpu)?[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S)


def commands(path):
    """(line number, needs a GPU, command) of each documented pipeline."""
    text = path.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(2)) + 1
        pending, first = "", line
        for offset, content in enumerate(block[2].split("\n")):
            if not pending:
                first = line + offset
            pending += content
            if content.endswith("\\"):
                pending = pending[:-1] + " "
                continue
            if pending.lstrip().startswith("gst-launch-1.0"):
                yield first, bool(block[1]), pending.strip()
            pending = ""


def have_gpu():
    try:
        return b"GPU" in subprocess.run(["nvidia-smi", "-L"], check=False,
                                        capture_output=True).stdout
    except OSError:
        return False


def run(command):
    """Nothing if it went well, else what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(["sh", "-c", command], cwd=folder, text=True,
                                  timeout=LIMIT, check=False,
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return f"did not end within {LIMIT} s"
    if done.returncode:
        return f"exit status {done.returncode}\n{done.stdout[-2000:]}"
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    gpu = have_gpu()
    ran = failed = left_out = 0
    for path in [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]:
        for line, needs_gpu, command in commands(path):
            if needs_gpu and not gpu:
                left_out += 1
                continue
            ran += 1
            problem = run(command)
            if problem:
                failed += 1
                print(f"{path.relative_to(root)}:{line}: {command}\n{problem}")
    print(f"{ran} documented pipelines ran, {failed} failed, "
          f"{left_out} left out (no GPU)")
    if ran + left_out == 0:
        print("skipped: no document has a pipeline")
        return 77
    return 1 if failed else 0


sys.exit(main())

#!/usr/bin/env python3
"""includes.py REPOSITORY: compares the includes of files with docs/design/architecture.md.

Files of cuda/ and gst/ include their own folder and those that the page's table of
folders names; cuda/ includes nothing of GStreamer's, and CUDA's headers only in .cu
and .cuh files; no files include each other in a circle."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
PAGE = "docs/design/architecture.md"
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)', re.M)
problems = []


def get_folder(file):
    """"cuda/motion" of "cuda/motion/cpu/step.c", "gst" of "gst/plugin.c"."""
    return "/".join(file.split("/")[:-1][:2])


def read_table():
    """Folder: the folders that it may include."""
    allowed = {}
    for line in (root / PAGE).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not re.match(r"`(cuda|gst)\b", cells[0]):
            continue
        for folder in re.findall(r"`([^`]+)`", cells[0]):
            allowed[folder] = {folder, *re.findall(r"`([^`]+)`", cells[2])}
    return allowed


def read_includes():
    """File: ("\\"" or "<", name) of each of its includes."""
    files = sorted(file for top in ("cuda", "gst") for pattern in ("*.c", "*.h", "*.cu", "*.cuh")
                   for file in (root / top).rglob(pattern))
    return {file.relative_to(root).as_posix(): INCLUDE.findall(file.read_text()) for file in files}


def resolve(name, file, by_name):
    """The file that is included: from the root, of the same folder, of the one
    folder that has such a file; None: none of the repository's (config.h)."""
    beside = file.rpartition("/")[0] + "/" + name
    if name in includes or beside in includes:
        return name if name in includes else beside
    same = by_name.get(name, [])
    return same[0] if len(same) == 1 else None


def find_circle(start, graph, done):
    """Depth first; the first path that comes back to itself."""
    path, on_path, stack = [start], {start}, [iter(graph[start])]
    while stack:
        following = next(stack[-1], None)
        if following is None:
            stack.pop()
            on_path.discard(path[-1])
            done.add(path.pop())
        elif following in on_path:
            return path[path.index(following):] + [following]
        elif following not in done:
            path.append(following)
            on_path.add(following)
            stack.append(iter(graph[following]))
    return None


allowed = read_table()
includes = read_includes()
by_name = {}
for file in includes:
    by_name.setdefault(file.rpartition("/")[2], []).append(file)
graph = {file: [] for file in includes}
for file, names in includes.items():
    folder = get_folder(file)
    if folder not in allowed:
        problems.append(f"{file}: {PAGE} has no folder {folder}")
        continue
    for kind, name in names:
        if kind == "<":
            if file.startswith("cuda/") and name.startswith("gst/"):
                problems.append(f"{file}: <{name}> in the compute library")
            if name.startswith("cuda") and not file.endswith((".cu", ".cuh")):
                problems.append(f"{file}: <{name}> outside .cu and .cuh files")
            continue
        found = resolve(name, file, by_name)
        if found is None:
            continue
        graph[file].append(found)
        if get_folder(found) not in allowed[folder]:
            problems.append(f"{file}: \"{name}\": {folder} may not include {get_folder(found)}")
done = set()
for file in graph:
    circle = find_circle(file, graph, done) if file not in done else None
    if circle:
        problems.append("circle: " + " -> ".join(circle))
        break

for problem in problems:
    print(problem)
print(f"{len(includes)} files in {len(allowed)} folders: {len(problems)} problems")
sys.exit(1 if problems or not includes or len(allowed) < 8 else 0)

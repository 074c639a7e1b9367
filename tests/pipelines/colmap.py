#!/usr/bin/env python3
"""colmap.py: COLMAP, where it is installed, reads the models of cudabundleadjust.

Its bundle_adjuster must start with the final cost of cudabundleadjust, to the seven
digits that it prints, which requires the same axes, camera models and tracks. Its
output, after a conversion to its binary format and back, is read as the same
reconstruction."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIP = 77
FILES = ["cameras.txt", "images.txt", "points3D.txt"]
SCENES = ["scene=street cameras=20 points=1500", "scene=city cameras=30 points=2000",
          "scene=turntable cameras=12 points=400"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120)
    if done.returncode:
        sys.exit(f"colmap.py: {' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def launch(line):
    return run("gst-launch-1.0", "-m", *line.split())


def cost(said):
    return float(re.search(r"Cost (\S+) after", said)[1])


def read_model(path, bal):
    """The cost, and cameras and points in an order that does not depend on the file."""
    said = launch(f"filesrc location={path} ! cudabundleadjust backend=cpu "
                  f"max-iterations=0 output-format=bal ! filesink location={bal}")
    numbers = [float(word) for word in bal.read_text(encoding="ascii").split()]
    cameras, points, observations = map(int, numbers[:3])
    numbers = numbers[3 + 4 * observations:]
    rows = [sorted(numbers[first + size * i:first + size * (i + 1)] for i in range(n))
            for first, size, n in ((0, 9, cameras), (9 * cameras, 3, points))]
    return cost(said), [x for kind in rows for row in kind for x in row]


def check(scene, folder):
    model, binary, again = (folder / name for name in ("model", "binary", "again"))
    for path in (model, binary, again):
        path.mkdir()
    said = launch(f"bundletestsrc {scene} seed=3 ! cudabundleadjust backend=cpu "
                  f"output-format=colmap ! filesink location={folder}/model.tar")
    ours = cost(said)
    with tarfile.open(folder / "model.tar") as archive:
        archive.extractall(model)

    said = run("colmap", "bundle_adjuster", "--input_path", str(model), "--output_path",
               str(binary), "--BundleAdjustment.max_num_iterations", "1")
    theirs = float(re.search(r"^ +0 +(\S+)", said, re.MULTILINE)[1])
    print(f"{scene}: cost {ours:.9g}, COLMAP's {theirs:.7g}")
    if abs(ours - theirs) > 1e-6 * ours:
        sys.exit(f"colmap.py: {scene}: the costs differ")

    for source, kind, target in ((model, "BIN", binary), (binary, "TXT", again)):
        run("colmap", "model_converter", "--input_path", str(source), "--output_path",
            str(target), "--output_type", kind)
    with tarfile.open(folder / "again.tar", "w") as archive:
        for name in FILES:
            archive.add(again / name, name)
    (first, before), (again_cost, after) = (
        read_model(folder / f"{name}.tar", folder / f"{name}.txt")
        for name in ("model", "again"))
    worst = max(abs(a - b) / max(abs(a), 1e-3) for a, b in zip(before, after))
    print(f"  read back: cost {again_cost:.9g}, {len(after)} parameters, greatest "
          f"relative difference {worst:.2g}")
    if (len(before) != len(after) or worst > 1e-9
            or abs(first - again_cost) > 1e-8 * first):
        sys.exit(f"colmap.py: {scene}: the model that COLMAP wrote differs")


def main():
    if not shutil.which("colmap"):
        print("colmap.py: skipped: no colmap (Debian package colmap)")
        return SKIP
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as folder:
            check(scene, pathlib.Path(folder))
    return 0


sys.exit(main())

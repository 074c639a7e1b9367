#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_colmap.py history FOLDER: cost against time and processor time of pycolmap's
bundle_adjustment of a model of COLMAP, for bundle_within.py.

bundle_colmap.py PROGRAM IMAGES POINTS CAMERAS [MODEL...]: final cost and processor time of
`cudavision bundle` and of pycolmap's bundle_adjustment with the same settings, on simulated models
(all camera models, or these; MIX: a camera of each). Costs are those that NumPy finds in the
written files. Needs pycolmap (4.2 was used) and NumPy; the times of the program contain reading and
writing, those of pycolmap do not."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import pycolmap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import colmap_models  # noqa: E402


def seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def adjust_with_program(program, source, target):
    before = seconds(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "bundle", source, target, "--json"], check=True, stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    steps = f"{found['iterations']} ({found['pcg-iterations']})"
    return seconds(resource.RUSAGE_CHILDREN) - before, steps


def adjust_with_pycolmap(source, target):
    model = pycolmap.Reconstruction(source)
    options = pycolmap.BundleAdjustmentOptions()
    options.print_summary = False
    before = seconds(resource.RUSAGE_SELF)
    pycolmap.bundle_adjustment(model, options)
    taken = seconds(resource.RUSAGE_SELF) - before
    os.makedirs(target)
    model.write_binary(target)
    return taken


def print_history(folder):
    """The processor time of an iteration is its share of the whole time, which is that of two threads."""
    model = pycolmap.Reconstruction(folder)
    options = pycolmap.BundleAdjustmentOptions()
    options.print_summary = False
    solver = options.ceres.solver_options
    solver.minimizer_progress_to_stdout = True
    solver.logging_type = type(solver.logging_type).PER_MINIMIZER_ITERATION
    out = os.dup(1)
    with tempfile.TemporaryFile("w+") as log:
        os.dup2(log.fileno(), 1)
        start, before = time.monotonic(), seconds(resource.RUSAGE_SELF)
        pycolmap.bundle_adjustment(model, options)
        share = (seconds(resource.RUSAGE_SELF) - before) / (time.monotonic() - start)
        os.dup2(out, 1)
        log.seek(0)
        rows = [line.split() for line in log if re.match(r" *[0-9]+ +[0-9.]+e", line)]
    # costs have seven digits there; the changes have more
    costs = [float(rows[0][1])]
    for row in rows[1:]:
        costs.append(costs[-1] - float(row[2]) if float(row[5]) > 1e-3 else costs[-1])
    with tempfile.TemporaryDirectory() as written:
        model.write_binary(written)
        end, _ = colmap_models.cost(written)
    for row, cost in zip(rows, costs):
        print(f"history pycolmap {row[-1]} {cost + end - costs[-1]:.15e}")
        print(f"history pycolmap-processor-time {float(row[-1]) * share:.6f} {cost + end - costs[-1]:.15e}")


def compare(program, name, sizes, folder):
    names = [model[0] for model in colmap_models.MODELS] if name == "MIX" else [name]
    source, ours, peers = (os.path.join(folder, name + end) for end in ("", "-ours", "-pycolmap"))
    images, points, cameras = sizes
    colmap_models.simulate(source, names, images, points, max(cameras, len(names)))
    own_time, steps = adjust_with_program(program, source, ours)
    peer_time = adjust_with_pycolmap(source, peers)
    (own, n), (peer, m) = colmap_models.cost(ours), colmap_models.cost(peers)
    assert n == m, (n, m)
    print(f"| {name} | {n} | {peer:.9g} | {own / peer - 1:.1e} | {steps} | {own_time:.2f} | {peer_time:.2f} "
          f"| {peer_time / own_time:.1f} |", flush=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "history":
        print_history(sys.argv[2])
        return
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    pycolmap.logging.minloglevel = 2
    names = sys.argv[5:] or [model[0] for model in colmap_models.MODELS] + ["MIX"]
    print("| model | observations | cost, pycolmap | cost of cudavision, relative | iterations (conjugate "
          "gradients) | cudavision, CPU s | pycolmap, CPU s | ratio |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            compare(sys.argv[1], name, [int(word) for word in sys.argv[2:5]], folder)


if __name__ == "__main__":
    main()

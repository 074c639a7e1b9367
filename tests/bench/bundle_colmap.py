#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_colmap.py PROGRAM IMAGES POINTS CAMERAS [MODEL...]: final cost and processor time of
`cudavision bundle` and of pycolmap's bundle_adjustment with the same settings, on simulated models
(all camera models, or these; MIX: a camera of each). Costs are those that NumPy finds in the
written files. Needs pycolmap (4.2 was used) and NumPy; the times of the program contain reading and
writing, those of pycolmap do not."""
import json
import os
import resource
import subprocess
import sys
import tempfile

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

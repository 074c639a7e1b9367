#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_colmap.py history FOLDER [SECONDS [IMAGES]]: cost against time and processor time of
pycolmap's bundle_adjustment of a model of COLMAP, for bundle_within.py. SECONDS: wall time after which
it stops; IMAGES: models of more images take conjugate gradients (1000).

bundle_colmap.py within BENCH IMAGES POINTS ROUNDS [SECONDS [MODEL...]]: processor time of `BENCH
--history` (bench_bundle_lenses) and of pycolmap on simulated models, until the cost is within 1e-6 of
the lowest that either reaches, and until a step changes it by less than 1e-6. Minimum of ROUNDS in
turn, two threads each. MODEL:N: N cameras, one without.

bundle_colmap.py PROGRAM IMAGES POINTS CAMERAS [MODEL...]: final cost and processor time of
`cudavision bundle` and of pycolmap's bundle_adjustment with the same settings, on simulated models
(all camera models, or these; MIX: a camera of each). Costs are those that NumPy finds in the
written files. Needs pycolmap (4.2 was used) and NumPy; the times of the program contain reading and
writing, those of pycolmap do not.

bundle_colmap.py PROGRAM rigs: the same on simulated rigs of several sensors, with and without
refine_sensor_from_rig. Without, pycolmap's default gauge holds a length that the sensors determine
already; the last row of a model is its cost with a free gauge."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import pycolmap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import bundle_within  # noqa: E402
import colmap_models  # noqa: E402

ALL = [model[0] for model in colmap_models.MODELS]


def seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def adjust_with_program(program, source, target, *options):
    before = seconds(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "bundle", source, target, "--json", *options], check=True, stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    steps = f"{found['iterations']} ({found['pcg-iterations']})"
    return seconds(resource.RUSAGE_CHILDREN) - before, steps


def adjust_with_pycolmap(source, target, refine_sensors=True, free=False):
    model = pycolmap.Reconstruction(source)
    options = pycolmap.BundleAdjustmentOptions()
    options.print_summary = False
    options.refine_sensor_from_rig = refine_sensors
    before = seconds(resource.RUSAGE_SELF)
    if free:
        config = pycolmap.BundleAdjustmentConfig()
        for i in model.reg_image_ids():
            config.add_image(i)
        pycolmap.create_default_bundle_adjuster(options, config, model).solve()
    else:
        pycolmap.bundle_adjustment(model, options)
    taken = seconds(resource.RUSAGE_SELF) - before
    os.makedirs(target)
    model.write_binary(target)
    return taken


def print_history(folder, limit=1e9, most_direct=1000):
    """The processor time of an iteration is its share of the whole time, which is that of two threads."""
    model = pycolmap.Reconstruction(folder)
    options = pycolmap.BundleAdjustmentOptions()
    options.print_summary = False
    options.ceres.max_num_images_direct_sparse_cpu_solver = int(most_direct)
    solver = options.ceres.solver_options
    solver.max_solver_time_in_seconds = limit
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


def simulate(folder, name, images, points, cameras):
    names = ALL if name == "MIX" else [name]
    colmap_models.simulate(folder, names, images, points, max(cameras, len(names)))


def compare(program, name, sizes, folder):
    source, ours, peers = (os.path.join(folder, name + end) for end in ("", "-ours", "-pycolmap"))
    simulate(source, name, *sizes)
    own_time, steps = adjust_with_program(program, source, ours)
    peer_time = adjust_with_pycolmap(source, peers)
    (own, n), (peer, m) = colmap_models.cost(ours), colmap_models.cost(peers)
    assert n == m, (n, m)
    print(f"| {name} | {n} | {peer:.9g} | {own / peer - 1:.1e} | {steps} | {own_time:.2f} | {peer_time:.2f} "
          f"| {peer_time / own_time:.1f} |", flush=True)


def find_small_change(history):
    """Seconds until Ceres with function_tolerance 1e-6 would stop; None: never"""
    costs = zip(history, history[1:])
    return next((seconds for (_, before), (seconds, cost) in costs if 0 < before - cost <= 1e-6 * before), None)


def measure_within(bench, name, images, points, rounds, limit, folder):
    source = os.path.join(folder, name)
    model, _, cameras = name.partition(":")
    simulate(source, model, images, points, int(cameras or 1))
    own_times, peer_times, own_stops, peer_stops = [], [], [], []
    for _ in range(rounds):
        own = run_lines([bench, "--threads", "2", "--runs", "1", "--history", source])
        peer = run_lines([sys.executable, os.path.abspath(__file__), "history", source, str(limit)])
        found = bundle_within.read_histories(own + peer)
        own_costs, peer_costs = found["CPU-processor-time"], found["pycolmap-processor-time"]
        own_end, peer_end = (min(cost for _, cost in costs) for costs in (own_costs, peer_costs))
        lowest = min(own_end, peer_end)
        own_times.append(bundle_within.find_reached(own_costs, lowest))
        peer_times.append(bundle_within.find_reached(peer_costs, lowest))
        own_stops.append(find_small_change(own_costs))
        peer_stops.append(find_small_change(peer_costs))
    end = peer_costs[-1][0]
    n = next(int(re.search(r"(\d+) observations", line)[1]) for line in own if "observations" in line)
    cells = [compare_times(own_times, peer_times, end), compare_times(own_stops, peer_stops, end)]
    print(f"| {name} | {images:,} | {n:,} | {own_end / peer_end - 1:.1e} | {' | '.join(cells)} |", flush=True)


def run_lines(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def compare_times(own, peer, end):
    """Minimum of each and their ratio; @end: when the peer stopped without"""
    if None in own:
        return f"no | {min(peer):.2f} | "
    more = "" if all(peer) else "> "
    last = min(peer) if all(peer) else end
    return f"{min(own):.2f} | {more}{last:.2f} | {more}{last / min(own):.1f}"


def compare_rigs(program, sensors, frames, points, folder):
    source = os.path.join(folder, f"{sensors}-{frames}")
    colmap_models.simulate_rig(source, sensors, frames, points)
    for refine, free in ((True, False), (False, False), (False, True)):
        ours, peers = (f"{source}-{refine}-{free}-{name}" for name in ("ours", "pycolmap"))
        own_time, steps = adjust_with_program(
            program, source, ours, "--BundleAdjustment.refine_sensor_from_rig", str(int(refine)))
        peer_time = adjust_with_pycolmap(source, peers, refine, free)
        (own, n), (peer, m) = colmap_models.cost(ours), colmap_models.cost(peers)
        assert n == m and colmap_models.largest_disagreement(ours) < 1e-11, (n, m)
        print(f"| {sensors} | {frames} | {n} | {'yes' if refine else 'no'} | {'free' if free else 'two frames'} "
              f"| {peer:.9g} | {own / peer - 1:.1e} | {steps} | {own_time:.2f} | {peer_time:.2f} |", flush=True)


def main():
    if sys.argv[2:] == ["rigs"]:
        pycolmap.logging.minloglevel = 2
        print("| sensors | frames | observations | sensors refined | pycolmap's gauge | cost, pycolmap | relative | steps / "
              "PCG iterations | cudavision, CPU s | pycolmap, CPU s |\n|---|---|---|---|---|---|---|---|---|---|")
        with tempfile.TemporaryDirectory() as folder:
            for sensors, frames, points in ((2, 15, 2000), (3, 50, 6000), (6, 50, 3000)):
                compare_rigs(sys.argv[1], sensors, frames, points, folder)
        return
    if 2 < len(sys.argv) < 6 and sys.argv[1] == "history":
        print_history(sys.argv[2], *(float(word) for word in sys.argv[3:]))
        return
    if len(sys.argv) > 5 and sys.argv[1] == "within":
        limit = float(sys.argv[6]) if len(sys.argv) > 6 else 1e9
        print("| model | images | observations | cost of cudavision, relative | cudavision, within, s | pycolmap, within, s "
              "| ratio | cudavision, 1e-6, s | pycolmap, 1e-6, s | ratio |\n" + "|---" * 10 + "|")
        for name in sys.argv[7:] or [*ALL, "MIX"]:
            with tempfile.TemporaryDirectory() as folder:
                measure_within(sys.argv[2], name, *(int(word) for word in sys.argv[3:6]), limit, folder)
        return
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    pycolmap.logging.minloglevel = 2
    names = sys.argv[5:] or [*ALL, "MIX"]
    print("| model | observations | cost, pycolmap | cost of cudavision, relative | iterations (conjugate "
          "gradients) | cudavision, CPU s | pycolmap, CPU s | ratio |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            compare(sys.argv[1], name, [int(word) for word in sys.argv[2:5]], folder)


if __name__ == "__main__":
    main()

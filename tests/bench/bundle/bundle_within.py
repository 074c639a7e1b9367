#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_within.py FILE...: when each solver reaches the lowest cost that any of them reaches, within
1e-6. The files contain the output of `bench_bundle_lenses --history` and `bench_bundle_ceres` for one
problem (rows "history SOLVER seconds cost")."""
import fileinput


def read_histories(lines):
    """Pairs (seconds, cost) by solver"""
    solvers = {}
    for line in lines:
        if line.startswith("history "):
            *name, seconds, cost = line.split()[1:]
            solvers.setdefault(" ".join(name), []).append((float(seconds), float(cost)))
    return solvers


def find_reached(history, lowest):
    """Seconds until within 1e-6 of the cost @lowest; None: never"""
    return next((seconds for seconds, cost in history if cost <= lowest * (1 + 1e-6)), None)


def main():
    solvers = read_histories(fileinput.input(encoding="utf-8"))
    lowest = min(cost for history in solvers.values() for _, cost in history)
    print(f"lowest cost {lowest:.9e}")
    for name, history in solvers.items():
        reached = find_reached(history, lowest)
        print(f"{name}: {reached:.4f} s" if reached is not None else f"{name}: not in {history[-1][0]:.1f} s")


if __name__ == "__main__":
    main()

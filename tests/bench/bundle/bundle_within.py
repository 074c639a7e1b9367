#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_within.py FILE...: when each solver reaches the lowest cost that any of them reaches, within
1e-6. The files contain the output of `bench_bundle_lenses --history` and `bench_bundle_ceres` for one
problem (rows "history SOLVER seconds cost")."""
import fileinput


def main():
    solvers = {}
    for line in fileinput.input(encoding="utf-8"):
        if line.startswith("history "):
            *name, seconds, cost = line.split()[1:]
            solvers.setdefault(" ".join(name), []).append((float(seconds), float(cost)))
    lowest = min(cost for history in solvers.values() for _, cost in history)
    print(f"lowest cost {lowest:.9e}")
    for name, history in solvers.items():
        reached = [seconds for seconds, cost in history if cost <= lowest * (1 + 1e-6)]
        print(f"{name}: {reached[0]:.4f} s" if reached else f"{name}: not in {history[-1][0]:.1f} s")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""fuzzy.py TRAIN-BALANCER FUZZY-DUMP TABLE NETWORK

Compares a fuzzy neural network in C with the one in Python: the abilities for random
and extreme inputs, with the weights of the C file TABLE. Checks back propagation
against central differences. NETWORK: ability or older. 77: no NumPy."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib.machinery
import importlib.util
import itertools
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy for this Python (package python3-numpy)")
    sys.exit(77)

sys.dont_write_bytecode = True


def load(path):
    loader = importlib.machinery.SourceFileLoader("train_balancer", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("train_balancer", loader))
    loader.exec_module(module)
    return module


def make_inputs(n_inputs):
    random = np.random.RandomState(7)
    corners = list(itertools.product((0.0, 1.0), repeat=n_inputs))
    outside = [[value] * n_inputs
               for value in (-1e300, -1.0, 1.5, 1e300, np.inf, -np.inf, np.nan, 1e-300)]
    return np.array(corners + outside + list(random.uniform(0, 1, (2000, n_inputs))))


def compare(train, dump, table, name):
    network = train.read_table(table)
    x = make_inputs(len(train.INPUTS))
    text = "\n".join(" ".join(f"{value!r}" for value in row) for row in x.tolist())
    run = subprocess.run([dump, name], input=text, capture_output=True, text=True, check=True)
    found = np.array(run.stdout.split(), float)
    assert found.shape == (len(x),), f"{len(found)} of {len(x)} results"
    assert np.all((found >= train.CP_MIN) & (found <= 1)), "an ability is out of range"
    return np.abs(found / network.evaluate(np.clip(x, -1e6, 1e6)) - 1).max(), len(x)


def main():
    script, dump, table, name = sys.argv[1:]
    train = load(script)
    difference, n = compare(train, dump, table, name)
    print(f"{name}: {n} inputs, C and Python differ by at most {difference:.1e} of the ability")
    structure = train.OLDER if name == "older" else train.ABILITY
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        train.simulate(file.name, 3, 30)
        samples = train.make_samples(structure, [train.read_runs(file.name)[0]], 60, 3)
    worst = max(train.check_gradient(structure, samples, seed) for seed in range(5))
    print(f"{name}: back propagation differs from central differences by at most {worst:.1e}")
    return int(not (difference < 1e-11 and worst < 1e-5))


sys.exit(main())

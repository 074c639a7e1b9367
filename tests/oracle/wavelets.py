#!/usr/bin/env python3
"""Compares coefficients of all wavelets with PyWavelets: filters, one and two
dimensions, one to six levels, periodic or mirrored edges, doubles and floats; and
its filter banks given as text. Also compares with independent lifting steps:
$CUDAVISION_TEST_DATA/lifting/lwt_lifting.json.

wavelets.py LIFTING-DUMP [--backend reference|cpu]
            [--only filters|coefficients|mirrored|banks|steps]
exit status 77: skipped, there is no PyWavelets, or no such file"""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np

try:
    import pywt
except ImportError:
    print("skipped: no PyWavelets for this Python (package python3-pywt)")
    sys.exit(77)

NAMES = (["haar"] + [f"db{n}" for n in range(1, 21)]
         + [f"sym{n}" for n in range(2, 21)] + [f"coif{n}" for n in range(1, 6)]
         + [kind + name for kind in ("bior", "rbio") for name in (
             "1.1 1.3 1.5 2.2 2.4 2.6 2.8 3.1 3.3 3.5 3.7 3.9 4.4 5.5 6.8"
             .split())])
# Our name: PyWavelets' name
ALSO = {"5/3": "bior2.2", "9/7": "bior4.4"}
# Filters that are symmetric around a sample
MIRRORED = [kind + name for kind in ("bior", "rbio") for name in (
    "2.2 2.4 2.6 2.8 4.4 5.5 6.8".split())]
TOLERANCE = {"f64": 1e-9, "f32": 1e-5}

# Small bands that wrap around are intended.
warnings.filterwarnings("ignore", message="Level value of")

backend = "reference"
failures = 0


def run(program, *arguments, pictures=b""):
    return subprocess.run([program, *arguments], input=pictures,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def bands(program, wavelet, picture, levels, boundary="periodic", kind="f64"):
    """Levels along x, along y."""
    height, width = picture.shape
    r = run(program, f"wavelet={wavelet}", f"width={width}", f"height={height}",
            f"levels-x={levels[0]}", f"levels-y={levels[1]}",
            f"boundary={boundary}", f"type={kind}", f"backend={backend}",
            pictures=picture.tobytes())
    if r.returncode:
        raise RuntimeError(r.stderr.decode())
    return np.frombuffer(r.stdout).reshape(picture.shape)


def compare(what, ours, theirs, tolerance):
    """Relative to the largest coefficient"""
    global failures
    off = abs(ours - theirs).max() / abs(theirs).max()
    if not off <= tolerance:
        failures += 1
        print(f"{what}: off by {off:.2e}, more than {tolerance:.0e}")
    return off


def mallat(low, details):
    """One picture of a low band and, of the coarsest level first, {ad, da, dd}
    ("a": low, along y, then x)."""
    for detail in details:
        low = np.block([[low, detail["ad"]], [detail["da"], detail["dd"]]])
    return low


# --- edges --------------------------------------------------------------------


def periodic(picture, wavelet):
    return pywt.dwtn(picture, wavelet, "periodization")


def mirrored_line(line, wavelet):
    """PyWavelets mirrors at samples with mode `reflect`, but at another position;
    so the line is mirrored here, and the matching slice is used."""
    n, length = len(line), wavelet.dec_len
    pad = 2 * length + (1 + length // 2) % 2
    wide = line if n == 1 else np.pad(line, pad, mode="reflect")
    low, high = pywt.dwt(wide, wavelet, "zero")
    # entry k is that of x[2k + 1 - j]; ours that of x[2k + length/2 - j]
    start = (pad + length // 2 - 1) // 2
    return low[start:start + (n + 1) // 2], high[start:start + n // 2]


def mirrored(picture, wavelet):
    rows = [mirrored_line(row, wavelet) for row in picture]
    bands = {}
    for i, x in enumerate("ad"):
        columns = np.array([row[i] for row in rows]).T
        split = [mirrored_line(column, wavelet) for column in columns]
        for j, y in enumerate("ad"):
            bands[y + x] = np.array([column[j] for column in split]).T
    return bands


def decompose(picture, wavelet, levels, split):
    details = []
    for _ in range(levels):
        parts = split(picture, wavelet)
        picture = parts.pop("aa")
        details.insert(0, parts)
    return mallat(picture, details)


# --- tests --------------------------------------------------------------------


def test_filters(program):
    """All taps, from the response to single samples. PyWavelets' tables have 12
    digits or more, except for symlets from the 17th on and short ones."""
    size = 64
    for name in NAMES:
        ours = bands(program, name, np.eye(size), (1, 0))
        theirs = np.hstack(pywt.dwt(np.eye(size), name, "periodization"))
        tolerance = 2e-11 if name.startswith("sym") else 2e-12
        compare(f"filters of {name}", ours, theirs, tolerance)


def test_coefficients(program):
    rng = np.random.default_rng(1)
    picture = rng.standard_normal((128, 192))
    line = rng.standard_normal(1024)
    for name in NAMES + list(ALSO):
        wavelet = pywt.Wavelet(ALSO.get(name, name))
        for kind, tolerance in TOLERANCE.items():
            for levels in range(1, 7):
                ours = bands(program, name, picture, (levels, levels), kind=kind)
                theirs = decompose(picture, wavelet, levels, periodic)
                compare(f"{name}, {levels} levels, {kind}", ours, theirs,
                        tolerance)
            ours = bands(program, name, line[None], (6, 0), kind=kind)
            theirs = np.concatenate(
                pywt.wavedec(line, wavelet, "periodization", 6))
            compare(f"{name}, a line, {kind}", ours[0], theirs, tolerance)


def test_mirrored(program):
    rng = np.random.default_rng(2)
    for name in MIRRORED + list(ALSO):
        wavelet = pywt.Wavelet(ALSO.get(name, name))
        for shape in (37, 53), (64, 48), (7, 130), (2, 3):
            picture = rng.standard_normal(shape)
            for kind, tolerance in TOLERANCE.items():
                for levels in range(1, 4 if min(shape) > 7 else 2):
                    ours = bands(program, name, picture, (levels, levels),
                                 "symmetric", kind)
                    theirs = decompose(picture, wavelet, levels, mirrored)
                    compare(f"{name} mirrored, {shape}, {levels} levels, {kind}",
                            ours, theirs, tolerance)
    # the documentation's statement about 9/7
    line = rng.standard_normal(101)
    low, high = pywt.dwt(line, "bior4.4", "reflect")
    ours = bands(program, "9/7", line[None], (1, 0), "symmetric")[0]
    compare("9/7, low of reflect", ours[:51], low[2:53], 5e-12)
    compare("9/7, high of reflect", ours[51:], high[2:52], 5e-12)


def bank_text(wavelet):
    parts = zip(("LO", "HI", "RLO", "RHI"), wavelet.filter_bank)
    return "bank: " + "; ".join(
        name + " " + " ".join(repr(float(tap)) for tap in taps)
        for name, taps in parts)


def test_banks(program):
    global failures
    rng = np.random.default_rng(3)
    picture = rng.standard_normal((64, 96))
    for name in NAMES:
        wavelet = pywt.Wavelet(name)
        ours = bands(program, bank_text(wavelet), picture, (3, 3))
        theirs = decompose(picture, wavelet, 3, periodic)
        compare(f"bank of {name}", ours, theirs, 1e-8)
    r = run(program, "wavelet=" + bank_text(pywt.Wavelet("dmey")))
    if r.returncode != 1 or b"do not reconstruct" not in r.stderr:
        failures += 1
        print("the bank of dmey is not refused:", r.stderr.decode())


def lift(x, wavelet):
    """Low and high band of lines, each repeated: steps in order, then scales."""
    low, high = x[:, 0::2].copy(), x[:, 1::2].copy()
    for step in wavelet["steps"]:
        predict = step["op"] == "predict"
        changed, other = (high, low) if predict else (low, high)
        for i, weight in enumerate(step["c"], step["first"]):
            changed += weight * np.roll(other, -i, axis=1)
    return (np.roll(low * wavelet["Ks"], -wavelet["shift_s"], axis=1),
            np.roll(high * wavelet["Kd"], -wavelet["shift_d"], axis=1))


def test_steps(program):
    """Other factorisations of the same filters give the same coefficients, to the
    precision of the tables that they come from."""
    path = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "")) / "lifting"
    path = path.resolve() / "lwt_lifting.json"
    if not path.exists():
        print(f"skipped: {path} is missing")
        sys.exit(77)
    x = np.random.default_rng(4).standard_normal((5, 64))
    wavelets = json.loads(path.read_text())
    assert set(wavelets) >= set(NAMES) - {"db1"}, sorted(wavelets)
    for name, wavelet in wavelets.items():
        ours = bands(program, name, x, (1, 0))
        compare(f"steps of {name}", ours, np.hstack(lift(x, wavelet)), 1e-9)


TESTS = {"filters": test_filters, "coefficients": test_coefficients,
         "mirrored": test_mirrored, "banks": test_banks, "steps": test_steps}


def main():
    global backend
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--only", choices=TESTS, action="append")
    arguments = parser.parse_args()
    backend = arguments.backend
    for name in arguments.only or TESTS:
        TESTS[name](arguments.program)
    print(f"PyWavelets {pywt.__version__}: {failures} differences")
    return failures > 0


sys.exit(main())

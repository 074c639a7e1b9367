#!/usr/bin/env python3
"""Compares the filters of surfaces with their formulas in NumPy: Gaussian of order
0 and 2, robust Gaussian, spline and undecimated wavelet, with and without missing
points; their transmission of sines; results with any number of threads.

filters.py FILTER-DUMP [--only formulas|missing|smooth|repeat|transmission] [--whole]
           [--plot FILE.csv]
--whole: transmission at all cut-offs, in float32 and float64
--plot: writes the measured transmission of all filters, rows of docs/images/plots.csv"""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import datetime
import subprocess
import sys

import numpy as np

ALPHA = np.sqrt(np.log(2) / np.pi)
TUKEY = 4.4478
ITERATIONS = 10
LEAST = 0.25
# Relative to the peak-to-valley height. Gaussian: truncation and coarse samples
TOLERANCE = {("gaussian", "f32"): 1e-6, ("gaussian", "f64"): 5e-7,
             ("order 2", "f32"): 5e-5, ("order 2", "f64"): 5e-5,
             ("robust-gaussian", "f32"): 2e-5, ("robust-gaussian", "f64"): 2e-6,
             ("spline", "f32"): 1e-6, ("spline", "f64"): 1e-7,
             ("wavelet", "f32"): 1e-6, ("wavelet", "f64"): 1e-9}
failures = 0


def smooth(program, z, filter, cutoff, kind="f32", **options):
    """The waviness of z; cutoff: samples along x, along y."""
    stack = z if z.ndim == 3 else z[None]
    r = subprocess.run(
        [program, f"filter={filter}", f"width={stack.shape[2]}",
         f"height={stack.shape[1]}", f"cutoff-x={cutoff[0]}",
         f"cutoff-y={cutoff[1]}", f"type={kind}"]
        + [f"{key}={value}" for key, value in options.items()],
        input=np.ascontiguousarray(stack, float).tobytes(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode:
        sys.exit(f"{filter} {options}: status {r.returncode}, {r.stderr.decode()}")
    return np.frombuffer(r.stdout).reshape(z.shape)


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)


# --- the formulas, as matrices of a line ---------------------------------------

def gaussian_weights(n, cutoff):
    d = np.subtract.outer(np.arange(n), np.arange(n))
    return np.exp(-np.pi * (d / (ALPHA * cutoff)) ** 2), d


def gaussian_line(n, cutoff, there, order):
    """Row i: the weights of all points for the value at i."""
    w, d = gaussian_weights(n, cutoff)
    m = w * there
    if order == 0:
        return m / m.sum(1, keepdims=True)
    far = np.arange(-8 * n - 8 * int(cutoff), 8 * n + 8 * int(cutoff) + 1)
    full = np.exp(-np.pi * (far / (ALPHA * cutoff)) ** 2)
    variance = (full * far ** 2).sum() / full.sum()
    unit = ALPHA * cutoff / np.sqrt(2 * np.pi)
    u = -d / unit
    result = np.zeros((n, n))
    for i in np.nonzero(there)[0]:
        powers = np.stack([np.ones(n), u[i], u[i] ** 2])
        moments = (powers * m[i]) @ powers.T
        scale = moments[0, 0]
        few = moments[1, 1] / scale - (moments[0, 1] / scale) ** 2 < 1e-3
        if few or np.linalg.det(moments / scale) < 1e-4:
            result[i] = m[i] / m[i].sum()  # too few points for a parabola
            continue
        b = np.linalg.solve(moments, [1, 0, variance / unit ** 2])
        result[i] = m[i] * (b @ powers)
    return result


def wavelet_taps(name):
    """Products of the low-pass filters of a level, at distances -7.. of 9/7."""
    if name == "haar":
        return np.array([0.25, 0.5, 0.25])
    analysis = np.array([0.026748757410810, -0.016864118442875, -0.078223266528990,
                         0.266864118442875, 0.602949018236360])
    synthesis = np.array([-0.045635881557124, -0.028771763114250, 0.295635881557124,
                          0.557543526228500])
    taps = np.convolve(np.r_[analysis, analysis[-2::-1]],
                       np.r_[synthesis, synthesis[-2::-1]])
    return taps / taps.sum()


def wavelet_response(taps, level, w):
    k = np.arange(len(taps)) - len(taps) // 2
    return (taps * np.cos(2.0 ** level * k * w)).sum()


def wavelet_line(n, cutoff, name="9/7"):
    """Row i: the weights of all points for the value at i. A line is mirrored at its
    first and last sample."""
    taps, w = wavelet_taps(name), 2 * np.pi / cutoff
    result, response, level = np.eye(n), 1.0, 0
    period = 2 * n - 2
    while response > 0.5 and n > 1:
        own = wavelet_response(taps, level, w)
        blend = (0.5 / response - own) / (1 - own)
        response *= own
        m = np.zeros((n, n))
        for k, tap in enumerate(taps):
            at = (np.arange(n) + (k - len(taps) // 2) * 2 ** level) % period
            np.add.at(m, (np.arange(n), np.minimum(at, period - at)), tap)
        before, result, level = result, m @ result, level + 1
    return result if level == 0 else blend * before + (1 - blend) * result


def spline_line(n, cutoff, there, tension=0.0):
    square = 1 / (2 * np.sin(np.pi / cutoff)) ** 2
    d1 = np.diff(np.eye(n), axis=0)
    d2 = np.diff(np.eye(n), 2, axis=0)
    a = np.diag(there * 1.0) + tension * square * d1.T @ d1 \
        + (1 - tension) * square ** 2 * d2.T @ d2
    if there.sum() < 3:
        return np.diag(there * 1.0)
    return np.linalg.solve(a, np.diag(there * 1.0))


def by_lines(z, there, line):
    """Filters rows, then columns, of the points that are there."""
    x = np.where(there, z, 0)
    matrices = {}

    def apply(values, axis, mask):
        if len(values) == 1:
            return values
        key = axis, mask.tobytes()
        if key not in matrices:
            matrices[key] = line(len(values), axis, mask)
        return matrices[key] @ values

    rows = np.stack([apply(x[y], 0, there[y]) for y in range(z.shape[0])])
    rows = np.where(there, rows, 0)
    return np.stack([apply(rows[:, i], 1, there[:, i])
                     for i in range(z.shape[1])], axis=1)


def gaussian(z, weights, cutoff):
    wx, wy = (gaussian_weights(n, c)[0] for n, c in zip(z.shape[::-1], cutoff))
    return (wy @ (weights * z) @ wx) / (wy @ weights @ wx)


def cascade(z, there, cutoff, name):
    """Samples and weights go the same way, then they are divided. Weights that add up
    to less than LEAST are filled up with the point's own."""
    wx, wy = (wavelet_line(n, c, name) for n, c in zip(z.shape[::-1], cutoff))
    weights = wy @ (there * 1.0) @ wx.T
    own = np.maximum(LEAST - weights, 0)
    return (wy @ z @ wx.T + own * z) / (weights + own)


def robust(z, there, cutoff):
    x = np.where(there, z, 0)
    s = gaussian(x, there * 1.0, cutoff)
    for _ in range(ITERATIONS):
        r = abs(x - s)
        limit = TUKEY * np.sort(r[there])[(there.sum() - 1) // 2]
        s = gaussian(x, np.where(r < limit, (1 - (r / limit) ** 2) ** 2, 0) * there,
                     cutoff)
    return s


def formula(z, filter, cutoff, order=0, tension=0.0, wavelet="9/7"):
    there = np.isfinite(z)
    if filter == "robust-gaussian":
        return robust(z, there, cutoff)
    if filter == "gaussian" and order == 0:
        return gaussian(np.where(there, z, 0), there * 1.0, cutoff)
    if filter == "gaussian":
        return by_lines(z, there, lambda n, axis, t: gaussian_line(
            n, cutoff[axis], t, 2))
    if filter == "spline":
        return by_lines(z, there, lambda n, axis, t: spline_line(
            n, cutoff[axis], t, tension))
    return cascade(np.where(there, z, 0), there, cutoff, wavelet)


# --- checks --------------------------------------------------------------------

def make_surface(rng, height, width):
    y, x = np.mgrid[:height, :width]
    z = rng.normal(size=(height, width)) * 0.3
    return z + np.sin(x / 9) + np.cos(y / 14) + 0.01 * x - 0.02 * y


CASES = [("gaussian", {}), ("gaussian", {"order": 2}), ("robust-gaussian", {}),
         ("spline", {}), ("spline", {"tension": 0.6}), ("wavelet", {}),
         ("wavelet", {"wavelet": "haar"})]


def compare(program, z, cutoff):
    for filter, options in CASES:
        expected = formula(z, filter, cutoff, **options)
        there = np.isfinite(z)
        for kind in ("f32", "f64"):
            found = smooth(program, z, filter, cutoff, kind, **options)
            if (np.isfinite(found) != there).any():
                fail(f"{filter} {options} {kind}: other points are missing")
                continue
            error = abs(found - expected)[there].max() / np.ptp(z[there])
            name = "order 2" if "order" in options else filter
            tolerance = TOLERANCE[name, kind] * (1 if there.all() else 10)
            if not error <= tolerance:
                fail(f"{filter} {options} {kind} {z.shape} cut-off {cutoff}: "
                     f"{error:.2g} of the height, at most {tolerance:g}")


def check_formulas(program, whole):
    rng = np.random.default_rng(1)
    for height, width, cutoff in ((37, 53, (4, 6.5)), (150, 201, (60, 31.7)),
                                  (260, 330, (300, 130)), (1, 400, (80, 80)),
                                  (90, 1, (20, 20)), (64, 64, (2, 64)),
                                  (5, 3, (2.5, 4))):
        compare(program, make_surface(rng, height, width), cutoff)


def check_missing(program, whole):
    rng = np.random.default_rng(2)
    z = make_surface(rng, 130, 161)
    z[rng.random(z.shape) < 0.1] = np.nan
    z[:50, :60] = np.nan
    compare(program, z, (24, 31.7))
    compare(program, z, (80, 110))
    # a constant, and with order 2 a plane, pass as they are
    y, x = np.mgrid[:130, :161]
    for name, surface, options in (("constant", 3.0 + 0 * x, {}),
                                   ("plane", 1 + 0.02 * x - 0.03 * y,
                                    {"order": 2})):
        surface = np.where(np.isfinite(z), surface, np.nan)
        for filter in ("gaussian", "spline", "wavelet", "robust-gaussian"):
            if options and filter != "gaussian":
                continue
            s = smooth(program, surface, filter, (24, 31.7), "f64", **options)
            error = np.nanmax(abs(s - surface))
            if not error < 1e-9:
                fail(f"{filter} {options}: a {name} changes by {error:.2g}")


def check_smooth(program, whole):
    """What filters leave of a surface of long waves: the waviness has no steps, and
    without a tenth of the points it is nearly the same."""
    y, x = np.mgrid[:300, :400]
    z = np.sin(x / 48 + 0.4) * np.cos(y / 54) + 0.002 * x
    gone = np.random.default_rng(5).random(z.shape) < 0.1
    holes = np.where(gone, np.nan, z)
    for filter in ("gaussian", "wavelet"):
        for cutoff in (25, 80, 250):
            s = smooth(program, z, filter, (cutoff, cutoff), "f64")
            for axis in (0, 1):
                step = abs(np.diff(s, 2, axis=axis)).max() / np.ptp(z)
                if not step < 0.002:
                    fail(f"{filter} {cutoff}: steps of {step:.2g} of the height")
            error = np.nanmax(abs(s - smooth(program, holes, filter,
                                             (cutoff, cutoff), "f64"))) / np.ptp(z)
            if not error < 0.01:
                fail(f"{filter} {cutoff}: without a tenth of the points the "
                     f"waviness changes by {error:.2g} of the height")


def check_repeat(program, whole):
    z = make_surface(np.random.default_rng(3), 333, 517)
    holes = np.where(np.random.default_rng(4).random(z.shape) < 0.1, np.nan, z)
    for surface in (z, holes):
        for filter, options in CASES:
            one, three = (smooth(program, surface, filter, (90, 47.3), threads=n,
                                 **options).tobytes() for n in (1, 3))
            if one != three:
                fail(f"{filter} {options}: other bits with three threads")


# --- transmission --------------------------------------------------------------

PHASES = 8


def measure(program, filter, cutoff, wavelengths, side=512, kind="f32",
            wave="x", **options):
    """Amplitudes of sines of these wavelengths, all phases, after the filter, by a
    fit to the points at least two cut-offs from the edge."""
    y, x = np.mgrid[:side, :side]
    along = x if wave == "x" else y if wave == "y" else (x + y) / np.sqrt(2)
    result = []
    edge = int(np.ceil(2 * cutoff))
    inside = slice(edge, side - edge)
    for wavelength in wavelengths:
        w = 2 * np.pi / wavelength
        phases = 2 * np.pi * np.arange(PHASES) / PHASES
        z = np.stack([np.sin(w * along + phase) for phase in phases])
        s = smooth(program, z, filter, (cutoff, cutoff), kind, **options)
        model = np.stack([f(w * along[inside, inside]).ravel()
                          for f in (np.sin, np.cos)] + [np.ones(
                              along[inside, inside].size)], axis=1)
        fits = np.linalg.lstsq(
            model, s[:, inside, inside].reshape(PHASES, -1).T, rcond=None)[0]
        result.append([fits[0, k] * np.cos(phase) + fits[1, k] * np.sin(phase)
                       for k, phase in enumerate(phases)])
    return np.array(result)


def response(filter, cutoff, wavelength, tension=0.0, wavelet="9/7"):
    """The response of the sampled filter along a line."""
    w = 2 * np.pi / wavelength
    if filter == "gaussian":
        k = np.arange(-int(6 * cutoff), int(6 * cutoff) + 1)
        g = np.exp(-np.pi * (k / (ALPHA * cutoff)) ** 2)
        return (g * np.cos(w * k)).sum() / g.sum()
    if filter == "spline":
        s = (np.sin(w / 2) / np.sin(np.pi / cutoff)) ** 2
        return 1 / (1 + tension * s + (1 - tension) * s ** 2)
    taps, at, level = wavelet_taps(wavelet), 2 * np.pi / cutoff, 0
    cut, own = 1.0, 1.0
    while cut > 0.5:
        p = wavelet_response(taps, level, at)
        blend = (0.5 / cut - p) / (1 - p)
        before, cut = own, cut * p
        own, level = own * wavelet_response(taps, level, w), level + 1
    return blend * before + (1 - blend) * own


LINEAR = [("gaussian", {}), ("gaussian", {"order": 2}), ("spline", {}),
          ("spline", {"tension": 0.6}), ("wavelet", {}),
          ("wavelet", {"wavelet": "haar"})]


def check_transmission(program, whole):
    side = 512
    cutoffs = (4, 5.3, 9.5, 16, 22.6, 40, 64) if whole else (4, 9.5, 64)
    kinds = ("f32", "f64") if whole else ("f32",)
    ratios = np.geomspace(0.5, 4, 20) if whole else (0.7, 1.4)
    for filter, options in LINEAR:
        shape = {k: v for k, v in options.items() if k != "order"}
        worst = {"at the cut-off": 0.0, "elsewhere": 0.0, "diagonal": 0.0}
        for cutoff in cutoffs:
            for kind in kinds:
                for wave in ("x", "y"):
                    t = measure(program, filter, cutoff, [cutoff], side, kind,
                                wave, **options)
                    worst["at the cut-off"] = max(worst["at the cut-off"],
                                                  abs(t - 0.5).max())
                waves = [r * cutoff for r in ratios if r * cutoff > 2]
                t = measure(program, filter, cutoff, waves, side, kind, **options)
                expected = np.array([response(filter, cutoff, l, **shape)
                                     for l in waves])
                worst["elsewhere"] = max(worst["elsewhere"],
                                         abs(t - expected[:, None]).max())
                t = measure(program, filter, cutoff, [cutoff], side, kind, "xy",
                            **options)
                expected = response(filter, cutoff, cutoff * np.sqrt(2),
                                    **shape) ** 2
                worst["diagonal"] = max(worst["diagonal"],
                                        abs(t - expected).max())
        print(f"{filter} {options or ''}: " + ", ".join(
            f"{name} {error:.4f}" for name, error in worst.items()))
        for name, error in worst.items():
            if not error <= 0.005:
                fail(f"{filter} {options}: transmission {name} is off by "
                     f"{error:.4f}")
    t = measure(program, "robust-gaussian", 16, [16], side)
    print(f"robust-gaussian: {t.min():.3f} to {t.max():.3f} at the cut-off")
    if not (0.46 < t.min() and t.max() < 0.5):
        fail("robust-gaussian: transmission at the cut-off")


def write_plot(program, name):
    ratios = np.geomspace(0.25, 8, 41)
    with open(name, "w") as file:
        for filter, options in LINEAR[:1] + LINEAR[2:5] + [("robust-gaussian", {})]:
            label = filter + "".join(f" {k} {v}" for k, v in options.items())
            t = measure(program, filter, 16, 16 * ratios, 512, **options)
            for ratio, row in zip(ratios, t):
                print(f"transmission,{label},{ratio:.4f},{row.mean():.5f},"
                      f"{datetime.date.today()}",
                      file=file)


CHECKS = {"formulas": check_formulas, "missing": check_missing,
          "smooth": check_smooth, "repeat": check_repeat,
          "transmission": check_transmission}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", choices=list(CHECKS))
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    if arguments.plot:
        write_plot(arguments.program, arguments.plot)
        return
    for name in [arguments.only] if arguments.only else CHECKS:
        CHECKS[name](arguments.program, arguments.whole)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

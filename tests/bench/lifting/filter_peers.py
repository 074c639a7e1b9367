#!/usr/bin/env python3
"""filter_peers.py FILTER-DUMP [FILE...]

Compares filter=gaussian with SciPy, surfalize and Gwyddion's library: waviness of
real files (those that surfalize reads; without files of a simulated surface) at least
a cut-off from the edge, and Sa of the roughness of all points; then the time for
4096x4096 float32, cut-off 256 samples. Tables in Markdown. FILTER-DUMP is
tests/oracle/filter-dump of a build. Exit status 77: skipped, SciPy is not installed.

All subtract their best plane first. SciPy with weights (renormalised, truncate=6) is
the definition of order 0; SciPy and surfalize as they come mirror the surface at its
edges and end the weights at four standard deviations; surfalize rounds the cut-off to
whole points and does not take missing points; Gwyddion takes a standard deviation and
extends the edge."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import ctypes
import ctypes.util
import subprocess
import sys
import time

try:
    import numpy as np
    from scipy import ndimage
except ImportError as error:
    print(f"skipped: {error} (pip install numpy scipy surfalize)")
    sys.exit(77)

try:
    from surfalize import Surface
except ImportError:
    Surface = None


def deviation(cutoff):
    return cutoff * np.sqrt(np.log(2) / 2) / np.pi


def ours(program, z, cutoff, *more):
    r = subprocess.run(
        [program, "filter=gaussian", f"width={z.shape[1]}", f"height={z.shape[0]}",
         f"cutoff-x={cutoff[0]}", f"cutoff-y={cutoff[1]}", *more],
        input=np.ascontiguousarray(z, float).tobytes(), stdout=subprocess.PIPE,
        check=True)
    return float(r.stdout) if more else np.frombuffer(r.stdout).reshape(z.shape)


def both_axes(z, cutoff, **options):
    for axis in (1, 0):
        z = ndimage.gaussian_filter1d(z, deviation(cutoff[1 - axis]), axis=axis,
                                      **options)
    return z


def scipy_weighted(z, cutoff):
    there = np.isfinite(z)
    options = {"mode": "constant", "truncate": 6}
    return (both_axes(np.where(there, z, 0), cutoff, **options)
            / both_axes(there * 1.0, cutoff, **options))


def scipy_plain(z, cutoff):
    return both_axes(z, cutoff, mode="reflect")


def surfalize_filter(z, cutoff):
    surface = Surface(z, 1.0, 1.0)
    return surface.filter("lowpass", cutoff[0]).data


def load_gwyddion():
    name = ctypes.util.find_library("gwyprocess2")
    if name is None:
        return None
    # its libraries do not name each other
    ctypes.CDLL(ctypes.util.find_library("gwyddion2"), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(name)
    library.gwy_data_field_new.restype = ctypes.c_void_p
    library.gwy_data_field_new.argtypes = [ctypes.c_int, ctypes.c_int,
                                           ctypes.c_double, ctypes.c_double,
                                           ctypes.c_int]
    library.gwy_data_field_get_data.restype = ctypes.POINTER(ctypes.c_double)
    library.gwy_data_field_get_data.argtypes = [ctypes.c_void_p]
    library.gwy_data_field_filter_gaussian.argtypes = [ctypes.c_void_p,
                                                       ctypes.c_double]
    library.gwy_process_type_init()
    return library


def gwyddion_filter(library, z, cutoff):
    height, width = z.shape
    field = library.gwy_data_field_new(width, height, width, height, 0)
    data = np.ctypeslib.as_array(library.gwy_data_field_get_data(field),
                                 (height, width))
    data[:] = z
    library.gwy_data_field_filter_gaussian(field, deviation(cutoff[0]))
    return data.copy()


def peers():
    result = {"SciPy, weighted": scipy_weighted, "SciPy": scipy_plain}
    if Surface is not None:
        result["surfalize"] = surfalize_filter
    gwyddion = load_gwyddion()
    if gwyddion is not None:
        result["Gwyddion"] = lambda z, c: gwyddion_filter(gwyddion, z, c)
    return result


def simulate():
    y, x = np.mgrid[:700, :900]
    noise = np.random.default_rng(1).normal(size=x.shape)
    return "simulated", (np.sin(x / 30) + np.cos(y / 47) + 0.2 * noise), (1.0, 1.0)


def load(name):
    surface = Surface.load(name)
    return name.rsplit("/", 1)[-1], surface.data, (surface.step_x, surface.step_y)


def level(z):
    y, x = np.indices(z.shape)
    there = np.isfinite(z)
    a = np.stack([np.ones(there.sum()), x[there], y[there]], 1)
    p = np.linalg.lstsq(a, z[there], rcond=None)[0]
    return z - p[0] - p[1] * x - p[2] * y


def sa(z):
    z = z[np.isfinite(z)]
    return abs(z - z.mean()).mean()


def compare(program, name, z, spacing):
    z = level(z)
    points = round(min(z.shape) / 8)  # whole points: surfalize rounds
    cutoff = (points, points * spacing[0] / spacing[1])
    mine, there = ours(program, z, cutoff), np.isfinite(z)
    inside = np.zeros(z.shape, bool)
    x, y = int(np.ceil(cutoff[0])), int(np.ceil(cutoff[1]))
    inside[y:-y, x:-x] = True
    for peer, smooth in peers().items():
        square = abs(cutoff[0] - cutoff[1]) < 1e-9
        if not there.all() and peer != "SciPy, weighted" \
                or not square and peer in ("surfalize", "Gwyddion"):
            print(f"| {name} | {peer} | not supported | {sa(z - mine):.6g} | |")
            continue
        other = smooth(z, cutoff)
        error = abs(mine - other)[inside & there].max() / np.ptp(z[there])
        print(f"| {name} | {peer} | {error:.1e} | {sa(z - mine):.6g} | "
              f"{sa((z - other)[there]):.6g} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    surfaces = [simulate()]
    if Surface is not None:
        for name in arguments.files:
            try:
                surfaces.append(load(name))
            except Exception as error:  # any of its readers' errors
                print(f"surfalize does not read {name}: {error}\n")
    print("| surface | peer | largest difference inside, of the height | Sa here |"
          " Sa there |\n|---|---|---|---|---|")
    for surface in surfaces:
        compare(arguments.program, *surface)
    z = np.random.default_rng(0).normal(size=(4096, 4096))
    mine = ours(arguments.program, z, (256, 256), "repeat=5")
    print("\n| 4096x4096, cut-off 256 samples | time, s | times ours |\n|---|---|---|")
    print(f"| filter=gaussian | {mine:.3f} | 1 |")
    narrow = z.astype(np.float32)
    timed = {"SciPy gaussian_filter1d, truncate=6": lambda: both_axes(
        narrow, (256, 256), truncate=6), **{
            name: lambda smooth=smooth: smooth(narrow, (256, 256))
            for name, smooth in peers().items() if name in ("surfalize", "Gwyddion")}}
    for name, run in timed.items():
        start = time.monotonic()
        run()
        seconds = time.monotonic() - start
        print(f"| {name} | {seconds:.2f} | {seconds / mine:.0f} |")


main()

#!/usr/bin/env python3
"""surfaces.py [--backend cpu|cuda]: compares measured surfaces in whole pipelines
with PyWavelets and NumPy.

Files of $CUDAVISION_TEST_DATA/lifting go through surfacesrc, cudalwtfilter and
surfacesink; the output is compared with low-only synthesis by PyWavelets in FP64, and areal parameters with the formulas of ISO 25178-2 in NumPy. Skipped
(77) without the files or the modules, and with backend=cuda without a GPU."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import pywt
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PARTS = ["roughness", "waviness", "form"]


def launch(line, folder):
    """Runs a pipeline and returns its output."""
    result = subprocess.run(["gst-launch-1.0", "-m", *line.split()],
                            cwd=folder, capture_output=True, text=True,
                            check=False, timeout=100)
    if "No CUDA device" in result.stdout + result.stderr:
        print("skipped: no usable CUDA device")
        sys.exit(77)
    assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
    return result.stdout


def split(source, options, folder, backend):
    """Roughness, waviness and form of a file, and what the pipeline said."""
    said = launch(
        f"surfacesrc location={source} num-buffers=1 ! cudalwtfilter "
        f"backend={backend} parameters=true message-interval=1 name=f {options} "
        "f.src ! queue ! surfacesink location=roughness.npy "
        "f.src_waviness ! queue ! surfacesink location=waviness.npy "
        "f.src_form ! queue ! surfacesink location=form.npy", folder)
    return [np.load(folder / f"{part}.npy") for part in PARTS], said


def low_only(z, wavelet, levels):
    """z without its details, in FP64."""
    bands = pywt.wavedec2(z, wavelet, mode="periodization", level=levels)
    zeros = [tuple(np.zeros_like(d) for d in level) for level in bands[1:]]
    return pywt.waverec2([bands[0]] + zeros, wavelet, mode="periodization")


def read_al3d(path):
    """Heights in metres, NaN where invalid, of an Alicona file."""
    data = path.read_bytes()
    tags = {}
    at = 17
    while True:
        key = data[at:at + 20].split(b"\0")[0].decode("latin-1")
        value = data[at + 20:at + 50].split(b"\0")[0].decode("latin-1").strip()
        if not key:
            break
        tags[key] = value
        at += 52
        if at > 52 * 100:
            break
    rows, columns = int(tags["Rows"]), int(tags["Cols"])
    start = int(tags["DepthImageOffset"])
    row_bytes = (columns * 4 + 7) // 8 * 8
    z = np.stack([np.frombuffer(data, "<f4", columns, start + y * row_bytes)
                  for y in range(rows)]).astype(np.float64)
    invalid = np.float32(float(tags["InvalidPixelValue"]))
    z[~np.isfinite(z) | (z.astype(np.float32) == invalid)] = np.nan
    return z


def crop(z, multiple):
    return z[:z.shape[0] // multiple * multiple,
             :z.shape[1] // multiple * multiple]


def check_offset(data, folder, backend):
    """Heights at an offset of 76 mm lose no precision."""
    z = crop(read_al3d(data / "al3d-1.al3d"), 16)
    middle = np.nanmean(z)
    assert abs(middle) > 0.07, middle
    z = np.where(np.isfinite(z), z, middle)
    # digits beyond the instrument's own float32
    z += np.random.default_rng(1).normal(0, 2e-7, z.shape)
    np.save(folder / "z.npy", z)
    for wavelet, name in [("9/7", "bior4.4"), ("db4", "db4"), ("haar", "haar")]:
        got, _ = split("z.npy", f"filter=wavelet-decimated wavelet={wavelet} "
                       "boundary=periodic levels=4 roughness-levels=2 dx=1e-6", folder, backend)
        fine, coarse = low_only(z, name, 2), low_only(z, name, 4)
        want = [z - fine, fine - coarse, coarse]
        naive = z.astype(np.float32)
        naive = np.abs(naive - low_only(naive, name, 2) - want[0]).max()
        errors = [np.abs(g - w).max() for g, w in zip(got, want)]
        print(f"offset {middle * 1e3:.1f} mm, {wavelet}: roughness "
              f"{want[0].std() * 1e9:.0f} nm, errors of R, W, F "
              + ", ".join(f"{e * 1e9:.3f}" for e in errors)
              + f" nm; without care {naive * 1e9:.1f} nm")
        span = z.max() - z.min()
        assert max(errors) < 4e-6 * span, errors
        assert errors[0] * 20 < naive, (errors[0], naive)


def check_masks(data, folder, backend):
    """A tenth of the points is missing, before and after the filter."""
    launch(f"surfacesrc location={data}/sample-land.x3p num-buffers=1 ! "
           "surfacesink location=land.npy", folder)
    z = np.load(folder / "land.npy")
    share = np.isnan(z).mean()
    print(f"bullet land: {share:.1%} of {z.shape[1]} x {z.shape[0]} missing")
    assert 0.05 < share < 0.15, share
    for f_operation in ["none", "plane", "poly2"]:
        parts, _ = split(f"{data}/sample-land.x3p",
                         f"lambda-c=80e-6 lambda-f=640e-6 f-operation={f_operation}",
                         folder, backend)
        for part in parts:
            assert (np.isnan(part) == np.isnan(z)).all()
        # each component written by surfacesink contains the offset: two too many
        total = sum(p.astype(np.float64) for p in parts)
        gap = total - z
        spread = np.nanmax(gap) - np.nanmin(gap)
        assert spread < 1e-6 * (np.nanmax(z) - np.nanmin(z)), spread


def parameters(z, dx, dy):
    """Areal parameters of ISO 25178-2 of heights with NaN."""
    h = z - np.nanmean(z)
    sq = np.sqrt(np.nanmean(h ** 2))
    gx, gy = np.diff(z, axis=1) / dx, np.diff(z, axis=0) / dy
    # triangles of both diagonals: an edge along x and one along y each; a cell
    # with a missing corner does not count
    g = np.array([x ** 2 + y ** 2 for x in (gx[:-1], gx[1:])
                  for y in (gy[:, :-1], gy[:, 1:])])
    g[:, np.isnan(g).any(axis=0)] = np.nan
    return {"sa": np.nanmean(np.abs(h)), "sq": sq, "sp": np.nanmax(h),
            "sv": -np.nanmin(h), "sz": np.nanmax(h) - np.nanmin(h),
            "ssk": np.nanmean(h ** 3) / sq ** 3,
            "sku": np.nanmean(h ** 4) / sq ** 4,
            "sdr": np.nanmean(np.sqrt(1 + g) - 1), "sdq": np.sqrt(np.nanmean(g))}


def check_parameters(data, folder, backend):
    """Parameters of a turned surface with unequal spacings, and of a land with a mask."""
    for name, dx, dy in [("x3p-2.x3p", 0.128e-6, 0.315e-6),
                         ("sample-land.x3p", 2.58e-6, 2.58e-6)]:
        parts, said = split(f"{data}/{name}",
                            "roughness-levels=3 levels=5 f-operation=plane",
                            folder, backend)
        seen = 0
        for message in re.findall(r"cudalwtfilter-parameters, (.*?);", said):
            fields = dict(re.findall(r"([a-z-]+)=\([a-z0-9]+\)([^,;]+)", message))
            part = fields["output"].strip('"')
            want = parameters(parts[PARTS.index(part)].astype(np.float64), dx, dy)
            for key, value in want.items():
                # the spacing is the file's, known here to three digits
                tolerance = 1e-2 if key in ("sdr", "sdq") else 1e-5
                got = float(fields[key])
                assert abs(got - value) <= tolerance * abs(value) + 1e-15, (
                    name, part, key, got, value)
            seen += 1
            print(f"{name}: {part} Sa {want['sa'] * 1e9:.1f} nm, "
                  f"Sq {want['sq'] * 1e9:.1f} nm")
        assert seen == 3, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="cpu")
    backend = parser.parse_args().backend
    data = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "")) / "lifting"
    data = data.resolve()
    if not (data / "x3p-2.x3p").exists():
        print(f"skipped: no surfaces in {data}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_offset(data, folder, backend)
        check_masks(data, folder, backend)
        check_parameters(data, folder, backend)


main()

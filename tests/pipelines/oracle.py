#!/usr/bin/env python3
"""Compares cudapbfmonitor in whole pipelines with the NumPy oracle: simulated frames
of every regime or, with --genuine, a camera's frames, if the test data is available.
A second, independent oracle is used too if it is next to that data
(../oracle/meltpool_ref.py).

oracle.py [--backend cpu|cuda] [--frames N | --genuine]
exit status 77: skipped"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "oracle"))
import pbf_oracle  # noqa: E402

DATA = os.environ.get("CUDAVISION_TEST_DATA", "")
sys.path.insert(0, os.path.join(DATA, "..", "oracle"))
try:
    import meltpool_ref
except ImportError:
    meltpool_ref = None

# PbfResult of cuda/records/pbfrecord.h
RECORD = np.dtype([
    ("magic", "<u4"), ("size", "<u2"), ("version", "<u2"),
    ("timestamp_ns", "<u8"), ("frame_index", "<u8"), ("frame_counter", "<u4"),
    ("flags", "<u4"), ("layer", "<u4"), ("vector_id", "<u4"),
    ("x_um", "<i4"), ("y_um", "<i4"), ("roi_x", "<i4"), ("roi_y", "<i4"),
    ("e_x_q8", "<i4"), ("e_y_q8", "<i4"), ("raw", "<i4", 20),
    ("var_num", "<i8", 20), ("features", "<f4", 40), ("window_n", "<u4"),
    ("n_outputs", "<u4"), ("outputs", "<f4", 8), ("rest", "V392")])
assert RECORD.itemsize == 896
EMPTY = 1
WINDOW = 20

# Tolerances of the features: integers are equal; the mean is rounded to 1/256,
# ratio and HOG to 1/65536 (HOG from gradient lengths rounded to 1/65536 each).
TOLERANCE = np.zeros(20)
TOLERANCE[3] = 0.51 / 65536
TOLERANCE[4] = 0.501 / 256
TOLERANCE[11:] = 1.0 / 65536


def launch(line, cwd):
    r = subprocess.run(["gst-launch-1.0", "-q"] + line.split(), cwd=cwd,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=240)
    if "No CUDA device" in r.stdout:
        print(r.stdout)
        print("skipped: no usable CUDA device")
        sys.exit(77)
    if r.returncode != 0:
        sys.exit(f"{line}\nexit status {r.returncode}\n{r.stdout}")


def compare(name, frames, records, side, brightest):
    """Compares every frame's record with the oracle's features of the same bytes;
    with @brightest also the expected position."""
    if len(records) != len(frames):
        sys.exit(f"{name}: {len(frames)} frames, {len(records)} records")
    valid = [i for i in range(len(frames)) if not records["flags"][i] & EMPTY]
    rows = np.zeros((len(valid), 20))
    worst = np.zeros(20)
    for k, i in enumerate(valid):
        r = records[i]
        here = (r["e_x_q8"] / 256.0, r["e_y_q8"] / 256.0)
        if brightest and here != pbf_oracle.brightest(frames[i]):
            sys.exit(f"{name}: frame {i}: the brightest spot is at {here}, the "
                     f"oracle's at {pbf_oracle.brightest(frames[i])}")
        rows[k], corner = pbf_oracle.spatial(frames[i], *here, side=side)
        off = np.abs(rows[k] - r["features"][:20].astype(float))
        if meltpool_ref and side == 40:
            second = meltpool_ref.features(frames[i], *here)
            off = np.maximum(
                off, np.abs(second - r["features"][:20].astype(float)))
        worst = np.maximum(worst, off)
        if (off > TOLERANCE).any() or corner != (r["roi_x"], r["roi_y"]):
            f = int(np.argmax(off - TOLERANCE))
            sys.exit(f"{name}: frame {i}: feature {f} is "
                     f"{r['features'][f]}, the oracle says {rows[k][f]}; ROI "
                     f"at {r['roi_x']}, {r['roi_y']}, the oracle's {corner}")
    # the window's arithmetic on the stored features
    kept = records["features"][valid][:, :20].astype(float)
    expected = pbf_oracle.variances(kept, WINDOW)
    got = records["features"][valid][:, 20:].astype(float)
    if not np.allclose(got, expected, rtol=1e-6, atol=1e-9):
        k, f = np.argwhere(~np.isclose(got, expected, rtol=1e-6, atol=1e-9))[0]
        sys.exit(f"{name}: frame {valid[k]}: variance {f} is {got[k, f]}, the "
                 f"oracle says {expected[k, f]}")
    pools = int((kept[:, 0] > 0).sum())
    subpixel = len(set((int(r["e_x_q8"]) & 255) for r in records[valid]))
    print(f"{name}: {len(frames)} frames, {len(valid)} valid, {pools} with a "
          f"pool, {int(kept[:, 2].sum())} spatters, {subpixel} sub-pixel "
          f"positions in x; ratio off by at most {worst[3]:.1e}, mean "
          f"{worst[4]:.1e}, HOG {worst[11:].max():.1e}", flush=True)
    if pools == 0:
        sys.exit(f"{name}: no pool in any frame proves nothing")
    return kept


def run(name, source, monitor, where, frame=96, side=40, brightest=False):
    launch(f"{source} ! tee name=t ! queue ! filesink location=frames.raw "
           f"async=false t. ! queue ! cudapbfmonitor name=m "
           f"roi-size={side} {monitor} ! "
           f"fakesink async=false m.src_result ! "
           f"filesink location=records.bin async=false", where)
    frames = np.fromfile(os.path.join(where, "frames.raw"), np.uint8)
    records = np.fromfile(os.path.join(where, "records.bin"), RECORD)
    return compare(name, frames.reshape(-1, frame, frame), records, side,
                   brightest)


def simulated(backend, frames, where):
    for regime in ("nominal", "keyhole", "lack-of-fusion", "spatter", "drift",
                   "mixed"):
        run(regime,
            f"pbftestsrc num-buffers={frames} seed=7 regime={regime} "
            f"frames-per-list=64",
            f"backend={backend} batch-size=256", where)
    run("region of 64",
        f"pbftestsrc num-buffers={max(frames // 16, 20)} seed=7 regime=spatter",
        f"backend={backend}", where, side=64)


def genuine(backend, where):
    pictures = sorted(glob.glob(os.path.join(DATA, "meltpool", "*.png")))
    if not pictures:
        print("skipped: no genuine frames, no meltpool/*.png in "
              f"CUDAVISION_TEST_DATA ({DATA or 'not set'})")
        sys.exit(77)
    for path in pictures:
        for frame, side in (96, 40), (512, 128):
            kept = run(f"{os.path.basename(path)} of {frame}x{frame}",
                       f"multifilesrc location={path} num-buffers=3 "
                       f"caps=image/png,framerate=10/1 ! pngdec ! "
                       f"videoconvert ! videoscale ! "
                       f"video/x-raw,format=GRAY8,width={frame},height={frame}",
                       f"backend={backend} position-source=brightest", where,
                       frame, side, brightest=True)
            if "spatters" in path and kept[0][2] == 0:
                sys.exit(f"{path}: no spatter found")
            # a saturated spatter of 190 pixels comes first in raster order
            if frame == 512 and kept[0][0] < 1000:
                sys.exit(f"{path}: a spatter was taken for the pool")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--backend", default="cpu")
    ap.add_argument("--frames", type=int, default=2000)
    ap.add_argument("--genuine", action="store_true")
    a = ap.parse_args()
    with tempfile.TemporaryDirectory() as where:
        if a.genuine:
            genuine(a.backend, where)
        else:
            simulated(a.backend, a.frames, where)
        print("second oracle:", "asked" if meltpool_ref else "not there")


main()

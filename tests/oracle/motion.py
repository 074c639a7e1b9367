#!/usr/bin/env python3
"""Compares the motion search with the NumPy oracle, and subpixel motion with real
frames that were moved by a known field.

motion.py MOTION-DUMP [--backend reference|cpu] [--rounds N] [--seed N] [--truth]
exit status 77: skipped (--truth without the test data)"""
import argparse
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
import motion_oracle  # noqa: E402

SUMMARY = np.dtype([
    ("residue", "<u8"), ("zero_residue", "<u8"), ("intra", "<u8"),
    ("sse", "<u8"), ("static_blocks", "<u4"), ("intra_blocks", "<u4"),
    ("histogram", "<u4", 12), ("psnr", "<f8"), ("scene_score", "<f8"),
    ("global_x", "<f8"), ("global_y", "<f8"), ("global_zoom", "<f8"),
    ("global_rotation", "<f8"), ("global_share", "<f8")])
VECTOR = np.dtype([("x", "<i2"), ("y", "<i2"), ("cost", "<u4")])
BLOCK = np.dtype([(n, "<u4") for n in (
    "sad", "zero_sad", "second", "intra", "sse", "flags")])
assert SUMMARY.itemsize == 144


SCENE_CUT = 4


class Field:
    pass


class Fields(list):
    """The fields of a frame, and its flags."""


def dump(program, backend, pictures, **settings):
    """For each frame (fields, prediction, residual)."""
    height, width = pictures[0].shape
    depth = settings.get("depth", 8)
    kind = "<u2" if depth > 8 else "u1"
    size = settings.get("block_size", 32)
    rows, columns = -(-height // size), -(-width // size)
    planes = settings.get("planes", 0)
    arguments = [f"{k.replace('_', '-')}={int(v)}" for k, v in
                 dict(settings, width=width, height=height).items()]
    r = subprocess.run(
        [program, f"backend={backend}"] + arguments, check=True,
        input=b"".join(p.astype(kind).tobytes() for p in pictures),
        stdout=subprocess.PIPE)
    at = 0

    def take(dtype, *shape):
        nonlocal at
        n = int(np.prod(shape, dtype=int))
        a = np.frombuffer(r.stdout, dtype, n, at).reshape(shape)
        at += a.nbytes
        return a

    frames = []
    for _ in pictures:
        n_fields, flags = take("<u4", 2)
        fields = Fields()
        fields.flags = flags
        for _ in range(n_fields):
            f = Field()
            f.distance = int(take("<i4", 2)[0])
            f.summary = take(SUMMARY, 1)[0]
            f.vectors = take(VECTOR, rows, columns)
            f.blocks = take(BLOCK, rows, columns)
            fields.append(f)
        unit = 64 if depth > 8 else 1
        frames.append((fields,) + tuple(
            take(kind, height, width) // unit for _ in range(2 * planes)))
    assert at == len(r.stdout)
    return frames


# --- the oracle ---------------------------------------------------------------

def random_settings(random, number):
    r = random.integers
    s = dict(method=number % 4, granularity=int(r(4)), block_size=8 << int(r(3)),
             range=int(r(1, 14)), window=int(r(2)), border=int(r(2)),
             tie=int(r(2)), subpel=int(r(3)), depth=int(8 + 2 * r(2)),
             references=int(1 + r(2)), bidirectional=int(r(2)))
    s["lambda"] = int(r(3) * r(40))
    return s


def random_pictures(random, width, height, depth, n):
    """Rough, smooth, constant and moving frames."""
    most = (1 << depth) - 1
    base = random.integers(0, most + 1, (height + 40, width + 40)).astype(float)
    for _ in range(int(random.integers(4))):
        base = (base + np.roll(base, 1, 0) + np.roll(base, 1, 1)
                + np.roll(base, (1, 1), (0, 1))) / 4
    out = []
    x = y = 20
    for _ in range(n):
        kind = random.integers(8)
        if kind == 0:
            p = np.full((height, width), random.integers(0, most + 1))
        elif kind == 1 and out:
            p = out[-1]
        elif kind == 2:
            p = (np.indices((height, width)).sum(0)
                 // int(random.integers(1, 6)) % 2 * most)
        else:
            x = int(np.clip(x + random.integers(-6, 7), 0, 40))
            y = int(np.clip(y + random.integers(-6, 7), 0, 40))
            p = base[y:y + height, x:x + width]
            p = p + random.integers(-3, 4, p.shape) * (kind < 5)
        out.append(np.clip(np.round(p), 0, most).astype(int))
    return out


def compare(where, got, want, members, form=""):
    if got.shape != want.shape:
        sys.exit(f"{where}: {got.shape}, the oracle has {want.shape}")
    if np.array_equal(got, want):
        return
    at = tuple(np.argwhere(got != want)[0])
    name = members[at[-1]] if len(at) == 3 else members[0]
    sys.exit(f"{where}: {name} at (row, column) {at[:2]} is {got[at]}, the "
             f"oracle says {want[at]}{form}")


def plain(records):
    return np.stack([records[n].astype(np.int64)
                     for n in records.dtype.names], -1)


def against_oracle(program, backend, rounds, seed):
    random = np.random.default_rng(seed)
    blocks = 0
    for number in range(rounds):
        s = random_settings(random, number)
        width, height = (int(random.integers(1, 50)) for _ in range(2))
        pictures = random_pictures(random, width, height, s["depth"], 4)
        want = motion_oracle.stream(
            motion_oracle.Config(width, height, **s), pictures)
        got = dump(program, backend, pictures, planes=1, **s)
        told = f"; seed {seed}, round {number}, {width}x{height}, {s}"
        for n in range(len(pictures)):
            where = f"frame {n}"
            distances = [f.distance for f in got[n][0]]
            if distances != [f[0] for f in want[n][0]]:
                sys.exit(f"{where}: fields {distances}{told}")
            for f, (distance, vectors, figures) in zip(got[n][0], want[n][0]):
                name = f"{where}, distance {distance}"
                compare(name, plain(f.vectors), vectors, VECTOR.names, told)
                compare(name, plain(f.blocks), figures, BLOCK.names, told)
                blocks += vectors.shape[0] * vectors.shape[1]
            for k, name in enumerate(("prediction", "residual")):
                compare(where, got[n][1 + k].astype(int), want[n][1 + k],
                        [name], told)
    print(f"{backend}: {rounds} rounds, {blocks} blocks equal the oracle's")


# --- genuine frames moved by a known field -----------------------------------------

def read_y4m(path, n):
    """Luma of the first frames of a 4:2:0 clip of 8 bits."""
    with open(path, "rb") as f:
        header = f.readline().split()
        width, height = (int(next(t[1:] for t in header if t[:1] == k))
                         for k in (b"W", b"H"))
        out = []
        for _ in range(n):
            f.readline()
            data = f.read(width * height * 3 // 2)
            out.append(np.frombuffer(data, np.uint8, width * height)
                       .reshape(height, width))
    return out


def resample(picture, xs, ys):
    """Values at the points (xs, ys), by a Lanczos window of eight samples: not
    the filter that the search uses."""
    h, w = picture.shape
    x0, y0 = np.floor(xs).astype(int), np.floor(ys).astype(int)
    out = np.zeros(xs.shape)
    weight = np.zeros(xs.shape)

    def kernel(t):
        return np.sinc(t) * np.sinc(t / 4)

    for j in range(-3, 5):
        wy = kernel(ys - (y0 + j))
        row = np.clip(y0 + j, 0, h - 1)
        for i in range(-3, 5):
            k = wy * kernel(xs - (x0 + i))
            out += k * picture[row, np.clip(x0 + i, 0, w - 1)]
            weight += k
    return np.clip(np.round(out / weight), 0, 255).astype(int)


# name, zoom, rotation (radians), x, y (pixels at the frame's centre)
FIELDS = [
    ("quarters to the right", 1, 0, 3.25, 0),
    ("three quarters up", 1, 0, 0, -5.75),
    ("a half and a quarter", 1, 0, -2.5, 1.25),
    ("far", 1, 0, 21.75, -13.5),
    ("zoom in", 1 / 1.02, 0, 0, 0),
    ("zoom out and pan", 1.015, 0, 4.5, 2),
    ("rotation", 1, 0.01, 0, 0),
    ("all of it", 0.99, -0.008, 2.75, -1.5),
]
# A block counts that has texture (mean deviation of at least so many levels)
# and whose vector does not lead out of the frame.
LEVELS = 8
# Tolerance at their centre, in pixels each way: for uniform motion, and for motion
# that differs from pixel to pixel; half of them must be nearer.
MOVED = 0.25
BENT = 0.375
NEARER = 0.13
# Minimum share of blocks within it; the zonal search starts without prior vectors.
SHARE = {motion_oracle.FULL: 0.99, motion_oracle.ZONAL: 0.55}


def truth(program, backend, where):
    path = os.path.join(where, "motion", "park_joy_480x270.y4m")
    if not os.path.exists(path):
        print("skipped: no motion/park_joy_480x270.y4m in "
              f"CUDAVISION_TEST_DATA ({where or 'not set'})")
        sys.exit(77)
    failed = False
    for number, field in enumerate(FIELDS):
        picture = read_y4m(path, 10)[number]
        for method in (motion_oracle.FULL, motion_oracle.ZONAL):
            failed |= not truth_of(program, backend, picture, method, *field)
    sys.exit(failed)


def truth_of(program, backend, picture, method, name, zoom, angle, tx, ty):
    h, w = picture.shape
    size = 16

    def displacement(x, y):
        c, s = zoom * np.cos(angle), zoom * np.sin(angle)
        return (c - 1) * x - s * y + tx, s * x + (c - 1) * y + ty

    ys, xs = np.indices((h, w)).astype(float)
    # centre of a pixel relative to the frame's centre
    dx, dy = displacement(xs + 0.5 - w / 2, ys + 0.5 - h / 2)
    current = resample(picture, xs + dx, ys + dy)
    found = dump(program, backend, [picture, current], method=method,
                 block_size=size, range=32, subpel=2)[1][0][0]
    v = found.vectors
    rows, columns = np.indices(v.shape)
    x, y = columns * size, rows * size
    bw, bh = np.minimum(size, w - x), np.minimum(size, h - y)
    tx_, ty_ = displacement(x + bw / 2 - w / 2, y + bh / 2 - h / 2)
    inside = ((x + tx_ >= 4) & (y + ty_ >= 4)
              & (x + bw + tx_ <= w - 4) & (y + bh + ty_ <= h - 4))
    used = inside & (found.blocks["intra"] >= LEVELS * bw * bh)
    off = np.maximum(np.abs(v["x"] / 4 - tx_), np.abs(v["y"] / 4 - ty_))[used]
    tolerance = MOVED if zoom == 1 and angle == 0 else BENT
    near = (off <= tolerance).mean()
    s = found.summary
    middle = displacement(0, 0)
    ok = (near >= SHARE[method] and np.median(off) <= NEARER and used.sum() >= 100
          and abs(s["global_x"] - middle[0]) < 0.05
          and abs(s["global_y"] - middle[1]) < 0.05
          and abs(s["global_zoom"] - zoom) < 0.001
          and abs(s["global_rotation"] - angle) < 0.001
          and s["global_share"] >= 0.95 * SHARE[method])
    print(f"{name}, {('full', 0, 0, 'zonal')[method]}: {used.sum()} blocks, "
          f"{100 * near:.1f} % within {tolerance} pixels of the truth, half "
          f"within {np.median(off):.3f}; global {s['global_x']:.3f}, "
          f"{s['global_y']:.3f}, zoom {s['global_zoom']:.5f}, rotation "
          f"{s['global_rotation']:.5f}, share {s['global_share']:.2f}"
          f"{'' if ok else ': WRONG'}", flush=True)
    return ok


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--backend", default="reference")
    ap.add_argument("--rounds", type=int, default=48)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--truth", action="store_true")
    a = ap.parse_args()
    if a.truth:
        truth(a.program, a.backend,
              os.environ.get("CUDAVISION_TEST_DATA", ""))
    against_oracle(a.program, a.backend, a.rounds, a.seed)


if __name__ == "__main__":
    main()

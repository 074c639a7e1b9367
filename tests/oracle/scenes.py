#!/usr/bin/env python3
"""Scene cuts in concatenated real clips are found, and none in similar events:
flashes, flicker, fades, dissolves, noise, pans.

scenes.py MOTION-DUMP [--backend cpu]
exit status 77: skipped (fewer than two clips in $CUDAVISION_CLIPS)"""
import argparse
import glob
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
import motion  # noqa: E402

W, H = 352, 288
# Cuts within the clips of scripts/fetch-clips; clips that show the same scene
OWN_CUTS = {"city-cut": [2]}
SAME = {"city-cut": "city"}
# Moves by half a block between frames: after two white frames it cannot be
# distinguished from another scene
FAST = ["park_joy"]
# Wings that move far in a flash: a false cut with method=field
FLASHES_OF_FIELD = ["cockatoo white flash"]


def read_y4m(path):
    """Luma of all frames, on 8 bits."""
    with open(path, "rb") as f:
        tags = f.readline().decode().split()
        width, height = (int(next(t[1:] for t in tags if t[0] == k))
                         for k in "WH")
        deep = any("p10" in t.lower() for t in tags)
        size = (width * height + 2 * (-(-width // 2) * -(-height // 2)))
        kind = np.dtype("<u2" if deep else "u1")
        frames = []
        while f.readline().startswith(b"FRAME"):
            data = np.frombuffer(f.read(size * kind.itemsize), kind)
            luma = data[:width * height].reshape(height, width)
            frames.append(luma >> 2 if deep else luma)
    return frames


def scale(picture):
    """Scales to W x H; each sample is the mean of the samples that it covers."""
    def along(a, n):
        edges = np.linspace(0, a.shape[0], n + 1)
        sums = np.concatenate([np.zeros((1,) + a.shape[1:]), a.cumsum(0)])
        low = np.floor(edges).astype(int)
        more = (edges - low).reshape(-1, *[1] * (a.ndim - 1))
        at = sums[low] + more * (sums[np.minimum(low + 1, a.shape[0])]
                                 - sums[low])
        return np.diff(at, axis=0) / np.diff(edges).reshape(more[1:].shape)
    return along(along(picture.astype(float), H).T, W).T


def to_bytes(pictures):
    return [np.clip(np.round(p), 0, 255).astype(np.uint8) for p in pictures]


def joined(clips, random, n):
    """Concatenated parts of random clips, and their first frames."""
    pieces, cuts, last = [], [], None
    while len(pieces) < n:
        name = random.choice([c for c in clips if SAME.get(c, c) != last])
        clip = clips[name]
        first = (0 if name in OWN_CUTS
                 else int(random.integers(0, len(clip) - 2)))
        length = int(random.integers(4, 10))
        if pieces:
            cuts.append(len(pieces))
        cuts += [len(pieces) + c - first for c in OWN_CUTS.get(name, [])
                 if first < c < first + length]
        pieces += clip[first:first + length]
        last = SAME.get(name, name)
    return pieces, cuts


def lookalikes(clips, random):
    """Name, frames, first frames of scenes."""
    for name, c in clips.items():
        if name in OWN_CUTS or len(c) < 5:
            continue
        c = (c + c[::-1][1:]) * 2  # to and fro
        c = c[:14]
        n = len(c)
        other = next(v for k, v in clips.items()
                     if name not in (k, SAME.get(k)))[0]
        black = np.full((H, W), 16.0)

        def lit(gain):
            return [p * g for p, g in zip(c, gain)]

        yield f"{name} flash", [p + 90 * (i == 5) for i, p in enumerate(c)], []
        yield f"{name} long flash", [p + 60 * (i in (5, 6, 7))
                                     for i, p in enumerate(c)], []
        if name not in FAST:
            yield f"{name} white flash", [p if i != 5 else p * 0 + 250
                                          for i, p in enumerate(c)], []
            yield f"{name} fade in after itself", (
                c[:4] + [black] * 2 + lit(np.linspace(0, 1, n))), []
        yield f"{name} fading flash", [p + (i >= 4) * 100 * 0.5 ** (i - 4)
                                       for i, p in enumerate(c)], []
        yield f"{name} flicker", lit([1.25 if i % 2 else 1
                                      for i in range(n)]), []
        yield f"{name} fade out", lit(np.linspace(1, 0, n)), []
        yield f"{name} dissolve", [p * (1 - t) + other * t for p, t in
                                   zip(c, np.linspace(0, 1, n))], []
        yield f"{name} noise", [p + random.normal(0, 25, p.shape)
                                for p in c], []
        yield f"{name} repeated", [p for p in c for _ in range(2)], []
        yield f"{name} pan", [np.roll(c[0], -24 * i, 1) for i in range(8)], []
        yield f"{name} noisy cut", [p + random.normal(0, 25, p.shape) for p in
                                    c[:5] + [other] * 3], [5]
        yield f"{name} dark cut", [16 + p / 8 for p in
                                   c[:5] + [other] * 3], [5]
        yield f"{name} after black", c[:4] + [black] * 3 + [other] * 3, [7]
    noise = [random.integers(0, 256, (H, W)) for _ in range(8)]
    yield "noise", noise, []


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--backend", default="cpu")
    a = ap.parse_args()
    paths = sorted(glob.glob(os.path.join(
        os.environ.get("CUDAVISION_CLIPS", ""), "*.y4m")))
    if len(paths) < 2:
        print("skipped: fewer than two clips in $CUDAVISION_CLIPS; "
              "scripts/fetch-clips fetches some")
        sys.exit(77)
    clips = {os.path.splitext(os.path.basename(p))[0]:
             [scale(f) for f in read_y4m(p)] for p in paths}
    random = np.random.default_rng(1)
    wrong = found = frames = 0

    def check(name, pictures, cuts, **settings):
        nonlocal wrong, found, frames
        settings.setdefault("method", motion.motion_oracle.ZONAL)
        got = motion.dump(a.program, a.backend, to_bytes(pictures), **settings)
        got = [i for i, f in enumerate(got) if f[0].flags & motion.SCENE_CUT]
        found += len(set(got) & set(cuts))
        frames += len(pictures)
        if got != cuts:
            wrong += 1
            print(f"{name}, {settings}: scenes begin at {cuts}, found {got}")

    for block_size in (8, 16, 32, 64):
        check("clips", *joined(clips, random, 150), block_size=block_size,
              range=32)
    check("clips", *joined(clips, random, 150), method=0)
    for case in lookalikes(clips, random):
        check(*case)
    field = dict(method=motion.motion_oracle.FIELD, block_size=16, subpel=2)
    check("clips", *joined(clips, random, 150), **field)
    for name, pictures, cuts in lookalikes(clips, random):
        if name not in FLASHES_OF_FIELD:
            check(name, pictures, cuts, **field)
    print(f"{frames} frames of {len(clips)} clips, {found} cuts found, "
          f"{wrong} sequences wrong")
    sys.exit(wrong > 0)


main()

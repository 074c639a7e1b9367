#!/usr/bin/env python3
"""transitions.py: dissolves and fades between moving scenes are found, with their start
and end, and are the only ones.

The scenes are rendered (a texture that pans and zooms), and real: the clips of
$CUDAVISION_CLIPS, played to and fro, if there are some. Skipped without NumPy."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import csv
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77
WIDTH, HEIGHT, SCENE = 320, 240, 50
MIXED = [8, 14, 25, 36]


def render(seed, np):
    """A scene of 130 frames: blobs of several sizes that move and grow"""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    waves = [(random.uniform(-0.5, 0.5, 2) * 2.0 ** -random.integers(0, 5), random.uniform(0, 6.3),
              random.uniform(10, 30)) for _ in range(24)]
    contrast = 0.3 + (random.random((3, 4)) > 0.5).repeat(80, 0).repeat(80, 1) * 1.0
    speed = random.uniform(-1.5, 1.5, 2)
    frames = []
    for t in range(130):
        u, v = x * (1 + t / 3000) + speed[0] * t, y * (1 + t / 3000) + speed[1] * t
        picture = sum(a * np.sin(k[0] * u + k[1] * v + p) for k, p, a in waves)
        frames.append(np.clip(128 + 0.6 * contrast * picture, 0, 255))
    return frames


def read_clip(path, np):
    """130 frames of a clip of 8 bits, cropped to the size, to and fro"""
    with open(path, "rb") as stream:
        tags = stream.readline().decode().split()
        width, height = (int(next(t[1:] for t in tags if t[0] == k)) for k in "WH")
        if any("p10" in t.lower() for t in tags) or width < WIDTH or height < HEIGHT:
            return None
        size = width * height + 2 * (-(-width // 2) * -(-height // 2))
        frames = []
        while stream.readline().startswith(b"FRAME"):
            luma = np.frombuffer(stream.read(size), np.uint8)[:width * height]
            frames.append(luma.reshape(height, width)[:HEIGHT, :WIDTH].astype(np.float32))
    frames += frames[-2:0:-1]
    return [frames[i % len(frames)] for i in range(130)]


def join(scenes, np):
    """Frames, and (kind, start, end) of the transitions"""
    frames, events, rest = list(scenes[0][:SCENE]), [], scenes[0][SCENE:]
    for i, scene in enumerate(scenes[1:]):
        n = MIXED[i % len(MIXED)]
        share = [(k + 1) / (n + 1) for k in range(n)]
        if i % 3 == 2:
            colour = np.full((HEIGHT, WIDTH), 16 if i % 2 else 235)
            events.append(("fade-out", len(frames), len(frames) + n))
            frames += [a * (1 - s) + colour * s for a, s in zip(rest, share)] + [colour] * 3
            events.append(("fade-in", len(frames), len(frames) + n))
            frames += [colour * (1 - s) + b * s for b, s in zip(scene, share)]
        else:
            events.append(("dissolve", len(frames), len(frames) + n))
            frames += [a * (1 - s) + b * s for a, b, s in zip(rest, scene, share)]
        frames += scene[n:n + SCENE]
        rest = scene[n + SCENE:]
    return frames, events


def find(frames, np):
    """Rows of the table of transitions, and the first frames of scenes"""
    with open("clip.gray", "wb") as out:
        for frame in frames:
            out.write(np.round(frame).astype(np.uint8).tobytes())
    done = subprocess.run(
        f"gst-launch-1.0 filesrc location=clip.gray ! rawvideoparse format=gray8 width={WIDTH}"
        f" height={HEIGHT} framerate=25/1 ! cudamotionest method=zonal block-size=32 subpel=none"
        " name=m ! fakesink m.src_vectors ! tee name=t"
        " t. ! queue ! motionvectorenc format=transitions-csv ! filesink location=t.csv"
        " t. ! queue ! motionvectorenc format=scenes-csv ! filesink location=s.csv",
        shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        timeout=120)
    if done.returncode:
        sys.exit(done.stdout)
    with open("t.csv", encoding="ascii") as table:
        rows = [(r["kind"], int(r["start_frame"]), int(r["end_frame"]))
                for r in csv.DictReader(table)]
    with open("s.csv", encoding="ascii") as table:
        return rows, [int(r["start_frame"]) for r in csv.DictReader(table)]


def check(name, scenes, np):
    frames, events = join(scenes, np)
    found, starts = find(frames, np)
    ok = [e[0] for e in events] == [f[0] for f in found]
    for event, row in zip(events, found):
        reach = 3 + (event[2] - event[1]) // 4
        near = abs(event[1] - row[1]) <= reach and abs(event[2] - row[2]) <= reach
        print(f"{name}: {event}, found {row}{'' if near else ' NOT NEAR'}")
        ok &= near
        # the scene begins where the dissolve ends, or in the fade
        ok &= (row[2] in starts if row[0] == "dissolve" else row[0] == "fade-out"
               or any(row[1] <= s <= row[2] for s in starts))
    if not ok:
        print(f"{name}: expected {events}, found {found}, scenes begin at {starts}")
    return ok


def main():
    try:
        import numpy as np
    except ImportError:
        print("skipped: no NumPy for this Python (package python3-numpy)")
        return SKIP
    rendered = [render(seed, np) for seed in range(8)]
    real = [read_clip(path, np) for path in
            sorted(glob.glob(os.path.join(os.environ.get("CUDAVISION_CLIPS", ""), "*.y4m")))
            if pathlib.Path(path).stem != "city-cut"]
    real = [clip for clip in real if clip is not None]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ok = check("rendered", rendered, np)
        if len(real) > 2:
            ok &= check("real", real + real[:1], np)
        else:
            print("real clips: skipped, see scripts/fetch-clips")
        os.chdir("/")
    return 0 if ok else 1


sys.exit(main())

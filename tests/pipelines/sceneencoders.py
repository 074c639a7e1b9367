#!/usr/bin/env python3
"""sceneencoders.py: encoders accept the lists of motionvectorenc and follow them.

A clip of three scenes is searched by cudamotionest. Key frames of x264, x265 and
SVT-AV1 with the lists must be exactly the first frames of the scenes. A zone with a
lower factor must need fewer bits. Encoders that are not installed are skipped."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
CAPS = "video/x-raw,format=I420,width=320,height=240,framerate=25/1"
SCENES = [("pattern=zone-plate kx2=20 ky2=20 kt=1", 14),
          ("pattern=smpte horizontal-speed=4", 17),
          ("pattern=pinwheel horizontal-speed=-2", 12)]
FIRST = [0, 14, 31]
FRAMES = 43


def call(command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=120, **options)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout[-3000:]}")
    return done.stdout


def make_clip():
    """clip.y4m"""
    call("gst-launch-1.0 concat name=c ! y4menc ! filesink location=clip.y4m"
         + "".join(f" videotestsrc {p} num-buffers={n} ! {CAPS} ! c." for p, n in SCENES),
         shell=True)


def make_list(name):
    call("gst-launch-1.0 filesrc location=clip.y4m ! y4mdec ! cudamotionest method=zonal"
         " block-size=32 subpel=none name=m ! fakesink  m.src_vectors"
         f" ! motionvectorenc format={name} ! filesink location={name}", shell=True)
    return pathlib.Path(name).read_text(encoding="ascii").strip()


def key_frames(name):
    """Numbers of the key frames in the order of display, and the number of frames"""
    text = call(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries",
                 "frame=key_frame", "-of", "csv=p=0", name])
    flags = [line.split(",")[0] for line in text.split()]
    return [i for i, flag in enumerate(flags) if flag == "1"], len(flags)


ENCODERS = {
    "x264": ["--preset", "veryfast", "--keyint", "infinite", "--no-scenecut"],
    "x265": ["--preset", "ultrafast", "--keyint", "-1", "--no-scenecut", "--no-open-gop"],
    "SvtAv1EncApp": ["--preset", "12", "--crf", "40", "--keyint", "1000"],
}


def encode(encoder, options, out):
    """Returns the size of the output."""
    files = {"x264": ["clip.y4m", "-o", out], "x265": ["clip.y4m", "-o", out],
             "SvtAv1EncApp": ["-i", "clip.y4m", "-b", out]}
    call([encoder, *ENCODERS[encoder], *options, *files[encoder]])
    return os.path.getsize(out)


def check_key_frames(encoder, options, out):
    encode(encoder, options, out)
    found, frames = key_frames(out)
    print(f"{encoder} {' '.join(options)}: {frames} frames, key frames {found}")
    return found == FIRST and frames == FRAMES


def check_zones(encoder, zones, out):
    """The zones of the file change nothing; a lower factor saves bits."""
    plain = encode(encoder, ["--crf", "24"], out)
    same = encode(encoder, ["--crf", "24", "--zones", zones], out)
    scenes = zones.split("/")
    scenes[1] = scenes[1].replace("b=1.00", "b=0.30")
    less = encode(encoder, ["--crf", "24", "--zones", "/".join(scenes)], out)
    print(f"{encoder}: {plain} bytes, with zones {same}, "
          f"one of them with b=0.30 {less}")
    return abs(same - plain) < 0.02 * plain and less < 0.95 * plain


def check_encoders(encoders):
    ok = True
    if "x264" in encoders or "x265" in encoders:
        make_list("qpfile")
        zones = make_list("zones")
    for encoder, ending in ("x264", "264"), ("x265", "265"):
        if encoder in encoders:
            ok &= check_key_frames(encoder, ["--qpfile", "qpfile"], f"out.{ending}")
            ok &= check_zones(encoder, zones, f"out.{ending}")
    if "SvtAv1EncApp" in encoders:
        keys = make_list("svt-key-frames")
        ok &= check_key_frames("SvtAv1EncApp", ["--force-key-frames", keys], "out.ivf")
    return ok


def main():
    encoders = [e for e in ENCODERS if shutil.which(e)]
    missing = [e for e in ENCODERS if e not in encoders]
    tools = shutil.which("ffprobe") and not subprocess.run(
        ["gst-inspect-1.0", "y4mdec"], check=False, stdout=subprocess.DEVNULL).returncode
    if not encoders or not tools:
        print("skipped: no encoder of x264, x265, SvtAv1EncApp, no ffprobe or no y4mdec")
        return SKIP
    if missing:
        print(f"not installed: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_clip()
        ok = check_encoders(encoders)
        os.chdir("/")
    return 0 if ok else 1


sys.exit(main())

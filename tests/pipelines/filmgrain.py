#!/usr/bin/env python3
"""filmgrain.py: aomenc and SvtAv1EncApp accept the table of filmgrainenc, and the decoder's
grain is as strong as the grain that was removed, within 10 %, at three levels.

Encoders whose help does not name the option are left out. Skipped without NumPy, aomdec,
y4mdec or any encoder."""
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
WIDTH, HEIGHT, FRAMES = 320, 240, 12
STRENGTHS = {60: 6.0, 130: 4.0, 200: 2.5}  # by level
ENCODERS = {
    "aomenc": ["clean.y4m", "--rt", "--cpu-used=9", "--end-usage=q", "--cq-level=20", "--ivf",
               "--film-grain-table=grain.tbl", "-o", "film.ivf"],
    "SvtAv1EncApp": ["-i", "clean.y4m", "--preset", "12", "--crf", "20", "--fgs-table",
                     "grain.tbl", "-b", "film.ivf"],
}


def call(command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=120, **options)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout[-3000:]}")


def write_y4m(name, lumas, np):
    grey = np.full((HEIGHT // 2) * (WIDTH // 2) * 2, 128, np.uint8).tobytes()
    with open(name, "wb") as out:
        out.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F25:1 Ip A1:1 C420\n".encode())
        for luma in lumas:
            out.write(b"FRAME\n" + np.clip(np.round(luma), 0, 255).astype(np.uint8).tobytes()
                      + grey)


def make_videos(np):
    """clean.y4m: three bands; noisy.y4m: with grain that is correlated along rows"""
    random = np.random.default_rng(3)
    clean, strength = np.zeros((2, HEIGHT, WIDTH))
    for i, level in enumerate(STRENGTHS):
        clean[i * HEIGHT // 3:(i + 1) * HEIGHT // 3] = level
        strength[i * HEIGHT // 3:(i + 1) * HEIGHT // 3] = STRENGTHS[level]
    noisy = []
    for _ in range(FRAMES):
        white = random.standard_normal((HEIGHT, WIDTH + 1))
        grain = (white[:, 1:] + 0.6 * white[:, :-1]) / np.sqrt(1.36)
        noisy.append(clean + strength * grain)
    write_y4m("clean.y4m", [clean] * FRAMES, np)
    write_y4m("noisy.y4m", noisy, np)


def decode(name, *options, np):
    call(["aomdec", name, "--rawvideo", "--i420", *options, "-o", "out.yuv"])
    frames = np.fromfile("out.yuv", np.uint8).reshape(FRAMES, HEIGHT * 3 // 2, WIDTH)
    return frames[:, :HEIGHT].astype(float)


def check_encoder(encoder, np):
    call([encoder, *ENCODERS[encoder]])
    grain = decode("film.ivf", np=np) - decode("film.ivf", "--skip-film-grain", np=np)
    ok = True
    for i, (level, wanted) in enumerate(STRENGTHS.items()):
        band = grain[:, i * HEIGHT // 3 + 8:(i + 1) * HEIGHT // 3 - 8]
        found = band.std()
        likeness = (band[:, :, 1:] * band[:, :, :-1]).mean() / band.var()
        print(f"{encoder}, level {level}: grain of {found:.2f} levels, {wanted} removed; "
              f"correlation of neighbours in a row {likeness:.2f}, {0.6 / 1.36:.2f} removed")
        ok &= abs(found / wanted - 1) < 0.1 and abs(likeness - 0.6 / 1.36) < 0.06
    return ok


def check(encoders, np):
    make_videos(np)
    call("gst-launch-1.0 filesrc location=noisy.y4m ! y4mdec ! g.sink"
         " filesrc location=clean.y4m ! y4mdec ! g.sink_denoised"
         " filmgrainenc name=g ! filesink location=grain.tbl", shell=True)
    return all([check_encoder(encoder, np) for encoder in encoders])


def find_encoders():
    """Those that read tables: SvtAv1EncApp 1.4 of Debian 12 does not."""
    def reads_table(encoder, option):
        text = subprocess.run([encoder, "--help"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        return option in text

    options = {"aomenc": "--film-grain-table", "SvtAv1EncApp": "--fgs-table"}
    return [encoder for encoder in ENCODERS
            if shutil.which(encoder) and reads_table(encoder, options[encoder])]


def main():
    try:
        import numpy as np
    except ImportError:
        print("skipped: no NumPy for this Python (package python3-numpy)")
        return SKIP
    encoders = find_encoders()
    if not (encoders and shutil.which("aomdec")) or subprocess.run(
            ["gst-inspect-1.0", "y4mdec"], check=False, stdout=subprocess.DEVNULL).returncode:
        print("skipped: no aomenc and aomdec (package aom-tools), or no y4mdec")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ok = check(encoders, np)
        print(pathlib.Path("grain.tbl").read_text(encoding="ascii"))
        os.chdir("/")
    return 0 if ok else 1


sys.exit(main())

#!/usr/bin/env python3
"""denoise_quality.py [--frames=N] CLIP.y4m...

Compares cudadenoise with ffmpeg's owdenoise and vaguedenoiser: PSNR
and SSIM of the luma of clips with added Gaussian noise of sigma 5, 10 and 20
levels (rounded and clamped to 0..255), means over clips and frames, and processor
time for each megapixel; a table in Markdown. Needs NumPy, ffmpeg and the plugin in
GST_PLUGIN_PATH (`meson devenv -C build`). Clips are 8-bit 4:2:0.

cudadenoise runs with its defaults, which estimate the noise of each frame. The
others run with their defaults, and also with a strength of sigma times the factor
that is best for them on average over all clips and sigmas. All run in one thread.
Time is processor time minus that of the same command without the filter, and for
cudadenoise also without its startup (from runs with the frames once and five
times)."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

SIGMAS = (5, 10, 20)
REPEATS = 4
OURS = {
    "cudadenoise": "",
    "cudadenoise spins=1": "spins=1",
    "cudadenoise spins=16": "spins=16",
}
THEIRS = {
    "owdenoise": "owdenoise",
    "vaguedenoiser": "vaguedenoiser",
}
# strength = factor * sigma
TOLD = {
    "owdenoise, told sigma": (
        "owdenoise=ls={}", (1.0, 1.25)),
    "vaguedenoiser, told sigma": (
        "vaguedenoiser=percent=100:threshold={}", (1.5, 1.75, 2.0)),
}


def read_luma(path, count):
    """Crops an odd row or column, so that planes have no padding."""
    data = pathlib.Path(path).read_bytes()
    end = data.index(b"\n")
    fields = {text[:1]: text[1:] for text in data[:end].decode().split()[1:]}
    width, height = int(fields["W"]), int(fields["H"])
    size = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    frames, at = [], end + 1
    while at < len(data) and len(frames) < count:
        at = data.index(b"\n", at) + 1
        frames.append(np.frombuffer(data, np.uint8, width * height, at)
                      .reshape(height, width)[:height // 2 * 2,
                                              :width // 4 * 4])
        at += size
    return np.array(frames)


def psnr(a, b):
    error = np.mean((a.astype(np.float64) - b) ** 2)
    return 10 * np.log10(255 ** 2 / error)


def blur(x):
    """Blurs with a Gaussian of sigma 1.5, 11 taps; only positions where it fits."""
    taps = np.exp(-np.arange(-5, 6) ** 2 / 4.5)
    taps /= taps.sum()
    x = sum(t * x[i:x.shape[0] - 10 + i] for i, t in enumerate(taps))
    return sum(t * x[:, i:x.shape[1] - 10 + i] for i, t in enumerate(taps))


def ssim(a, b):
    """Wang, Bovik, Sheikh, Simoncelli 2004."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    ma, mb = blur(a), blur(b)
    va, vb = blur(a * a) - ma * ma, blur(b * b) - mb * mb
    cov = blur(a * b) - ma * mb
    return np.mean((2 * ma * mb + c1) * (2 * cov + c2)
                   / ((ma * ma + mb * mb + c1) * (va + vb + c2)))


def spent(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)


class Clip:
    def __init__(self, path, count, folder):
        self.frames = read_luma(path, count)
        self.count, self.height, self.width = self.frames.shape
        self.chroma = 2 * ((self.width + 1) // 2) * ((self.height + 1) // 2)
        self.noisy = {}
        self.folder = folder
        for sigma in SIGMAS:
            random = np.random.default_rng(sigma)
            noise = random.normal(0, sigma, self.frames.shape)
            noisy = np.clip(np.rint(self.frames + noise), 0, 255)
            self.noisy[sigma] = noisy.astype(np.uint8)

    def gst(self, sigma, settings):
        """Runs cudadenoise; None: no element."""
        out, once = self.run_gst(sigma, settings, 1)
        _, often = self.run_gst(sigma, settings, 1 + REPEATS)
        return out, (often - once) / REPEATS

    def run_gst(self, sigma, settings, times):
        size = self.width * self.height
        with open(f"{self.folder}/in", "wb") as file:
            for frame in times * list(self.noisy[sigma]):
                file.write(frame.tobytes() + bytes([128]) * self.chroma)
        element = [] if settings is None else [
            "!", "cudadenoise", "backend=cpu",
            "threads=1", *settings.split()]
        time = spent([
            "gst-launch-1.0", "-q", "filesrc", f"location={self.folder}/in",
            f"blocksize={size + self.chroma}", "!", "capsfilter",
            f"caps=video/x-raw,format=I420,width={self.width},"
            f"height={self.height},framerate=25/1", *element, "!", "filesink",
            f"location={self.folder}/out"])
        out = np.fromfile(f"{self.folder}/out", np.uint8)
        out = out.reshape(-1, size + self.chroma)[:self.count, :size]
        return out.reshape(self.frames.shape), time

    def ffmpeg(self, sigma, text):
        self.noisy[sigma].tofile(f"{self.folder}/in")
        time = spent([
            "ffmpeg", "-v", "error", "-y", "-threads", "1", "-f", "rawvideo",
            "-pix_fmt", "gray", "-s", f"{self.width}x{self.height}", "-i",
            f"{self.folder}/in", *(["-vf", text] if text else []), "-f",
            "rawvideo", "-pix_fmt", "gray", f"{self.folder}/out"])
        out = np.fromfile(f"{self.folder}/out", np.uint8)
        return out.reshape(self.frames.shape), time

    def judge(self, out):
        return (np.mean([psnr(a, b) for a, b in zip(self.frames, out)]),
                np.mean([ssim(a, b) for a, b in zip(self.frames, out)]))


def measure(clips, run, base):
    """{sigma: (psnr, ssim)}, ms a megapixel. @run: function of (clip, sigma)
    that returns frames and time; @base: the same without the filter"""
    results, time, pixels = {}, 0.0, 0
    for sigma in SIGMAS:
        marks = []
        for clip in clips:
            out, took = run(clip, sigma)
            marks.append(clip.judge(out))
            time += took - base(clip, sigma)[1]
            pixels += clip.frames.size
        results[sigma] = np.mean(marks, axis=0)
    return results, 1e3 * time / (pixels / 1e6)


def row(name, results, time):
    marks = " | ".join(f"{results[s][0]:.2f} | {results[s][1]:.3f}"
                       for s in SIGMAS)
    print(f"| {name} | {marks} | {time} |", flush=True)


def main(args):
    count = 3
    if args and args[0].startswith("--frames="):
        count = int(args.pop(0).split("=")[1])
    if not args:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        clips = [Clip(path, count, folder) for path in args]
        heads = " | ".join(f"PSNR, sigma {s} (dB) | SSIM, sigma {s}"
                           for s in SIGMAS)
        print(f"| filter | {heads} | CPU time, ms a megapixel |")
        print("|---" * (2 * len(SIGMAS) + 2) + "|")
        row("none", {s: np.mean([c.judge(c.noisy[s]) for c in clips], axis=0)
                     for s in SIGMAS}, "")
        for name, settings in OURS.items():
            results, time = measure(
                clips, lambda c, s: c.gst(s, settings),
                lambda c, s: c.gst(s, None))
            row(name, results, f"{time:.0f}")
        for name, text in THEIRS.items():
            results, time = measure(
                clips, lambda c, s: c.ffmpeg(s, text),
                lambda c, s: c.ffmpeg(s, None))
            row(name, results, f"{time:.0f}")
        for name, (text, factors) in TOLD.items():
            tries = [measure(clips, lambda c, s: c.ffmpeg(
                s, text.format(factor * s)), lambda c, s: c.ffmpeg(s, None))
                for factor in factors]
            best = int(np.argmax([np.mean([r[s][0] for s in SIGMAS])
                                  for r, _ in tries]))
            row(f"{name} x {factors[best]}", tries[best][0],
                f"{tries[best][1]:.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])

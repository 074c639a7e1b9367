#!/usr/bin/env python3
"""denoise_quality.py [--frames=N] [--bm3d] [--mvtools] CLIP.y4m|PICTURE...

Compares cudadenoise with ffmpeg's nlmeans and vaguedenoiser, with --bm3d also with PyPI's
bm3d, and with --mvtools with MVTools' Degrain2 and Degrain6 (PyPI's vapoursynth and
vapoursynth-mvtools, Python 3.12 or later): PSNR and SSIM of the luma of clips and pictures with added Gaussian
noise of sigma 5, 10 and 20 levels (rounded and clamped to 0..255), means over clips and
frames, and processor time for each megapixel; a table in Markdown. A second table has the
PSNR of the clips without noise after cudadenoise. Needs NumPy, ffmpeg and the plugin in
GST_PLUGIN_PATH (`meson devenv -C build`). Clips are 8-bit 4:2:0; ffmpeg reads the
pictures.

cudadenoise runs with its defaults, which estimate the noise of each frame, and in other
modes. The others are told sigma: their strength is sigma times the factor in the table, of several
the one that is best for them on average over all clips and sigmas; bm3d takes sigma; the
factor of Degrain is that of thsad. All run in one
thread. Time is processor time minus that of the same command without the filter, and for
cudadenoise also without its startup (from runs with the frames once and three times)."""
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
REPEATS = 2
RADII = (2, 6)  # of MVTools
THSAD = (125, 150, 200, 250)
OURS = {
    "cudadenoise": "",
    "cudadenoise radius=1": "radius=1",
    "cudadenoise mode=recursive": "mode=recursive",
    "cudadenoise mode=temporal": "mode=temporal",
    "cudadenoise mode=spatial": "mode=spatial",
    "cudadenoise mode=wavelets": "mode=wavelets",
}
# strength = factor * sigma
TOLD = {
    "nlmeans, told sigma": ("nlmeans=s={}", (1.0,)),
    "vaguedenoiser, told sigma": (
        "vaguedenoiser=percent=100:threshold={}", (1.75,)),
}


def read_picture(path):
    """The luma of a picture as a clip of one frame; an even number of rows, and of
    columns a multiple of eight."""
    probe = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
         "stream=width,height", "-of", "csv=p=0", path],
        check=True, capture_output=True, text=True).stdout
    width, height = map(int, probe.strip().split(",")[:2])
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-pix_fmt",
         "gray", "-f", "rawvideo", "-"], check=True,
        capture_output=True).stdout
    frame = np.frombuffer(raw, np.uint8).reshape(height, width)
    return frame[None, :height // 2 * 2, :width // 8 * 8]


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
                                              :width // 8 * 8])
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
        self.frames = (read_luma(path, count)
                       if str(path).endswith(".y4m")
                       else read_picture(path))
        self.count, self.height, self.width = self.frames.shape
        self.chroma = 2 * ((self.width + 1) // 2) * ((self.height + 1) // 2)
        self.noisy = {}
        self.folder = folder
        self.noisy[0] = self.frames
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

    def bm3d(self, sigma):
        import bm3d  # only installed where it is compared with
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        out = np.array([np.clip(np.rint(bm3d.bm3d(frame.astype(float), sigma)),
                                0, 255) for frame in self.noisy[sigma]])
        return out, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before

    def mvtools(self, sigma, radius, factor):
        import vapoursynth  # only installed where it is compared with
        core = vapoursynth.core
        core.num_threads = 1

        def fill(n, f):
            frame = f.copy()
            np.copyto(np.asarray(frame[0]), self.noisy[sigma][n])
            return frame

        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        blank = core.std.BlankClip(width=self.width, height=self.height, length=self.count,
                                   format=vapoursynth.GRAY8)
        clip = blank.std.ModifyFrame(blank, fill)
        pyramid = clip.mv.Super(chroma=False)
        fields = [pyramid.mv.Analyse(isb=back, delta=delta, overlap=4, chroma=False)
                  for delta in range(1, radius + 1) for back in (True, False)]
        thsad = round(factor * sigma)
        clean = getattr(clip.mv, f"Degrain{radius}")(
            pyramid, *fields, thsad=thsad, plane=0, thscd1=max(400, thsad))
        out = np.array([np.asarray(frame[0]).copy() for frame in clean.frames()])
        return out, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before

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


def compare_told(name, clips, run, factors, base):
    """The row of the best of @factors, of @run: function of (clip, sigma, factor)"""
    tries = [measure(clips, lambda c, s: run(c, s, factor), base) for factor in factors]
    best = int(np.argmax([np.mean([r[s][0] for s in SIGMAS]) for r, _ in tries]))
    row(f"{name} x {factors[best]}", tries[best][0], f"{tries[best][1]:.0f}")


def compare_mvtools(clips):
    for radius in RADII:
        compare_told(f"MVTools Degrain{radius}, told sigma", clips,
                     lambda c, s, factor: c.mvtools(s, radius, factor), THSAD,
                     lambda c, s: (None, 0.0))


def main(args):
    count, extras = 3, set()
    while args and args[0].startswith("--"):
        name, _, value = args.pop(0).partition("=")
        if name == "--frames":
            count = int(value)
        elif name in ("--bm3d", "--mvtools"):
            extras.add(name)
        else:
            sys.exit(__doc__)
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
        for name, (text, factors) in TOLD.items():
            compare_told(name, clips,
                         lambda c, s, factor: c.ffmpeg(s, text.format(factor * s)),
                         factors, lambda c, s: c.ffmpeg(s, None))
        if "--bm3d" in extras:
            results, time = measure(clips, lambda c, s: c.bm3d(s),
                                    lambda c, s: (None, 0.0))
            row("BM3D, told sigma", results, f"{time:.0f}")
        if "--mvtools" in extras:
            compare_mvtools(clips)
        print("\n| clip without noise | PSNR after cudadenoise, dB |\n|---|---|")
        for path, clip in zip(args, clips):
            out, _ = clip.run_gst(0, "", 1)
            same = np.array_equal(out, clip.frames)
            print(f"| {pathlib.Path(path).name} | "
                  + ("the same" if same else f"{psnr(clip.frames, out):.1f}")
                  + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

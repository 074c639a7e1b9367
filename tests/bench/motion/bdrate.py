#!/usr/bin/env python3
"""bdrate.py [--frames=N] [--encoders=LIST] [--own] [--clips=LIST] [--folder=FOLDER] [FILTER...]

How many bits a filter in front of encoders saves: the BD-rate, in percent, of the
filtered clip against the clip itself, at the same PSNR of the luma and at the same
VMAF; both are of the decoder's output against the unfiltered source. A negative number
saves bits. Tables in Markdown: the mean PSNR and VMAF of each clip, then the BD-rates.

FILTER: a line of GStreamer, by default "cudadenoise preset=encoder", or ffmpeg:FILTER,
such as ffmpeg:hqdn3d. Encoders: x264-medium, x264-veryfast, x265 and openh264, by default
all; four CRF, or for openh264 constant quantisers. --own: encoders that have a temporal filter
of their own, x265 (mcstf), svtav1 (preset 8, enable-tf) and vvenc (preset fast, four QP, mctf); the
own filter, FILTER and both are compared with none. Clips: those of scripts/fetch-clips in full
length, at most N frames (150), cropped to multiples of 8.

Needs NumPy, ffmpeg with the encoders, and the plugin in GST_PLUGIN_PATH (`meson devenv -C
build`). The ffmpeg of the Python package imageio-ffmpeg is preferred, as it has libvmaf;
without libvmaf the tables have no VMAF. FOLDER (by default clips/long) keeps the clips."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import dataclasses
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy for this Python")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
SKIP = 77
CLIPS = ("foreman", "dog1080", "cockatoo", "city", "vtest", "park_joy")
QUALITIES = (22, 27, 32, 37)
ENCODERS = {
    "x264-medium": lambda q: ["-c:v", "libx264", "-preset", "medium", "-crf", str(q)],
    "x264-veryfast": lambda q: ["-c:v", "libx264", "-preset", "veryfast", "-crf", str(q)],
    "x265": lambda q: ["-c:v", "libx265", "-preset", "medium", "-x265-params", f"crf={q}"],
    "openh264": lambda q: ["-c:v", "libopenh264", "-rc_mode", "quality", "-b:v", "100M",
                           "-g", "250", "-qmin", str(q), "-qmax", str(q)],
}
USUAL = tuple(ENCODERS)


def make_svtav1(tf):
    # a CRF of 0..63
    return lambda q: ["-c:v", "libsvtav1", "-preset", "8", "-crf", str(round(q * 1.3)),
                      "-svtav1-params", f"enable-tf={tf}"]


def make_vvenc(mctf):
    # threads=0: with threads VVenC may return no packet when ffmpeg 9.0 begins to flush a short
    # clip, which ffmpeg takes for the end. bim=0: it needs mctf, so it is off on both sides.
    return lambda q: ["-c:v", "libvvenc", "-preset", "fast", "-qp", str(q), "-qpa", "0",
                      "-vvenc-params", f"threads=0:bim=0:mctf={mctf}"]


ENCODERS |= {
    "x265-own": lambda q: [*ENCODERS["x265"](q)[:-1], f"crf={q}:mcstf=1"],
    "svtav1": make_svtav1(0),
    "svtav1-own": make_svtav1(1),
    "vvenc": make_vvenc(0),
    "vvenc-own": make_vvenc(2),
}
OWN = tuple(name for name in ENCODERS if f"{name}-own" in ENCODERS)


def load_fetch_clips():
    """scripts/fetch-clips as a module"""
    path = str(ROOT / "scripts/fetch-clips")
    loader = importlib.machinery.SourceFileLoader("fetch_clips", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("fetch_clips", loader))
    sys.modules["fetch_clips"] = module
    loader.exec_module(module)
    return module


def find_ffmpeg():
    try:
        import imageio_ffmpeg
        return imageio_ffmpeg.get_ffmpeg_exe()
    except ImportError:
        return shutil.which("ffmpeg") or sys.exit(
            "bdrate: no ffmpeg: install the package ffmpeg, or pip install imageio-ffmpeg")


def call(command, what):
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bdrate: {what} failed: {' '.join(map(str, command))}\n{done.stdout[-2000:]}")
    return done.stdout


@dataclasses.dataclass
class Video:
    """I420 without a header; widths are multiples of 8, so that rows have no padding"""
    path: pathlib.Path
    width: int
    height: int
    frames: int

    @property
    def input(self):
        return ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{self.width}x{self.height}",
                "-r", "25", "-i", str(self.path)]

    def same(self, path):
        return dataclasses.replace(self, path=path)


def get_video(clip, options, fetch):
    width, height = clip.width // 8 * 8, clip.height // 8 * 8
    path = options.folder / f"{clip.name}-{options.frames}.yuv"
    if not path.exists():
        with tempfile.TemporaryDirectory(prefix="bdrate-") as packages:
            os.chmod(packages, 0o777)  # apt-get downloads as a user of its own
            source = fetch.source(clip, pathlib.Path(packages))
            part = path.with_suffix(".part")
            call([options.ffmpeg, "-v", "error", "-y", "-i", source, "-frames:v",
                  str(options.frames), "-fps_mode", "passthrough", "-vf",
                  f"crop={width}:{height}:0:0", "-pix_fmt", "yuv420p", "-f", "rawvideo", part],
                 f"decoding {clip.name}")
            part.rename(path)
    return Video(path, width, height, path.stat().st_size // (width * height * 3 // 2))


def apply_filter(line, video, out, options):
    if line.startswith("ffmpeg:"):
        call([options.ffmpeg, "-v", "error", "-y", *video.input, "-vf", line[7:], "-pix_fmt",
              "yuv420p", "-f", "rawvideo", out], line)
    else:
        caps = f"video/x-raw,format=I420,width={video.width},height={video.height}"
        call(["sh", "-c", f"gst-launch-1.0 filesrc location={video.path} ! rawvideoparse format=i420"
              f" width={video.width} height={video.height} framerate=25/1 ! {line} ! '{caps}'"
              f" ! filesink location={out}"], line)
    result = video.same(pathlib.Path(out))
    if result.path.stat().st_size != video.path.stat().st_size:
        sys.exit(f"bdrate: {line} changed the number of frames of {video.path}")
    return result


def check_filter(line):
    """Names a property that the element does not have before any clip is encoded."""
    if line.startswith("ffmpeg:"):
        return
    done = subprocess.run(["sh", "-c", "gst-launch-1.0 videotestsrc num-buffers=3 !"
                           f" video/x-raw,format=I420 ! {line} ! fakesink"], check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        reason = re.search(r"(?:erroneous pipeline|ERROR: [^:]*): (.*)", done.stdout)
        sys.exit(f"bdrate: the filter '{line}' cannot be used: "
                 f"{reason[1] if reason else done.stdout[-500:]}")


def score(encoded, source, options):
    """Mean PSNR of the luma, and VMAF if ffmpeg has it. Frames are compared by number: the
    time stamps of containers are rounded, and frames would be paired with others."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        decoded = source.same(pathlib.Path(folder) / "decoded.yuv")
        call([options.ffmpeg, "-v", "error", "-y", "-i", encoded, "-fps_mode", "passthrough",
              "-pix_fmt", "yuv420p", "-f", "rawvideo", decoded.path], "decoding")
        if decoded.path.stat().st_size != source.path.stat().st_size:
            sys.exit(f"bdrate: the encoder changed the number of frames of {source.path}")
        measure = (f"libvmaf=feature=name=psnr:log_fmt=json:n_threads={os.cpu_count()}:"
                   f"log_path={log}" if options.vmaf else f"psnr=stats_file={log}")
        call([options.ffmpeg, "-v", "error", *decoded.input, *source.input, "-lavfi",
              f"[0:v][1:v]{measure}", "-f", "null", "-"], "measuring")
        if not options.vmaf:
            luma = [float(x) for x in re.findall(r"psnr_y:([\d.]+)", log.read_text())]
            return np.mean(luma), None
        pooled = json.loads(log.read_text())["pooled_metrics"]
        return pooled["psnr_y"]["mean"], pooled["vmaf"]["mean"]


def measure_curve(video, source, encoder, options):
    """Rows of bits for each second, PSNR and VMAF (NaN: not measured)"""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        encoded = pathlib.Path(folder) / "encoded.mkv"
        for quality in QUALITIES:
            call([options.ffmpeg, "-v", "error", "-y", *video.input,
                  *ENCODERS[encoder](quality), encoded], encoder)
            stream = pathlib.Path(folder) / "stream.bin"
            call([options.ffmpeg, "-v", "error", "-y", "-i", encoded, "-c", "copy", "-f",
                  "data", "-map", "0:v", stream], "counting bytes")
            psnr, vmaf = score(encoded, source, options)
            rows.append([stream.stat().st_size * 8 * 25 / video.frames, psnr,
                         np.nan if vmaf is None else vmaf])
    return np.array(rows)


def bd_rate(reference, tested, column):
    """Bjontegaard's difference of rates in percent: the logarithm of the rate as a cubic
    of the quality, integrated where both curves have values."""
    curves = [(c[:, column], np.log(c[:, 0])) for c in (reference, tested)]
    low = max(q.min() for q, _ in curves)
    high = min(q.max() for q, _ in curves)
    if not high > low:
        return np.nan
    means = []
    for quality, rate in curves:
        integral = np.polyint(np.polyfit(quality, rate, 3))
        means.append((np.polyval(integral, high) - np.polyval(integral, low)) / (high - low))
    return (np.exp(means[1] - means[0]) - 1) * 100


def format_rate(rate):
    return "" if np.isnan(rate) else f"{rate:+.1f}"


def list_cases(encoder, options):
    """What is compared with the plain encoder: label, filter (None: none) and encoder"""
    cases = [(line, line, encoder) for line in options.filters]
    if options.own:
        own = f"{encoder}-own"
        cases = [("own filter", None, own), *cases,
                 *((f"{line}, own filter", line, own) for line in options.filters)]
    return cases


def measure_clip(clip, options, fetch, results):
    """Adds the BD-rates to @results, and prints a row for each encoder and filter."""
    video = get_video(clip, options, fetch)
    with tempfile.TemporaryDirectory() as folder:
        filtered = {line: apply_filter(line, video, f"{folder}/{i}.yuv", options)
                    for i, line in enumerate(options.filters)}
        for encoder in options.encoders:
            plain = None
            for label, line, name in [("none", None, encoder), *list_cases(encoder, options)]:
                curve = measure_curve(filtered.get(line, video), video, name, options)
                mean = curve.mean(axis=0)
                print(f"| {clip.name} | {encoder} | {label} | {mean[0] / 1000:.0f} | {mean[1]:.2f} | "
                      + ("" if np.isnan(mean[2]) else f"{mean[2]:.2f}") + " |", flush=True)
                if plain is None:
                    plain = curve
                results[clip.name, encoder, label] = [bd_rate(plain, curve, c) for c in (1, 2)]


def print_rates(clips, options, results):
    print("\nBD-rate in percent, PSNR / VMAF\n\n| filter | encoder | "
          + " | ".join(clips) + " | mean |\n" + "|---" * (len(clips) + 3) + "|")
    for encoder in options.encoders:
        for label, _, _ in list_cases(encoder, options):
            rates = np.array([results[clip, encoder, label] for clip in clips])
            cells = [f"{format_rate(p)} / {format_rate(v)}".rstrip(" /")
                     for p, v in [*rates, rates.mean(axis=0)]]
            print(f"| {label} | {encoder} | " + " | ".join(cells) + " |")


def parse_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--encoders")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--clips", default=",".join(CLIPS))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "clips/long")
    parser.add_argument("filters", nargs="*")
    options = parser.parse_args()
    choice = OWN if options.own else tuple(ENCODERS)
    options.encoders = (options.encoders.split(",") if options.encoders
                        else OWN if options.own else USUAL)
    options.filters = options.filters or ["cudadenoise preset=encoder"]
    options.ffmpeg = find_ffmpeg()
    options.vmaf = "libvmaf" in call([options.ffmpeg, "-hide_banner", "-filters"], "ffmpeg")
    known = call([options.ffmpeg, "-hide_banner", "-encoders"], "ffmpeg")
    for encoder in options.encoders:
        if encoder not in choice:
            parser.error(f"{encoder} is not one of {', '.join(choice)}")
        if ENCODERS[encoder](0)[1] not in known:
            sys.exit(f"bdrate: {options.ffmpeg} has no encoder {ENCODERS[encoder](0)[1]}; leave it "
                     "out with --encoders, or pip install imageio-ffmpeg")
    return options


def main():
    options = parse_options()
    options.folder.mkdir(parents=True, exist_ok=True)
    fetch = load_fetch_clips()
    for line in options.filters:
        check_filter(line)
    clips, results = [], {}
    print("| clip | encoder | filter | mean rate, kbit/s | PSNR, dB | VMAF |\n" + "|---" * 6 + "|")
    for name in options.clips.split(","):
        clip = next((c for c in fetch.CLIPS if c.name == name), None)
        if clip is None:
            sys.exit(f"bdrate: scripts/fetch-clips has no clip {name}")
        try:
            measure_clip(clip, options, fetch, results)
            clips.append(name)
        except fetch.Skip as reason:
            print(f"bdrate: skipped {name}: {reason}", file=sys.stderr)
    if not clips:
        return SKIP
    print_rates(clips, options, results)
    return 0


if __name__ == "__main__":  # scene_quality.py uses its functions
    sys.exit(main())

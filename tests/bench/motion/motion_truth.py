#!/usr/bin/env python3
"""motion_truth.py [--picture=NAME]... [--peers] MOTION-DUMP [SETTING=NUMBER]...
motion_truth.py --check MOTION-DUMP

Scores motion fields on pairs of frames with known motion (motion_scenes.py): mean
end-point error in pixels, share of blocks more than 3 pixels off, PSNR of the
motion-compensated prediction of all pixels and of those that the reference shows; below
them processor time of a frame of 1920x1080; a table in Markdown for each picture.
MOTION-DUMP is tests/oracle/motion-dump of a build; the settings are added to its own.
--peers adds OpenCV's DIS (medium) and ffmpeg's epzs; DIS fast is only timed. --check
compares method=field with limits a little worse than what was measured instead. Exit
status 77: skipped, something is not installed.

The error of a block is the distance of its vector from the median of its pixels'
vectors, or, if this is less, the median of the distances from each pixel's, so
that a block on an edge may follow either side if both have half of it. A field with a vector a pixel is reduced to the median of each
component in each block. Blocks count of which three quarters are visible in both
frames. Vectors are rounded to quarter pixels for the
prediction, which H.264's filters interpolate; where noise was added, the frame
without noise is predicted. Needs NumPy, opencv-python-headless, scikit-image (for one
of the stereo pairs) and, for epzs, av."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import pathlib
import resource
import subprocess
import sys
import time

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"skipped: {error} (pip install numpy opencv-python-headless "
          "scikit-image av)")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import motion_oracle
import motion_scenes

SIZE = 16
RANGE = 64
FULL, FIELD = 0, 4
TIMED = (1080, 1920)

# Of method=field on leuvenA.jpg: most end-point error (px), most blocks more than 3 px
# off (%), least MC-PSNR (dB)
LIMITS = {
    "translation 3.3, -1.7": (0.2, 0.3, 39.7),
    "translation 23 px": (0.05, 0.3, 33.6),
    "pan 60 px": (0.05, 0.3, 33.9),
    "zoom 1.03, rotation 2 degrees": (0.22, 0.5, 32.6),
    "homography": (0.2, 0.3, 36.2),
    "object over background": (0.15, 1.2, 35.9),
    "noise 2": (0.2, 0.5, 39.7),
    "noise 5": (0.2, 0.5, 39.6),
    "noise 15": (0.25, 0.5, 38.6),
    "dark": (0.4, 1, 52.5),
    "flat wall, still, noise 2": (0.3, 0.5, 66),
    "still scene, noise 5": (0.15, 0.5, 53),
    "bricks 5, -3": (0.05, 0.5, 32.2),
    "fade 0.9": (0.12, 0.5, 26.2),
    "bars": (0.2, 1, 33.4),
    "stereo aloe": (9.2, 24, 26.8),
    "stereo motorcycle": (3.8, 15.5, 24.9),
}


# --- scores ------------------------------------------------------------------

def blocks_of(pixels, size=SIZE):
    """Raster of blocks, each with its pixels in one row: NaN beyond the edge."""
    h, w = pixels.shape[:2]
    rest = pixels.shape[2:]
    rows, columns = -(-h // size), -(-w // size)
    padded = np.full((rows * size, columns * size) + rest, np.nan, np.float32)
    padded[:h, :w] = pixels
    order = (0, 2, 1, 3) + tuple(range(4, 4 + len(rest)))
    return (padded.reshape((rows, size, columns, size) + rest)
            .transpose(order).reshape((rows, columns, size * size) + rest))


def reduce_field(dense):
    """From a vector a pixel to one a block."""
    return np.nanmedian(blocks_of(dense), 2)


def block_errors(scene, vectors):
    """Errors in pixels, and the blocks that count."""
    shown = blocks_of(scene.visible.astype(np.float32))
    truth = blocks_of(scene.truth)
    off = truth - vectors[:, :, None]
    off = np.where(shown > 0, np.hypot(off[..., 0], off[..., 1]), np.nan)
    counts = np.nanmean(shown, 2) >= 0.75
    off[~counts] = 0
    majority = np.nanquantile(off, 0.5, axis=2, method="lower")
    middle = np.nanmedian(truth, 2) - vectors
    return np.minimum(majority, np.hypot(middle[..., 0], middle[..., 1])), counts


def predict(reference, vectors, size=SIZE):
    """The frame that @vectors (quarter pixels) predict from @reference."""
    h, w = reference.shape
    reach = int(np.abs(vectors).max()) // 4 + 2
    picture = motion_oracle.Picture(reference, 8, reach)
    y, x = np.mgrid[:h, :w]
    v = vectors[y // size, x // size]
    qx, qy = v[..., 0], v[..., 1]
    planes = np.stack([picture.at[p >> 2, p & 3][:h + 2 * reach,
                                                 :w + 2 * reach]
                       for p in range(16)])
    return planes[(qy & 3) << 2 | (qx & 3), y + reach + (qy >> 2),
                  x + reach + (qx >> 2)]


def score(scene, vectors):
    """@vectors: pixels. Returns: error, share off, PSNR of all and of visible pixels."""
    error, counts = block_errors(scene, vectors)
    error = error[counts]
    quarter = np.rint(vectors * 4).astype(np.int64)
    quarter = np.clip(quarter, -4 * RANGE * 2, 4 * RANGE * 2)
    frames = scene.clean if scene.noisy else (scene.reference, scene.current)
    square = (frames[1].astype(float) - predict(frames[0], quarter)) ** 2
    all_mse, visible_mse = square.mean(), square[scene.visible].mean()
    with np.errstate(divide="ignore"):
        return (error.mean(), (error > 3).mean(),
                10 * np.log10(255 ** 2 / all_mse),
                10 * np.log10(255 ** 2 / visible_mse))


# --- fields ------------------------------------------------------------------

def parse_dump(data, columns, rows):
    """Vectors (pixels), blocks and the rest of the second frame's field."""
    blocks = columns * rows
    at = 8  # the first frame has no fields
    n = int.from_bytes(data[at:at + 4], "little")
    assert n == 1, n
    at += 8 + 8 + 144
    v = np.frombuffer(data, np.dtype([("x", "<i2"), ("y", "<i2"),
                                      ("cost", "<u4")]), blocks, at)
    at += 8 * blocks
    b = np.frombuffer(data, "<u4", 6 * blocks, at).reshape(rows, columns, 6)
    vectors = np.stack([v["x"], v["y"]], -1).reshape(rows, columns, 2) / 4
    return vectors, b


def run_dump(program, scene, method, settings=()):
    """Vectors, blocks of the field from @current to @reference."""
    h, w = scene.current.shape
    frames = scene.reference.tobytes() + scene.current.tobytes()
    out = subprocess.run(
        [program, "backend=cpu", f"width={w}", f"height={h}",
         f"method={method}", f"block-size={SIZE}", f"range={RANGE}",
         "subpel=2", *settings], input=frames, check=True,
        stdout=subprocess.PIPE).stdout
    return parse_dump(out, -(-w // SIZE), -(-h // SIZE))


def run_dis(scene):
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    return reduce_field(flow.calc(scene.current, scene.reference, None))


def search_epzs(pictures):
    """ffmpeg's mestimate, whole pixels. Returns: the vectors of the second picture"""
    import av
    h, w = pictures[0].shape
    graph = av.filter.Graph()
    source = graph.add_buffer(width=w, height=h, format="gray",
                              time_base="1/25")
    search = graph.add("mestimate",
                       f"method=epzs:mb_size={SIZE}:search_param={RANGE}")
    sink = graph.add("buffersink")
    source.link_to(search)
    search.link_to(sink)
    graph.configure()
    found = None
    for i, picture in enumerate(pictures):
        frame = av.VideoFrame.from_ndarray(picture, format="gray")
        frame.pts = i
        source.push(frame)
        try:
            out = sink.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            continue
        for data in out.side_data if out.pts == 1 else ():
            if data.type.name == "MOTION_VECTORS":
                found = data.to_ndarray()
    return found


def run_epzs(scene):
    """The vectors from the earlier frame."""
    h, w = scene.current.shape
    # mestimate keeps the vectors of a frame until it has the one after it
    found = search_epzs([scene.reference, scene.current, scene.current])
    columns, rows = w // SIZE, h // SIZE
    vectors = np.zeros((-(-h // SIZE), -(-w // SIZE), 2))
    for v in found[found["source"] < 0]:
        # dst is the middle of the block in this frame
        column, row = v["dst_x"] // SIZE, v["dst_y"] // SIZE
        if column < columns and row < rows:
            vectors[row, column] = (v["src_x"] - v["dst_x"],
                                    v["src_y"] - v["dst_y"])
    vectors[rows:] = vectors[rows - 1:rows]
    vectors[:, columns:] = vectors[:, columns - 1:columns]
    return vectors


# --- time --------------------------------------------------------------------

def spend(command, frames):
    """Processor seconds of @command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=frames, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)


def time_dump(program, pictures, method, settings=()):
    """Milliseconds of a frame, one thread: the difference of two runs."""
    h, w = pictures[0].shape
    command = [program, "backend=cpu", f"width={w}", f"height={h}",
               f"method={method}", f"block-size={SIZE}", f"range={RANGE}",
               "subpel=2", "threads=1", *settings]

    def run(n):
        frames = b"".join(pictures[i % 2].tobytes() for i in range(n))
        return min(spend(command, frames) for _ in range(3))
    return 1e3 * (run(7) - run(2)) / 5


def time_dis(pictures, preset):
    cv2.setNumThreads(1)
    flow = cv2.DISOpticalFlow_create(preset)
    best = float("inf")
    for _ in range(4):  # the first allocates
        start = time.process_time()
        flow.calc(pictures[1], pictures[0], None)
        best = min(best, time.process_time() - start)
    return 1e3 * best


def time_epzs(pictures):
    """Of one direction: mestimate searches two for each frame."""
    def run(n):
        start = time.process_time()
        search_epzs([pictures[i % 2] for i in range(n)])
        return time.process_time() - start
    return 1e3 * (min(run(8) for _ in range(3))
                  - min(run(3) for _ in range(3))) / 10


def time_all(name, options):
    """Name of each field -> milliseconds"""
    image = cv2.resize(motion_scenes.picture(name), TIMED[::-1],
                       interpolation=cv2.INTER_CUBIC)
    scene = motion_scenes.warped("time", image,
                                 motion_scenes.translation(3.3, -1.7), sigma=2)
    pictures = scene.reference, scene.current
    times = {
        "field": time_dump(options.program, pictures, FIELD, options.settings),
        "full": time_dump(options.program, pictures, FULL),
    }
    if options.peers:
        times["DIS medium"] = time_dis(
            pictures, cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
        times["DIS fast"] = time_dis(
            pictures, cv2.DISOPTICAL_FLOW_PRESET_FAST)
        times["epzs"] = time_epzs(pictures)
    return times


def check(program):
    """Returns: whether each scene keeps its limits"""
    ok = True
    for scene in motion_scenes.scenes():
        error, off, psnr, _ = score(scene,
                                    run_dump(program, scene, FIELD)[0])
        most, most_off, least = LIMITS[scene.name]
        good = error <= most and 100 * off <= most_off and psnr >= least
        ok &= good
        print(f"{scene.name}: {error:.2f} px, {100 * off:.1f} %, {psnr:.2f} dB"
              + ("" if good else f", limits {most} px, {most_off} %, "
                 f"{least} dB"))
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", action="append")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("program")
    parser.add_argument("settings", nargs="*")
    options = parser.parse_args()
    try:
        motion_scenes.fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: no pictures: {error}")
        return 77
    if options.check:
        return 0 if check(options.program) else 1

    fields = {
        "field": lambda s: run_dump(options.program, s, FIELD,
                                    options.settings)[0],
        "full": lambda s: run_dump(options.program, s, FULL)[0],
    }
    if options.peers:
        fields["DIS medium"] = run_dis
        fields["epzs"] = run_epzs
    for name in options.picture or ["leuvenA.jpg"]:
        print(f"\n{name}, blocks of {SIZE}: end-point error (px) / blocks more "
              "than 3 px off / MC-PSNR (dB) / that of the visible pixels\n")
        print("| scene | " + " | ".join(fields) + " |")
        print("|---" * (1 + len(fields)) + "|")
        for scene in motion_scenes.scenes(name):
            cells = []
            for run in fields.values():
                error, off, psnr, visible = score(scene, run(scene))
                cells.append(f"{error:.2f} / {100 * off:.1f} % / {psnr:.2f} / "
                             f"{visible:.2f}")
            print(f"| {scene.name} | " + " | ".join(cells) + " |", flush=True)
        times = time_all(name, options)
        print("| processor time, 1920x1080, noise 2 | "
              + " | ".join(f"{times[field]:.0f} ms" for field in fields) + " |")
        if options.peers:
            print(f"\nDIS fast: {times['DIS fast']:.0f} ms. One thread each.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

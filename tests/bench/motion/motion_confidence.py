#!/usr/bin/env python3
"""motion_confidence.py [--scenes=N] [--fit] FIELD-EVIDENCE

Fits and tests the confidence of method=field on random scenes (motion_scenes.py) with
known motion. FIELD-EVIDENCE is tests/oracle/field-evidence of a build. --fit writes
cuda/motion/fieldtables.h to standard output; without it the tables there are tested, on
other pictures and other scenes than they were fitted to: a table in Markdown with
the share of right vectors in each tenth of the confidence.

A vector is right if it is within one pixel of the truth (motion_truth.py), also in a
block that the other frame does not show. The logarithm of the odds is a sum of one
term for each kind of evidence, which depends on its bin; its tables are those of
greatest likelihood with a small quadratic penalty. The sum is then mapped to the
share of right vectors by isotonic regression. Needs NumPy, opencv-python-headless
and scikit-image."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import pathlib
import re
import subprocess
import sys

import numpy as np

import motion_scenes
import motion_truth

FIT = ["baboon.jpg", "board.jpg", "building.jpg", "fruits.jpg", "home.jpg",
       "starry_night.jpg", "messi5.jpg", "graf1.png", "coffee", "astronaut",
       "chelsea", "rocket", "gravel", "grass", "aero1.jpg", "apple.jpg",
       "orange.jpg", "cards.png", "chicky_512.png", "Blender_Suzanne1.jpg",
       "HappyFish.jpg", "left.jpg", "left01.jpg", "licenseplate_motion.jpg",
       "pic1.png", "pic2.png", "pic4.png", "smarties.png", "blox.jpg",
       "basketball2.png", "box_in_scene.png", "imageTextR.png", "moon",
       "coins", "page", "hubble_deep_field", "retina", "cell",
       "immunohistochemistry", "WindowsLogo.jpg"]
TEST = ["leuvenA.jpg", "aloeL.jpg", "stuff.jpg", "ela_original.jpg",
        "rubberwhale1.png", "camera", "brick", "squirrel_cls.jpg",
        "basketball1.png", "aero3.jpg", "butterfly.jpg", "sudoku.png",
        "right05.jpg", "pic3.png", "box.png", "text"]
TABLES = (pathlib.Path(__file__).resolve().parents[3] / "cuda" / "motion"
          / "fieldtables.h")
UNIT = 32  # of the terms: 1 in the logarithm of the odds
SUMS = 128  # entries of the last table
SPAN = 8  # sums from -SPAN to SPAN have entries
ROW = np.dtype([("vector", "<i4", 2), ("excess", "<i4"), ("cost", "<i4"),
                ("rough", "<i4"), ("support", "<i4"), ("distance", "<i4"),
                ("ambiguity", "<i4"), ("inside", "<i4"), ("noise", "<i4")])

# Lower limits of the bins of each kind of evidence, from the second bin on. The first
# three are in 1/32 of what noise alone makes (motion_field_bins() divides).
LIMITS = {
    "excess": [1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024],
    "ambiguity": [1, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512,
                  1024],
    "cost": [8, 16, 24, 28, 32, 36, 40, 48, 64, 96, 128, 192, 256, 384, 512],
    "rough": [1, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224],
    "support": [1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448],
    "distance": [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 31, 32],
    "inside": list(range(2, 17)),
}


def bins(rows):
    """Bin of each kind of evidence of each row, 0 to 15."""
    noise = rows["noise"]
    scaled = {
        "excess": np.maximum(rows["excess"], 0) * 32 // (4 * noise + 8),
        "ambiguity": np.maximum(rows["ambiguity"], 0) * 32
        // (2 * noise + 24),
        "cost": rows["cost"] * 32 // (18 * noise + 64),
    }
    return np.stack([np.searchsorted(limits, scaled.get(name, rows[name]),
                                     side="right")
                     for name, limits in LIMITS.items()], 1)


# --- scenes ------------------------------------------------------------------

def is_right(scene, vectors):
    """Of all blocks, shown or not."""
    everywhere = motion_scenes.Scene(
        scene.name, scene.reference, scene.current, scene.truth,
        np.ones_like(scene.visible), scene.clean)
    return motion_truth.block_errors(everywhere, vectors)[0] <= 1


def gather(program, names, count, seed):
    """Evidence of the blocks of @count scenes, and which of them are right."""
    random = np.random.default_rng(seed)
    parts = []
    while count > 0:
        scenes = [motion_scenes.random_scene(random, names)
                  for _ in range(min(count, 50))]
        count -= len(scenes)
        h, w = scenes[0].current.shape
        out = subprocess.run(
            [program, f"width={w}", f"height={h}"], check=True,
            input=b"".join(s.reference.tobytes() + s.current.tobytes()
                           for s in scenes), stdout=subprocess.PIPE).stdout
        rows = np.frombuffer(out, ROW)
        fields = rows.reshape(len(scenes), -(-h // motion_truth.SIZE),
                              -(-w // motion_truth.SIZE))
        right = [is_right(s, f["vector"] / 4)
                 for s, f in zip(scenes, fields)]
        parts.append((rows, np.stack(right).ravel()))
    return (np.concatenate([p[0] for p in parts]),
            np.concatenate([p[1] for p in parts]))


# --- fit -----------------------------------------------------------------------

def fit_terms(b, right, weight):
    """Terms of each bin: Newton's method."""
    n = len(LIMITS)
    columns = b + 16 * np.arange(n)
    theta = np.zeros(16 * n + 1)
    ridge = np.full(16 * n + 1, 2.0)
    ridge[-1] = 1e-6
    # neighbouring bins have similar terms
    smooth = np.zeros((16 * n + 1, 16 * n + 1))
    for k in range(n):
        for i in range(15):
            j = 16 * k + i
            smooth[j, j] += 1
            smooth[j + 1, j + 1] += 1
            smooth[j, j + 1] -= 1
            smooth[j + 1, j] -= 1
    penalty = np.diag(ridge) + 20 * smooth
    design = np.zeros((len(b), 16 * n + 1), np.float32)
    np.put_along_axis(design, columns, 1, 1)
    design[:, -1] = 1
    for _ in range(12):
        p = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (weight * (right - p)) - penalty @ theta
        hessian = (design * (weight * p * (1 - p) + 1e-9)[:, None]).T @ design
        theta += np.linalg.solve(hessian + penalty, gradient)
    return theta[:-1].reshape(n, 16), theta[-1]


def isotonic(values, weights):
    """Pool adjacent violators."""
    levels = []
    for v, w in zip(values, weights):
        levels.append([v, w, 1])
        while len(levels) > 1 and levels[-2][0] >= levels[-1][0]:
            v1, w1, n1 = levels.pop()
            v0, w0, n0 = levels.pop()
            levels.append([(v0 * w0 + v1 * w1) / (w0 + w1), w0 + w1, n0 + n1])
    return np.concatenate([np.full(n, v) for v, _, n in levels])


def sum_index(b, terms):
    total = np.take_along_axis(terms, b.T, 1).sum(0)
    index = (total + SPAN * UNIT) * SUMS // (2 * SPAN * UNIT)
    return np.clip(index, 0, SUMS - 1)


def fit(rows, right):
    b = bins(rows)
    some = np.arange(len(b)) // 1200 % 4 == 0  # every fourth scene
    terms, bias = fit_terms(b[some], right[some], np.ones(some.sum()))
    terms = np.rint((terms + bias / len(LIMITS)) * UNIT).astype(int)
    terms = np.clip(terms, -127, 127)
    index = sum_index(b, terms)
    count = np.bincount(index, minlength=SUMS) + 1e-3
    good = np.bincount(index, right, SUMS)
    prior = 1 / (1 + np.exp(-((np.arange(SUMS) + 0.5) * 2 * SPAN / SUMS
                              - SPAN)))
    share = isotonic((good + 5 * prior) / (count + 5), count + 5)
    return terms, np.clip(np.rint(share * 256), 0, 255).astype(int)


HEADER = """/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From evidence to confidence (motion_field_confidence()). Written by
 * tests/bench/motion/motion_confidence.py --fit: do not edit. */
#pragma once

#include <glib.h>

#define MOTION_FIELD_KINDS {kinds}

#ifdef __CUDACC__
#define MOTION_FIELD_TABLE static __device__ const
#else
#define MOTION_FIELD_TABLE static const
#endif

/* clang-format off */
/* Lower limits of the bins of each kind of evidence, from the second bin on */
MOTION_FIELD_TABLE gint16 motion_field_limits[MOTION_FIELD_KINDS][15] = {{
{limits}}};
/* Terms of the bins, 1/{unit} in the logarithm of the odds */
MOTION_FIELD_TABLE gint8 motion_field_terms[MOTION_FIELD_KINDS][16] = {{
{terms}}};
/* Confidence for sums of terms */
MOTION_FIELD_TABLE guint8 motion_field_confidences[{sums}] = {{
{table}}};
/* clang-format on */
"""


def write_header(terms, table):
    def lines(rows):
        return "".join("  /* " + name + " */\n  { "
                       + ", ".join(str(n) for n in row) + " },\n"
                       for name, row in rows)

    text = "".join("  " + ", ".join(str(n) for n in table[i:i + 16]) + ",\n"
                   for i in range(0, len(table), 16))
    return HEADER.format(kinds=len(LIMITS), limits=lines(LIMITS.items()),
                         terms=lines(zip(LIMITS, terms)), table=text,
                         unit=UNIT, sums=SUMS)


def read_tables():
    text = TABLES.read_text(encoding="utf-8")

    def numbers(name):
        part = text[text.index(name):]
        part = part[part.index("= {"):part.index("};")]
        part = re.sub(r"/\*.*?\*/", "", part)
        return [int(n) for n in re.findall(r"-?\d+", part)]

    return (np.array(numbers("motion_field_terms[")).reshape(-1, 16),
            np.array(numbers("motion_field_confidences[")))


# --- test ----------------------------------------------------------------------

def report(confidence, right):
    """Returns: whether each tenth with 500 vectors states its share to 0.05."""
    print("| stated | vectors | mean stated | right |\n|---|---|---|---|")
    ok = True
    for tenth in range(10):
        low, high = 256 * tenth / 10, 256 * (tenth + 1) / 10
        here = (confidence >= low) & (confidence < high)
        if not here.any():
            continue
        stated, share = confidence[here].mean() / 256, right[here].mean()
        good = here.sum() < 500 or abs(stated - share) <= 0.05
        ok &= good
        print(f"| {tenth / 10:.1f} to {tenth / 10 + 0.1:.1f} | {here.sum()} "
              f"| {stated:.3f} | {share:.3f}{'' if good else ' (!)'} |")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=1500)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("program")
    options = parser.parse_args()
    seed = 1 + options.seed + (1000 if options.fit else 0)
    rows, right = gather(options.program, FIT if options.fit else TEST,
                            options.scenes, seed)
    if options.fit:
        sys.stdout.write(write_header(*fit(rows, right)))
        return 0
    terms, table = read_tables()
    return 0 if report(table[sum_index(bins(rows), terms)], right) else 1


if __name__ == "__main__":
    sys.exit(main())

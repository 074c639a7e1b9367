#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""surface-roughness.py [--lambda-c=METRES] [--spacing=METRES] FOLDER: roughness of measured surfaces.

Prints Sa, Sq and Sz of the roughness of each surface file in FOLDER, as CSV, in
natural order of names. A file that cannot be read, or whose spacing is too large for
the cut-off, has its error on stderr, and the exit status is 1. Warnings and the number
of files with other suffixes are on stderr."""
import argparse
import csv
import pathlib
import re
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision

SUFFIXES = {".x3p", ".sdf", ".sur", ".gsf", ".tif", ".tiff", ".npy", ".npz", ".al3d",
            ".bcrf", ".plu", ".opd"}


def natural(path):
    """Sorts numbers in names by their value: a2 comes before a10."""
    return [(int(part), "") if part.isdigit() else (-1, part)
            for part in re.split(r"([0-9]+)", path.name)]


def pull_samples(pipeline):
    """Runs the pipeline; each sample of its sink until the end of the stream."""
    sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        ended = False
        while not ended:
            ended = sink.get_property("eos")  # an error comes before this
            sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
            if sample:
                yield sample
            while message := bus.pop_filtered(Gst.MessageType.ERROR
                                              | Gst.MessageType.WARNING):
                if message.type == Gst.MessageType.ERROR:
                    raise RuntimeError(f"{message.src.get_name()}: "
                                       f"{message.parse_error()[0].message}")
                print(f"warning: {message.src.get_name()}: "
                      f"{message.parse_warning()[0].message}", file=sys.stderr)
    finally:
        pipeline.set_state(Gst.State.NULL)


def measure(path, lambda_c, spacing):
    """Sa, Sq and Sz of the file's first surface, metres."""
    pipeline = Gst.parse_launch(
        "surfacesrc name=source ! cudalwtfilter name=filter parameters=true ! "
        "appsink name=sink sync=false")
    pipeline.get_by_name("source").set_property("location", str(path))
    pipeline.get_by_name("filter").set_property("lambda-c", lambda_c)
    pipeline.get_by_name("filter").set_property("dx", spacing)
    for sample in pull_samples(pipeline):
        # the meta lasts as long as its buffer, so the buffer has a name
        buffer = sample.get_buffer()
        meta = GstCudaVision.buffer_get_surface_meta(buffer)
        parameters = meta.parameters
        return [parameters.sa, parameters.sq, parameters.sz]
    raise RuntimeError(f"{path} has no surface")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lambda-c", type=float, default=80e-6,
                        help="roughness is shorter than this, metres")
    parser.add_argument("--spacing", type=float, default=0,
                        help="sample spacing for files that do not specify it, metres")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    Gst.init(None)
    table = csv.writer(sys.stdout)
    table.writerow(["file", "sa_nm", "sq_nm", "sz_nm"])
    failed = False
    others = 0
    for path in sorted(options.folder.iterdir(), key=natural):
        if path.suffix.lower() not in SUFFIXES:
            others += 1
            continue
        try:
            found = measure(path, options.lambda_c, options.spacing)
        except RuntimeError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            failed = True
        else:
            table.writerow([path.name, *(f"{metres * 1e9:.1f}" for metres in found)])
    if others:
        print(f"warning: {others} entries of the folder with other suffixes are skipped",
              file=sys.stderr)
    return failed


sys.exit(main())

#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pbf-features.py FILE.csv [PIPELINE]: melt-pool features as a table.

Runs a pipeline that ends in "appsink name=sink" behind the result pad of
cudapbfmonitor, and writes a row for each frame in which the laser is on: frame
number, layer, the 40 features. With pandas the table is a DataFrame, which is also
summed up; without, the csv module writes it."""
import csv
import sys

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision

try:
    import pandas
except ImportError:
    pandas = None

PIPELINE = ("pbftestsrc num-buffers=2000 ! cudapbfmonitor name=monitor ! fakesink "
            "monitor.src_result ! appsink name=sink sync=false")
COLUMNS = ["frame_index", "layer"] + GstCudaVision.PBF_FEATURE_NAMES


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
            error = bus.pop_filtered(Gst.MessageType.ERROR)
            if error:
                raise RuntimeError(f"{error.src.get_name()}: "
                                   f"{error.parse_error()[0].message}")
    finally:
        pipeline.set_state(Gst.State.NULL)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    Gst.init(None)
    pipeline = Gst.parse_launch(sys.argv[2] if len(sys.argv) == 3 else PIPELINE)
    results = numpy.concatenate([
        GstCudaVision.pbf_results_from_buffer(sample.get_buffer())
        for sample in pull_samples(pipeline)])
    lit = results[results["flags"] & GstCudaVision.PbfResultFlags.EMPTY == 0]
    if pandas:
        table = pandas.DataFrame(lit["features"], columns=COLUMNS[2:])
        table.insert(0, "layer", lit["layer"])
        table.insert(0, "frame_index", lit["frame_index"])
        table.to_csv(sys.argv[1], index=False)
        print(table[["mp_area", "mp_mean", "spatter_count"]].describe())
    else:
        with open(sys.argv[1], "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(COLUMNS)
            for row in lit:
                writer.writerow([row["frame_index"], row["layer"],
                                 *row["features"]])
    print(f"{len(results)} frames, {len(lit)} with the laser on")


main()

#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""motion-vectors.py FILE.npy [PIPELINE]: the motion of a clip as a NumPy array.

Runs a pipeline that ends in "appsink name=sink" and saves the vectors of its frames,
in pixels, as an array of frames x rows x columns x 2 (x, y): the position of a
block's content in the frame before, relative to the block, to the right and down.
NaN for frames without a reference."""
import sys

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision

PIPELINE = ("videotestsrc pattern=ball num-buffers=30 ! "
            "video/x-raw,format=I420,width=320,height=240 ! "
            "cudamotionest ! appsink name=sink sync=false")


def get_motion(buffer):
    """rows x columns x 2, pixels of this buffer; None without a vector."""
    meta = GstCudaVision.buffer_get_motion_vector_meta(buffer, -1)
    if meta is None:
        return None
    vectors = meta.get_vector_array()
    return numpy.stack([vectors["x"] / 4 * meta.scale_x,
                        vectors["y"] / 4 * meta.scale_y], axis=-1)


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
    frames = [get_motion(sample.get_buffer()) for sample in pull_samples(pipeline)]
    known = [frame for frame in frames if frame is not None]
    if not known:
        sys.exit("no frame has motion vectors: does the pipeline have a cudamotionest?")
    motion = numpy.stack([numpy.full_like(known[0], numpy.nan) if frame is None
                          else frame for frame in frames])
    numpy.save(sys.argv[1], motion)
    speed = numpy.hypot(motion[..., 0], motion[..., 1])
    print(f"{motion.shape[0]} frames of {motion.shape[1]} x {motion.shape[2]} blocks, "
          f"median {numpy.nanmedian(speed):.2f} pixels, "
          f"largest {numpy.nanmax(speed):.2f} pixels")


main()

#!/usr/bin/env python3
"""introspection.py: reads each meta, record and caps of the library from Python and
compares it with the text that the elements write. Exit status 77: no PyGObject or NumPy."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import csv
import math
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import gi
    import numpy
    gi.require_version("Gst", "1.0")
    gi.require_version("GstCudaVision", "1.0")
    from gi.repository import GLib, Gst, GstCudaVision
except (ImportError, ValueError) as error:
    print(f"skipped: {error} (packages python3-gi, python3-numpy, "
          "gir1.2-gst-plugins-base-1.0)")
    sys.exit(77)

SIZES = {"MotionVector": 8, "MotionBlock": 24, "MotionPacket": 64,
         "MotionSummary": 144, "MotionPacketField": 160, "PbfSignal": 64,
         "PbfResult": 896}


def pull(description):
    """Every sample of the pipeline's element "sink"."""
    pipeline = Gst.parse_launch(description)
    sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
    samples = []
    pipeline.set_state(Gst.State.PLAYING)
    ended = False
    while not ended:
        ended = sink.get_property("eos")  # an error comes before this
        sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
        if sample:
            samples.append(sample)
        message = bus.pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise AssertionError(message.parse_error())
    pipeline.set_state(Gst.State.NULL)
    return samples


def read_table(pipeline):
    """The rows that a pipeline writes as CSV into table.csv."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True,
                       cwd=folder)
        with open(os.path.join(folder, "table.csv"), newline="",
                  encoding="utf-8") as stream:
            return list(csv.DictReader(stream))


class Motion(unittest.TestCase):
    SOURCE = ("videotestsrc num-buffers=3 pattern=ball ! "
              "video/x-raw,format=I420,width=100,height=60 ! "
              "cudamotionest block-size=16 name=m")

    def test_arrays(self):
        samples = pull(self.SOURCE + " ! appsink name=sink")
        rows = read_table(self.SOURCE + " ! fakesink m.src_vectors ! motionvectorenc ! "
                          "filesink location=table.csv")
        self.assertEqual(len(samples), 3)
        self.assertIsNone(GstCudaVision.buffer_get_motion_vector_meta(
            samples[0].get_buffer(), -1))
        found, confidences = [], []
        for sample in samples[1:]:
            buffer = sample.get_buffer()
            meta = GstCudaVision.buffer_get_motion_vector_meta(buffer, -1)
            self.assertEqual((meta.packet.width, meta.packet.height), (100, 60))
            self.assertEqual(meta.field.distance, -1)
            self.assertTrue(0 <= meta.field.summary.scene_score <= 1)
            found.append((meta.get_vector_array(), meta.get_block_array()))
            confidences.append(meta.get_confidence_array())
            self.assertGreaterEqual(confidences[-1].min(), 0)
            self.assertLessEqual(confidences[-1].max(), 255)
            constant = int(GstCudaVision.MotionBlockFlags.CONSTANT)
            used = sum(int(flags) & constant == 0 for flags in found[-1][1]["flags"].reshape(-1))
            self.assertEqual(sum(meta.field.summary.histogram), used)
            block, rect, x, y = meta.get_block(6, 3)
            self.assertEqual((rect.x, rect.y, rect.w, rect.h), (96, 48, 4, 12))
            vectors, blocks = found[-1]
            self.assertEqual((x, y), (vectors[3, 6]["x"] / 4, vectors[3, 6]["y"] / 4))
            self.assertEqual(block.sad, blocks[3, 6]["sad"])
            self.assertIsNone(meta.get_block(7, 0)[0])
        unrated = pull(self.SOURCE + " method=full ! appsink name=sink")[1].get_buffer()
        meta = GstCudaVision.buffer_get_motion_vector_meta(unrated, -1)
        self.assertTrue((meta.get_confidence_array() == -1).all())
        del samples, buffer, meta, block # arrays live on
        self.assertEqual(len(rows), 2 * 4 * 7)
        for i, row in enumerate(rows):
            frame, place = divmod(i, 4 * 7)
            vector = found[frame][0].reshape(-1)[place]
            block = found[frame][1].reshape(-1)[place]
            self.assertEqual((vector["x"], vector["y"]),
                             (int(row["mv_x_qpel"]), int(row["mv_y_qpel"])))
            self.assertEqual((block["sad"], block["zero_sad"], block["flags"] & 0xffffff,
                              confidences[frame].reshape(-1)[place]),
                             (int(row["sad"]), int(row["zero_sad"]),
                              int(row["flags"]), int(row["confidence"])))

    def test_packets(self):
        samples = pull(self.SOURCE + " ! fakesink m.src_vectors ! appsink name=sink")
        packet = samples[1].get_buffer()
        data = packet.extract_dup(0, packet.get_size())
        GstCudaVision.MotionPacket.check(data)
        with self.assertRaisesRegex(GLib.Error, "does not begin with MOTV"):
            GstCudaVision.MotionPacket.check(b"x" + data[1:])
        self.assertEqual(len(data), GstCudaVision.MotionPacket.get_size(7, 4, 1))
        holder = Gst.Buffer.new()
        self.assertEqual(
            GstCudaVision.buffer_add_motion_vector_metas(holder, packet), 1)
        meta = GstCudaVision.buffer_get_motion_vector_meta(holder, -1)
        self.assertEqual(meta.get_vector_array().shape, (4, 7))


class MeltPool(unittest.TestCase):
    SOURCE = "pbftestsrc num-buffers=40 frames-per-list=1 regime=spatter ! "

    def test_results(self):
        rows = read_table(self.SOURCE + "cudapbfmonitor name=m ! fakesink m.src_result ! "
                          "pbfresultenc ! filesink location=table.csv")
        results = numpy.concatenate([
            GstCudaVision.pbf_results_from_buffer(sample.get_buffer())
            for sample in pull(self.SOURCE + "cudapbfmonitor name=m ! fakesink "
                               "m.src_result ! appsink name=sink")])
        samples = pull(self.SOURCE + "cudapbfmonitor ! appsink name=sink")
        self.assertEqual((len(results), len(rows), len(samples)), (40, 40, 40))
        # the table's columns are the records' features, name by name
        names = GstCudaVision.PBF_FEATURE_NAMES
        self.assertEqual(list(rows[0])[-40:], names)
        spatters = 0
        for result, row, sample in zip(results, rows, samples):
            self.assertEqual(result["frame_counter"], int(row["frame_counter"]))
            for name, feature in zip(names, result["features"]):
                self.assertTrue(math.isclose(feature, float(row[name]), rel_tol=1e-6))
            buffer = sample.get_buffer()
            meta = GstCudaVision.buffer_get_pbf_meta(buffer)
            array = meta.get_result_array()
            self.assertEqual(array, result)
            self.assertEqual(meta.result.raw, result["raw"].tolist())
            self.assertEqual(meta.result.flags, result["flags"])
            self.assertEqual((meta.scale_x, meta.offset_x), (1.0, 0.0))
            n = meta.result.n_spatters
            self.assertEqual(numpy.count_nonzero(array["spatters"]["area"]), n)
            spatters += n
        self.assertGreater(spatters, 0)

    def test_signals_and_truth(self):
        for sample in pull(self.SOURCE + "appsink name=sink"):
            buffer = sample.get_buffer()
            signal = GstCudaVision.buffer_get_pbf_signal_meta(buffer).signal
            self.assertEqual(signal.magic, GstCudaVision.PBF_SIGNAL_MAGIC)
            self.assertEqual((signal.width, signal.height), (96, 96))
            truth = GstCudaVision.buffer_get_pbf_truth_meta(buffer)
            self.assertEqual(truth.regime, GstCudaVision.PbfRegime.SPATTER)
            lit = GstCudaVision.PbfSignalFlags(signal.flags)
            self.assertEqual(truth.laser_on, bool(
                lit & GstCudaVision.PbfSignalFlags.LASER_ON))
            self.assertIsNone(GstCudaVision.buffer_get_pbf_meta(buffer))

    def test_crop(self):
        for sample in pull(self.SOURCE + "cudaroicrop width=40 height=40 ! "
                           "appsink name=sink"):
            buffer = sample.get_buffer()
            crop = GstCudaVision.buffer_get_frame_crop_meta(buffer)
            self.assertEqual((crop.frame_width, crop.frame_height), (96, 96))
            self.assertTrue(0 <= crop.x <= 56 and 0 <= crop.y <= 56)
            self.assertTrue(0 < crop.center_x < 96)


class Surfaces(unittest.TestCase):
    def test_meta(self):
        sample, = pull("surfacetestsrc num-buffers=1 ! cudalwtfilter lambda-c=80e-6 "
                       "parameters=true ! appsink name=sink")
        buffer = sample.get_buffer()
        meta = GstCudaVision.buffer_get_surface_meta(buffer)
        heights = GstCudaVision.surface_from_buffer(buffer, sample.get_caps())
        self.assertEqual(heights.shape, (meta.height, meta.width))
        self.assertEqual(GstCudaVision.surface_part_name(meta.part), "roughness")
        self.assertEqual(meta.part, GstCudaVision.SurfacePart.ROUGHNESS)
        self.assertEqual((meta.get_wavelet(), meta.get_boundary()),
                         ("9/7", ""))
        self.assertEqual((meta.dx, meta.lambda_c[0]), (1e-6, meta.lambda_c[1]))
        self.assertIsNone(meta.mask)
        heights = heights.astype(float)
        sa = numpy.abs(heights - heights.mean()).mean()
        self.assertTrue(math.isclose(meta.parameters.sa, sa, rel_tol=1e-4),
                        (meta.parameters.sa, sa))

    def test_caps(self):
        info = GstCudaVision.SurfaceInfo.from_caps(Gst.Caps.from_string(
            "other/tensors,format=static,num_tensors=1,types=float64,"
            "dimensions=(string)4:5:1:1,surface-dx=1e-6"))
        self.assertEqual((info.width, info.height, info.dx, info.get_size()),
                         (4, 5, 1e-6, 160))
        self.assertEqual(info.to_caps().get_structure(0).get_string("types"),
                         "float64")
        with self.assertRaisesRegex(GLib.Error, "must be other/tensors"):
            GstCudaVision.SurfaceInfo.from_caps(Gst.Caps.from_string("video/x-raw"))


class Records(unittest.TestCase):
    def test_sizes(self):
        for name, size in SIZES.items():
            self.assertEqual(
                GstCudaVision.record_dtype(getattr(GstCudaVision, name)).itemsize,
                size, name)


Gst.init(None)
unittest.main()

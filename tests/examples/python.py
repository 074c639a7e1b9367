#!/usr/bin/env python3
"""python.py FOLDER: runs the Python examples of FOLDER and checks their output.
Exit status 77: no PyGObject or NumPy."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import csv
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import gi
    import numpy
    gi.require_version("GstCudaVision", "1.0")
except (ImportError, ValueError) as error:
    print(f"skipped: {error} (packages python3-gi, python3-numpy, "
          "gir1.2-gst-plugins-base-1.0)")
    sys.exit(77)

FOLDER = os.path.abspath(sys.argv.pop(1))


class Examples(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def run_example(self, name, *arguments, status=0):
        done = subprocess.run(
            [sys.executable, os.path.join(FOLDER, name), *arguments],
            cwd=self.place.name, text=True, check=False, capture_output=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def path(self, name):
        return os.path.join(self.place.name, name)

    def test_motion_vectors(self):
        out = self.run_example("motion-vectors.py", "motion.npy").stdout
        self.assertRegex(out, r"^30 frames of 15 x 20 blocks, median 0\.00 pixels")
        motion = numpy.load(self.path("motion.npy"))
        self.assertEqual(motion.shape, (30, 15, 20, 2))
        self.assertTrue(numpy.isnan(motion[0]).all())
        self.assertTrue(numpy.isfinite(motion[1:]).all())
        # the ball moves, its ground does not
        self.assertTrue((numpy.abs(motion[1:]).max(axis=(1, 2, 3)) > 1).all())

    def test_motion_vectors_of_nothing(self):
        done = self.run_example("motion-vectors.py", "motion.npy",
                                "videotestsrc num-buffers=2 ! appsink name=sink", status=1)
        self.assertIn("no frame has motion vectors", done.stderr)

    def test_pbf_features(self):
        out = self.run_example("pbf-features.py", "features.csv").stdout
        self.assertRegex(out, r"(?m)^2000 frames, 1\d{3} with the laser on$")
        with open(self.path("features.csv"), newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertIn(f"{len(rows)} with the laser on", out)
        self.assertEqual(len(rows[0]), 42)
        area = [float(row["mp_area"]) for row in rows]
        self.assertTrue(20 < sum(area) / len(area) < 200)

    def test_pbf_features_error(self):
        done = self.run_example(
            "pbf-features.py", "features.csv",
            "pbftestsrc num-buffers=1 ! cudapbfmonitor name=m calibration=0,0,0 ! "
            "fakesink m.src_result ! appsink name=sink", status=1)
        self.assertIn("it is a 3x3 matrix", done.stderr)

    def test_surface_roughness(self):
        for name in ("b.gsf", "a.npy"):
            subprocess.run(["gst-launch-1.0", "-q", "surfacetestsrc", "num-buffers=1",
                            "!", "surfacesink", "location=" + self.path(name)],
                           check=True)
        with open(self.path("notes.txt"), "w", encoding="utf-8") as stream:
            stream.write("no surface\n")
        done = self.run_example("surface-roughness.py", "--spacing=1e-6",
                                self.place.name)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual([row["file"] for row in rows], ["a.npy", "b.gsf"])
        for row in rows:
            self.assertTrue(0 < float(row["sa_nm"]) < float(row["sq_nm"])
                            < float(row["sz_nm"]))
        self.assertIn("1 entries of the folder with other suffixes", done.stderr)
        done = self.run_example("surface-roughness.py", "--spacing=1e-6",
                                "--lambda-c=1.8e-6", self.place.name, status=1)
        self.assertRegex(done.stderr, r"(?m)^a\.npy: .*is 1\.8 samples along x")
        self.assertEqual(len(done.stdout.splitlines()), 1)
        with open(self.path("c.sdf"), "w", encoding="utf-8") as stream:
            stream.write("no surface\n")
        done = self.run_example("surface-roughness.py", self.place.name, status=1)
        self.assertRegex(done.stderr, r"(?m)^a\.npy: .*the spacing of samples is not known")
        self.assertRegex(done.stderr, r"(?m)^c\.sdf: .*c\.sdf.* as a surface: ")
        self.assertEqual(done.stdout.splitlines()[1:], [",".join(rows[1].values())])


unittest.main()

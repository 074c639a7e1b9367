#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_adjust.py PROGRAM - cudavision.bundle_adjust() on a reconstruction with the attributes of
pycolmap's, and on those of pycolmap if it is installed."""
import os, pathlib, shutil, sys, tempfile, types, unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "oracle"), str(TESTS.parent / "gst/cudavision/python")]
try:
    import colmap_models
    import numpy as np
except ImportError:
    print("bundle_adjust.py: skipped: needs NumPy")
    sys.exit(77)
try:
    import pycolmap
except ImportError:
    pycolmap = None
import cudavision

PROGRAM = os.path.abspath(sys.argv.pop(1))


class Reconstruction:
    """The part of pycolmap.Reconstruction (3.8 to 3.11) that is used"""
    def __init__(self, folder):
        self.files = colmap_models.read(folder)
        cameras, images, points = self.files
        self.cameras = {i: types.SimpleNamespace(params=c["params"]) for i, c in cameras.items()}
        self.images = {i: types.SimpleNamespace(cam_from_world=(m["q"], m["t"])) for i, m in images.items()}
        self.points3D = {i: types.SimpleNamespace(xyz=p["x"], error=p["error"], track=types.SimpleNamespace(
            elements=[types.SimpleNamespace(image_id=int(a), point2D_idx=int(b)) for a, b in p["track"]]))
            for i, p in points.items()}

    def write_binary(self, folder):
        cameras, images, points = self.files
        for i, camera in self.cameras.items():
            cameras[i]["params"] = list(camera.params)
        for i, image in self.images.items():
            images[i]["q"], images[i]["t"] = image.cam_from_world
        for i, point in self.points3D.items():
            points[i]["x"], points[i]["error"] = list(point.xyz), point.error
            points[i]["track"] = np.array([(e.image_id, e.point2D_idx) for e in point.track.elements],
                                          colmap_models.ELEMENT)
        for i in set(points) - set(self.points3D):
            del points[i]
        for image in images.values():
            image["features"] = image["features"].copy()
            lost = ~np.isin(image["features"]["point"], np.array(list(points), np.uint64))
            image["features"]["point"][lost] = colmap_models.NONE
        colmap_models.write(folder, cameras, images, points)

    def delete_point3D(self, i):
        del self.points3D[i]

    def delete_observation(self, image, feature):
        for point in self.points3D.values():
            point.track.elements = [e for e in point.track.elements
                                    if (e.image_id, e.point2D_idx) != (image, feature)]


class Adjust(unittest.TestCase):
    kind = Reconstruction

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        colmap_models.simulate(f"{self.folder}/in", ["OPENCV", "SIMPLE_RADIAL"], 12, 300, 2)
        os.mkdir(f"{self.folder}/out")
        self.reconstruction = self.kind(f"{self.folder}/in")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def adjust(self, *arguments, **options):
        return cudavision.bundle_adjust(self.reconstruction, *arguments, program=PROGRAM, **options)

    def cost(self, *loss):
        self.reconstruction.write_binary(f"{self.folder}/out")
        return colmap_models.cost(f"{self.folder}/out", *loss)

    def test_in_place(self):
        camera, point = self.reconstruction.cameras[3], self.reconstruction.points3D[10]
        before = list(camera.params), list(point.xyz)
        report = self.adjust(refine_principal_point=True)
        self.assertAlmostEqual(report["final-cost"] / self.cost()[0], 1, delta=1e-9)
        self.assertLess(report["final-cost"], 0.1 * report["initial-cost"])
        for a, b in zip(before, (camera.params, point.xyz)):
            self.assertTrue(all(x != y for x, y in zip(a, b)))

    def test_settings(self):
        before = list(self.reconstruction.points3D[10].xyz), list(self.reconstruction.cameras[3].params)
        report = self.adjust(loss="cauchy", loss_scale=0.7, constant_points=[10], constant_cameras=[3],
                             constant_images=[5], max_num_iterations=3, threads=1)
        self.assertEqual(report["iterations"], 3)
        self.assertAlmostEqual(report["final-cost"] / self.cost("cauchy", 0.7)[0], 1, delta=1e-9)
        self.assertEqual(before[0], list(self.reconstruction.points3D[10].xyz))
        self.assertEqual(before[1], list(self.reconstruction.cameras[3].params))

    def test_options_of_pycolmap(self):
        ceres = types.SimpleNamespace(loss_function_type=types.SimpleNamespace(name="HUBER"), loss_function_scale=0.5,
                                      solver_options=types.SimpleNamespace(max_num_iterations=4))
        options = types.SimpleNamespace(ceres=ceres, refine_focal_length=False, refine_extra_params=False)
        before = list(self.reconstruction.cameras[3].params)
        report = self.adjust(options)
        self.assertEqual((report["iterations"], before), (4, list(self.reconstruction.cameras[3].params)))
        self.assertAlmostEqual(report["final-cost"] / self.cost("huber", 0.5)[0], 1, delta=1e-9)

    def test_deleted_observations_and_priors(self):
        for i, p in enumerate(list(self.reconstruction.points3D)[:40]):  # far away, all around
            self.reconstruction.points3D[p].xyz = [1000 * np.cos(i), 1000 * np.sin(i), 0]
        number = len(self.reconstruction.points3D)
        priors = {i: (10 * np.cos(i), 10 * np.sin(i), 1.0 + i % 2, 1, 1, 2) for i in self.reconstruction.images}
        report = self.adjust()
        self.assertGreater(report["deleted-points"], 0)
        self.assertGreater(report["deleted-observations"], 4 * report["deleted-points"])
        self.assertEqual(len(self.reconstruction.points3D), number - report["deleted-points"])
        self.assertEqual(self.cost()[1], report["observations"])
        self.reconstruction = self.kind(f"{self.folder}/in")
        self.assertEqual(self.adjust(priors=priors)["priors"], 12)

    def test_errors(self):
        start = self.cost()
        with self.assertRaisesRegex(RuntimeError, "no image with name or id 999"):
            self.adjust(constant_images=[999])
        with self.assertRaisesRegex(RuntimeError, "--loss l2 is none of"):
            self.adjust(loss="l2")
        with self.assertRaisesRegex(TypeError, "'refine_all'"):
            self.adjust(refine_all=True)
        with self.assertRaisesRegex(RuntimeError, "missing; install"):
            cudavision.bundle_adjust(self.reconstruction, program="no-such-program")
        self.assertEqual(self.cost(), start)


@unittest.skipIf(pycolmap is None, "needs pycolmap (PyPI)")
class AdjustPycolmap(Adjust):
    kind = pycolmap.Reconstruction if pycolmap else None

    def test_its_own_options(self):
        options = pycolmap.BundleAdjustmentOptions()
        options.refine_principal_point = True
        self.assertAlmostEqual(self.adjust(options)["final-cost"] / self.cost()[0], 1, delta=1e-9)

    def test_rigs(self):
        """The cost of pycolmap, and poses that agree; constant sensors stay"""
        colmap_models.simulate_rig(f"{self.folder}/in", 3, 12, 300)
        self.reconstruction = pycolmap.Reconstruction(f"{self.folder}/in")
        report = self.adjust()
        peer = pycolmap.Reconstruction(f"{self.folder}/in")
        pycolmap.bundle_adjustment(peer, pycolmap.BundleAdjustmentOptions(print_summary=False))
        peer.write_binary(f"{self.folder}/out")
        expected, _ = colmap_models.cost(f"{self.folder}/out")
        self.assertAlmostEqual(report["final-cost"] / expected, 1, delta=1e-6)
        self.assertAlmostEqual(self.cost()[0] / expected, 1, delta=1e-6)
        for i, frame in peer.frames.items():
            own = self.reconstruction.frames[i].rig_from_world
            self.assertLess(np.abs(own.matrix() - frame.rig_from_world.matrix()).max(), 1e-6)
        start = pycolmap.Reconstruction(f"{self.folder}/in")
        self.reconstruction = pycolmap.Reconstruction(f"{self.folder}/in")
        self.adjust(constant_sensors=[3])
        for i, rig in start.rigs.items():
            for sensor, pose in rig.non_ref_sensors.items():
                own = self.reconstruction.rigs[i].non_ref_sensors[sensor]
                same = np.array_equal(own.matrix(), pose.matrix())
                self.assertEqual(same, sensor.id == 3)


unittest.main()

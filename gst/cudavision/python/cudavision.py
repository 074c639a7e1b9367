# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bundle adjustment of pycolmap's reconstructions by the program cudavision.

    import cudavision, pycolmap
    reconstruction = pycolmap.Reconstruction("sparse/0")
    report = cudavision.bundle_adjust(reconstruction, refine_principal_point=True)
    print(report["initial-rms-px"], report["final-rms-px"])
"""
import json
import os
import subprocess
import tempfile

__all__ = ["bundle_adjust"]

SWITCHES = ("refine_focal_length", "refine_principal_point", "refine_extra_params", "refine_rig_from_world",
            "refine_points3D", "constant_rig_from_world_rotation", "refine_sensor_from_rig")
NUMBERS = ("min_track_length", "max_num_iterations", "max_linear_solver_iterations", "function_tolerance",
           "gradient_tolerance", "parameter_tolerance")


def _take_options(options):
    """Keyword arguments of pycolmap.BundleAdjustmentOptions"""
    ceres = getattr(options, "ceres", options)  # a part of its own since COLMAP 4
    solver = ceres.solver_options
    found = {name: getattr(options, name) for name in (*SWITCHES, "min_track_length") if hasattr(options, name)}
    if hasattr(options, "refine_extrinsics"):  # up to COLMAP 3.11
        found["refine_rig_from_world"] = options.refine_extrinsics
    found.update({name: getattr(solver, name) for name in NUMBERS if hasattr(solver, name)})
    found["loss"] = getattr(ceres.loss_function_type, "name", str(ceres.loss_function_type)).lower()
    found["loss_scale"] = ceres.loss_function_scale
    return found


def _write_lists(folder, constant_images, constant_cameras, constant_sensors, constant_points, priors):
    """Arguments for the lists that are not empty"""
    arguments = []
    lines = ([f"image {i} pose" for i in constant_images] + [f"camera {i} all" for i in constant_cameras]
             + [f"camera {i} pose" for i in constant_sensors] + [f"point {i}" for i in constant_points])
    places = [" ".join([str(i), *(repr(float(x)) for x in numbers)]) for i, numbers in (priors or {}).items()]
    for name, text in (("constants", lines), ("priors", places)):
        if text:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write("\n".join(text) + "\n")
            arguments.append(f"--{name}={path}")
    return arguments


def _run(program, arguments):
    try:
        done = subprocess.run([program, "bundle", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RuntimeError(f"the program {program} is missing; install the package cudavision") from None
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"{program} ended with status {done.returncode}")
    return json.loads(done.stdout)


def _delete_observations(reconstruction, adjusted):
    """Those that the adjustment deleted, because they lie behind their cameras"""
    for i in list(reconstruction.points3D):
        elements = [(e.image_id, e.point2D_idx) for e in reconstruction.points3D[i].track.elements]
        if i not in adjusted.points3D:
            reconstruction.delete_point3D(i)
            continue
        kept = {(e.image_id, e.point2D_idx) for e in adjusted.points3D[i].track.elements}
        for element in elements:
            if element not in kept:
                reconstruction.delete_observation(*element)


def _update(reconstruction, adjusted, deleted):
    for i, camera in adjusted.cameras.items():
        reconstruction.cameras[i].params = camera.params
    if hasattr(reconstruction, "frames"):  # since COLMAP 3.12
        for i, rig in adjusted.rigs.items():
            for sensor, pose in rig.non_ref_sensors.items():
                if pose is not None:
                    reconstruction.rigs[i].set_sensor_from_rig(sensor, pose)
        for i, frame in adjusted.frames.items():
            if frame.rig_from_world is None:
                continue
            reconstruction.frames[i].rig_from_world = frame.rig_from_world
    else:
        for i, image in adjusted.images.items():
            reconstruction.images[i].cam_from_world = image.cam_from_world
    if deleted:
        _delete_observations(reconstruction, adjusted)
    for i, point in adjusted.points3D.items():
        own = reconstruction.points3D[i]
        own.xyz = point.xyz
        own.error = point.error


def bundle_adjust(reconstruction, options=None, *, loss=None, loss_scale=None, constant_images=(),
                  constant_cameras=(), constant_sensors=(), constant_points=(), priors=None, prior_std=1.0, gauge="two-cameras",
                  threads=0, program="cudavision", **settings):
    """Adjusts a pycolmap.Reconstruction in place.

    options: pycolmap.BundleAdjustmentOptions; the arguments after it replace what it says
    loss: trivial (default), soft_l1, huber, cauchy or tukey, of loss_scale pixels (1)
    constant_images, constant_cameras, constant_points: ids of what stays as it is; of an image in a
        rig the pose of its frame, of a camera its intrinsics
    constant_sensors: ids of cameras whose poses in their rigs stay
    priors: {image id: (x, y, z) or (x, y, z, sx, sy, sz)}: measured positions and their standard
        deviations, prior_std where they have none; the reconstruction is aligned to them
    gauge: two-cameras or free: whether the first image and a coordinate of the second stay
    threads: 0: one per processor
    settings: those of BundleAdjustmentOptions: refine_focal_length, refine_principal_point,
        refine_extra_params, refine_rig_from_world, refine_points3D,
        refine_sensor_from_rig, constant_rig_from_world_rotation, min_track_length, max_num_iterations,
        max_linear_solver_iterations, function_tolerance, gradient_tolerance, parameter_tolerance

    Returns the object that `cudavision bundle --json` prints: costs, errors by camera and image and
    so on. Raises RuntimeError with the text of the program; the reconstruction is then unchanged."""
    unknown = [name for name in settings if name not in SWITCHES + NUMBERS]
    if unknown:
        raise TypeError(f"bundle_adjust() got an unexpected keyword argument {unknown[0]!r}")
    chosen = _take_options(options) if options is not None else {}
    names = {"loss": "trivial", "loss_scale": 1.0}
    names.update({name: chosen.pop(name) for name in names if name in chosen})
    names.update({name: value for name, value in (("loss", loss), ("loss_scale", loss_scale)) if value is not None})
    chosen.update(settings)
    with tempfile.TemporaryDirectory(prefix="cudavision-") as folder:
        start, end = os.path.join(folder, "start"), os.path.join(folder, "end")
        os.mkdir(start)
        reconstruction.write_binary(start)
        arguments = ["--input_path", start, "--output_path", end, "--json", "--loss", names["loss"],
                     "--loss-scale", repr(float(names["loss_scale"])), "--gauge", gauge, "--threads", str(threads),
                     "--prior-std", repr(float(prior_std))]
        for name, value in chosen.items():
            value = int(value) if name in SWITCHES or name.startswith(("max_", "min_")) else repr(float(value))
            arguments += [f"--BundleAdjustment.{name}", str(value)]
        arguments += _write_lists(folder, constant_images, constant_cameras, constant_sensors, constant_points, priors)
        report = _run(program, arguments)
        _update(reconstruction, type(reconstruction)(end),
                report["deleted-observations"] + report["deleted-points"] > 0)
    return report

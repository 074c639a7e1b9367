# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Binary models of COLMAP in NumPy: files, projections, cost and simulated scenes.
The judge of `cudavision bundle`, independent of its code.

    colmap_models.py cost FOLDER [LOSS SCALE]
    colmap_models.py make FOLDER MODEL IMAGES POINTS CAMERAS
    colmap_models.py make-rig FOLDER SENSORS FRAMES POINTS"""
import os
import struct
import sys

import numpy as np

# name, number of focal lengths, number of other parameters behind the principal point
MODELS = [("SIMPLE_PINHOLE", 1, 0), ("PINHOLE", 2, 0), ("SIMPLE_RADIAL", 1, 1), ("RADIAL", 1, 2),
          ("OPENCV", 2, 4), ("OPENCV_FISHEYE", 2, 4), ("FULL_OPENCV", 2, 8), ("FOV", 2, 1),
          ("SIMPLE_RADIAL_FISHEYE", 1, 1), ("RADIAL_FISHEYE", 1, 2), ("THIN_PRISM_FISHEYE", 2, 8)]
EXTRA = {"SIMPLE_RADIAL": [0.05], "RADIAL": [0.05, -0.02], "OPENCV": [0.05, -0.02, 1e-3, -2e-3],
         "OPENCV_FISHEYE": [0.03, -0.01, 0.005, -0.002],
         "FULL_OPENCV": [0.05, -0.02, 1e-3, -2e-3, 0.01, 0.02, -0.01, 0.01], "FOV": [0.7],
         "SIMPLE_RADIAL_FISHEYE": [0.03], "RADIAL_FISHEYE": [0.03, -0.01],
         "THIN_PRISM_FISHEYE": [0.03, -0.01, 1e-3, -2e-3, 0.005, -0.002, 1e-3, 2e-3]}
NONE = 2**64 - 1


def distort(name, k, u, v):
    """As COLMAP documents the models"""
    if "FISHEYE" in name:
        r = np.hypot(u, v)
        factor = np.where(r > 1e-8, np.arctan(r) / np.maximum(r, 1e-8), 1)
        u, v = u * factor, v * factor
    s = u * u + v * v
    if name in ("SIMPLE_PINHOLE", "PINHOLE"):
        return u, v
    if name == "FOV":
        r = np.sqrt(s)
        factor = np.where(r > 1e-8, np.arctan(2 * r * np.tan(k[0] / 2)) / np.maximum(r, 1e-8) / k[0],
                          2 * np.tan(k[0] / 2) / k[0])
        return u * factor, v * factor
    if name == "FULL_OPENCV":
        d = (1 + s * (k[0] + s * (k[1] + s * k[4]))) / (1 + s * (k[5] + s * (k[6] + s * k[7])))
    else:
        radial = k[:2] + k[4:6] if name == "THIN_PRISM_FISHEYE" else k[:2] if name == "OPENCV" else k
        d = 1 + sum(value * s**(i + 1) for i, value in enumerate(radial))
    x, y = u * d, v * d
    if name in ("OPENCV", "FULL_OPENCV", "THIN_PRISM_FISHEYE"):
        x = x + 2 * k[2] * u * v + k[3] * (s + 2 * u * u)
        y = y + 2 * k[3] * u * v + k[2] * (s + 2 * v * v)
    if name == "THIN_PRISM_FISHEYE":
        x, y = x + k[6] * s, y + k[7] * s
    return x, y


def project(camera, points):
    """Positions of points in the camera's frame, one a row, in the picture"""
    name, n, _ = MODELS[camera["model"]]
    p = list(camera["params"])
    x, y = distort(name, p[n + 2:], points[:, 0] / points[:, 2], points[:, 1] / points[:, 2])
    return np.stack([p[0] * x + p[n], p[n - 1] * y + p[n + 1]], 1)


def matrix(q):
    w, x, y, z = np.array(q) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


# --- files ---------------------------------------------------------------------------

class Bytes:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, dtype, n):
        values = np.frombuffer(self.data, dtype, n, self.at)
        self.at += values.nbytes
        return values

    def name(self):
        end = self.data.index(b"\0", self.at)
        name = self.data[self.at:end]
        self.at = end + 1
        return name


FEATURE = np.dtype([("at", "<f8", 2), ("point", "<u8")])
ELEMENT = np.dtype([("image", "<u4"), ("feature", "<u4")])


def read(folder):
    """Cameras, images and points by their ids, in the order of the files"""
    cameras, images, points = {}, {}, {}
    b = Bytes(os.path.join(folder, "cameras.bin"))
    for _ in range(b.take("Q")[0]):
        i, model, width, height = b.take("IiQQ")
        n = MODELS[model][1] + 2 + MODELS[model][2]
        cameras[i] = {"model": model, "size": (width, height), "params": list(b.take(f"{n}d"))}
    b = Bytes(os.path.join(folder, "images.bin"))
    for _ in range(b.take("Q")[0]):
        i, *pose, camera = b.take("I7dI")
        name = b.name()
        images[i] = {"q": pose[:4], "t": pose[4:], "camera": camera, "name": name,
                     "features": b.array(FEATURE, b.take("Q")[0])}
    b = Bytes(os.path.join(folder, "points3D.bin"))
    for _ in range(b.take("Q")[0]):
        i, *x = b.take("Q3d")
        rgb, error = b.take("3B"), b.take("d")[0]
        points[i] = {"x": x, "rgb": rgb, "error": error, "track": b.array(ELEMENT, b.take("Q")[0])}
    return cameras, images, points


def write(folder, cameras, images, points):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "cameras.bin"), "wb") as file:
        file.write(struct.pack("<Q", len(cameras)))
        for i, c in cameras.items():
            file.write(struct.pack(f"<IiQQ{len(c['params'])}d", i, c["model"], *c["size"], *c["params"]))
    with open(os.path.join(folder, "images.bin"), "wb") as file:
        file.write(struct.pack("<Q", len(images)))
        for i, m in images.items():
            file.write(struct.pack("<I7dI", i, *m["q"], *m["t"], m["camera"]) + m["name"] + b"\0")
            file.write(struct.pack("<Q", len(m["features"])) + m["features"].tobytes())
    with open(os.path.join(folder, "points3D.bin"), "wb") as file:
        file.write(struct.pack("<Q", len(points)))
        for i, p in points.items():
            file.write(struct.pack("<Q3d3BdQ", i, *p["x"], *p["rgb"], p["error"], len(p["track"])))
            file.write(p["track"].tobytes())


def read_rigs(folder):
    """Poses (q, t) of the sensors by camera, and of the frames with their pairs (camera, image) by
    frame; one rig"""
    file, sensors, frames = Bytes(os.path.join(folder, "rigs.bin")), {}, {}
    file.take("QI")
    for i in range(file.take("I")[0]):
        _, camera = file.take("iI")
        if i > 0 and file.take("B")[0]:
            pose = file.take("7d")
            sensors[camera] = pose[:4], pose[4:]
    file = Bytes(os.path.join(folder, "frames.bin"))
    for _ in range(file.take("Q")[0]):
        number, _, *pose, n = file.take("II7dI")
        frames[number] = (pose[:4], pose[4:]), [file.take("iIQ")[1:] for _ in range(n)]
    return sensors, frames


def write_rigs(folder, reference, sensors, frames):
    with open(os.path.join(folder, "rigs.bin"), "wb") as file:
        file.write(struct.pack("<QIIiI", 1, 1, 1 + len(sensors), 0, reference))
        for camera, (q, t) in sensors.items():
            file.write(struct.pack("<iIB7d", 0, camera, 1, *q, *t))
    with open(os.path.join(folder, "frames.bin"), "wb") as file:
        file.write(struct.pack("<Q", len(frames)))
        for number, ((q, t), images) in frames.items():
            file.write(struct.pack("<II7dI", number, 1, *q, *t, len(images)))
            for camera, image in images:
                file.write(struct.pack("<iIQ", 0, camera, image))


def largest_disagreement(folder):
    """Of poses of images and the products of those of sensors and frames"""
    images, (sensors, frames) = read(folder)[1], read_rigs(folder)
    worst = 0
    for (q, t), seen in frames.values():
        for camera, image in seen:
            r, place = matrix(q), np.array(t)
            if camera in sensors:
                turn = matrix(sensors[camera][0])
                r, place = turn @ r, turn @ place + sensors[camera][1]
            worst = max(worst, np.abs(r - matrix(images[image]["q"])).max(), np.abs(place - images[image]["t"]).max())
    return worst


# --- cost ------------------------------------------------------------------------------

def rho(loss, scale, s):
    """The loss of squared residuals, as Ceres documents it"""
    b = scale * scale
    if loss == "soft_l1":
        return 2 * b * (np.sqrt(1 + s / b) - 1)
    if loss == "cauchy":
        return b * np.log1p(s / b)
    if loss == "huber":
        return np.where(s > b, 2 * scale * np.sqrt(s) - b, s)
    if loss == "tukey":
        return b / 3 * (1 - np.where(s > b, 0, 1 - s / b)**3)
    return s


def costs(model, kind, loss="trivial", scale=1.0):
    """For each image or camera half the sum of the loss of squared residuals in pixels, the
    sum of the squares, and the number of observations; points with fewer than two do not count"""
    cameras, images, points = model
    ids, features, positions = [], [], []
    for p in points.values():
        if len(p["track"]) < 2:
            continue
        ids.append(p["track"]["image"])
        features.append(p["track"]["feature"])
        positions.append(np.repeat([p["x"]], len(p["track"]), 0))
    ids, features, positions = np.concatenate(ids), np.concatenate(features), np.concatenate(positions)
    order = np.argsort(ids, kind="stable")
    found = {}
    for part in np.split(order, np.flatnonzero(np.diff(ids[order])) + 1):
        image = images[ids[part[0]]]
        x = positions[part] @ matrix(image["q"]).T + image["t"]
        r = project(cameras[image["camera"]], x) - image["features"]["at"][features[part]]
        squares = np.sum(r * r, 1)
        key = int(ids[part[0]]) if kind == "image" else image["camera"]
        before = found.get(key, (0, 0, 0))
        found[key] = (before[0] + 0.5 * float(np.sum(rho(loss, scale, squares))),
                      before[1] + float(np.sum(squares)), before[2] + len(part))
    return found


def cost(folder, loss="trivial", scale=1.0):
    """The sum of costs, and the number of observations"""
    rows = costs(read(folder), "camera", loss, scale).values()
    return sum(row[0] for row in rows), sum(row[2] for row in rows)


# --- simulated scenes -------------------------------------------------------------------

def quaternion(r):
    w = np.sqrt(max(1 + np.trace(r), 0)) / 2
    if w > 0.1:
        return np.array([w, (r[2, 1] - r[1, 2]) / 4 / w, (r[0, 2] - r[2, 0]) / 4 / w, (r[1, 0] - r[0, 1]) / 4 / w])
    values, vectors = np.linalg.eigh(np.array([
        [r[0, 0] - r[1, 1] - r[2, 2], r[1, 0] + r[0, 1], r[2, 0] + r[0, 2], r[2, 1] - r[1, 2]],
        [r[1, 0] + r[0, 1], r[1, 1] - r[0, 0] - r[2, 2], r[2, 1] + r[1, 2], r[0, 2] - r[2, 0]],
        [r[2, 0] + r[0, 2], r[2, 1] + r[1, 2], r[2, 2] - r[0, 0] - r[1, 1], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], r[0, 0] + r[1, 1] + r[2, 2]]]))
    x, y, z, w = vectors[:, np.argmax(values)]
    return np.array([w, x, y, z])


def turn_by(axis):
    """A rotation by a small vector"""
    cross = np.cross(np.eye(3), axis)
    r = np.linalg.qr(np.eye(3) - cross)[0]
    return r * np.sign(np.diag(r))


def look_at(position, target):
    z = (target - position) / np.linalg.norm(target - position)
    x = np.cross([0, 0, 1.0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z])


def simulate(folder, names, n_images, n_points, n_cameras, seed=1, noise=0.5, near=8):
    """Images on two rings around a town of points, each with the @near images that see it
    best. The start differs from the truth in poses, points and intrinsics; a feature in
    twenty belongs to no point, and image ids have gaps."""
    rng = np.random.default_rng(seed)
    ids = [name for name, _, _ in MODELS]
    cameras = {}
    for i in range(n_cameras):
        name = names[i % len(names)]
        n_focal = MODELS[ids.index(name)][1]
        focal = [1000 + 20 * (i % 50), 1005 + 20 * (i % 50)][:n_focal]
        cameras[3 + 2 * i] = {"model": ids.index(name), "size": (1600, 1200),
                              "params": [*focal, 805.0, 595.0, *EXTRA.get(name, [])]}
    angle = 2 * np.pi * np.arange(n_images) / n_images
    place = np.stack([12 * np.cos(angle), 12 * np.sin(angle), 2 + 2 * (np.arange(n_images) % 2)], 1)
    turned = [look_at(p, np.array([0, 0, 1.0])) for p in place]
    x = rng.normal(size=(n_points, 3)) * [3, 3, 1.5] + [0, 0, 1.5]
    seen = [[] for _ in range(n_images)]
    first = rng.integers(0, n_images, n_points)
    for p in range(n_points):
        spread = rng.integers(2, near + 1)
        for i in {int(first[p] + d * (1 + p % 3)) % n_images for d in range(spread)}:
            seen[i].append(p)
    camera_ids = list(cameras)
    images, tracks = {}, [[] for _ in range(n_points)]
    for i in range(n_images):
        camera = camera_ids[i % n_cameras]
        r, number = turned[i], 5 + 3 * i
        local = (x[seen[i]] - place[i]) @ r.T
        keep = local[:, 2] > 0.5
        at = project(cameras[camera], local)
        keep &= (at[:, 0] > 0) & (at[:, 0] < 1600) & (at[:, 1] > 0) & (at[:, 1] < 1200)
        kept = np.array(seen[i])[keep]
        at = at[keep] + rng.normal(size=(len(kept), 2)) * noise
        features = np.zeros(len(kept) + len(kept) // 20, FEATURE)
        features["point"] = NONE
        features["at"] = rng.uniform(0, 1200, (len(features), 2))
        where = rng.permutation(len(features))[:len(kept)]
        features["at"][where] = at
        for p, f in zip(kept, where):
            tracks[p].append((number, f))
        start = place[i] + rng.normal(size=3) * 0.02
        tilt = np.eye(3) + np.cross(np.eye(3), rng.normal(size=3) * 0.002)
        rotation = np.linalg.qr(tilt)[0]
        rotation = rotation * np.sign(np.diag(rotation)) @ r
        images[number] = {"q": quaternion(rotation), "t": -rotation @ start, "camera": camera,
                          "name": f"ring {i % 2}/\u00fc{i:05d}.jpg".encode(), "features": features}
    points = {}
    for p in range(n_points):
        if len(tracks[p]) < 2:
            continue
        for image, feature in tracks[p]:
            images[image]["features"]["point"][feature] = 10 + 7 * p
        points[10 + 7 * p] = {"x": x[p] + rng.normal(size=3) * 0.02, "rgb": (p % 256, 3, 4), "error": -1.0,
                              "track": np.array(tracks[p], ELEMENT)}
    for camera in cameras.values():
        n = MODELS[camera["model"]][1]
        camera["params"][:n] = [f * 1.01 for f in camera["params"][:n]]
        camera["params"][n + 2:] = [0.8 * k for k in camera["params"][n + 2:]]
    write(folder, cameras, images, points)


def simulate_rig(folder, sensors, n_frames, n_points, seed=1, noise=0.5, near=6):
    """Frames of a rig of OPENCV cameras 3, 5, ... on a ring around a cloud of points, each seen in
    @near frames in a row; one image in seven is missing, with the reference or without. The start
    differs from the truth in poses of frames and sensors, points and focal lengths."""
    rng = np.random.default_rng(seed)
    ids = [3 + 2 * s for s in range(sensors)]
    cameras = {i: {"model": 4, "size": (1600, 1200), "params": [1000.0 + i, 1005.0, 805.0, 595.0, *EXTRA["OPENCV"]]}
               for i in ids}
    angle = 2 * np.pi * np.arange(n_frames) / n_frames
    place = np.stack([12 * np.cos(angle), 12 * np.sin(angle), 2 + np.sin(3 * angle)], 1)
    turned = [look_at(p, np.array([0, 0, 1.0])) for p in place]
    relative = [(turn_by(rng.normal(size=3) * 0.1 * (s > 0)), rng.normal(size=3) * 0.5 * (s > 0)) for s in range(sensors)]
    x = rng.normal(size=(n_points, 3)) * [2, 2, 1]
    first = rng.integers(0, n_frames, n_points)
    off = [(turn_by(rng.normal(size=3) * 0.01), rng.normal(size=3) * 0.03) for _ in range(sensors - 1)]
    start_sensors = [relative[0]] + [(a @ r, t + b) for (a, b), (r, t) in zip(off, relative[1:])]
    images, tracks, frames = {}, [[] for _ in range(n_points)], {}
    for f in range(n_frames):
        seen = np.flatnonzero((f - first) % n_frames < near)
        start = turn_by(rng.normal(size=3) * 0.002) @ turned[f]
        start_t = -start @ (place[f] + rng.normal(size=3) * 0.02)
        frames[100 + f] = (quaternion(start), start_t), []
        for s, (r, t) in enumerate(relative):
            number = 5 + 3 * (sensors * f + s)
            if (sensors * f + s) % 7 == 3:
                continue
            at = project(cameras[ids[s]], (x[seen] - place[f]) @ turned[f].T @ r.T + t)
            keep = (at > 0).all(1) & (at[:, 0] < 1600) & (at[:, 1] < 1200)
            features = np.zeros(keep.sum(), FEATURE)
            features["at"] = at[keep] + rng.normal(size=(keep.sum(), 2)) * noise
            features["point"] = 10 + 7 * seen[keep]
            for k, p in enumerate(seen[keep]):
                tracks[p].append((number, k))
            a, b = start_sensors[s]
            images[number] = {"q": quaternion(a @ start), "t": a @ start_t + b, "camera": ids[s],
                              "name": f"{s}/{f:05d}.jpg".encode(), "features": features}
            frames[100 + f][1].append((ids[s], number))
    points = {}
    for p, track in enumerate(tracks):
        if len(track) > 1:
            points[10 + 7 * p] = {"x": x[p] + rng.normal(size=3) * 0.02, "rgb": (p % 256, 3, 4), "error": -1.0,
                                  "track": np.array(track, ELEMENT)}
        for image, k in track if len(track) == 1 else ():
            images[image]["features"]["point"][k] = NONE
    for camera in cameras.values():
        camera["params"][:2] = [f * 1.01 for f in camera["params"][:2]]
    write(folder, cameras, images, points)
    write_rigs(folder, ids[0], {i: (quaternion(r), t) for i, (r, t) in list(zip(ids, start_sensors))[1:]}, frames)


if __name__ == "__main__":
    if sys.argv[1:2] == ["cost"] and len(sys.argv) in (3, 5):
        print("%.12g %d" % cost(*sys.argv[2:4], *(float(word) for word in sys.argv[4:])))
    elif sys.argv[1:2] == ["make"] and len(sys.argv) == 7:
        simulate(sys.argv[2], sys.argv[3].split(","), *(int(word) for word in sys.argv[4:]))
    elif sys.argv[1:2] == ["make-rig"] and len(sys.argv) == 6:
        simulate_rig(sys.argv[2], *(int(word) for word in sys.argv[3:]))
    else:
        sys.exit(__doc__)

"""Pairs of frames with known motion, made from real pictures and by rendering:
what motion_truth.py and motion_confidence.py score motion fields on.

The pictures come from Debian's package opencv-doc and from the PyPI package
scikit-image; fetch() downloads the former to a folder of the user's cache."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import dataclasses
import functools
import os
import pathlib
import subprocess
import tempfile

import cv2
import numpy as np

CACHE = pathlib.Path(os.environ.get(
    "CUDAVISION_PICTURES",
    pathlib.Path.home() / ".cache" / "cudavision-pictures"))
PACKAGE = "opencv-doc"
FOLDER = "usr/share/doc/opencv-doc/examples/data"
MARGIN = 96  # pixels around a picture, mirrored


@dataclasses.dataclass
class Scene:
    """@truth: of each pixel of @current, from its place to that in @reference,
    pixels (rows x columns x 2). @visible: pixels of @current that @reference
    shows, too. @clean: the two frames without added noise."""
    name: str
    reference: np.ndarray
    current: np.ndarray
    truth: np.ndarray
    visible: np.ndarray
    clean: tuple
    noisy: bool = False


# --- pictures ----------------------------------------------------------------

def fetch():
    """The folder with OpenCV's pictures."""
    if not (CACHE / FOLDER).is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["apt-get", "-qq", "download", PACKAGE],
                           cwd=folder, check=True)
            (package,) = pathlib.Path(folder).glob("*.deb")
            subprocess.run(["dpkg-deb", "-x", package, CACHE], check=True)
    return CACHE / FOLDER


@functools.lru_cache(None)
def picture(name):
    """Grey, float32. Names without a dot are those of scikit-image."""
    if "." in name:
        grey = cv2.imread(str(fetch() / name), cv2.IMREAD_GRAYSCALE)
        assert grey is not None, name
    else:
        import skimage.data
        grey = getattr(skimage.data, name)()
        if grey.ndim == 3:
            grey = cv2.cvtColor(grey, cv2.COLOR_RGB2GRAY)
    return grey.astype(np.float32)


# --- rendering ----------------------------------------------------------------

def grid(shape):
    y, x = np.mgrid[:shape[0], :shape[1]].astype(np.float32)
    return x, y


def warp(image, x, y):
    """Samples of @image at (@x, @y), mirrored beyond its edges."""
    padded = cv2.copyMakeBorder(np.float32(image), MARGIN, MARGIN, MARGIN, MARGIN,
                                cv2.BORDER_REFLECT_101)
    x, y = (np.float32(a + MARGIN) for a in (x, y))
    return cv2.remap(padded, x, y, cv2.INTER_LANCZOS4,
                     borderMode=cv2.BORDER_REFLECT_101)


def translation(dx, dy):
    return np.array([[1, 0, dx], [0, 1, dy], [0, 0, 1]], np.float64)


def similarity(shape, zoom, degrees, dx=0.0, dy=0.0):
    centre = (shape[1] - 1) / 2, (shape[0] - 1) / 2
    m = np.eye(3)
    m[:2] = cv2.getRotationMatrix2D(centre, degrees, zoom)
    return translation(dx, dy) @ m


def homography(shape, seed=3, size=12.0):
    """Moves the corners of the frame by up to @size pixels."""
    random = np.random.default_rng(seed)
    h, w = shape
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
    moved = corners + random.uniform(-size, size, (4, 2)).astype(np.float32)
    return cv2.getPerspectiveTransform(corners, moved)


def move(shape, matrix):
    """The vector of each pixel under the homography @matrix."""
    x, y = grid(shape)
    p = np.stack([x, y, np.ones_like(x)], -1).astype(np.float64) @ matrix.T
    p = p[..., :2] / p[..., 2:]
    return np.stack([p[..., 0] - x, p[..., 1] - y], -1).astype(np.float32)


def inside(truth):
    x, y = grid(truth.shape[:2])
    u, v = x + truth[..., 0], y + truth[..., 1]
    return ((u >= 0) & (u <= truth.shape[1] - 1)
            & (v >= 0) & (v <= truth.shape[0] - 1))


def quantise(image):
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def finish(name, reference, current, truth, visible=None, sigma=0.0, seed=1):
    """Adds noise of @sigma to both frames."""
    clean = quantise(reference), quantise(current)
    random = np.random.default_rng(seed)
    noisy = [quantise(f + sigma * random.standard_normal(f.shape))
             for f in (reference, current)]
    shown = inside(truth)
    if visible is not None:
        shown &= visible
    return Scene(name, noisy[0], noisy[1], truth, shown, clean, sigma > 0)


def warped(name, image, matrix, gain=1.0, offset=0.0, fade=1.0, **others):
    """The whole frame moves by @matrix."""
    image = image * gain + offset
    truth = move(image.shape, matrix)
    x, y = grid(image.shape)
    current = warp(image, x + truth[..., 0], y + truth[..., 1]) * fade
    return finish(name, image, current, truth, **others)


def layered(name, background, texture, matrix, own, centre, radius, **others):
    """An ellipse of @texture with the vector @own before a background that moves
    by @matrix."""
    shape = background.shape
    texture = cv2.resize(texture, shape[::-1])
    x, y = grid(shape)

    def mask(x, y):
        return (((x - centre[0]) / radius[0]) ** 2
                + ((y - centre[1]) / radius[1]) ** 2) <= 1

    there = mask(x, y)
    reference = np.where(there, texture, background)
    truth = move(shape, matrix)
    current = warp(background, x + truth[..., 0], y + truth[..., 1])
    u, v = x + truth[..., 0], y + truth[..., 1]
    visible = ~mask(u, v)
    here = mask(x + own[0], y + own[1])
    current[here] = warp(texture, x + own[0], y + own[1])[here]
    truth[here] = own
    return finish(name, reference, current, truth, visible | here, **others)


def wall(shape, light=20.0):
    """Flat, unevenly lit."""
    x, y = grid(shape)
    return 120 + light * (x / shape[1] - 0.5) + light / 2 * (y / shape[0] - 0.5)


def bricks(name, shape, dx, dy, width=32, height=16, **others):
    """Courses of bricks of @width x @height pixels, all alike."""
    x, y = grid(shape)

    def at(x, y):
        shifted = x + width / 2 * (np.floor(y / height) % 2)
        joint = (np.mod(shifted, width) < 3) | (np.mod(y, height) < 3)
        face = 110 + 6 * np.sin(x / 61) + 6 * np.cos(y / 47)
        return np.where(joint, 190, face).astype(np.float32)

    truth = np.empty(shape + (2,), np.float32)
    truth[:] = dx, dy
    return finish(name, at(x, y), at(x + dx, y + dy), truth, **others)


def barred(name, image, dx, dy, height, **others):
    """A picture that moves between black bars of @height rows."""
    truth = move(image.shape, translation(dx, dy))
    x, y = grid(image.shape)
    current = warp(image, x + truth[..., 0], y + truth[..., 1])
    reference = image.copy()
    last = image.shape[0] - height
    for frame in (reference, current):
        frame[:height] = frame[last:] = 16
    truth[:height] = truth[last:] = 0
    v = y + truth[..., 1]
    visible = ((v >= height) & (v <= last - 1)) | (y < height) | (y >= last)
    return finish(name, reference, current, truth, visible, **others)


# --- stereo pairs ---------------------------------------------------------------

def stereo(name, left, right, disparity, known):
    truth = np.zeros(left.shape + (2,), np.float32)
    truth[..., 0] = -disparity
    return finish(name, right, left, truth, known)


def stereo_aloe():
    """Half size: disparities up to 64 pixels at range 64."""
    left, right, truth = (picture(n) for n in (
        "aloeL.jpg", "aloeR.jpg", "aloeGT.png"))
    half = lambda a: cv2.resize(a, None, fx=0.5, fy=0.5,
                                interpolation=cv2.INTER_AREA)
    known = truth[::2, ::2] > 0
    return stereo("stereo aloe", half(left), half(right), truth[::2, ::2] / 2,
                  known)


def stereo_motorcycle():
    """Middlebury 2014; %None without scikit-image, which contains it."""
    try:
        import skimage.data
    except ImportError:
        return None
    left, right, disparity = skimage.data.stereo_motorcycle()
    grey = [cv2.cvtColor(i, cv2.COLOR_RGB2GRAY).astype(np.float32)
            for i in (left, right)]
    known = np.isfinite(disparity) & (disparity > 0)
    return stereo("stereo motorcycle", *grey, np.where(known, disparity, 0),
                  known)


# --- the scenes of the table ------------------------------------------------------

def scenes(name="leuvenA.jpg", other="graf1.png"):
    """All scenes from the picture @name, and the object from @other."""
    image, texture = picture(name)[:640, :960], picture(other)
    shape = image.shape
    h, w = shape
    slow = translation(3.3, -1.7)
    dark = dict(gain=0.12, offset=14)
    everything = [
        warped("translation 3.3, -1.7", image, slow),
        warped("translation 23 px", image, translation(23, -9)),
        warped("pan 60 px", image, translation(60, 0)),
        warped("zoom 1.03, rotation 2 degrees", image,
               similarity(shape, 1.03, 2)),
        warped("homography", image, homography(shape)),
        layered("object over background", image, texture, translation(2.5, 1),
                (-9.5, 4.25), (w * 0.55, h * 0.5), (w * 0.2, h * 0.25)),
        warped("noise 2", image, slow, sigma=2),
        warped("noise 5", image, slow, sigma=5),
        warped("noise 15", image, slow, sigma=15),
        warped("dark", image, slow, sigma=1, **dark),
        warped("flat wall, still, noise 2", wall(shape), np.eye(3), sigma=2),
        warped("still scene, noise 5", image, np.eye(3), sigma=5),
        bricks("bricks 5, -3", shape, 5, -3),
        warped("fade 0.9", image, translation(4.25, 2), fade=0.9),
        barred("bars", image, 5.25, -2, 72),
        stereo_aloe(),
        stereo_motorcycle(),
    ]
    return [scene for scene in everything if scene is not None]


# --- random scenes, for fitting and testing the confidence ---------------------------

def random_scene(random, names, shape=(480, 640)):
    """A scene of random motion and noise from the pictures @names."""
    def some():
        image = picture(names[random.integers(len(names))])
        scale = max(shape[0] / image.shape[0], shape[1] / image.shape[1])
        if scale > 1:
            image = cv2.resize(image, None, fx=scale + 0.01, fy=scale + 0.01,
                               interpolation=cv2.INTER_CUBIC)
        y = random.integers(image.shape[0] - shape[0] + 1)
        x = random.integers(image.shape[1] - shape[1] + 1)
        image = image[y:y + shape[0], x:x + shape[1]]
        contrast = random.choice([1.0, 1.0, 0.5, 0.2])
        return 128 + contrast * (image - 128) if contrast < 1 else image

    def vector(reach):
        return tuple(np.round(random.uniform(-1, 1, 2) * reach * 8) / 8)

    sigma = float(random.choice([0, 0, 1, 2, 3, 5, 8, 12]))
    still = random.random() < 0.2
    reach = random.choice([1, 4, 12, 30])
    step = (0.0, 0.0) if still else vector(reach)
    kind = random.integers(7)
    others = dict(sigma=sigma, seed=int(random.integers(1 << 30)))
    zoom, turn = 1.0, 0.0
    if not still and random.random() < 0.4:
        zoom, turn = 1 + random.normal() * 0.015, random.normal()
    matrix = similarity(shape, zoom, turn, *step)
    if kind < 2:
        return warped("warped", some(), matrix, **others)
    if kind == 2:
        return warped("fade", some(), matrix, **others,
                      fade=random.uniform(0.85, 1.0))
    if kind == 6:
        return bricks("bricks", shape, *step, random.integers(16, 48),
                      random.integers(8, 24), **others)
    if kind == 3:
        return warped("wall", wall(shape, random.uniform(0, 60)), matrix,
                      **others)
    return layered(
        "object", some(), some(), matrix, vector(reach),
        (random.uniform(0.2, 0.8) * shape[1],
         random.uniform(0.2, 0.8) * shape[0]),
        (random.uniform(0.05, 0.35) * shape[1],
         random.uniform(0.05, 0.35) * shape[0]), **others)

#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bundle_public.py PROGRAM FOLDER [--as MODEL,...] [NAME...]: final cost of `cudavision bundle`, of
`colmap bundle_adjuster` and of pycolmap on public models of photographs, all with their default options.
FOLDER keeps the models, one folder each; those that it does not contain are fetched from GitHub.
NAME may also be the folder of another model.
--as: replaces the cameras by ones of each of these models first. The costs are those that NumPy finds
in the written files. Needs colmap (3.8 was used), pycolmap (4.2) and NumPy."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import bundle_colmap
import colmap_models
import pycolmap

ADDRESS = "https://raw.githubusercontent.com/{}/{}/{}/{}"
FILES = "cameras.bin", "images.bin", "points3D.bin"
# name: repository, commit, folder, SHA-256 of the three files one after the other
MODELS = {
    "nerfstudio": ("avishai-oz/nerfstudio", "5bcf578f112c449729fbc5be32ef4c72e7fd291f", "sparse/0",
        "3d59e53530bfd666af3af8189538d568df3dd0deb005b06b342cec960400fae7"),
    "test_colmap-dense": ("bartoszek/test_colmap", "79fce7a67f15b0604e9741d9d50618840740b32f", "dense/0/sparse",
        "29a5e61415b1b683a1a7d8325b58f1b959828598d37aa75a8e352bc211620baa"),
    "test_colmap": ("bartoszek/test_colmap", "79fce7a67f15b0604e9741d9d50618840740b32f", "sparse/0",
        "179c52e8c2fef22c53df0657204eb2aee93ee8927bafce9a1c7c7579c9ea7fc5"),
    "TensoRF": ("Michael-Yi-Rong/TensoRF", "c0940ff2a70598724c690289d2bcff1df30cd761", "sparse/0",
        "67d2866d2a0eacdbfcefb2155320a179a44d58dcd4b7fcea452e4ef0f38192cd"),
    "splatam": ("upupupupupupupupup/splatam", "070628741aae2bc93194dd22aec94acd65de66c2", "sparse/0",
        "8900a09784a3ffe951140bde2b17ebd604f5364e4357aa08c809cb312c3049e0"),
    "VR-project-distorted": ("xu-zhy/VR-project", "6532dd01eadd11d4c0ac882e4a10b91bc370624b", "data/distorted/sparse/0",
        "0f36d3ec6a9d8719a56d3ebc94fddc7361be9187ee95c8d0b8cd326506dbde4e"),
    "VR-project": ("xu-zhy/VR-project", "6532dd01eadd11d4c0ac882e4a10b91bc370624b", "data/sparse/0",
        "2cfc03abc9f7f3a2cd41adda80a1cfdf37e59a6b104a3ec1cc027658d33d2579"),
    "NeRF-3DGS": ("Zeus-Xu/NeRF-3DGS", "30655651735acc321cbe9e9eb7560c7c9295a57a", "data/nerf/yinlin/colmap_sparse/0",
        "839b4b35cb04710064b45f432f2805ac7ea99ac57a4e4eac7d6e13d9e1105019"),
    "BuFF": ("HSUProject/BuFF", "9bed62872d8d53e6c7333ab86b71e34e1e6c5f2e", "colmap_sparse/0",
        "dd2d8f6801df221c2cf09994da8ad7d9ae5533fb218a5bdcab437dfe9861f5b8"),
    "COLMAP_multicam": ("sangminkim-99/COLMAP_multicam", "bfab8c742b994d488a78da95c54d670bda729bb2", "colmap_sparse/0",
        "435fd514906addadc2c86a525ee8300be9591fe58afb9333337a3b71efd0100a"),
    "SfM-2": ("pratikk-bulani/SfM", "b0b01bd67eaf9f931f6c4494623e038ba311a5b1", "sparse/2",
        "fcd95bbdb7a9bb90b94f4775d221ed65d3370af8cf2a3347be8ee349ad0f2a58"),
    "SfM-9": ("pratikk-bulani/SfM", "b0b01bd67eaf9f931f6c4494623e038ba311a5b1", "sparse/9",
        "933e277790c97bd5bdc09069f3131028181f54e263e91a2340cd42a5a862007d"),
    "INF573_project": ("flopau76/INF573_project", "de72e736bb4aff95360f9fb220133a2d3305c415", "colmap/sparse",
        "e6698b666112a02187d6c9f482914bf09ce3af5aa8390ad456c0f66d40c6816b"),
    "NeRF-Database": ("YhuoyuH/NeRF-Database", "83b34224ffb43e34e48db8137b3f95f8e7059cc3", "sparse/0",
        "01f8cb299b54a8236fc7f699cfe618dd180b3406ae4a555bed3bfe3523e7579e"),
    "ip_individual": ("yowsitian/ip_individual", "8410fc12287184794863b42659afc47d8a694302", "sparse/0",
        "d305cab8c9c921e2bac751208f2ca736e15b7b6a4e7a28feaecce3aa9e712c32"),
}


def fetch(name, folder):
    """The model's folder below @folder, complete and checked"""
    repository, commit, path, wanted = MODELS[name]
    target = os.path.join(folder, name)
    os.makedirs(target, exist_ok=True)
    digest = hashlib.sha256()
    for file in FILES:
        local = os.path.join(target, file)
        if not os.path.exists(local):
            with urllib.request.urlopen(ADDRESS.format(repository, commit, path, file), timeout=60) as answer:
                content = answer.read()
            with open(local, "wb") as copy:
                copy.write(content)
        with open(local, "rb") as copy:
            digest.update(copy.read())
    if digest.hexdigest() != wanted:
        sys.exit(f"{target}: the files are not those of {repository} at {commit}")
    return target


def convert(source, target, name):
    """The model with cameras of model @name: the same focal length and centre, no distortion"""
    cameras, images, points = colmap_models.read(source)
    number = [model[0] for model in colmap_models.MODELS].index(name)
    _, n_focal, n_extra = colmap_models.MODELS[number]
    for camera in cameras.values():
        n = colmap_models.MODELS[camera["model"]][1]
        focal, centre = camera["params"][:n], camera["params"][n:n + 2]
        extra = [0.5] if name == "FOV" else [0.0] * n_extra
        camera["params"] = [focal[0], focal[-1]][:n_focal] + centre + extra
        camera["model"] = number
    colmap_models.write(target, cameras, images, points)


def adjust_with_colmap(source, target):
    os.makedirs(target)
    subprocess.run(["colmap", "bundle_adjuster", "--input_path", source, "--output_path", target], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compare(program, name, source, folder):
    targets = [os.path.join(folder, end) for end in ("ours", "colmap", "pycolmap")]
    _, steps = bundle_colmap.adjust_with_program(program, source, targets[0])
    adjust_with_colmap(source, targets[1])
    bundle_colmap.adjust_with_pycolmap(source, targets[2])
    cameras, images, _ = colmap_models.read(source)
    found = [colmap_models.cost(target) for target in targets]
    kinds = sorted({colmap_models.MODELS[camera["model"]][0] for camera in cameras.values()})
    used = len({image["camera"] for image in images.values()})
    counts = sorted({str(n) for _, n in found})
    start, _ = colmap_models.cost(source)
    (own, _), (old, _), (new, _) = found
    print(f"| {name} | {', '.join(kinds)} | {len(images)} | {used} | {' / '.join(counts)} | {start:.6g} | "
          f"{old:.9g} | {new:.9g} | {own / min(old, new) - 1:.1e} | {steps} |", flush=True)


def main():
    arguments = sys.argv[1:]
    models = []
    if "--as" in arguments:
        i = arguments.index("--as")
        models = arguments[i + 1].split(",")
        del arguments[i:i + 2]
    if len(arguments) < 2:
        sys.exit(__doc__)
    pycolmap.logging.minloglevel = 3
    print("| photographs | camera model | images | cameras | observations | cost at the start | COLMAP | "
          "pycolmap | cudavision, relative to the lower | iterations (conjugate gradients) |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    for name in arguments[2:] or MODELS:
        source = name if os.path.isdir(name) else fetch(name, arguments[1])
        for model in models or [None]:
            with tempfile.TemporaryDirectory() as folder:
                if model:
                    convert(source, os.path.join(folder, "in"), model)
                compare(arguments[0], name, os.path.join(folder, "in") if model else source, folder)


if __name__ == "__main__":
    main()

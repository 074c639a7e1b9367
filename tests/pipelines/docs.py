#!/usr/bin/env python3
"""docs.py REPOSITORY: runs every documented pipeline.

A block ```sh of README.md or docs/**/*.md whose commands start with
gst-launch-1.0 is run, each command in an empty folder of its own and within 60
seconds; it must end by itself with exit status 0. Elements of this plugin may
post warnings only in the pipelines of blocks ```sh warning. No document has the option
-q, which hides warnings. If the system allows it, each
pipeline has a network of its own, so that ports are free. Blocks ```sh gpu are
skipped without a GPU; blocks ```sh clips find the clips of scripts/fetch-clips in
clips/ and are skipped without these clips or the element y4mdec; blocks ```sh x3p
are skipped if the plugin was built without libzip, blocks ```sh analytics if it was
built without GStreamer's analytics library.
Lines joined by a backslash are one command."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 60  # seconds
BLOCK = re.compile(r"^```sh((?: gpu| clips| x3p| analytics| warning)*)[ \t]*\n(.*?)^```[ \t]*$",
                   re.M | re.S)


def commands(path):
    """(line number, what it needs, command) of each documented pipeline."""
    text = path.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(2)) + 1
        pending, first = "", line
        for offset, content in enumerate(block[2].split("\n")):
            if not pending:
                first = line + offset
            pending += content
            if content.endswith("\\"):
                pending = pending[:-1] + " "
                continue
            if pending.lstrip().startswith("gst-launch-1.0"):
                yield first, block[1].split(), pending.strip()
            pending = ""


def have_gpu():
    try:
        return b"GPU" in subprocess.run(["nvidia-smi", "-L"], check=False,
                                        capture_output=True).stdout
    except OSError:
        return False


def have_element(name):
    # --exists compares with the version of GStreamer, which other plugins do not have
    return shutil.which("gst-inspect-1.0") and not subprocess.run(
        ["gst-inspect-1.0", name], check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode


def find_clips(root):
    """The folder of real clips, if they are available and readable."""
    folder = os.environ.get("CUDAVISION_CLIPS", str(root / "clips"))
    fetch = subprocess.run([root / "scripts" / "fetch-clips", folder],
                           check=False, stdout=subprocess.DEVNULL)
    return folder if fetch.returncode == 0 and have_element("y4mdec") else None


def have_x3p():
    return run("gst-launch-1.0 surfacetestsrc num-buffers=1 ! "
               "surfacesink location=a.x3p", None) is None


def lacks_clip(command, folder):
    """Whether the pipeline names a clip that is not available."""
    return any(not os.path.exists(os.path.join(folder, clip))
               for clip in re.findall(r"\bclips/([\w.-]+)", command))


def own_network():
    """Prefix that gives a command a network of its own."""
    words = ["unshare", "--map-root-user", "--net", "sh", "-c",
             "ip link set lo up && exec \"$@\"", "sh"]
    try:
        done = subprocess.run([*words, "true"], check=False, capture_output=True)
        return [] if done.returncode else words
    except OSError:
        return []


PLUGINS = ["cudavision" + name for name in
           ("analytics", "bundle", "hdf5", "meltpool", "motion", "surface")]


def own_types():
    """The types of this plugin's elements, as gst-launch-1.0 prints them."""
    def output(name):
        return subprocess.run(["gst-inspect-1.0", name], check=False, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
    names = [*re.findall(r"^ +([a-z0-9]+): ", "".join(map(output, PLUGINS)), re.M)]
    trees = [re.search(r"^GObject\n(?: +\+----.*\n)+", output(name), re.M)
             for name in names]
    return {tree[0].split("+----")[-1].strip() for tree in trees if tree}


def check_warnings(output, types):
    """None if no element of these types posted a warning, otherwise the warnings."""
    found = [line for line in output.split("\n")
             if (match := re.match(r"WARNING: from element (?:\S*/)?(\w+):", line))
             and match[1] in types]
    return "\n".join(found) or None


def run(command, clips, network=(), types=()):
    """None on success, otherwise the error."""
    with tempfile.TemporaryDirectory() as folder:
        if clips:
            os.symlink(os.path.abspath(clips), os.path.join(folder, "clips"))
        try:
            done = subprocess.run([*network, "sh", "-c", command], cwd=folder,
                                  text=True, timeout=LIMIT, check=False,
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return f"did not end within {LIMIT} s"
    if done.returncode:
        return f"exit status {done.returncode}\n{done.stdout[-2000:]}"
    return check_warnings(done.stdout, types)


def main():
    root = pathlib.Path(sys.argv[1])
    documents = [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]
    pipelines = [(f"{path.relative_to(root)}:{line}", needs, command)
                 for path in documents
                 for line, needs, command in commands(path)]
    there = {"gpu": have_gpu(),
             "clips": any("clips" in needs for _, needs, _ in pipelines)
             and find_clips(root),
             "x3p": any("x3p" in needs for _, needs, _ in pipelines)
             and have_x3p(),
             "analytics": have_element("cudavisionanalytics")}
    left_out = {need: 0 for need in there}
    chosen, network, types = [], own_network(), own_types()
    if not types:
        print("gst-inspect-1.0 does not list the plugin's elements")
        return 1
    for where, needs, command in pipelines:
        lacks = [need for need in needs if need != "warning" and not there[need]
                 or need == "clips" and lacks_clip(command, there[need])]
        if lacks:
            left_out[lacks[0]] += 1
        else:
            chosen.append((where, command, there["clips"] if "clips" in needs else None,
                           network, () if "warning" in needs else types))
    # two at a time: much of a pipeline's time is startup
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda each: run(*each[1:]), chosen))
    failed = 0
    for path in documents:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if re.search(r"gst-launch-1\.0 (-\S+ )*(-q|--quiet)\b", line):
                failed += 1
                print(f"{path.relative_to(root)}:{number}: -q hides warnings")
    for (where, command, *_), problem in zip(chosen, problems):
        if problem:
            failed += 1
            print(f"{where}: {command}\n{problem}")
    print(f"{len(chosen)} documented pipelines ran, {failed} failed, skipped "
          f"{left_out['gpu']} (no GPU), {left_out['clips']} (no clips), "
          f"{left_out['x3p']} (no libzip) and {left_out['analytics']} (no analytics)")
    if not pipelines:
        print("skipped: no document contains a pipeline")
        return 77
    return 1 if failed else 0


sys.exit(main())

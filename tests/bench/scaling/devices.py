#!/usr/bin/env python3
"""devices.py [--build FOLDER] [--seconds N]
Everything that is measured on several GPUs of one host, in one go: the works of
bench_devices and bench_scaling and a stream of surfaces on 1, 2, 4, ... devices, the
balancers with unlike devices, then each element's results on 1, 2, 4, ... devices and
with one device lost in the middle, as checksums.

Programs that are still running after --seconds (450) are stopped, and what they printed
is kept. Exit status 0; 1: a result differs; 77: fewer than two devices."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]

VIDEO = ("videotestsrc num-buffers=240 pattern=zone-plate kx2=20 ky2=20 kt=1 "
         "horizontal-speed=3 ! video/x-raw,format=NV12,width=1280,height=720 ! ")
# What each element writes to OUT; DEVICES: its settings
PIPELINES = {
    "cudalwtfilter": "surfacetestsrc num-buffers=120 dx=1e-6 dy=1e-6 ! "
                     "other/tensors,dimensions=(string)1024:1024:1:1 ! "
                     "cudalwtfilter DEVICES ! filesink location=OUT",
    "cudalwtfilter, cut": "surfacetestsrc num-buffers=30 dx=1e-6 dy=1e-6 ! "
                          "other/tensors,dimensions=(string)2048:2048:1:1 ! "
                          "cudalwtfilter filter=wavelet-decimated "
                          "split-samples=1000000 DEVICES ! filesink location=OUT",
    "cudalwtfilter, gaussian": "surfacetestsrc num-buffers=60 dx=1e-6 dy=1e-6 ! "
                               "other/tensors,dimensions=(string)1024:1024:1:1 ! "
                               "cudalwtfilter filter=gaussian DEVICES ! "
                               "filesink location=OUT",
    "cudadenoise": VIDEO + "cudadenoise DEVICES ! filesink location=OUT",
    "cudadenoise, device memory": VIDEO + "cudaupload ! cudadenoise DEVICES ! cudadownload ! "
                                          "filesink location=OUT",
    "cudadenoise, wavelets": VIDEO + "cudadenoise mode=wavelets DEVICES ! "
                                     "filesink location=OUT",
    "cudamotionest": VIDEO + "cudamotionest name=m DEVICES ! fakesink "
                             "m.src_vectors ! filesink location=OUT",
    "cudamotionest, device memory": VIDEO + "cudaupload ! cudamotionest name=m DEVICES "
                                            "! fakesink m.src_vectors ! filesink "
                                            "location=OUT",
    "cudapbfmonitor": "pbftestsrc num-buffers=400000 seed=3 ! cudapbfmonitor name=m "
                      "batch-size=1024 DEVICES ! fakesink m.src_result ! filesink "
                      "location=OUT",
}
STREAM = ("surfacetestsrc num-buffers=1 dx=1e-6 dy=1e-6 ! "
          "other/tensors,dimensions=(string)4096:4096:1:1 ! surfacesink location=OUT.npy")


def count_devices():
    r = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True)
    return sum(line.startswith("GPU ") for line in r.stdout.splitlines())


def list_counts(n):
    """1, 2, 4, ... n"""
    counts = [1]
    while counts[-1] < n:
        counts.append(min(2 * counts[-1], n))
    return counts


class Runner:
    def __init__(self, build, seconds):
        self.build = build
        self.end = time.monotonic() + seconds
        self.env = dict(os.environ, GST_REGISTRY=str(build / "devices.registry"))
        if (build / "gst").is_dir():
            self.env["GST_PLUGIN_PATH_1_0"] = str(build / "gst")

    def run(self, command, share, **env):
        """@share: of the time that is left. Returns: exit status, output"""
        limit = max((self.end - time.monotonic()) * share, 1)
        try:
            r = subprocess.run(command, env=dict(self.env, **env), timeout=limit,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return r.returncode, r.stdout
        except subprocess.TimeoutExpired as e:
            print(f"stopped after {limit:.0f} s: {' '.join(map(str, command))}")
            return 124, (e.stdout or b"").decode()

    def bench(self, name, *arguments, share):
        print(f"\n-- {name} {' '.join(arguments)}")
        print(self.run([self.build / "tests" / "bench" / name, *arguments], share)[1])
        sys.stdout.flush()

    def launch(self, line, out, ids, **env):
        # a device that is to be lost must have its share of even the slowest stream
        balance = "equal" if env else "queue"
        settings = f"backend=cuda cuda-device-ids={ids} balance={balance}"
        line = line.replace("DEVICES", settings).replace("OUT", str(out))
        return self.run(["gst-launch-1.0", *line.split()], 0.5, **env)


def list_ids(n):
    return ",".join(map(str, range(n)))


def compare_results(runner, counts, folder):
    """Checksums on each number of devices, and with the second device lost at its fourth
    job. Returns: whether all are equal"""
    equal = True
    print("\n-- results\n\n| element | devices | SHA-256, first 16 digits |\n|---|---|---|")
    for name, line in PIPELINES.items():
        sums = set()
        for n, faults in [(n, {}) for n in counts] + [
                (counts[-1], {"CUDAVISION_FAULTS": "1:4"})]:
            out = folder / "out"
            status, text = runner.launch(line, out, list_ids(n), **faults)
            if status != 0:
                print(text[-1000:])
            digest = hashlib.sha256(out.read_bytes()).hexdigest() if status == 0 else None
            sums.add(digest)
            lost = "" if not faults else ", one lost" if "none is lost" in text \
                else ", none lost: the build has no test-hooks, or there was too little work"
            print(f"| {name} | {n}{lost} | {digest[:16] if digest else 'failed'} |")
        if len(sums) != 1 or None in sums:
            print(f"{name}: results differ")
            equal = False
    return equal


def measure_stream(runner, counts, folder):
    """Milliseconds a surface of 4096x4096 through the bus: a long minus a short run."""
    surface = folder / "surface"
    runner.launch(STREAM, surface, "0")
    print("\n-- surfacesrc loop=true ! cudalwtfilter filter=wavelet-decimated, 4096x4096, "
          "one output\n\n"
          "| devices | ms a surface | GB/s both ways | ratio |\n|---|---|---|---|")
    alone = None
    for n in counts:
        seconds = []
        for surfaces in (400, 400 + 1000 * n):
            start = time.monotonic()
            runner.launch(f"surfacesrc location={surface}.npy loop=true num-buffers={surfaces} "
                          "! cudalwtfilter filter=wavelet-decimated DEVICES "
                          "! fakesink", "", list_ids(n))
            seconds.append(time.monotonic() - start)
        ms = (seconds[1] - seconds[0]) / n
        alone = alone or ms
        print(f"| {n} | {ms:.2f} | {2 * 4096 * 4096 * 4 / ms / 1e6:.0f} | {alone / ms:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-release")
    parser.add_argument("--seconds", type=float, default=450)
    options = parser.parse_args()
    n = count_devices()
    if n < 2:
        print(f"needs two GPUs, found {n}")
        sys.exit(77)
    runner = Runner(options.build.resolve(), options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        counts = list_counts(n)
        equal = compare_results(runner, counts, folder)
        measure_stream(runner, counts, folder)
    runner.bench("bench_devices", share=0.6)
    runner.bench("bench_scaling", "--sides=16384", "--no-host", "--frames=200",
                 "--rounds=3", share=0.5)
    runner.bench("bench_balance", "--devices=all", "--side=16384", f"--chunks={200 * n}",
                 "--rounds=2", share=1)
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()

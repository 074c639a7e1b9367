#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudavision.py PROGRAM - runs every subcommand of `cudavision` on simulated data.

Checks results and files, that --show prints pipelines that write the same bytes,
errors, exit statuses, Ctrl-C and closed pipes."""
import csv, ctypes, json, os, pathlib, pty, re, resource, shlex, shutil, signal, sqlite3, struct
import subprocess, sys, tempfile, time, unittest, zipfile

try:
    import h5py
except ImportError:
    h5py = None
try:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
    import colmap_models
    import numpy as np
except ImportError:  # it needs NumPy
    colmap_models = None

PROGRAM = os.path.abspath(sys.argv.pop(1))
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools")
COMPUTING = ("roughness", "motion", "scenes", "denoise", "bundle", "monitor")
SUBCOMMANDS = (*COMPUTING, "calibrate", "train", "devices", "info")


def run(*arguments, status=0, **options):
    """Standard output and standard error of the program, which ends with STATUS."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120,
                          **options)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def launch(line):
    subprocess.run(["gst-launch-1.0", "-q", *shlex.split(line)], check=True, timeout=120,
                   stdout=subprocess.DEVNULL)


def run_on_terminal(*arguments):
    """What the program prints on a terminal of 80 columns"""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [PROGRAM, *arguments])
    text = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # how the end of the other side is told
            data = b""
        if not data:
            break
        text += data
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text
    return text.decode()


def obey_permissions():
    """For preexec_fn: root, too, cannot read files without permission."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def limit_files():
    """For preexec_fn: files end at 4 KB, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def write_json(name, value):
    with open(name, "w", encoding="utf-8") as stream:
        stream.write(value if isinstance(value, str) else json.dumps(value))


def read(name):
    with open(name, "rb") as stream:
        return stream.read()


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.before = os.getcwd()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def same_bytes(self, arguments, outputs):
        """The program and the pipelines of --show write the same files."""
        run(*arguments)
        wanted = {name: read(name) for name in outputs}
        for name in outputs:
            os.unlink(name)
        lines, _ = run(*arguments, "--show")
        for line in lines.splitlines():
            subprocess.run(["sh", "-c", line], check=True, timeout=120,
                           stdout=subprocess.DEVNULL)
        for name in outputs:
            self.assertEqual(read(name), wanted[name], name)

    def no_temporary_file(self):
        self.assertEqual([n for n in os.listdir() if n.startswith(".cudavision")], [])

    def make_surfaces(self, count=1, ending="x3p"):
        launch(f"surfacetestsrc num-buffers={count} ! other/tensors,dimensions=(string)128:96:1:1"
               f" ! surfacesink location=part%d.{ending}")

    def make_clip(self):
        """Two scenes of 20 and 15 frames, as Motion JPEG"""
        caps = "video/x-raw,format=I420,width=320,height=240,framerate=25/1"
        launch("concat name=c ! jpegenc ! avimux ! filesink location=clip.avi"
               f" videotestsrc pattern=ball num-buffers=20 ! {caps} ! c."
               f" videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=2 num-buffers=15 ! {caps} ! c.")


class Words(Tool):
    def test_help_fits_on_a_screen(self):
        text, _ = run("--help")
        self.assertLessEqual(len(text.splitlines()), 24)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for name in SUBCOMMANDS:
            self.assertIn(name, text)
            lines = run(name, "--help")[0].splitlines()
            self.assertEqual([l for l in lines if l][2], "Examples:")
            examples = lines[lines.index("Examples:") + 1:]
            self.assertEqual([l[:13] for l in examples[:2]], ["  cudavision "] * 2)

    def options_of_help(self, name):
        options = run(name, "--help")[0].split("Options:")[1]
        return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", options, re.MULTILINE))

    def test_manual_lists_every_option(self):
        page = read(os.path.join(SOURCES, "cudavision.1")).decode().replace("\\-", "-")
        page = page[page.index(".SH OPTIONS"):page.index(".SH FILES")]
        sections = dict(s.split("\n", 1) for s in page.split("\n.SS ")[1:])
        listed = {title: set(re.findall(r"^\.B.*?(--[a-z-]+)", text, re.MULTILINE))
                  for title, text in sections.items()}
        for name in SUBCOMMANDS:
            manual = set().union(*(listed[title] for title in listed
                                   if title == "All subcommands" or name in title.split(", ")))
            self.assertEqual(manual, self.options_of_help(name), name)

    def complete(self, *words):
        script = (f"source {shlex.quote(SOURCES)}/cudavision.bash; COMP_WORDS=({shlex.join(words)})"
                  f"; COMP_CWORD={len(words) - 1}; _cudavision; echo \"${{COMPREPLY[@]}}\"")
        path = os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]
        return set(subprocess.run(["bash", "-c", script], env={**os.environ, "PATH": path}, check=True,
                                  capture_output=True, text=True).stdout.split())

    def test_completion_lists_every_option(self):
        if os.path.basename(PROGRAM) != "cudavision":
            self.skipTest("the program has another name")
        self.assertEqual(self.complete("cudavision", ""), {*SUBCOMMANDS, "--help", "--version"})
        for name in SUBCOMMANDS:
            self.assertEqual(self.complete("cudavision", name, "--"), self.options_of_help(name))

    def test_wrong_usage_names_the_option(self):
        self.assertIn("did you mean roughness", run("roughnes", status=2)[1])
        self.assertIn("did you mean --lambda-c",
                      run("roughness", "--lamda-c", "1um", "x", status=2)[1])
        self.assertIn('--lambda-c 80ym: there is no unit "ym" (pm, nm, um, mm, cm, in, m); did you'
                      ' mean um?', run("roughness", "--lambda-c", "80ym", "x", status=2)[1])
        self.assertIn("did you mean mm?", run("roughness", "--dx", "1MM", "x", status=2)[1])
        self.assertIn('--wavelet: unknown wavelet "9-7" (did you mean "9/7"?)',
                      run("roughness", "--wavelet", "9-7", "x", status=2)[1])
        self.assertIn("the ending is none of", run("roughness", "x", "--write", "form=f", status=2)[1])
        self.assertIn("one %d", run("monitor", "x%s%n.png", status=2)[1])
        self.assertIn("--framerate 5", run("monitor", "x", "--framerate", "5", status=2)[1])
        self.assertIn("the port", run("monitor", "udp://localhost:x", status=2)[1])
        self.assertIn("--backend gpu", run("motion", "--backend", "gpu", "x", status=2)[1])
        self.assertIn("no input", run("scenes", status=2)[1])

    def make_every_kind(self):
        """A file of every kind with the subcommands that take it, and what is said otherwise"""
        self.make_surfaces()
        self.make_clip()
        launch("bundletestsrc cameras=8 points=300 ! filesink location=b.txt")
        launch("pbftestsrc num-buffers=50 ! pbffilesink location=l.pbf")
        for name, data in (("words.txt", b"no numbers\n"), ("noise.dat", bytes(range(256)) * 20),
                           ("empty.dat", b""), ("closed.x3p", read("part0.x3p"))):
            with open(name, "wb") as stream:
                stream.write(data)
        os.chmod("closed.x3p", 0)
        os.mkdir("folder")
        os.mkfifo("pipe")
        return {"part0.x3p": ("roughness", "part0.x3p is a surface, not a "),
                "clip.avi": ("motion scenes denoise monitor", "clip.avi is a video, not a "),
                "b.txt": ("bundle", "b.txt is a reconstruction, not a "),
                "l.pbf": ("monitor", "l.pbf is a recording of melt-pool frames, not a "),
                "words.txt": ("", "words.txt: "), "noise.dat": ("", "noise.dat: "),
                "empty.dat": ("", "empty.dat: the file is empty"), "folder": ("", "folder"),
                "pipe": ("", "pipe: a pipe or a device"), "no.dat": ("", "no.dat: no such file"),
                "closed.x3p": ("", "closed.x3p: Permission denied")}

    def test_wrong_kinds_of_files(self):
        kinds = self.make_every_kind()
        for name in ("roughness", "motion", "scenes", "denoise", "bundle", "monitor", "info"):
            for file, (takes, reason) in kinds.items():
                if name in takes.split() or name == "info" and takes:
                    continue
                before = sorted(os.listdir())
                outputs = [] if name == "info" else [
                    "--report", "r.html", "-o", {"bundle": "o.ply", "denoise": "o.mkv"}.get(name, "o.csv")]
                _, text = run(name, file, *outputs, status=1, preexec_fn=obey_permissions)
                self.assertEqual(text.count("\n"), 1, text)
                self.assertIn(f"cudavision {name}: ", text)
                self.assertIn(reason, text)
                if takes:
                    self.assertIn("; see `cudavision info`", text)
                self.assertEqual(sorted(os.listdir()), before, (name, file))
        text, errors = run("info", *kinds, status=1, preexec_fn=obey_permissions)
        self.assertEqual(text.count("gst-launch-1.0"), 4)
        self.assertEqual(errors.count("\n"), 7)

    def test_devices(self):
        found = json.loads(run("devices", "--json")[0])
        self.assertGreaterEqual(found["cpu-threads"], 1)
        for fact in ("version", "gpus", "cuda", "cpu", "cpu-level", "system", "gstreamer", "glib",
                     "libraries", "cudavisionsurface"):
            self.assertIn(fact, found)
        self.assertTrue(found["gpus"] or re.search("driver|compiled without nvcc",
                                                   found["no-gpu-reason"]), found)
        text, _ = run("devices")
        for word in ("GPU", "CUDA", "threads", "GStreamer", "GLib", "zlib", "libgstcudavisionsurface.so"):
            self.assertIn(word, text)

    def test_missing_plugins_name_the_package(self):
        self.make_every_kind()
        for element, missing, package in (("jpegdec", "JPEG decoder", "gstreamer1.0-plugins-good"),
                                          ("avidemux", "demuxer", "gstreamer1.0-plugins-good")):
            env = {**os.environ, "GST_PLUGIN_FEATURE_RANK": f"{element}:NONE,avdec_mjpeg:NONE"}
            for name in ("motion", "scenes", "monitor", "info"):
                _, text = run(name, "clip.avi", status=1, env=env)
                self.assertRegex(text, f"clip.avi: the .*{missing} is missing; install the package "
                                       f"{package}\n$")
                self.assertEqual(text.count("\n"), 1)
        folder = os.path.abspath("folder")
        env = {**os.environ, "GST_PLUGIN_PATH_1_0": folder, "GST_PLUGIN_SYSTEM_PATH_1_0": folder,
               "GST_REGISTRY": os.path.abspath("registry")}
        for arguments, package in ((["roughness", "part0.x3p"], "gstreamer1.0-cudavision-surface"),
                                   (["monitor", "l.pbf"], "gstreamer1.0-cudavision-meltpool"),
                                   (["motion", "clip.avi"], "libgstreamer1.0-0"),
                                   (["info", "clip.avi"], "gstreamer1.0-plugins-base")):
            _, text = run(*arguments, status=1, env=env)
            self.assertRegex(text, f"is missing; install the package {package}\n$")

    def test_progress_bar(self):
        """With one file too; none in a pipe"""
        launch("videotestsrc num-buffers=500 ! video/x-raw,width=640,height=480 ! jpegenc ! avimux"
               " ! filesink location=long.avi")
        arguments = ("motion", "long.avi", "--threads", "1")
        self.assertRegex(run_on_terminal(*arguments),
                         r"\r\x1b\[Klong.avi \[#* *\] +[0-9]+ %, [0-9.]+ frames/s, 0:[0-9]+ left")
        self.assertNotIn("left", run_on_terminal(*arguments, "-q"))
        self.assertEqual(run(*arguments)[1], "")


class Roughness(Tool):
    def test_table_and_json(self):
        self.make_surfaces()
        text, _ = run("roughness", "part0.x3p")
        self.assertRegex(text, r"roughness +[\d.]+ nm")
        found = json.loads(run("roughness", "part0.x3p", "--json")[0])
        self.assertGreater(found["surfaces"][0]["components"]["roughness"]["sa_m"], 0)

    def test_default_cutoff(self):
        for side, wanted in ((512, "80 "), (128, "25 "), (28, "8 "), (12, "8 "), (8, "8 ")):
            launch(f"surfacetestsrc num-buffers=1 ! other/tensors,dimensions=(string){side}:{side}:1:1"
                   " ! surfacesink location=default.x3p")
            text, errors = run("roughness", "default.x3p")
            self.assertEqual(errors, "", side)
            self.assertRegex(text, rf"lambda-c ({wanted}µm;|.*\({wanted}µm asked for)")
        launch("surfacetestsrc num-buffers=1 ! other/tensors,dimensions=(string)4:4:1:1"
               " ! surfacesink location=default.x3p")
        self.assertIn("--lambda-c 8 µm is not in", run("roughness", "default.x3p", status=1)[1])

    def test_unfiltered_is_the_surface(self):
        self.make_surfaces(ending="npy")
        import numpy
        z = numpy.load("part0.npy").astype(float)
        found = json.loads(run("roughness", "part0.npy", "--dx", "1um", "--unfiltered",
                               "--json")[0])
        sq = found["surfaces"][0]["components"]["surface"]["sq_m"]
        self.assertAlmostEqual(sq / z.std(), 1, places=5)
        _, text = run("roughness", "part0.npy", "--unfiltered", "--form", "plane", status=2)
        self.assertIn("leave out --form", text)

    def test_unfiltered_agrees_with_surfalize(self):
        try:
            from surfalize import Surface
        except ImportError:
            self.skipTest("no surfalize (PyPI)")
        self.make_surfaces(ending="sur")
        data = os.path.join(os.environ.get("CUDAVISION_TEST_DATA", ""), "lifting")
        names = ["part0.sur"] + [os.path.join(data, name) for name in (
            "al3d-1.al3d", "x3p-2.x3p") if os.path.exists(os.path.join(data, name))]
        for name in names:
            found = json.loads(run("roughness", name, "--unfiltered", "--json")[0])
            ours = found["surfaces"][0]["components"]["surface"]
            other = Surface.load(name)
            for key in ("sa_m", "sq_m", "sp_m", "sv_m", "sz_m", "ssk", "sku", "sdr", "sdq"):
                theirs = getattr(other, key.split("_")[0].capitalize())()
                theirs *= 1e-6 if key.endswith("_m") else 0.01 if key == "sdr" else 1
                # surfalize weighs the edge more in sdq, which counts on this small surface
                edge = 1e-3 if name == "part0.sur" else 5e-4
                self.assertAlmostEqual(ours[key] / theirs, 1, msg=(name, key),
                                       delta=edge if key == "sdq" else 2e-6)

    def test_show_writes_the_same(self):
        self.make_surfaces(count=2)
        self.same_bytes(["roughness", "part0.x3p", "-o", "a b.csv", "--lambda-c", "80um",
                         "--write", "roughness=r.npy", "--write", "form=f.x3p"],
                        ["a b.csv", "r.npy", "f.x3p"])
        self.same_bytes(["roughness", "part0.x3p", "part1.x3p", "-o", "all.csv"], ["all.csv"])
        os.rename("part0.x3p", "50% of %d.x3p")
        self.same_bytes(["roughness", "50% of %d.x3p", "-o", "a.csv", "--write", "form=f %d.npy"],
                        ["a.csv", "f %d.npy"])
        self.no_temporary_file()

    def test_a_bad_file_does_not_stop_the_others(self):
        self.make_surfaces(count=12)
        with open("part3.x3p", "wb") as stream:
            stream.write(b"PK\3\4 no surface")
        text, errors = run("roughness", ".", status=1)
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual([r["label"] for r in rows],
                         [f"./part{i}.x3p" for i in range(12) if i != 3])
        self.assertIn("part3.x3p", errors)
        self.assertIn("1 of 12 files failed", errors)

    def damage_heights(self, name):
        """Other bytes of heights than their checksum says: found only when they are read"""
        with zipfile.ZipFile(name) as archive:
            parts = {part: archive.read(part) for part in archive.namelist()}
        with zipfile.ZipFile(name, "w") as archive:
            for part, data in parts.items():
                archive.writestr(part, b"\0" * len(data) if part.endswith(".bin") else data)

    def test_many_files_are_measured_as_each_alone(self):
        self.make_surfaces(count=18)
        for i in (0, 5, 6, 17):  # of another size, which has another cut-off
            launch("surfacetestsrc num-buffers=1 ! other/tensors,dimensions=(string)512:480:1:1"
                   f" ! surfacesink location=part{i}.x3p")
        self.damage_heights("part9.x3p")
        files = [f"part{i}.x3p" for i in range(18)]
        wanted = []
        for name in files[:9] + files[10:]:
            run("roughness", name, "-o", "alone.csv", "-q")
            rows = csv.DictReader(read("alone.csv").decode().splitlines())
            wanted.append(next(r for r in rows if r["component"] == "roughness"))
        for threads in ("1", "3"):
            text, errors = run("roughness", *files, "--threads", threads, status=1)
            self.assertEqual(list(csv.DictReader(text.splitlines())), wanted)
            self.assertIn("part9.x3p", errors)
            self.assertIn("1 of 18 files failed", errors)
        found = json.loads(run("roughness", *files, "--json", status=1)[0])["surfaces"]
        for surface, row in zip([s for s in found if s["error"] is None], wanted):
            self.assertEqual(surface["components"]["roughness"]["sa_m"], float(row["sa_m"]))
            self.assertEqual(surface["lambda_c_m"], float(row["lambda_c_x_m"]))

    def test_the_input_is_not_overwritten(self):
        self.make_surfaces()
        before = read("part0.x3p")
        os.link("part0.x3p", "same.x3p")
        _, text = run("roughness", "part0.x3p", "--write", "roughness=same.x3p", status=1)
        self.assertIn("is an input", text)
        for many in (".", "part*.x3p", "part0.x3p"):
            _, text = run("roughness", many, "-o", "part0.x3p", status=1)
            self.assertIn("part0.x3p is an input, and is not overwritten\n", text)
        self.assertEqual(read("part0.x3p"), before)

    def test_cutoffs_that_do_not_fit(self):
        self.make_surfaces()
        launch("surfacetestsrc num-buffers=1 ! other/tensors,dimensions=(string)1024:1024:1:1"
               " ! surfacesink location=large.x3p")
        for value in ("1nm", "1um", "130um", "80"):
            _, text = run("roughness", "part0.x3p", "--lambda-c", value, status=1)
            self.assertRegex(text, "part0.x3p: --lambda-c [0-9]+ [^ ]*m is not in 2 \u00b5m .* to"
                                   " 128 \u00b5m .*: the surface has 128 x 96 points, spacing 1"
                                   " \u00b5m x 1 \u00b5m\n$")
            self.assertEqual(text.count("\n"), 1)
        text, errors = run("roughness", "part0.x3p", "large.x3p", "--lambda-c", "250um", status=1)
        self.assertEqual([r["label"] for r in csv.DictReader(text.splitlines())], ["large.x3p"])
        self.assertIn("1 of 2 files failed", errors)
        launch("surfacesrc location=part0.x3p ! surfacesink location=n.npy")
        self.assertIn("--dx", run("roughness", "n.npy", "--lambda-c", "10um", status=1)[1])

    def test_a_closed_pipe_ends_silently(self):
        self.make_surfaces(count=3)
        self.make_clip()
        for arguments in ("roughness .", "roughness part0.x3p", "roughness . --json", "scenes clip.avi",
                          "motion clip.avi -q -o /dev/stdout --npy v.npy", "info *", "devices"):
            done = subprocess.run(f"{shlex.quote(PROGRAM)} {arguments} | head -n 1", shell=True,
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.stderr, "")
            self.assertEqual(len(done.stdout.splitlines()), 1)
            self.no_temporary_file()


class Outputs(Tool):
    """Every kind of output that cannot be written"""

    def make_commands(self):
        """Arguments of the subcommands, by which the name of the output comes"""
        self.make_surfaces()
        self.make_clip()
        launch("bundletestsrc cameras=8 points=300 ! filesink location=b.txt")
        launch("pbftestsrc num-buffers=2000 ! pbffilesink location=l.pbf")
        yield from ((["roughness", "part0.x3p", "--write", "form="], f"o.{ending}")
                    for ending in ("x3p", "sdf", "sur", "gsf", "tiff", "npy"))
        for inputs, options in (
                (["roughness", "part0.x3p"], ["--report=o.html"]),
                (["motion", "clip.avi"], ["--csv=o.csv", "--npy=o.npy", "--video=o.webm",
                                          "--video=o.avi", "--report=o.html"]),
                (["scenes", "clip.avi"], ["--report=o.html"]),
                (["denoise", "clip.avi"], ["--output=o.mkv", "--output=o.webm"]),
                (["bundle", "b.txt"], ["--output=o.ply", "--output=o.tar", "--video=o.webm",
                                       "--report=o.html"]),
                (["monitor", "l.pbf"], ["--csv=o.csv", "--jsonl=o.jsonl", "--report=o.html"])):
            for option in options:
                option, name = option.split("=")
                yield [*inputs, option + "="], name

    def fails(self, arguments, name, **options):
        """One line says which output cannot be written; only warnings are beside it."""
        status = options.pop("status", 1)
        *first, last = arguments
        _, text = run(*first, last + name, "--quiet", status=status, **options)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertIn(name, text)
        self.assertNotIn(".cudavision-", text)

    def test_full_disk(self):
        for arguments, name in self.make_commands():
            before = sorted(os.listdir())
            self.fails(arguments, name, preexec_fn=limit_files)
            self.assertEqual(sorted(os.listdir()), before)

    def test_folders(self):
        os.mkdir("folder", 0o555)
        for arguments, name in self.make_commands():
            self.fails(arguments, "folder/" + name, preexec_fn=obey_permissions)
            self.fails(arguments, "nowhere/" + name)
            os.mkdir(name)
            self.fails(arguments, name)
            os.rmdir(name)
            self.no_temporary_file()

    def test_devices(self):
        """Devices are written in place. As root a rename would replace them."""
        self.make_surfaces()
        self.make_clip()
        try:
            os.mknod("full", 0o20666, os.makedev(1, 7))
            open("full", "wb").close()
        except OSError:
            self.skipTest("cannot make a device")
        for arguments in (["roughness", "part0.x3p", "-o"], ["motion", "clip.avi", "-o"],
                          ["scenes", "clip.avi", "--report"]):
            _, text = run(*arguments, "full", "-q", status=1)
            self.assertRegex(text, "cannot write full: No space left on .*\n$")
            self.assertTrue(os.stat("full").st_rdev)
        with open("full", "wb") as full:
            done = subprocess.run([PROGRAM, "roughness", "part0.x3p"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write to standard output", done.stderr)

    def test_one_name_for_two(self):
        self.make_clip()
        _, text = run("motion", "clip.avi", "-o", "x.csv", "--npy", "./x.csv", status=2)
        self.assertIn("./x.csv would be written twice", text)


class Video(Tool):
    def test_scenes(self):
        self.make_clip()
        arguments = ["scenes", "clip.avi", "-o", "s.csv", "--qpfile", "q.txt",
                     "--scenes-json", "s.json", "--chapters", "c.txt", "--svt-key-frames", "k.txt",
                     "--zones", "z.txt", "--transitions", "t.csv"]
        self.same_bytes(arguments, ["s.csv", "q.txt", "s.json", "c.txt", "k.txt", "z.txt", "t.csv"])
        self.assertEqual(read("q.txt"), b"0 I -1\n20 I -1\n")
        self.assertEqual(read("t.csv"), b"kind,start_frame,end_frame,start_s,end_s\n")
        self.assertEqual(read("k.txt"), b"0f,20f\n")
        self.assertEqual(read("z.txt"), b"0,19,b=1.00/20,34,b=1.00\n")
        scenes = json.loads(read("s.json"))
        self.assertEqual(scenes["frames"], 35)
        self.assertEqual([(s["start_frame"], s["end_frame"]) for s in scenes["scenes"]],
                         [(0, 20), (20, 35)])
        self.assertIn(b"START=800000000\nEND=1400000000\n", read("c.txt"))

    def test_denoise(self):
        self.make_clip()
        run("denoise", "clip.avi", "-o", "a.mkv", "--spins", "2", "--report", "d.html", "-q")
        self.assertEqual(read("d.html").count(b"data:image/jpeg"), 3)
        launch("filesrc location=clip.avi ! decodebin ! videoconvert ! cudadenoise spins=2"
               " ! videoconvert ! video/x-raw,format=I420 ! filesink location=wanted.yuv")
        launch("filesrc location=a.mkv ! decodebin ! videoconvert ! video/x-raw,format=I420"
               " ! filesink location=found.yuv")
        self.assertEqual(read("found.yuv"), read("wanted.yuv"))
        found = json.loads(run("denoise", "clip.avi", "-o", "b.webm", "--json", "-q")[0])
        self.assertEqual((found["frames"], found["output"]), (35, "b.webm"))
        self.assertIn("--shrink fair is not a valid value",
                      run("denoise", "clip.avi", "-o", "c.mkv", "--shrink", "fair", status=2)[1])
        self.assertIn("--spins 99 is not", run("denoise", "clip.avi", "-o", "c.mkv", "--spins", "99",
                                               status=2)[1])
        self.assertIn("c.txt is none of", run("denoise", "clip.avi", "-o", "c.txt", status=2)[1])
        self.assertIn("no output", run("denoise", "clip.avi", status=2)[1])
        self.no_temporary_file()

    def make_cuts(self):
        """1280x720, Motion JPEG, scenes of 12, 9, 15, 7 and 10 frames"""
        patterns = ["pattern=ball num-buffers=12", "pattern=zone-plate kx2=12 ky2=9 kt=2 num-buffers=9",
                    "pattern=pinwheel num-buffers=15", "pattern=checkers-8 horizontal-speed=2"
                    " num-buffers=7", "pattern=smpte horizontal-speed=3 num-buffers=10"]
        caps = "video/x-raw,format=I420,width=1280,height=720,framerate=25/1"
        launch("concat name=c ! jpegenc ! avimux ! filesink location=cuts.avi"
               + "".join(f" videotestsrc {p} ! {caps} ! c." for p in patterns))

    def test_reduced_search_loses_no_cut(self):
        self.make_cuts()
        launch("filesrc location=cuts.avi ! decodebin ! videoconvert ! cudamotionest method=full"
               " block-size=32 subpel=none name=m ! fakesink"
               " m.src_vectors ! motionvectorenc format=scenes-csv ! filesink location=full.csv")
        run("scenes", "cuts.avi", "-o", "reduced.csv", "-q")
        self.assertEqual(read("reduced.csv"), read("full.csv"))
        self.assertEqual([int(r["start_frame"]) for r in csv.DictReader(open("full.csv"))],
                         [0, 12, 21, 36, 43])

    def test_motion(self):
        import numpy
        self.make_clip()
        self.same_bytes(["motion", "clip.avi", "-o", "v.csv", "--npy", "v.npy"],
                        ["v.csv", "v.npy"])
        self.assertEqual(numpy.load("v.npy").shape, (34, 15, 20, 2))
        found = json.loads(run("motion", "clip.avi", "--json", "-q")[0])
        self.assertTrue(0 < found["mean-confidence"] < 1)
        self.assertTrue(0 <= found["noise-levels"] < 5)
        found = json.loads(run("motion", "clip.avi", "--json", "-q", "--method", "full")[0])
        self.assertNotIn("mean-confidence", found)
        run("motion", "clip.avi", "--flo", "flow", "--method", "zonal", "-q")
        self.assertEqual(len(os.listdir("flow")), 34)

    def test_several_devices(self):
        """Devices that tests pose, or the CPU, where no device can be had."""
        self.make_clip()
        posed = {**os.environ, "CUDAVISION_POSED_DEVICES": "2"}
        for command, table in (("motion", "v"), ("monitor", "f")):
            run(command, "clip.avi", "-o", table + "1.csv")
            run(command, "clip.avi", "-o", table + "2.csv", "--cuda-device-ids", "all", env=posed)
            self.assertEqual(pathlib.Path(table + "1.csv").read_bytes(),
                             pathlib.Path(table + "2.csv").read_bytes())
        for command in ("bundle", "scenes"):
            _, errors = run(command, "clip.avi", "--cuda-device-ids", "all", status=2)
            self.assertIn("--cuda-device-ids", errors)

    def test_interrupt_leaves_nothing_half_written(self):
        launch("videotestsrc num-buffers=2000 ! video/x-raw,width=640,height=480 ! jpegenc"
               " ! avimux ! filesink location=long.avi")
        launch("bundletestsrc cameras=200 points=60000 ! filesink location=long.txt")
        launch("surfacetestsrc num-buffers=1 ! other/tensors,dimensions=(string)5000:5000:1:1"
               " ! surfacesink location=large.x3p")
        for arguments in (["roughness", "large.x3p", "--write", "form=o.npy"],
                          ["motion", "long.avi", "-o", "o.csv"], ["scenes", "long.avi", "-o", "o.csv"],
                          ["bundle", "long.txt", "-o", "o.ply"], ["monitor", "long.avi", "-o", "o.csv"]):
            before = sorted(os.listdir())
            process = subprocess.Popen([PROGRAM, *arguments, "--threads", "1"], text=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(50 if arguments[0] != "roughness" else 5):
                time.sleep(0.1)
                if sorted(os.listdir()) != before:
                    break
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, text = process.communicate(timeout=30)
            self.assertLess(time.monotonic() - start, 3)  # one second, if the machine is idle
            # how many frames were analysed, and whether they deserve a warning, is chance
            text = [line for line in text.splitlines() if ": warning: " not in line]
            self.assertEqual((process.returncode, text), (130, []), arguments)
            self.assertEqual(sorted(os.listdir()), before)

    def test_a_closed_terminal_leaves_no_temporary_file(self):
        launch("videotestsrc num-buffers=2000 ! video/x-raw,width=640,height=480 ! jpegenc"
               " ! avimux ! filesink location=long.avi")
        process = subprocess.Popen([PROGRAM, "motion", "long.avi", "-o", "o.csv", "--threads", "1"],
                                   stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        while len(os.listdir()) == 1 and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=30), -signal.SIGHUP)
        self.assertEqual(os.listdir(), ["long.avi"])


    def test_no_frame(self):
        with open("head.y4m", "wb") as stream:
            stream.write(b"YUV4MPEG2 W320 H240 F25:1 C420\n")
        for name in ("motion", "scenes", "monitor"):
            _, text = run(name, "head.y4m", "-o", "o.csv", status=1)
            self.assertEqual(text, f"cudavision {name}: head.y4m: it contains no frame\n")
            self.assertEqual(os.listdir(), ["head.y4m"])


class Models(Tool):
    def test_bundle(self):
        launch("bundletestsrc cameras=8 points=300 ! filesink location=b.txt")
        self.same_bytes(["bundle", "b.txt", "-o", "a.ply"], ["a.ply"])
        found = json.loads(run("bundle", "b.txt", "--json")[0])
        self.assertLess(found["final-cost"], found["initial-cost"])

    def test_a_folder_of_colmap(self):
        launch("bundletestsrc cameras=8 points=300 format=colmap ! filesink location=m.tar")
        os.mkdir("model")
        subprocess.run(["tar", "xf", "m.tar", "-C", "model"], check=True)
        self.assertEqual(json.loads(run("bundle", "model", "--json")[0])["cameras"], 8)
        os.mkdir("empty")
        self.assertIn("contains no COLMAP model", run("bundle", "empty", status=1)[1])


MODEL_FILES = ("cameras.bin", "images.bin", "points3D.bin")


@unittest.skipIf(colmap_models is None, "needs NumPy")
class ColmapModels(Tool):
    def make_model(self, *names, cameras=2):
        colmap_models.simulate("in", names, 12, 300, cameras)

    def files(self, folder):
        self.assertEqual(sorted(os.listdir(folder)), sorted(MODEL_FILES))
        return [read(f"{folder}/{name}") for name in MODEL_FILES]

    def test_every_camera_model(self):
        """In one model; the costs are those that NumPy finds in the files."""
        self.make_model(*(model[0] for model in colmap_models.MODELS), cameras=11)
        found = json.loads(run("bundle", "in", "out", "--json")[0])
        for folder, name in (("in", "initial-cost"), ("out", "final-cost")):
            cost, observations = colmap_models.cost(folder)
            self.assertAlmostEqual(found[name] / cost, 1, delta=1e-9)
            self.assertEqual(found["observations"], observations)
        self.assertLess(found["final-cost"], 0.1 * found["initial-cost"])
        before, after = colmap_models.read("in"), colmap_models.read("out")
        for i in range(3):
            self.assertEqual(list(before[i]), list(after[i]))
        for i, image in before[1].items():
            self.assertEqual(after[1][i]["name"], image["name"])
            self.assertEqual(after[1][i]["features"].tobytes(), image["features"].tobytes())
        for i, camera in before[0].items():  # the principal point
            n = colmap_models.MODELS[camera["model"]][1]
            self.assertEqual(after[0][i]["params"][n:n + 2], camera["params"][n:n + 2])

    def test_an_unchanged_model_and_a_replaced_one(self):
        self.make_model("SIMPLE_RADIAL")
        run("bundle", "in", "new/folder", "--max-iterations", "0")
        self.assertEqual(self.files("in"), self.files("new/folder"))
        run("bundle", "in", "new/folder")
        self.assertIn("stopped by", run("bundle", "in", "in")[0])
        self.assertEqual(self.files("in"), self.files("new/folder"))
        run("bundle", "in", "new/folder", "--threads", "3")
        run("bundle", "in", "in", "--threads", "1", "-q")
        self.assertEqual(self.files("in"), self.files("new/folder"))
        os.mkdir("old")
        open("old/rigs.bin", "wb").close()
        text, log = run("bundle", "in", "old", status=1)
        self.assertEqual((text, os.listdir("old")), ("", ["rigs.bin"]))
        self.assertIn("old contains rigs.bin, which does not belong to the new model", log)

    def test_backends(self):
        """A device, where there is one, gives the cost of the CPU; otherwise cuda is an error."""
        self.make_model("OPENCV", cameras=1)
        cpu = json.loads(run("bundle", "in", "out", "--json", "--backend", "cpu")[0])
        self.assertEqual(cpu["backend"], "cpu")
        auto = json.loads(run("bundle", "in", "auto", "--json", "-q", "--backend", "auto")[0])
        self.assertAlmostEqual(auto["final-cost"] / cpu["final-cost"], 1, delta=1e-6)
        if auto["backend"] == "cuda":
            cuda = json.loads(run("bundle", "in", "cuda", "--json", "--backend", "cuda")[0])
            self.assertEqual((cuda["backend"], cuda["final-cost"]), ("cuda", auto["final-cost"]))
            self.assertEqual(self.files("auto"), self.files("cuda"))
            return
        self.assertEqual(self.files("auto"), self.files("out"))
        self.assertRegex(run("bundle", "in", "cuda", "--backend", "cuda", status=1)[1],
                         "CUDA|NVIDIA")
        self.assertFalse(os.path.exists("cuda"))

    def test_calls_of_bundle_adjuster(self):
        """As nerfstudio and instant-ngp call it, and with a project file"""
        self.make_model("OPENCV", cameras=1)
        shutil.copytree("in", "again")
        run("bundle", "--input_path", "in", "--output_path", "in",
            "--BundleAdjustment.refine_principal_point", "1")
        moved = colmap_models.read("in")[0][3]["params"]
        self.assertNotEqual(moved[2:4], colmap_models.read("again")[0][3]["params"][2:4])
        with open("project.ini", "w", encoding="utf-8") as file:
            file.write("log_to_stderr=false\nimage_path=images\ninput_path=again\n[SiftExtraction]\n"
                       "num_threads=4\n[BundleAdjustment]\n# all\nrefine_principal_point=true\n"
                       "max_num_iterations = 5\n")
        _, text = run("bundle", "--project_path=project.ini", "--output_path=out", "--log_level", "2",
                      "--BundleAdjustment.max_num_iterations=100", "-q")
        self.assertEqual(text, "")
        self.assertEqual(self.files("in"), self.files("out"))
        text, log = run("bundle", "again", "out", "--random_seed", "1",
                        "--BundleAdjustmentCeres.max_num_iterations", "2")
        self.assertIn("2 iterations", text)
        self.assertEqual(log, "cudavision bundle: --random_seed has no meaning here\n")
        kept = "refine_focal_length", "refine_extra_params", "refine_extrinsics"
        run("bundle", "again", "out", *(f"--BundleAdjustment.{name}=0" for name in kept))
        before, after = colmap_models.read("again"), colmap_models.read("out")
        self.assertEqual(before[0], after[0])
        self.assertEqual([i["q"] + i["t"] for i in before[1].values()],
                         [i["q"] + i["t"] for i in after[1].values()])
        self.assertNotEqual([p["x"] for p in before[2].values()], [p["x"] for p in after[2].values()])

    def test_rigs(self):
        """Poses of images, frames and sensors agree, and the costs are those that NumPy finds; with
        the same bits for any number of threads."""
        colmap_models.simulate_rig("in", 3, 14, 400)
        self.assertLess(colmap_models.largest_disagreement("in"), 1e-12)
        parts = "cameras.bin", "images.bin", "points3D.bin", "rigs.bin", "frames.bin"
        costs = {}
        for name, kept in (("", ()), ("refine_sensor_from_rig", parts[3:4]), ("refine_rig_from_world", parts[4:])):
            options = [f"--BundleAdjustment.{name}=0"] if name else []
            found = json.loads(run("bundle", "in", "out", "--json", "--threads", "1", *options)[0])
            for folder, state in (("in", "initial-cost"), ("out", "final-cost")):
                self.assertAlmostEqual(found[state] / colmap_models.cost(folder)[0], 1, delta=1e-9)
            self.assertLess(colmap_models.largest_disagreement("out"), 1e-12)
            for part in parts:
                same = read(f"in/{part}") == read(f"out/{part}")
                self.assertEqual(same, part in kept, f"{part} with {name}=0")
            costs[name] = found["final-cost"]
            run("bundle", "in", "again", "-q", "--threads", "3", *options)
            for part in parts:
                self.assertEqual(read(f"out/{part}"), read(f"again/{part}"))
        self.assertLess(costs[""], 0.1 * min(costs["refine_sensor_from_rig"], costs["refine_rig_from_world"]))
        observations = colmap_models.cost("in")[1]
        self.assertLess(costs[""], 0.25 * observations)  # half a pixel of noise: 0.25 for each without unknowns
        with open("kept.txt", "w", encoding="utf-8") as file:
            file.write("camera 5 pose\nimage 5 pose\n")
        run("bundle", "in", "out", "--constants", "kept.txt")
        before, after = colmap_models.read_rigs("in"), colmap_models.read_rigs("out")
        self.assertEqual([before[0][i] == after[0][i] for i in (5, 7)], [True, False])
        self.assertEqual([before[1][i][0] == after[1][i][0] for i in (100, 101)], [True, False])
        run("bundle", "in", "out", "--BundleAdjustment.refine_extrinsics", "0")
        for part in parts[3:]:
            self.assertEqual(read(f"in/{part}"), read(f"out/{part}"))

    def test_priors_of_rigs(self):
        """The cost has priors of images by all sensors; poses of images, frames and sensors agree."""
        colmap_models.simulate_rig("in", 3, 12, 300)
        start = colmap_models.read("in")[1]
        np = colmap_models.np
        rng = np.random.default_rng(5)
        place = {i: 2 * (-colmap_models.matrix(image["q"]).T @ image["t"]) + rng.normal(size=3) * 0.1
                 for i, image in start.items() if i % 2}
        with open("priors.txt", "w", encoding="utf-8") as file:
            for i, x in place.items():
                file.write(f"{i} {x[0]:.17g} {x[1]:.17g} {x[2]:.17g} 0.1 0.1 0.2\n")
        sensors = colmap_models.read_rigs("in")[0]
        for name in ("", "refine_sensor_from_rig", "refine_rig_from_world"):
            options = [f"--BundleAdjustment.{name}=0"] if name else []
            found = json.loads(run("bundle", "in", "out", "--priors", "priors.txt", "--json", *options)[0])
            cost = colmap_models.cost("out")[0]
            for i, image in colmap_models.read("out")[1].items():
                if i in place:
                    off = -colmap_models.matrix(image["q"]).T @ image["t"] - place[i]
                    cost += 0.5 * np.sum((off / [0.1, 0.1, 0.2])**2)
            self.assertEqual(found["priors"], len(place))
            self.assertAlmostEqual(found["final-cost"] / cost, 1, delta=1e-9)
            self.assertLess(found["final-cost"], 0.5 * found["initial-cost"])
            self.assertLess(colmap_models.largest_disagreement("out"), 1e-12)
            if name == "refine_sensor_from_rig":  # the scale of the alignment
                for i, (_, t) in colmap_models.read_rigs("out")[0].items():
                    self.assertLess(np.ptp(np.divide(t, sensors[i][1])), 1e-9)

    def test_poses_of_rigs(self):
        """Frames of the rig get the poses of a transforms.json; the images agree with them."""
        colmap_models.simulate_rig("in", 2, 6, 200)
        run("bundle", "in", "out", "--transforms", "t.json")
        write_json("t.json", {**json.loads(read("t.json")), "applied_transform": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]})
        run("bundle", "in", "again", "--poses", "t.json", "--BundleAdjustment.refine_extrinsics", "0")
        np = colmap_models.np
        wanted, found = colmap_models.read("out")[1], colmap_models.read("again")[1]
        self.assertLess(colmap_models.largest_disagreement("again"), 1e-12)
        sensors = colmap_models.read_rigs("again")[0]
        for i, image in found.items():
            if image["camera"] not in sensors:
                self.assertLess(np.abs(np.subtract(image["t"], wanted[i]["t"])).max(), 1e-9)

    def test_losses(self):
        """Costs are those that NumPy finds."""
        self.make_model("OPENCV")
        for loss, scale in (("trivial", 1), ("soft_l1", 0.5), ("cauchy", 0.7), ("huber", 0.5), ("tukey", 300)):
            found = json.loads(run("bundle", "in", "out", "--json", "--loss", loss, "--loss-scale", str(scale))[0])
            for folder, name in (("in", "initial-cost"), ("out", "final-cost")):
                self.assertAlmostEqual(found[name] / colmap_models.cost(folder, loss, scale)[0], 1, delta=1e-9)
            self.assertLess(found["final-cost"], 0.2 * found["initial-cost"])

    def test_errors_by_camera_image_and_point(self):
        """Those that NumPy finds; their sums are the totals, and the page shows them."""
        self.make_model("OPENCV", "FOV")
        text, _ = run("bundle", "in", "out", "--json", "--report", "r.html", "--loss", "cauchy")
        found = json.loads(text)
        for state, folder in (("initial", "in"), ("final", "out")):
            models = colmap_models.read(folder)
            for kind, key, wanted in (("by-camera", "camera-id", colmap_models.costs(models, "camera", "cauchy")),
                                      ("by-image", "image-id", colmap_models.costs(models, "image", "cauchy"))):
                self.assertEqual([row[key] for row in found[kind]], list(models[kind == "by-image"]))
                self.assertAlmostEqual(sum(row[f"{state}-cost"] for row in found[kind]) / found[f"{state}-cost"], 1,
                                       delta=1e-12)
                for row in found[kind]:
                    cost, squares, n = wanted[row[key]]
                    self.assertEqual(row["observations"], n)
                    self.assertAlmostEqual(row[f"{state}-cost"] / cost, 1, delta=1e-8)
                    self.assertAlmostEqual(row[f"{state}-rms-px"] / (squares / n)**0.5, 1, delta=1e-8)
        points = found["worst-points"]
        errors = sorted((p["error"] for p in models[2].values()), reverse=True)
        self.assertEqual(len(points), 20)
        for row, error in zip(points, errors):
            self.assertAlmostEqual(row["final-error-px"], error, delta=1e-8)
            self.assertAlmostEqual(models[2][row["point-id"]]["error"], error, delta=1e-8)
        page = read("r.html").decode()
        for word in ("Worst images", "Worst points", "<td>FOV</td>", "ring 0/\u00fc00000.jpg", "Left out: 0 observations"):
            self.assertIn(word, page)
        self.assertEqual(page.count("<img"), 2)
        self.assertIn("r.html", run("bundle", "in", "out", "--report", "missing/r.html", status=1)[1])

    def test_gauge(self):
        """The first image and a coordinate of the second stay; the cost is that of a free frame."""
        self.make_model("OPENCV")
        costs = []
        for gauge in ("two-cameras", "free"):
            costs.append(json.loads(run("bundle", "in", "out", "--json", "--gauge", gauge)[0])["final-cost"])
            self.assertAlmostEqual(costs[-1] / colmap_models.cost("out")[0], 1, delta=1e-9)
            before, after = colmap_models.read("in")[1], colmap_models.read("out")[1]
            first, second = (image["q"] + image["t"] for image in list(after.values())[:2])
            kept = first == before[5]["q"] + before[5]["t"]
            self.assertEqual(kept, gauge != "free")
            moves = [abs(a - b) for a, b in zip(second[4:], before[8]["t"])]
            self.assertEqual(min(moves) < 1e-12, gauge != "free")
        self.assertAlmostEqual(costs[0], costs[1], delta=1e-12 * costs[1])
        run("bundle", "--input_path", "in", "--output_path", "out",
            "--BundleAdjustment.constant_rig_from_world_rotation", "1")
        after = colmap_models.read("out")[1]
        for i, image in before.items():
            size = sum(q * q for q in image["q"])**0.5
            for a, b in zip(image["q"], after[i]["q"]):
                self.assertAlmostEqual(a / size, b, delta=1e-12)
        least = json.loads(run("bundle", "--input_path", "in", "--output_path", "out", "--json",
                               "--BundleAdjustment.min_track_length", "4")[0])
        tracks = [len(p["track"]) for p in colmap_models.read("in")[2].values()]
        self.assertEqual(least["observations"], sum(n for n in tracks if n >= 4))
        self.assertEqual(least["short-points"], sum(n < 4 for n in tracks))

    def test_constants(self):
        """Images by name and id, cameras and points that keep their bits"""
        self.make_model("OPENCV", "RADIAL")
        with open("kept.txt", "w", encoding="utf-8") as file:
            file.write('# kept\nimage "ring 0/\u00fc00000.jpg" pose\nimage 8 rotation\nimage 11 position\n'
                       "camera 3 focal extra\npoint 10\n\npoint 17\n")
        run("bundle", "in", "out", "--constants", "kept.txt", "--BundleAdjustment.refine_principal_point=1")
        before, after = colmap_models.read("in"), colmap_models.read("out")
        poses = [(before[1][i], after[1][i]) for i in (5, 8, 11, 14)]
        self.assertEqual([a["q"] == b["q"] and a["t"] == b["t"] for a, b in poses], [True, False, False, False])
        for k, (kept_rotation, kept_position) in enumerate(((1, 1), (1, 0), (0, 1), (0, 0))):
            turned, moved = (colmap_models.matrix(image["q"]) for image in poses[k])
            self.assertEqual(abs(turned - moved).max() < 1e-12, bool(kept_rotation))
            places = [-r.T @ image["t"] for r, image in zip((turned, moved), poses[k])]
            self.assertEqual(abs(places[0] - places[1]).max() < 1e-11, bool(kept_position))
        first, second = (m[0][3]["params"] for m in (before, after))
        self.assertEqual([a == b for a, b in zip(first, second)], [True] * 2 + [False] * 2 + [True] * 4)
        self.assertEqual([before[2][i]["x"] == after[2][i]["x"] for i in (10, 17, 24)], [True, True, False])
        for line, text in (("image x.jpg pose", "kept.txt: line 1, name of an image: the model has no image"),
                           ("image 5 focal", "they must be pose, rotation or position"),
                           ("camera 4 all", "the model has no camera 4"), ("point 3", "has no point 3"),
                           ("point 10 all", "text follows"), ("cam 3", "must be image, camera or point"),
                           ('image "ring', "its second quote is missing")):
            with open("kept.txt", "w", encoding="utf-8") as file:
                file.write(line + "\n")
            self.assertIn(text, run("bundle", "in", "out", "--constants", "kept.txt", status=1)[1])

    def positions(self, folder):
        return {i: -colmap_models.matrix(image["q"]).T @ image["t"]
                for i, image in colmap_models.read(folder)[1].items()}

    def test_priors(self):
        """As text and from databases of COLMAP 3.10 and 4: the model moves to them."""
        self.make_model("OPENCV", cameras=1)
        run("bundle", "in", "start")
        names = {i: image["name"].decode() for i, image in colmap_models.read("in")[1].items()}
        places = self.positions("start")
        turn = colmap_models.matrix([0.3, -0.5, 0.7, 0.2])
        wanted = {i: 40 * turn @ x + [1000, -2000, 50] for i, x in places.items()}
        with open("priors.txt", "w", encoding="utf-8") as file:
            file.write("# east north up\n")
            for i, x in list(wanted.items())[:-1]:
                file.write(f'"{names[i]}" {x[0]} {x[1]} {x[2]} 0.1 0.1 0.2\n')
        found = json.loads(run("bundle", "in", "out", "--priors", "priors.txt", "--json")[0])
        self.assertEqual(found["priors"], 11)
        self.assertLess(found["final-prior-rms"], 0.01)
        self.assertLess(found["final-prior-rms"], found["initial-prior-rms"])
        for i, x in self.positions("out").items():
            self.assertLess(abs(x - wanted[i]).max(), 0.05)
        for version in (3, 4):
            base = sqlite3.connect(f"{version}.db")
            base.execute("CREATE TABLE pose_priors (image_id INTEGER PRIMARY KEY, position BLOB, "
                         "coordinate_system INTEGER, position_covariance BLOB)" if version == 3 else
                         "CREATE TABLE pose_priors (pose_prior_id INTEGER PRIMARY KEY, corr_data_id INTEGER, "
                         "corr_sensor_id INTEGER, corr_sensor_type INTEGER, position BLOB, "
                         "position_covariance BLOB, gravity BLOB, coordinate_system INTEGER)")
            for i, x in list(wanted.items())[:-1]:
                x, deviations = struct.pack("<3d", *x), struct.pack("<9d", 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.04)
                if version == 3:
                    base.execute("INSERT INTO pose_priors VALUES (?, ?, 1, ?)", (i, x, deviations))
                else:
                    base.execute("INSERT INTO pose_priors VALUES (?, ?, 1, 0, ?, ?, NULL, 1)",
                                 (i, i, x, deviations))
            base.execute("INSERT INTO pose_priors (" + ("image_id" if version == 3 else "corr_data_id") +
                         ", coordinate_system) VALUES (999, 1)")
            base.commit()
            base.close()
            run("bundle", "in", f"out{version}", "--database_path", f"{version}.db")
            for i, x in self.positions(f"out{version}").items():
                self.assertLess(abs(x - self.positions("out")[i]).max(), 1e-9)

    def test_priors_of_the_earth(self):
        """Latitude, longitude and height become metres from the first image."""
        self.make_model("OPENCV", cameras=1)
        run("bundle", "in", "start")
        places = self.positions("start")
        first = min(places)
        base = sqlite3.connect("gps.db")
        base.execute("CREATE TABLE pose_priors (image_id INTEGER PRIMARY KEY, position BLOB, "
                     "coordinate_system INTEGER, position_covariance BLOB)")
        for i, x in places.items():
            x = 3 * (x - places[first])  # near the equator
            base.execute("INSERT INTO pose_priors VALUES (?, ?, 0, NULL)",
                         (i, struct.pack("<3d", x[1] / 110574.276, 30 + x[0] / 111319.491, 20 + x[2])))
        base.commit()
        run("bundle", "in", "out", "--database_path", "gps.db", "--prior-std", "0.01")
        for i, x in self.positions("out").items():
            self.assertLess(abs(x - 3 * (places[i] - places[first])).max(), 0.02)
        base.execute("UPDATE pose_priors SET coordinate_system = 1 WHERE image_id = 11")
        base.commit()
        base.close()
        self.assertIn("mixed", run("bundle", "in", "out", "--database_path", "gps.db", status=1)[1])

    def test_bad_priors(self):
        self.make_model("OPENCV", cameras=1)
        for text, words in (("5 1 2", "line 1, X Y Z"), ("x.jpg 1 2 3", "no image with name or id x.jpg"),
                            ("5 1 2 3 4", "SX SY SZ"), ("5 1 2 3 1 1 1 1", "text follows"),
                            ("5 1 2 3 1 1 0", "not positive definite"), ("5 1 2 nan", "line 1, X Y Z"),
                            ("5 1 2 3\n5 1 2 3", "line 2, prior: image 5 has two priors"),
                            ("5 1 2 3\n8 1 1 1", "2 images of the model have a position, 3 are needed"),
                            ("5 1 1 1\n8 2 2 2\n11 3 3 3", "lie on a line")):
            with open("priors.txt", "w", encoding="utf-8") as file:
                file.write(text + "\n")
            found = run("bundle", "in", "out", "--priors", "priors.txt", status=1)[1]
            self.assertIn(words, found)
            self.assertIn("priors.txt", found)
        for content in (b"", b"text", b"SQLite format 3\0" + bytes(100)):
            with open("bad.db", "wb") as file:
                file.write(content)
            self.assertIn("bad.db: ", run("bundle", "in", "out", "--database_path", "bad.db", status=1)[1])
        run("bundle", "in", "out", "--database_path", "missing.db", status=1)
        run("bundle", "in", "out", "--database_path", "bad.db", "--priors", "priors.txt", status=2)
        self.assertFalse(os.path.exists("out"))

    def make_transforms(self, folder, moved=None):
        """As nerfstudio writes it, and with its numbers in NumPy"""
        cameras, images, _ = colmap_models.read(folder)
        frames = []
        for i, image in images.items():
            r = colmap_models.matrix(image["q"]).T
            c2w = np.eye(4)
            c2w[:3, :3], c2w[:3, 3] = r * [1, -1, -1], -r @ image["t"]
            if moved is not None:
                c2w = moved @ c2w
            frames.append({"file_path": "images/" + image["name"].decode(), "sharpness": 5.5 + i,
                           "transform_matrix": c2w.tolist(), "colmap_im_id": i})
        camera = cameras[3]
        k1, k2, p1, p2 = camera["params"][4:]
        return {"w": 1600, "h": 1200, "fl_x": camera["params"][0], "fl_y": camera["params"][1],
                "cx": camera["params"][2], "cy": camera["params"][3], "k1": k1, "k2": k2, "p1": p1, "p2": p2,
                "camera_model": "OPENCV", "frames": frames, "ply_file_path": "sparse_pc.ply"}

    def same_frames(self, found, wanted, delta):
        self.assertEqual(list(found), list(wanted))
        for name in ("fl_x", "fl_y", "cx", "cy", "k1", "k2", "p1", "p2"):
            self.assertAlmostEqual(found[name], wanted[name], delta=delta)
        self.assertEqual(len(found["frames"]), len(wanted["frames"]))
        for a, b in zip(found["frames"], wanted["frames"]):
            self.assertEqual({**a, "transform_matrix": 0}, {**b, "transform_matrix": 0})
            self.assertLess(np.abs(np.subtract(a["transform_matrix"], b["transform_matrix"])).max(), delta)

    def test_transforms_of_nerfstudio(self):
        """applied_transform, ply_file_path and unknown keys stay."""
        self.make_model("OPENCV", cameras=1)
        applied = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
        before = {**self.make_transforms("in", applied), "applied_transform": applied[:3].tolist(), "mine": {"a": [1]}}
        before["frames"].append({**before["frames"][0], "file_path": "images/other.jpg", "colmap_im_id": 999})
        write_json("transforms.json", before)
        _, log = run("bundle", "in", "out", "--transforms", "transforms.json")
        self.assertIn("1 of its 13 frames are not in the model", log)
        after = {**self.make_transforms("out", applied), "applied_transform": applied[:3].tolist(), "mine": {"a": [1]}}
        after["frames"].append(before["frames"][-1])
        self.same_frames(json.loads(read("transforms.json")), after, 1e-12)
        run("bundle", "in", "posed", "--poses", "transforms.json", "--max-iterations", "0", "-q")
        posed, wanted = colmap_models.read("posed")[1], colmap_models.read("out")[1]
        for i, image in wanted.items():
            for a, b in zip(image["q"] + image["t"], posed[i]["q"] + posed[i]["t"]):
                self.assertAlmostEqual(a, b, delta=1e-12)

    def write_points(self, folder, applied):
        """As nerfstudio writes sparse_pc.ply"""
        points = colmap_models.read(folder)[2].values()
        with open("sparse_pc.ply", "w", encoding="utf-8") as file:
            file.write(f"ply\nformat ascii 1.0\nelement vertex {len(points)}\n")
            for name in ("float x", "float y", "float z", "uint8 red", "uint8 green", "uint8 blue"):
                file.write(f"property {name}\n")
            file.write("end_header\n")
            for p in points:
                x, y, z = applied[:3, :3] @ p["x"]
                file.write(f"{x:8f} {y:8f} {z:8f} {p['rgb'][0]} {p['rgb'][1]} {p['rgb'][2]}\n")
        return np.loadtxt("sparse_pc.ply", skiprows=10)

    def test_points_of_nerfstudio(self):
        """sparse_pc.ply gets the adjusted points, unless it has others than the model."""
        self.make_model("OPENCV", cameras=1)
        applied = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
        before = {**self.make_transforms("in", applied), "applied_transform": applied[:3].tolist()}
        write_json("transforms.json", before)
        moved = self.write_points("in", applied)
        head = read("sparse_pc.ply").splitlines()[:10]
        self.assertEqual(run("bundle", "in", "out", "--transforms", "transforms.json")[1], "")
        self.assertEqual(read("sparse_pc.ply").splitlines()[:10], head)
        found = np.loadtxt("sparse_pc.ply", skiprows=10)
        self.assertGreater(np.abs(found - moved).max(), 0.01)
        self.assertLess(np.abs(found - self.write_points("out", applied)).max(), 1e-6)
        write_json("transforms.json", before)
        text = read("sparse_pc.ply")
        for content, words in ((text, "are not those of the model"), (b"ply\n", "sparse_pc.ply: "), (None, "No such file")):
            os.remove("sparse_pc.ply")
            if content:
                with open("sparse_pc.ply", "wb") as file:
                    file.write(content)
            log = run("bundle", "in", "out", "--transforms", "transforms.json")[1]
            self.assertRegex(log, "^cudavision bundle: transforms.json: its PLY is not adjusted: .*" + words)
            if content:
                self.assertEqual(read("sparse_pc.ply"), content)
                write_json("transforms.json", before)

    def test_pipelines(self):
        """Elements read a binary model by one of its files and as an archive; bundleview has all cameras."""
        self.make_model("SIMPLE_RADIAL")
        costs = [json.loads(run("bundle", "in", "--max-iterations", "0", "--json")[0])["initial-cost"]]
        subprocess.run(["tar", "cf", "m.tar", "-C", "in", *MODEL_FILES], check=True)
        for name in ("in/images.bin", "m.tar"):
            costs.append(json.loads(run("bundle", name, "--max-iterations", "0", "--json")[0])["initial-cost"])
        for cost in costs:
            self.assertAlmostEqual(cost / colmap_models.cost("in")[0], 1, delta=1e-9)
        self.make_model("OPENCV", "FOV")
        self.assertIn("cameras.bin record 1 (CAMERA_ID 3), focal length", run("bundle", "in", status=1)[1])
        for name in ("in/cameras.bin", "in/points3D.bin"):
            launch(f"filesrc location={name} ! bundleview period=1 ! fakesink")
        subprocess.run(["tar", "cf", "m.tar", "-C", "in", *MODEL_FILES], check=True)
        launch("filesrc location=m.tar ! decodebin ! bundleview period=1 ! fakesink")

    def test_ctrl_c(self):
        """While a model is read nothing is written; later, the best state so far, however long that takes."""
        colmap_models.simulate("in", ["FULL_OPENCV"], 40, 12000, 1)
        before = colmap_models.cost("in")[0]
        for wait in (1, 0.5, 0.25, 2, 4):  # a fast machine is done before
            shutil.rmtree("out", ignore_errors=True)
            process = subprocess.Popen([PROGRAM, "bundle", "in", "out"], text=True, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE)
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            text = process.communicate(timeout=60)[1]
            if process.returncode == 130 and os.path.exists("out"):
                break
        self.assertEqual((process.returncode, text), (130, ""))
        self.assertLess(colmap_models.cost("out")[0], before)
        self.files("out")
        os.mkdir("blocked")
        os.mkfifo("blocked/cameras.bin.part")
        process = subprocess.Popen([PROGRAM, "bundle", "in", "blocked", "--max-iterations", "1"],
                                   stdout=subprocess.DEVNULL)
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        time.sleep(2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)

    def test_transforms_of_instant_ngp(self):
        """Turned, scaled and moved without a word about it"""
        self.make_model("OPENCV", cameras=1)
        moved = np.eye(4)
        moved[:3, :3] = colmap_models.matrix([0.5, 0.1, -0.7, 0.3])

        def transform(folder):
            found = self.make_transforms(folder, moved)
            for frame in found["frames"]:
                for row, by in zip(frame["transform_matrix"], (1, 2, -3)):
                    row[3] = 0.3 * row[3] + by
                frame["file_path"] = frame["file_path"].replace("images/", "./images/")
            fl = found["fl_x"], found["fl_y"]
            return {"camera_angle_x": 2 * np.arctan(800 / fl[0]), "camera_angle_y": 2 * np.arctan(600 / fl[1]),
                    **found, "is_fisheye": False, "aabb_scale": 32}

        write_json("transforms.json", transform("in"))
        run("bundle", "in", "out", "--transforms", "transforms.json")
        found = json.loads(read("transforms.json"))
        self.same_frames(found, transform("out"), 1e-9)
        self.assertAlmostEqual(found["camera_angle_x"], transform("out")["camera_angle_x"], delta=1e-12)
        write_json("other.json", {**found, "frames": [{**frame, "transform_matrix": np.eye(4).tolist()}
                                                      for frame in found["frames"]]})
        self.assertIn("lie on a line", run("bundle", "in", "out", "--transforms", "other.json", status=1)[1])

    def test_new_transforms(self):
        """With one camera, or one for each frame"""
        self.make_model("OPENCV", cameras=1)
        run("bundle", "in", "out", "--transforms", "new.json")
        found, wanted = json.loads(read("new.json")), self.make_transforms("out")
        for a, b in zip(found["frames"], wanted["frames"]):
            self.assertEqual(a["file_path"], b["file_path"][7:])
            self.assertLess(np.abs(np.subtract(a["transform_matrix"], b["transform_matrix"])).max(), 1e-12)
        del wanted["ply_file_path"]
        self.assertEqual({**found, "frames": 0}, {**wanted, "frames": 0})
        self.make_model("OPENCV_FISHEYE", "SIMPLE_PINHOLE")
        run("bundle", "in", "out", "--transforms", "two.json")
        cameras = colmap_models.read("out")[0]
        found = json.loads(read("two.json"))["frames"]
        self.assertEqual([found[0][k] for k in ("fl_x", "fl_y", "cx", "cy", "k1", "k2", "k3", "k4")],
                         cameras[3]["params"])
        self.assertEqual([found[1][k] for k in ("fl_x", "cx", "cy")], cameras[5]["params"])
        self.assertEqual([frame["camera_model"] for frame in found[:2]], ["OPENCV_FISHEYE", "OPENCV"])

    def test_bad_transforms(self):
        self.make_model("OPENCV", cameras=1)
        good = self.make_transforms("in")
        good["applied_transform"] = np.eye(4)[:3].tolist()
        frame = good["frames"][0]
        for bad, words in (
                ("{", "t.json: "), ("[]", "no list"), ({"frames": 3}, "no list"), ({"frames": [3]}, "no file_path"),
                ({"frames": []}, "none of the 0 frames"),
                ({"frames": [{"file_path": "a.jpg"}]}, "transform_matrix of frame 0"),
                ({"frames": [{**frame, "transform_matrix": np.zeros((4, 4)).tolist()}]}, "no rotation"),
                ({"frames": [frame, frame]}, "two frames are of image 5"),
                ({**good, "applied_transform": 3}, "applied_transform is no rotation"),
                ({**good, "applied_scale": 0}, "applied_scale is no number"),
                ({**good, "w": 800}, "the pictures were resized")):
            write_json("t.json", bad)
            found = run("bundle", "in", "out", "--transforms", "t.json", status=1)[1]
            self.assertIn(words, found)
            self.assertIn("t.json", found)
        write_json("t.json", good)
        for arguments in (("t.json",), ("t.json", "out"), ("--input_path", "t.json", "--output_path", "out")):
            self.assertIn("t.json contains poses, but no observations", run("bundle", *arguments, status=1)[1])
        run("bundle", "in", "--transforms", "t.json", status=2)
        self.assertFalse(os.path.exists("out"))
        self.make_model("FOV")
        self.assertIn("it cannot hold camera 3: FOV", run("bundle", "in", "out", "--transforms", "n.json", status=1)[1])
        self.assertFalse(os.path.exists("n.json"))

    def test_in_place_of_colmap_in_a_script(self):
        """The script of the tutorial; its costs are those of COLMAP or lower."""
        if not shutil.which("colmap"):
            self.skipTest("no colmap (Debian package colmap)")
        with open("colmap", "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nif [ "$1" = bundle_adjuster ]; then\n  shift\n'
                       f'  exec {PROGRAM} bundle "$@"\nfi\nexec {shutil.which("colmap")} "$@"\n')
        os.chmod("colmap", 0o755)
        costs = {}
        for program in (shutil.which("colmap"), os.path.abspath("colmap")):
            self.make_model("OPENCV", "RADIAL")
            for call in (["bundle_adjuster", "--input_path", "in", "--output_path", "in",
                          "--BundleAdjustment.refine_principal_point", "1"],
                         ["model_converter", "--input_path", "in", "--output_path", "in", "--output_type", "TXT"],
                         ["model_converter", "--input_path", "in", "--output_path", "in", "--output_type", "BIN"],
                         ["model_analyzer", "--path", "in"]):
                done = subprocess.run([program, *call], capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            costs[program] = colmap_models.cost("in")
        (theirs, n), (ours, m) = costs.values()
        self.assertEqual(n, m)
        self.assertLess(ours, theirs * (1 + 1e-6))

    def test_archives(self):
        """tar and zip, packed from the folder and from above, give the results of the folder."""
        self.make_model("OPENCV")
        run("bundle", "in", "out")
        shutil.copytree("in", "sparse/0")
        os.mkdir("new")
        subprocess.run(["tar", "cf", "a.tar", "-C", "in", "points3D.bin", "images.bin", "cameras.bin"], check=True)
        subprocess.run(["tar", "cf", "b.tar", "sparse"], check=True)
        for name, flat in (("a.zip", True), ("b.zip", False)):
            with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
                if not flat:
                    archive.mkdir("sparse/0") if hasattr(archive, "mkdir") else archive.writestr("sparse/0/", "")
                for part in MODEL_FILES:
                    archive.write(f"in/{part}", part if flat else f"sparse/0/{part}")
        pictures = set()
        for name in ("a.tar", "b.tar", "a.zip", "b.zip", "in/images.bin"):
            run("bundle", name, "new", "--report", "r.html")
            self.assertEqual(self.files("out"), self.files("new"))
            for element in ("bundleview",) if name.endswith(".bin") else ("bundleview", "decodebin ! bundleview"):
                launch(f"filesrc location={name} ! {element} period=1 ! pngenc ! filesink location=view.png")
                pictures.add(read("view.png"))
        self.assertEqual(len(pictures), 1)
        self.assertGreater(len(pictures.pop()), 10000)
        shutil.copytree("in", "sparse/1")
        subprocess.run(["tar", "cf", "two.tar", "sparse"], check=True)
        with open("a.tar", "rb") as file, open("cut.tar", "wb") as cut:
            cut.write(file.read(20000))
        with open("a.zip", "rb") as file, open("cut.zip", "wb") as cut:
            cut.write(file.read(20000))
        with zipfile.ZipFile("part.zip", "w") as archive:
            archive.write("in/cameras.bin", "cameras.bin")
        for name, words in (("two.tar", "several models"), ("cut.tar", "the tar archive ends within"),
                            ("cut.zip", "the zip archive is damaged"), ("part.zip", "does not contain points3D.bin"),
                            ("view.png", "neither a folder nor a tar or zip archive"), ("none.zip", "none.zip: ")):
            self.assertIn(words, run("bundle", name, "new", status=1)[1])

    def test_points_behind_and_short_tracks(self):
        self.make_model("PINHOLE", cameras=1)
        cameras, images, points = colmap_models.read("in")
        first, second, third = list(points)[:3]
        points[first]["x"] = [1000, 0, 0]
        points[second]["track"] = points[second]["track"][:1]
        colmap_models.write("in", cameras, images, points)
        found = json.loads(run("bundle", "in", "out", "--json")[0])
        self.assertGreater(found["deleted-observations"], 0)
        self.assertEqual(found["short-points"], 1)
        after = colmap_models.read("out")
        self.assertEqual(len(after[2]), len(points) - found["deleted-points"])
        self.assertEqual(after[2][second]["x"], points[second]["x"])
        self.assertGreaterEqual(after[2][third]["error"], 0)
        kept = json.loads(run("bundle", "in", "out", "--json", "--keep-behind")[0])
        self.assertEqual(kept["observations"], sum(len(p["track"]) for p in points.values()) - 1)
        self.assertEqual(kept["deleted-observations"], 0)

    def test_texts(self):
        """A text model stays one, and becomes binary with the options of COLMAP."""
        launch("bundletestsrc cameras=8 points=300 format=colmap ! filesink location=m.tar")
        os.mkdir("model")
        subprocess.run(["tar", "xf", "m.tar", "-C", "model"], check=True)
        run("bundle", "model", "out")
        self.assertEqual(sorted(os.listdir("out")), ["cameras.txt", "images.txt", "points3D.txt"])
        run("bundle", "--input_path", "model", "--output_path", "binary")
        cost, _ = colmap_models.cost("binary")
        found = json.loads(run("bundle", "out", "again", "--json", "--max-iterations", "0")[0])
        self.assertAlmostEqual(found["initial-cost"] / cost, 1, delta=1e-6)

    def test_refusals(self):
        self.make_model("PINHOLE", cameras=1)
        before = self.files("in")
        call = "bundle", "--input_path", "in", "--output_path", "in"
        for arguments, text in (
                ((*call, "--BundleAdjustment.refine_focal_lenght", "1"),
                 "did you mean --BundleAdjustment.refine_focal_length?"),
                ((*call, "--BundleAdjustment.refine_extrinsics", "maybe"), "it must be 0 or 1"),
                ((*call, "--BundleAdjustment.max_num_iterations", "-1"), "an integer of 0 to 10000"),
                ((*call, "--BundleAdjustment.function_tolerance"), "followed by a value"),
                (("bundle", "--input_path", "in"), "--output_path is missing"),
                (("bundle", "in", "out", "-o", "x.ply"), "--output is not possible"),
                (("bundle", "in", "out", "--video", "x.webm"), "--video is not possible"),
                (("bundle", "in", "out", "--show"), "--show is not possible"),
                (("bundle", "in", "out", "third"), "must be MODEL_IN MODEL_OUT"),
                (("bundle", "in", "out", "--loss", "l2"), "--loss l2 is none of none, trivial, soft_l1"),
                (("bundle", "in", "out", "--gauge", "fixed"), "is none of two-cameras and free"),
                (("bundle", "in", "--gauge", "free"), "--gauge is for MODEL_IN MODEL_OUT"),
                (("bundle", "in", "--keep-behind"), "is for MODEL_IN MODEL_OUT")):
            self.assertIn(text, run(*arguments, status=2)[1])
        with open("project.ini", "w", encoding="utf-8") as file:
            file.write("[BundleAdjustment]\nrefine_all=1\n")
        self.assertIn("project.ini line 2: unknown option BundleAdjustment.refine_all",
                      run("bundle", "--project_path", "project.ini", status=2)[1])
        self.assertIn("missing", run("bundle", "missing", "out", status=1)[1])
        run("bundle", "in", "in", status=1, preexec_fn=limit_files)  # a full disk
        self.assertEqual(self.files("in"), before)
        with open("in/points3D.bin", "r+b") as file:
            file.truncate(100)
        self.assertIn("points3D.bin: its header names", run("bundle", "in", "out", status=1)[1])
        self.assertFalse(os.path.exists("out"))


class Calibrate(Tool):
    def distance(self, text):
        """From the simulator's calibration, 200 um a pixel, over its frame; pixels"""
        h = [float(number) for number in text.split(",")]
        distances = []
        for x, y in ((0, 0), (19200, 0), (0, 19200), (19200, 19200), (9600, 9600)):
            u, v, w = (h[i] * x + h[i + 1] * y + h[i + 2] for i in (0, 3, 6))
            distances.append(((u / w - x / 200) ** 2 + (v / w - y / 200) ** 2) ** 0.5)
        return max(distances)

    def test_simulated_layers(self):
        launch("pbftestsrc num-buffers=18000 seed=4 ! pbffilesink location=l.pbf")
        text, _ = run("calibrate", "l.pbf", "-o", "c.txt", "--report", "c.html")
        self.assertIn("lag               4", text)
        with open("c.txt", encoding="utf-8") as file:
            numbers = file.read()
        self.assertLess(self.distance(numbers), 0.2)
        found = json.loads(run("calibrate", "l.pbf", "--json")[0])
        self.assertEqual(found["calibration"], numbers.strip())
        self.assertEqual(found["frames"], 18000)
        self.assertLess(found["residual-rms-px"], 0.5)
        with open("c.html", encoding="utf-8") as file:
            self.assertEqual(file.read().count('<svg class="plot"'), 2)
        # the elements take the file's text, and the pool is where they expect it
        launch(f"pbffilesrc location=l.pbf ! cudapbfmonitor calibration={numbers.strip()} ! fakesink")

    def test_spatter_and_defects(self):
        launch("pbftestsrc num-buffers=18000 seed=5 regime=mixed ! pbffilesink location=l.pbf")
        self.assertLess(self.distance(json.loads(run("calibrate", "l.pbf", "--json")[0])["calibration"]),
                        1.0)

    def test_refused(self):
        for frames, says in ((10, "positions are too few"), (150, "nearly on a line")):
            launch(f"pbftestsrc num-buffers={frames} ! pbffilesink location=l.pbf")
            self.assertIn(says, run("calibrate", "l.pbf", "-o", "c.txt", status=1)[1])
            self.assertFalse(os.path.exists("c.txt"))
        self.assertIn("--threshold 0", run("calibrate", "l.pbf", "--threshold", "0", status=2)[1])
        self.assertIn("--signal-delay -1", run("calibrate", "l.pbf", "--signal-delay=-1", status=2)[1])
        launch("videotestsrc num-buffers=2 ! jpegenc ! avimux ! filesink location=v.avi")
        self.assertIn("v.avi is a video", run("calibrate", "v.avi", status=1)[1])


class Monitor(Tool):
    def test_recording(self):
        launch("pbftestsrc num-buffers=2000 ! pbffilesink location=l.pbf")
        self.same_bytes(["monitor", "l.pbf", "-o", "f.csv", "--jsonl", "f.jsonl"],
                        ["f.csv", "f.jsonl"])
        found = json.loads(run("monitor", "l.pbf", "--json")[0])
        self.assertEqual(found["frames"], 2000)

    def make_model(self, name, *options):
        subprocess.run([sys.executable, os.path.join(SOURCES, "../scripts/make-model"), "--outputs", "2",
                        "--names", "nominal,keyhole", *options, name], check=True)

    def test_classes(self):
        """The names of the network's file in tables, on the terminal, in JSON and the page"""
        launch("pbftestsrc num-buffers=2000 ! pbffilesink location=l.pbf")
        self.make_model("n.safetensors", "--activation", "softmax")
        command = ["monitor", "l.pbf", "-m", "n.safetensors"]
        text, _ = run(*command, "-o", "f.csv", "--report", "l.html")
        self.assertIn("mean probability", text)
        with open("f.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0])[-6:], ["nominal", "keyhole", "class", "probability", "vote",
                                              "vote_share"])
        classes = [row["class"] for row in rows if row["class"]]
        found = json.loads(run(*command, "--json")[0])["classes"]
        self.assertEqual([f["class"] for f in found], ["nominal", "keyhole"])
        self.assertEqual([f["frames"] for f in found], [classes.count(f["class"]) for f in found])
        with open("l.html", encoding="utf-8") as file:
            self.assertIn("Classes by the network", file.read())

    def test_unknown(self):
        """Frames of none of the network's states have the answer of their own in table, JSON lines,
        JSON and page: melt pools of a machine whose baseline the network does not have."""
        launch("pbftestsrc num-buffers=2000 gain=0.5 pool-size=0.7 ! pbffilesink location=l.pbf")
        command = ["monitor", "l.pbf", "-m",
                   os.path.join(SOURCES, "../networks/meltpool-simulated.safetensors")]
        run(*command, "-o", "f.csv", "--jsonl", "f.jsonl", "--report", "l.html")
        with open("f.csv", encoding="utf-8") as file:
            classes = [row["class"] for row in csv.DictReader(file)]
        with open("f.jsonl", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.assertGreater(classes.count("unknown"), 100)
        self.assertEqual([row.get("class") or "" for row in rows], classes)
        self.assertTrue(all(row["outputs"]["unknown"] >= 0.5 for row in rows
                            if row.get("class") == "unknown"))
        found = {f["class"]: f["frames"] for f in json.loads(run(*command, "--json")[0])["classes"]}
        self.assertEqual(found["unknown"], classes.count("unknown"))
        with open("l.html", encoding="utf-8") as file:
            self.assertIn("unknown", file.read())

    def test_baseline(self):
        launch("pbftestsrc num-buffers=4000 ! pbffilesink location=l.pbf")
        self.make_model("n.safetensors", "--baseline")
        learn = ["monitor", "l.pbf", "-m", "n.safetensors", "--machine", "M1", "--save-model",
                 "m1.safetensors"]
        for arguments, says in (([*learn, "--learn-baseline", "1999"], "1999 is not in 2000"),
                                (learn, "needs --learn-baseline"),
                                (["monitor", "l.pbf", "--learn-baseline", "2000"], "--machine")):
            self.assertIn(says, run(*arguments, status=2)[1])
        self.assertIn("No baseline was stored", run(*learn, "--learn-baseline", "5000", status=1)[1])
        self.assertFalse(os.path.exists("m1.safetensors"))
        run(*learn, "--learn-baseline", "2000")
        self.assertIn("baseline-location=m1.safetensors",
                      run(*learn, "--learn-baseline", "2000", "--show")[0])
        run("monitor", "l.pbf", "-m", "m1.safetensors", "--machine", "M1", "-o", "f.csv")
        self.assertIn('of the machine "M1", not of "M2"',
                      run("monitor", "l.pbf", "-m", "m1.safetensors", "--machine", "M2", status=1)[1])

    @unittest.skipUnless(h5py, "no h5py")
    def test_hdf5(self):
        """Known by its first bytes, whatever its name"""
        import numpy
        with h5py.File("layer.dat", "w") as file:
            file["C027/0/frame"] = numpy.zeros((7, 48, 64), numpy.uint8)
            file["C027/0/scan_line_index"] = numpy.arange(7)
        text, _ = run("info", "layer.dat")
        self.assertIn("HDF5 recording, 7 frames of 64 x 48 pixels, 20000 frames/s", text)
        self.assertIn("pbfhdf5src location=layer.dat ! cudapbfmonitor", text)
        self.assertEqual(json.loads(run("info", "layer.dat", "--json")[0])["files"][0]["frames"], 7)
        self.assertEqual(json.loads(run("monitor", "layer.dat", "--json")[0])["frames"], 7)
        self.assertIn("layer.dat is an HDF5 file, not a surface",
                      run("roughness", "layer.dat", status=1)[1])
        with h5py.File("other.h5", "w") as file:
            file["x"] = 1
        self.assertIn("other.h5", run("info", "other.h5", status=1)[1])

    def wait_for_port(self, port):
        """Until a socket receives at the port"""
        for _ in range(300):
            if f":{port:04X} " in read("/proc/net/udp").decode():
                return
            time.sleep(0.1)
        self.fail(f"nothing receives at port {port}")

    def test_camera_until_interrupted(self):
        process = subprocess.Popen([PROGRAM, "monitor", "udp://127.0.0.1:5597", "-o", "f.csv"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for_port(5597)
        launch("pbftestsrc num-buffers=500 is-live=true ! pbfudpsink host=127.0.0.1 port=5597")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(read("f.csv").splitlines()), 501)


class Training(Tool):
    LABELS = ("frame,class\n100-1999,nominal\n3100-4999,keyhole\n6100-7999,lack-of-fusion\n"
              "9100-10999,spatter\n")

    def make_builds(self):
        for seed in "123":
            launch(f"pbftestsrc num-buffers=11000 regime=mixed seed={seed}"
                   f" ! video/x-raw,width=64,height=64 ! pbffilesink location={seed}.pbf")
        with open("labels.csv", "w") as stream:
            stream.write(Training.LABELS)

    def train(self, *arguments, **options):
        return run("train", *arguments, "--hidden", "16", "-o", "net.safetensors", **options)

    def test_recordings_and_tables_give_the_same_network(self):
        self.make_builds()
        found = json.loads(self.train("1.pbf", "2.pbf", "3.pbf", "--labels", "labels.csv",
                                      "--threads", "1", "--json")[0])
        self.assertGreater(found["balanced-accuracy"], 0.93)
        self.assertEqual(list(found["recall"]), ["nominal", "keyhole", "lack-of-fusion", "spatter"])
        network = read("net.safetensors")
        for seed in "123":
            run("monitor", f"{seed}.pbf", "-o", f"{seed}.csv", "-q")
            os.remove(f"{seed}.pbf")
        self.train("1.csv", "2.csv", "3.csv", "--labels", "labels.csv", "--threads", "3", "-q")
        # "about" does not name the files
        self.assertEqual(read("net.safetensors"), network)
        launch("pbftestsrc num-buffers=100 ! cudapbfmonitor model-location=net.safetensors ! fakesink")

    @unittest.skipUnless(h5py, "no h5py")
    def test_hdf5_files_give_the_network_of_their_tables(self):
        import numpy
        for seed in "123":
            launch(f"pbftestsrc num-buffers=5000 regime=mixed seed={seed}"
                   " ! video/x-raw,width=64,height=64 ! filesink location=raw")
            frames = numpy.frombuffer(read("raw"), numpy.uint8).reshape(5000, 64, 64)
            with h5py.File(f"{seed}.h5", "w") as file:
                for layer, first in enumerate((0, 3000)):
                    group = file.create_group(f"C1/L{layer}")
                    group["frame"] = frames[first:first + 2000]
                    group["scan_line_index"] = numpy.arange(2000) // 100
            run("monitor", f"{seed}.h5", "-o", f"{seed}.csv", "-q")
        with open("labels.csv", "w") as stream:
            stream.write("layer,class\n0,nominal\n1,keyhole\n")
        self.train("1.h5", "2.h5", "3.h5", "-l", "labels.csv", "-q")
        network = read("net.safetensors")
        self.train("1.csv", "2.csv", "3.csv", "-l", "labels.csv", "-q")
        self.assertEqual(read("net.safetensors"), network)
        with open("1.h5", "r+b") as stream:
            stream.truncate(100000)
        self.assertIn("1.h5: ", self.train("1.h5", "2.h5", "3.h5", "-l", "labels.csv", status=1)[1])

    def test_a_build_alone_is_split_by_layer_with_a_warning(self):
        launch("pbftestsrc num-buffers=60000 ! video/x-raw,width=40,height=40"
               " ! pbffilesink location=b.pbf")
        run("monitor", "b.pbf", "-o", "b.csv", "-q")
        with open("labels.csv", "w") as stream:
            stream.write("layer,vector,class\n,0-11,nominal\n,12-23,second half\n")
        _, errors = self.train("b.pbf", "-l", "labels.csv")
        self.assertIn("training and test are layers of the same files", errors)
        errors = self.train("b.csv", "-l", "labels.csv", status=1)[1]
        self.assertIn("labels.csv, line 2: it labels vectors, and the table b.csv has none", errors)

    def test_simulation_and_baseline(self):
        first = self.train("--simulate", "25", "--rows", "30", "--report", "page.html", "--seed", "4")
        self.assertIn("balanced accuracy", first[0])
        network = read("net.safetensors")
        page = read("page.html").decode()
        for words in ("Answers by class", "Reliability", "Coverage", "severity", "Importance",
                      "Limits of the data", "simulated frames of 25 machine settings"):
            self.assertIn(words, page)
        self.train("--simulate", "25", "--rows", "30", "--threads", "3", "--seed", "4", "-q")
        self.assertEqual(read("net.safetensors"), network)
        launch("pbftestsrc num-buffers=3000 gain=0.8 ! video/x-raw,width=64,height=64"
               " ! pbffilesink location=layer.pbf")
        launch("pbftestsrc num-buffers=200 ! pbffilesink location=line.pbf")
        fold = ["train", "--network", "net.safetensors", "-o", "mine.safetensors", "--baseline"]
        self.assertIn("baseline of 2", run(*fold, "layer.pbf", "--machine", "A 1")[0])
        self.assertNotEqual(read("mine.safetensors"), network)
        self.assertIn("scans in one direction only", run(*fold, "line.pbf", status=1)[1])
        launch("pbftestsrc num-buffers=3700 regime=mixed ! video/x-raw,width=64,height=64"
               " ! pbffilesink location=mixed.pbf")
        self.assertIn("of the baseline's frames are of the state keyhole", run(*fold, "mixed.pbf")[1])
        run(*fold, "layer.pbf", "--machine", "A 1", "-q")
        fold[2], fold[4] = "mine.safetensors", "other.safetensors"
        self.assertIn('has the baseline of machine "A 1", this one is of machine "B"',
                      run(*fold, "layer.pbf", "--machine", "B", status=1)[1])
        run(*fold, "layer.pbf", "--machine", "A 1", "-q")
        self.assertEqual(read("mine.safetensors"), read("other.safetensors"))

    def test_a_class_of_one_direction_gets_a_warning(self):
        self.make_builds()
        with open("labels.csv", "w") as stream:
            stream.write("frame,class\n100-1999,nominal\n3100-4999,keyhole\n")
        self.assertNotIn("one direction", self.train("1.pbf", "2.pbf", "3.pbf", "-l", "labels.csv")[1])
        for seed in "123":
            run("monitor", f"{seed}.pbf", "-o", f"{seed}.csv", "-q")
            with open(f"{seed}.csv") as stream:
                rows = list(csv.DictReader(stream))
            kept, last = rows[:3000], 0
            for row in rows[3000:]:
                if int(row["x_um"]) > last:
                    kept.append(row)
                last = int(row["x_um"])
            with open(f"{seed}.csv", "w") as stream:
                table = csv.DictWriter(stream, rows[0])
                table.writeheader()
                table.writerows(kept)
        errors = self.train("1.csv", "2.csv", "3.csv", "-l", "labels.csv")[1]
        self.assertIn('frames of class "keyhole" are scanned in one direction only', errors)
        self.assertNotIn('class "nominal"', errors)

    def test_tutorial(self):
        """The commands of docs/tutorials/melt-pool.md, in order"""
        page = read(os.path.join(SOURCES, "../docs/tutorials/melt-pool.md")).decode()
        labels = re.search("```text\n(.*?)```", page, re.S)[1]
        with open("labels.csv", "w") as stream:
            stream.write(labels)
        for block in re.findall("```\n((?:gst-launch|cudavision).*?)```", page, re.S):
            for line in block.splitlines():
                words = shlex.split(line)
                if words[0] == "cudavision":
                    words[0] = PROGRAM
                if words[-1] == "&":
                    process = subprocess.Popen(words[:-1], stdout=subprocess.DEVNULL)
                    Monitor.wait_for_port(self, 5600)
                else:
                    subprocess.run(words, check=True, timeout=120, stdout=subprocess.DEVNULL)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 0)
        with open("live.csv") as stream:
            rows = [row for row in csv.DictReader(stream) if row["vote"]]
        self.assertGreater(sum(row["vote"] == "keyhole" for row in rows), 0.9 * len(rows))
        self.assertGreater(len(rows), 2000)

    def test_bad_labels(self):
        self.make_builds()
        for text, words in (
                ("frame\n1-2\n", 'line 1: the first row has no column "class"'),
                ("frame,label\n", 'line 1: column "label" is none of file'),
                ("frame,class\n9-3,nominal\n", 'line 2: frame "9-3" is no number'),
                ("frame,class\n1,2,nominal\n", "line 2: 3 cells, the first row has 2"),
                ("frame,class\n1,good\n", 'no row has the class "nominal"'),
                ("frame,class\n1,nominal\n", "all rows have one class"),
                ("frame,class\n1,unknown\n", 'line 2: "unknown" is the answer to frames of no class'),
                ("frame,class\n" + "".join(f"{i},{i}\n" for i in range(7)),
                 'line 8: "6" is the class number 8, a network has 7 at most'),
                (self.LABELS + "99000-99999,keyhole\n", "line 6: no frame of the data matches"),
                (self.LABELS + "1500-1600,keyhole\n", "line 6: frame 1500 of layer 0 of 1.pbf is"
                 ' "keyhole" here and "nominal" in line 2'),
                (self.LABELS + "2000-2010,drift\n", 'class "drift" has 33 rows, 150 are needed')):
            with open("labels.csv", "w") as stream:
                stream.write(text)
            errors = self.train("1.pbf", "2.pbf", "3.pbf", "-l", "labels.csv", status=1)[1]
            self.assertIn(words, errors)
            self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertFalse(os.path.exists("net.safetensors"))

    def test_bad_tables_and_networks(self):
        self.make_builds()
        run("monitor", "1.pbf", "-o", "1.csv", "-q")
        lines = read("1.csv").decode().splitlines()
        column = lines[0].split(",").index("mp_mean")
        for text, words in (("nan", "line 501: column mp_mean is nan, must be finite"),
                            ("x", 'line 501: column mp_mean: "x" is no number'),
                            ("1,2", "line 501: more cells than the 48 columns")):
            cells = lines[500].split(",")
            cells[column] = text
            with open("bad.csv", "w") as stream:
                stream.write("\n".join(lines[:500] + [",".join(cells)] + lines[501:]))
            errors = self.train("bad.csv", "2.pbf", "3.pbf", "-l", "labels.csv", status=1)[1]
            self.assertIn("bad.csv, " + words, errors)
        with open("bad.csv", "w") as stream:
            stream.write(lines[0].replace("hog_3,", "") + "\n")
        self.assertIn('no column "hog_3" of the features pbf40-v1',
                      self.train("bad.csv", "-l", "labels.csv", status=1)[1])
        self.train("--simulate", "25", "--rows", "30", "-q")
        with open("net.safetensors", "rb") as stream:
            other = stream.read().replace(b"pbf40-v1", b"pbf40-v2")
        with open("other.safetensors", "wb") as stream:
            stream.write(other)
        errors = run("train", "-n", "other.safetensors", "-b", "1.csv", "-o", "x.safetensors",
                     status=1)[1]
        self.assertIn('made for other features, must be "pbf40-v1"', errors)

    def test_an_interrupted_training_leaves_a_whole_network(self):
        self.train("--simulate", "25", "--rows", "30", "-q")
        before = read("net.safetensors")
        for wait in (0.3, 1.5):
            process = subprocess.Popen(
                [PROGRAM, "train", "--simulate", "30000", "-o", "net.safetensors"],
                stderr=subprocess.DEVNULL)
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=30), 130)
            self.assertEqual(read("net.safetensors"), before)
        self.make_builds()
        for wait in (3, 1.5, 0.7, 0.3):  # a fast machine is done before
            process = subprocess.Popen(
                [PROGRAM, "train", "1.pbf", "2.pbf", "3.pbf", "-l", "labels.csv", "--epochs", "1000",
                 "--hidden", "512", "-o", "net.safetensors"], stdout=subprocess.DEVNULL)
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            if process.wait(timeout=30) != 0:
                break
        self.assertEqual(process.returncode, 130)
        launch("pbftestsrc num-buffers=100 ! cudapbfmonitor model-location=net.safetensors ! fakesink")
        self.assertEqual([n for n in os.listdir() if n.startswith(("net", ".net"))],
                         ["net.safetensors"])

    def test_wrong_options(self):
        for arguments, words in ((["x.csv"], "the classes of the frames are missing"),
                                 ([], "no data: name tables or recordings"),
                                 (["x.csv", "--simulate", "5"], "--simulate takes no files"),
                                 (["--simulate", "5", "--hidden", "513"], "--hidden 513 is not in"),
                                 (["-n", "x"], "--network takes --baseline")):
            self.assertIn(words, run("train", *arguments, "-o", "n.safetensors", status=2)[1])
        self.assertIn("no output", run("train", "--simulate", "5", status=2)[1])


class Reports(Tool):
    def check_page(self, name):
        text = read(name).decode()
        self.assertIn("<svg", text)
        self.assertIn("SHA-256", text)
        for word in ('src="http', 'href="http', "<script", "@import", "url("):
            self.assertNotIn(word, text)
        for plot in text.split("<svg")[1:]:
            labels = re.findall(r'<text class="(?:x|label)" x="[0-9]+" y="[0-9]+">([^<]+)<', plot)
            self.assertEqual(len([l for l in labels if not l[0].isdigit()]), 2, labels)
        browser = shutil.which("chromium")
        if not browser:
            print("skip: no chromium: pages are not loaded", file=sys.stderr)
            return
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu",
                               "--enable-logging=stderr", "--v=0", "--dump-dom",
                               "file://" + os.path.abspath(name)],
                              capture_output=True, text=True, timeout=110)
        self.assertEqual(done.returncode, 0)
        self.assertIn("<h1>", done.stdout)
        self.assertEqual([l for l in done.stderr.splitlines() if "CONSOLE" in l], [])
        self.fits_a_phone(browser, name)

    def fits_a_phone(self, browser, name):
        with open("phone.html", "w") as stream:
            stream.write(f'<iframe src="{name}" style="width:390px" onload="let page = '
                         'this.contentDocument.documentElement; document.title = '
                         'page.scrollWidth - page.clientWidth"></iframe>')
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu",
                               "--allow-file-access-from-files", "--dump-dom",
                               "file://" + os.path.abspath("phone.html")],
                              capture_output=True, text=True, timeout=110)
        self.assertIn("<title>0</title>", done.stdout)

    def test_roughness(self):
        self.make_surfaces()
        run("roughness", "part0.x3p", "--report", "r.html", "-q", "--write", "roughness=r.npy")
        self.check_page("r.html")

    def test_motion_and_scenes(self):
        self.make_clip()
        run("motion", "clip.avi", "--report", "m.html", "-q")
        self.check_page("m.html")
        run("scenes", "clip.avi", "--report", "s.html", "-q")
        self.check_page("s.html")
        self.assertEqual(read("s.html").count(b"data:image/jpeg"), 2)

    def test_bundle_and_monitor(self):
        launch("bundletestsrc cameras=8 points=300 ! filesink location=b.txt")
        run("bundle", "b.txt", "--report", "b.html", "-q")
        self.check_page("b.html")
        launch("bundletestsrc cameras=8 points=300 format=colmap ! filesink location=m.tar")
        os.mkdir("model")
        subprocess.run(["tar", "xf", "m.tar", "-C", "model"], check=True)
        run("bundle", "model", "out", "--report", "m.html", "-q")
        self.check_page("m.html")
        launch("pbftestsrc num-buffers=2000 ! pbffilesink location=l.pbf")
        run("monitor", "l.pbf", "--report", "l.html", "-q")
        self.check_page("l.html")

    def test_train(self):
        Training.make_builds(self)
        run("train", "1.pbf", "2.pbf", "3.pbf", "-l", "labels.csv", "-o", "n.safetensors",
            "--report", "t.html", "-q")
        self.check_page("t.html")


class Info(Tool):
    def test_every_kind(self):
        self.make_surfaces()
        self.make_clip()
        launch("bundletestsrc cameras=8 points=300 ! filesink location=b.txt")
        launch("pbftestsrc num-buffers=200 ! pbffilesink location=l.pbf")
        found = json.loads(run("info", "--json", "part0.x3p", "clip.avi", "b.txt", "l.pbf")[0])
        self.assertEqual([f["kind"] for f in found["files"]],
                         ["surface", "video", "reconstruction", "recording"])
        with open("notes.html", "w") as stream:
            stream.write("<html>")
        self.assertIn("neither a surface", run("info", "notes.html", status=1)[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""names.py REPOSITORY
No static function has a name that static functions of two other files have too: a name
says what is read, refused or negotiated. plugin_init is the name that GStreamer gives."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import re
import sys

FOLDERS = ("cuda", "gst", "tools")
ENDINGS = (".c", ".cu", ".h", ".cuh")
DEFINITION = re.compile(r"^static\b[^;{}()]*?\b(?!__)(\w+) \([^;]*?\)\s*\{", re.M)


def main():
    root = pathlib.Path(sys.argv[1])
    files = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in ENDINGS:
                for name in set(DEFINITION.findall(file.read_text())):
                    files.setdefault(name, []).append(str(file.relative_to(root)))
    files.pop("plugin_init", None)
    many = {name: found for name, found in files.items() if len(found) > 2}
    for name, found in many.items():
        print(f"{name} is a static function of {len(found)} files: {', '.join(found)}")
    print(f"{len(files)} names of static functions, {len(many)} in more than two files")
    sys.exit(bool(many))


main()

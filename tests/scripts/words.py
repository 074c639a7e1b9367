#!/usr/bin/env python3
"""words.py REPOSITORY: the project's language.

Documents, and the comments and texts of C and CUDA files, use the terms of the
field and plain sentences: none of the phrases below."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import re
import sys

# what is written, what to write
PHRASES = {
    r"second(-level)? cache": "L2 cache",
    r"first(-level)? cache": "L1 cache",
    r"march(es|ing)?": "sliding window",
    r"(near|far) wavelets?": "wavelets of short or long support",
    r"held back|holds? back": "delay",
    r"next kernels? in": "programmatic dependent launch",
    r"banded": "out-of-core",
    r"on and on": "continuous",
    r"twins?": "reference implementation",
    r"(two|three|four|six) rounds|search rounds?|rounds? of (a|the) search":
        "search iterations",
    r"witness(es)?|desks?|shells|dut(y|ies)|course": "name the object",
    r"of which": "two sentences, or: whose",
    r"it were|that there (is|are|was|were)|as ever|anew": "plain present tense",
    r"can(not)? be had": "available",
    r"takes? \w+ \w+ apart|had its part|buys": "name the effect",
    r"do(es)? not take": "does not accept",
    r"do(es)? not tell": "does not specify",
    r"the card": "the GPU",
    r"(what|that) is asked for": "name the request",
}
# A clause as a subject; questions are fine.
OPENER = r"(What|That) (?![^.;|]*\?)"

GAP = r"(?:\s|[*]|//|\"|\\\n)+"  # words may stand on two lines of a comment
RULES = [(re.compile(r"(?i)(?<![@/\w])(?:" + phrase.replace(" ", GAP) + r")\b"), advice)
         for phrase, advice in PHRASES.items()]
RULES.append((re.compile(r"(?:[.:;]\s+|[|]\s|^[-*]*\s?|/[*]+\s|//\s|\"|^[ *]+@\w+: )"
                         + OPENER.replace(" ", GAP), re.M),
              "begin with the subject"))
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\])'", re.S)


def prose(path):
    """The file's text, with all code of C replaced by spaces."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    out, end = [], 0
    for token in TOKEN.finditer(text):
        out.append(re.sub(r"[^\n]", " ", text[end:token.start()]))
        out.append(token[0])
        end = token.end()
    return "".join(out)


def main():
    root = pathlib.Path(sys.argv[1])
    names = [path for pattern in ("*.md", "docs/**/*.md", "gst/**/*.[ch]",
                                  "cuda/**/*.[ch]", "cuda/**/*.cu", "cuda/**/*.cuh")
             for path in sorted(root.glob(pattern))]
    found = 0
    for path in names:
        text = prose(path)
        for rule, advice in RULES:
            for hit in rule.finditer(text):
                found += 1
                line = text.count("\n", 0, hit.start()) + 1
                words = " ".join(hit[0].split())
                print(f"{path.relative_to(root)}:{line}: {words!r} ({advice})")
    print(f"{len(names)} files, {found} phrases to replace")
    return 1 if found or not names else 0


sys.exit(main())

#!/usr/bin/env python3
"""words.py REPOSITORY: the project's language.

Documents, and the comments and texts of C and CUDA files, use the terms of the
field and plain sentences: none of the phrases below. No text has doubled
punctuation. Elements put the text of a GError into a sentence, so it has no period at
its end."""
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
    r"as hostile": "untrusted",
    r"where lib\w+ is": "requires the library",
    r"(is|are) known at once": "is reported immediately",
    r"counts? as out": "name the effect",
    r"(is|are) no (factorisation|processor|reason|recording|spatters?)": "is not",
    r"is none,? because": "is not",
    r"its time is that of": "PTS",
    r"as far as \w+ knows": "that it supports",
    r"of the idle machine": "measured on an idle machine",
    r"one more with": "plus one if",
    r"(has|have) (up|down)stream wait": "back-pressure",
    r"which it says once": "reports it once",
}
# A clause as a subject; questions are fine.
OPENER = r"(What|That) (?![^.;|]*\?)"

GAP = r"(?:\s|[*]|//|\"|\\\n)+"  # words may stand on two lines of a comment
RULES = [(re.compile(r"(?i)(?<![@/\w])(?:" + phrase.replace(" ", GAP) + r")\b"), advice)
         for phrase, advice in PHRASES.items()]
RULES.append((re.compile(r"(?:[.:;]\s+|[|]\s|^[-*]*\s?|/[*]+\s|//\s|\"|^[ *]+@\w+: )"
                         + OPENER.replace(" ", GAP), re.M),
              "begin with the subject"))
DOUBLED = re.compile(r"(?<=\w)(?:\.\.|\.[:;,]|[:;,?!][.:;,]|[.:;,?] [.:;,])(?=\s|\\n|$)")
# g_set_error (error, ...), and functions like it; g_error_new ()
SETS_ERROR = re.compile(r"(?:\w \((?:[^();\"]*\W)?error,|\bg_error_new(?:_literal)? \()"
                        r"(?:[^();\"]|\([^()]*\))*$")
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


def texts(source):
    """(position, text) of each string of C; adjacent ones are joined."""
    start, end, joined = 0, 0, ""
    for token in TOKEN.finditer(source):
        if token[0][0] != "\"":
            continue
        if joined and not re.fullmatch(r"\s*", source[end:token.start()]):
            yield start, joined
            joined = ""
        start = start if joined else token.start()
        joined, end = joined + token[0][1:-1], token.end()
    if joined:
        yield start, joined


def doubled_punctuation(source):
    """(position, words, advice) of texts that have it, or get it when joined."""
    for start, text in texts(source):
        for hit in DOUBLED.finditer(text):
            yield start, text[max(0, hit.start() - 20):hit.end()], "doubled punctuation"
        if text.endswith(".") and SETS_ERROR.search(source[max(0, start - 300):start]):
            yield start, text[-30:], "the text of a GError has no period at its end"


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
        source = "" if path.suffix == ".md" else path.read_text(encoding="utf-8")
        for position, words, advice in doubled_punctuation(source):
            found += 1
            line = source.count("\n", 0, position) + 1
            print(f"{path.relative_to(root)}:{line}: {words!r} ({advice})")
    print(f"{len(names)} files, {found} phrases to replace")
    return 1 if found or not names else 0


sys.exit(main())

#!/usr/bin/env python3
"""pages.py REPOSITORY: compares the elements' pages with gst-inspect-1.0.

Each element of the plugin has a page, docs/elements/NAME.md, and a row in
README.md. The page names the element's pads in its section on pads, and its signals. The page's table of properties names all of them and no other;
defaults, values of enumerations and ranges of numbers equal the element's, if the
page gives them literally. Descriptions of elements and properties
begin with a capital letter and end without a period; those of properties that
are a time, a length or another amount name its unit. Links of all documents lead to
files that exist."""
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import re
import subprocess
import sys

# of GStreamer's base classes
INHERITED = {"automatic-eos", "blocksize", "do-timestamp", "name", "parent", "qos",
             "typefind"}
INHERITED_BY_SINKS = {"async", "enable-last-sample", "last-sample", "max-bitrate",
                      "max-lateness", "processing-deadline", "render-delay",
                      "stats", "sync", "throttle-time", "ts-offset"}
INHERITED_BY_AGGREGATORS = {"emit-signals", "latency", "min-upstream-latency", "start-time",
                            "start-time-selection"}
# built only where GStreamer has what they need
OPTIONAL = {"cudavisionanalytics", "pbfhdf5src"}
# units that a description names, by the property's type or name
AMOUNT = (r"\b(metres?|pixels?|degrees|nanoseconds|microseconds|seconds?|bytes"
          r"|levels|percent|0 to 1|factor|number)\b")
UNIT_OF = {r"(-interval|latency|delay)$": r"\b(nano|micro)seconds\b",
           r"^interval$": r"\bframes?\b",
           r"^(width|height|x|y|position-[xy]|block-size|search-range)$|area$":
               r"\bpixels\b",
           r"radius$": r"\b(pixels|frames)\b"}
UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9, "": 1}
NUMBER = r"-?\d+(?:\.\d+)?"


def inspect(name):
    return subprocess.run(["gst-inspect-1.0", name], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def elements():
    """Those of all plugins that were built; hdf5 and analytics are optional."""
    names = []
    for plugin in ("analytics", "bundle", "hdf5", "meltpool", "motion", "surface"):
        r = subprocess.run(["gst-inspect-1.0", "cudavision" + plugin], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if r.returncode and plugin not in ("analytics", "hdf5"):
            sys.exit(f"the plugin cudavision{plugin} is missing")
        names += re.findall(r"^ +([a-z0-9]+): ", r.stdout, re.M)
    return sorted(names)


def properties(name):
    """name -> (default or None, (least, most) or None, values)"""
    text = inspect(name)
    inherited = INHERITED | (INHERITED_BY_SINKS if "-GstBaseSink\n" in text
                             else INHERITED_BY_AGGREGATORS if "-GstAggregator\n" in text
                             else set())
    text = text.split("\nElement Properties:\n", 1)[1]
    text = re.split(r"^(?=\S)", text, maxsplit=1, flags=re.M)[0]
    found = {}
    for part in re.split(r"\n(?=  [a-z])", "\n" + text):
        head = re.match(r"\s*([a-z0-9-]+) +: ", part)
        if not head or head[1] in inherited:
            continue
        default = re.search(r'Default: (?:[^",\n]+, )?"?([^"\n]*?)"? *$', part,
                            re.M)
        limits = re.search(rf"Range: +({NUMBER}) - +({NUMBER})", part)
        values = re.findall(r"^ +\([-0-9a-fx]+\): (\S+) +- ", part, re.M)
        found[head[1]] = (default and default[1].strip(),
                          limits and tuple(map(float, limits.groups())),
                          set(values))
    return found


def table(page):
    """The rows of the page's table of properties as {heading: cell}."""
    text = page.read_text(encoding="utf-8")
    section = re.search(r"^## Properties\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    lines = [line for line in (section[1] if section else "").split("\n")
             if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in lines]
    headings = [re.sub(r"^(unit, )?", "", cell) for cell in rows[0]] if rows \
        else []
    return [dict(zip(headings, row)) for row in rows[2:]]


def check_default(cell, default, values):
    """Interprets the cells 64, `full`, true and 1 ms; others are text."""
    amount = re.fullmatch(rf"({NUMBER}) ?(us|ms|s|)", cell)
    if amount and re.fullmatch(NUMBER, default or ""):
        shown = float(amount[1]) * UNITS[amount[2]]
        return float(default) == shown
    quoted = re.fullmatch(r"`([^`]+)`", cell)
    if quoted and values:
        return set(quoted[1].split("+")) == set((default or "").split("+"))
    return cell not in ("true", "false") or cell == default


def check_row(row, names, real):
    kind = " ".join(row.get(key, "") for key in ("type", "range"))
    limits = re.search(rf"({NUMBER})(?:\.\.| to )({NUMBER})", kind)
    listed = set(re.findall(r"`([^`]+)`", kind))
    defaults = row.get("default", "").split(", ") if len(names) > 1 else \
        [row.get("default", "")]
    for i, name in enumerate(names):
        default, span, values = real[name]
        cell = defaults[min(i, len(defaults) - 1)]
        if not check_default(cell, default, values):
            yield f"{name}: default {cell}, is {default}"
        if limits and span and tuple(map(float, limits.groups())) != span:
            yield f"{name}: {limits[0]}, is {span[0]:g} to {span[1]:g}"
        if listed and values and listed != values:
            yield f"{name}: values {sorted(listed)}, are {sorted(values)}"


def check_sentence(text):
    if not text[:1].isupper() and not text[:1].isdigit():
        yield f"does not begin with a capital letter: {text}"
    if text.endswith("."):
        yield f"ends with a period: {text}"
    if re.match(r"(What|Where|That|Whose|How|Which|Whether|Of|The same)\b", text):
        yield f"does not begin with the subject: {text}"


def check_texts(name):
    """The descriptions that gst-inspect-1.0 prints of the element and its properties."""
    text = inspect(name)
    for key in "Long-name", "Description":
        for problem in check_sentence(re.search(rf"^ +{key} +(.*)$", text, re.M)[1]):
            yield f"{key} {problem}"
    names = set(properties(name))
    for row in re.finditer(r"^  ([a-z0-9-]+) +: (.*)\n((?:   .*\n)*)", text, re.M):
        prop, blurb, rest = row.groups()
        if prop not in names:
            continue
        units = [unit for key, unit in UNIT_OF.items() if re.search(key, prop)]
        if re.search(r"^ +(Double|Float|.*Integer64|Fraction)\. ", rest, re.M):
            units.append(AMOUNT)
        for unit in units:
            if not re.search(unit, blurb, re.I):
                yield f"{prop}: names no unit: {blurb}"
        for problem in check_sentence(blurb):
            yield f"{prop}: {problem}"
        for value in re.finditer(r"^ +\((?:0x)?[0-9a-f-]+\): \S+ +- (.*)$", rest, re.M):
            for problem in check_sentence(value[1]):
                yield f"{prop}: {problem}"


def missing_names(page, name):
    """The pads and signals of an element that its page does not name."""
    text, inspected = page.read_text(encoding="utf-8"), inspect(name)
    section = re.search(r"^## Pads.*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    pads = set(re.findall(r"^  (?:SRC|SINK) template: '(\S+)'", inspected, re.M))
    for pad in sorted(pads):
        # src_NAME has the alias NAME
        if f"src_{pad}" not in pads and f"`{pad}`" not in (section[1] if section else ""):
            yield f"pad {pad}: not in the page's section on pads"
    for title in "Element Signals", "Element Actions":
        listed = re.search(rf"^{title}:\n(.*?)^(?=\S|\Z)", inspected + "\n", re.M | re.S)
        for signal in re.findall(r'^  "([a-z-]+)"', listed[1] if listed else "", re.M):
            if f"`{signal}`" not in text:
                yield f"signal {signal}: not on the page"


def check(root, name):
    yield from check_texts(name)
    page = root / "docs" / "elements" / f"{name}.md"
    if not page.exists():
        yield "has no page"
        return
    yield from missing_names(page, name)
    real, seen = properties(name), set()
    for row in table(page):
        names = re.findall(r"`([^`]+)`", next(iter(row.values())))
        seen.update(names)
        if set(names) <= set(real):
            yield from check_row(row, names, real)
    yield from (f"{one}: not on the page" for one in sorted(set(real) - seen))
    yield from (f"{one}: no property" for one in sorted(seen - set(real)))


def broken_links(root):
    for page in [*root.glob("*.md"), *root.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)",
                                 page.read_text(encoding="utf-8")):
            if ":" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(root)}: no such file: {target}"


def main():
    root = pathlib.Path(sys.argv[1])
    names = elements()
    readme = (root / "README.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (root / "docs" / "elements").glob("*.md")}
    problems = [f"{name}: {problem}" for name in names
                for problem in check(root, name)]
    problems += [f"README.md has no row for {name}" for name in names
                 if not re.search(rf"^\|.*\[{name}\]\(docs/elements/{name}\.md\).* \|$",
                                  readme, re.M)]
    problems += [f"docs/elements/{name}.md: no such element"
                 for name in sorted(pages - set(names) - OPTIONAL)]
    problems += broken_links(root)
    print("\n".join(problems))
    print(f"{len(names)} elements, {len(problems)} problems")
    return 1 if problems or not names else 0


sys.exit(main())

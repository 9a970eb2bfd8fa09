#!/usr/bin/env python3
"""Prints docs/advisories.md from tests/data/advisories.toml; see advisories.sh.

    python3 scripts/advisories.py TARGET FILES

Each column is a run of that program on our files, with a limit of a minute per file. "refuses" is
an exit code, an exception or an issue of the highest level that says so, "warns" and "notes" are
issues of lower levels, "fails" is an exit code for internal errors, "ends" a signal or a timeout.
"""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

TARGET, FILES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
EXTENSIONS = {"gguf": "gguf", "safetensors": "safetensors", "shards": "safetensors.index.json"}
SECONDS = 60
# Scanners must not send reports.
SILENT = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
ABSENT = "–"


def run(*command, given=None, seconds=SECONDS):
    """The exit code, below 0 for a signal or a timeout, and the output."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, errors="replace",
                              timeout=seconds, check=False, env={**os.environ, **SILENT})
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout


def by_code(code):
    if code < 0 or code > 127:
        return "ends"
    return "accepts" if code == 0 else "refuses"


def ours(path, form):
    code, text = run(TARGET / "debug/weighbridge", "check", "--json", "--format", form, path)
    rules = [found["rule"] for found in json.loads(text).get("findings", [])]
    return by_code(code), rules


def ggml(path, form):
    if form != "gguf":
        return ABSENT
    code, text = run(TARGET / "peers/ggml/read", given=f"{path}\n")
    return text.strip() if code == 0 else "ends"


def python_reader(peer, only):
    def read(path, form):
        if form != only:
            return ABSENT
        code, text = run(TARGET / "peers/venv/bin/python", "scripts/peers/read.py", peer, given=f"{path}\n")
        return text.strip() or by_code(code)
    return read


def picklescan(path, _):
    code, _ = run(TARGET / "scanners/bin/picklescan", "--path", path)
    return "fails" if code == 2 else by_code(code)


def modelscan(path, _):
    code, _ = run(TARGET / "scanners/bin/modelscan", "scan", "-p", path)
    # Its exit codes: 2 error, 3 no supported file.
    return {2: "fails", 3: "skips"}.get(code) or by_code(code)


def modelaudit(paths):
    """Scans all files in one run, because it is slow to start; returns a function that looks up the
    result for a file."""
    code, text = run(TARGET / "scanners/bin/modelaudit", "scan", "--format", "json", "--no-cache",
                     *paths, seconds=20 * SECONDS)
    if code < 0:
        return None
    worst = {}
    levels = {"info": "notes", "debug": "notes", "warning": "warns"}
    for issue in json.loads(text)["issues"]:
        answer = levels.get(issue["severity"], "refuses")
        path = next(path for path in paths if issue["location"].startswith(str(path)))
        order = ["notes", "warns", "refuses"]
        worst[path] = max(worst.get(path, answer), answer, key=order.index)
    return lambda path, _: worst.get(path, "accepts")


def version(python, package):
    code, text = run(python, "-c", f"import importlib.metadata as m; print(m.version('{package}'))")
    return text.strip() if code == 0 else None


def columns(paths):
    """Title and function of each installed program."""
    found = []
    if (TARGET / "peers/ggml/read").exists():
        found.append(("ggml 0.26", ggml))
    readers, scanners = TARGET / "peers/venv/bin/python", TARGET / "scanners/bin/python"
    for package, make in (("gguf", "gguf"), ("safetensors", "safetensors")):
        if readers.exists() and (number := version(readers, package)):
            found.append((f"{package} {number}", python_reader(make, package)))
    for package, make in (
        ("picklescan", lambda: picklescan),
        ("modelscan", lambda: modelscan),
        ("modelaudit", lambda: modelaudit(paths)),
    ):
        if scanners.exists() and (number := version(scanners, package)) and (function := make()):
            found.append((f"{package} {number}", function))
    return found


def path_of(row):
    return FILES / row["format"] / f"{row['fixture']}.{EXTENSIONS[row['format']]}"


def main():
    rows = tomllib.loads(pathlib.Path("tests/data/advisories.toml").read_text())["advisory"]
    peers = columns(list(dict.fromkeys(path_of(row) for row in rows if "fixture" in row)))
    print("# Advisories, and what refuses them\n")
    print("`make advisories` prints this page from `tests/data/advisories.toml`, which gives the source of")
    print("each row; do not edit it. Ids that begin with WB are ours, for faults that have only an issue or")
    print("a fix. The encoders in `tests/src` write each file with the malformed field of its row; the")
    print("files are not exploits. *warns* and *notes* are issues below the highest level; *ends* is a")
    print("crash, or no answer within a minute; *fails* is an error in the program itself; *skips* is a")
    print("file that the program does not inspect; a dash is a format that it does not read. Where")
    print("*confirmed* is *named* or *no*, the source does not name the field.\n")
    titles = ["id", "reader", "malformed", "confirmed", "Weighbridge", *(title for title, _ in peers)]
    print("| " + " | ".join(titles) + " |")
    print("|" + "---|" * len(titles))
    answered = {title: [0, 0] for title, _ in peers}
    refused = total = 0
    for row in rows:
        form = row["format"]
        cells = [row["id"], row["reader"], row["field"].replace("|", "\\|"), row["confirmed"]]
        if "fixture" not in row:
            print("| " + " | ".join([*cells, row["why"], *(ABSENT for _ in peers)]) + " |")
            continue
        path = path_of(row)
        total += 1
        verdict, rules = ours(path, form)
        assert row["rule"] in rules, (row["id"], rules)
        refused += verdict == "refuses"
        cells.append(f"{verdict}, `{row['rule']}`")
        for title, function in peers:
            answer = function(path, form)
            answered[title][0] += answer == "refuses"
            answered[title][1] += answer != ABSENT
            cells.append(answer)
        print("| " + " | ".join(cells) + " |")
    print(f"\nRefused: Weighbridge {refused} of {total}", end="")
    for title, (number, of) in answered.items():
        print(f"; {title} {number} of {of}", end="")
    print(".")


main()

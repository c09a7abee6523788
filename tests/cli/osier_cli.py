"""What the command-line tests share. Each file runs as: python3 FILE OSIER_BINARY SOURCE_FOLDER [unittest options]."""

import copy
import csv
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

import h5py

OSIER = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
SANITISED = OSIER is not None and any(name in OSIER.read_bytes() for name in (b"__asan_init", b"__tsan_init"))
PATIENCE = 8 if SANITISED else 1  # with time limits
SOURCE = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
SCENES = sorted((SOURCE / "scenes").glob("*.json")) if SOURCE else []
if not os.environ.get("OSIER_DATA"):  # the folder of data that are not part of Osier
    for path in [p for p in SCENES if "$OSIER_DATA/" in p.read_text(encoding="utf-8")]:
        print("skipped: %s needs OSIER_DATA" % path.name, file=sys.stderr)
        SCENES.remove(path)

DONE, RUN_FAILED, BAD_INPUT = 0, 1, 2


def main():
    if OSIER is None or SOURCE is None:
        sys.exit("usage: python3 %s OSIER_BINARY SOURCE_FOLDER" % sys.argv[0])
    unittest.main(module="__main__", argv=[sys.argv[0]] + sys.argv[3:])


def strip_comments(text):
    """JSON without // and /* */, strings untouched."""
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or " ", text, flags=re.S)


def read_scene(path):
    return json.loads(strip_comments(path.read_text(encoding="utf-8")))


def beam(**changes):
    """A straight rod `a` of 1 m along x in 4 segments, free, without loads. Its material `m` is raw and 1 kg/m."""
    scene = {
        "materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.01}},
        "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4, "material": "m"}],
        "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1, "fps": 50},
    }
    scene.update(copy.deepcopy(changes))
    return scene


def beam_rod(**changes):
    scene = beam()
    scene["rods"][0].update(copy.deepcopy(changes))
    return {**scene, "rods": [{k: v for k, v in scene["rods"][0].items() if v is not None}]}


def memory_of(command):
    """Most resident memory of a process, in bytes. A child of a child, as only the largest of all children is known."""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);" \
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    return 1024 * int(subprocess.run([sys.executable, "-c", script, *map(os.fspath, command)], check=True, capture_output=True).stdout)


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")
        self.raw_err = process.stderr

    @property
    def problems(self):
        """{place: [text, ...]} of the `error:` lines; a problem without a place has the place ''."""
        found = {}
        for line in self.err.splitlines():
            match = re.match(r"error: (?:((?:/|--)[^ :]*(?: [^ :]*)?|[^ ]*:\d+:\d+): )?(.*)", line)
            if match:
                found.setdefault(match.group(1) or "", []).append(match.group(2))
        return found

    def __str__(self):
        return "exit %s\n%s%s" % (self.code, self.out[-1200:], self.err[:1200])


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="osier_cli_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    # ------------------------------------------------------------------------------------------------------------ calling

    def call(self, *arguments, timeout=60, memory=None, stdin=None):
        """`memory`: the most address space in bytes; a sanitised binary reserves terabytes, so it gets no limit."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory and not SANITISED else None
        process = subprocess.run([OSIER, *map(os.fspath, arguments)], cwd=self.folder, capture_output=True, timeout=PATIENCE * timeout,
                                 preexec_fn=limit, input=stdin)
        self.assertGreaterEqual(process.returncode, 0, "killed by signal %d" % -process.returncode)
        return Result(process)

    def write(self, scene, name="scene.json"):
        path = self.folder / name
        if isinstance(scene, bytes):
            path.write_bytes(scene)
        else:
            path.write_text(scene if isinstance(scene, str) else json.dumps(scene), encoding="utf-8")
        return path

    def check(self, scene, *arguments, **options):
        return self.call("check", self.write(scene), *arguments, **options)

    def run_scene(self, scene, *arguments, folder="out", expect=DONE, **options):
        result = self.call("run", self.write(scene), "-o", folder, "--stats", "stats.json", *arguments, **options)
        self.assertEqual(result.code, expect, result)
        return result

    # ------------------------------------------------------------------------------------------------------------ reading

    def stats(self):
        return json.loads((self.folder / "stats.json").read_text())

    def info(self, scene, *arguments):
        result = self.call("info", self.write(scene), "--json", *arguments)
        self.assertEqual(result.code, DONE, result)
        return json.loads(result.out)

    def trajectory(self, folder="out"):
        """{name: array}, all frames that `time` counts."""
        with h5py.File(self.folder / folder / "trajectory.h5", "r") as file:
            n = len(file["time"])
            data = {k: file[k][:n] for k in ("time", "position", "velocity", "frame", "segment_alive")}
            data["radius"] = file["topology/radius"][:]
            data["scene"] = json.loads(file["scene"].asstr()[()])
        return data

    def table(self, name, folder="out"):
        """{column: [numbers]}; every line is complete."""
        text = (self.folder / folder / name).read_text()
        self.assertTrue(text.endswith("\n"), name + " ends in the middle of a line")
        rows = list(csv.reader(text.splitlines()))
        self.assertEqual(len(rows[0]), len(set(rows[0])), "two columns have the same name: %s" % rows[0])
        for row in rows[1:]:
            self.assertEqual(len(row), len(rows[0]), "a line of %s has the wrong number of columns" % name)
        return {column: [float(row[i]) for row in rows[1:]] for i, column in enumerate(rows[0])}

    def probes(self, scene, *arguments):
        self.run_scene(scene, *arguments)
        return self.table("probes.csv")

    # ---------------------------------------------------------------------------------------------------------- assertions

    def assert_refused(self, scene, expected, *arguments, exactly=True, **options):
        """`run` exits 2, reports every `expected` {place: words}, leaves nothing behind, and `check` says the same."""
        path = self.write(scene)
        before = set(self.folder.iterdir())
        result = self.call("run", path, "-o", "out", "--stats", "stats.json", *arguments, **options)
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertEqual(set(self.folder.iterdir()), before, "bad input left something behind\n%s" % result)
        for place, words in expected.items():
            self.assertIn(place, result.problems, result)
            text = " ".join(result.problems[place])
            for word in [words] if isinstance(words, str) else words:
                self.assertIn(word, text, result)
        if exactly:
            self.assertEqual(set(result.problems), set(expected), "more was reported than is wrong\n%s" % result)
        self.assert_readable(result)
        checked = self.call("check", path, *arguments, **options)
        self.assertEqual(checked.code, BAD_INPUT, checked)
        self.assertEqual(checked.problems, result.problems)
        return result

    def assert_readable(self, result):
        for jargon in ("json.exception", "std::", "terminate", "Assertion", "bad_alloc", "nlohmann"):
            self.assertNotIn(jargon, result.err)
        self.assertNotIn("\ufffd", result.raw_err.decode("utf-8", "replace"), "the message is not UTF-8")
        for place, texts in result.problems.items():
            self.assertEqual(len(texts), len(set(texts)), "the same thing is said twice about %s: %s" % (place, texts))
            for text in texts:
                self.assertGreater(len(text), 8, text)
                self.assertLess(len(text), 500, text[:700])

    def assert_good(self, scene, *arguments):
        result = self.check(scene, *arguments)
        self.assertEqual(result.code, DONE, result)
        return result

    def assert_not_ignored(self, scene, key, *arguments):
        """A setting that can have no effect is refused, or at least warned about by its name."""
        result = self.check(scene, *arguments)
        if result.code == BAD_INPUT:
            self.assertIn(key, result.err)
        else:
            self.assertEqual(result.code, DONE, result)
            self.assertRegex(result.err, r"warning: .*%s" % re.escape(key), "accepted in silence, but without effect")

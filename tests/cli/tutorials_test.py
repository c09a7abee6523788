"""The tutorials do what they say: their files are written, their commands run, their output compared with what they print."""

import os
import re
import shlex
import subprocess
import sys
import unittest

from osier_cli import OSIER, PATIENCE, SOURCE, CliTest, main

FENCE = re.compile(r"^```(\w+)(?: name=(\S+))?\n(.*?)^```$", re.M | re.S)
# Times of this machine: any number before a unit of time or speed of computing.
USD_PYTHON = next((p for p in [SOURCE / "build/tools/venv/bin/python"] if p.exists()), None) if SOURCE else None
TIMING = re.compile(r"\d+(\.\d+)?(?= (s|ms/frame|ns per)\b)")


def blocks(page):
    return FENCE.findall((SOURCE / "docs/tutorials" / page).read_text(encoding="utf-8"))


def jpeg_size(data):
    """Width and height from the header of the first frame."""
    at = 2
    while data[at + 1] not in (0xc0, 0xc1, 0xc2):
        at += 2 + int.from_bytes(data[at + 2:at + 4], "big")
    return int.from_bytes(data[at + 7:at + 9], "big"), int.from_bytes(data[at + 5:at + 7], "big")


class Tutorials(CliTest):
    def setUp(self):
        super().setUp()
        # Pictures at the size of a stamp; everything else as written.
        tools = self.folder / "tools"
        tools.mkdir()
        small = "import os, sys\na = sys.argv[1:]\nif a[:1] == ['render']:\n" \
                "    for o in ('--size', '--samples'):\n        if o in a: del a[a.index(o):a.index(o) + 2]\n" \
                "    a += ['--size', '64x36', '--samples', '1']\nos.execv(%r, [%r] + a)\n" % (str(OSIER), str(OSIER))
        self.program(tools / "osier", "#!%s\n%s" % (sys.executable, small))
        (tools / "python3").symlink_to(sys.executable)
        self.environment = dict(os.environ, PATH="%s:%s" % (tools, os.environ["PATH"]))
        self.rendering = b"without its ray tracer" not in subprocess.run([OSIER, "render", "none"], capture_output=True).stderr

    @staticmethod
    def program(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def follow(self, page, compare=True):
        output = ""
        for language, name, text in blocks(page):
            if name:
                (self.folder / name).write_text(text, encoding="utf-8")
            elif language == "sh":
                parts = [self.command(line) for line in text.replace("\\\n", " ").splitlines() if line]
                output = None if None in parts else "".join(parts)
            elif language == "text" and compare and output is not None:
                got = {TIMING.sub("#", line.rstrip()) for line in output.splitlines()}
                for line in text.splitlines():
                    self.assertIn(TIMING.sub("#", line.rstrip()), got, "%s prints something else" % page)

    def command(self, line):
        if line.startswith("osier render") and not self.rendering:
            print("skipped, as this osier was built without its ray tracer:", line, file=sys.stderr)
            return ""
        if line == "python3 layers.py":
            if not USD_PYTHON:
                print("skipped, as usd-core is not installed (./test --tools):", line, file=sys.stderr)
                return None
            line = "%s layers.py" % USD_PYTHON
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE * 100)
        self.assertEqual(done.returncode, 0, "%s\n%s" % (line, done.stderr))
        return done.stdout

    def test_pages_link_to_what_is_there(self):
        for page in (SOURCE / "docs/tutorials").glob("*.md"):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
                self.assertTrue((page.parent / target).exists(), "%s: %s" % (page.name, target))

    def test_pictures_are_those_of_the_commands_beside_them(self):
        for page, marker in [(p, "") for p in (SOURCE / "docs/tutorials").glob("*.md")] + [(SOURCE / "docs/pictures/README.md", "$pictures/")]:
            text = page.read_text(encoding="utf-8").replace("\\\n", " ")
            commands = [shlex.split(line) for _, _, block in FENCE.findall(text) for line in block.splitlines() if re.match(r"\$?osier render", line)]
            made = {c[c.index("-o") + 1]: c for c in commands if "-o" in c}
            shown = re.findall(r"\]\(([^)/]+\.jpg)\)", text) if not marker else [p.name for p in page.parent.glob("*.jpg")]
            for name in shown:
                self.assertIn(marker + name, made, "%s shows %s and does not say how it is made" % (page.name, name))
                command = made[marker + name]
                size = command[command.index("--size") + 1] if "--size" in command else "1280x720"
                data = (page.parent / name).read_bytes()
                self.assertEqual("%dx%d" % jpeg_size(data), size, name)
                self.assertLess(len(data), 250000, name)

    def test_first_rod(self):
        self.follow("1-first-rod.md")

    def test_curves_in_and_out(self):
        self.follow("2-curves-in-and-out.md")

    def test_tree_in_the_wind(self):
        self.follow("3-tree-in-the-wind.md")

    def test_a_knot_from_file_to_film(self):
        self.follow("5-a-knot-from-file-to-film.md")

    def test_a_groom_on_a_moving_head(self):
        self.follow("7-a-groom-on-a-moving-head.md")

    def test_a_parameter_study(self):
        self.follow("8-a-parameter-study.md", compare=False)  # what Python prints there, tests/python compares

    def test_results_in_python(self):
        for language, name, text in blocks("1-first-rod.md"):
            if name:
                (self.folder / name).write_text(text, encoding="utf-8")
        self.follow("4-results-in-python.md")


if __name__ == "__main__":
    main()

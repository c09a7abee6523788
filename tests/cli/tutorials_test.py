"""The tutorials do what they say: their files are written, their commands run, their output compared with what they print."""

import os
import re
import subprocess
import sys
import unittest

from osier_cli import OSIER, SOURCE, CliTest, main

FENCE = re.compile(r"^```(\w+)(?: name=(\S+))?\n(.*?)^```$", re.M | re.S)
# Times of this machine: any number before a unit of time or speed of computing.
TIMING = re.compile(r"\d+(\.\d+)?(?= (s|ms/frame|ns per)\b)")


def blocks(page):
    return FENCE.findall((SOURCE / "docs/tutorials" / page).read_text(encoding="utf-8"))


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

    def follow(self, page):
        output = ""
        for language, name, text in blocks(page):
            if name:
                (self.folder / name).write_text(text, encoding="utf-8")
            elif language == "sh":
                output = "".join(self.command(line) for line in text.replace("\\\n", " ").splitlines() if line)
            elif language == "text":
                got = {TIMING.sub("#", line.rstrip()) for line in output.splitlines()}
                for line in text.splitlines():
                    self.assertIn(TIMING.sub("#", line.rstrip()), got, "%s prints something else" % page)

    def command(self, line):
        if line.startswith("osier render") and not self.rendering:
            print("skipped, as this osier was built without its ray tracer:", line, file=sys.stderr)
            return ""
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, "%s\n%s" % (line, done.stderr))
        return done.stdout

    def test_pages_link_to_what_is_there(self):
        for page in (SOURCE / "docs/tutorials").glob("*.md"):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
                self.assertTrue((page.parent / target).exists(), "%s: %s" % (page.name, target))

    def test_first_rod(self):
        self.follow("1-first-rod.md")

    def test_curves_in_and_out(self):
        self.follow("2-curves-in-and-out.md")

    def test_tree_in_the_wind(self):
        self.follow("3-tree-in-the-wind.md")

    def test_results_in_python(self):
        for language, name, text in blocks("1-first-rod.md"):
            if name:
                (self.folder / name).write_text(text, encoding="utf-8")
        self.follow("4-results-in-python.md")


if __name__ == "__main__":
    main()

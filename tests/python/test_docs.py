"""The tutorial does what it says: its code runs, and prints what stands beneath it."""
import contextlib
import io
import re

from conftest import ROOT

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def test_the_tutorial_prints_what_it_says():
    page = (ROOT / "docs/tutorials/6-a-cable-at-a-gripper.md").read_text(encoding="utf-8")
    names, printed, compared = {}, "", 0
    for language, text in FENCE.findall(page):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "tutorial", "exec"), names)
            printed += out.getvalue()
        elif language == "text":
            for line in text.splitlines():
                assert line in printed.splitlines()
                compared += 1
    assert compared >= 5


def test_the_page_of_the_package_runs(tmp_path, monkeypatch):
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    names = {"points": [[0, 0, 0], [0.1, 0, 0], [0.2, 0.01, 0], [0.3, 0, 0]]}
    for language, text in FENCE.findall(page):
        if language == "python" and "robot" not in text and "run.plot" not in text:
            exec(compile(text, "python.md", "exec"), names)
    assert (tmp_path / "cable.json").exists()

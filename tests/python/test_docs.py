"""The pages do what they say: their code runs, and prints what stands beneath it."""
import contextlib
import importlib.util
import io
import re

import pytest

from conftest import ROOT

NAMED_FENCE = re.compile(r"^```(\w+)(?: name=(\S+))?\n(.*?)^```$", re.M | re.S)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize("page", ["6-a-cable-at-a-gripper.md", "8-a-parameter-study.md"])
def test_the_tutorial_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed, compared = {}, "", 0
    for language, file, text in NAMED_FENCE.findall((ROOT / "docs/tutorials" / page).read_text(encoding="utf-8")):
        if file:
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, page, "exec"), names)
            printed += out.getvalue()
        elif language == "text":
            for line in text.splitlines():
                assert line in printed.splitlines()
                compared += 1
    assert compared >= 5
    for picture in tmp_path.glob("*.svg"):
        assert (ROOT / "docs/tutorials" / picture.name).exists(), f"{page} draws {picture.name} and does not show it"


def test_the_readme_runs(tmp_path, monkeypatch):
    """The five lines of Python of the README, and the scene above them."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    scene = next(text for language, text in FENCE.findall(page) if language == "json")
    (tmp_path / "cable.json").write_text(scene, encoding="utf-8")
    blocks = [text for language, text in FENCE.findall(page) if language == "python"]
    assert blocks
    for text in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, "README.md", "exec"), {})
        for line in re.findall(r"# prints: (.*)", text):
            assert line in out.getvalue()


def test_the_reference_is_that_of_this_package():
    spec = importlib.util.spec_from_file_location("python_reference", ROOT / "scripts/python_reference.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.PAGE.read_text(encoding="utf-8") == generate.page(), "run scripts/python_reference.py with the package installed"


def test_the_page_of_the_package_runs(tmp_path, monkeypatch):
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    names = {"points": [[0, 0, 0], [0.1, 0, 0], [0.2, 0.01, 0], [0.3, 0, 0]]}
    for language, text in FENCE.findall(page):
        if language == "python" and "robot" not in text and "run.plot" not in text:
            exec(compile(text, "python.md", "exec"), names)
    assert (tmp_path / "cable.json").exists()

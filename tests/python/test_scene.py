"""Scenes as dicts, files and objects."""
import json
import subprocess
import sys

import numpy as np
import pytest

import osier
from conftest import ROOT, cable
from osier._part import plain
from osier._scene import plain_scene

SCENES = sorted((ROOT / "scenes").glob("*.json"))


def test_the_classes_are_those_of_the_scene_language(tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text(osier.scene_schema())
    made = subprocess.run(
        [sys.executable, ROOT / "python" / "generate_scene.py", schema], capture_output=True, text=True, check=True
    )
    assert made.stdout == (ROOT / "python" / "osier" / "scene.py").read_text(), (
        "run python3 python/generate_scene.py docs/scene.schema.json > python/osier/scene.py"
    )


@pytest.mark.parametrize("file", SCENES, ids=lambda f: f.stem)
def test_every_shipped_scene_goes_through_objects_unchanged(file):
    before = plain_scene(file)
    before.pop("$schema", None)
    scene = osier.Scene.from_dict(before)
    assert scene.to_dict() == before
    kinds = {type(item).__name__ for item in scene.constraints or [] if item is not None}
    assert "dict" not in kinds


def test_objects_dicts_and_files_make_the_same_simulation(tmp_path):
    s = osier.scene
    made = osier.Scene(
        materials={"m": s.Material(young=1e6, density=1000, radius=0.005)},
        rods=[s.Rod(name="cable", shape=s.ShapeLine(from_=np.zeros(3), to=(1, 0, 0)), segments=20, material="m")],
        constraints=[s.Clamp(name="hand", vertices="cable:start")],
        forces=[s.Gravity(acceleration=[0, -9.81, 0]), s.Drag(rate=2)],
        analysis=s.Dynamic(step=0.001, duration=0.1, steps_per_frame=10),
    )
    file = tmp_path / "scene.json"
    made.save(file)
    results = []
    for scene in (made, cable(), file, str(file), osier.compile(made)):
        simulation = osier.Simulation(scene)
        simulation.step(20)
        results.append(simulation.positions.copy())
    assert all(np.array_equal(x, results[0]) for x in results)
    assert osier.Scene.load(file) == osier.Scene.from_dict(json.loads(file.read_text()))


def test_every_problem_is_told_at_once_with_place_and_remedy():
    wrong = osier.Scene.from_dict(cable())
    wrong.rods[0].segments = -3
    wrong.materials["m"].young = -1
    wrong.constraints[0].vertices = "cabel:start"
    with pytest.raises(osier.InputError) as caught:
        wrong.check()
    assert isinstance(caught.value, ValueError)
    places = [p.where for p in caught.value.problems]
    assert "/rods/0/segments" in places and "/materials/m/young" in places
    assert all(p.what for p in caught.value.problems)
    assert str(caught.value.problems[0].what) in str(caught.value)


def test_unknown_keys_are_refused():
    with pytest.raises(TypeError):
        osier.scene.Rod(shape=None, material="m", radius=1)
    with pytest.raises(TypeError, match="`segmens`.*segments"):
        osier.scene.Rod.from_dict({"shape": {}, "material": "m", "segmens": 3})
    with pytest.raises(osier.InputError, match="segments"):
        osier.compile(cable(rods=[{"shape": {"type": "line"}, "material": "m", "segmens": 3}]))


def test_numbers_that_json_does_not_have_are_refused():
    with pytest.raises(ValueError):
        osier.compile(cable(forces=[{"type": "gravity", "acceleration": [0, float("nan"), 0]}]))


def test_numpy_becomes_plain():
    assert plain({"a": np.arange(3), "b": np.float64(2.5), "c": (np.int32(1), range(2))}) == {
        "a": [0, 1, 2],
        "b": 2.5,
        "c": [1, [0, 1]],
    }


def test_what_is_odd_is_a_warning():
    assert any("Pa" in w or "modulus" in w for w in osier.compile(cable(materials={"m": {"young": 1, "density": 1000, "radius": 0.005}})).warnings)


def test_overrides_win():
    compiled = osier.compile(cable(), set={"/rods/0/segments": 7}, solver="newton")
    assert compiled.segment_count == 7
    assert json.loads(compiled.json)["solver"]["name"] == "newton"
    with pytest.raises(TypeError):
        osier.compile(compiled, set={"/rods/0/segments": 8})

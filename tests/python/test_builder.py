"""Scenes from arrays."""
import numpy as np
import pytest

import osier
from conftest import cable


def test_rods_from_arrays_are_those_of_a_scene_file():
    points = np.column_stack([np.linspace(0, 1, 21), np.zeros(21), np.zeros(21)])
    scene = cable()
    rods = scene.pop("rods")
    builder = osier.ModelBuilder(scene).add_rod("cable", points, material="m")
    made, read = osier.Simulation(builder.build()), osier.Simulation(cable(rods=rods))
    made.step(20), read.step(20)
    assert np.allclose(made.positions, read.positions, atol=1e-12)


def test_points_arrive_to_the_last_bit():
    rng = np.random.default_rng(7)
    points = np.cumsum(0.1 + rng.random((50, 3)), axis=0)
    pose = points + 1e-3 * rng.random((50, 3))
    builder = osier.ModelBuilder()
    builder.add_material("m", young=1e6, density=1000, radius=0.005)
    builder.add_rod("a", points, material="m", pose=pose)
    scene = builder.build()
    assert np.array_equal(scene.positions, pose)
    assert np.allclose(scene.rest_lengths, np.linalg.norm(np.diff(points, axis=0), axis=1), rtol=1e-15)
    assert osier.compile(__import__("json").loads(builder.json)).positions.tolist() == pose.tolist()


def test_scale_is_the_size_of_each_segment():
    points = np.column_stack([np.cumsum([0, 0.1, 0.2, 0.3]), np.zeros(4), np.zeros(4)])
    builder = osier.ModelBuilder().add_material("m", stretch_shear=10, bend_twist=1, line_density=2, radius=0.01)
    scene = builder.add_rod("a", points, material="m", scale=[1, 2, 3]).build()
    lumps = 2 * np.array([0.1, 0.2 * 4, 0.3 * 9])  # line density goes with the square
    expected = 0.5 * np.array([lumps[0], lumps[0] + lumps[1], lumps[1] + lumps[2], lumps[2]])
    assert scene.masses == pytest.approx(expected)


def test_closed_rods_and_lists_and_anything_else():
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    builder = osier.ModelBuilder()
    builder.add_material("m", young=1e6, density=1000, radius=0.01)
    builder.add_rod("ring", ring, material="m", closed=True, velocity=[0, 0, 1])
    builder.add("forces", osier.scene.Drag(rate=0.1)).add("forces", {"type": "gravity"})
    builder.set("/analysis", osier.scene.Dynamic(step=1e-3, duration=1))
    simulation = osier.Simulation(builder.build(set={"/forces/1/acceleration": [0, 0, 0]}))
    assert simulation.positions.shape == (24, 3) and simulation.scene.segment_count == 24
    simulation.step()
    assert np.allclose(simulation.velocities[:, 2], 1, atol=1e-3)


def test_arrays_that_do_not_fit_are_refused_with_their_place():
    builder = osier.ModelBuilder().add_material("m", young=1e6, density=1000, radius=0.01)
    line = np.column_stack([np.arange(5.0), np.zeros(5), np.zeros(5)])
    builder.add_rod("a", line, material="m")
    for wrong in ({"pose": line[:3]}, {"scale": [1, 2]}):
        with pytest.raises(osier.InputError) as caught:
            builder.add_rod("b", line, material="m", **wrong)
        assert caught.value.problems[0].where == "/rods/1/" + next(iter(wrong))
    with pytest.raises(osier.InputError):
        builder.add_rod("b", line * np.nan, material="m")
    with pytest.raises(TypeError):
        builder.add_rod("b", line[:, :2], material="m")
    with pytest.raises(osier.InputError, match="no material"):
        osier.ModelBuilder().add_rod("a", line, material="x").build()

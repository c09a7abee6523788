"""Runs on disk, pages and plots."""
import numpy as np
import pytest

import osier
from conftest import cable

PROBED = {
    "probes": [{"name": "tip", "vertex": "cable:end"}, {"name": "hand", "reaction": "hand"}],
    "output": {"sections": True},
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return osier.run(cable(**PROBED), tmp_path_factory.mktemp("runs") / "cable")


def test_a_run_is_what_stepping_gives(recorded):
    simulation = osier.Simulation(cable(**PROBED))
    simulation.step(100)
    assert len(recorded) == 11 and recorded.time[-1] == pytest.approx(0.1)
    assert np.array_equal(recorded.positions[-1], simulation.positions)
    assert np.array_equal(recorded["segment_force"][-1], simulation.sections["force"])
    assert recorded.probes["tip.y"][-1] == simulation.positions[-1, 1]
    assert recorded.probes["hand.fy"][-1] == pytest.approx(simulation.reaction("hand").force[1])
    assert recorded.stats["steps"] == 100 and recorded.scene["rods"][0]["name"] == "cable"


def test_series_are_read_when_they_are_asked_for(recorded):
    again = osier.read(recorded.folder)
    assert not isinstance(again.positions, np.ndarray) and again.positions.shape == (11, 21, 3)
    assert again.positions[3].shape == (21, 3)
    assert again.rods["cable"].tolist() == list(range(21))
    assert again.energies["total"] == pytest.approx(
        sum(again.energies[k] for k in ("kinetic", "stretch_shear", "bend_twist", "external"))
    )
    assert np.allclose(again.diagnostics["kinetic"], again.energies["kinetic"])
    with pytest.raises(KeyError, match="position"):
        again["positon"]
    with pytest.raises(FileNotFoundError):
        osier.read(recorded.folder / "nowhere")


def test_a_run_that_fails_says_so_and_keeps_its_frames(tmp_path):
    force = {"type": "force", "vertices": "cable:end", "force": {"keys": [[0.02, [0, 0, 0]], [0.05, [1e300, 1e300, 0]]]}}
    with pytest.raises(osier.RunError, match="frames kept"):
        osier.run(cable(forces=[force]), tmp_path / "bad")
    assert 1 < len(osier.read(tmp_path / "bad")) < 11


def test_progress_is_counted(recorded, tmp_path, capsys):
    pytest.importorskip("tqdm")
    osier.run(cable(), tmp_path / "a", progress=True)
    osier.Simulation(cable()).run(2, progress=True)
    said = capsys.readouterr().err
    assert "10/10" in said and "2/2" in said


def test_plots_show_probes_and_energies(recorded):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = recorded.plot("tip")
    assert {line.get_label() for line in axes.lines} >= {"tip.x", "tip.y", "tip.z"}
    assert np.array_equal(axes.lines[1].get_ydata(), recorded.probes["tip.y"])
    energies = recorded.plot("energies")
    assert energies.get_ylabel() == "energy [J]" and len(energies.lines) == 5
    with pytest.raises(KeyError, match="tip.x"):
        recorded.plot("top")
    simulation = osier.Simulation(cable())
    assert np.array_equal(simulation.plot().lines[0].get_xdata(), simulation.positions[:, 0])


def test_runs_and_simulations_show_themselves(recorded, tmp_path):
    simulation = osier.Simulation(cable())
    try:
        recorded.html(tmp_path / "run.html")
    except osier.InputError as error:
        assert "viewer" in str(error)
        pytest.skip("built without the viewer's page")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "osier-recording" in page
    for shown in (recorded._repr_html_(), simulation._repr_html_()):
        assert shown.startswith("<iframe") and "osier-recording" in shown and shown.count("<iframe") == 1
    simulation.run(3, record=tmp_path / "now.html")
    assert (tmp_path / "now.html").stat().st_size > 1000


def test_simulations_record_in_every_format(tmp_path):
    simulation = osier.Simulation(cable())
    simulation.run(3, record=tmp_path / "cable.npz")
    with np.load(tmp_path / "cable.npz") as arrays:
        assert np.array_equal(arrays["position"][-1], simulation.positions)
    with pytest.raises(osier.InputError, match="format"):
        simulation.run(1, record=tmp_path / "cable.xyz")

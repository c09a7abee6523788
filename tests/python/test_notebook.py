"""What a notebook shows, in a real kernel: players, bars, plots."""
import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SCENE = """
import osier
cable = {
    "materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.005}},
    "rods": [{"name": "cable", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 20, "material": "m"}],
    "constraints": [{"type": "clamp", "name": "hand", "vertices": "cable:start"}],
    "forces": [{"type": "gravity"}, {"type": "drag", "rate": 2}],
    "probes": [{"name": "tip", "vertex": "cable:end"}],
    "analysis": {"type": "dynamic", "step": 0.001, "duration": 0.1, "steps_per_frame": 10},
}
simulation = osier.Simulation(cable)
"""
CELLS = [SCENE, "simulation", "run = osier.run(cable, 'out', progress=True)", "run", "run.plot('tip');", "run.plot('energies');", "simulation.plot();",
         "print(type(run.positions).__name__, run.positions[-1].shape)"]


def shown(cell, kind):
    return [o["data"][kind] for o in cell.outputs if kind in o.get("data", {})]


def test_a_notebook_shows_simulations_runs_bars_and_plots(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%matplotlib inline"))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    _, _, simulation, bar, run, tip, energies, rods, lazy = notebook.cells
    for cell in (simulation, run):
        try:
            (page,) = shown(cell, "text/html")
        except ValueError:
            assert "viewer" in str(cell.outputs)
            pytest.skip("built without the viewer's page")
        assert page.startswith("<iframe") and "osier-recording" in page
    said = "".join(o.get("text", "") for o in bar.outputs) + "".join(shown(bar, "text/plain"))
    assert "10/10" in said
    for cell in (tip, energies, rods):
        assert len(shown(cell, "image/png")) == 1
    assert "Dataset (21, 3)" in lazy.outputs[0]["text"]

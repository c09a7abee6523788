"""Parameter studies by the package alone, without the program."""
import os
import subprocess
import sys

import numpy as np
import pytest

import osier
from conftest import cable
from osier.sweep import merge, sweep, write_slurm

YOUNG = "/materials/m/young"


def beam():
    return cable(analysis={"type": "static"}, forces=[{"type": "gravity"}], probes=[{"name": "tip", "vertex": "cable:end"}])


def test_a_study_of_a_dict_is_what_single_runs_give(tmp_path):
    table = sweep(beam(), {YOUNG: [1e6, 4e6], "/rods/0/segments": [10, 20]}, out=tmp_path / "study", sets={"/materials/m/radius": 0.006})
    assert len(table) == 4 and not table.failed
    assert table[YOUNG] == [1e6, 1e6, 4e6, 4e6]
    for i in range(4):
        alone = osier.Simulation(
            beam(), set={YOUNG: table[YOUNG][i], "/rods/0/segments": int(table["/rods/0/segments"][i]), "/materials/m/radius": 0.006}
        )
        alone.step()
        assert table["tip.y"][i] == pytest.approx(alone.positions[-1, 1], abs=1e-12)
    again = sweep(beam(), {YOUNG: [1e6, 4e6], "/rods/0/segments": [10, 20]}, out=tmp_path / "study", sets={"/materials/m/radius": 0.006})
    assert again["tip.y"] == table["tip.y"]
    with pytest.raises(osier.InputError, match="another sweep"):
        sweep(beam(), {YOUNG: [1e6, 5e6]}, out=tmp_path / "study")


def test_failures_are_rows_and_mistakes_raise(tmp_path):
    table = sweep(beam(), {YOUNG: [1e6, -1.0]}, out=tmp_path / "study")
    assert list(table.failed) == [1] and "young" in table.failed[1] and np.isnan(table["tip.y"][1])
    with pytest.raises(osier.InputError, match="yuong"):
        sweep(beam(), {"/materials/m/yuong": (1e6, 2e6, 3)}, out=tmp_path / "other")


def test_a_hypercube_in_slurm_parts_is_the_whole(tmp_path):
    vary = {YOUNG: (1e6, 1e7)}
    whole = sweep(beam(), vary, out=tmp_path / "whole", sample="lhs", samples=12, seed=7)
    script = write_slurm(beam(), vary, out=tmp_path / "slurm", parts=3, sample="lhs", samples=12, seed=7)
    for task in (2, 0, 1):
        subprocess.run(["sh", script], env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}, cwd="/", check=True)
    assert merge(tmp_path / "slurm")["tip.y"] == whole["tip.y"]
    words = [sys.executable, "-m", "osier.sweep", tmp_path / "slurm/scene.json", "--vary", YOUNG + "=1e6,2e6", "-o", tmp_path / "cli"]
    assert "2 runs, 0 failed" in subprocess.run(words, capture_output=True, text=True, check=True).stdout

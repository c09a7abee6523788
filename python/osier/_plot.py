"""Pictures with matplotlib."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def _axes(axes: Any, **kwargs: Any) -> Any:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
    return plt.subplots(**kwargs)[1]


def plot_rods(simulation: Any, axes: Any, plane: Sequence[int]) -> Any:
    axes = _axes(axes)
    a, b = plane
    x = simulation.positions
    for name, vertices in simulation.scene.rods.items():
        axes.plot(x[vertices, a], x[vertices, b], label=name)
    axes.set_aspect("equal")
    axes.set_xlabel(f"{'xyz'[a]} [m]")
    axes.set_ylabel(f"{'xyz'[b]} [m]")
    axes.set_title(f"{simulation.scene.name}, {simulation.time:.4g} s")
    if 1 < len(simulation.scene.rods) <= 8:
        axes.legend()
    return axes


def _columns(run: Any, what: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name -> (time, value) of everything that is asked for."""
    if what is None:
        what = [name for name in run.probes if name not in ("time", "load_factor")] or "energies"
    found = {}
    for item in [what] if isinstance(what, str) else what:
        if item == "energies":
            found.update({name: (run.time, value) for name, value in run.energies.items()})
            continue
        for table in (run.probes, run.diagnostics):
            names = [n for n in table if n == item or n.startswith(item + ".")]
            found.update({n: (table["time"], table[n]) for n in names})
            if names:
                break
        else:
            known = [n for table in (run.probes, run.diagnostics) for n in table]
            raise KeyError(f"{item!r} is no column; there is energies, {', '.join(known)}")
    return found


def plot_run(run: Any, what: Any, axes: Any) -> Any:
    axes = _axes(axes)
    columns = _columns(run, what)
    for name, (time, value) in columns.items():
        axes.plot(time, value, label=name)
    axes.set_xlabel("time [s]")
    if set(columns) <= {"kinetic", "stretch_shear", "bend_twist", "external", "total"}:
        axes.set_ylabel("energy [J]")
    axes.set_title(run.name)
    axes.legend()
    return axes

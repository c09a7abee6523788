"""Runs on disk: making them, and reading them lazily."""
from __future__ import annotations

import csv
import json
import os
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import _core
from ._html import inline_player
from ._progress import bar
from ._scene import SceneLike, compile_scene


class Run:
    """A recorded run. Series are read from the file when they are indexed: `run.positions[-1]` reads one frame.

    path: the folder of a run, or its trajectory.h5.
    """

    def __init__(self, path: str | os.PathLike[str], stats: Mapping[str, Any] | None = None):
        import h5py

        path = Path(path)
        self.file = path / "trajectory.h5" if path.is_dir() else path
        if not self.file.exists():
            raise FileNotFoundError(f"{path}: there is no run (trajectory.h5)")
        #: where the run lies
        self.folder = self.file.parent
        #: what the run did, as `osier run --stats` writes it; empty for a run that was made elsewhere
        self.stats = dict(stats or {})
        self._h5 = h5py.File(self.file, "r")
        if self._h5.attrs.get("format") != "osier-trajectory":
            raise ValueError(f"{self.file} is no trajectory of Osier")

    def close(self) -> None:
        self._h5.close()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        """Whole frames, the initial one included."""
        return len(self._h5["time"])

    @property
    def name(self) -> str:
        return self._h5.attrs["name"]

    @cached_property
    def scene(self) -> dict[str, Any]:
        """The scene that was run, overrides included."""
        return json.loads(self._h5["scene"].asstr()[()])

    @property
    def time(self) -> np.ndarray:
        """Times of frames [s]."""
        return self._h5["time"][:]

    def __getitem__(self, name: str) -> Any:
        """Any dataset of trajectory.h5 (docs/output.md), not read yet: `run["segment_force"]`, `run["topology/mass"]`."""
        if name not in self._h5:
            known = ", ".join(k for k in self._h5 if k != "topology")
            raise KeyError(f"{name!r} is not in this run; it has {known}")
        return self._h5[name]

    def __contains__(self, name: str) -> bool:
        return name in self._h5

    @property
    def positions(self) -> Any:
        """(F, V, 3) [m], not read yet."""
        return self["position"]

    @property
    def velocities(self) -> Any:
        """(F, V, 3) [m/s], not read yet."""
        return self["velocity"]

    @property
    def frames(self) -> Any:
        """Material frames of segments, (F, S, 4), quaternions x, y, z, w, not read yet."""
        return self["frame"]

    @property
    def energies(self) -> dict[str, np.ndarray]:
        """Kinetic, stretch_shear, bend_twist, external and total energy of every frame [J]."""
        table = self["energy"][: len(self)]
        named = dict(zip(("kinetic", "stretch_shear", "bend_twist", "external"), table.T))
        return {**named, "total": table.sum(axis=1)}

    @cached_property
    def rods(self) -> dict[str, np.ndarray]:
        """The vertices of every rod, in order, by its name."""
        names = self._h5["topology/rod_names"].asstr()[:]
        start, vertices = self._h5["topology/rod_start"][:], self._h5["topology/rod_vertices"][:]
        return {n: vertices[a:b] for n, a, b in zip(names, start, start[1:])}

    def contacts(self, frame: int) -> dict[str, np.ndarray]:
        """What touched in a frame: `segments`, `position`, `gap`, `normal_force`, `friction_force`. Needs /output/contacts."""
        first, count = (int(self["contacts/" + key][frame]) for key in ("start", "count"))
        group = self["contacts"]
        return {key: group[key][first : first + count] for key in group if key not in ("start", "count")}

    def _table(self, file: str) -> dict[str, np.ndarray]:
        path = self.folder / file
        if not path.exists():
            return {}
        with open(path, newline="", encoding="utf-8") as lines:
            rows = csv.reader(lines)
            head = next(rows)
            table = [[float(x) for x in row] for row in rows if len(row) == len(head)]  # the last line may be cut short
        return {name: column for name, column in zip(head, np.array(table).reshape(-1, len(head)).T)}

    @cached_property
    def probes(self) -> dict[str, np.ndarray]:
        """Columns of probes.csv by name: `run.probes["tip.y"]`, `run.probes["time"]`."""
        return self._table("probes.csv")

    @cached_property
    def diagnostics(self) -> dict[str, np.ndarray]:
        """Columns of diagnostics.csv by name."""
        return self._table("diagnostics.csv")

    def plot(self, what: Any = None, axes: Any = None) -> Any:
        """Draws probes or energies over time with matplotlib: "energies", the name of a column or of a probe, or a list of
        these; probes when there are some, otherwise energies, when left out. Returns the axes."""
        from ._plot import plot_run

        return plot_run(self, what, axes)

    def html(self, file: str | os.PathLike[str]) -> None:
        """Writes one page that plays the run and needs nothing else."""
        _core._write_html(os.fspath(self.file), os.fspath(file))

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.html")
            self.html(file)
            return inline_player(file)

    def __repr__(self) -> str:
        return f"<osier.Run {self.name!r}: {len(self)} frames, {self.time[-1]:.6g} s, in {self.folder}>"


def read(path: str | os.PathLike[str]) -> Run:
    """A recorded run: its folder, or a trajectory.h5."""
    return Run(path)


def run(
    scene: SceneLike,
    folder: str | os.PathLike[str] | None = None,
    *,
    frames: int | None = None,
    html: str | os.PathLike[str] | None = None,
    certify: bool = False,
    progress: bool = False,
    **options: Any,
) -> Run:
    """Runs a scene into a folder, as `osier run` does, and reads the result.

    folder: `out/<name of the scene>` when left out. frames: instead of the scene's. html: also write a page that plays it.
    certify: watch every step, see docs/contact.md. progress: show a bar (tqdm). Other arguments as for `osier.compile`.

    Raises RunError when the run fails; frames until then are in the folder. What is to be said of convergence is in
    `.stats["remarks"]` of the result.
    """
    compiled = compile_scene(scene, **options)
    folder = Path("out") / compiled.name if folder is None else Path(folder)
    line = bar(0, compiled.name) if progress else None

    def count(frame: int, total: int, _: float) -> None:
        line.total = total
        line.update(frame - line.n)

    try:
        stats = json.loads(
            _core._run(
                compiled,
                os.fspath(folder),
                -1 if frames is None else frames,
                certify,
                None if html is None else os.fspath(html),
                count if line is not None else None,
            )
        )
    finally:
        if line is not None:
            line.close()
    if stats.get("error"):
        from ._errors import CertificateError, NonFiniteError, RunError

        certificate = stats.get("certificate") or {}
        kind = CertificateError if certificate.get("failure") else NonFiniteError if stats.get("non_finite") else RunError
        raise kind(f"{stats['error']} ({stats['frames'] + 1} frames kept in {folder})")
    return Run(folder, stats)

"""Simulations that are stepped, watched and led while they run."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Mapping, NamedTuple, Sequence, Union

import numpy as np

from . import _core
from ._html import inline_player
from ._part import to_json
from ._progress import counted
from ._scene import SceneLike, compile_scene


class Pose(NamedTuple):
    """Place of a centre [m], and turn since the start, a quaternion x, y, z, w in world axes."""

    position: np.ndarray
    rotation: np.ndarray


class Wrench(NamedTuple):
    """Force [N] and moment [N m]."""

    force: np.ndarray
    moment: np.ndarray


Target = Union[int, str]


class Simulation(_core.Simulation):
    """A simulation of a scene.

    scene: a file, a dict of the scene language, an `osier.Scene`, or a compiled one.
    reactions: measure what constraints exert after every step; a scene with a probe of a reaction does anyway.
    Other arguments as for `osier.compile`.

    Arrays of the state (`positions`, `velocities`, `frames`) are read-only views that follow the simulation and cost nothing, and
    `reactions` follows it likewise; copy what is to stay as it is. `sections` are measured when they are read, into the same
    arrays each time; `contacts` are new arrays each time, as their number changes.
    """

    def __init__(self, scene: SceneLike, *, reactions: bool = False, **options: Any):
        compiled = compile_scene(scene, **options)
        super().__init__(compiled)
        self._prepare(compiled)
        if reactions or self._has_reactions:
            self._feel()

    def _feel(self) -> None:
        self._measure_reactions(len(self._constraints))
        self._has_reactions = True

    def _prepare(self, compiled: _core.CompiledScene) -> None:
        #: the scene as it was compiled
        self.scene = compiled
        self._constraints = {name: i for i, name in enumerate(compiled.constraint_names)}
        self._obstacles = {name: i for i, name in enumerate(compiled.obstacle_names)}
        self._callbacks: list[Callable[[Simulation], Any]] = []
        self._has_reactions = '"reaction"' in compiled.json

    # Stepping

    def on_step(self, callback: Callable[["Simulation"], Any]) -> Callable[["Simulation"], Any]:
        """Calls `callback(simulation)` after every step of `run` and `steps`. Also as a decorator."""
        self._callbacks.append(callback)
        return callback

    def steps(self, count: int) -> _core.StepReport:
        """So many steps, with callbacks after each."""
        report = self.last_report
        if not self._callbacks:
            return self.step(count)
        for _ in range(count):
            report = self.step()
            for callback in self._callbacks:
                callback(self)
        return report

    def run(
        self,
        frames: int | None = None,
        *,
        record: str | os.PathLike[str] | None = None,
        on_frame: Callable[["Simulation"], Any] | None = None,
        progress: bool = False,
    ) -> "Simulation":
        """Goes on for so many frames, by default as many as the scene has.

        record: also write them to this file: .html plays them, .usda, .npz, .glb and others as for `osier convert`.
        on_frame: is called with the simulation after every frame. progress: show a bar (tqdm).
        """
        recorder = _core.Recorder(self.scene, self, os.fspath(record)) if record is not None else None
        if recorder:
            recorder.write(self)
        total = self.frame_count if frames is None else frames
        try:
            for _ in counted(range(total), progress, self.scene.name):
                if self.finished:
                    break
                self.steps(self.steps_per_frame)
                if recorder:
                    recorder.write(self)
                if on_frame:
                    on_frame(self)
        finally:
            if recorder:
                recorder.end()
        return self

    # Copies

    def copy(self) -> "Simulation":
        """Another simulation that stands where this one does, and goes on by itself: to try something out. No callbacks."""
        other = Simulation.__new__(type(self))
        _core.Simulation.__init__(other, self)
        other._prepare(self.scene)
        if self._has_reactions:
            other._feel()
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Simulation":
        return self.copy()

    def save(self, file: str | os.PathLike[str] | None = None) -> bytes:
        """Everything that the next steps depend on, what was led or set included, as bytes for `restore`; with `file` they are also
        written there. They belong to this version of osier and this kind of processor."""
        saved = self._save_bytes()
        if file is not None:
            Path(file).write_bytes(saved)
        return saved

    def restore(self, saved: "Simulation | bytes | str | os.PathLike[str]") -> None:
        """Goes back, or on, to what `save` returned, to a file that it wrote, or to where another simulation stands. The next steps
        are the same, to the last bit. What was saved after `set` of anything but a force belongs to the changed scene
        (`scene_json`)."""
        if isinstance(saved, Simulation):
            self._restore(saved)
        else:
            self._restore_bytes(saved if isinstance(saved, bytes) else Path(saved).read_bytes())

    def __getstate__(self) -> Any:
        raise TypeError("a Simulation is not pickled; send its scene_json and save() to the other process")

    def set_state(self, *, positions: Any = None, velocities: Any = None, frames: Any = None) -> None:
        """Puts other numbers into the state; frames are those of `frames`, and do not follow positions by themselves."""

        def array(value: Any) -> Any:
            return None if value is None else np.ascontiguousarray(value, dtype=np.float64)

        self._set_state(array(positions), array(velocities), array(frames))

    # Leading

    def _number(self, target: Target, names: Mapping[str, int], what: str) -> int:
        if isinstance(target, str):
            if target not in names:
                raise KeyError(f"there is no {what} {target!r}; there is {', '.join(names) or 'none'}")
            return names[target]
        if not 0 <= target < len(names):
            raise IndexError(f"there is no {what} {target}; there are {len(names)}")
        return target

    def _body(self, name: Target) -> tuple[int, bool]:
        if isinstance(name, str) and name in self._obstacles:
            return self._obstacles[name], True
        return self._number(name, self._constraints, "constraint or obstacle"), False

    def pose(self, name: Target) -> Pose:
        """Where a constraint or an obstacle is. The centre of a constraint is the middle of the vertices that it holds."""
        i, is_obstacle = self._body(name)
        x, q = self._obstacle_pose(i) if is_obstacle else self._constraint_pose(i)
        return Pose(np.array(x), np.array(q))

    def set_pose(self, name: Target, position: Any = None, rotation: Any = None, *, seconds: float = 0.0) -> None:
        """Leads a constraint or an obstacle to a pose, which it has at the end of the next step, or after so many seconds.

        name: of a constraint or obstacle, or the number of a constraint.
        position: of its centre [m]; rotation: x, y, z, w, its turn since the start. What is left out stays as it is.

        It moves along a straight line and by the shorter turn, and then rests. Where contact cannot give way in time, the
        motion is held back (`last_report.held_back`).
        """
        i, is_obstacle = self._body(name)
        if position is None or rotation is None:
            x, q = self._obstacle_pose(i) if is_obstacle else self._constraint_pose(i)
            position = x if position is None else position
            rotation = q if rotation is None else rotation
        lead = self._lead_obstacle if is_obstacle else self._lead_constraint
        lead(i, np.asarray(position, dtype=np.float64), np.asarray(rotation, dtype=np.float64), seconds)

    def set_motor(self, name: Target, value: float) -> None:
        """The speed [rad/s] of a motor that has one in the scene, or the torque [N m] of one that has a torque."""
        self._drive_motor(self._number(name, self._constraints, "constraint"), value)

    def release(self, name: Target) -> None:
        """A constraint lets go at the start of the next step."""
        self._release(self._number(name, self._constraints, "constraint"))

    def enable_force(self, index: int, on: bool = True) -> None:
        """Force number `index` of the scene acts, or not."""
        self._enable_force(index, on)

    def set(self, pointer: str, value: Any) -> None:
        """Any value of the scene by its JSON pointer: `set("/forces/0/acceleration", [0, 0, -9.81])`.

        Values of forces cost microseconds. Anything else (materials, friction, solver, step) compiles the scene again and goes
        on in it. Raises InputError, with nothing changed, where that makes other rods or another graph.
        """
        self._set(pointer, to_json(value))

    # Feeling

    def reaction(self, name: Target, *, material_axes: bool = False) -> Wrench:
        """What a constraint exerts on the rods in the last step, inertia and damping included, moments about the middle of the
        vertices that it holds. The gripper feels the opposite. NaN before the first step."""
        if not self._has_reactions:
            raise RuntimeError("reactions are not measured; use Simulation(scene, reactions=True)")
        force, moment = self._reaction(self._number(name, self._constraints, "constraint"), material_axes)
        return Wrench(np.array(force), np.array(moment))

    @property
    def reactions(self) -> np.ndarray:
        """What every constraint exerts on the rods, (C, 2, 3): force [N] and moment [N m], as in `reaction`. A view that follows the
        simulation: it holds what the last step of every call of `step` leaves."""
        if not self._has_reactions:
            raise RuntimeError("reactions are not measured; use Simulation(scene, reactions=True)")
        return self._reactions

    def load_on(self, name: Target) -> Wrench:
        """What rods exerted on an obstacle in the last step, moments about its centre."""
        force, moment = self._load_on(self._number(name, self._obstacles, "obstacle"))
        return Wrench(np.array(force), np.array(moment))

    def rod(self, name: str) -> np.ndarray:
        """The vertices of a rod, in order: `simulation.positions[simulation.rod("cable")]`."""
        return self.scene.rods[name]

    # Showing

    def __repr__(self) -> str:
        return f"<osier.Simulation of {self.scene.name!r} at {self.time:.6g} s: {self.scene.vertex_count} vertices>"

    def _repr_html_(self) -> str:
        """The rods as they are now, to turn about."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "now.html")
            recorder = _core.Recorder(self.scene, self, file)
            recorder.write(self)
            recorder.end()
            return inline_player(file)

    def plot(self, axes: Any = None, *, plane: Sequence[int] = (0, 1)) -> Any:
        """Draws the rods with matplotlib, seen along the axis that `plane` leaves out. Returns the axes."""
        from ._plot import plot_rods

        return plot_rods(self, axes, plane)

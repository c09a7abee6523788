"""Scenes put together by a program: rods from numpy arrays, the rest as in the scene language."""
from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np

from . import _core
from ._part import Part, to_json
from ._scene import plain_scene


class ModelBuilder:
    """Collects a scene.

        builder = osier.ModelBuilder()
        builder.add_material("steel", young=2e11, density=7850, radius=1e-3)
        builder.add_rod("wire", points, material="steel")
        builder.add("constraints", osier.scene.Clamp(vertices="wire:start"))
        scene = builder.build()

    scene: what to begin with, as for `osier.compile`. Problems have the places that they would have in a scene file: the third
    rod is /rods/2.
    """

    def __init__(self, scene: str | os.PathLike[str] | Mapping[str, Any] | Part | None = None):
        if isinstance(scene, (str, os.PathLike)):
            scene = plain_scene(scene)
        self._core = _core.ModelBuilder("" if scene is None else to_json(scene))

    def add_rod(
        self,
        name: str,
        points: Any,
        *,
        material: str,
        pose: Any = None,
        scale: Any = None,
        closed: bool = False,
        up: Any = None,
        velocity: Any = None,
    ) -> "ModelBuilder":
        """A rod with a vertex at each of the points.

        points: (n, 3), the shape at rest [m]; a closed rod does not repeat its first point.
        pose: (n, 3), where the vertices are at the start, when that is somewhere else.
        scale: one number for each segment: the linear size of its section, as a multiple of the material's.
        up: direction near which d1 of the first segment points. velocity: of all of it at the start [m/s].
        """

        def array(value: Any) -> Any:
            return None if value is None else np.ascontiguousarray(value, dtype=np.float64)

        self._core._add_rod(name, array(points), material, closed, array(pose), array(scale), array(up), array(velocity))
        return self

    def add_material(self, name: str, **values: Any) -> "ModelBuilder":
        """A material by the keys of the scene language: young, poisson, density, radius, friction, ... (docs/materials.md)."""
        return self.set("/materials/" + name.replace("~", "~0").replace("/", "~1"), values)

    def add(self, key: str, item: Any) -> "ModelBuilder":
        """Adds to one of the lists of a scene: "constraints", "forces", "obstacles", "welds", "probes", ..."""
        self._core._add(key, to_json(item))
        return self

    def set(self, pointer: str, value: Any) -> "ModelBuilder":
        """Any other value by its JSON pointer: `set("/analysis", osier.scene.Dynamic(step=1e-3, duration=2))`."""
        self._core._set(pointer, to_json(value))
        return self

    @property
    def json(self) -> str:
        """The scene so far, as the text of a scene file."""
        return self._core.json

    def build(self, name: str = "scene", **options: Any) -> _core.CompiledScene:
        """Checks and compiles. Options as for `osier.compile`: solver, set, threads, precision, simd."""
        overrides = options.pop("set", {})
        options["overrides"] = [f"{pointer}={to_json(value)}" for pointer, value in overrides.items()]
        return self._core._build(name, **options)

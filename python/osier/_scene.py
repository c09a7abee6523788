"""Scenes in whatever form they come, compiled."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping, Union

from . import _core
from ._part import Part, to_json

SceneLike = Union[str, "os.PathLike[str]", Mapping[str, Any], Part, _core.CompiledScene]


def plain_scene(file: str | os.PathLike[str]) -> dict[str, Any]:
    """A scene file as a dict, comments left out."""
    with open(file, encoding="utf-8") as text:
        return json.loads(_core.ModelBuilder(text.read()).json)


def compile_scene(
    scene: SceneLike,
    *,
    name: str | None = None,
    folder: str | os.PathLike[str] = ".",
    solver: str = "",
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    precision: str = "",
    simd: str = "",
) -> _core.CompiledScene:
    """Checks a scene and compiles it.

    scene: a file, a dict of the scene language, an `osier.Scene`, or one that is compiled already.
    folder: where relative file names in a dict start; for a file it is the file's own folder.
    set: values by their JSON pointers, as {"/analysis/step": 0.002}; they replace what the scene says.
    solver, threads, precision, simd: as on the command line.

    Raises InputError with every problem found. Warnings are in `.warnings` of the result.
    """
    if isinstance(scene, _core.CompiledScene):
        if solver or set or threads is not None or precision or simd:
            raise TypeError("this scene is compiled already; give `set` and the like when it is compiled")
        return scene
    options = {
        "solver": solver,
        "overrides": [f"{pointer}={to_json(value)}" for pointer, value in (set or {}).items()],
        "threads": threads,
        "precision": precision,
        "simd": simd,
    }
    if isinstance(scene, (str, os.PathLike)):
        return _core.CompiledScene.load(os.fspath(scene), **options)
    if isinstance(scene, (Mapping, Part)):
        return _core.CompiledScene.parse(to_json(scene), name=name or "scene", folder=os.fspath(folder), **options)
    raise TypeError(f"a scene is a file name, a dict or an osier.Scene, not {type(scene).__name__}")

"""Osier: elastic rods (hair, yarn, cables, springs), statics and dynamics with contact.

    import osier

    simulation = osier.Simulation("scenes/cantilever.json")
    simulation.step(100)
    print(simulation.positions[-1])
"""
from . import scene
from ._builder import ModelBuilder
from ._core import CompiledScene, StepReport, __version__, scene_schema
from ._errors import CertificateError, InputError, NonFiniteError, Problem, RunError
from ._run import Run, read, run
from ._scene import compile_scene as compile
from ._simulation import Pose, Simulation, Wrench
from .scene import Scene

__all__ = [
    "CertificateError",
    "CompiledScene",
    "InputError",
    "ModelBuilder",
    "NonFiniteError",
    "Pose",
    "Problem",
    "Run",
    "RunError",
    "Scene",
    "Simulation",
    "StepReport",
    "Wrench",
    "__version__",
    "compile",
    "read",
    "run",
    "scene",
    "scene_schema",
]

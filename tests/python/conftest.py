import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "examples"))


@pytest.fixture
def root():
    return ROOT


def cable(segments=20, **changes):
    """A cable that is clamped at one end and hangs in gravity."""
    scene = {
        "materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.005}},
        "rods": [
            {
                "name": "cable",
                "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]},
                "segments": segments,
                "material": "m",
            }
        ],
        "constraints": [{"type": "clamp", "name": "hand", "vertices": "cable:start"}],
        "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}, {"type": "drag", "rate": 2}],
        "analysis": {"type": "dynamic", "step": 0.001, "duration": 0.1, "steps_per_frame": 10},
    }
    scene.update(changes)
    return scene

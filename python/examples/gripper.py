"""Two simulators that talk to each other a thousand times a second: a robot's hand, here a mass on three axes with a controller,
holds the end of a cable that Osier simulates. The hand moves the cable and feels its wrench.

    python python/examples/gripper.py

The place of the hand stands for MuJoCo, Drake or a robot's own interface: each step it is told a force and tells a pose.
"""
from __future__ import annotations

import numpy as np

import osier

STEP = 1e-3
GRAVITY = np.array([0.0, -9.81, 0.0])


def cable_scene(length: float = 0.8, segments: int = 100) -> osier.Scene:
    """A rubber cable that hangs from a hand."""
    s = osier.scene
    return osier.Scene(
        name="cable in a hand",
        materials={"rubber": s.Material(young=5e6, density=1200, radius=4e-3, tau_bend=0.02)},
        rods=[
            s.Rod(
                name="cable",
                shape=s.ShapeLine(from_=[0, 0, 0], to=[0, -length, 0]),
                segments=segments,
                material="rubber",
            )
        ],
        constraints=[s.Clamp(name="hand", vertices="cable:start")],
        forces=[s.Gravity(acceleration=GRAVITY), s.Drag(rate=2)],
        analysis=s.Dynamic(step=STEP, duration=10, steps_per_frame=20),
    )


class Hand:
    """A mass that a controller moves, and that the cable pulls at."""

    def __init__(self, mass: float = 0.5, most_force: float = 60.0):
        self.mass, self.most_force = mass, most_force
        self.position, self.velocity = np.zeros(3), np.zeros(3)
        self.target = np.zeros(3)
        self.actuator = np.zeros(3)
        # The integral part finds the weight of hand and cable by itself.
        self._sum = np.zeros(3)

    def step(self, pull: np.ndarray, h: float) -> np.ndarray:
        """`pull`: what the cable exerts on the hand [N]. Returns where the hand is h later."""
        error = self.target - self.position
        self._sum += h * error
        wanted = 900 * error - 55 * self.velocity + 2500 * self._sum
        self.actuator = np.clip(wanted, -self.most_force, self.most_force)
        self.velocity = self.velocity + h / self.mass * (self.actuator + self.mass * GRAVITY + pull)
        self.position = self.position + h * self.velocity
        return self.position


def carry(seconds: float = 4.0) -> dict[str, np.ndarray]:
    """The hand carries the cable 30 cm aside and waits. Returns what it did and felt, step by step."""
    simulation = osier.Simulation(cable_scene(), reactions=True)
    hand = Hand()
    hand.target = np.array([0.3, 0.0, 0.0])
    pull = np.zeros(3)
    log: dict[str, list] = {"time": [], "position": [], "pull": [], "actuator": [], "tip": []}
    for _ in range(round(seconds / STEP)):
        simulation.set_pose("hand", hand.step(pull, STEP))
        simulation.step()
        pull = -simulation.reaction("hand").force  # what the hand feels is the opposite of what it exerts
        log["time"].append(simulation.time)
        log["position"].append(hand.position)
        log["pull"].append(pull)
        log["actuator"].append(hand.actuator)
        log["tip"].append(simulation.positions[-1].copy())
    result = {key: np.array(value) for key, value in log.items()}
    result["weight"] = simulation.scene.masses.sum() * GRAVITY
    return result


if __name__ == "__main__":
    done = carry()
    print("the hand is at", done["position"][-1], "m, its target is 0.3 m aside")
    print("it feels      ", done["pull"][-1], "N")
    print("the cable weighs", done["weight"], "N")
    print("the largest pull on the way was", np.linalg.norm(done["pull"], axis=1).max(), "N")

"""A Gymnasium environment: a gripper holds a flexible cable by one end and is to put the other one into a socket.

    python python/examples/cable_insertion.py

The cable sags, touches the rim of the socket and slides into it with friction. Actions are velocities of the gripper, so an agent
has to find out how the tip follows. `follow_the_socket` is a policy that knows, to compare with.
"""
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

import osier

STEP = 2.5e-3
LENGTH, RADIUS = 0.16, 3e-3
DEPTH = 0.03
"""How far the tip has to be in the socket [m]."""


def insertion_scene(offset: np.ndarray) -> dict[str, Any]:
    """The mouth of the socket is `offset` away from where the tip would be if the cable were straight and touched it."""
    s = osier.scene
    mouth = np.array([LENGTH + 0.03, 0.0, 0.0]) + offset
    return osier.Scene(
        name="cable insertion",
        materials={"cable": s.Material(young=2e7, density=1300, radius=RADIUS, tau_bend=0.01, friction=0.2)},
        rods=[
            s.Rod(name="cable", shape=s.ShapeLine(from_=[0, 0, 0], to=[LENGTH, 0, 0]), segments=16, material="cable"),
        ],
        contact=s.Contact(slip=0.05),
        obstacles=[
            s.Tube(name="socket", from_=mouth, to=mouth + [0.06, 0, 0], inner=6.5e-3, outer=1.5e-2, sides=16),
        ],
        constraints=[s.Clamp(name="hand", vertices="cable:start")],
        forces=[s.Gravity(acceleration=[0, -9.81, 0]), s.Drag(rate=8)],
        analysis=s.Dynamic(step=STEP, duration=10, steps_per_frame=8),
    ).to_dict()


class CableInsertion(gymnasium.Env):
    """Observation: tip of the cable and its direction, relative to the socket's mouth; the hand's place relative to the mouth; the
    force that the hand feels [N]. Action: velocity of the hand, each part between -1 and 1 times 0.15 m/s. Reward: progress of the
    tip towards the bottom of the socket [cm], less a price for pushing hard, and 10 when it is in."""

    metadata = {"render_modes": []}
    SUBSTEPS = 8
    SPEED = 0.15

    def __init__(self, most_steps: int = 150):
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (12,), np.float32)
        self._most_steps = most_steps

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        offset = self.np_random.uniform([0.0, -0.02, -0.02], [0.0, 0.02, 0.02])
        self.simulation = osier.Simulation(insertion_scene(offset), reactions=True)
        socket = self.simulation.pose("socket").position
        self._mouth = socket - [0.03, 0, 0]
        self._steps = 0
        self.simulation.step(self.SUBSTEPS)
        self._left = self._way()
        return self._observe(), {}

    def step(self, action: np.ndarray):
        velocity = self.SPEED * np.clip(np.asarray(action, dtype=np.float64), -1, 1)
        seconds = self.SUBSTEPS * STEP
        hand = self.simulation.pose("hand").position
        # The hand stays outside, where the cable can follow it.
        to = np.clip(hand + seconds * velocity, [-0.1, -0.1, -0.1], [0.12, 0.1, 0.1])
        self.simulation.set_pose("hand", to, seconds=seconds)
        try:
            self.simulation.step(self.SUBSTEPS)
        except osier.RunError:  # a state that cannot go on ends the episode, and is no success
            return self._observe(), -10.0, True, False, {"is_success": False}
        self._steps += 1
        left = self._way()
        force = np.linalg.norm(self.simulation.reaction("hand").force)
        reward = 100 * (self._left - left) - 0.01 * max(0.0, force - 2.0)
        self._left = left
        done = self.depth() > DEPTH
        return self._observe(), reward + 10.0 * done, done, self._steps >= self._most_steps, {"is_success": done}

    def depth(self) -> float:
        """How far the tip is in the socket [m]; negative outside."""
        tip = self.simulation.positions[-1] - self._mouth
        return float(tip[0]) if np.hypot(tip[1], tip[2]) < 6.5e-3 or tip[0] < 0 else 0.0

    def _way(self) -> float:
        return float(np.linalg.norm(self.simulation.positions[-1] - self._mouth - [DEPTH, 0, 0]))

    def _observe(self) -> np.ndarray:
        x = self.simulation.positions
        tip = x[-1] - self._mouth
        direction = (x[-1] - x[-2]) / np.linalg.norm(x[-1] - x[-2])
        hand = self.simulation.pose("hand").position - self._mouth
        force = -self.simulation.reaction("hand").force
        return np.concatenate([tip, direction, hand, force]).astype(np.float32)


def follow_the_socket(observation: np.ndarray) -> np.ndarray:
    """Brings the tip in front of the socket first, then in."""
    tip = observation[:3]
    across = np.array([0.0, tip[1], tip[2]])
    if tip[0] < -0.006 and np.linalg.norm(across) > 0.0015:  # outside and beside it
        aim = -across - [tip[0] + 0.015, 0, 0]
    else:
        aim = np.array([0.02, -0.5 * tip[1], -0.5 * tip[2]])
    return np.clip(aim / 0.02, -1, 1)


def main() -> None:
    env = CableInsertion()
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        total, done, late = 0.0, False, False
        while not (done or late):
            observation, reward, done, late, _ = env.step(follow_the_socket(observation))
            total += reward
        print(f"seed {seed}: {'in' if done else 'not in'} after {env.simulation.time:.2f} s, return {total:.1f}")


if __name__ == "__main__":
    main()

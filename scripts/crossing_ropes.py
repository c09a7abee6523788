#!/usr/bin/env python3
"""The references of scenes/validation/V25b.json: two ropes that cross at right angles, the upper one resting on the lower one.

Each rope is a planar elastica of length L with bending stiffness EI, one stiffness EA for stretching and shearing, and weight w
per length, pinned at both ends, loaded by half of the contact force P at either side of its middle (downwards on the lower rope,
upwards on the upper one):

    x' = cos t + Fx/EA,  y' = sin t + Fy/EA,  EI t' = M,  M' = sin t Fx - cos t Fy,  F = (H, w s - V),  V = w L/2 +- P/2

from the pin (s = 0: M = 0) to the middle (s = L/2: x = 0, t = 0). By shooting: t(0) and H for a given P, then P so that the
middles are two radii apart. Nothing of Osier is used.

    scripts/crossing_ropes.py            prints the references
    scripts/crossing_ropes.py --check scenes/validation/V25b.json
"""
import json
import math
import sys

STEPS = 400  # of the fourth-order Runge-Kutta rule, along half a rope


def shoot(rope, load, guess):
    """Points of half a rope, from the pin to the middle: its state at s = 0, L/STEPS/2, ... `load`: on its middle, downwards."""
    half, h = rope["L"] / 2, rope["L"] / 2 / STEPS

    def slope(s, state, force):
        _, _, t, moment = state
        fx, fy = force, rope["w"] * s - (rope["w"] * half + load / 2)
        c, sn = math.cos(t), math.sin(t)
        return (c + fx / rope["EA"], sn + fy / rope["EA"], moment / rope["EI"], sn * fx - c * fy)

    def run(angle, force):
        state, path = (-rope["a"], rope["y"], angle, 0.0), []
        path.append(state)
        for i in range(STEPS):
            s = i * h
            k1 = slope(s, state, force)
            k2 = slope(s + h / 2, [a + h / 2 * b for a, b in zip(state, k1)], force)
            k3 = slope(s + h / 2, [a + h / 2 * b for a, b in zip(state, k2)], force)
            k4 = slope(s + h, [a + h * b for a, b in zip(state, k3)], force)
            state = tuple(a + h / 6 * (p + 2 * q + 2 * r + u) for a, p, q, r, u in zip(state, k1, k2, k3, k4))
            path.append(state)
        return path

    def miss(angle, force):
        end = run(angle, force)[-1]
        return end[0] / rope["a"], end[2]

    def size(at):
        return math.hypot(*miss(*at))

    at = guess
    for _ in range(100):
        angle, force = at
        f, g = miss(angle, force)
        if abs(f) + abs(g) < 1e-13:
            return run(angle, force), at
        da, df = 1e-6, 1e-6 * max(1e-3, abs(force))
        fa, ga = miss(angle + da, force)
        fh, gh = miss(angle, force + df)
        j = [[(fa - f) / da, (fh - f) / df], [(ga - g) / da, (gh - g) / df]]
        det = j[0][0] * j[1][1] - j[0][1] * j[1][0]
        step = (-(j[1][1] * f - j[0][1] * g) / det, -(j[0][0] * g - j[1][0] * f) / det)
        share = 1.0
        while share > 1e-6 and size((angle + share * step[0], force + share * step[1])) >= size(at):
            share /= 2
        if share <= 1e-6:
            if size(at) < 1e-10:  # rounding
                return run(angle, force), at
            break
        at = (angle + share * step[0], force + share * step[1])
    raise RuntimeError("the shooting does not converge")


def solve(p):
    lower = {"L": p["L"], "a": p["a"], "y": 0.0, "EI": p["EI"], "EA": p["EA"], "w": p["mu"] * p["g"]}
    upper = dict(lower, y=-p["drop"])
    weight = lower["w"] * lower["L"]
    at = {"load": 0.0, "lower": (-0.7, 0.3 * weight), "upper": (-0.7, 0.3 * weight)}

    def gap(load):
        """Between the middles, less two radii; with both shapes. The load is approached from the last one in small steps."""
        steps = 1 + int(abs(load - at["load"]) / (0.05 * weight))
        for i in range(1, steps + 1):
            now = at["load"] + (load - at["load"]) * i / steps
            low, at["lower"] = shoot(lower, now, at["lower"])
            high, at["upper"] = shoot(upper, -now, at["upper"])
        at["load"] = load
        return high[-1][1] - low[-1][1] - 2 * p["radius"], low, high

    a, b = 0.0, 0.2 * weight
    fa, fb = gap(a)[0], gap(b)[0]
    for _ in range(60):
        if abs(b - a) < 1e-14 or fb == fa:
            break
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = gap(b)[0]
    _, low, high = gap(b)
    quarter = STEPS // 2
    return {"P": b,
            "lower_x": low[quarter][0], "lower_y": low[quarter][1], "lower_mid": low[-1][1],
            "upper_x": high[quarter][0], "upper_y": high[quarter][1], "upper_mid": high[-1][1]}


PARAMETERS = {"L": 1.0, "a": 0.45, "EI": 0.01, "EA": 10000.0, "mu": 0.05, "g": 9.81, "radius": 0.004, "drop": 0.01}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2]) as file:
            given = json.load(file)["parameters"]
        found = solve({name: given[name] for name in PARAMETERS})
        worst = max(abs(found[name] - given[name]) / abs(found[name]) for name in found)
        print("largest relative difference: %.3g" % worst)
        sys.exit(0 if worst < 1e-9 else 1)
    print(json.dumps(solve(PARAMETERS), indent=2))

#!/usr/bin/env python3
"""Writes scenes/data/dome.obj: a dome of wires, ribs and rings that share a point wherever they cross.

A modeller would export the same thing: one object for each wire, lines between numbered points. Centimetres, z up.
"""
import math
import pathlib
import sys

RIBS, RINGS, PER_BAY = 12, 6, 3  # PER_BAY: lines between two crossings
RADIUS, OPENING = 30, 12         # of the sphere, in cm; angle of the top ring from the pole, in degrees


def place(rib, ring):
    """Fractional numbers lie between ribs and rings; ring 0 is the top one, ring RINGS - 1 stands on the ground."""
    turn = 2 * math.pi * rib / RIBS
    polar = math.radians(OPENING + (90 - OPENING) * ring / (RINGS - 1))
    return (RADIUS * math.sin(polar) * math.cos(turn), RADIUS * math.sin(polar) * math.sin(turn), RADIUS * math.cos(polar))


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent / "scenes/data/dome.obj"
    number, points, lines = {}, [], []

    def point(rib, ring):
        key = (rib % RIBS, ring)
        if key not in number:
            number[key] = len(number) + 1
            points.append("v %.5f %.5f %.5f" % place(*key))
        return str(number[key])

    for rib in range(RIBS):
        steps = range((RINGS - 1) * PER_BAY + 1)
        lines += ["o rib%d" % rib, "l " + " ".join(point(rib, i / PER_BAY) for i in reversed(steps))]
    for ring in range(RINGS):
        steps = range(RIBS * PER_BAY + 1)
        lines += ["o ring%d" % ring, "l " + " ".join(point((i / PER_BAY) % RIBS, ring) for i in steps)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["# a dome of wires, in centimetres, z up"] + points + lines) + "\n")


main()

#!/usr/bin/env python3
"""Draws one frame of a trajectory.h5 as an SVG picture. Needs h5py and numpy, nothing else.

    scripts/picture.py out/bridge/trajectory.h5 -o bridge.svg --frame 120 --azimuth 35 --elevation 15

How it works: vertices are projected, segments are sorted into slices of equal depth, and the slices are painted from far to
near. Inside a slice the segments of one colour and width are chained into polylines and written as a single path, which keeps
files small. Far slices fade towards the background. y points up, as in the scenes that come with Osier.
"""
import argparse
import math
import re
import sys

import h5py
import numpy as np

PAPER = "#f7f4ec"
PALETTE = ["#2f6690", "#b5532b", "#4a7c3f", "#7a4e8f", "#a8852c", "#2b8c87", "#a53f5b", "#5b6470"]
FAR, NEAR = "#9fb6c4", "#12324a"  # --color depth
NEAR_ON_ANY = "#3b82b0"  # without a background: reads on white and on black


def read_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("trajectory", help="trajectory.h5 of a run")
    p.add_argument("-o", "--output", default="picture.svg", help="SVG file to write (default: %(default)s)")
    p.add_argument("--frame", type=int, default=-1, help="frame number; negative counts from the end (default: the last)")
    p.add_argument("--ghost", default="", help="comma-separated frames drawn pale behind the picture, as in a multiple exposure")
    p.add_argument("--azimuth", type=float, default=30, help="where the camera stands, degrees from +z towards +x (default: %(default)s)")
    p.add_argument("--elevation", type=float, default=15, help="degrees above the horizon (default: %(default)s)")
    p.add_argument("--distance", type=float, default=3.5,
                   help="camera distance in radii of the scene; 0 gives a parallel projection (default: %(default)s)")
    p.add_argument("--size", default="960", help="width, or WIDTHxHEIGHT, in pixels; the height follows the scene otherwise (default: %(default)s)")
    p.add_argument("--color", choices=["rod", "depth"], default="rod", help="one colour per family of rods, or by depth (default: %(default)s)")
    p.add_argument("--palette", default="", help="comma-separated colours instead of the built-in ones")
    p.add_argument("--families", default="", help="comma-separated family names in the order of the colours, e.g. deck,arch,cable")
    p.add_argument("--width", type=float, default=1, help="factor on the line width 2 x radius (default: %(default)s)")
    p.add_argument("--min-width", type=float, default=0.6, help="thinnest line in pixels (default: %(default)s)")
    p.add_argument("--max-width", type=float, default=14, help="thickest line in pixels (default: %(default)s)")
    p.add_argument("--halo", type=float, default=0, help="pixels of background around lines, so that crossings read (default: none)")
    p.add_argument("--fade", type=float, default=0.55, help="how far the farthest lines fade into the background, 0 to 1 (default: %(default)s)")
    p.add_argument("--slices", type=int, default=48, help="depth slices (default: %(default)s)")
    p.add_argument("--shadow", action="store_true", help="a soft shadow straight below, on the ground")
    p.add_argument("--ground", type=float, help="height of the ground for the shadow [m] (default: the lowest point)")
    p.add_argument("--background", choices=["paper", "none"], default="paper",
                   help="a light sheet that reads in light and dark surroundings, or transparent (default: %(default)s)")
    p.add_argument("--simplify", type=float, default=0.3, help="how far a polyline may move when it is thinned [px] (default: %(default)s)")
    return p.parse_args()


class Scene:
    """What one frame shows: living segments with a radius and a family each."""

    def __init__(self, path, frame, family_order):
        with h5py.File(path) as f:
            count = len(f["time"])
            if not -count <= frame < count:
                sys.exit(f"error: {path} has frames 0 to {count - 1}, not {frame}")
            frame %= count
            self.time = float(f["time"][frame])
            self.name = str(f.attrs.get("name", ""))
            self.x = f["position"][frame].astype(float)
            alive = f["segment_alive"][frame] != 0
            self.segments = f["topology/segments"][:][alive]
            self.radius = f["topology/radius"][:].astype(float)[self.segments].min(axis=1)
            names = list(f["topology/rod_names"].asstr()[:])
            start, members = f["topology/rod_start"][:], f["topology/rod_vertices"][:]
        self.family = self.find_families(names, start, members, family_order)

    def find_families(self, names, start, members, family_order):
        """Rods called cable0, cable1, ... are one family. A segment belongs to the rod along which its vertices follow each
        other, or else to the first rod that holds them both."""
        family_of_name = [re.sub(r"\d+$", "", n.split(".")[-1]) for n in names]
        families = family_order + [f for f in dict.fromkeys(family_of_name) if f not in family_order]
        by_pair, rods_of_vertex = {}, {}
        for k, name in enumerate(family_of_name):
            vertices = [int(v) for v in members[start[k]:start[k + 1]]]
            for a, b in zip(vertices, vertices[1:]):
                by_pair.setdefault((min(a, b), max(a, b)), families.index(name))
            for v in vertices:
                rods_of_vertex.setdefault(v, []).append(families.index(name))
        result = []
        for a, b in self.segments:
            pair = by_pair.get((min(a, b), max(a, b)))
            if pair is None:
                common = [r for r in rods_of_vertex.get(int(a), []) if r in rods_of_vertex.get(int(b), [])]
                pair = common[0] if common else len(families)
            result.append(pair)
        return np.array(result, dtype=int)


class Camera:
    def __init__(self, points, args):
        a, e = math.radians(args.azimuth), math.radians(args.elevation)
        self.back = np.array([math.sin(a) * math.cos(e), math.sin(e), math.cos(a) * math.cos(e)])  # towards the camera
        self.right = np.array([math.cos(a), 0, -math.sin(a)])
        self.up = np.cross(self.back, self.right)
        self.center = 0.5 * (points.min(axis=0) + points.max(axis=0))
        radius = max(1e-9, float(np.linalg.norm(points - self.center, axis=1).max()))
        self.distance = args.distance * radius if args.distance > 0 else math.inf
        self.scale, self.offset = 1.0, np.zeros(2)

    def project(self, points):
        """Screen x, y, and pixels per metre there."""
        d = points - self.center
        zoom = self.scale / (1 - (d @ self.back) / self.distance) if math.isfinite(self.distance) else np.full(len(d), self.scale)
        return np.stack([(d @ self.right) * zoom, -(d @ self.up) * zoom], axis=1) + self.offset, zoom

    def depth(self, points):
        return (points - self.center) @ self.back  # larger is nearer

    def fit(self, points, size, margin):
        flat, _ = self.project(points)
        low, high = flat.min(axis=0), flat.max(axis=0)
        extent = np.maximum(high - low, 1e-9)
        parts = [float(v) for v in size.lower().split("x")]
        width = parts[0]
        self.scale = (width - 2 * margin) / extent[0]
        height = parts[1] if len(parts) > 1 else max(0.3 * width, min(1.2 * width, extent[1] * self.scale + 2 * margin))
        self.scale = min(self.scale, (height - 2 * margin) / extent[1])
        self.offset = np.array([width / 2, height / 2]) - self.scale * 0.5 * (low + high)
        return width, height


def mix(a, b, t):
    rgb = [[int(c[i:i + 2], 16) for i in (1, 3, 5)] for c in (a, b)]
    return "#" + "".join(f"{round(u + t * (v - u)):02x}" for u, v in zip(*rgb))


def chains(segments):
    """Consecutive segments joined into vertex lists, in a fixed order."""
    at = {}
    for i, (a, b) in enumerate(segments):
        at.setdefault(int(a), []).append(i)
        at.setdefault(int(b), []).append(i)
    used = [False] * len(segments)

    def walk(v):
        path = []
        while True:
            i = next((i for i in at[v] if not used[i]), None)
            if i is None:
                return path
            used[i] = True
            a, b = int(segments[i][0]), int(segments[i][1])
            v = b if v == a else a
            path.append(v)

    for i, (a, b) in enumerate(segments):
        if used[i]:
            continue
        used[i] = True
        forward, backward = walk(int(b)), walk(int(a))
        yield backward[::-1] + [int(a), int(b)] + forward


def thin(points, tolerance):
    """Douglas-Peucker, without recursion."""
    keep = np.zeros(len(points), dtype=bool)
    keep[0] = keep[-1] = True
    stack = [(0, len(points) - 1)]
    while stack:
        a, b = stack.pop()
        if b - a < 2:
            continue
        chord, inner = points[b] - points[a], points[a + 1:b] - points[a]
        length = float(np.hypot(*chord))
        gap = np.abs(chord[0] * inner[:, 1] - chord[1] * inner[:, 0]) / length if length > 1e-9 else np.hypot(inner[:, 0], inner[:, 1])
        worst = int(gap.argmax())
        if gap[worst] > tolerance:
            keep[a + 1 + worst] = True
            stack += [(a, a + 1 + worst), (a + 1 + worst, b)]
    return points[keep]


def number(v):
    text = f"{v:.1f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def path_data(flat, segments, tolerance):
    """One d attribute: relative moves with one decimal, measured from the rounded pen so that errors do not add up."""
    out = []
    for chain in chains(segments):
        points = thin(flat[chain], tolerance)
        pen = None
        for k, p in enumerate(points):
            p = np.round(p, 1)
            if k == 0:
                out.append(f"M{number(p[0])} {number(p[1])}l")
                parts = []
            else:
                step = p - pen
                if k + 1 < len(points) and not step.any():
                    continue
                text = number(step[0]) + (number(step[1]) if step[1] < -0.04 else " " + number(step[1]))
                parts.append(text if not parts or text.startswith("-") else " " + text)
            pen = p
        out.append("".join(parts))
    return "".join(out)


def shadow_svg(scene, camera, args):
    ground = args.ground if args.ground is not None else float(scene.x[np.unique(scene.segments)][:, 1].min())
    below = scene.x.copy()
    below[:, 1] = ground
    flat, zoom = camera.project(below)
    width = float(np.clip(2 * np.median(scene.radius) * np.median(zoom) * args.width, 1.5, args.max_width))
    tone = "#3a3f44" if args.background == "paper" else "#808080"
    return (f'<path filter="url(#soft)" fill="none" stroke="{tone}" stroke-opacity=".16" stroke-width="{number(1.3 * width)}" '
            f'd="{path_data(flat, scene.segments, 1.0)}"/>')


def paths(scene, camera, args, prefix, pale=0.0):
    """The living segments as SVG paths, far to near; `pale` fades all of them."""
    flat, zoom = camera.project(scene.x)
    middle = 0.5 * (scene.x[scene.segments[:, 0]] + scene.x[scene.segments[:, 1]])
    depth = camera.depth(middle)
    low, high = float(depth.min()), float(depth.max())
    slices = np.clip(((depth - low) / max(high - low, 1e-12) * args.slices).astype(int), 0, args.slices - 1)
    pixels = args.width * 2 * scene.radius * zoom[scene.segments].mean(axis=1)
    # Widths on a ladder of about 12 %, so that neighbours can share a path.
    pixels = np.clip(np.exp(np.round(np.log(np.maximum(pixels, 1e-3)) / 0.12) * 0.12), args.min_width, args.max_width)
    palette = args.palette.split(",") if args.palette else PALETTE
    faded = PAPER if args.background == "paper" else "#8a8f94"

    body = []
    for s in range(args.slices):  # far to near
        near = (s + 0.5) / args.slices
        in_slice = np.flatnonzero(slices == s)
        styles = {}
        for i in in_slice:
            tone = 0 if args.color == "depth" else int(scene.family[i]) % len(palette)
            styles.setdefault((tone, round(float(pixels[i]), 1)), []).append(i)
        for (tone, w), members in sorted(styles.items(), key=lambda item: float(depth[item[1]].mean())):
            color = mix(FAR, NEAR if args.background == "paper" else NEAR_ON_ANY, near) if args.color == "depth" else palette[tone]
            color = mix(color, faded, max(pale, args.fade * (1 - near)))
            data = path_data(flat, scene.segments[members], args.simplify)
            if args.halo > 0:
                under = PAPER if args.background == "paper" else "#ffffff"
                name = f"{prefix}{len(body)}"
                body.append(f'<defs><path id="{name}" d="{data}"/></defs>'
                            f'<use href="#{name}" stroke="{under}" stroke-width="{number(w + 2 * args.halo)}" stroke-linecap="butt"/>'
                            f'<use href="#{name}" stroke="{color}" stroke-width="{number(w)}"/>')
            else:
                body.append(f'<path stroke="{color}" stroke-width="{number(w)}" d="{data}"/>')
    return body


def draw(scene, ghosts, args):
    used = np.concatenate([s.x[np.unique(s.segments)] for s in [scene, *ghosts]])
    camera = Camera(used, args)
    fit_points = used
    if args.shadow:
        floor = used.copy()
        floor[:, 1] = args.ground if args.ground is not None else used[:, 1].min()
        fit_points = np.concatenate([used, floor])
    width, height = camera.fit(fit_points, args.size, margin=0.03 * float(args.size.lower().split("x")[0]))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}">',
             f"<title>{scene.name}, t = {scene.time:.3g} s</title>"]
    if args.background == "paper":
        lines.append(f'<rect width="{number(width)}" height="{number(height)}" rx="10" fill="{PAPER}"/>')
    if args.shadow:
        lines.append('<filter id="soft" x="-5%" y="-20%" width="110%" height="140%"><feGaussianBlur stdDeviation="2.2"/></filter>')
        lines.append(shadow_svg(scene, camera, args))
    lines.append('<g fill="none" stroke-linecap="round" stroke-linejoin="round">')
    for k, ghost in enumerate(ghosts):
        lines += paths(ghost, camera, args, f"g{k}p", pale=0.85 - 0.25 * (k + 1) / len(ghosts))
    return "\n".join(lines + paths(scene, camera, args, "p") + ["</g>", "</svg>", ""])


def main():
    args = read_arguments()
    families = [f for f in args.families.split(",") if f]
    scene = Scene(args.trajectory, args.frame, families)
    ghosts = [Scene(args.trajectory, int(f), families) for f in args.ghost.split(",") if f]
    if len(scene.segments) == 0:
        sys.exit("error: no segment is left in this frame")
    text = draw(scene, ghosts, args)
    with open(args.output, "w", encoding="utf-8") as f:
        f.write(text)
    print(f"{args.output}: {scene.name}, t = {scene.time:.3f} s, {len(scene.segments)} segments, {len(text) / 1024:.0f} KB")


if __name__ == "__main__":
    main()

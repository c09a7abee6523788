"""Linking numbers of the rows of a knitted patch, from the trajectory of a run of knit_twist.json.

    python3 linking.py RUN [FRAME ...]

Rows are open: each is closed by a path outside of the patch. At its right end it goes straight out along x while the turn of the
border since the start is taken back, and from there around to its left end, where the same is done. A turn of one border against the other adds the
same whole number to every pair, which is told as `turns`; what is left must be what it was at the start. Two curves are linked half as often as the sum of
the signs of their crossings in a projection.
"""
import sys

import h5py
import numpy as np


def turn_since(start, now):
    """Angle about x that takes the ends of rows at the start to those now, best in the sense of least squares, within half a turn."""
    a, b = start[:, 1:] - start[:, 1:].mean(axis=0), now[:, 1:] - now[:, 1:].mean(axis=0)
    return np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())


def tail(end, border, first, angle, side, size):
    """From the end of a row out along x, the turn taken back on the way; then to the place of the end at the start."""
    centre = border.mean(axis=0)
    points = []
    for share in np.linspace(0, 1, 33):
        c, s = np.cos(-angle * share), np.sin(-angle * share)
        y, z = end[1:] - centre[1:]
        points.append([end[0] + side * size * (0.2 + share), centre[1] + c * y - s * z, centre[2] + s * y + c * z])
    points.append([points[-1][0] + side * size, first[1], first[2]])
    return points


def closed_rows(rows, start_rows, size, turned):
    ends = lambda rows, i: np.array([r[i] for r in rows])
    closed = []
    for row, first in zip(rows, start_rows):
        right = tail(row[-1], ends(rows, -1), first[-1], turned[1], 1, size)
        left = tail(row[0], ends(rows, 0), first[0], turned[0], -1, size)
        far = 40 * size
        back = [[right[-1][0], first[-1][1], far], [left[-1][0], first[0][1], far]]
        closed.append(np.vstack([row, right, back, left[::-1]]))
    return closed


PROJECTION = np.linalg.qr(np.array([[0.31, 0.17, 0.93], [0.89, -0.4, 0.1], [0.2, 0.9, 0.3]]).T)[0].T


def linking(a, b):
    """Half of the signed crossings of two closed polygons."""
    total = 0
    p, q = a @ PROJECTION.T, np.vstack([b, b[:1]]) @ PROJECTION.T
    p = np.vstack([p, p[:1]])
    c, d = q[:-1], q[1:]
    for i in range(0, len(p) - 1, 256):
        s, e = p[i:i + 256][:-1] if i + 256 > len(p) else p[i:i + 256], p[i + 1:i + 257]
        s = p[i:i + len(e)]
        u, v, w = (e - s)[:, None], (d - c)[None], c[None] - s[:, None]
        det = u[..., 1] * v[..., 2] - u[..., 2] * v[..., 1]
        t = (w[..., 1] * v[..., 2] - w[..., 2] * v[..., 1]) / det
        r = (w[..., 1] * u[..., 2] - w[..., 2] * u[..., 1]) / det
        hit = (t >= 0) & (t < 1) & (r >= 0) & (r < 1)
        above = (w[..., 0] + r * v[..., 0] - t * u[..., 0])[hit]
        total += (np.sign(det[hit]) * np.sign(above)).sum()
    return total / 2


def main():
    file = h5py.File(sys.argv[1] + "/trajectory.h5" if not sys.argv[1].endswith(".h5") else sys.argv[1])
    names, start = [n.decode() for n in file["topology/rod_names"][:]], file["topology/rod_start"][:]
    lists = [file["topology/rod_vertices"][a:b] for n, a, b in zip(names, start, start[1:]) if ".row" in n]
    rows_of = lambda frame: [file["position"][frame][v].astype(float) for v in lists]
    begin = rows_of(0)
    size = np.ptp(np.vstack(begin)[:, 1])
    frames = [int(f) % len(file["time"]) for f in sys.argv[2:]] or [0, len(file["time"]) - 1]
    reference = None
    for frame in [0] + frames:
        rows = rows_of(frame)
        turned = [turn_since(np.array([r[i] for r in begin]), np.array([r[i] for r in rows])) for i in (0, -1)]
        closed = closed_rows(rows, begin, size, turned)
        numbers = np.array([linking(closed[i], closed[j]) for i in range(len(rows)) for j in range(i + 1, len(rows))])
        if reference is None:
            reference = numbers
            print("start: %d pairs of rows, numbers %s" % (len(numbers), np.unique(numbers)))
            continue
        change = numbers - reference
        print("frame %d, t = %.4g s: change of the numbers %s; borders at %.1f and %.1f degrees" %
              (frame, file["time"][frame], dict(zip(*[x.tolist() for x in np.unique(change, return_counts=True)])), *np.degrees(turned)))


main()

#!/usr/bin/env python3
"""Checks an output folder from a user's side: usage `io_formats.py <folder>`.

Every folder below (and at) the given one that holds a trajectory.h5 is read with the very lines that docs/output.md prints, and
the OBJ and VTP frames beside it, where there are any, must tell the same story.
"""
import base64
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "output.md"


def documented_lines():
    return re.search(r"```python\n(.*?)```", DOCS.read_text(), re.S).group(1)


def check_trajectory(folder):
    os.chdir(folder)
    names = {}
    exec(documented_lines(), names)
    f, time, rods = names["f"], names["time"], names["rods"]
    frames, topology = len(time), f["topology"]
    vertices, segments = len(topology["radius"]), len(topology["segments"])
    number = f["position"].dtype

    assert f.attrs["format"] == "osier-trajectory" and f.attrs["format_version"] == 1 and f.attrs["units"] == "SI"
    assert isinstance(f.attrs["name"], str) and isinstance(f.attrs["version"], str)
    assert f["scene"].asstr()[()].startswith("{")
    assert time.dtype == np.float64 and number in (np.float32, np.float64)
    assert np.all(np.diff(time) > 0), "times must increase"
    shapes = {"position": (vertices, 3), "velocity": (vertices, 3), "frame": (segments, 4), "segment_alive": (segments,)}
    joints, clamps = len(topology["joints"]), len(topology["clamps"])
    if "segment_force" in f:
        shapes.update(segment_force=(segments, 3), segment_strain=(segments, 3), joint_moment=(joints, 3), joint_curvature=(joints, 3),
                      clamp_moment=(clamps, 3), clamp_curvature=(clamps, 3))
    assert f["time"].attrs["units"] == "s"
    for name, shape in shapes.items():
        data = f[name]
        assert data.shape[1:] == shape and data.shape[0] >= frames, (name, data.shape)
        assert data.chunks[0] == 1 and data.compression == "gzip" and data.shuffle, name
        assert np.all(np.isfinite(data[:frames])), name
        assert data.dtype == (np.uint8 if name == "segment_alive" else number), name
        assert data.attrs["units"] and data.attrs["description"], name
    assert np.allclose(np.linalg.norm(f["frame"][:frames], axis=2), 1, atol=1e-5), "frames are unit quaternions"
    assert np.all(np.diff(f["segment_alive"][:frames].astype(int), axis=0) <= 0), "what broke stays broken"
    for name, count in (("segments", vertices), ("joints", segments)):
        assert topology[name].shape[1:] == (2,)
        assert np.all((topology[name][:] >= 0) & (topology[name][:] < count)), name
    for (first, second), v in zip(topology["joints"][:], topology["joint_vertex"][:]):
        shared = set(topology["segments"][first]) & set(topology["segments"][second])
        assert v in shared if shared else v == -1, (first, second)
    for segment, v in topology["clamps"][:]:
        assert v in topology["segments"][segment]
    for name, count in (("rest_length", segments), ("joint_length", joints), ("clamp_length", clamps)):
        assert topology[name].shape == (count,) and np.all(topology[name][:] > 0), name
    for name, path in rods.items():
        assert len(path) > 0 and path.max() < vertices, name
    return f, frames


def check_sections(f, frames):
    """Strains and curvatures from their definitions, with nothing but positions, frames and topology."""
    segments, length = f["topology/segments"][:], f["topology/rest_length"][:]
    tolerance = 1e-9 if f["position"].dtype == np.float64 else 1e-4
    for i in range(frames):
        x, q, alive = f["position"][i].astype(float), f["frame"][i].astype(float), f["segment_alive"][i] == 1
        p = (x[segments[:, 1]] - x[segments[:, 0]]) / length[:, None]
        u, w = -q[:, :3], q[:, 3:]
        t = 2 * np.cross(u, p)
        strain = p + w * t + np.cross(u, t) - [0, 0, 1]
        assert np.allclose(f["segment_strain"][i][alive], strain[alive], atol=tolerance), i
        assert not f["segment_strain"][i][~alive].any() and not f["segment_force"][i][~alive].any()
        for (a, b), l, k in zip(f["topology/joints"][:], f["topology/joint_length"][:], f["joint_curvature"][i]):
            if not k.any():
                continue
            imaginary = q[a, 3] * q[b, :3] - q[b, 3] * q[a, :3] - np.cross(q[a, :3], q[b, :3])
            assert np.allclose(k, np.sign(q[a] @ q[b]) * 2 / l * imaginary, atol=tolerance / l), (i, a, b)


def check_obj(folder, f, frames):
    for i in range(frames):
        lines = [line.split() for line in (folder / "frames" / f"frame_{i:05d}.obj").read_text().splitlines()]
        points = np.array([line[1:] for line in lines if line[0] == "v"], dtype=f["position"].dtype).reshape(-1, 3)
        edges = np.array([line[1:] for line in lines if line[0] == "l"], dtype=int).reshape(-1, 2) - 1
        assert np.array_equal(points, f["position"][i]), i
        assert np.array_equal(edges, f["topology/segments"][:][f["segment_alive"][i] == 1]), i


def check_vtp(folder, f, frames):
    listed = ElementTree.parse(folder / "trajectory.pvd").getroot().findall("./Collection/DataSet")
    assert [float(d.get("timestep")) for d in listed] == list(f["time"][:frames])
    for i, entry in enumerate(listed):
        root = ElementTree.parse(folder / entry.get("file")).getroot()
        arrays = {}
        for a in root.iter("DataArray"):
            if a.get("format") != "binary":
                continue
            data = base64.b64decode(a.text)
            assert int.from_bytes(data[:8], "little") == len(data) - 8
            kind = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4"}[a.get("type")]
            arrays[a.get("Name")] = np.frombuffer(data[8:], kind).reshape(-1, int(a.get("NumberOfComponents")))
        alive = f["segment_alive"][i] == 1
        assert np.array_equal(arrays["position"], f["position"][i]) and np.array_equal(arrays["velocity"], f["velocity"][i])
        assert np.array_equal(arrays["radius"][:, 0], f["topology/radius"][:])
        assert np.array_equal(arrays["frame"], f["frame"][i][alive])
        assert np.array_equal(arrays["connectivity"].reshape(-1, 2), f["topology/segments"][:][alive])
        assert np.array_equal(arrays["offsets"][:, 0], 2 * np.arange(1, alive.sum() + 1))
        for name in ("force", "strain"):
            assert (name in arrays) == ("segment_" + name in f), name
            assert name not in arrays or np.array_equal(arrays[name], f["segment_" + name][i][alive]), name
        for name in ("moment", "curvature"):
            assert (name in arrays) == ("joint_" + name in f), name


def main():
    found = sorted(p.parent.resolve() for p in pathlib.Path(sys.argv[1]).rglob("trajectory.h5") if p.is_file())
    if not found:
        sys.exit(f"{sys.argv[1]}: no trajectory.h5 in it")
    for folder in found:
        f, frames = check_trajectory(folder)
        beside = []
        if "segment_force" in f and f.attrs["name"] != "two segments":  # those of the unit test are made up
            check_sections(f, frames)
            beside.append("sections")
        if (folder / "frames").is_dir():
            check_obj(folder, f, frames)
            beside.append("obj")
        if (folder / "trajectory.pvd").exists():
            check_vtp(folder, f, frames)
            beside.append("vtp")
        f.close()
        print(f"{folder.name}: {frames} frames agree in {', '.join(['hdf5'] + beside)}")


if __name__ == "__main__":
    main()

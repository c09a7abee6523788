"""osier convert: what it writes is what was there, judged by programs that nobody here wrote.

USD by usd-core and glTF by the Khronos validator (scripts/test-tools.sh installs both), VTP by VTK (python3-vtk9), OBJ with PC2
by Blender, arrays by numpy. What is not installed is skipped and said so."""

import copy
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

import h5py
import numpy as np

from osier_cli import BAD_INPUT, DONE, RUN_FAILED, SOURCE, CliTest, beam, main, read_scene

TOOLS = SOURCE / "build" / "tools" if SOURCE else pathlib.Path(".")
USD_PYTHON = TOOLS / "venv" / "bin" / "python"
VALIDATOR = TOOLS / "node_modules" / "gltf-validator"
PULL = {"constraints": [{"type": "clamp", "vertices": 0}],
        "forces": [{"type": "force", "vertices": 4, "force": {"keys": [[0, [0, 0, 0]], [0.2, [20, 0, 0]]]}}],
        "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.5, "fps": 50}, "fracture": {"strain_limit": 0.05}}

# A twisting beam and a ring that fall: open and closed, both moving, with names outside ASCII.
FALLING = {
    "name": "falling",
    "materials": {"m": {"stretch_shear": 100, "bend_twist": 0.1, "line_density": 1, "radius": 0.01}},
    "rods": [{"name": "balken", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 6, "material": "m"},
             {"name": "环", "shape": {"type": "circle", "center": [0, 1, 0], "radius": 0.3, "normal": [0, 1, 0]}, "segments": 16, "material": "m"}],
    "constraints": [{"type": "clamp", "vertices": "balken:0"}],
    "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}],
    "analysis": {"type": "dynamic", "step": 0.005, "duration": 0.1, "fps": 100},
}

# Two curves of a groom in centimetres with z up; the second is left to itself.
GROOM = """#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Z"
)
def Xform "Head"
{
    double3 xformOp:translate = (0, 0, 170)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def BasisCurves "Hair"
    {
        uniform token type = "linear"
        int[] curveVertexCounts = [4, 3]
        point3f[] points = [(0,0,0), (3,0,0), (6,0,0), (9,0,0), (0,9,0), (2,9,0), (4,9,1)]
        float[] widths = [0.2] ( interpolation = "constant" )
    }
}
"""
GROOMED = {
    "materials": {"m": {"young": 1e7, "density": 1000, "radius": 0.001, "color": "#ff8000"}},
    "structures": [{"type": "curves", "name": "h", "file": "groom.usda", "material": "m", "select": "Hair_0"}],
    "constraints": [{"type": "pin", "vertices": "h.starts:*"}], "forces": [{"type": "gravity"}],
    "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.2, "fps": 50},
}
USD_OVER = """
import json, sys
from pxr import Usd, UsdGeom, Gf
stage = Usd.Stage.Open(sys.argv[1])
end = stage.GetEndTimeCode()
hair = UsdGeom.BasisCurves(stage.GetPrimAtPath("/Head/Hair"))
to_world = UsdGeom.Xformable(hair).ComputeLocalToWorldTransform(end)
print(json.dumps({"up": UsdGeom.GetStageUpAxis(stage), "metres": UsdGeom.GetStageMetersPerUnit(stage), "end": end, "widths": list(hair.GetWidthsAttr().Get()),
                  "points": [list(to_world.Transform(Gf.Vec3d(p))) for p in hair.GetPointsAttr().Get(end)]}))
"""

USD_SCRIPT = """
import json, sys
from pxr import Usd, UsdGeom, UsdUtils
stage = Usd.Stage.Open(sys.argv[1])
out = {"up": UsdGeom.GetStageUpAxis(stage), "metres": UsdGeom.GetStageMetersPerUnit(stage), "rate": stage.GetTimeCodesPerSecond(),
       "start": stage.GetStartTimeCode(), "end": stage.GetEndTimeCode(), "prims": {}, "types": {}}
for prim in stage.Traverse():
    out["types"][str(prim.GetPath())] = [prim.GetTypeName(), list(prim.GetMetadata("apiSchemas").GetAddedOrExplicitItems()) if prim.HasMetadata("apiSchemas") else [],
                                         {a.GetName(): a.Get() for a in prim.GetAttributes() if a.GetName().startswith("physics:")}]
    if prim.GetTypeName() != "BasisCurves": continue
    c, frames = UsdGeom.BasisCurves(prim), []
    for i in range(int(sys.argv[2])):
        t = stage.GetStartTimeCode() + i
        vectors = lambda a: [list(v) for v in a.Get(t)]
        frames.append({"points": vectors(c.GetPointsAttr()), "normals": vectors(c.GetNormalsAttr()), "widths": list(c.GetWidthsAttr().Get(t)),
                       "counts": list(c.GetCurveVertexCountsAttr().Get(t)), "names": list(prim.GetAttribute("primvars:osier:name").Get(t)),
                       "ids": list(prim.GetAttribute("primvars:osier:id").Get(t))})
    out["prims"][prim.GetName()] = {"wrap": c.GetWrapAttr().Get(), "type": c.GetTypeAttr().Get(), "widths": c.GetWidthsInterpolation(),
                                    "normals": c.GetNormalsInterpolation(), "frames": frames}
json.dump(out, sys.stdout)
"""

USD_MATERIALS = """
import json, sys
from pxr import Usd, UsdShade, UsdUtils
stage = Usd.Stage.Open(sys.argv[1])
checker = UsdUtils.ComplianceChecker(arkit=False, skipARKitRootLayerCheck=True)
checker.CheckCompliance(sys.argv[1])
out = {"rods": {}, "problems": checker.GetErrors() + checker.GetFailedChecks()}
for prim in stage.Traverse():
    if prim.GetTypeName() != "BasisCurves": continue
    material, binding = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    names = prim.GetAttribute("primvars:osier:name").Get(stage.GetStartTimeCode())
    for name in names:
        out["rods"][name] = {"material": material.GetPrim().GetDisplayName(), **{a.GetName(): a.Get() for a in material.GetPrim().GetAttributes() if a.GetName().startswith("physics:")}}
json.dump(out, sys.stdout)
"""

GLTF_SCRIPT = """
const validator = require(process.argv[1]), fs = require('fs'), path = require('path'), file = process.argv[2];
validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {uri: file, externalResourceFunction: uri =>
  Promise.resolve(new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri)))))})
  .then(report => console.log(JSON.stringify(report)));
"""

BLENDER_SCRIPT = """
import bpy, json, sys
obj, pc2, frames, out = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.obj_import(filepath=obj, forward_axis="Y", up_axis="Z")
thing, = [o for o in bpy.data.objects if o.type == "MESH"]
cache = thing.modifiers.new("cache", "MESH_CACHE")
cache.cache_format, cache.filepath, cache.frame_start, cache.forward_axis, cache.up_axis = "PC2", pc2, 0, "POS_Y", "POS_Z"
positions = []
for f in range(int(frames)):
    bpy.context.scene.frame_set(f)
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    positions.append([list(v.co) for v in mesh.vertices])
json.dump({"positions": positions, "edges": [list(e.vertices) for e in thing.data.edges], "faces": len(thing.data.polygons)}, open(out, "w"))
"""


class Convert(CliTest):
    def convert(self, *arguments, expect=DONE, **options):
        result = self.call("convert", *arguments, **options)
        self.assertEqual(result.code, expect, result)
        return result

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file() and p.parts[len(self.folder.parts)] != "out" and p.suffix != ".json")

    def falling(self):
        self.run_scene(FALLING)
        return self.trajectory()

    def assert_refused_by_convert(self, place, word, *arguments):
        before = self.files()
        result = self.convert(*arguments, "--quiet", expect=BAD_INPUT)
        self.assertIn(word, result.err)
        self.assertIn("error: %s" % place, result.err)
        self.assertEqual(self.files(), before, "bad input left something behind\n%s" % result)
        self.assert_readable(result)

    # ------------------------------------------------------------------------------------------------------------- our own

    def test_numpy_arrays_hold_the_run(self):
        run = self.falling()
        self.convert("out", "run.npz", "--frames", "2:8:3")
        with np.load(self.folder / "run.npz") as arrays:
            self.assertEqual(list(arrays["name"]), ["balken", "环"])
            self.assertEqual(list(arrays["start"]), [0, 7, 23])
            self.assertEqual(list(arrays["closed"]), [0, 1])
            np.testing.assert_array_equal(arrays["time"], run["time"][2:9:3])
            np.testing.assert_array_equal(arrays["position"], run["position"][2:9:3])
            np.testing.assert_array_equal(arrays["velocity"], run["velocity"][2:9:3])
            self.assertEqual(arrays["segments"].shape, (22, 2))
            np.testing.assert_allclose(np.linalg.norm(arrays["normal"], axis=2), 1, rtol=1e-12)
        self.assertEqual(self.files(), ["run.npz"])

    def test_a_run_writes_every_format_and_convert_reads_the_curve_files_again(self):
        names = [line.split()[0] for line in self.call("list", "formats").out.splitlines()]
        self.assertIn("usda", names)
        self.run_scene({**FALLING, "output": {"formats": names}})
        run = self.trajectory()
        for name in ("trajectory.usda", "trajectory.obj", "trajectory.pc2", "trajectory.npz", "trajectory.csv", "frames/frame_00010.glb"):
            self.assertTrue((self.folder / "out" / name).exists(), name)
        with np.load(self.folder / "out" / "trajectory.npz") as arrays:
            np.testing.assert_array_equal(arrays["position"], run["position"])
        self.assertFalse((self.folder / "out" / "trajectory.npz.parts").exists())
        for source in ("frames/frame_00010.bcc", "frames/frame_00010.poly", "frames/frame_00010.ply", "trajectory.usda", "trajectory.csv"):
            with self.subTest(source):
                self.convert("out/" + source, "back.csv", "--quiet", *(["--frame", "last"] if source.startswith("traj") else []))
                rows = list(csv.DictReader((self.folder / "back.csv").read_text(encoding="utf-8").splitlines()))
                points = np.array([[float(r[k]) for k in "xyz"] for r in rows])
                np.testing.assert_allclose(points, run["position"][-1], atol=1e-7)
                self.assertEqual([r["closed"] for r in rows], 7 * ["0"] + 16 * ["1"])

    def test_value_clips_are_read_again_frame_by_frame_and_a_missing_one_is_named(self):
        run = self.falling()
        self.convert("out", "run.usda", "--quiet", "--split", "0.01")
        clips = sorted(p.name for p in (self.folder / "run_clips").glob("clip_*.usda"))
        self.assertGreater(len(clips), 2)
        for frame, place in (("first", 0), ("5", 5), ("last", -1)):
            self.convert("run.usda", "back.csv", "--frame", frame)
            rows = list(csv.DictReader((self.folder / "back.csv").read_text(encoding="utf-8").splitlines()))
            np.testing.assert_allclose([[float(r[k]) for k in "xyz"] for r in rows], run["position"][place], atol=1e-7)
            self.assertEqual({r["name"] for r in rows}, {"balken", "环"})
        os.remove(self.folder / "back.csv")
        os.remove(self.folder / "run_clips" / clips[1])
        self.assert_refused_by_convert("run.usda", "run_clips/%s`, which does not exist" % clips[1], "run.usda", "x.csv")
        self.assert_refused_by_convert("run_clips/clip_00000.usda", "part of another file", "run_clips/clip_00000.usda", "x.csv")

    def test_hair_and_bcc_carry_curves_there_and_back(self):
        self.falling()
        self.convert("out", "a.bcc", "--frame", "last", "--select", "balken")
        self.convert("a.bcc", "b.hair")
        self.convert("b.hair", "c.bcc")
        self.assertEqual((self.folder / "a.bcc").read_bytes(), (self.folder / "c.bcc").read_bytes())
        data = (self.folder / "a.bcc").read_bytes()
        self.assertEqual((data[:4], struct.unpack("<QQ", data[8:24]), struct.unpack("<i", data[64:68])), (b"BCC\x44", (1, 7), (7,)))
        warned = self.convert("out", "ring.hair", "--frame", "0", "--select", "环")
        self.assertIn("warning: ring.hair does not hold which curves are closed", warned.err)
        self.assertEqual(struct.unpack("<4sIIIII", (self.folder / "ring.hair").read_bytes()[:24])[1:3], (1, 17))

    def test_a_copied_trajectory_is_the_same_run(self):
        run = self.falling()
        self.convert("out", "copy.h5", "--frames", "3:7")
        with h5py.File(self.folder / "copy.h5") as copy:
            np.testing.assert_array_equal(copy["position"][:], run["position"][3:8])
            np.testing.assert_array_equal(copy["frame"][:], run["frame"][3:8])
        self.assertEqual(self.files(), ["copy.h5"])

    def test_welded_rods_share_points_in_formats_that_can_say_so(self):
        scene = read_scene(SOURCE / "scenes" / "dome.json")
        scene["structures"][0]["file"] = os.fspath(SOURCE / "scenes" / scene["structures"][0]["file"])
        scene["analysis"] = {"type": "dynamic", "step": 0.002, "duration": 0.01, "fps": 500}
        self.run_scene(scene)
        run = self.trajectory()
        with h5py.File(self.folder / "out" / "trajectory.h5") as file:
            vertices, edges = run["position"].shape[1], len(file["topology/segments"])
        self.convert("out", "run.npz", "--quiet")
        with np.load(self.folder / "run.npz") as arrays:
            self.assertGreater(len(arrays["vertex"]), vertices, "curves that meet have a point each")
            self.assertEqual(sorted(set(arrays["vertex"])), list(range(vertices)))
            self.assertEqual(len({tuple(sorted(e)) for e in arrays["vertex"][arrays["segments"]]}), edges)
            names = list(arrays["name"])
        self.assertFalse([n for n in names if n.endswith((".starts", ".ends"))], "groups are no curves")
        self.convert("out", "run.obj", "--quiet")
        obj = (self.folder / "run.obj").read_text().splitlines()
        self.assertEqual((sum(l.startswith("v ") for l in obj), sum(l.startswith("l ") for l in obj)), (vertices, edges))
        self.assertEqual(struct.unpack("<i", (self.folder / "run.pc2").read_bytes()[16:20])[0], vertices)
        for name in ("one.obj", "one.ply", "one.poly"):
            with self.subTest(name):
                self.assertNotIn("welded", self.convert("out", name, "--frame", "0", "--select", "*").err)
                again = {**scene, "structures": [{**{k: v for k, v in scene["structures"][0].items() if k not in ("scale", "up", "weld")}, "file": name, "name": "d"}], "constraints": [], "forces": [], "probes": []}
                (self.folder / "again.json").write_text(json.dumps(again))
                checked = self.call("check", "again.json")
                self.assertIn("%d vertices, %d segments" % (vertices, edges), checked.out, checked)
        self.assertIn("welded", self.convert("out", "one.usda", "--frame", "0").err)

    def test_edits_are_made_on_every_frame(self):
        run = self.falling()
        self.convert("out", "edited.npz", "--select", "balken", "--scale", "100", "--segments", "3")
        with np.load(self.folder / "edited.npz") as arrays:
            np.testing.assert_allclose(arrays["position"], 100 * run["position"][:, 0:7:2], rtol=1e-6)
            np.testing.assert_allclose(arrays["width"], 2)
        self.convert("out", "split.npz", "--split-closed")
        with np.load(self.folder / "split.npz") as arrays:
            self.assertEqual(list(arrays["closed"]), [0, 0])
            np.testing.assert_array_equal(arrays["position"][:, -1], arrays["position"][:, 7])

    def test_yarn_and_strands_make_as_many_curves_as_they_should(self):
        run = self.falling()
        self.convert("out", "yarn.npz", "--plies", "2", "--fibres", "5", "--ply-twist", "10")
        with np.load(self.folder / "yarn.npz") as arrays:
            self.assertEqual(len(arrays["closed"]), 2 * 2 * 5)
            self.assertEqual(len(arrays["time"]), len(run["time"]))
            self.assertEqual(arrays["name"][0], "balken/0/0")
        points = "".join("%d %d %d 0.01 %d\n" % (i % 3, h, i // 3, i) for i in range(9) for h in range(4))
        (self.folder / "guides.csv").write_text("x y z width curve\n" + points)
        self.convert("guides.csv", "hair.hair", "--strands-per-guide", "20")
        self.assertEqual(struct.unpack("<4sII", (self.folder / "hair.hair").read_bytes()[:12])[1:], (180, 720))

    def test_numbered_frames_replace_those_of_an_earlier_longer_conversion(self):
        self.falling()
        (self.folder / "x_final.bcc").write_text("mine")
        self.convert("out", "x.bcc", "--frames", "0:5", "--quiet")
        self.convert("out", "x.bcc", "--frames", "0:1", "--quiet")
        self.assertEqual(self.files(), ["x_00000.bcc", "x_00001.bcc", "x_final.bcc"])

    def test_the_files_written_are_named(self):
        self.run_scene(beam(), "--frames", "4")
        for arguments, names in ((("one.usda",), "one.usda"), (("a.obj",), "a.pc2, a.obj"), (("b.bcc",), "b_00000.bcc … b_00004.bcc (5 files)"),
                                 (("c.vtp",), "c_00000.vtp … c_00004.vtp (5 files), c.pvd"), (("d.ply", "--frame", "last"), "d.ply"),
                                 (("e.h5",), "e.h5"), (("f.hair", "--frames", "0:1"), "f_00000.hair, f_00001.hair"),
                                 (("g.usda", "--split", "0.001"), "g.usda, g_clips/")):
            with self.subTest(arguments):
                result = self.call("convert", "out", *arguments)
                self.assertEqual(result.code, DONE, result)
                self.assertIn("-> %s\n" % names, result.out)
                for name in re.findall(r"[^ ,]+\.\w+", names):
                    self.assertTrue((self.folder / name).exists(), name)

    def test_impossible_combinations_are_refused_and_nothing_is_written(self):
        self.falling()
        self.convert("out", "curves.usda", "--frame", "0")
        refused = self.assert_refused_by_convert
        refused("x.abc", "nothing writes", "out", "x.abc")
        refused("x", "no extension", "out", "x")
        refused("x.h5", "a run", "curves.usda", "x.h5")
        refused("x.h5", "as it is", "out", "x.h5", "--scale", "2")
        refused("--frames", "one time", "curves.usda", "x.obj", "--frames", "0:3")
        refused("--frame", "keep one", "out", "x.obj", "--frame", "0", "--frames", "0:3")
        refused("--frame", "frames 0 to 10", "out", "x.obj", "--frame", "11")
        refused("--frame", "not a frame", "out", "x.obj", "--frame", "middle")
        refused("--frames", "frames 0 to 10", "out", "x.obj", "--frames", "5:20")
        refused("--frames", "not a range", "out", "x.obj", "--frames", "5")
        refused("--frames", "step", "out", "x.obj", "--frames", "0:5:0")
        refused("--tubes", "curves", "out", "x.bcc", "--tubes")
        refused("--sides", "--tubes", "out", "x.obj", "--sides", "5")
        refused("--fibres", "--plies", "out", "x.obj", "--fibres", "5")
        refused("--reach", "strands", "out", "x.obj", "--reach", "5")
        refused("--physics", ".usda", "out", "x.obj", "--physics")
        refused("--physics", "fibres", "out", "x.usda", "--physics", "--plies", "2")
        refused("--physics", "scale", "out", "x.usda", "--physics", "--scale", "2")
        refused("--physics", "stiffnesses", "curves.usda", "x.usda", "--physics")
        refused("--weld", "welded", "out", "x.usda", "--weld", "0.1")
        refused("--strands-per-guide", "three", "out", "x.usda", "--strands-per-guide", "3", "--select", "balken")
        refused("--select", "not a curve", "out", "x.usda", "--select", "beam")
        refused("--select", "not a curve", "curves.usda", "x.bcc", "--select", "beam")
        refused("curves.usda", "is the input", "curves.usda", "curves.usda")
        refused("OUT", "folder", "out", "nowhere/x.usda")
        refused("--time", "frames", "out", "x.usda", "--time", "1")
        refused("nothing.bcc", "does not exist", "nothing.bcc", "x.usda")

    def test_mistakes_with_files_are_explained(self):
        line = b"v 0 0 0\nv 1 0 0\nl 1 2\n"
        for name, content, word in (
                ("empty.obj", b"", "no curves"), ("empty.csv", b"", "no curves"), ("other.obj", b"#usda 1.0\ndef Xform \"a\" {}\n", "no curves"),
                ("empty.usda", b"", "#usda 1.0"), ("empty.ply", b"", "begin with `ply`"), ("a.usdc", b"PXR-USDC", "usdcat"), ("a.USD", b"PXR-USDC", "usdcat"),
                ("a.abc", b"Ogawa", ".usda"), ("scene.json", b"{}", "folder of the run"), ("comma.obj", line.replace(b"1 0 0", b"1,5 0 0"), "write decimals with a point: 1.5"),
                ("comma.csv", b"x;y;z\n0,5;0;0\n", "write decimals with a point: 0.5"), ("large.obj", line.replace(b"1 0 0", b"1e400 0 0"), "`1e400` is too large"),
                ("wide.csv", "x,y,z\n0,0,0\n".encode("utf-16"), "save it as UTF-8")):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.assert_refused_by_convert(name, word, name, "x.ply")
        self.assert_refused_by_convert("nowhere", "does not exist", "nowhere", "x.ply")
        (self.folder / "ü ☃.obj").write_bytes(line.replace(b"\n", b"\r\n").replace(b" ", b"\t"))
        self.convert("ü ☃.obj", "né.csv")
        self.assertEqual((self.folder / "né.csv").read_text().count("\n"), 3)
        self.assert_refused_by_convert("x.OBJ", "did you mean .obj?", "ü ☃.obj", "x.OBJ")
        (self.folder / "huge.obj").write_bytes(line.replace(b"1 0 0", b"1e300 0 0"))
        for name in ("x.bcc", "x.hair", "x.usda", "x.glb"):
            self.assert_refused_by_convert("point (1e+300, 0, 0)", "single precision", "huge.obj", name)
        self.convert("huge.obj", "huge.csv")

    def test_a_full_disk_is_an_error_that_leaves_nothing(self):
        self.falling()
        for name in ("x.usda", "x.obj", "x.csv", "x.npz", "x.glb", "x.gltf", "x.bcc", "x.ply", "x.h5", "x.vtp"):
            with self.subTest(name):
                limit = "ulimit -f 1; trap '' XFSZ; exec \"$@\""  # one block: no file may grow beyond it
                scale = ["--segments", "2000"] if name != "x.h5" else []
                process = subprocess.run(["sh", "-c", limit, "sh", os.fspath(self.osier()), "convert", "out", name, "--quiet", *scale], cwd=self.folder, capture_output=True)
                self.assertEqual(process.returncode, RUN_FAILED, process.stderr)
                self.assertIn(b"File too large", process.stderr)
                self.assertEqual(self.files(), [])

    def test_pipes_get_whole_files_and_stay(self):
        self.falling()
        for name in ("x.usda", "x.npz", "x.glb"):  # the last two are not written from front to back
            with self.subTest(name):
                self.convert("out", name)
                pipe = self.folder / ("pipe_" + name)
                os.mkfifo(pipe)
                process = subprocess.Popen([self.osier(), "convert", "out", pipe, "--quiet"], cwd=self.folder)
                self.assertEqual(subprocess.run(["cat", pipe], capture_output=True, timeout=60).stdout, (self.folder / name).read_bytes())
                self.assertEqual(process.wait(60), DONE)
                self.assertTrue(pipe.is_fifo())
                pipe.unlink()
                pipe.symlink_to("/dev/full")
                process = subprocess.run([self.osier(), "convert", "out", pipe, "--quiet"], cwd=self.folder, capture_output=True)
                self.assertEqual(process.returncode, RUN_FAILED, process.stderr)
                self.assertIn(b"No space left on device", process.stderr)
                self.assertTrue(pipe.is_char_device(), "what could not be written was removed")
                self.assertEqual(sorted(p.name for p in self.folder.glob("pipe_*")), [pipe.name])
                pipe.unlink()

    def test_an_interrupted_conversion_leaves_nothing(self):
        self.falling()
        process = subprocess.Popen([self.osier(), "convert", "out", "x.usda", "--segments", "200000", "--quiet"], cwd=self.folder, stderr=subprocess.PIPE)
        while process.poll() is None and not any(p.name.startswith("x") for p in self.folder.iterdir()):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        error = process.communicate()[1]
        self.assertEqual(process.returncode, RUN_FAILED, error)
        self.assertIn(b"interrupted", error)
        self.assertEqual(self.files(), [])

    @staticmethod
    def osier():
        from osier_cli import OSIER
        return OSIER

    # ------------------------------------------------------------------------------------------------------------- others'

    def usd(self, file, frames):
        process = subprocess.run([USD_PYTHON, "-c", USD_SCRIPT, file, str(frames)], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(process.stderr, "", "USD complains")
        return json.loads(process.stdout)

    @unittest.skipUnless(USD_PYTHON.exists(), "usd-core is not in build/tools: scripts/test-tools.sh installs it")
    def test_usd_core_reads_the_run_from_one_file_and_from_value_clips(self):
        run = self.falling()
        for options in ([], ["--split", "0.01"]):
            with self.subTest(options):
                self.convert("out", "run.usda", "--quiet", *options)
                self.assertEqual((self.folder / "run_clips").is_dir(), bool(options))
                stage = self.usd("run.usda", len(run["time"]))
                self.assertEqual((stage["up"], stage["metres"], stage["rate"], stage["start"], stage["end"]), ("Y", 1, 100, 0, 10))
                self.assertEqual({n: (p["wrap"], p["type"], p["widths"], p["normals"]) for n, p in stage["prims"].items()},
                                 {"open": ("nonperiodic", "linear", "vertex", "vertex"), "closed": ("periodic", "linear", "vertex", "vertex")})
                for prim, points, name in (("open", slice(0, 7), "balken"), ("closed", slice(7, 23), "环")):
                    for f, frame in enumerate(stage["prims"][prim]["frames"]):
                        np.testing.assert_allclose(frame["points"], run["position"][f, points], atol=1e-7)
                        self.assertEqual((frame["counts"], frame["names"]), ([points.stop - points.start], [name]))
                        np.testing.assert_allclose(frame["widths"], 0.02, rtol=1e-6)
                        np.testing.assert_allclose(np.linalg.norm(frame["normals"], axis=1), 1, rtol=1e-5)
                # d1 of a segment in the middle of the beam: the mean of its ends' normals.
                x, y, z, w = run["frame"][-1][3]
                d1 = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
                middle = np.sum(stage["prims"]["open"]["frames"][-1]["normals"][3:5], axis=0)
                self.assertGreater(middle @ d1 / np.linalg.norm(middle), 0.99)

    @unittest.skipUnless(USD_PYTHON.exists(), "usd-core is not in build/tools: scripts/test-tools.sh installs it")
    def test_usd_core_sees_a_rod_break_and_the_physics_of_the_scene(self):
        self.run_scene(beam(**PULL))
        run = self.trajectory()
        alive = run["segment_alive"]
        self.assertEqual((alive[0].sum() > alive[-1].sum()), True)
        self.convert("out", "run.usda", "--quiet")
        stage = self.usd("run.usda", len(run["time"]))
        for f, frame in enumerate(stage["prims"]["open"]["frames"]):
            self.assertEqual(sum(n - 1 for n in frame["counts"]), alive[f].sum())
            self.assertEqual(len(frame["points"]), sum(frame["counts"]))
            self.assertEqual(set(frame["names"]), {"a"})
        self.convert("out", "first.usda", "--frame", "first", "--physics", "--quiet")
        kind, schemas, values = self.usd("first.usda", 1)["types"]["/Rods/materials/m"]
        self.assertEqual((kind, schemas), ("Material", ["PhysicsCurvesDeformableMaterialAPI"]))
        for key, value in {"curvesThickness": 0.02, "curvesStretchStiffness": 100, "curvesShearStiffness": 100, "curvesBendStiffness": 1,
                           "curvesTwistStiffness": 1, "density": 1 / (np.pi * 1e-4)}.items():
            self.assertAlmostEqual(values["physics:" + key] / value, 1, 5, key)

    @unittest.skipUnless(USD_PYTHON.exists(), "usd-core is not in build/tools: scripts/test-tools.sh installs it")
    def test_usd_core_finds_the_material_of_each_rod(self):
        scene = copy.deepcopy(FALLING)
        scene["materials"]["鋼 2"] = {"stretch_shear": 400, "bend_twist": 0.9, "line_density": 3, "radius": 0.02}
        scene["materials"]["m_2"] = {**scene["materials"]["m"], "bend_twist": 0.2}  # as the second kind of `m` would be called
        scene["rods"][1]["material"] = "m_2"
        scene["rods"] += [{**scene["rods"][0], "name": "steel", "material": "鋼 2", "shape": {"type": "line", "from": [0, 2, 0], "to": [1, 2, 0]}},
                          {**scene["rods"][0], "name": "cone", "material": "m", "taper": {"keys": [[0, 1], [1, 0.5]]}, "shape": {"type": "line", "from": [0, 3, 0], "to": [1, 3, 0]}}]
        self.run_scene(scene)
        run = self.trajectory()
        for options in ([], ["--split", "0.01"]):
            with self.subTest(options):
                self.convert("out", "run.usda", "--quiet", "--physics", *options)
                process = subprocess.run([USD_PYTHON, "-c", USD_MATERIALS, "run.usda"], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((process.returncode, process.stderr), (0, ""))
                seen = json.loads(process.stdout)
                self.assertEqual(seen["problems"], [])
                self.assertEqual({name: rod["material"] for name, rod in seen["rods"].items()}, {"balken": "m", "环": "m_2", "steel": "鋼 2", "cone": "m"})
                value = lambda rod, name: seen["rods"][rod]["physics:" + name]
                for rod, stretch, bend, radius, density in (("balken", 100, 0.1, 0.01, 1), ("环", 100, 0.2, 0.01, 1), ("steel", 400, 0.9, 0.02, 3)):
                    self.assertAlmostEqual(value(rod, "curvesStretchStiffness") / stretch, 1, 5)
                    self.assertAlmostEqual(value(rod, "curvesBendStiffness") / bend, 1, 5)
                    self.assertAlmostEqual(value(rod, "curvesThickness") / (2 * radius), 1, 5)
                    self.assertAlmostEqual(value(rod, "density") / (density / (np.pi * radius ** 2)), 1, 5)
                self.assertLess(value("cone", "curvesStretchStiffness"), 80, "a tapered rod is thinner than its material")
                self.convert("run.usda", "back.csv", "--frame", "last", "--quiet")
                rows = list(csv.DictReader((self.folder / "back.csv").read_text(encoding="utf-8").splitlines()))
                steel = [[float(r[k]) for k in "xyz"] for r in rows if r["name"] == "steel"]
                np.testing.assert_allclose(steel, run["position"][-1, 23:30], atol=1e-7)

    def groomed(self):
        (self.folder / "groom.usda").write_text(GROOM)
        self.run_scene(GROOMED)
        return self.trajectory()

    def test_colours_of_materials_reach_usd_and_gltf(self):
        self.groomed()
        self.convert("out", "run.usda", "--quiet")
        self.assertRegex((self.folder / "run.usda").read_text(), r"color3f\[\] primvars:displayColor = \[\(1, 0\.21586\d*, 0\)\]")
        self.convert("out", "run.gltf", "--frame", "last", "--quiet")
        scene = json.loads((self.folder / "run.gltf").read_text())
        self.assertIn("COLOR_0", scene["meshes"][0]["primitives"][0]["attributes"])
        self.assertEqual(scene["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"], [1, 1, 1, 1])

    def test_over_says_what_does_not_fit(self):
        self.groomed()
        for arguments, words in ((("out", "x.obj", "--over", "groom.usda"), "only .usda"), (("out", "x.usda", "--over", "nowhere.usda"), "not a file"),
                                 (("groom.usda", "x.usda", "--over", "groom.usda"), "no motion"), (("out", "groom.usda", "--over", "groom.usda"), "the groom itself"),
                                 (("out", "x.usda", "--over", "groom.usda", "--scale", "2"), "leave the other options out")):
            with self.subTest(arguments):
                self.assertIn(words, self.convert(*arguments, expect=BAD_INPUT).err)
        self.assertEqual((self.folder / "groom.usda").read_text(), GROOM)

    @unittest.skipUnless(USD_PYTHON.exists(), "usd-core is not in build/tools: scripts/test-tools.sh installs it")
    def test_usd_core_sees_the_groom_move_and_binary_files_hold_the_same(self):
        os.environ["OSIER_PYTHON"] = str(USD_PYTHON)
        self.addCleanup(os.environ.pop, "OSIER_PYTHON")
        run = self.groomed()
        self.convert("out", "sim.usda", "--over", "groom.usda", "--quiet")
        process = subprocess.run([USD_PYTHON, "-c", USD_OVER, "sim.usda"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        seen = json.loads(process.stdout)
        self.assertEqual((seen["up"], seen["metres"], seen["widths"]), ("Z", 0.01, [np.float32(0.2)]))
        x, y, z = run["position"][-1].T
        np.testing.assert_allclose(seen["points"][:4], 100 * np.stack([x, -z, y], axis=1), atol=1e-4)
        np.testing.assert_allclose(seen["points"][4:], [(0, 9, 170), (2, 9, 170), (4, 9, 171)], atol=1e-4)
        self.convert("out", "run.usdc", "--quiet")
        self.assertEqual((self.folder / "run.usdc").read_bytes()[:8], b"PXR-USDC")
        self.convert("out", "run.csv", "--frame", "last", "--quiet")
        self.convert("run.usdc", "back.csv", "--frame", "last", "--quiet")
        rows = lambda name: [[float(r[k]) for k in "xyz"] for r in csv.DictReader((self.folder / name).read_text().splitlines())]
        np.testing.assert_allclose(rows("back.csv"), rows("run.csv"), atol=1e-6)

    @unittest.skipUnless(VALIDATOR.exists() and shutil.which("node"), "gltf-validator is not in build/tools: scripts/test-tools.sh installs it")
    def test_the_khronos_validator_finds_nothing_wrong(self):
        self.falling()
        self.run_scene(beam(**PULL), folder="broken")
        for arguments, morphs in ((("out", "a.glb"), True), (("out", "b.gltf", "--sides", "5"), True), (("broken", "c.glb"), True),
                                  (("out", "ö d.gltf", "--frame", "3"), False), (("out", "e.glb", "--frame", "0", "--plies", "2"), False)):
            with self.subTest(arguments):
                self.convert(*arguments, "--quiet")
                process = subprocess.run(["node", "-e", GLTF_SCRIPT, "--", VALIDATOR, arguments[1]], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(process.returncode, 0, process.stderr)
                report = json.loads(process.stdout)
                self.assertEqual((report["issues"]["numErrors"], report["issues"]["numWarnings"]), (0, 0), report["issues"])
                self.assertEqual((report["info"]["hasMorphTargets"], report["info"]["animationCount"]), (morphs, int(morphs)))

    def test_vtk_reads_the_points_the_lines_and_the_times(self):
        try:
            import vtk
            from vtk.util.numpy_support import vtk_to_numpy
        except ImportError:
            self.skipTest("python3-vtk9 is not installed")
        run = self.falling()
        self.convert("out", "lines.vtp", "--frame", "last")
        self.convert("out", "curves.vtp", "--frame", "last", "--select", "0-1")
        self.convert("out", "all.pvd", "--quiet")
        for name, lines in (("lines.vtp", 22), ("curves.vtp", 2), ("all_00010.vtp", 22)):
            with self.subTest(name):
                reader = vtk.vtkXMLPolyDataReader()
                reader.SetFileName(os.fspath(self.folder / name))
                reader.Update()
                data = reader.GetOutput()
                np.testing.assert_array_equal(vtk_to_numpy(data.GetPoints().GetData()), run["position"][-1])
                np.testing.assert_allclose(vtk_to_numpy(data.GetPointData().GetArray("radius")), 0.01)
                self.assertEqual(data.GetNumberOfLines(), lines)
        listed = (self.folder / "all.pvd").read_text()
        self.assertEqual(listed.count("<DataSet"), len(run["time"]))
        self.assertIn('timestep="0.1" file="all_00010.vtp"', listed)

    @unittest.skipUnless(shutil.which("blender"), "blender is not installed")
    def test_blender_plays_the_lines_and_the_tubes(self):
        run = self.falling()
        self.run_scene(beam(**PULL), folder="broken")
        (self.folder / "script.py").write_text(BLENDER_SCRIPT)
        for source, options in (("out", []), ("out", ["--tubes", "--sides", "4"]), ("broken", [])):
            with self.subTest(source, options=options):
                self.convert(source, "run.obj", "--quiet", *options)
                frames = len(self.trajectory(source)["time"])
                process = subprocess.run(["blender", "--background", "--factory-startup", "--python-exit-code", "1", "--python", self.folder / "script.py", "--",
                                          self.folder / "run.obj", os.fspath(self.folder / "run.pc2"), str(frames), self.folder / "out.json"], cwd=self.folder, capture_output=True, text=True, timeout=100)
                self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
                seen = json.loads((self.folder / "out.json").read_text())
                positions = np.array(seen["positions"])
                if options:
                    self.assertEqual(seen["faces"], 2 * 4 * (6 + 16) + 2 * 4)
                    ring = positions[:, :7 * 5].reshape(frames, 7, 5, 3)[:, :, :4].mean(axis=2)  # the seam is there twice
                    np.testing.assert_allclose(ring, run["position"][:, :7], atol=1e-6)
                elif source == "out":
                    np.testing.assert_allclose(positions, run["position"], atol=1e-6)
                    self.assertEqual(len(seen["edges"]), 22)
                else:
                    edges = np.array(seen["edges"])
                    length = np.linalg.norm(positions[:, edges[:, 0]] - positions[:, edges[:, 1]], axis=2)
                    np.testing.assert_array_equal((length > 1e-6).sum(axis=1), self.trajectory(source)["segment_alive"].sum(axis=1))


if __name__ == "__main__":
    main()

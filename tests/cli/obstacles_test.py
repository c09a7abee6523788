"""Obstacles from a user's side: what is refused, and what a run with them leaves behind."""

import json

import h5py

from osier_cli import DONE, CliTest, beam, main

CUBE = """v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"""


def scene(*obstacles, **changes):
    """The rod lies along x from 0 to 1, 10 mm thick."""
    return beam(contact=changes.pop("contact", {}), obstacles=list(obstacles), **changes)


FLOOR = {"type": "plane", "name": "floor", "point": [0, -0.5, 0]}


class Refused(CliTest):
    def refused(self, scene, *words, files={}):
        for name, text in files.items():
            self.write(text, name)
        self.write(json.dumps(scene), "scene.json")
        result = self.call("check", "scene.json")
        self.assertEqual(result.code, 2, result)
        for word in words:
            self.assertIn(word, result.err)
        return result.err

    def test_obstacles_need_contact(self):
        bad = scene(FLOOR)
        del bad["contact"]
        self.refused(bad, "/obstacles", "without `contact`")

    def test_an_obstacle_that_starts_inside_a_rod_is_named_with_it(self):
        self.refused(scene({"type": "sphere", "radius": 0.1, "center": [0.5, 0.05, 0]}), "/obstacles/0", "within it at the start",
                     "segment 1 of a")
        self.refused(scene({"type": "cylinder", "hollow": True, "from": [0, 1, 0], "to": [1, 1, 0], "radius": 0.5}), "/obstacles/0",
                     "within it at the start")

    def test_a_small_overlap_starts_thinner_with_a_warning(self):
        self.write(json.dumps(scene({"type": "plane", "point": [0, -0.005, 0]})), "scene.json")
        result = self.call("check", "scene.json")
        self.assertEqual(result.code, DONE, result)
        self.assertIn("overlap at the start", result.out + result.err)

    def test_inverted_tubes(self):
        tube = {"type": "tube", "from": [0, 1, 0], "to": [1, 1, 0], "inner": 0.3, "outer": 0.2}
        self.refused(scene(tube), "/obstacles/0/inner", "inside out")
        self.refused(scene({**tube, "inner": 0.2}), "/obstacles/0/inner")

    def test_nothing_has_no_thickness(self):
        self.refused(scene({"type": "sphere", "radius": 0, "center": [0, 5, 0]}), "/obstacles/0/radius")
        self.refused(scene({"type": "box", "size": [1, 0, 1], "center": [0, 5, 0]}), "/obstacles/0/size", "no volume")
        self.refused(scene({"type": "capsule", "from": [0, 5, 0], "to": [0, 5, 0], "radius": 1}), "/obstacles/0/to")
        self.refused(scene(FLOOR, materials={"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}}), "/contact",
                     "no thickness")

    def test_unknown_materials(self):
        self.refused(scene({**FLOOR, "material": "n"}), "/obstacles/0/material", 'no material "n"')
        self.refused(scene(FLOOR, contact={"friction_pairs": [{"first": "m", "second": "ice", "friction": 1}]}),
                     "/contact/friction_pairs/0/second", 'no material "ice"')

    def test_a_pair_of_materials_has_one_coefficient(self):
        pair = {"first": "m", "second": "n", "friction": 0.1}
        materials = {name: {"young": 1e6, "density": 1000, "radius": 0.01} for name in ("m", "n")}
        rods = [{"name": name, "shape": {"type": "line", "from": [0, y, 0], "to": [1, y, 0]}, "segments": 2, "material": name}
                for y, name in enumerate("mn", 1)]
        both = {"friction_pairs": [pair, {"first": "n", "second": "m", "friction": 0.4}]}
        self.refused(scene(FLOOR, materials=materials, rods=rods, contact=both), "/contact/friction_pairs/1", "again, after /contact/friction_pairs/0")

    def test_what_is_wrong_with_contact_is_not_told_as_if_there_were_none(self):
        err = self.refused(scene(FLOOR, contact={"thickness": 0}), "/contact/thickness")
        self.assertNotIn("without `contact`", err)

    def test_names(self):
        self.refused(scene(FLOOR, FLOOR), "/obstacles/1/name", "used twice")
        self.refused(scene(FLOOR, probes=[{"name": "p", "reaction": "flor"}]), "/probes/0/reaction", "did you mean `floor`?")
        self.refused(scene(FLOOR, constraints=[{"type": "pin", "vertices": "a:end", "motion": {"with": "flor"}}]),
                     "/constraints/0/motion/with", "did you mean `floor`?")

    def test_what_has_no_end_does_not_tilt(self):
        tilt = {"rotate": {"axis": [1, 0, 0], "speed": 1}}
        self.refused(scene({**FLOOR, "motion": tilt}), "/obstacles/0/motion/rotate/axis", "use a box")

    def test_all_that_is_wrong_with_a_mesh_is_told_at_once(self):
        bad = CUBE.replace("v 1 1 1\n", "v 1 nan 1\n").replace("f 5 6 7 8\n", "f 5 5 6\n")
        err = self.refused(scene({"type": "mesh", "file": "bad.obj"}, {"type": "mesh", "file": "missing.obj"}, FLOOR, FLOOR),
                           "/obstacles/0/file", "vertex 6", "no area", "holes", "/obstacles/1/file", "no file", "/obstacles/3/name",
                           files={"bad.obj": bad})
        self.assertIn("`open`", err)
        self.refused(scene({"type": "mesh", "file": "index.obj"}), "line 9", "names vertex", files={"index.obj": CUBE.replace("f 1 4 3 2", "f 1 4 3 20")})
        self.refused(scene({"type": "mesh", "files": ["a.obj", "b.obj"]}), "/obstacles/0/files/1", "not those of the first file",
                     files={"a.obj": CUBE, "b.obj": CUBE.replace("f 1 4 3 2\n", "f 1 4 3\nf 1 3 2\n") + "v 0 0 0\n"})


class Runs(CliTest):
    def run_scene(self, scene, *arguments):
        self.write(json.dumps(scene), "scene.json")
        result = self.call("run", "scene.json", "-o", "out", *arguments)
        self.assertEqual(result.code, DONE, result)
        return result

    def test_a_floor_bears_the_weight_of_a_rod_at_rest(self):
        fallen = scene({"type": "plane", "name": "floor", "point": [0, -0.012, 0]}, forces=[{"type": "gravity", "acceleration": [0, -9.81, 0]}],
                       probes=[{"name": "floor", "reaction": "floor"}], analysis={"type": "dynamic", "step": 0.004, "duration": 2})
        self.run_scene(fallen)
        table = self.table("probes.csv")
        self.assertAlmostEqual(float(table["floor.fy"][-1]), -9.81, delta=1e-3)
        self.assertLess(abs(float(table["floor.fx"][-1])), 1e-6)
        self.assertAlmostEqual(float(table["floor.mz"][-1]), -9.81 * 0.5, delta=1e-2)

    def test_meshes_of_both_formats_hold_a_rod(self):
        corners = [line.split()[1:] for line in CUBE.splitlines() if line.startswith("v ")]
        faces = [[int(i) - 1 for i in line.split()[1:]] for line in CUBE.splitlines() if line.startswith("f ")]
        ply = "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 6\n"
        ply += "property list uchar int vertex_indices\nend_header\n" + "".join(" ".join(c) + "\n" for c in corners)
        ply += "".join("4 %d %d %d %d\n" % tuple(f) for f in faces)
        self.write(CUBE, "cube.obj")
        self.write(ply, "cube.ply")
        for name in ("cube.obj", "cube.ply"):
            with self.subTest(name):
                self.run_scene(scene({"type": "mesh", "name": "cube", "file": name, "move": [0.5, -1.012, 0]},
                                     forces=[{"type": "gravity", "acceleration": [0, -9.81, 0]}],
                                     probes=[{"name": "cube", "reaction": "cube"}, {"name": "mid", "vertex": "a:mid"}],
                                     analysis={"type": "dynamic", "step": 0.004, "duration": 2}))
                table = self.table("probes.csv")
                self.assertAlmostEqual(float(table["cube.fy"][-1]), -9.81, delta=1e-2)
                self.assertAlmostEqual(float(table["mid.y"][-1]), -0.002, delta=2e-3)

    def test_a_trajectory_holds_obstacles_and_where_they_are(self):
        ball = {"type": "sphere", "name": "ball", "radius": 0.1, "center": [0.5, -0.5, 0], "motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [0, -1, 0]]]}}}
        self.run_scene(scene(FLOOR | {"point": [0, -3, 0]}, ball, constraints=[{"type": "pin", "vertices": "a:*"}],
                             analysis={"type": "dynamic", "step": 0.01, "duration": 1}))
        with h5py.File(self.folder / "out/trajectory.h5", "r") as file:
            self.assertEqual([n.rstrip(b"\\0").decode() for n in file["obstacles/names"][:]], ["floor", "ball"])
            start, points, moved = file["obstacles/start"][:], file["obstacles/points"][:], file["obstacle_position"][:]
            self.assertEqual(len(points), start[-1])
            self.assertLess(abs(moved[-1][start[1]:] - points[start[1]:] - [0, -1, 0]).max(), 1e-12)
            self.assertLess(abs(moved[-1][:start[1]] - points[:start[1]]).max(), 1e-12)
            self.assertLess(file["obstacles/triangles"][:].max(), len(points))
        for name in ("a.usda", "a.glb"):
            result = self.call("convert", "out", name)
            self.assertEqual(result.code, DONE, result)
        text = (self.folder / "a.usda").read_text()
        self.assertIn('def Mesh "ball"', text)
        self.assertIn("points.timeSamples", text.split('def Mesh "ball"')[1])

    def test_what_is_fastened_to_an_obstacle_goes_with_it(self):
        arm = {"type": "box", "name": "arm", "center": [0.5, -0.06, 0], "size": [1.2, 0.1, 0.1],
               "motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [0, 0, 1]]]}, "rotate": {"axis": [0, 1, 0], "center": [0.5, 0, 0], "angle": {"keys": [[0, 0], [1, 90]]}}}}
        self.run_scene(scene(arm, constraints=[{"type": "clamp", "vertices": "a:start", "motion": {"with": "arm"}}],
                             probes=[{"name": "p", "vertex": "a:start"}], analysis={"type": "dynamic", "step": 0.01, "duration": 1}))
        end = self.table("probes.csv")
        for column, value in (("p.x", 0.5), ("p.y", 0), ("p.z", 1.5)):
            self.assertAlmostEqual(float(end[column][-1]), value, places=9)


class Contacts(CliTest):
    """What touches, in the trajectory."""

    def run_scene(self, scene, *arguments):
        self.write(json.dumps(scene), "scene.json")
        result = self.call("run", "scene.json", "-o", "out", *arguments)
        self.assertEqual(result.code, DONE, result)
        return h5py.File(self.folder / "out/trajectory.h5")

    @staticmethod
    def of(file, frame):
        rows = slice(file["contacts/start"][frame], file["contacts/start"][frame] + file["contacts/count"][frame])
        return {name: file["contacts"][name][rows] for name in ("segments", "position", "gap", "normal_force", "friction_force")}

    def test_forces_of_a_floor_add_up_to_the_weight_and_to_the_probe(self):
        floor = {"type": "plane", "name": "floor", "point": [0, -0.012, 0]}
        fallen = scene(floor, forces=[{"type": "gravity", "acceleration": [0, -9.81, 0]}], probes=[{"name": "floor", "reaction": "floor"}],
                       analysis={"type": "dynamic", "step": 0.004, "duration": 2}, output={"contacts": True})
        file = self.run_scene(fallen)
        self.assertEqual(file["contacts/count"][0], 0, "nothing is known before the first step")
        last = self.of(file, -1)
        self.assertTrue((last["segments"][:, 1] == -1).all())
        self.assertAlmostEqual(last["normal_force"][:, 1].sum(), 9.81, delta=1e-3)
        probe = self.table("probes.csv")
        for axis, name in enumerate("xyz"):
            total = (last["normal_force"] + last["friction_force"])[:, axis].sum()
            self.assertAlmostEqual(total, -float(probe["floor.f" + name][-1]), delta=1e-12)
        self.assertTrue((abs(last["position"][:, 1] + 0.012) < 1e-12).all(), "the places are on the floor")

    def test_of_two_rods_each_bears_what_the_other_does(self):
        crossed = beam(contact={"friction": 0.5}, output={"contacts": True}, forces=[{"type": "gravity", "acceleration": [0, -9.81, 0]}],
                       analysis={"type": "dynamic", "step": 0.004, "duration": 1})
        crossed["rods"].append({**crossed["rods"][0], "name": "b", "shape": {"type": "line", "from": [0.5, 0.021, -0.2], "to": [0.5, 0.021, 0.2]}})
        crossed["constraints"] = [{"type": "pin", "vertices": ["a:start", "a:end"]}]
        file = self.run_scene(crossed)
        last = self.of(file, -1)
        self.assertGreater(len(last["gap"]), 0)
        upper = file["topology/segments"].shape[0] // 2  # segments of b come after those of a
        self.assertTrue((last["segments"][:, 0] < upper).all() and (last["segments"][:, 1] >= upper).all())
        force = (last["normal_force"] + last["friction_force"]).sum(axis=0)
        weight = 9.81 * file["topology/mass"][:].sum() / 2
        self.assertLess(force[1], 0, "the lower rod is pressed down")
        self.assertGreater(-force[1], 0.2 * weight)
        along = (last["normal_force"] * last["friction_force"]).sum(axis=1)
        self.assertLess(abs(along).max(), 1e-9 * (last["normal_force"] ** 2).sum(), "friction is across the normal")

    def test_asking_for_what_cannot_be(self):
        self.write(json.dumps(beam(output={"contacts": True})), "scene.json")
        result = self.call("check", "scene.json")
        self.assertEqual(result.code, 2)
        self.assertIn("/output/contacts: rods pass through each other in this scene; add `contact`", result.err)
        self.write(json.dumps(scene(FLOOR, output={"contacts": True, "formats": ["obj"]})), "scene.json")
        result = self.call("check", "scene.json")
        self.assertEqual(result.code, 2)
        self.assertIn("/output/contacts: no format of this run can hold them", result.err)


class CertificateOfSupports(CliTest):
    """Springs, dampers, elastic supports and single directions that move are in the energy and momentum of a certificate."""

    def test_the_balance_closes_to_rounding(self):
        keys = lambda *list: {"keys": [[t, x] for t, x in list]}
        held = scene({"type": "plane", "point": [0, -0.05, 0]}, forces=[{"type": "gravity"}, {"type": "drag", "rate": 0.5}],
                     contact={"friction": 0.3}, analysis={"type": "dynamic", "step": 0.004, "duration": 0.6}, constraints=[
                         {"type": "pin", "vertices": "a:start", "axes": "y", "motion": {"translate": keys((0, [0, 0, 0]), (0.3, [0, 0.1, 0]), (0.6, [0, 0, 0]))}},
                         {"type": "spring", "vertices": "a:end", "stiffness": 40, "damping": 0.5, "rest_length": 0,
                          "anchor": keys((0, [1, 0.3, 0.2]), (0.3, [1.2, 0.3, 0.2]), (0.6, [1, 0.2, 0]))},
                         {"type": "spring", "vertices": "b:start", "to": "a:1", "stiffness": 20, "damping": 0.2, "rest_length": 0.3},
                         {"type": "foundation", "segments": "b:1..2", "stiffness": 5, "damping": 0.3, "direction": [0, 0.6, 0.8]}])
        held["rods"].append({**held["rods"][0], "name": "b", "shape": {"type": "line", "from": [0.5, 0.2, -0.3], "to": [0.5, 0.2, 0.4]}})
        self.write(json.dumps(held), "scene.json")
        result = self.call("run", "scene.json", "-o", "out", "--certify", "--stats", "stats.json")
        self.assertEqual(result.code, DONE, result)
        report = json.loads((self.folder / "stats.json").read_text())["certificate"]
        text = json.dumps(report)
        self.assertLess(report["energy_error"], 1e-10, text)
        self.assertLess(report["momentum_error"], 1e-9, text)
        self.assertLess(report["angular_momentum_error"], 1e-9, text)
        self.assertGreater(abs(report["energy"]["driven"]), 1e-3, text)
        self.assertGreater(report["energy"]["damping"], 1e-3, text)


if __name__ == "__main__":
    main()

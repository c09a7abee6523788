"""Every scene in scenes/ is good, runs, and has the size it promises."""

import json
import shutil

import h5py

from osier_cli import DONE, OSIER, SCENES, SOURCE, CliTest, main, memory_of, read_scene

SMALL = ("cantilever", "slingshot", "ring", "hanging_helix", "vbd_failure")
COUNTS = {"slingshot": (44, 46, 47), "bridge": (2208, 2298, 347), "slinky": (2881, 2880, 2879), "hair_afro": (1464704, 1418932, 1373160),
          "hair_wisp": (32000, 31000, 30000)}
# What is too long for a test runs with a part of its strands.
LIGHT = {"hair_afro": ["--set", "/structures/0/strands=50"], "hair_wisp": ["--set", "/structures/0/strands=100"],
         "grass": ["--set", "/structures/0/blades=50"]}


class Scenes(CliTest):
    def run_file(self, path, *arguments):
        result = self.call("run", path, "-o", "out", "--frames", "2", "--stats", "stats.json", *LIGHT.get(path.stem, []), *arguments)
        self.assertEqual(result.code, DONE, result)
        return self.stats()

    def assert_complete(self, path):
        out = self.folder / "out"
        with h5py.File(out / "trajectory.h5", "r") as file:
            scene = json.loads(file["scene"].asstr()[()])
            self.assertEqual(len(file["time"]), 3)
            for key in ("position", "velocity", "frame"):
                data = file[key][:]
                self.assertEqual(len(data), 3)
                self.assertTrue((abs(data) < 1e6).all(), "%s of %s" % (key, path.name))
            self.assertEqual(file.attrs["name"], path.stem)
            frame = file["frame"][:]
            self.assertLess(abs((frame.astype(float)**2).sum(axis=2) - 1).max(), 1e-5)
            self.assertEqual(len(file["topology/segments"]), frame.shape[1])
        formats = scene.get("output", {}).get("formats", ["hdf5"])
        self.assertEqual((out / "frames/frame_00002.obj").exists(), "obj" in formats)
        self.assertEqual((out / "paraview/frame_00002.vtp").exists(), "vtp" in formats)
        self.assertEqual((out / "probes.csv").exists(), bool(scene.get("probes")))
        self.assertEqual(len(self.table("diagnostics.csv")["time"]), 3)
        if scene.get("probes"):
            self.assertEqual(len(self.table("probes.csv")["time"]), 3)

    def assert_counts(self, name, found):
        if name in COUNTS:
            self.assertEqual(found, COUNTS[name])
        if name == "trees":
            for a, b in zip(found, (9948, 9945, 12254)):
                self.assertLess(abs(a - b), 0.05 * b)

    def test_there_are_the_promised_scenes(self):
        names = {p.stem for p in SCENES}
        self.assertLessEqual({"slingshot", "bridge", "slinky", "trees", "cantilever", "vbd_failure"}, names)

    def test_each_is_good_and_named_after_its_file(self):
        for path in SCENES:
            with self.subTest(path.name):
                result = self.call("check", path)
                self.assertEqual(result.code, DONE, result)
                self.assertIn("good", result.out)

    def test_the_papers_schedules_are_scenes_of_their_own_and_tell_their_error(self):
        paper = sorted((SOURCE / "scenes/paper").glob("*.json"))
        self.assertEqual({p.stem for p in paper}, {"slingshot", "bridge", "slinky", "trees", "cantilever", "vbd_failure", "hair_afro"})
        for path in paper:
            with self.subTest(path.name):
                result = self.call("run", path, "-o", "out", "--frames", "1", *LIGHT.get(path.stem, []))
                self.assertEqual(result.code, DONE, result)
                self.assertRegex(result.out, "steps end after a fixed number of iterations, .* the worst left [0-9.e-]+ of the largest force")
                scene = self.trajectory()["scene"]
                self.assertEqual(self.call("run", SOURCE / "scenes" / path.name, "-o", "out", "--frames", "1", "--quiet",
                                           *LIGHT.get(path.stem, [])).code, DONE)
                twin = self.trajectory()["scene"]
                self.assertEqual(scene["solver"]["name"], "stable_cosserat")
                self.assertEqual(twin["solver"]["name"], "automatic")
                self.assertNotIn("iterations", twin["solver"])
                for part in ("rods", "structures", "materials", "constraints", "forces"):
                    self.assertEqual(scene.get(part), twin.get(part), "the same problem")

    def test_info(self):
        for path in SCENES:
            with self.subTest(path.name):
                result = self.call("info", path, "--json")
                self.assertEqual(result.code, DONE, result)
                info = json.loads(result.out)
                for key in ("vertices", "segments", "joints", "stiffness_ratio_R", "bytes_estimate"):
                    self.assertIn(key, info)
                self.assertEqual(info["name"], path.stem)
                self.assert_counts(path.stem, (info["vertices"], info["segments"], info["joints"]))
                if path.stem not in SMALL:
                    continue  # the text is made of the same numbers
                text = self.call("info", path)
                self.assertEqual(text.code, DONE)
                self.assertIn("vertices %d, segments %d, joints %d" % (info["vertices"], info["segments"], info["joints"]), text.out)

    def test_info_predicts_the_memory_of_a_run_within_a_tenth(self):
        """Large enough that the program itself (some 12 MB) hardly counts."""
        for name, arguments in (("hair_afro", ["--set", "/structures/0/strands=8000"]),
                                ("net", ["--set", "/structures/0/nx=180", "--set", "/structures/0/ny=180", "--precision", "double"])):
            with self.subTest(name):
                path = SOURCE / "scenes" / (name + ".json")
                arguments += ["--set", "/analysis/fps=1000"]
                predicted = json.loads(self.call("info", path, "--json", *arguments).out)["bytes_estimate"]
                if b"__asan_init" in OSIER.read_bytes():
                    self.skipTest("sanitizers have a heap of their own")
                before = memory_of([OSIER, "version"])
                used = memory_of([OSIER, "run", path, "-o", self.folder / "out", "--frames", "1", "--quiet", *arguments]) - before
                self.assertLess(abs(predicted - used), 0.1 * used, "%.1f MB predicted, %.1f MB used" % (predicted / 1e6, used / 1e6))

    def test_each_runs_two_frames(self):
        for path in SCENES:
            with self.subTest(path.name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                stats = self.run_file(path)
                self.assert_complete(path)
                if path.stem not in LIGHT:
                    self.assert_counts(path.stem, (stats["vertices"], stats["segments"], stats["joints"]))
                self.assertEqual((stats["frames"], stats["non_finite"], stats["interrupted"], stats["error"]), (2, False, False, ""))
                self.assertGreater(stats["ms_per_frame_median"], 0)

    def test_small_scenes_with_newton(self):
        for name in SMALL:
            with self.subTest(name):
                stats = self.run_file(SOURCE / "scenes" / (name + ".json"), "--solver", "newton")
                self.assertEqual((stats["solver"], stats["precision"], stats["steps_not_converged"]), ("newton", "double", 0))

    def test_each_in_the_other_precision_on_two_threads(self):
        """In the one of the scene it runs above, and the number of threads changes no bit."""
        for path in SCENES:
            if path.stem in ("trees", "slinky", "net", "hair_afro", "hair_wisp"):
                continue  # float by themselves, and long
            if '"newton"' in path.read_text() or '"deti"' in path.read_text():
                continue  # always double; refused elsewhere
            own = read_scene(path).get("execution", {}).get("precision", "double")
            precision = "double" if own == "float" else "float"
            with self.subTest(path.name, precision=precision):
                stats = self.run_file(path, "--precision", precision, "--threads", "2")
                self.assertEqual((stats["precision"], stats["threads"], stats["non_finite"]), (precision, 2, False))
                with h5py.File(self.folder / "out/trajectory.h5", "r") as file:
                    self.assertEqual(file["position"].dtype.itemsize, 4 if precision == "float" else 8)

    def test_an_open_scene_can_be_repeated_to_the_bit(self):
        path = SOURCE / "scenes/slingshot.json"
        positions = []
        for _ in range(2):
            self.run_file(path)
            positions.append(self.trajectory()["position"])
        self.assertTrue((positions[0] == positions[1]).all())

    def test_the_scene_in_a_trajectory_runs_again(self):
        self.run_file(SOURCE / "scenes/cantilever.json")
        first = self.trajectory()
        self.run_file(self.write(first["scene"], "again.json"))
        self.assertTrue((self.trajectory()["position"] == first["position"]).all())


if __name__ == "__main__":
    main()

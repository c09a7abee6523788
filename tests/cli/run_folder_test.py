"""The folder of a run: held by one run, never emptied for nothing, and without leftovers of another run."""

import resource
import shutil
import subprocess
import time

import h5py

from osier_cli import BAD_INPUT, DONE, OSIER, PATIENCE, RUN_FAILED, CliTest, beam, main

FALLS = beam(forces=[{"type": "gravity"}])
LONG = {**FALLS, "analysis": {"type": "dynamic", "step": 0.001, "duration": 100000, "fps": 50}}
FAILS_AT_ONCE = beam(forces=[{"type": "gravity", "acceleration": [0, -1e308, 0]}] * 3)
ALL_FORMATS = ["hdf5", "obj", "vtp", "usda", "pc2", "npz", "csv", "gltf", "bcc", "hair", "poly", "ply"]


class RunFolder(CliTest):
    def start(self, scene=LONG, formats=("hdf5",)):
        """A run that goes on until it is ended; returns when its first frames are there."""
        path = self.write({**scene, "output": {"formats": list(formats)}}, "long.json")
        process = subprocess.Popen([OSIER, "run", path, "-o", "out"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.addCleanup(end)
        table = self.folder / "out/diagnostics.csv"
        self.wait(lambda: table.exists() and table.read_text().count("\n") > 4)
        self.assertIsNone(process.poll())
        return process

    def wait(self, condition, seconds=20):
        limit = time.monotonic() + PATIENCE * seconds
        while not condition():
            self.assertLess(time.monotonic(), limit, "it did not happen")
            time.sleep(0.02)

    def remove_out(self):
        """At once, as seen by a run that goes on: file by file it would miss one of them before the folder."""
        (self.folder / "out").rename(self.folder / "gone")
        shutil.rmtree(self.folder / "gone", ignore_errors=True)

    def files(self, folder="out"):
        root = self.folder / folder
        found = {}
        for path in root.rglob("*"):
            try:
                if path.is_file():
                    found[str(path.relative_to(root))] = path.read_bytes()
            except FileNotFoundError:
                pass  # a journal or a temporary file of a run that goes on
        return found

    # -------------------------------------------------------------------------------------------------------- held by one

    def test_a_second_run_is_refused_and_the_first_goes_on(self):
        for formats in (["hdf5"], ["obj"], ["usda", "csv"], ["npz", "vtp"]):
            with self.subTest(formats):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                first = self.start(formats=formats)
                before = {name for name in self.files() if not name.endswith((".tmp", ".journal"))}
                second = self.call("run", self.write(FALLS), "-o", "out")
                self.assertEqual(second.code, BAD_INPUT, second)
                self.assertRegex(second.err, r"out: another run is writing into this folder; .*-o")
                self.assertLessEqual(before, set(self.files()), "the second run removed files of the first")
                first.terminate()
                self.assertEqual(first.wait(20), RUN_FAILED)  # interrupted
                if "hdf5" in formats:
                    data = self.trajectory()
                    self.assertEqual(data["scene"]["analysis"]["duration"], 100000)
                    self.assertGreater(len(data["time"]), 3)
                times = self.table("diagnostics.csv")["time"]
                self.assertEqual(times, sorted(times))

    def test_a_killed_run_lets_go_of_its_folder(self):
        first = self.start()
        first.kill()
        first.wait(20)
        self.run_scene(FALLS)
        self.assertEqual(len(self.trajectory()["time"]), 6)

    # ------------------------------------------------------------------------------------------------- the run before it

    def test_a_trajectory_that_is_open_elsewhere_stays_as_it_is_there(self):
        self.run_scene(FALLS)
        with h5py.File(self.folder / "out/trajectory.h5", "r") as reader:
            before = reader["position"][:]
            self.run_scene({**FALLS, "forces": []})
            self.assertTrue((reader["position"][:] == before).all(), "a new run changed an open file")
        self.assertLess(abs(self.trajectory()["velocity"]).max(), 1e-12)

    def test_a_refused_run_leaves_the_one_before_to_the_last_byte(self):
        self.run_scene({**FALLS, "output": {"formats": ["hdf5", "csv", "vtp"]}})
        (self.folder / "out/notes.txt").write_text("mine")
        (self.folder / "out/frames").write_text("a file where a folder is needed")
        before = self.files()
        for formats in (["obj"], ["hdf5", "obj"], ["csv", "vtp", "obj"]):
            result = self.call("run", self.write({**LONG, "output": {"formats": formats}}), "-o", "out")
            self.assertEqual(result.code, BAD_INPUT, result)
            self.assertIn("frames", result.err)
            self.assertEqual(self.files(), before)

    def test_a_run_that_finds_the_disk_full_leaves_the_one_before(self):
        self.run_scene(FALLS)
        before = self.files()
        path = self.write({**FALLS, "output": {"formats": ["obj", "hdf5"]}})

        def tiny():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        process = subprocess.run([OSIER, "run", path, "-o", "out"], cwd=self.folder, capture_output=True, text=True, preexec_fn=tiny,
                                 restore_signals=False)  # a full disk, not a signal
        self.assertIn(process.returncode, (RUN_FAILED, BAD_INPUT), process.stderr)
        self.assertIn("trajectory.h5", process.stderr)
        self.assertEqual(self.files(), before)

    def test_a_refused_run_leaves_no_folder_that_it_made(self):
        (self.folder / "shut").mkdir()
        path = self.write({**FALLS, "output": {"formats": ["hdf5"]}})

        def tiny():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        process = subprocess.run([OSIER, "run", path, "-o", "shut/new"], cwd=self.folder, capture_output=True, preexec_fn=tiny,
                                 restore_signals=False)  # a full disk, not a signal
        self.assertNotEqual(process.returncode, DONE)
        self.assertEqual(list((self.folder / "shut").iterdir()), [])

    def test_a_run_that_fails_in_its_first_frame_keeps_the_one_before(self):
        self.run_scene({**FALLS, "output": {"formats": ["hdf5", "obj"]}})
        good = self.files()
        for _ in range(2):  # the second failure must not take the failed run for the good one
            result = self.run_scene(FAILS_AT_ONCE, expect=RUN_FAILED)
            self.assertRegex(result.err, r"the results of the run before are kept in out/earlier_run")
            self.assertEqual(self.files("out/earlier_run"), good)
            self.assertEqual(len(self.trajectory()["time"]), 1, "the state before the failure")
            self.assertFalse((self.folder / "out/frames").exists(), "frames of the run before beside those of this one")
        self.run_scene({**FALLS, "forces": []})
        self.assertEqual(set(self.files()), {"trajectory.h5", "diagnostics.csv"})

    def test_what_another_run_left_and_this_one_does_not_write_is_gone(self):
        for formats in (["obj", "usda", "csv", "npz", "vtp"], ["gltf", "bcc"], ["hair", "poly", "ply", "pc2"]):
            with self.subTest(formats):
                self.run_scene({**FALLS, "output": {"formats": formats}, "probes": [{"name": "tip", "vertex": "a:end"}]})
                for name in ("notes.txt", "frames/mine.obj", "frames/frame_1.obj", "trajectory.blend"):
                    (self.folder / "out" / name).parent.mkdir(exist_ok=True)
                    (self.folder / "out" / name).write_text("mine")
                self.run_scene({**FALLS, "output": {"diagnostics": "none"}})
                self.assertEqual(set(self.files()), {"trajectory.h5", "notes.txt", "frames/mine.obj", "frames/frame_1.obj", "trajectory.blend"})

    def test_every_format_is_known_to_the_folder(self):
        listed = {line.split()[0] for line in self.call("list", "formats").out.splitlines()}
        self.assertEqual(set(ALL_FORMATS), listed, "a new format: add it here, and see that its files are cleared")
        self.run_scene({**FALLS, "output": {"formats": ALL_FORMATS}}, "--frames", "2")
        self.run_scene({**FALLS, "output": {"formats": []}}, "--frames", "0")
        self.assertEqual(set(self.files()), {"diagnostics.csv"})

    # ------------------------------------------------------------------------------------------------------------ it goes

    def test_a_folder_that_vanishes_is_an_error(self):
        for formats in (["hdf5"], ["csv"], []):
            for replaced in (False, True):
                with self.subTest(formats=formats, replaced=replaced):
                    process = self.start(formats=formats)
                    self.remove_out()
                    if replaced:
                        (self.folder / "out").mkdir()
                    self.assertEqual(process.wait(20), RUN_FAILED)
                    self.assertRegex(process.stderr.read(), r"error: out: the folder has been removed, moved or replaced")
                    self.assertEqual(list((self.folder / "out").iterdir()) if replaced else [], [])
                    shutil.rmtree(self.folder / "out", ignore_errors=True)


if __name__ == "__main__":
    main()

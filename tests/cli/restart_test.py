"""Runs that are killed at any moment and resumed end as if nobody had touched them, bit by bit; `osier diff` tells where runs differ."""

import json
import os
import random
import signal
import subprocess
import time

import h5py

from osier_cli import BAD_INPUT, DONE, OSIER, PATIENCE, RUN_FAILED, SOURCE, CliTest, beam, main, read_scene

LONG = bool(os.environ.get("OSIER_LONG"))
ROD = {"young": 1e6, "poisson": 0.4, "radius": 0.01, "density": 1000, "friction": 0.3}


def pile():
    """Rods that fall onto each other and onto the ground, with friction."""
    rods = [{"name": "r%d" % i, "shape": {"type": "line", "from": [-0.2, 0.02 * i, 0.03 + 0.03 * i] if i % 2 else [0.01 * i, -0.2, 0.03 + 0.03 * i],
                                          "to": [0.2, 0.02 * i, 0.05 + 0.03 * i] if i % 2 else [0.01 * i, 0.2, 0.02 + 0.03 * i]},
             "segments": 8, "material": "m"} for i in range(4)]
    return {"materials": {"m": ROD}, "rods": rods, "contact": {}, "forces": [{"type": "gravity"}],
            "obstacles": [{"type": "plane", "name": "floor", "point": [0, 0, 0], "normal": [0, 0, 1], "material": "m"}],
            "probes": [{"name": "floor", "reaction": "floor"}, {"name": "tip", "vertex": "r3:end"}],
            "analysis": {"type": "dynamic", "step": 0.002, "duration": 0.6, "fps": 60},
            "output": {"contacts": True, "diagnostics": "step", "probes": "step"}}


def breaking():
    """A chain that breaks under its weight, by bdf2, with section forces and files beside the trajectory."""
    return {"materials": {"m": {"stretch_shear": 100, "bend_twist": 0.01, "line_density": 1, "radius": 0.01}},
            "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 30, "material": "m"}],
            "constraints": [{"type": "clamp", "vertices": "a:start"}, {"type": "pin", "vertices": "a:end", "release": 0.3}],
            "forces": [{"type": "gravity"}], "fracture": {"strain_limit": 0.12},
            "analysis": {"type": "dynamic", "step": 0.002, "duration": 1, "fps": 50, "integrator": "bdf2"},
            "probes": [{"name": "root", "clamp": "a:start"}], "output": {"formats": ["hdf5", "obj", "csv"], "sections": True}}


def shipped(name, **changes):
    scene = read_scene(SOURCE / "scenes" / (name + ".json"))
    for pointer, value in changes.items():
        *way, last = pointer.split("__")
        at = scene
        for key in way:
            at = at.setdefault(key, {})
        at[last] = value
    return scene


def sweeps():
    return shipped("hanging_helix", solver={"name": "stable_cosserat", "iterations": 8, "lambda": "exact"}, analysis__duration=1.5,
                   output={"formats": ["hdf5"]})


def fibres():
    return shipped("paper/deti/fig02", analysis__duration=0.5)


SCENES = {"pile": pile, "breaking": breaking, "sweeps": sweeps, "fibres": fibres}


class Restart(CliTest):
    def command(self, *arguments):
        return subprocess.run([OSIER, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120 * PATIENCE)

    def run_and_kill(self, after, *arguments):
        """True when the run was killed before it ended."""
        process = subprocess.Popen([OSIER, "run", *arguments, "--quiet"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        message = process.communicate()[1].decode()
        self.assertIn(process.returncode, (DONE, -signal.SIGKILL), message)
        return process.returncode != DONE

    def expect_same(self, reference, folder):
        told = self.command("diff", reference, folder)
        self.assertEqual(told.returncode, DONE, told.stdout + told.stderr)
        for path in sorted((self.folder / reference).rglob("*")):
            if path.suffix in (".csv", ".obj"):
                other = self.folder / folder / path.relative_to(self.folder / reference)
                self.assertEqual(path.read_bytes(), other.read_bytes(), path)
        self.assertFalse((self.folder / folder / "checkpoint.osier").exists())

    def kill_often(self, name, kills, seed):
        chance = random.Random(seed)
        scene = self.write(SCENES[name](), name + ".json")
        begun = time.monotonic()
        self.assertEqual(self.command("run", scene, "-o", "whole", "--quiet").returncode, DONE)
        whole = time.monotonic() - begun
        done, rounds = 0, 0
        while done < kills:
            rounds += 1
            folder = "killed%d" % rounds
            running = self.run_and_kill(chance.uniform(0, whole), scene, "-o", folder)
            while running:
                done += 1
                checkpoint = self.folder / folder / "checkpoint.osier"
                saved = checkpoint.exists() and checkpoint.stat().st_size > 0  # not killed before the first one
                where = ["--resume", folder, "--threads", str(1 + done % 3)] if saved else [scene, "-o", folder]
                # The file is never that of half a frame.
                if saved:
                    with h5py.File(self.folder / folder / "trajectory.h5", "r", locking=False) if not (
                            self.folder / folder / "trajectory.h5.journal").exists() else open(os.devnull) as file:
                        if isinstance(file, h5py.File):
                            counts = {len(file[n]) for n in ("time", "position", "velocity", "frame", "state_hash")}
                            self.assertEqual(len(counts), 1, counts)
                running = self.run_and_kill(chance.uniform(0, whole) if done < kills else 600, *where)
            self.expect_same("whole", folder)
        return done

    def test_a_killed_run_ends_as_if_nothing_had_happened(self):
        for seed, name in enumerate(SCENES):
            with self.subTest(name):
                self.kill_often(name, 13 if LONG else 2, seed)  # more than 50 in all

    def test_frames_of_a_killed_run_are_kept(self):
        scene = pile()
        scene["analysis"]["duration"] = 60
        scene = self.write(scene, "pile.json")
        process = subprocess.Popen([OSIER, "run", scene, "-o", "out", "--quiet"], cwd=self.folder)
        checkpoint = self.folder / "out" / "checkpoint.osier"
        end = time.monotonic() + 30 * PATIENCE
        while time.monotonic() < end and not checkpoint.exists():
            time.sleep(0.01)
        time.sleep(0.3)
        process.kill()
        process.wait()
        frames = len(h5py.File(self.folder / "out" / "trajectory.h5", "r", locking=False)["time"])
        self.assertEqual(self.command("run", "--resume", "out", "--frames", str(frames + 1), "--stats", "stats.json").returncode, DONE)
        stats = json.loads((self.folder / "stats.json").read_text())
        self.assertGreaterEqual(stats["resumed_from"], frames - 2)
        self.assertEqual(stats["frames"], frames + 1)

    def test_statics_go_on_too(self):
        scene = beam(constraints=[{"type": "clamp", "vertices": "a:start"}], forces=[{"type": "force", "vertices": "a:end", "force": [0, -1, 0]}],
                     analysis={"type": "static", "load_steps": 40}, probes=[{"name": "tip", "vertex": "a:end"}])
        path = self.write(scene)
        self.assertEqual(self.command("run", path, "-o", "whole").returncode, DONE)
        self.assertEqual(self.command("run", path, "-o", "part", "--frames", "17").returncode, DONE)
        (self.folder / "part").rename(self.folder / "gone")
        process = subprocess.Popen([OSIER, "run", path, "-o", "part", "--quiet"], cwd=self.folder)
        while not (self.folder / "part" / "checkpoint.osier").exists() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.wait()
        if (self.folder / "part" / "checkpoint.osier").exists():
            self.assertEqual(self.command("run", "--resume", "part").returncode, DONE)
        self.expect_same("whole", "part")


class Refusals(CliTest):
    def setUp(self):
        super().setUp()
        scene = beam(constraints=[{"type": "clamp", "vertices": "a:start"}], forces=[{"type": "gravity"}])
        scene["analysis"]["duration"] = 1000
        self.path = self.write(scene, "beam.json")
        process = subprocess.Popen([OSIER, "run", self.path, "-o", "out", "--quiet"], cwd=self.folder)
        while not (self.folder / "out" / "checkpoint.osier").exists():
            time.sleep(0.01)
        process.kill()
        process.wait()

    def refused(self, *arguments):
        told = subprocess.run([OSIER, "run", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(told.returncode, BAD_INPUT, told.stdout)
        return told.stderr

    def test_a_changed_scene_is_refused_with_what_differs(self):
        scene = json.loads((self.folder / "beam.json").read_text())
        scene["materials"]["m"]["bend_twist"] = 2
        (self.folder / "beam.json").write_text(json.dumps(scene))
        message = self.refused("--resume", "out")
        self.assertIn("/materials/m/bend_twist", message)
        self.assertIn("is 2", message)

    def test_options_that_change_the_scene_are_refused(self):
        self.assertIn("cannot be changed on the way", self.refused("--resume", "out", "--set", "/analysis/step=0.001"))
        self.assertIn("in its own folder", self.refused("--resume", "out", "-o", "other"))

    def test_a_damaged_checkpoint_is_refused(self):
        paths = [self.folder / "out" / name for name in ("checkpoint.osier", "checkpoint2.osier")]
        paths = [path for path in paths if path.exists()]  # there are two, written in turn
        for path in paths:
            text = bytearray(path.read_bytes())
            text[len(text) // 2] ^= 1
            path.write_bytes(text)
        self.assertIn("damaged", self.refused("--resume", "out"))
        paths[0].write_bytes(b"something else, and of some length")
        self.assertIn("another version", self.refused("--resume", "out"))
        for path in paths:
            path.unlink()
        self.assertIn("holds no checkpoint", self.refused("--resume", "out"))
        self.assertIn("no such folder", self.refused("--resume", "nowhere"))

    def test_a_run_without_checkpoints_says_so(self):
        path = self.write(beam(output={"checkpoint": "none"}), "none.json")
        self.assertEqual(subprocess.run([OSIER, "run", path, "-o", "none", "--quiet"], cwd=self.folder).returncode, DONE)
        self.assertIn("holds no checkpoint", self.refused("--resume", "none"))


class Diff(CliTest):
    def setUp(self):
        super().setUp()
        scene = beam(constraints=[{"type": "clamp", "vertices": "a:start"}], forces=[{"type": "gravity"}])
        for name, force in (("one", [0, -9.81, 0]), ("two", [0, -9.81, 0]), ("other", [0, -9.811, 0])):
            scene["forces"] = [{"type": "gravity", "acceleration": force}]
            path = self.write(scene, name + ".json")
            self.assertEqual(subprocess.run([OSIER, "run", path, "-o", name, "--quiet"], cwd=self.folder).returncode, DONE)

    def diff(self, *arguments):
        return subprocess.run([OSIER, "diff", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def test_equal_runs_are_the_same(self):
        told = self.diff("one", "two")
        self.assertEqual(told.returncode, DONE, told.stdout)
        self.assertIn("every bit", told.stdout)

    def test_the_first_difference_is_told_with_frame_quantity_and_element(self):
        told = self.diff("one", "other")
        self.assertEqual(told.returncode, RUN_FAILED)
        self.assertRegex(told.stdout, r"first difference: frame 1, t = 0.02 s, position of vertex [1-4]: \(.*\) and \(.*\), apart by")
        self.assertIn("state_hash", told.stdout)

    def test_a_tolerance_lets_small_differences_pass(self):
        self.assertEqual(self.diff("one", "other", "--tolerance", "0.01").returncode, DONE)
        self.assertEqual(self.diff("one", "other", "--tolerance", "1e-9").returncode, RUN_FAILED)

    def test_other_rods_and_missing_runs(self):
        path = self.write(beam(rods=[{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 5, "material": "m"}]))
        self.assertEqual(subprocess.run([OSIER, "run", path, "-o", "five", "--quiet"], cwd=self.folder).returncode, DONE)
        told = self.diff("one", "five")
        self.assertEqual(told.returncode, RUN_FAILED)
        self.assertIn("5 vertices, the second 6", told.stdout)
        self.assertEqual(self.diff("one", "nothing").returncode, BAD_INPUT)


if __name__ == "__main__":
    main()

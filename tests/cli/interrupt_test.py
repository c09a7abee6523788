"""Ctrl-C, the progress bar, and runs that fail half-way: what has been written stays readable."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from osier_cli import DONE, OSIER, RUN_FAILED, CliTest, beam, main

LONG = beam(forces=[{"type": "gravity"}, {"type": "drag", "rate": 1}], constraints=[{"type": "pin", "vertices": 0}],
            probes=[{"name": "tip", "vertex": "a:end"}], analysis={"type": "dynamic", "step": 0.001, "duration": 100000, "fps": 50},
            output={"formats": ["hdf5", "obj", "vtp"], "diagnostics": "step", "probes": "step"})


class Interrupt(CliTest):
    def start(self, *arguments):
        """Runs on a terminal of its own; returns the process and the terminal's other end."""
        master, slave = pty.openpty()
        process = subprocess.Popen([OSIER, "run", self.write(LONG), "-o", "out", "--stats", "stats.json", *arguments], cwd=self.folder,
                                   stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, master

    def read(self, master, until=None, seconds=20):
        text, end = "", time.monotonic() + seconds
        while time.monotonic() < end and not (until and re.search(until, text)):
            if select.select([master], [], [], 0.1)[0]:
                try:
                    data = os.read(master, 65536)
                except OSError:  # the other end is gone
                    break
                if not data:
                    break
                text += data.decode("utf-8", "replace")
        return text

    def interrupted(self, number, pause=0.3):
        process, master = self.start()
        text = self.read(master, r"frame [3-9]\d*/")
        time.sleep(pause)
        process.send_signal(number)
        text += self.read(master)
        self.assertEqual(process.wait(20), RUN_FAILED)
        return text

    def test_the_bar_shows_frame_time_and_eta(self):
        text = self.interrupted(signal.SIGINT)
        self.assertRegex(text, r"\r(\x1b\[K)?\[[#-]+\] scene frame \d+/5000000 +[\d.]+ ms/frame +ETA \d+")
        self.assertGreater(text.count("\r"), 2)

    def test_ctrl_c_leaves_complete_files_and_exits_with_1(self):
        text = self.interrupted(signal.SIGINT)
        self.assertRegex(text, r"interrupted .*\bout\b")
        data = self.trajectory()
        frames = len(data["time"])
        self.assertGreaterEqual(frames, 2)
        self.assertTrue((data["position"] == data["position"]).all())
        self.assertTrue((data["time"][1:] > data["time"][:-1]).all())
        out = self.folder / "out"
        self.assertEqual(len(list((out / "frames").iterdir())), frames)
        self.assertFalse(list(out.rglob("*.tmp")))
        steps = round(data["time"][-1] / 0.001)
        for name in ("diagnostics.csv", "probes.csv"):
            self.assertEqual(len(self.table(name)["time"]), steps + 1)
        self.assertEqual(self.stats()["steps"], steps)
        self.assertIs(self.stats()["interrupted"], True)

    def test_terminate_is_as_kind_as_ctrl_c(self):
        self.assertIn("interrupted", self.interrupted(signal.SIGTERM))
        self.assertGreaterEqual(len(self.trajectory()["time"]), 2)

    def test_a_killed_run_can_be_read(self):
        process, master = self.start()
        self.read(master, r"frame [3-9]\d*/")
        process.kill()
        process.wait(20)
        self.assertGreaterEqual(len(self.trajectory()["time"]), 2)

    def test_quiet_shows_no_bar(self):
        process, master = self.start("--quiet", "--frames", "3")
        self.assertEqual(self.read(master).strip(), "")
        self.assertEqual(process.wait(20), DONE)

    def test_frames_appear_while_the_run_goes_on(self):
        process, master = self.start()
        self.read(master, r"frame [3-9]\d*/")
        self.assertIsNone(process.poll())
        self.assertTrue((self.folder / "out/frames/frame_00002.obj").exists())
        self.assertIn("frame_00001.vtp", (self.folder / "out/trajectory.pvd").read_text())
        process.send_signal(signal.SIGINT)
        process.wait(20)


class NotFinite(CliTest):
    # Good for 0.05 s, then a load that no double can carry.
    EXPLODES = beam(forces=[{"type": "force", "vertices": "a:2", "force": {"keys": [[0.05, [0, 0, 0]], [0.06, [1e308, 0, 1e308]]]}}],
                    constraints=[{"type": "pin", "vertices": 0}], analysis={"type": "dynamic", "step": 0.01, "duration": 1, "fps": 50},
                    output={"formats": ["hdf5", "obj", "vtp"]})

    def test_it_stops_names_vertex_and_step_and_keeps_the_frames(self):
        for arguments in ((), ("--precision", "float"), ("--solver", "newton"), ("--threads", "2")):
            with self.subTest(arguments):
                result = self.run_scene(self.EXPLODES, *arguments, expect=RUN_FAILED)
                match = re.search(r"step (\d+), t = \S+ s: .*(vertex|segment) (\d+) is not finite", result.err)
                self.assertTrue(match, result)
                self.assertIn(int(match.group(1)), range(6, 9))
                self.assertRegex(result.err, r"\d+ frames kept in out")
                data = self.trajectory()
                self.assertEqual(int(re.search(r"(\d+) frames kept", result.err).group(1)), len(data["time"]))
                self.assertGreaterEqual(len(data["time"]), 3)
                for key in ("position", "velocity", "frame"):
                    self.assertTrue((abs(data[key]) < 1e300).all(), key)
                self.table("diagnostics.csv")

    def test_the_named_vertex_is_the_loaded_one(self):
        result = self.run_scene(self.EXPLODES, expect=RUN_FAILED)
        self.assertRegex(result.err, r"vertex [0-4] ")

    def test_stats_say_so_and_are_json(self):
        self.run_scene(self.EXPLODES, expect=RUN_FAILED)
        text = (self.folder / "stats.json").read_text()
        stats = json.loads(text, parse_constant=lambda word: self.fail(word + " is not JSON"))
        self.assertIs(stats["non_finite"], True)
        self.assertIsInstance(stats["energy_total"], float)
        self.assertIn("not finite", stats["error"])

    def test_gravity_that_overflows_in_the_first_step(self):
        self.run_scene(beam(forces=[{"type": "gravity", "acceleration": [0, -1e308, 0]}] * 3), expect=RUN_FAILED)
        self.assertEqual(len(self.trajectory()["time"]), 1)

    def test_a_static_solve_that_overflows_fails_too(self):
        scene = beam(forces=[{"type": "force", "vertices": 4, "force": [1e308, 1e308, 0]}] * 2, constraints=[{"type": "clamp", "vertices": 0}],
                     analysis={"type": "static"})
        result = self.run_scene(scene, expect=RUN_FAILED)
        self.assertIn("error:", result.err)


if __name__ == "__main__":
    main()

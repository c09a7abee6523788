"""Runs so large that formats change their ways: only in the long suite (OSIER_LONG=1), as they fill the disk for minutes."""

import os
import pathlib
import shutil
import subprocess
import time
import unittest

import numpy as np

from osier_cli import DONE, SOURCE, CliTest, main

USD_PYTHON = (SOURCE / "build" / "tools" if SOURCE else pathlib.Path(".")) / "venv" / "bin" / "python"


class Large(CliTest):
    def convert(self, *arguments):
        result = self.call("convert", *arguments, "--quiet", timeout=900)
        self.assertEqual(result.code, DONE, result)

    @unittest.skipUnless(os.environ.get("OSIER_LONG"), "writes 600 MB: only in the long suite")
    def test_a_run_beyond_500_mb_becomes_value_clips_that_are_read_again(self):
        if shutil.disk_usage(self.folder).free < 3e9:
            self.skipTest("needs 3 GB of disk")
        vertices = 200_000
        scene = {"materials": {"m": {"stretch_shear": 100, "bend_twist": 0.1, "line_density": 1, "radius": 0.01}},
                 "rods": [{"name": "r%d" % k, "shape": {"type": "line", "from": [0, 0.1 * k, 0], "to": [20, 0.1 * k, 1 + 0.1 * k]}, "segments": vertices // 20 - 1, "material": "m"}
                          for k in range(20)],
                 "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}],
                 "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.25, "fps": 100}}
        self.run_scene(scene, timeout=900)
        run = self.trajectory()
        self.assertEqual(run["position"].shape, (26, vertices, 3))
        start = time.time()
        self.convert("out", "run.usda")
        wrote = time.time() - start
        sizes = [p.stat().st_size for p in (self.folder / "run_clips").glob("clip_*.usda")]
        self.assertGreater(sum(sizes), 500e6)
        self.assertLess((self.folder / "run.usda").stat().st_size, 1e6)
        self.assertLess(max(sizes), 50e6, "a viewer loads one clip at a time")
        read = []
        for frame, place in (("first", 0), ("last", -1)):
            start = time.time()
            self.convert("run.usda", "back.ply", "--frame", frame)
            read.append(time.time() - start)
            data = (self.folder / "back.ply").read_bytes()
            points = np.frombuffer(data, "<f8", 4 * vertices, data.index(b"end_header\n") + 11).reshape(-1, 4)[:, :3]
            np.testing.assert_allclose(points, run["position"][place], atol=1e-6)
        print("\n%d clips, %.0f MB; written in %.0f s, a frame read in %.0f and %.0f s" % (len(sizes), sum(sizes) / 1e6, wrote, *read))
        if not USD_PYTHON.exists():
            self.skipTest("usd-core is not in build/tools: the rest was right")
        script = "import sys\nfrom pxr import Usd\ns = Usd.Stage.Open('run.usda')\np = s.GetPrimAtPath('/Rods/open').GetAttribute('points')\n" \
                 "for t in (s.GetStartTimeCode(), s.GetEndTimeCode()): sys.stdout.buffer.write(b''.join(__import__('struct').pack('<3f', *v) for v in p.Get(t)))\n"
        process = subprocess.run([USD_PYTHON, "-c", script], cwd=self.folder, capture_output=True)
        self.assertEqual((process.returncode, process.stderr), (0, b""))
        seen = np.frombuffer(process.stdout, "<f4").reshape(2, vertices, 3)
        np.testing.assert_allclose(seen[0], run["position"][0], atol=1e-6)
        np.testing.assert_allclose(seen[1], run["position"][-1], atol=1e-6)


if __name__ == "__main__":
    main()

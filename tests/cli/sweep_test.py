"""`osier sweep`: designs, tables, failures, resumption, parts; the same from Python on Dask and on Slurm."""

import csv
import importlib.util
import math
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import h5py

from osier_cli import BAD_INPUT, DONE, OSIER, PATIENCE, RUN_FAILED, SOURCE, CliTest, beam, main

spec = importlib.util.spec_from_file_location("osier_sweep", SOURCE / "python" / "osier" / "sweep.py")
osier_sweep = importlib.util.module_from_spec(spec)
sys.modules["osier_sweep"] = osier_sweep  # where workers of a cluster look for it, too
spec.loader.exec_module(osier_sweep)

CANTILEVER = beam(constraints=[{"type": "clamp", "vertices": "a:start"}],
                  forces=[{"type": "force", "vertices": "a:end", "force": [0, -0.01, 0]}],
                  analysis={"type": "static"}, probes=[{"name": "tip", "vertex": "a:end"}])
CANTILEVER["rods"][0]["segments"] = 20
BEND = "/materials/m/bend_twist"


class Sweep(CliTest):
    def setUp(self):
        super().setUp()
        self.path = self.write(CANTILEVER, "beam.json")

    def sweep(self, *arguments, expect=DONE):
        told = subprocess.run([OSIER, "sweep", *map(os.fspath, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=120 * PATIENCE)
        self.assertEqual(told.returncode, expect, told.stdout + told.stderr)
        return told

    def table(self, folder="out"):
        with open(self.folder / folder / "sweep.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_grid_has_every_combination_and_the_right_answers(self):
        self.sweep(self.path, "--vary", BEND + "=1:10:4", "--vary", "/forces/0/force/1=-0.01,-0.02", "-o", "out")
        rows = self.table()
        self.assertEqual([(float(r[BEND]), float(r["/forces/0/force/1"])) for r in rows],
                         [(b, f) for b in (1, 4, 7, 10) for f in (-0.01, -0.02)])
        for row in rows:  # F L^3/(3 EI), and shear
            F, EI = float(row["/forces/0/force/1"]), float(row[BEND])
            self.assertEqual(row["status"], "done")
            self.assertAlmostEqual(float(row["tip.y"]), F / (3 * EI), delta=0.02 * abs(F / (3 * EI)) + 2e-4)
        page = (self.folder / "out" / "index.html").read_text()
        self.assertIn("<svg", page)
        self.assertIn("What matters", page)
        with h5py.File(self.folder / "out" / "sweep.h5") as file:
            names = [n.decode() for n in file["columns"][:]]
            self.assertEqual(list(file["table"][:, names.index("tip.y")]), [float(r["tip.y"]) for r in rows])
            self.assertEqual(list(file["done"][:]), [1] * 8)

    def test_ratios_are_equal_where_asked_for(self):
        self.sweep(self.path, "--vary", BEND + "=1:100:3:log", "-o", "out")
        for row, value in zip(self.table(), (1, 10, 100)):
            self.assertAlmostEqual(float(row[BEND]), value, delta=1e-12 * value)
        told = self.sweep(self.path, "--vary", BEND + "=-1:100:3:log", "-o", "out", expect=BAD_INPUT)
        self.assertIn("not positive", told.stderr)

    def test_a_latin_hypercube_meets_every_piece_once(self):
        self.sweep(self.path, "--vary", BEND + "=1:11", "--vary", "/forces/0/force/1=-0.02:-0.01", "--sample", "lhs", "--samples", "10", "-o", "out")
        rows = self.table()
        for place, low, size in ((BEND, 1, 10), ("/forces/0/force/1", -0.02, 0.01)):
            self.assertEqual(sorted(int((float(r[place]) - low) / size * 10) for r in rows), list(range(10)))
        self.sweep(self.path, "--vary", BEND + "=1:11", "--vary", "/forces/0/force/1=-0.02:-0.01", "--sample", "lhs", "--samples", "10", "-o", "again")
        self.assertEqual(rows, self.table("again"))

    def test_runs_that_fail_are_rows_with_the_reason(self):
        (self.folder / "runs.csv").write_text(BEND + ",/rods/0/segments\n1,20\n-1,20\n2,0\n3,10\n")
        told = self.sweep(self.path, "--sample", "csv", "--from", "runs.csv", "-o", "out")
        self.assertIn("2 failed", told.stdout)
        rows = self.table()
        self.assertEqual([r["status"] for r in rows], ["done", "failed", "failed", "done"])
        self.assertIn("bend_twist", rows[1]["error"])
        self.assertIn("segments", rows[2]["error"])
        self.assertEqual(rows[1]["tip.y"], "")

    def test_what_is_there_is_not_run_again(self):
        first = self.sweep(self.path, "--vary", BEND + "=1:10:7", "-o", "out")
        self.assertIn("7 runs", first.stdout)
        again = self.sweep(self.path, "--vary", BEND + "=1:10:7", "-o", "out")
        self.assertIn("0 runs", again.stdout)
        self.assertIn("7 were there already", again.stdout)
        other = self.sweep(self.path, "--vary", BEND + "=1:10:8", "-o", "out", expect=BAD_INPUT)
        self.assertIn("holds another sweep", other.stderr)

    def test_a_killed_sweep_goes_on(self):
        words = [self.path, "--vary", BEND + "=1:10:3000", "-o", "out", "-j", "1"]
        process = subprocess.Popen([OSIER, "sweep", *map(os.fspath, words)], cwd=self.folder, stdout=subprocess.DEVNULL)
        rows = self.folder / "out" / "rows.csv"
        end = time.monotonic() + 30 * PATIENCE
        while time.monotonic() < end and not (rows.exists() and rows.stat().st_size > 3000):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open(rows, "a") as file:
            file.write("17,done,half a li")
        told = self.sweep(*words[:-1], "2")
        self.assertRegex(told.stdout, r"[1-9]\d* were there already")
        self.assertEqual([int(r["run"]) for r in self.table()], list(range(3000)))
        self.assertTrue(all(r["status"] == "done" for r in self.table()))

    def test_parts_are_put_together(self):
        words = [self.path, "--vary", BEND + "=1:10:11"]
        self.sweep(*words, "-o", "whole")
        for part in range(3):
            self.sweep(*words, "--part", "%d/3" % part, "-o", "part%d" % part)
        self.sweep("--merge", "part0", "--merge", "part2", "-o", "some", expect=RUN_FAILED)
        self.sweep("--merge", "part0", "--merge", "part1", "--merge", "part2", "-o", "all")
        self.assertEqual(self.table("all"), self.table("whole"))

    def test_mistakes_are_told(self):
        for words, message in ((["--vary", "young=1:2:3"], "is not pointer=values"), (["--vary", "/a=1:2"], "no number of values"),
                               (["--vary", "/a=1:2", "--sample", "lhs"], "--samples"), ([], "--vary"),
                               (["--vary", "/materials/m/bend_twits=1:2:3"], "bend_twits"), (["--vary", BEND + "=1:2:3", "--part", "3/3"], "is not a part"),
                               (["--vary", BEND + "=1:2:3", "--threads", "2"], "-j")):
            told = self.sweep(self.path, *words, "-o", "wrong", expect=BAD_INPUT)
            self.assertIn(message, told.stderr)

    def test_dynamics_have_ranges_of_probes(self):
        scene = dict(CANTILEVER, analysis={"type": "dynamic", "step": 0.01, "duration": 0.2, "fps": 50})
        self.sweep(self.write(scene), "--vary", BEND + "=1:2:2", "-o", "out")
        for row in self.table():
            self.assertLessEqual(float(row["tip.y.min"]), float(row["tip.y"]))
            self.assertEqual(float(row["tip.y.max"]), 0)


class FromPython(CliTest):
    def setUp(self):
        super().setUp()
        self.path = self.write(CANTILEVER, "beam.json")
        self.vary = {BEND: (1.0, 10.0, 40)}
        self.whole = osier_sweep.sweep(self.path, self.vary, out=self.folder / "whole", osier=OSIER)

    def test_a_study_is_a_table(self):
        self.assertEqual(len(self.whole), 40)
        self.assertEqual(self.whole.failed, {})
        self.assertTrue(all(y < 0 and math.isfinite(y) for y in self.whole["tip.y"]))

    def test_slurm_arrays_do_the_same(self):
        script = osier_sweep.write_slurm(self.path, self.vary, out=self.folder / "slurm", parts=5, osier=os.fspath(OSIER), options=["--time=1:00"])
        text = script.read_text()
        self.assertIn("#SBATCH --array=0-4", text)
        for task in (3, 0, 4, 1, 2):  # as sbatch would, in any order
            subprocess.run(["sh", script], env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}, cwd="/", check=True)
        self.assertEqual(osier_sweep.merge(self.folder / "slurm", OSIER)["tip.y"], self.whole["tip.y"])

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "needs dask.distributed")
    def test_dask_loses_nothing_with_a_worker(self):
        from distributed import Client, LocalCluster

        (self.folder / "osier_sweep.py").symlink_to(SOURCE / "python" / "osier" / "sweep.py")
        vary = {BEND: (1.0, 10.0, 2000)}
        whole = osier_sweep.sweep(self.path, vary, out=self.folder / "large", osier=OSIER)
        with LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=self.folder) as cluster, \
                Client(cluster) as client:
            client.run_on_scheduler(lambda: None)
            client.upload_file(os.fspath(self.folder / "osier_sweep.py"))
            import threading

            def kill_one():
                end = time.monotonic() + 30
                while time.monotonic() < end and not any((self.folder / "dask").glob("parts/*/rows.csv")):
                    time.sleep(0.01)
                pid = list(client.run(os.getpid).values())[0]
                os.kill(pid, signal.SIGKILL)

            killer = threading.Thread(target=kill_one)
            killer.start()
            table = osier_sweep.sweep(self.path, vary, out=self.folder / "dask", client=client, parts=12, osier=os.fspath(OSIER))
            killer.join()
        self.assertEqual(table["run"], list(range(2000)))
        self.assertEqual(table["tip.y"], whole["tip.y"])


if __name__ == "__main__":
    main()

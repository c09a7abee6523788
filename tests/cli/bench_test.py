"""osier bench: rows are whole, exact counts are as promised, and errors fall with the iterations. Times are not judged."""

import csv
import json
import math
import xml.etree.ElementTree as xml

from osier_cli import BAD_INPUT, DONE, CliTest, main

KEYS = {"suite", "scene", "method", "precision", "simd", "threads", "vertices", "ms_per_frame_min", "ns_per_vertex_iteration", "error", "iterations"}
SUITES = ("scenes", "kernels", "convergence", "scaling")


class Bench(CliTest):
    def rows(self, *arguments):
        result = self.call("bench", "--quick", "--quiet", "--json", "rows.json", *arguments, timeout=110)
        self.assertEqual(result.code, DONE, result)
        document = json.loads((self.folder / "rows.json").read_text())
        for key in ("cpu", "cores", "simd", "compiler"):
            self.assertTrue(document["machine"][key], key)
        self.assertIn(document["machine"]["cpu"], result.out)
        self.assertTrue(document["rows"])
        for row in document["rows"]:
            self.assertLessEqual(KEYS, set(row))
            self.assertGreater(row["vertices"], 0)
            self.assertIn(row["scene"], result.out)
        return document["rows"]

    def test_direct_steps_converge_in_a_handful_of_iterations_and_sweeps_do_not(self):
        rows = self.rows("convergence")
        names = {"cantilever_%s_%d" % (w, n) for w in ("soft", "stiff") for n in (20, 100, 1000)} | {"slinky", "tree", "tree_in_wind"}
        self.assertEqual({r["scene"] for r in rows if r["method"] == "direct"}, names)
        for row in rows:
            with self.subTest(row["scene"], step=row["step"], method=row["method"], goal=row["goal"]):
                if row["reached"]:
                    self.assertLessEqual(row["error"], row["goal"])
                if row["method"] == "direct":
                    self.assertTrue(row["reached"], row)
                    self.assertLessEqual(row["iterations"], 2 if row["step"] < 0.01 else 6)
                elif row["stiffness_ratio_R"] > 100:
                    self.assertFalse(row["reached"], "within 64 sweeps")

    def test_errors_fall_with_the_iterations(self):
        rows = self.rows("scenes", "--scene", "slinky", "--scene", "hair_wisp", "--scene", "cantilever_stiff")
        series = {}
        for row in rows:
            if row["table"] == "error_over_time":
                series.setdefault((row["scene"], row["method"], row["precision"]), []).append((row["iterations"], row["error"]))
        self.assertEqual(len(series), 9, "three scenes by three methods")
        for name, points in series.items():
            with self.subTest(name):
                counts, errors = zip(*points)
                self.assertEqual(list(counts), sorted(counts))
                for worse, better in zip(errors, errors[1:]):
                    self.assertLessEqual(better, max(1.05 * worse, 1e-9))  # below that it is rounding
                self.assertLess(errors[-1], errors[0])
        for scene in ("slinky", "hair_wisp", "cantilever_stiff"):
            most_sweeps = series[scene, "sweep", "double"][-1][1]
            one_direct = series[scene, "direct", "double"][0][1]
            self.assertLess(one_direct, most_sweeps, "one direct iteration against eight sweeps")

    def test_the_papers_scenes_have_both_methods_and_the_papers_figure(self):
        rows = [r for r in self.rows("scenes", "--scene", "slingshot", "--scene", "slinky", "--scene", "hair_afro") if r["table"] == "paper"]
        figures = {r["scene"]: r["paper_ms_per_frame"] for r in rows}
        self.assertEqual(figures, {"slingshot": 0.2, "slinky": 22.8, "hair_afro": 7.0})
        for scene in figures:
            of_scene = [r for r in rows if r["scene"] == scene]
            self.assertEqual([(r["method"], r["precision"]) for r in of_scene], [("sweep", "float"), ("auto", "float"), ("direct", "float"), ("direct", "double")])
            sweep, auto, _, direct = of_scene
            for row in of_scene:
                self.assertGreater(row["ms_per_frame_min"], 0)
                self.assertGreaterEqual(row["ms_per_frame_median"], row["ms_per_frame_min"])
                self.assertGreater(row["ns_per_vertex_iteration"], 0)
            self.assertLess(direct["error"], 1e-3)
            self.assertLess(direct["error"], sweep["error"])
            self.assertLess(auto["error"], 1e-2, "an error of 1e-3 in each step adds up over the frame")

    def test_kernels_and_scaling(self):
        kernels = self.rows("kernels", "--scene", "strands")
        self.assertLessEqual({"off", "sse2"}, {r["simd"] for r in kernels if r["method"] == "sweep"})
        anisotropic = self.rows("kernels", "--scene", "strands_anisotropic")
        for method in "sweep", "direct":
            self.assertLessEqual({"off", "sse2"}, {r["simd"] for r in anisotropic if r["method"] == method})
        one = self.rows("scaling", "--scene", "trees", "--threads", "1")
        self.assertEqual([r["threads"] for r in one], [1])
        scaling = self.rows("scaling", "--threads", "2")
        sizes = [r["vertices"] for r in scaling if (r["table"], r["scene"], r["method"]) == ("vertices", "chain", "sweep")]
        self.assertEqual(sizes, [100, 1000, 10000])
        self.assertEqual(sum(r["slope"] is not None for r in scaling), 4)
        self.assertEqual([r["threads"] for r in scaling if (r["table"], r["scene"]) == ("threads", "trees")], [1, 2])

    def test_results_are_a_table_for_machines_one_for_people_and_pictures(self):
        result = self.call("bench", "scenes", "--scene", "cantilever_stiff", "--quick", "--results", "results")
        self.assertEqual(result.code, DONE, result)
        (folder,) = (self.folder / "results").iterdir()
        self.assertIn(folder.name, result.out)
        self.assertTrue(folder.name.endswith("-quick"), "beside a measurement, not in its place")
        self.assertEqual({p.name for p in folder.iterdir()},
                         {"results.csv", "tables.md", "error_over_time.svg", "error_over_time_cantilever_stiff.svg"})
        rows = list(csv.DictReader((folder / "results.csv").read_text().splitlines()))
        self.assertLessEqual(KEYS, set(rows[0]))
        self.assertTrue(all(math.isfinite(float(r["error"])) for r in rows))
        self.assertEqual({r["machine"] + "-quick" for r in rows}, {folder.name})
        self.assertIn("| cantilever_stiff |", (folder / "tables.md").read_text())
        for picture in folder.glob("*.svg"):
            self.assertTrue(xml.parse(picture).getroot().tag.endswith("svg"))

    def test_mistakes_are_told_before_anything_runs(self):
        for arguments, words in ((["convergance"], ["did you mean `convergence`"]), (["nonsense"], list(SUITES)),
                                 (["scenes", "--scene", "slinkey"], ["--scene", "did you mean `slinky`"]),
                                 (["--json", "no/such/folder/x.json"], ["--json", "choose another"]), (["--json", "."], ["--json", "folder"]),
                                 (["--results", "/proc/nowhere"], ["--results", "choose another"]), (["--threads", "0"], ["--threads"])):
            with self.subTest(arguments):
                result = self.call("bench", *arguments, timeout=10)
                self.assertEqual(result.code, BAD_INPUT, result)
                for word in words:
                    self.assertIn(word, result.err)

    def test_the_suite_of_the_device_runs_on_its_twin(self):
        result = self.call("bench", "--device", "cuda_twin", "--quick", "--scene", "hair_afro", "--json", "device.json", timeout=120)
        self.assertEqual(result.code, DONE, result)
        rows = json.loads((self.folder / "device.json").read_text())["rows"]
        self.assertEqual([(r["suite"], r["scene"], r["device"], r["steps_per_frame"]) for r in rows], [("device", "hair_afro", "cuda_twin", 34)])
        self.assertGreater(rows[0]["ms_per_frame_median"], 0)
        self.assertLess(rows[0]["error"], 1)


if __name__ == "__main__":
    main()

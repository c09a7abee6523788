"""The commands and options themselves."""

import json
import os
import re
import shutil
import subprocess

from osier_cli import BAD_INPUT, DONE, OSIER, RUN_FAILED, SOURCE, CliTest, beam, main

SWING = beam(constraints=[{"type": "pin", "vertices": "a:start"}], forces=[{"type": "gravity"}], probes=[{"name": "tip", "vertex": "a:end"}])
# Two bars that snap through at 9.530292 N.
BAR = {"stretch_shear": 1000, "bend_twist": 1e-6, "line_density": 1}
TRUSS = {
    "rods": [{"name": name, "shape": {"type": "line", "from": start, "to": end}, "segments": 1, "material": BAR}
             for name, start, end in (("a", [-1, 0, 0], [0, 0.3, 0]), ("b", [0, 0.3, 0], [1, 0, 0]))],
    "welds": [{"vertices": ["a:end", "b:start"], "joint": False}],
    "constraints": [{"type": "pin", "vertices": ["a:start", "b:end"]}, {"type": "pin", "vertices": "a:end", "axes": [[1, 0, 0], [0, 0, 1]]}],
    "forces": [{"type": "force", "vertices": "a:end", "force": [0, -20, 0]}]}


class Commands(CliTest):
    def test_version(self):
        result = self.call("version")
        self.assertEqual(result.code, DONE)
        self.assertRegex(result.out, r"^osier \d+\.\d+\.\d+\S*\nCUDA: .+\n$")

        self.assertEqual(self.call("--version").out, result.out)

    def test_help_is_a_command_too(self):
        self.assertEqual(self.call("help").out, self.call("--help").out)
        self.assertIn("--frames", self.call("help", "run").out)
        self.assertIn("osier run", self.call("help", "run").out)
        self.assertIn("did you mean `run`?", self.call("help", "rnu").err)

    def test_misspelt_commands_and_options_get_a_guess(self):
        scene = self.write(beam())
        for arguments, words in ((["rnu"], "error: there is no command `rnu`; did you mean `run`?"), (["viev", scene], "did you mean `view`?"),
                                 (["xyzzyx"], "use run, view, "), (["run", scene, "--frmes", "3"], "`osier run` does not take `--frmes`; did you mean `--frames`?"),
                                 (["run", scene, "--thread=3"], "did you mean `--threads`?"), (["render", scene, "--colour", "rod"], "did you mean `--color`?"),
                                 (["run", scene, "--xyzzyx"], "see osier run --help"), (["run", scene, "another"], "does not take `another`")):
            with self.subTest(arguments):
                result = self.call(*arguments)
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertIn(words, result.err)

    def test_list_alone_lists_everything(self):
        everything = self.call("list")
        self.assertEqual(everything.code, DONE, everything)
        for what in ("solvers", "generators", "forces", "constraints", "formats", "curves", "materials", "sections"):
            self.assertIn("%s\n%s" % (what, self.call("list", what).out), everything.out)

    def test_lists_name_everything_with_a_line_of_help(self):
        for what, names in (("solvers", ["automatic", "direct", "stable_cosserat", "newton"]), ("forces", ["gravity", "drag", "force", "torque", "wind"]),
                            ("formats", ["hdf5", "obj", "vtp"]), ("curves", ["bcc", "hair", "obj", "poly", "usda", "ply", "csv"]), ("constraints", ["pin", "fix", "clamp", "hinge"]),
                            ("materials", ["hair", "steel_wire", "nylon", "rubber", "wood", "cotton_yarn"]),
                            ("sections", ["circle", "tube", "ellipse", "rectangle"]),
                            ("generators", ["line", "arc", "circle", "helix", "points", "polyline", "coil", "slingshot", "bridge", "trees", "net", "hair", "grass", "curves"])):
            with self.subTest(what):
                result = self.call("list", what)
                self.assertEqual(result.code, DONE)
                lines = {line.split()[0]: line.split()[1:] for line in result.out.splitlines()}
                for name in names:
                    self.assertIn(name, lines)
                    self.assertGreaterEqual(len(lines[name]), 2)

    def test_wrong_command_lines_are_bad_input(self):
        scene = self.write(beam())
        for arguments in ([], ["rnu"], ["run"], ["list", "cats"], ["help", "rnu"], ["run", scene, scene], ["run", scene, "--nope"], ["run", scene, "--frames"],
                          ["run", scene, "--frames", "-1"], ["run", scene, "--frames", "x"], ["run", scene, "--frames", "99999999999"],
                          ["run", scene, "--threads", "x"], ["run", scene, "--threads", "-1"], ["run", scene, "--threads", "0"],
                          ["run", scene, "--precision", "flot"], ["run", scene, "--precision", 'x"'], ["run", scene, "--solver", "x"],
                          ["run", scene, "--stats", ""], ["run", scene, "-o", ""]):
            with self.subTest(arguments):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                result = self.call(*arguments)
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertTrue(result.err + result.out)
                self.assertLess(len(result.err), 1000)
                self.assertNotIn("json.exception", result.err)
                self.assertEqual(list(self.folder.iterdir()), [scene])

    def test_a_wrong_number_of_frames_is_told_in_few_words(self):
        self.assertLess(len(self.call("run", self.write(beam()), "--frames", "-3").err), 200)

    def test_help_is_no_error(self):
        for arguments in (["--help"], ["run", "--help"]):
            result = self.call(*arguments)
            self.assertEqual(result.code, DONE)
            self.assertIn("SCENE" if "run" in arguments else "run", result.out)

    def test_info_json(self):
        info = self.info(beam())
        self.assertEqual((info["vertices"], info["segments"], info["joints"]), (5, 4, 3))
        # (EA/l)/(m/h^2) with the lightest inner vertex: 100/0.25 * 1e-4/0.25, or with the end vertices' mass 0.125
        self.assertTrue(0.1 < info["stiffness_ratio_R"] < 0.4, info["stiffness_ratio_R"])
        self.assertGreater(info["bytes_estimate"], 0)
        self.assertAlmostEqual(info["mass_total"], 1, 12)

    def test_fixed_sweeps_that_cannot_converge_are_warned_about(self):
        stiff = beam(materials={"m": {"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1, "radius": 0.01}})
        for command in ("check", "info"):
            said = self.call(command, self.write(stiff), "--set", "/solver=" + json.dumps({"name": "stable_cosserat", "method": "sweep"}))
            self.assertRegex(said.err + said.out, "warning: stiffness ratio R = [0-9.]+")
        for solver in ({"name": "newton"}, {"name": "stable_cosserat", "method": "direct"}, {"name": "automatic"}, {},
                       {"name": "stable_cosserat", "method": "sweep", "tolerance": 1e-3}, {"name": "stable_cosserat", "tolerance": 1e-3}):
            self.assertNotIn("warning", self.check({**stiff, "solver": solver}).err)

    def test_groups_are_no_rods(self):
        self.assertEqual(self.info(beam())["rods"], 1)
        self.assertEqual(self.info({"structures": [{"type": "net", "nx": 3, "ny": 4}]})["rods"], 5 + 4)
        self.assertEqual(self.info({"structures": [{"type": "hair", "strands": 7}]})["rods"], 7)

    def test_info_of_a_run_and_of_a_curve_file(self):
        self.run_scene(SWING)
        for place in ("out", "out/trajectory.h5"):
            info = json.loads(self.call("info", place, "--json").out)
            self.assertEqual((info["name"], info["frames"], info["vertices"], info["segments"], info["joints"], info["rods"]), ("scene", 6, 5, 4, 3, 1))
            self.assertEqual(info["time"], {"min": 0, "max": 0.1})
            self.assertAlmostEqual(info["mass_total"], 1)
            self.assertRegex(self.call("info", place).out, r"(?s)scene: a recorded run.*frames 6.*vertices 5.*materials m")
        self.write("0 0 0\n3 0 0\n3 4 0\n", "line.csv")
        info = json.loads(self.call("info", "line.csv", "--json").out)
        self.assertEqual((info["curves"], info["points"], info["length_total"]), (1, 3, 7))
        self.assertIn("curves 1 (0 closed), points 3", self.call("info", "line.csv").out)
        result = self.call("info", "out", "--set", "/name=x")
        self.assertEqual(result.code, BAD_INPUT, result)

    def test_info_text_tells_the_counts(self):
        self.assertIn("vertices 5, segments 4, joints 3", self.call("info", self.write(beam())).out)

    def test_results_that_cannot_be_printed_are_a_failure(self):
        for arguments in (["schema"], ["reference"], ["info", self.write(beam())]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                self.assertNotEqual(subprocess.run([OSIER, *arguments], stdout=full, stderr=subprocess.DEVNULL).returncode, DONE)


class Run(CliTest):
    def test_the_twin_of_the_device_writes_what_the_processor_writes(self):
        sweeps = SWING | {"solver": {"name": "stable_cosserat", "iterations": 8}}
        energy = {}
        for device in ("cpu", "cuda_twin"):
            self.run_scene(sweeps, "--device", device)
            stats = self.stats()
            self.assertEqual((stats["device"], stats["frames"], stats["steps"]), (device, 5, 10))
            energy[device] = stats["energy_total"]
        self.assertAlmostEqual(energy["cpu"] / energy["cuda_twin"], 1, delta=1e-9)

    def test_a_scene_for_a_device_that_is_not_there_is_refused(self):
        if "no CUDA device" not in self.call("version").out and "not built in" not in self.call("version").out:
            self.skipTest("there is a CUDA device")
        result = self.call("run", self.write(SWING), "--device", "cuda")
        self.assertEqual(result.code, BAD_INPUT)
        self.assertIn("no CUDA device", result.err)
        self.assertEqual(self.call("bench", "--device", "cuda").code, BAD_INPUT)

    def test_all_promised_stats(self):
        self.run_scene(SWING)
        stats = self.stats()
        for key, kind in {"vertices": int, "segments": int, "joints": int, "frames": int, "steps": int, "iterations": int, "threads": int,
                          "precision": str, "simd": str, "ms_per_frame_min": float, "ms_per_frame_median": float,
                          "ns_per_vertex_iteration": float, "energy_total": float, "max_stretch": float, "max_bend": float,
                          "non_finite": bool}.items():
            self.assertIn(key, stats)
            self.assertIsInstance(stats[key], (int, float) if kind is float else kind, key)
        self.assertEqual((stats["vertices"], stats["segments"], stats["joints"]), (5, 4, 3))
        self.assertEqual((stats["frames"], stats["steps"]), (5, 10))
        self.assertTrue(10 <= stats["iterations"] <= 40, stats["iterations"])
        self.assertEqual((stats["threads"], stats["precision"], stats["non_finite"]), (1, "double", False))
        self.assertGreater(stats["ms_per_frame_min"], 0)
        self.assertGreaterEqual(stats["ms_per_frame_median"], stats["ms_per_frame_min"])
        self.assertGreater(stats["ns_per_vertex_iteration"], 0)

    def test_timings_are_measured_also_with_one_step_per_frame(self):
        for scene in ({**SWING, "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1, "fps": 100}},
                      {**SWING, "output": {"diagnostics": "step"}}, {**SWING, "analysis": {"type": "static"}}):
            self.run_scene(scene)
            self.assertGreater(self.stats()["ms_per_frame_min"], 0)
            self.assertGreater(self.stats()["ns_per_vertex_iteration"], 0)

    def test_stats_agree_with_the_diagnostics(self):
        self.run_scene(SWING)
        last = {k: v[-1] for k, v in self.table("diagnostics.csv").items()}
        self.assertAlmostEqual(self.stats()["energy_total"], last["total"], 12)
        self.assertAlmostEqual(self.stats()["max_stretch"], last["max_stretch"], 8)

    def test_frames(self):
        for frames in (0, 1, 7):
            self.run_scene(SWING, "--frames", str(frames))
            self.assertEqual(len(self.trajectory()["time"]), frames + 1)
            self.assertEqual(self.stats()["frames"], frames)

    def test_more_frames_than_load_steps_do_not_overload_a_static_analysis(self):
        scene = {**SWING, "constraints": [{"type": "clamp", "vertices": 0}], "analysis": {"type": "static", "load_steps": 2}}
        self.run_scene(scene)
        full = self.trajectory()["position"][-1]
        result = self.call("run", self.write(scene), "-o", "out", "--frames", "4")
        if result.code == DONE:
            self.assertLess(abs(self.trajectory()["position"][-1] - full).max(), 1e-6)
        else:
            self.assertEqual(result.code, BAD_INPUT, result)

    def test_set_changes_the_scene_and_its_results(self):
        plain = self.probes(SWING)["tip.y"][-1]
        self.assertLess(plain, 0)
        upwards = self.probes(SWING, "--set", "/forces/0/acceleration=[0,9.81,0]")["tip.y"][-1]
        self.assertAlmostEqual(upwards, -plain, 12)
        self.assertEqual(self.trajectory()["scene"]["forces"][0]["acceleration"], [0, 9.81, 0])

    def test_set_makes_new_entries_and_takes_words(self):
        self.run_scene(beam(), "--set", "/forces=[{\"type\":\"gravity\"}]", "--set", "/output/diagnostics=none", "--set", "/name=renamed")
        self.assertFalse((self.folder / "out/diagnostics.csv").exists())
        self.assertEqual(self.trajectory()["scene"]["name"], "renamed")
        self.assertLess(self.trajectory()["position"][-1].min(), -0.01)

    def test_set_may_be_repeated_and_the_last_one_wins(self):
        self.run_scene(SWING, "--set", "/analysis/duration=0.2", "--set", "/analysis/duration=0.06")
        self.assertEqual(self.stats()["frames"], 3)

    def test_set_with_nonsense(self):
        for text, words in (("/analysis/setp=1", "did you mean `step`?"), ("/nonsense/foo=1", "/nonsense"), ("analysis/step=1", "pointer=value"),
                            ("/analysis/step", "pointer=value"), ("/rods/x=1", "not a place"), ("/rods/0/segments=many", "whole number"),
                            ("/analysis/step=nan", "number"), ("/a~2=1", "not a place"), ("/rods/7/segments=3", "/rods/7")):
            with self.subTest(text):
                result = self.check(SWING, "--set", text)
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertIn(words, result.err)
                self.assert_readable(result)

    def test_set_far_behind_the_end_of_a_list_is_refused_at_once(self):
        for index in ("300000", "4000000000"):
            result = self.check(SWING, "--set", "/rods/%s/segments=3" % index, memory=2 << 30)
            self.assertEqual(result.code, BAD_INPUT, result)
            self.assertLess(len(result.err.splitlines()), 10)

    def test_set_with_bytes_that_are_no_text(self):
        result = self.check(SWING, "--set", os.fsdecode(b"/output/diagnostics=\xff"))
        self.assertEqual(result.code, BAD_INPUT, result)

    def test_solver(self):
        self.run_scene(SWING, "--solver", "newton")
        self.assertEqual(self.stats()["solver"], "newton")
        self.assertEqual(self.trajectory()["scene"]["solver"]["name"], "newton")

    def test_solver_on_the_command_line_survives_a_broken_one_in_the_scene(self):
        self.assertIn(self.check(beam(solver={"name": 5}), "--solver", "newton").code, (DONE, BAD_INPUT))

    def test_solver_does_not_drop_what_set_asked_for(self):
        scene = {**SWING, "solver": {"name": "stable_cosserat"}}
        result = self.check(scene, "--solver", "newton", "--set", "/solver/iterations=7")
        self.assertEqual(result.code, BAD_INPUT, result)
        self.run_scene(scene, "--solver", "newton", "--set", "/solver/max_iterations=7")
        self.assertEqual(self.trajectory()["scene"]["solver"], {"name": "newton", "max_iterations": 7})

    def test_a_solver_without_a_name_is_the_usual_one(self):
        self.assertNotIn("solver", SWING)
        self.run_scene(SWING, "--set", "/solver/method=direct")
        self.assertEqual(self.trajectory()["scene"]["solver"], {"name": "direct"})
        nameless = {**SWING, "solver": {"method": "sweep", "iterations": 3}}
        for arguments in ([], ["--solver", "stable_cosserat"]):
            self.run_scene(nameless, *arguments)
            self.assertEqual(self.trajectory()["scene"]["solver"], {"name": "stable_cosserat", "iterations": 3})
        self.run_scene(nameless, "--solver", "newton")
        self.assertEqual(self.trajectory()["scene"]["solver"], {"name": "newton"})
        self.run_scene(nameless, "--set", "/solver={}", "--precision", "float")
        self.assertEqual(self.trajectory()["scene"]["solver"], {"name": "automatic"})
        self.assertEqual(self.trajectory()["scene"]["execution"], {"precision": "float"})
        result = self.check(beam(solver={"tolerence": 1e-3}))
        self.assertEqual((result.code, list(result.problems)), (BAD_INPUT, ["/solver/tolerence"]), result)

    def test_precision(self):
        for precision, kind in (("float", "float32"), ("double", "float64")):
            self.run_scene(SWING, "--precision", precision)
            self.assertEqual(self.stats()["precision"], precision)
            self.assertEqual(str(self.trajectory()["position"].dtype), kind)

    def test_newton_says_on_the_option_that_it_works_in_double_on_one_thread(self):
        for option, value in (("--precision", "float"), ("--threads", "2")):
            result = self.check(SWING, "--solver", "newton", option, value)
            self.assertEqual(result.code, BAD_INPUT)
            self.assertIn(option, result.err, "the user wrote %s, not a key of the scene" % option)

    def test_threads_are_all_cores_where_there_is_work_for_them(self):
        cores = len(os.sched_getaffinity(0))
        long = {**SWING, "rods": [{**SWING["rods"][0], "segments": 300 * cores}]}
        many = self.probes(long)
        self.assertEqual(self.stats()["threads"], cores)
        self.assertEqual(self.probes(long, "--threads", "1"), many)
        self.run_scene({**long, "execution": {"threads": 1}})
        self.assertEqual(self.stats()["threads"], 1)
        self.run_scene(long, "--solver", "newton")
        self.assertEqual(self.stats()["threads"], 1, "it works on one")
        self.run_scene(SWING)
        self.assertEqual(self.stats()["threads"], 1, "four segments are no work for two")
        self.assertNotIn("threads", self.trajectory()["scene"].get("execution", {}), "the machine's, not the scene's")

    def test_threads_do_not_change_the_result(self):
        one = self.probes(SWING)
        two = self.probes(SWING, "--threads", "2")
        self.assertEqual(self.stats()["threads"], 2)
        self.assertEqual(one, two)

    def test_reported_threads_are_threads_used(self):
        scene = {**SWING, "solver": {"name": "stable_cosserat", "order": "gauss_seidel"}}
        result = self.call("run", self.write(scene), "-o", "out", "--stats", "stats.json", "--threads", "3")
        if result.code == DONE and "threads" not in result.err:
            self.assertEqual(self.stats()["threads"], 1)

    def test_quiet_says_nothing(self):
        result = self.run_scene(SWING, "--quiet")
        self.assertEqual((result.out, result.err), ("", ""))

    def test_plain_lines_without_a_terminal(self):
        result = self.run_scene(SWING)
        self.assertNotIn("\r", result.err)
        self.assertNotIn("\x1b", result.err)
        self.assertRegex(result.err, r"(?m)^scene frame 5/5 +[\d.]+ ms/frame +ETA \d+s$")

    def test_the_default_folder_lies_in_out(self):
        self.assertEqual(self.call("run", self.write({**SWING, "name": "swing"})).code, DONE)
        self.assertTrue((self.folder / "out/swing/trajectory.h5").exists())

    def test_a_scene_name_does_not_lead_out_of_the_out_folder(self):
        for i, name in enumerate(("../../escaped", str(self.folder / "absolute"), "..", "a/b")):
            with self.subTest(name):
                work = self.folder / str(i) / "work"
                work.mkdir(parents=True)
                path = self.write({**SWING, "name": name}, work / "scene.json")
                subprocess.run([OSIER, "run", path, "--quiet"], cwd=work, capture_output=True, timeout=20)
                self.assertEqual([p.name for p in work.parent.iterdir()], ["work"])
                self.assertFalse((self.folder / "absolute").exists())
                for h5 in work.rglob("trajectory.h5"):
                    self.assertEqual(h5.parent.parent, work / "out")

    def test_relative_files_start_at_the_folder_of_the_scene(self):
        (self.folder / "sub").mkdir()
        self.write("# a line\n0 0 0\n0.5, 0, 0\n1\t0 0\n", "sub/line.txt")
        rod = {k: v for k, v in beam()["rods"][0].items() if k != "segments"}
        path = self.write(beam(rods=[{**rod, "shape": {"type": "polyline", "file": "line.txt"}}]), "sub/scene.json")
        result = self.call("info", path, "--json")
        self.assertEqual(result.code, DONE, result)
        self.assertEqual(json.loads(result.out)["vertices"], 3)

    def test_all_formats(self):
        self.run_scene({**SWING, "output": {"formats": ["hdf5", "obj", "vtp"]}}, "--frames", "2")
        out = self.folder / "out"
        self.assertEqual(sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()), sorted(
            ["trajectory.h5", "trajectory.pvd", "diagnostics.csv", "probes.csv"] + ["frames/frame_0000%d.obj" % i for i in range(3)] +
            ["paraview/frame_0000%d.vtp" % i for i in range(3)]))
        obj = (out / "frames/frame_00002.obj").read_text()
        self.assertEqual((obj.count("\nv "), obj.count("\nl ")), (5, 4))

    def test_a_format_named_twice_is_refused_or_written_once(self):
        result = self.call("run", self.write({**SWING, "output": {"formats": ["hdf5", "hdf5"]}}), "-o", "out")
        self.assertIn(result.code, (DONE, BAD_INPUT), result)

    def test_a_second_run_replaces_the_first(self):
        scene = {**SWING, "output": {"formats": ["hdf5", "obj"]}}
        self.run_scene(scene, "--frames", "4")
        self.run_scene(scene, "--frames", "1")
        self.assertEqual(len(self.trajectory()["time"]), 2)
        self.assertEqual(len(list((self.folder / "out/frames").iterdir())), 2)
        self.assertEqual(len(self.table("diagnostics.csv")["time"]), 2)

    def test_info_says_which_solver_a_scene_gets_and_why(self):
        def choice(**solver):
            scene = {**SWING, "solver": solver}
            told = json.loads(self.call("info", self.write(scene), "--json").out)
            self.assertIn("method %s: %s" % (told["method"], told["method_reason"]), self.call("info", self.write(scene)).out)
            return told["method"], told["method_reason"]
        self.assertEqual(choice()[0], "direct")
        self.assertRegex(choice(name="automatic")[1], r"converges .*; (\d+) of \1 segments in SIMD lanes")
        self.assertEqual(choice(order="jacobi")[0], "stable_cosserat")
        self.assertEqual(choice(name="stable_cosserat", method="sweep"), ("stable_cosserat", "4 sweeps a step, in SIMD lanes"))
        self.assertEqual(choice(name="stable_cosserat", method="auto"), choice(name="automatic"))
        self.assertEqual(choice(name="direct")[0], "direct")
        net = [{"type": "net", "name": "net", "nx": 24, "ny": 24, "cell": 0.1, "stretch_shear": 300, "bend_twist": 2e-3, "line_density": 0.03}]
        scene = {"structures": net, "analysis": {"type": "dynamic", "step": 1e-3, "duration": 1}}
        said = self.call("info", self.write(scene)).out
        self.assertRegex(said, r"method direct: .*by conjugate gradients because of loops, some \d+ for a solve; 1200 of 1200 segments in SIMD lanes")
        self.assertRegex(said, r"solver automatic: \d+ bytes per vertex")
        static = {**SWING, "constraints": [{"type": "clamp", "vertices": 0}], "analysis": {"type": "static"}}
        self.assertRegex(self.call("info", self.write(static)).out, r"method direct: the solver for statics: Newton's method on the recursion")

    def test_a_bare_name_that_used_to_choose_still_does_and_is_told(self):
        scene = {**SWING, "solver": {"name": "stable_cosserat"}}
        self.assertRegex(self.check(scene).err, "warning: .*used to choose.*`automatic`")
        self.assertEqual(self.info(scene)["method"], "direct")
        self.assertEqual(self.info({**scene, "solver": {"name": "stable_cosserat", "iterations": 4}})["method"], "stable_cosserat")
        static = {**scene, "constraints": [{"type": "clamp", "vertices": 0}], "analysis": {"type": "static"}}
        self.assertRegex(self.run_scene(static).err, "warning: .*cannot solve statics.*`automatic`")
        self.assertEqual(self.stats()["solver"], "automatic")

    def test_execution_and_older_spellings_run_the_same(self):
        new = self.probes({**SWING, "solver": {"name": "direct"}, "execution": {"precision": "float", "threads": 2}})
        self.assertEqual((self.stats()["precision"], self.stats()["threads"]), ("float", 2))
        old = self.probes({**SWING, "solver": {"name": "stable_cosserat", "method": "direct", "precision": "float", "threads": 2}})
        self.assertEqual(new, old)

    def test_a_certificate_is_told_and_recorded(self):
        rope = {"young": 1e6, "density": 1000, "radius": 0.004, "friction": 0.3}
        line = {"type": "line"}
        scene = {
            "materials": {"rope": rope}, "contact": {},
            "rods": [{"name": "bar", "shape": {**line, "from": [-0.1, 0, 0], "to": [0.1, 0, 0]}, "segments": 10, "material": "rope"},
                     {"name": "top", "shape": {**line, "from": [0, 0.01, -0.1], "to": [0, 0.01, 0.1]}, "segments": 9, "material": "rope"}],
            "constraints": [{"type": "clamp", "vertices": ["bar:start", "bar:end"]}], "forces": [{"type": "gravity"}],
            "analysis": {"type": "dynamic", "step": 0.002, "duration": 0.08, "fps": 50}}
        told = self.run_scene(scene, "--certify")
        self.assertIn("40 steps; nothing passed through anything", told.out)
        self.assertRegex(told.out, r"smallest gap \S+ m, between segment \d of `bar` and segment 4 of `top`")
        found = self.stats()["certificate"]
        self.assertEqual((found["steps"], found["failure"], found["penetration"]), (40, "", 0))
        self.assertLess(found["energy_error"], 1e-9)
        self.run_scene(scene)
        self.assertIsNone(self.stats()["certificate"])
        refused = self.run_scene(SWING, "--certify", expect=BAD_INPUT)
        self.assertIn("/contact: is not there", refused.err)

    def test_steps_that_do_not_converge_are_told(self):
        hasty = {"tolerance": 1e-12, "max_iterations": 1}
        told = self.run_scene({**SWING, "solver": {"name": "direct", **hasty}}, "--quiet")
        self.assertRegex(told.err, r"warning: 10 of 10 steps stopped above their tolerance")
        self.assertEqual(self.stats()["steps_not_converged"], 10)
        self.assertIn("10 of 10 steps", self.stats()["remarks"][0])
        self.run_scene({**SWING, "solver": {"name": "direct", **hasty}}, "--strict", expect=RUN_FAILED)
        self.run_scene(SWING, "--strict")
        # What `automatic` has chosen is helped, and that is said.
        told = self.run_scene({**SWING, "solver": {"name": "automatic", **hasty}})
        self.assertRegex(told.err, r"warning: in \d+ of 10 steps the solver that `automatic` had chosen did not converge")
        self.assertEqual(self.stats()["steps_not_converged"], 0)

    def test_every_key_of_the_stats_is_described(self):
        text = (SOURCE / "docs/output.md").read_text()
        described = set(re.findall(r"`([a-z_]+)`", text.split("## The file of --stats")[1]))

        def keys_of(value):
            if isinstance(value, list):
                return set().union(*map(keys_of, value))
            return set(value).union(*map(keys_of, value.values())) if isinstance(value, dict) else set()

        rope = {"young": 1e6, "density": 1000, "radius": 0.004}
        self.run_scene({**SWING, "contact": {}, "materials": {"m": rope},
                        "analysis": {"type": "dynamic", "step": 0.002, "duration": 0.02, "fps": 50}}, "--certify")
        self.assertIsNotNone(self.stats()["certificate"])
        keys = keys_of(self.stats())
        self.run_scene({**TRUSS, "analysis": {"type": "static", "control": "arc_length", "load_steps": 10}})
        self.assertEqual([p["kind"] for p in self.stats()["path"]["critical_points"]], ["limit", "limit"])
        keys |= keys_of(self.stats())
        self.assertEqual(keys - described, set())

    def test_a_path_tells_its_limit_points_and_load_control_that_it_snapped(self):
        told = self.run_scene({**TRUSS, "analysis": {"type": "static", "control": "arc_length", "load_steps": 10}})
        self.assertRegex(told.out, r"limit point at load factor 0\.476514\d+, /forces/0: 9\.53029\d* N: from 0 to 1 unstable mode")
        self.assertIn("the path ends at load factor 1 ", told.out)
        self.assertEqual(float(self.table("diagnostics.csv")["load_factor"][-1]), 1)
        told = self.run_scene({**TRUSS, "analysis": {"type": "static", "load_steps": 5}})
        self.assertRegex(told.err, r"at /forces/0: 9\.53\d* N the equilibrium came to an end, and within a load step the rods snapped")
        self.assertIn("`control` arc_length", told.err)
        self.assertEqual(self.stats()["snaps"], 1)
        self.assertRegex(self.stats()["snap_loads"][0], r"9\.53\d* N")

    def test_few_iterations_are_judged(self):
        material = {"m": {**SWING["materials"]["m"], "stretch_shear": 1e5}}
        told = self.run_scene({**SWING, "materials": material, "solver": {"name": "stable_cosserat", "iterations": 1}}, "--quiet")
        self.assertRegex(told.err, r"warning: \d of \d steps that were examined, one per frame, left more than 10 % of the largest")
        self.assertGreater(self.stats()["worst_residual"], 0.1)


if __name__ == "__main__":
    main()

"""osier validate: cases as data, verdicts, and what is written about them."""

import copy
import html.parser
import json
import os
import re
import stat
import subprocess
import sys

from osier_cli import BAD_INPUT, DONE, OSIER, RUN_FAILED, SOURCE, CliTest, main

CASES = SOURCE / "scenes/validation" if SOURCE else None
REQUIRED = {"case", "quantity", "resolution", "reference", "computed", "error", "allowed", "order", "pass"}

# A bar pulled at its end: elongation F L/EA, exact at any resolution.
BAR = {
    "case": "bar", "title": "Pulled bar", "group": "Own", "source": "Hooke",
    "parameters": {"L": 2, "EA": 100, "F": 5},
    "resolution": {"values": [4, 8], "fast": [4]},
    "scene": {
        "rods": [{"name": "rod", "shape": {"type": "line", "from": [0, 0, 0], "to": ["=L", 0, 0]}, "segments": "=N",
                  "material": {"stretch_shear": "=EA", "bend_twist": 1, "line_density": 1}}],
        "constraints": [{"type": "clamp", "vertices": "rod:start"}],
        "forces": [{"type": "force", "vertices": "rod:end", "force": ["=F", 0, 0]}],
        "analysis": {"type": "static"},
        "probes": [{"name": "tip", "vertex": "rod:end"}],
    },
    "shape": {"resolution": 4, "axes": "xy", "to": "L", "x": "s*(1 + F/EA)"},
    "expect": [{"quantity": "elongation", "value": "tip.x - L", "reference": "=F*L/EA", "within": 1e-9}],
}

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    """Checks that every element is closed, and keeps the texts."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, "</%s> closes <%s>" % (tag, self.open[-1] if self.open else "nothing")
        self.open.pop()

    def handle_data(self, data):
        self.text += data


class Validate(CliTest):
    def own(self, *cases, **changes):
        """A folder with these cases, or with BAR changed at the top level."""
        folder = self.folder / "cases"
        folder.mkdir(exist_ok=True)
        for case in cases or [{**copy.deepcopy(BAR), **changes}]:
            (folder / (case["case"] + ".json")).write_text(json.dumps(case))
        return folder

    def validate(self, *arguments, cases=CASES, **options):
        return self.call("validate", "--cases", cases, "--quiet", *arguments, **options)

    def rows(self, *arguments, **options):
        result = self.validate("--json", "rows.json", *arguments, **options)
        return result, json.loads((self.folder / "rows.json").read_text())

    # ------------------------------------------------------------------------------------------------------------ verdicts

    def test_the_quick_part_of_the_catalogue_passes(self):
        result, rows = self.rows("--fast", timeout=110)
        self.assertEqual(result.code, DONE, [r for r in rows if r["pass"] is False])
        self.assertGreater(sum(r["pass"] is True for r in rows), 50)
        self.assertIn(" 0 failed", result.out)

    def test_rows_are_complete(self):
        result, rows = self.rows("V19", "--no-sweeps")
        self.assertEqual(result.code, DONE, result)
        for row in rows:
            self.assertLessEqual(REQUIRED, set(row))
            self.assertIn(row["pass"], (True, False, None))
            for key in ("reference", "computed", "error", "allowed", "order"):
                self.assertTrue(row[key] is None or isinstance(row[key], (int, float)), row)
        hair = [r for r in rows if r["case"] == "V19"]
        self.assertEqual([r["resolution"] for r in hair], [100, 200, 400] * 2)
        for row in hair:
            self.assertTrue(row["pass"])
            self.assertAlmostEqual(abs(row["error"]), abs(row["computed"] - row["reference"]), delta=1e-15)
            self.assertLessEqual(abs(row["error"]), row["allowed"])
            self.assertEqual(row["order"] is not None, row["resolution"] == 400)

    def test_a_case_that_waits_is_not_run_but_its_reference_is_known(self):
        result, rows = self.rows("--no-sweeps", cases=self.own(needs="magnets"))
        self.assertEqual(result.code, DONE, result)
        for row in rows:
            self.assertIsNone(row["pass"])
            self.assertIsNone(row["computed"])
            self.assertAlmostEqual(row["reference"], 0.1)
            self.assertIn("magnets", row["note"])
        self.assertRegex(self.validate("--list", cases=self.own(needs="magnets")).out, r"bar .*needs magnets")

    def test_contact_cases_pass(self):
        result, rows = self.rows("V24", "V25", "--no-sweeps", timeout=110)  # V21b: below
        self.assertEqual(result.code, DONE, [r for r in rows if r["pass"] is False])
        self.assertGreater(sum(r["pass"] is True for r in rows), 20)

    def test_capstans_converge_by_solvers_that_nobody_helps(self):
        for solver, cases in (("direct", ["V21b"]), ("projective", ["V21b", "V25"])):
            result, rows = self.rows("--solver", solver, "--no-sweeps", *cases, timeout=110)
            self.assertEqual(result.code, DONE, [r for r in rows if r["pass"] is False])

    def test_the_boundary_value_problem_of_the_crossing_ropes_gives_their_references(self):
        script, case = SOURCE / "scripts/crossing_ropes.py", CASES / "V25b.json"
        result = subprocess.run([sys.executable, "-B", script, "--check", case], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_exit_codes_tell_passed_from_failed_from_wrong(self):
        self.assertEqual(self.validate(cases=self.own()).code, DONE)
        expect = [{**BAR["expect"][0], "reference": "=1.01*F*L/EA", "within": 1e-3}]
        result = self.validate(cases=self.own(expect=expect))
        self.assertEqual(result.code, RUN_FAILED, result)
        self.assertIn("FAIL", result.out)
        self.assertEqual(self.validate(cases=self.folder / "nothing").code, BAD_INPUT)
        self.assertEqual(self.validate("--threads", "0").code, BAD_INPUT)
        self.assertEqual(self.validate("--solver", "nweton").code, BAD_INPUT)

    def test_a_run_that_cannot_be_done_is_a_failed_row_and_the_others_go_on(self):
        hopeless = {**copy.deepcopy(BAR), "case": "loose"}
        hopeless["scene"]["constraints"] = []
        result, rows = self.rows(cases=self.own(BAR, hopeless))
        self.assertEqual(result.code, RUN_FAILED, result)
        self.assertEqual({r["case"]: r["pass"] for r in rows}, {"bar": True, "loose": False})
        self.assertTrue(all(r["note"] for r in rows if r["case"] == "loose"))

    def test_a_critical_load_that_is_never_reached_fails(self):
        case = copy.deepcopy(BAR)
        case["scene"]["analysis"]["stop_at_instability"] = True  # a pulled bar does not buckle
        result, rows = self.rows(cases=self.own(case))
        self.assertEqual(result.code, RUN_FAILED, result)
        self.assertTrue(all("stable" in r["note"] and r["computed"] is None for r in rows))

    def test_one_thread_and_two_give_the_same_numbers(self):
        numbers = []
        for threads in ("1", "2"):
            _, rows = self.rows("V06", "V18a", "--fast", "--threads", threads)
            numbers.append([(r["case"], r["run"], r["quantity"], r["resolution"], r["computed"]) for r in rows])
        self.assertEqual(*numbers)

    # ---------------------------------------------------------------------------------------------------- another solver

    def test_sweeps_are_judged_by_the_same_rule(self):
        result, rows = self.rows("--solver", "stable_cosserat", "--fast", "V18a", "V06")
        self.assertEqual(result.code, RUN_FAILED, result)
        self.assertEqual({r["solver"] for r in rows}, {"stable_cosserat"})
        self.assertTrue(any(r["pass"] is False and abs(r["error"]) > r["allowed"] for r in rows))
        self.assertIn("has no statics", result.out)

    def test_what_a_solver_lacks_by_its_traits_is_listed_and_not_run(self):
        for solver in ("stable_cosserat", "projective"):
            result, rows = self.rows("--solver", solver, "V03")
            self.assertEqual(result.code, DONE, result)
            self.assertTrue(rows and all(r["pass"] is None and r["note"] == "needs a solver that can solve statics" for r in rows))
        case = copy.deepcopy(BAR)
        case["scene"]["constraints"].append({"type": "roller", "vertices": "rod:end"})
        result, rows = self.rows("--solver", "projective", cases=self.own(case))
        self.assertEqual({r["note"] for r in rows}, {"needs a solver that can hold vertices along single directions"}, rows)
        result, rows = self.rows("--solver", "direct", cases=self.own(case))
        self.assertTrue(all(r["pass"] for r in rows), rows)

    def test_an_equilibrium_in_which_no_motion_rests_takes_statics(self):
        result, rows = self.rows("--solver", "projective", "--fast", "V07")
        self.assertEqual(result.code, DONE, rows)
        self.assertTrue(all(r["pass"] for r in rows if r["run"] == "0.5 turns"), rows)
        notes = {r["note"] for r in rows if r["run"] != "0.5 turns"}
        self.assertEqual(notes, {"needs a solver that can solve statics: no motion is sure to come to rest in this equilibrium"})

    def test_a_property_of_one_solver_is_not_asked_of_another(self):
        case = copy.deepcopy(BAR)
        case["of_solver"] = "stable_cosserat"
        _, rows = self.rows("--solver", "projective", cases=self.own(case))
        self.assertEqual({r["note"] for r in rows}, {"needs the solver `stable_cosserat`"})
        case["of_solver"] = "stable_coserat"
        result = self.validate(cases=self.own(case))
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertIn("did you mean `stable_cosserat`", result.err)

    def test_relaxation_stops_at_rest(self):
        case = copy.deepcopy(BAR)
        case["scene"]["rods"][0]["material"].update(tau_stretch=0.1)  # settles in a few seconds
        case["expect"][0]["within"] = 1e-5
        result, rows = self.rows("--solver", "stable_cosserat", cases=self.own(case))
        self.assertEqual(result.code, DONE, rows)
        for row in rows:
            self.assertLess(row["iterations"], 4 * 20000)
            self.assertIsNotNone(row["residual"])

    def test_four_sweeps_are_shown_beside(self):
        _, rows = self.rows(cases=self.own())
        self.assertTrue(all(r["sweeps_error"] is not None for r in rows))
        _, rows = self.rows("--no-sweeps", cases=self.own())
        self.assertTrue(all(r["sweeps_error"] is None for r in rows))

    # ------------------------------------------------------------------------------------------------------------- input

    def test_list_runs_nothing(self):
        result = self.validate("--list")
        self.assertEqual(result.code, DONE, result)
        names = [line.split()[0] for line in result.out.splitlines()]
        self.assertEqual(set(names), {p.stem for p in CASES.glob("*.json")})
        self.assertEqual(len(names), len(set(names)))

    def test_an_unknown_case_is_told_with_a_guess(self):
        result = self.validate("V08", "V6", "--json", "rows.json")
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertRegex(result.err, r"V6.*is not a case.*did you mean `V\d+\w?`")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_every_problem_of_every_file_is_told_at_once(self):
        broken = copy.deepcopy(BAR)
        broken["titel"] = broken.pop("title")
        broken["resolution"]["values"] = [8, 4]
        broken["expect"][0].update(value="tipp.x - L", table={"20": 1}, reference="=F*L/(EA")
        broken["scene"]["rods"][0]["segmens"] = 3
        other = {**copy.deepcopy(BAR), "case": "other"}
        other["shape"] = {"axes": "xx", "resolution": 5, "x": "s*q"}
        folder = self.own(broken, other)
        (folder / "half.json").write_text('{"case": ')
        (folder / "misnamed.json").write_text(json.dumps(BAR))
        result = self.validate(cases=folder)
        self.assertEqual(result.code, BAD_INPUT, result)
        for words in ("bar.json.*`title` is missing", "bar.json/titel.*unknown key", "bar.json/resolution/values.*ascend",
                      "bar.json/expect/0.*both `table` and `within`", "bar.json/expect/0/table.*20 is not a resolution",
                      "half.json", "misnamed.json/case.*same name", "other.json/shape.*axes", "other.json/shape/resolution.*5"):
            self.assertRegex(result.err, words)
        self.assert_readable(result)

    def test_misspelt_names_in_expressions_are_found_before_anything_runs(self):
        wrong = copy.deepcopy(BAR)
        wrong["expect"][0]["value"] = "tipp.x - L"
        wrong["shape"]["x"] = "s*(1 + F/EAA)"
        result = self.validate("--json", "rows.json", cases=self.own(wrong))
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertRegex(result.err, r"tipp\.x` is unknown; did you mean `tip\.\w`")
        self.assertRegex(result.err, r"`EAA` is unknown; did you mean `EA`")
        self.assertFalse((self.folder / "rows.json").exists())

    # ------------------------------------------------------------------------------------------------------------ report

    def test_report_is_one_page_that_needs_nothing_else(self):
        folder = self.folder / "a/report"
        result = self.validate("V01", "V29b", "--fast", "--report", folder)
        self.assertEqual(result.code, DONE, result)
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["index.html", "validation.md"])
        text = (folder / "index.html").read_text(encoding="utf-8")
        for outside in ("http://", "https://", "src=", "<script", "<link", "@import", "url("):
            self.assertNotIn(outside, text)
        page = Page()
        page.feed(text)
        self.assertEqual(page.open, [])
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn("viewport", text)
        self.assertGreaterEqual(page.tags.count("svg"), 4, "shapes and errors of V01 and V29b")
        self.assertNotIn("nan", re.sub(r"[a-z]+nan|nan[a-z]+", "", text))
        for words in ("Heavy cantilever", "Ring under diametral loads", "Gamma = 1000", "iterations", "residual"):
            self.assertIn(words, page.text)

    def test_report_has_the_same_numbers_as_the_rows(self):
        result, rows = self.rows("--report", "report", "--no-sweeps", cases=self.own())
        self.assertEqual(result.code, DONE, result)
        markdown = (self.folder / "report/validation.md").read_text()
        table = [line for line in markdown.splitlines() if line.startswith("| elongation")]
        self.assertEqual(len(table), len(rows))
        self.assertEqual([line.split("|")[2].strip() for line in table], ["4", "8"])
        self.assertEqual({line.split("|")[-2].strip() for line in table}, {"pass"})

    def test_texts_of_a_case_cannot_break_the_page(self):
        case = copy.deepcopy(BAR)
        case.update(title='<b>&"|', note="1 < 2 | 3 > 2")
        self.assertEqual(self.validate("--report", "report", "--no-sweeps", cases=self.own(case)).code, DONE)
        text = (self.folder / "report/index.html").read_text()
        self.assertIn("&lt;b&gt;&amp;", text)
        page = Page()
        page.feed(text)
        self.assertIn('<b>&"|', page.text)

    def test_outputs_that_cannot_be_written_are_told_before_anything_runs(self):
        (self.folder / "file").write_text("")
        for arguments in (["--report", "file/report"], ["--json", "nowhere/rows.json"], ["--report", ""], ["--json", ""]):
            with self.subTest(arguments):
                result = self.validate(*arguments, cases=self.own())
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertNotIn("elongation", result.out)

    # ------------------------------------------------------------------------------------------ outputs that are no files

    def start(self, *arguments, **options):
        command = [OSIER, "validate", "--cases", self.own(), "--quiet", *map(os.fspath, arguments)]
        process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, **options)
        self.addCleanup(process.stderr.close)
        return process

    def assert_rows(self, text):
        self.assertEqual({r["case"] for r in json.loads(text)}, {BAR["case"]})

    def assert_table_and_rows(self, text):
        table, bracket, rows = text.partition("\n[")
        self.assertIn("elongation", table)
        self.assert_rows(bracket + rows)

    def test_a_pipe_is_written_to_and_stays(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        os.set_blocking(reader, True)
        holder = os.open(pipe, os.O_WRONLY)  # or the reader would find an end before the writer came
        process = self.start("--json", pipe, stdout=subprocess.DEVNULL)
        self.assertEqual(process.wait(60), DONE)
        os.close(holder)
        self.assert_rows(os.read(reader, 1 << 16))
        self.assertTrue(stat.S_ISFIFO(os.lstat(pipe).st_mode))
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"pipe", "cases"})

    def test_standard_output_gets_the_rows_behind_the_table(self):
        link = self.folder / "rows.json"
        link.symlink_to("/dev/stdout")  # not by its own name: a program that replaces it shall do no harm
        process = self.start("--json", link, stdout=subprocess.PIPE)
        out = process.communicate(timeout=60)[0].decode()
        self.assertEqual(process.returncode, DONE)
        self.assert_table_and_rows(out)
        log = self.folder / "log"  # a file that somebody else has open is not replaced
        log.write_text("before\n")
        with open(log, "a") as end:
            self.assertEqual(self.start("--json", link, stdout=end).wait(60), DONE)
        self.assertTrue(log.read_text().startswith("before\n"))
        self.assert_table_and_rows(log.read_text())
        self.assertEqual(os.readlink(link), "/dev/stdout")

    def test_a_device_without_space_is_a_failure_and_stays(self):
        os.symlink("/dev/full", self.folder / "full.json")
        result = self.validate("--json", "full.json", cases=self.own())
        self.assertEqual(result.code, RUN_FAILED, result)
        self.assertIn("full.json: cannot write: No space left on device", result.err)
        self.assertTrue(os.path.islink(self.folder / "full.json"))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"full.json", "cases"})

    def test_links_stay_and_what_they_lead_to_is_replaced(self):
        (self.folder / "far").mkdir()
        (self.folder / "far/rows.json").write_text("old")
        os.symlink("rows.json", self.folder / "far/second")
        for link, target in (("there", "far/second"), ("not_yet", "far/new.json")):
            os.symlink(target, self.folder / link)
            self.assertEqual(self.validate("--json", link, cases=self.own()).code, DONE)
            self.assertEqual(os.readlink(self.folder / link), target)
            self.assert_rows((self.folder / link).read_text())
        self.assertEqual({p.name for p in (self.folder / "far").iterdir()}, {"rows.json", "second", "new.json"})
        self.assertTrue(os.path.islink(self.folder / "far/second"))


if __name__ == "__main__":
    main()

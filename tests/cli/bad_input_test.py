"""Bad input: every problem at once, each with its place and a remedy; exit 2; nothing written."""

import json
import unittest

from osier_cli import BAD_INPUT, CliTest, beam, beam_rod, main

LINE = {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}


class Alone(CliTest):
    def test_what_is_wrong_with_the_brackets_is_told_in_plain_words(self):
        for text, remedy in (('{"a": 1 "b": 2}', "put a comma between"), ('{"a": [1, 2 3]}', "put a comma between"), ('{"a": 1,}', "leave out the comma"),
                             ('{"a": [1, 2,]}', "leave out the comma"), ('{"a": [1, 2}', "close { with }"), ('{"a": 1', "the file ends too early"),
                             ("{'a': 1}", "double quotes")):
            (self.folder / "scene.json").write_text(text)
            result = self.call("check", "scene.json")
            self.assertEqual(result.code, BAD_INPUT)
            self.assertIn(remedy, result.err, text)

    def test_a_missing_argument_or_command_is_told(self):
        self.assertIn("error: SCENE is required; see osier check --help", self.call("check").err)
        nothing = self.call()
        self.assertEqual(nothing.code, BAD_INPUT)
        self.assertIn("`osier --help` lists them", nothing.err)

    def test_a_scene_without_a_fault_is_good(self):
        self.assert_good(beam())

    # -------------------------------------------------------------------------------------------------------------- text

    def test_malformed_json_is_reported_with_line_and_column(self):
        for text, line in (('{\n"rods": [\n', 3), ('{"rods": [],}', 1), ("{'rods': []}", 1), ('{"rods" []}', 1), ('{"a": 1} x', 1)):
            with self.subTest(text):
                result = self.assert_refused(text, {}, exactly=False)
                self.assertRegex(result.err, r"scene(\.json)?:%d:\d+: not valid JSON" % line)

    def test_malformed_json_names_the_file_as_it_was_given(self):
        self.write("{", "broken.json")
        self.assertIn("broken.json:1:", self.call("check", "broken.json").err)

    def test_nan_and_infinity_are_refused_with_a_remedy(self):
        for word in ("NaN", "Infinity", "-Infinity", "nan"):
            with self.subTest(word):
                text = json.dumps(beam()).replace('"radius": 0.01', '"radius": ' + word)
                result = self.assert_refused(text, {}, exactly=False)
                self.assertIn("JSON has no NaN", result.err)

    def test_a_number_too_large_for_a_double_is_refused_with_its_place(self):
        text = json.dumps(beam()).replace('"radius": 0.01', '"radius": 1e999')
        result = self.assert_refused(text, {}, exactly=False)
        self.assertRegex(result.err, r"1e999")
        self.assertRegex(result.err, r"scene(\.json)?:1:\d+|/materials/m/radius")

    def test_duplicate_keys_are_refused_with_their_place(self):
        text = json.dumps(beam()).replace('"radius": 0.01', '"radius": 0.01, "radius": 0.02')
        result = self.assert_refused(text, {}, exactly=False)
        self.assertIn("radius", result.err)
        self.assertIn("twice", result.err)
        self.assertRegex(result.err, r"/materials/m|scene(\.json)?:1:\d+")

    def test_the_same_key_in_two_objects_is_fine(self):
        self.assert_good(beam(materials={"m": beam()["materials"]["m"], "n": beam()["materials"]["m"]}))

    def test_comments_are_fine(self):
        self.assert_good("// first\n/* second */" + json.dumps(beam()).replace('"a"', '"a" /* third */') + "// last")

    def test_missing_scene_file(self):
        result = self.call("run", "nothing.json", "-o", "out")
        self.assertEqual(result.code, BAD_INPUT)
        self.assertIn("nothing.json: cannot be opened", result.err)
        self.assertFalse((self.folder / "out").exists())

    def test_a_folder_is_not_a_scene(self):
        result = self.call("run", ".", "-o", "out")
        self.assertEqual(result.code, BAD_INPUT)
        self.assertIn("is a folder", result.err)

    def test_an_empty_file_says_so(self):
        self.assert_refused("", {}, exactly=False)

    def test_a_scene_that_is_no_object(self):
        for text in ("[]", "null", "3", '"rods"'):
            with self.subTest(text):
                self.assert_refused(text, {"": "not an object"})

    def test_a_scene_without_rods(self):
        for scene in ({}, {"rods": []}, {"rods": [], "structures": []}):
            with self.subTest(scene):
                self.assert_refused(scene, {"/rods": "no rods"})

    def test_numbers_beyond_double_arithmetic_name_their_rod(self):
        scene = beam_rod(shape={"type": "line", "from": [0, 0, 0], "to": [1e-9, 0, 0]})
        scene["materials"]["m"]["stretch_shear"] = 1e299
        self.assert_refused(scene, {"/rods/0": "beyond double arithmetic"})

    # -------------------------------------------------------------------------------------------------------------- keys

    def test_misspelt_keys_at_every_level(self):
        self.assert_refused(beam(forcs=[]), {"/forcs": ["unknown key", "did you mean `forces`?"]})
        self.assert_refused(beam_rod(segmets=3), {"/rods/0/segmets": "did you mean `segments`?"})
        self.assert_refused(beam_rod(shape={**LINE, "form": [0, 0, 0]}), {"/rods/0/shape/form": "did you mean `from`?"})
        self.assert_refused(beam(forces=[{"type": "gravity", "aceleration": [0, 0, 0]}]), {"/forces/0/aceleration": "`acceleration`?"})
        self.assert_refused(beam(analysis={"type": "dynamic", "setp": 1}), {"/analysis/setp": "did you mean `step`?"})
        self.assert_refused(beam(solver={"name": "stable_cosserat", "iteratons": 3}), {"/solver/iteratons": "`iterations`?"})
        self.assert_refused(beam(output={"formts": []}), {"/output/formts": "did you mean `formats`?"})
        self.assert_refused(beam(fracture={"strain_limit": 1, "x": 1}), {"/fracture/x": "known here: strain_limit"})
        self.assert_refused(beam_rod(velocity={"liner": [0, 0, 0]}), {"/rods/0/velocity/liner": "`linear`?"})
        self.assert_refused(beam(constraints=[{"type": "pin", "vertices": 0, "motion": {"rotat": {}}}]),
                            {"/constraints/0/motion/rotat": "did you mean `rotate`?"})
        self.assert_refused(beam(forces=[{"type": "gravity", "acceleration": {"keys": [[0, [0, 0, 0]]], "interp": "linear"}}]),
                            {"/forces/0/acceleration/interp": "did you mean `interpolation`?"})

    def test_a_key_with_a_slash_or_tilde_has_an_escaped_pointer(self):
        self.assert_refused(beam(**{"a/b~c": 1}), {"/a~1b~0c": "unknown key"})

    def test_missing_keys(self):
        self.assert_refused(beam_rod(shape=None), {"/rods/0": "`shape` is missing"})
        self.assert_refused(beam_rod(material=None), {"/rods/0": "`material` is missing"})
        self.assert_refused(beam(constraints=[{"type": "pin"}]), {"/constraints/0": "`vertices` is missing"})
        self.assert_refused(beam(forces=[{"type": "force", "vertices": 0}]), {"/forces/0": "`force` is missing"})
        self.assert_refused(beam(forces=[{}]), {"/forces/0": ["`type` is missing", "gravity"]})
        self.assert_refused(beam(materials={"m": {"radius": 1}}), {"/materials/m": ["`stretch_shear`", "`bend_twist`", "`line_density`", "`young`"]})
        self.assert_refused(beam_rod(segments=None), {"/rods/0": ["needs a sampling", "`segment_length`"]})

    def test_an_empty_material_name_is_no_material(self):
        self.assert_refused(beam_rod(material=""), {"/rods/0/material": "material"})

    # ------------------------------------------------------------------------------------------------------------- types

    def test_wrong_types(self):
        for scene, place, words in (
            (beam(rods={}), "/rods", "not a list"),
            (beam(rods=[3]), "/rods/0", "not an object"),
            (beam(materials=[]), "/materials", "not an object"),
            (beam(name=3), "/name", "not text"),
            (beam_rod(segments="four"), "/rods/0/segments", "not a whole number"),
            (beam_rod(segments=4.5), "/rods/0/segments", "not a whole number"),
            (beam_rod(segments=True), "/rods/0/segments", "not a whole number"),
            (beam_rod(shape={**LINE, "to": [1, 0]}), "/rods/0/shape/to", "three finite numbers"),
            (beam_rod(shape={**LINE, "to": [1, 0, "0"]}), "/rods/0/shape/to", "three finite numbers"),
            (beam_rod(shape={**LINE, "to": None}), "/rods/0/shape/to", "three finite numbers"),
            (beam_rod(shape="line"), "/rods/0/shape", "an object with `type`"),
            (beam(welds=[{"vertices": [0, 4], "joint": "yes"}]), "/welds/0/joint", "true or false"),
            (beam(output={"diagnostics": True}), "/output/diagnostics", "one of none, frame, step"),
            (beam(analysis={"type": "dynamic", "step": "1"}), "/analysis/step", "a number [s]"),
            (beam(constraints=[{"type": "pin", "vertices": {}}]), "/constraints/0/vertices", "does not select anything"),
            (beam(constraints=[{"type": "pin", "vertices": 1.5}]), "/constraints/0/vertices", "does not select anything"),
            (beam(constraints=[{"type": "pin", "vertices": []}]), "/constraints/0/vertices", "selects nothing"),
            (beam(joints=[{"segments": [0, 2], "rest_rotation": [0, 0, 0, 0]}]), "/joints/0/rest_rotation", "zero quaternion"),
            (beam(analysis=None), "/analysis", "object"),
            (beam(solver=None), "/solver", "object"),
        ):
            with self.subTest(place=place, words=words):
                self.assert_refused(scene, {place: words}, exactly=False)

    def test_a_material_of_the_wrong_type_is_told_that_a_name_will_do(self):
        result = self.assert_refused(beam_rod(material=5), {"/rods/0/material": "5"})
        self.assertIn("name", result.err)

    def test_a_value_out_of_range_is_one_problem_and_not_also_a_missing_one(self):
        self.assert_refused(beam_rod(segments=0), {"/rods/0/segments": "at least 1"})
        self.assert_refused(beam_rod(segments=-4), {"/rods/0/segments": "at least 1"})
        self.assert_refused(beam_rod(segments=None, segment_length=0), {"/rods/0/segment_length": "above 0 m"})

    def test_keyframes(self):
        def gravity(track):
            return beam(forces=[{"type": "gravity", "acceleration": track}])
        at = "/forces/0/acceleration"
        self.assert_refused(gravity({}), {at: "need a list `keys`"})
        self.assert_refused(gravity({"keys": []}), {at: "need a list `keys`"})
        self.assert_refused(gravity({"keys": [[0]]}), {at + "/keys/0": "pair"})
        self.assert_refused(gravity({"keys": [[0, 1]]}), {at + "/keys/0/1": "three finite numbers"})
        self.assert_refused(gravity({"keys": [[1, [0, 0, 0]], [1, [1, 0, 0]]]}), {at + "/keys/1/0": "does not increase"})
        self.assert_refused(gravity({"keys": [[0, [0, 0, 0]]], "interpolation": "liner"}), {at + "/interpolation": "`linear`?"})
        self.assert_refused(beam(forces=[{"type": "drag", "rate": {"keys": [[0, 1], [1, -1]]}}]), {"/forces/0/rate/keys/1/1": "at least 0"})

    # ------------------------------------------------------------------------------------------------------------ values

    def test_negative_radius(self):
        for radius in (-0.01, 0):
            with self.subTest(radius):
                scene = beam()
                scene["materials"]["m"]["radius"] = radius
                self.assert_refused(scene, {"/materials/m/radius": ["use a value above 0 m"]})

    def test_a_material_in_place_has_its_own_pointer(self):
        self.assert_refused(beam_rod(material={"young": 1e9, "density": 1000, "radius": -1}), {"/rods/0/material/radius": "above 0 m"})

    def test_a_material_that_nobody_uses_must_be_right_too(self):
        self.assert_refused(beam(materials={**beam()["materials"], "spare": {"young": -1, "density": 1, "radius": 1}}),
                            {"/materials/spare/young": "above 0 Pa"})

    def test_contradictions_in_a_material_are_told_once(self):
        material = {"young": 1e9, "density": 1000, "radius": 0.01, "poisson": 0.3, "shear_modulus": 1e9}
        self.assert_refused(beam(materials={"m": material}), {"/materials/m": "both `poisson` and `shear_modulus`"})

    def test_sections_and_presets(self):
        raw = beam()["materials"]["m"]
        def one(where, words, **material):
            self.assert_refused(beam(materials={"m": {k: v for k, v in {**raw, **material}.items() if v is not None}}), {"/materials/m" + where: words})
        one("/section/type", "did you mean `ellipse`?", radius=None, section={"type": "elipse"})
        one("/section", "`height` is missing", radius=None, section={"type": "rectangle", "width": 1})
        one("/section/inner_radius", "not smaller", radius=None, section={"type": "tube", "radius": 1, "inner_radius": 2})
        one("", "both `radius` and `section`", section={"type": "circle", "radius": 1})
        one("/preset", "did you mean `hair`?", preset="hiar")
        one("/bend", "a number or a pair", bend=[1, 2, 3])
        one("/shear/1", "above 0 N", shear=[1, 0])
        flat = {"young": 1e9, "density": 1000, "section": {"type": "rectangle", "width": 0.01, "height": 0.02}}
        self.assert_refused(beam(materials={"m": flat}), {"/materials/m": "`poisson` or `shear_modulus` is missing"})
        self.assert_good(beam(materials={"m": {**flat, "poisson": 0}}))
        self.assert_good(beam(materials={"m": {**flat, "twist": 0, "shear": [1, 2]}}))

    def test_frames_along_a_rod(self):
        self.assert_refused(beam_rod(frame="up"), {"/rods/0": "`frame` up without `up`"})
        bent = {"type": "points", "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0]]}
        self.assert_refused(beam_rod(segments=None, shape=bent, up=[0, 1, 0], frame="up"), {"/rods/0/up": "along segment 1"})
        self.assert_good(beam_rod(segments=None, shape=bent, up=[0, 1, 0]))
        self.assert_refused(beam_rod(taper={"keys": [[0, 1], [0.5, -1], [3, 1]]}), {"/rods/0/taper/keys/1/1": "above 0", "/rods/0/taper/keys/2/0": "at most 1"})

    def test_rotational_inertia_without_a_section(self):
        scene = beam(rotational_inertia=True, structures=[{"type": "net"}])
        self.assert_refused(scene, {"/structures/0": "no rotational inertia"})
        del scene["materials"]["m"]["radius"]
        self.assert_refused(scene, {"/structures/0": "no rotational inertia", "/rods/0": "no rotational inertia"})

    def test_zero_length_segments(self):
        self.assert_refused(beam_rod(shape={**LINE, "to": [0, 0, 0]}), {"/rods/0/shape/to": "no length"})
        self.assert_refused(beam_rod(segments=None, shape={"type": "points", "points": [[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]]}),
                            {"/rods/0/shape/points/2": "neighbour"}, exactly=False)
        self.assert_refused(beam_rod(shape={"type": "arc", "radius": 1, "angle": 0}), {"/rods/0/shape/angle": "no length"})

    def test_a_segment_that_rounding_makes_zero_names_its_rod_once(self):
        result = self.assert_refused(beam_rod(shape={**LINE, "from": [1e9, 0, 0], "to": [1e9 + 2e-7, 0, 0]}, segments=100), {}, exactly=False)
        self.assertIn("/rods/0", result.problems, result)
        self.assertLess(len(result.err.splitlines()), 20, "one problem, a hundred lines")

    def test_selections_out_of_range(self):
        for selection, words in ((5, "does not exist"), (-1, "does not exist"), ("a:5", "out of range"), ("a:-6", "out of range"),
                                 ("a:3..9", "out of range"), ("a:3..1", "out of range"), ("a:x", "a:x"), ("a:", "a:"), ("beam:0", "rods: a"),
                                 ("a", "add a place"), (["a:0", "a:7"], "out of range")):
            with self.subTest(selection):
                place = "/constraints/0/vertices" + ("/1" if isinstance(selection, list) else "")
                self.assert_refused(beam(constraints=[{"type": "pin", "vertices": selection}]), {place: words})

    def test_selections_of_segments_joints_and_probes_out_of_range(self):
        self.assert_refused(beam(constraints=[{"type": "fix", "segments": "a:4"}]), {"/constraints/0/segments": "0 to 3"})
        self.assert_refused(beam(forces=[{"type": "torque", "segments": 4, "torque": [0, 0, 1]}]), {"/forces/0/segments": "0 to 3"})
        self.assert_refused(beam(probes=[{"name": "p", "joint": "a:3"}]), {"/probes/0/joint": "0 to 2"})
        self.assert_refused(beam(probes=[{"name": "p", "vertex": "a:*"}]), {"/probes/0/vertex": "exactly one"})
        self.assert_refused(beam(probes=[{"name": "p"}]), {"/probes/0": "exactly one of"})
        self.assert_refused(beam(probes=[{"name": "p", "vertex": 0, "joint": 0}]), {"/probes/0": "exactly one of"})
        self.assert_refused(beam(joints=[{"segments": [0, 0]}]), {"/joints/0/segments": "two different"})
        self.assert_refused(beam_rod(segment_materials=[{"first": 2, "last": 4, "material": "m"}]), {"/rods/0/segment_materials/0": "0 to 3"})

    def test_misspelt_rod_and_material_names(self):
        scene = beam_rod(name="beam")
        scene["constraints"] = [{"type": "pin", "vertices": "baem:end"}]
        self.assert_refused(scene, {"/constraints/0/vertices": "did you mean `beam`?"})
        self.assert_refused(beam(materials={"steel": beam()["materials"]["m"]}, rods=[{**beam()["rods"][0], "material": "stel"}]),
                            {"/rods/0/material": "did you mean `steel`?"})

    def test_two_constraints_on_one_vertex(self):
        self.assert_refused(beam(constraints=[{"type": "pin", "vertices": 0}, {"type": "clamp", "vertices": "a:start"}]),
                            {"/constraints/1": "already held by /constraints/0"})

    def test_a_vertex_twice_in_one_constraint_does_not_blame_two_constraints(self):
        result = self.check(beam(constraints=[{"type": "pin", "vertices": ["a:0", 0]}]))
        self.assertNotIn("already held by /constraints/0", result.err)

    def test_names_are_unique(self):
        rod = beam()["rods"][0]
        self.assert_refused(beam(rods=[rod, rod]), {"/rods/1/name": "used twice"})
        self.assert_refused({"structures": [{"type": "net", "name": "n"}, {"type": "net", "name": "n"}]}, {"/structures/1/name": "used twice"})

    def test_zero_directions(self):
        self.assert_refused(beam(constraints=[{"type": "hinge", "vertex": 0, "axis": [0, 0, 0]}]), {"/constraints/0/axis": "zero"})
        self.assert_refused(beam(constraints=[{"type": "clamp", "vertices": 0, "tangent": [0, 0, 0]}]), {"/constraints/0/tangent": "zero"})
        self.assert_refused(beam(constraints=[{"type": "pin", "vertices": 0, "motion": {"rotate": {"axis": [0, 0, 0], "angle": 1}}}]),
                            {"/constraints/0/motion/rotate/axis": "zero"})
        self.assert_refused(beam(forces=[{"type": "wind", "direction": [0, 0, 0]}]), {"/forces/0/direction": "zero"})
        self.assert_refused(beam_rod(shape={"type": "circle", "radius": 1, "normal": [0, 0, 0]}), {"/rods/0/shape/normal": "zero"})
        self.assert_refused(beam_rod(up=[0, 0, 0]), {"/rods/0/up": "zero"})

    def test_unknown_words_get_suggestions(self):
        self.assert_refused(beam(solver={"name": "newtn"}), {"/solver/name": "did you mean `newton`?"})
        self.assert_refused(beam(solver={"name": "stable_cosserat", "lambda": "aprox"}), {"/solver/lambda": "`approx`?"})
        self.assert_refused(beam(output={"formats": ["hdf"]}), {"/output/formats/0": "did you mean `hdf5`?"})
        self.assert_refused(beam(output={"formats": ["usd"]}), {"/output/formats/0": "did you mean `usda`?"})
        self.assert_refused(beam(output={"formats": ["quicktime"]}), {"/output/formats/0": "hdf5, obj, vtp"})
        self.assert_refused(beam_rod(shape={"type": "helx"}), {"/rods/0/shape/type": "did you mean `helix`?"})
        self.assert_refused({"structures": [{"type": "brigde"}]}, {"/structures/0/type": "did you mean `bridge`?"}, exactly=False)
        self.assert_refused(beam(forces=[{"type": "gravty"}]), {"/forces/0/type": "did you mean `gravity`?"})
        self.assert_refused(beam(constraints=[{"type": "clmp"}]), {"/constraints/0/type": "did you mean `clamp`?"})
        self.assert_refused(beam(analysis={"type": "statics"}), {"/analysis/type": "did you mean `static`?"})

    def test_statics_by_sweeps_are_refused_with_a_remedy(self):
        static = {"type": "static"}
        said = ["`stable_cosserat` cannot solve statics", "`automatic`", "`direct`", "`newton`"]
        self.assert_refused(beam(analysis=static, solver={"name": "stable_cosserat", "method": "sweep"}), {"/solver/method": said})
        for setting in ({"order": "jacobi"}, {"lambda": "exact"}):  # these are settings of sweeps
            self.assert_refused(beam(analysis=static, solver={"name": "stable_cosserat", **setting}), {"/solver/name": said})
            self.assert_refused(beam(analysis=static, solver=setting), {"/solver": said})

    def test_what_newton_cannot_do_is_refused_where_it_was_asked_for(self):
        for key, value in (("threads", 2), ("precision", "float")):
            self.assert_refused(beam(solver={"name": "newton", key: value}), {"/solver/" + key: ["`newton` cannot", "`automatic`"]})
            self.assert_refused(beam(solver={"name": "newton"}, execution={key: value}), {"/execution/" + key: ["`newton` cannot", "`automatic`"]})

    def test_execution(self):
        self.assert_refused(beam(execution={"device": "cude"}), {"/execution/device": "did you mean `cuda`?"})
        self.assert_refused(beam(execution={"devise": "cpu"}), {"/execution/devise": "did you mean `device`?"})
        self.assert_refused(beam(execution={"threads": 2}, solver={"threads": 3}), {"/solver/threads": ["3", "/execution/threads says 2", "keep one"]})

    def test_welds_that_do_not_meet(self):
        self.assert_refused(beam(welds=[{"vertices": ["a:start", "a:end"]}]), {"/welds/0": ["1 m apart", "tolerance"]})
        self.assert_refused(beam(welds=[{"vertices": ["a:start"]}]), {"/welds/0/vertices": "at least two"})

    def test_a_vertex_cannot_be_welded_to_itself(self):
        self.assert_refused(beam(welds=[{"vertices": ["a:end", "a:end"]}]), {"/welds/0/vertices": "two"})

    def test_a_clamp_on_a_cable(self):
        scene = beam(constraints=[{"type": "clamp", "vertices": 0}])
        scene["materials"]["m"]["bend_twist"] = 0
        self.assert_refused(scene, {"/constraints/0": "use a pin"})

    def test_settings_that_disagree(self):
        self.assert_refused(beam_rod(segment_length=0.1), {"/rods/0": "both `segments` and `segment_length`"})
        self.assert_refused(beam(analysis={"type": "dynamic", "iterations": 3}, solver={"name": "stable_cosserat", "iterations": 4}),
                            {"/analysis/iterations": ["3", "4"]})

    def test_a_shortcut_the_solver_does_not_have_is_blamed_where_it_was_written(self):
        self.assert_refused(beam(analysis={"type": "dynamic", "iterations": 3}, solver={"name": "newton"}), {"/analysis/iterations": "newton"})

    # ------------------------------------------------------------------------------------------------------------- files

    def test_missing_files_of_shapes(self):
        self.assert_refused(beam_rod(shape={"type": "polyline", "file": "nope.txt"}), {"/rods/0/shape/file": "nope.txt"})

    def test_faults_in_files_of_shapes(self):
        for text, words in (("0 0 0\n1 x 0\n", "line 2"), ("0 0 0\n1 0\n", "line 2"), ("0 0 0\n", "1 points"), ("", "0 points"),
                            ("0 0 0\n1 nan 0\n", "line 2"), ("0 0 0\n0 0 0\n1 0 0\n", "line 2")):
            with self.subTest(text):
                self.write(text, "line.txt")
                self.assert_refused(beam_rod(segments=None, shape={"type": "polyline", "file": "line.txt"}), {"/rods/0/shape/file": words})

    def test_unwritable_output(self):
        scene = self.write(beam())
        blocker = self.write("", "file")
        for folder in (blocker, blocker / "sub", "/proc/osier"):
            with self.subTest(folder):
                before = set(self.folder.iterdir())
                result = self.call("run", scene, "-o", folder, "--stats", "stats.json")
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertIn("cannot be written", result.err)
                self.assertIn("-o", result.err)
                self.assertEqual(set(self.folder.iterdir()), before, "something was left behind")

    def test_output_files_that_cannot_be_replaced(self):
        for name in ("trajectory.h5", "diagnostics.csv"):
            with self.subTest(name):
                (self.folder / name.replace(".", "_") / name).mkdir(parents=True)
                result = self.call("run", self.write(beam()), "-o", name.replace(".", "_"))
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertIn(name, result.err)

    def test_unwritable_stats_are_noticed_before_the_run(self):
        result = self.call("run", self.write(beam()), "-o", "out", "--stats", "nowhere/stats.json")
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertIn("nowhere/stats.json", result.err)
        self.assertFalse((self.folder / "out").exists())


class AllAtOnce(CliTest):
    def faulty(self):
        return {
            "nmae": "typo",
            "materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": -0.01}},
            "rods": [
                {"name": "a", "shape": LINE, "segments": 4, "material": "m", "up": "z"},
                {"name": "b", "shape": LINE, "segments": 2.5, "segment_length": -1, "material": "n"},
            ],
            "forces": [{"type": "gravity", "acceleration": [0, "down", 0]}, {"type": "drag", "rate": -1}, {"type": "gravty"}],
            "solver": {"name": "newtn"},
            "analysis": {"type": "dynamic", "step": 0},
            "output": {"formats": ["h5df"]},
        }

    def test_twelve_problems_are_reported_in_one_go(self):
        result = self.assert_refused(self.faulty(), {
            "/nmae": "did you mean `name`?",
            "/materials/m/radius": "above 0 m",
            "/rods/0/up": "three finite numbers",
            "/rods/1/segments": "whole number",
            "/rods/1/segment_length": "above 0 m",
            "/rods/1/material": "no material",
            "/forces/0/acceleration": "three finite numbers",
            "/forces/1/rate": "at least 0",
            "/forces/2/type": "`gravity`?",
            "/solver/name": "`newton`?",
            "/analysis/step": "above 0 s",
            "/output/formats/0": "hdf5",
        }, exactly=False)
        self.assertRegex(result.err, r"\d+ problems")

    def test_a_rod_that_cannot_be_built_does_not_hide_wrong_selections(self):
        scene = beam(
            rods=[beam()["rods"][0], {"name": "b", "shape": {"type": "points", "points": [[0, 0, 0], [0, 0, 0]]}, "material": "m"}],
            constraints=[{"type": "pin", "vertices": "a:99"}, {"type": "pin", "vertices": "c:0"}],
            probes=[{"name": "p", "vertex": "a:77"}])
        self.assert_refused(scene, {"/rods/1/shape/points/1": "", "/constraints/0/vertices": "out of range", "/constraints/1/vertices": "names no vertex",
                                    "/probes/0/vertex": "out of range"})

    def test_a_missing_file_does_not_hide_other_problems(self):
        scene = beam_rod(segments=None, shape={"type": "polyline", "file": "nope.txt"})
        scene["output"] = {"formats": ["nope"]}
        scene["constraints"] = [{"type": "pin", "vertices": 0, "relase": 1}]
        self.assert_refused(scene, {"/rods/0/shape/file": "nope.txt", "/output/formats/0": "no format", "/constraints/0/relase": "`release`?"})

    def test_all_faults_of_all_rods(self):
        rods = [{"name": "r%d" % i, "shape": LINE, "segments": 0, "material": "m"} for i in range(12)]
        self.assert_refused(beam(rods=rods), {"/rods/%d/segments" % i: "at least 1" for i in range(12)}, exactly=False)

    def test_faults_in_the_scene_and_on_the_command_line_come_together(self):
        result = self.check(beam(nmae=1), "--set", "/analysis/setp=1", "--solver", "newtn", "--threads", "-1")
        self.assertEqual(result.code, BAD_INPUT)
        for place in ("/nmae", "/analysis/setp", "/solver/name"):
            self.assertIn(place, result.problems, result)

    def test_all_wrong_overrides_come_together(self):
        result = self.check(beam(), "--set", "nonsense", "--set", "/rods/x/y=1", "--set", "/name=3")
        self.assertEqual(result.code, BAD_INPUT)
        for word in ("nonsense", "/rods/x", "/name"):
            self.assertIn(word, result.err)


if __name__ == "__main__":
    main()

"""The published JSON Schema and reference page: up to date, true, and as strict as the program."""

import copy
import json
import re

import jsonschema

from osier_cli import BAD_INPUT, SCENES, SOURCE, CliTest, beam, beam_rod, main, read_scene


class Published(CliTest):
    def test_the_schema_in_docs_is_what_the_program_prints(self):
        self.assertEqual((SOURCE / "docs/scene.schema.json").read_text(encoding="utf-8"), self.call("schema").out, "run: osier schema > docs/scene.schema.json")

    def test_the_reference_in_docs_is_what_the_program_prints(self):
        self.assertEqual((SOURCE / "docs/scene.md").read_text(encoding="utf-8"), self.call("reference").out, "run: osier reference > docs/scene.md")

    def test_every_link_of_the_reference_leads_somewhere(self):
        text = self.call("reference").out
        headings = set(re.findall(r"(?m)^## (\S+)", text))
        for target in re.findall(r"\]\(#([^)]+)\)", text):
            self.assertIn(target, headings)

    def test_every_field_has_a_meaning(self):
        for kind, definition in json.loads(self.call("schema").out)["$defs"].items():
            self.assertTrue(definition["description"], kind)
            for name, field in definition["properties"].items():
                self.assertTrue("const" in field or len(field["description"]) > 3, kind + "." + name)


class Agreement(CliTest):
    def setUp(self):
        super().setUp()
        schema = json.loads(self.call("schema").out)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)

    def test_the_schema_accepts_every_scene(self):
        self.assertGreaterEqual(len(SCENES), 9)
        for path in SCENES:
            with self.subTest(path.name):
                errors = ["%s: %s" % (list(e.absolute_path), e.message[:200]) for e in self.validator.iter_errors(read_scene(path))]
                self.assertEqual(errors, [])

    def test_both_accept(self):
        rich = beam(
            **{"$schema": "../docs/scene.schema.json"}, name="rich", description="x",
            constraints=[{"type": "clamp", "vertices": "a:start", "tangent": [1, 0, 0], "release": 0.2,
                          "motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [0, 1, 0]]], "interpolation": "smooth"}, "rotate": {"angle": 3}}}],
            forces=[{"type": "gravity"}, {"type": "drag", "rate": {"keys": [[0, 1]]}}, {"type": "force", "vertices": [1, "a:2..3"], "force": [0, 0, 1]},
                    {"type": "torque", "segments": "a:-1", "torque": [0, 0, 1], "axes": "material"}, {"type": "wind", "speed": 3}],
            joints=[{"segments": [0, 2], "rest_rotation": [0, 0, 0, 1]}], fracture={"strain_limit": 1},
            probes=[{"name": "p", "vertex": 0}], output={"formats": [], "diagnostics": "none", "probes": "step"})
        scenes = [beam(), rich, beam_rod(segments=4.0), beam_rod(segments=1e1), {"structures": [{"type": "net", "nx": 2, "ny": 2}]},
                  beam(constraints=[{"type": "pin", "vertices": 1.0}]), beam(solver={}), beam(solver={"name": "direct"}), beam(execution={"threads": 2, "simd": "off", "precision": "float", "device": "cpu"}), beam(solver={"name": "newton"})]
        for scene in scenes:
            with self.subTest(json.dumps(scene)[:2000]):
                self.assertEqual([e.message for e in self.validator.iter_errors(scene)], [])
                self.assert_good(scene)

    def test_both_refuse(self):
        def changed(path, value):
            scene = copy.deepcopy(full)
            at = scene
            for key in path[:-1]:
                at = at[key]
            if value is None:
                del at[path[-1]]
            else:
                at[path[-1]] = value
            return scene
        full = beam(constraints=[{"type": "pin", "vertices": 0, "motion": {"translate": {"keys": [[0, [0, 0, 0]]]}}}],
                    forces=[{"type": "gravity", "acceleration": [0, 0, 0]}], solver={"name": "stable_cosserat"}, fracture={"strain_limit": 1},
                    probes=[{"name": "p", "vertex": 0}], output={"formats": ["hdf5"]})
        self.assertEqual([e.message for e in self.validator.iter_errors(full)], [])
        self.assert_good(full)
        faults = [
            (["forcs"], []), (["rods"], {}), (["rods", 0], 3), (["rods", 0, "shape"], None), (["rods", 0, "shape", "type"], None),
            (["rods", 0, "shape", "type"], "lin"), (["rods", 0, "shape", "to"], [1, 0]), (["rods", 0, "shape", "to"], [1, 0, "0"]),
            (["rods", 0, "shape", "to"], [1, 0, 0, 0]), (["rods", 0, "shape", "to"], None), (["rods", 0, "shape", "extra"], 1),
            (["rods", 0, "segments"], 0), (["rods", 0, "segments"], 2.5), (["rods", 0, "segments"], "4"), (["rods", 0, "segments"], True),
            (["rods", 0, "material"], None), (["rods", 0, "material"], 5), (["rods", 0, "material"], {"radius": -1}), (["rods", 0, "name"], 3),
            (["materials", "m", "radius"], -1), (["materials", "m", "radius"], 0), (["materials", "m", "stretch_shear"], 0),
            (["materials", "m", "bend_twist"], -1), (["materials", "m", "poisson"], 0.6), (["materials", "m", "shear"], [1, 0]),
            (["materials", "m", "bend"], [1, 2, 3]), (["materials", "m", "preset"], "gold"), (["materials", "m", "section"], {"type": "star"}),
            (["rods", 0, "taper"], {"keys": [[0, 1], [2, 1]]}), (["rods", 0, "taper"], 0), (["rods", 0, "frame"], "down"), (["rotational_inertia"], 1),
            (["materials", "m", "colour"], "red"), (["materials"], []),
            (["constraints", 0, "type"], "nail"), (["constraints", 0, "vertices"], None), (["constraints", 0, "vertices"], []),
            (["constraints", 0, "vertices"], 1.5), (["constraints", 0, "vertices"], [[0]]), (["constraints", 0, "release"], -1),
            (["constraints", 0, "motion", "translate"], {"keys": []}), (["constraints", 0, "motion", "translate"], {}),
            (["constraints", 0, "motion", "translate", "keys", 0], [0]), (["constraints", 0, "motion", "translate", "interpolation"], "cubic"),
            (["constraints", 0, "motion", "rotate"], {}), (["forces", 0], "gravity"), (["forces", 0, "acceleration"], 9.81), (["forces", 0, "g"], 1),
            (["solver", "name"], "magic"), (["solver", "name"], 5), (["solver"], []), (["solver", "iterations"], 0), (["solver", "threads"], 0), (["solver", "threads"], 2000),
            (["execution"], {"threads": 0}), (["execution"], {"threads": 2000}), (["execution"], {"simd": "mmx"}), (["execution"], {"device": "abacus"}), (["execution"], []),
            (["solver", "tolerance"], 0), (["solver", "lambda"], "x"), (["analysis", "type"], None), (["analysis", "step"], 0), (["analysis", "fps"], -1),
            (["analysis", "load_steps"], 3), (["probes", 0, "name"], None), (["output", "formats"], "hdf5"),
            (["output", "formats"], [1]), (["output", "diagnostics"], True), (["output", "formats"], ["usd"]),
            (["fracture"], {}), (["constraints", 0, "vertices"], -1), (["probes", 0], {"name": "p"}), (["rods", 0, "segments"], 3000000000),
        ]
        for path, value in faults:
            with self.subTest(path=path, value=value):
                scene = changed(path, value)
                self.assertTrue(list(self.validator.iter_errors(scene)), "the schema accepts it")
                self.assertEqual(self.check(scene).code, BAD_INPUT, "the program accepts it")


if __name__ == "__main__":
    main()

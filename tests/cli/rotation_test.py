"""Motors, prescribed turns, rotational inertia and instabilities from a user's side: what is refused and why, what is written."""

import json
import math

from osier_cli import BAD_INPUT, CliTest, beam, main

CLAMP = {"type": "clamp", "vertices": 0}
STATIC = {"type": "static", "load_steps": 4}
LINE = {"keys": [[0, 1], [10, 0]]}


def motor(**changes):
    return {"type": "motor", "segment": 0, **changes}


def driven(*constraints, **changes):
    return beam(constraints=list(constraints), **changes)


class Refusals(CliTest):
    """Each says where, what and what to do about it."""

    def assert_told(self, scene, place, what, remedy):
        result = self.assert_refused(scene, {place: what})
        text = " ".join(result.problems[place])
        self.assertIn("; ", text, "no remedy")
        self.assertIn(remedy, text.split("; ", 1)[1], result)

    def turn(self, **turn):
        return driven({**CLAMP, "motion": {"rotate": {"axis": [1, 0, 0], **turn}}})

    def test_a_turn_has_an_angle_or_a_speed(self):
        place = "/constraints/0/motion/rotate"
        self.assert_told(self.turn(angle=3, speed=1), place, ["angle", "speed"], "one")
        self.assert_told(self.turn(), place, ["angle", "speed"], "one")
        self.assert_good(self.turn(angle=3))
        self.assert_good(self.turn(speed=3))

    def test_a_motor_has_a_speed_or_a_torque(self):
        self.assert_told(driven(motor()), "/constraints/0", ["speed", "torque_speed"], "one")
        self.assert_told(driven(motor(speed=1, torque_speed=LINE)), "/constraints/0", ["speed", "torque_speed"], "one")
        self.assert_good(driven(motor(speed=1)))
        self.assert_good(driven(motor(torque_speed=LINE)))
        self.assert_good(driven(motor(torque_speed=0.2)))

    def test_a_torque_over_speed_in_statics(self):
        self.assert_told(driven(motor(torque_speed=LINE), CLAMP, analysis=STATIC), "/constraints/0/torque_speed", "statics", "speed")
        self.assert_good(driven(motor(speed=1), CLAMP, analysis=STATIC))

    def test_a_motor_on_a_held_segment(self):
        for other in ({"type": "fix", "segments": "a:*"}, {"type": "hinge", "vertex": 0}, motor(speed=2)):
            with self.subTest(other["type"]):
                self.assert_told(driven(other, motor(speed=1)), "/constraints/1", ["segment 0", "/constraints/0"], "keep one")
        self.assert_good(driven(CLAMP, motor(speed=1)))  # a clamp holds the rod's frame at the vertex, not the segment's

    def test_a_motor_on_a_segment_that_is_not_there(self):
        result = self.assert_refused(driven(motor(segment=9, speed=1)), {"/constraints/0/segment": "9"})
        self.assertIn("3", " ".join(result.problems["/constraints/0/segment"]))
        self.assert_refused(driven(motor(segment="a:*", speed=1)), {"/constraints/0/segment": "one"})

    def test_zero_axes(self):
        self.assert_told(driven(motor(axis=[0, 0, 0], speed=1)), "/constraints/0/axis", "zero", "direction")
        self.assert_told(self.turn(axis=[0, 0, 0], speed=1), "/constraints/0/motion/rotate/axis", "zero", "direction")
        self.assert_told(driven({"type": "hinge", "vertex": 0, "axis": [0, 0, 0]}), "/constraints/0/axis", "zero", "direction")

    def test_an_orientation_that_is_no_rotation(self):
        for value in ([0, 0, 0, 0], {"keys": [[0, [0, 0, 0, 1]], [1, [0, 0, 0, 0]]]}):
            result = self.check(driven({**CLAMP, "motion": {"orientation": value}}))
            self.assertEqual(result.code, BAD_INPUT, result)
            self.assertRegex(result.err, r"/constraints/0/motion/orientation.*; ")
            self.assert_readable(result)

    def test_an_orientation_of_what_has_no_frame(self):
        self.assert_told(driven({"type": "pin", "vertices": 0, "motion": {"orientation": [1, 0, 0, 0]}}),
                         "/constraints/0/motion/orientation", "no effect", "clamp")

    def test_the_papers_closed_form_on_other_materials(self):
        scene = beam(solver={"name": "stable_cosserat", "lambda": "approx"})
        self.assert_good(scene)
        anisotropic = {"stretch": 100, "shear": 80, "bend": [1, 2], "twist": 1, "line_density": 1}
        self.assert_told({**scene, "materials": {"m": anisotropic}}, "/solver/lambda", "stiffness", "secular")
        self.assert_told({**scene, "rotational_inertia": True}, "/solver/lambda", "inertia", "secular")
        motor = {"type": "motor", "segment": 0, "torque_speed": {"keys": [[0, 1], [10, 0]]}}
        self.assert_told({**scene, "constraints": [motor]}, "/solver/lambda", "motor", "secular")

    def test_rotational_inertia_in_statics(self):
        self.assert_told(driven(CLAMP, analysis=STATIC, rotational_inertia=True), "/rotational_inertia", "statics", "leave it out")

    def test_rotational_inertia_without_a_section(self):
        scene = beam(rotational_inertia=True)
        del scene["materials"]["m"]["radius"]
        self.assert_told(scene, "/rods/0", "rotational_inertia", "section")

    def test_a_search_for_instability_in_dynamics(self):
        analysis = {"type": "dynamic", "stop_at_instability": True}
        result = self.check(beam(analysis=analysis))
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertIn("/analysis", result.err)


class Turning(CliTest):
    PROBES = [{"name": "s", "segment": 0}, {"name": "t", "vertex": "a:end"}]

    def test_a_motor_and_a_turn_of_the_same_speed_agree(self):
        speed = {"keys": [[0, 0], [0.1, 8]]}
        common = {"probes": self.PROBES, "output": {"probes": "step"}, "solver": {"name": "newton"}}
        pin = {"type": "pin", "vertices": 0}
        by_motor = self.probes(driven(motor(speed=speed), pin, **common))
        turn = {"rotate": {"axis": [1, 0, 0], "speed": speed}}
        by_turn = self.probes(driven({"type": "fix", "segments": 0, "motion": turn}, pin, **common))
        for column in ("s.qx", "s.qy", "s.qz", "s.qw", "t.x", "t.y"):
            for a, b in zip(by_motor[column], by_turn[column]):
                self.assertAlmostEqual(a, b, 12, column)
        turned = 2 * math.acos(min(1, abs(sum(by_motor["s.q" + c][0] * by_motor["s.q" + c][-1] for c in "xyzw"))))
        self.assertAlmostEqual(turned, 0.4, 9)

    def test_two_led_clamps_balance_in_the_probes(self):
        motion = {"translate": {"keys": [[0, [0, 0, 0]], [1, [-0.2, 0.1, 0.05]]]},
                  "orientation": {"keys": [[0, [0, 0, 0, 1]], [1, [0.3, 0.1, 0.4, 0.9]]]}}
        probes = self.probes(beam(constraints=[CLAMP, {"type": "clamp", "vertices": "a:end", "motion": motion}], analysis=STATIC,
                                  probes=[{"name": "c0", "clamp": "a:start"}, {"name": "c1", "clamp": "a:end"},
                                          {"name": "s0", "segment": "a:start"}, {"name": "s1", "segment": "a:end"},
                                          {"name": "v0", "vertex": "a:start"}, {"name": "v1", "vertex": "a:end"},
                                          {"name": "p0", "rod": "a", "at": 0}, {"name": "p1", "rod": "a", "at": 1}]))
        for i in range(1, 5):
            get = lambda name, letter: [probes["%s.%s%s" % (name, letter, c)][i] for c in "xyz"]
            f0, f1, m0, m1 = get("s0", "f"), get("s1", "f"), get("c0", "m"), get("c1", "m")
            self.assertGreater(math.hypot(*f0), 0.01)
            self.assertLess(math.dist(f0, f1), 1e-6 * math.hypot(*f0))
            r = [b - a for a, b in zip(get("v0", ""), get("v1", ""))]
            torque = [r[1] * f1[2] - r[2] * f1[1], r[2] * f1[0] - r[0] * f1[2], r[0] * f1[1] - r[1] * f1[0]]
            left = [a + b + c for a, b, c in zip(m0, m1, torque)]
            self.assertLess(math.hypot(*left), 1e-6 * math.hypot(*m0))
            # The same moments at the two ends of the rod, in material axes: what lies beyond exerts them.
            for name, clamp in (("p0", m0), ("p1", m1)):
                self.assertAlmostEqual(math.hypot(*[probes["%s.m%d" % (name, k)][i] for k in (1, 2, 3)]), math.hypot(*clamp), 9)

    def test_a_spinning_rod_has_its_energy_in_the_diagnostics(self):
        scene = beam(rotational_inertia=True, output={"diagnostics": "step"})
        scene["rods"][0]["velocity"] = {"angular": [7, 0, 0]}
        self.run_scene(scene)
        table = self.table("diagnostics.csv")
        inertia = 1 * 0.01 ** 2 / 2  # 1 kg/m, radius 1 cm
        for kinetic, lx in zip(table["kinetic"], table["lx"]):
            self.assertAlmostEqual(kinetic / (0.5 * inertia * 49), 1, 7)
            self.assertAlmostEqual(lx / (inertia * 7), 1, 7)


class Instability(CliTest):
    def column(self, load, **analysis):
        return beam(constraints=[CLAMP], forces=[{"type": "force", "vertices": "a:end", "force": [-load, 0, 0]}],
                    analysis={"type": "static", "load_steps": 4, **analysis})

    def test_the_run_stops_at_the_critical_load_and_says_so(self):
        result = self.run_scene(self.column(4, stop_at_instability=True))
        stats = json.loads((self.folder / "stats.json").read_text())
        self.assertAlmostEqual(4 * stats["instability_time"], 2.4674, delta=0.05)
        table = self.table("diagnostics.csv")
        self.assertEqual(len(table["time"]), 4)  # 0, 1/4, 1/2 and the critical one
        self.assertAlmostEqual(table["time"][-1], stats["instability_time"], 8)
        self.assertEqual(table["unstable_modes"][1:3], [0, 0])
        self.assertGreater(table["unstable_modes"][-1], 0)
        self.assertRegex((result.out + result.err).lower(), "unstable|instab|stability")

    def test_a_load_that_never_buckles_runs_to_its_end(self):
        self.run_scene(self.column(-4, stop_at_instability=True))
        stats = json.loads((self.folder / "stats.json").read_text())
        self.assertLess(stats.get("instability_time") or -1, 0)
        table = self.table("diagnostics.csv")
        self.assertEqual(table["time"], [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(table["unstable_modes"][1:], [0, 0, 0, 0])


if __name__ == "__main__":
    main()

"""Supports and springs against what is known: beam tables, oscillators, balances."""

import math

from osier_cli import BAD_INPUT, DONE, CliTest, main

N = 40
EI, EA = 1.0, 1e5
LOAD = 1e-3  # [N/m]; small, so that the beam's tables hold


def rod(name="a", a=(0, 0, 0), b=(1, 0, 0), segments=N, material="m"):
    return {"name": name, "shape": {"type": "line", "from": list(a), "to": list(b)}, "segments": segments, "material": material}


def statics(constraints, forces=None, rods=None, **more):
    return {
        "materials": {"m": {"stretch_shear": EA, "bend_twist": EI, "line_density": 1, "radius": 0.01}},
        "rods": rods or [rod()],
        "constraints": constraints,
        "forces": [{"type": "gravity", "acceleration": [0, -LOAD, 0]}] if forces is None else forces,
        "analysis": {"type": "static"},
        "probes": [{"name": c["name"], "reaction": c["name"]} for c in constraints if "name" in c]
                  + [{"name": "mid", "vertex": "a:mid"}, {"name": "tip", "vertex": "a:end"}],
        "output": {"formats": ["hdf5"], "probes": "step"},
        **more,
    }


def dynamics(constraints, duration, step=1e-3, **more):
    scene = statics(constraints, **more)
    scene["analysis"] = {"type": "dynamic", "step": step, "duration": duration, "fps": 20, "integrator": "bdf2",
                         **more.get("analysis", {})}
    return scene


HOLD_TWIST = {"type": "planar", "normal": [0, 0, 1], "name": "plane"}  # a straight rod on pins may spin
SOLVERS = [{"name": "direct"}, {"name": "newton"}]


class Beams(CliTest):
    def last(self, scene):
        probes = self.probes(scene)
        return {key: column[-1] for key, column in probes.items()}

    def assert_near(self, found, expected, share):
        self.assertLessEqual(abs(found - expected), share * abs(expected), "%.8g instead of %.8g" % (found, expected))

    def both(self, scene):
        return [self.last({**scene, "solver": solver}) for solver in SOLVERS]

    def test_a_simply_supported_beam(self):
        supports = [{"type": "pin", "name": "left", "vertices": "a:start"},
                    {"type": "roller", "name": "right", "vertices": "a:end", "normal": [0, 1, 0]}, HOLD_TWIST]
        for end in self.both(statics(supports)):
            self.assert_near(end["mid.y"], -5 * LOAD / (384 * EI), 1e-3)
            self.assert_near(end["left.fy"], LOAD / 2, 1e-6)
            self.assert_near(end["right.fy"], LOAD / 2, 1e-6)
            self.assertLess(abs(end["right.fx"]) + abs(end["right.fz"]), 1e-12)
            self.assertLess(abs(end["right.mz"]), 1e-12)

    def test_a_roller_on_a_slope_pushes_along_its_normal_only(self):
        supports = [{"type": "pin", "name": "left", "vertices": "a:start"},
                    {"type": "roller", "name": "right", "vertices": "a:end", "normal": [1, 1, 0]}, HOLD_TWIST]
        for end in self.both(statics(supports)):
            self.assert_near(end["right.fx"], end["right.fy"], 1e-9)
            self.assert_near(end["right.fy"], LOAD / 2, 1e-4)
            self.assert_near(end["left.fx"], -end["right.fx"], 1e-6)

    def test_a_propped_cantilever(self):
        supports = [{"type": "clamp", "name": "wall", "vertices": "a:start"},
                    {"type": "pin", "name": "prop", "vertices": "a:end", "axes": "y"}]
        for end in self.both(statics(supports)):
            self.assert_near(end["prop.fy"], 3 * LOAD / 8, 1e-3)
            self.assert_near(end["wall.fy"], 5 * LOAD / 8, 1e-3)
            self.assert_near(end["wall.mz"], LOAD / 8, 2e-3)
            self.assertAlmostEqual(end["prop.fy"] + end["wall.fy"], LOAD, delta=1e-9 * LOAD)

    def test_a_guided_cantilever(self):
        force = 1e-3
        supports = [{"type": "clamp", "name": "wall", "vertices": "a:start"},
                    {"type": "slider", "name": "guide", "vertices": "a:end", "axis": [0, 1, 0]}]
        for end in self.both(statics(supports, forces=[{"type": "force", "vertices": "a:end", "force": [0, -force, 0]}])):
            self.assert_near(end["tip.y"], -force / (12 * EI), 2e-3)
            self.assert_near(end["guide.mz"], force / 2, 1e-3)
            self.assert_near(end["wall.mz"], force / 2, 1e-3)
            self.assertLess(abs(end["guide.fy"]), 1e-9 * force)

    def test_a_slider_that_turns_is_no_clamp(self):
        """About the axis that it may turn around the rod carries no moment, about others it does."""
        force = 1e-3
        wall = {"type": "clamp", "name": "wall", "vertices": "a:start"}
        load = [{"type": "force", "vertices": "a:end", "force": [0, -force, 0]}]
        for axis, tip in (([0, 0, 1], None), ([0, 1, 0], -force / (12 * EI))):
            guide = {"type": "slider", "name": "guide", "vertices": "a:end", "axis": axis, "turns": True}
            if tip is None:
                guide["axis"] = [0, 0, 1]
                scene = statics([wall, guide], forces=[{"type": "torque", "segments": "a:end", "torque": [0, 0, force]}])
                for end in self.both(scene):
                    self.assertLess(abs(end["guide.mz"]), 1e-9 * force)
                    self.assertGreater(abs(end["guide.fy"]), 0.1 * force)
            else:
                for end in self.both(statics([wall, guide], forces=load)):
                    self.assert_near(end["tip.y"], tip, 0.05)  # first order: half a segment is left out

    def test_half_of_a_symmetric_beam_is_the_whole(self):
        """Under vertical load, and with both halves twisted alike."""
        twist = {"type": "torque", "segments": ["a:5", "a:34"], "torque": [2e-3, 0, 0]}
        gravity = {"type": "gravity", "acceleration": [0.2, -0.5, 0]}
        gravity["acceleration"][0] = 0
        whole = statics([{"type": "clamp", "name": "left", "vertices": "a:start"}, {"type": "clamp", "vertices": "a:end"}],
                        forces=[gravity, twist])
        half = statics([{"type": "clamp", "name": "left", "vertices": "a:start"},
                        {"type": "symmetry", "name": "middle", "vertices": "a:end", "normal": [1, 0, 0]}],
                       forces=[gravity, {**twist, "segments": "a:5"}], rods=[rod(b=(0.5, 0, 0), segments=N // 2)])
        for solver in SOLVERS:
            with self.subTest(solver=solver["name"]):
                a = self.last({**whole, "solver": solver})
                full = self.trajectory()
                b = self.last({**half, "solver": solver})
                part = self.trajectory()
                error = abs(full["position"][-1][: N // 2 + 1] - part["position"][-1]).max()
                self.assertLess(error, 1e-7)
                self.assertGreater(abs(part["position"][-1]).max(), 1e-3)
                turned = min(abs(full["frame"][-1][: N // 2] - part["frame"][-1]).max(),
                             abs(full["frame"][-1][: N // 2] + part["frame"][-1]).max())
                self.assertLess(turned, 1e-6)
                self.assert_near(b["left.mx"], a["left.mx"], 1e-5)
                self.assertLess(abs(b["middle.mx"]), 1e-9)
                self.assertLess(abs(b["middle.fy"]) + abs(b["middle.fz"]), 1e-9)

    def test_a_plane_keeps_a_bent_rod_in_two_dimensions(self):
        """A column that could buckle either way is pushed out of the plane, and stays in it."""
        supports = [{"type": "clamp", "name": "foot", "vertices": "a:start"}, HOLD_TWIST]
        forces = [{"type": "force", "vertices": "a:end", "force": [-1, 1e-3, 5]}]
        for end in self.both(statics(supports, forces=forces)):
            z = abs(self.trajectory()["position"][:, :, 2]).max()
            self.assertLess(z, 1e-15)
            self.assert_near(end["plane.fz"], -5, 1e-9)
            self.assertLess(abs(end["plane.fx"]) + abs(end["plane.fy"]), 1e-9)
            self.assert_near(end["foot.fx"], 1, 1e-6)

    def test_a_support_that_moves_along_its_axis(self):
        lift = {"translate": {"keys": [[0, [0, 0, 0]], [1, [0, 0.01, 0]]]}}
        supports = [{"type": "clamp", "name": "wall", "vertices": "a:start"},
                    {"type": "roller", "name": "jack", "vertices": "a:end", "normal": [0, 1, 0], "motion": lift}]
        for end in self.both(statics(supports, forces=[])):
            self.assertAlmostEqual(end["tip.y"], 0.01, delta=1e-15)
            self.assert_near(end["jack.fy"], 3 * EI * 0.01, 2e-3)

    def test_a_beam_on_an_elastic_foundation(self):
        """Hetenyi: a long beam under a single force, w = F b/(2 k), M = F/(4 b), b = (k/(4 EI))^(1/4)."""
        k, force, n = 1e4, 0.01, 200
        b = (k / (4 * EI)) ** 0.25
        base = {"type": "foundation", "name": "ground", "segments": "a:*", "stiffness": k}
        scene = statics([base], forces=[{"type": "force", "vertices": "a:mid", "force": [0, -force, 0]}],
                        rods=[rod(a=(-1, 0, 0), b=(1, 0, 0), segments=n)])
        scene["materials"]["m"]["stretch_shear"] = 1e6
        scene["constraints"].append(HOLD_TWIST)
        scene["probes"] += [{"name": "inside", "rod": "a", "at": 0.5}]
        for end in self.both(scene):
            self.assert_near(end["mid.y"], -force * b / (2 * k), 2e-3)
            self.assert_near(end["ground.fy"], force, 1e-6)

    def test_springs_carry_their_share(self):
        """Two springs in a row between a weight and the ceiling, and one that acts along its line only."""
        supports = [{"type": "spring", "name": "upper", "vertices": "a:start", "anchor": [0, 1, 0], "stiffness": 50, "rest_length": 0.5},
                    {"type": "spring", "name": "lower", "vertices": "b:start", "to": "a:end", "stiffness": 20}]
        scene = statics(supports, forces=[{"type": "gravity", "acceleration": [0, -9.81, 0]}],
                        rods=[rod("a", (0, 0, 0), (0, -1, 0), 4), rod("b", (0, -2, 0), (0, -3, 0), 4)])
        scene["probes"] = [p for p in scene["probes"] if p["name"] not in ("mid", "tip")]
        scene["probes"] += [{"name": "p%d" % i, "vertex": v} for i, v in enumerate(("a:start", "a:end", "b:start"))]
        for end in self.both(scene):
            self.assert_near(end["upper.fy"], 2 * 9.81, 1e-7)
            self.assert_near(end["lower.fy"], 9.81, 1e-7)
            self.assert_near(1 - end["p0.y"], 0.5 + 2 * 9.81 / 50, 1e-7)
            self.assert_near(end["p1.y"] - end["p2.y"], 1 + 9.81 / 20, 1e-7)


class Motion(CliTest):
    def test_a_spring_and_a_mass_oscillate(self):
        """A short stiff rod with a mass on either end, on springs: omega = sqrt(k/m)."""
        k, m, offset = 200.0, 2.0, 0.1
        for integrator, solver in (("bdf2", "direct"), ("midpoint", "direct"), ("midpoint", "newton"), ("generalized_alpha", "direct")):
            with self.subTest(integrator, solver=solver):
                scene = dynamics([{"type": "spring", "name": "s", "vertices": v, "anchor": [x, offset, 0], "stiffness": k, "rest_length": 0}
                                  for v, x in (("a:start", 0), ("a:end", 1))], 2, forces=[], rods=[rod(segments=4)], step=5e-4)
                scene["constraints"][1]["name"] = scene["probes"][1]["name"] = scene["probes"][1]["reaction"] = "t"
                scene["analysis"]["integrator"] = integrator
                scene["solver"] = {"name": solver, **({"tolerance": 1e-9} if solver == "direct" else {})}
                scene["materials"]["m"].update(line_density=1e-6, stretch_shear=1e4, bend_twist=100)
                scene["point_masses"] = [{"vertices": ["a:start", "a:end"], "mass": m}]
                probes = self.probes(scene)
                worst = max(abs(y - offset * (1 - math.cos(math.sqrt(k / m) * t))) for t, y in zip(probes["time"], probes["tip.y"]))
                self.assertLess(worst, 2e-4 * offset * 10)
                force = [k * (offset - y) for y in probes["tip.y"]]
                if integrator == "bdf2":
                    self.assertLess(max(abs(f - g) for f, g in zip(probes["t.fy"][1:], force[1:])), 1e-6 * k)

    def test_a_damper_lets_speed_decay(self):
        """m v' = -c v in the plane, and between two bodies only what is relative decays."""
        c, m = 3.0, 2.0
        scene = dynamics([{"type": "spring", "vertices": ["a:start", "a:end"], "damping": c, "rest_length": 0}], 1, forces=[],
                         rods=[{**rod(segments=4), "velocity": {"linear": [0.3, 1, 0]}}])
        scene["materials"]["m"].update(line_density=1e-9)
        scene["point_masses"] = [{"vertices": ["a:start", "a:end"], "mass": m}]
        probes = self.probes(scene)
        for t, vy, vx in zip(probes["time"], probes["tip.vy"], probes["tip.vx"]):
            self.assertAlmostEqual(vy, math.exp(-c / m * t), delta=3e-4)
            self.assertAlmostEqual(vx, 0.3 * math.exp(-c / m * t), delta=1e-4)

    def test_a_damper_between_two_rods_keeps_their_momentum(self):
        scene = dynamics([{"type": "spring", "vertices": "a:end", "to": "b:start", "damping": 2, "stiffness": 10}], 0.5, forces=[],
                         rods=[{**rod("a", segments=4), "velocity": {"linear": [1, 0.5, 0]}}, rod("b", (1.5, 0.2, 0), (2.5, 0.2, 0), 4)])
        scene["output"]["diagnostics"] = "step"
        scene["analysis"]["integrator"] = "midpoint"
        scene["solver"] = {"name": "direct", "tolerance": 1e-10}
        self.run_scene(scene)
        table = self.table("diagnostics.csv")
        momentum = [key for key in table if key in ("px", "py", "pz", "lx", "ly", "lz")]
        self.assertEqual(len(momentum), 6)
        for key in momentum:
            self.assertLess(max(abs(v - table[key][0]) for v in table[key]), 1e-8, key)

    def test_a_pendulum_of_a_point_mass(self):
        """A light rod on a pin with a mass at its end: T = 2 pi sqrt(L/g) at small angles."""
        g, angle = 9.81, 0.05
        tip = (math.sin(angle), -math.cos(angle), 0)
        scene = dynamics([{"type": "pin", "vertices": "a:start"}, HOLD_TWIST], 2.5, forces=[{"type": "gravity", "acceleration": [0, -g, 0]}],
                         rods=[rod(b=tip, segments=8)])
        scene["materials"]["m"].update(line_density=1e-6, stretch_shear=1e5, bend_twist=10)
        scene["point_masses"] = [{"vertices": "a:end", "mass": 1}]
        probes = self.probes(scene)
        zero = [t0 + (t1 - t0) * x0 / (x0 - x1) for t0, t1, x0, x1 in
                zip(probes["time"], probes["time"][1:], probes["tip.x"], probes["tip.x"][1:]) if x0 > 0 >= x1 or x0 < 0 <= x1]
        period = 2 * (zero[1] - zero[0])
        expected = 2 * math.pi * math.sqrt(1 / g) * (1 + angle ** 2 / 16)
        self.assertAlmostEqual(period, expected, delta=5e-4 * expected)

    def test_a_rod_slides_off_along_its_axis(self):
        """What a slider does not hold falls freely."""
        for solver in SOLVERS:
            with self.subTest(solver=solver["name"]):
                slider = {"type": "slider", "name": "rail", "vertices": "a:*", "axis": [1, 0, 0]}
                scene = dynamics([slider], 0.5, forces=[{"type": "gravity", "acceleration": [2, -9.81, 0]}], rods=[rod(segments=4)])
                scene["solver"] = solver
                probes = self.probes(scene)
                self.assertAlmostEqual(probes["tip.x"][-1], 1 + 0.5 * 2 * 0.25, delta=1e-3)
                self.assertLess(max(map(abs, probes["tip.y"])), 1e-15)
                self.assertAlmostEqual(probes["rail.fy"][-1], 9.81, delta=1e-6)
                self.assertLess(abs(probes["rail.fx"][-1]), 1e-9)

    def test_held_directions_with_contact(self):
        """A rod between rails, which hold it sideways, lands on another that a plane holds; nothing passes through."""
        scene = {
            "materials": {"m": {"stretch_shear": 1000, "bend_twist": 0.1, "line_density": 1, "radius": 0.01}},
            "rods": [rod("a", (0, 0.1, 0), (1, 0.1, 0), 10), rod("b", (0.5, 0, -0.5), (0.5, 0, 0.5), 10)],
            "constraints": [{"type": "pin", "name": "rails", "vertices": "a:*", "axes": "xz"},
                            {"type": "pin", "vertices": ["b:start", "b:end"]},
                            {"type": "spring", "vertices": ["a:start", "a:end"], "damping": 1, "rest_length": 0}],
            "forces": [{"type": "gravity"}], "contact": {},
            "analysis": {"type": "dynamic", "step": 2e-3, "duration": 0.6, "fps": 50},
            "probes": [{"name": "rails", "reaction": "rails"}, {"name": "top", "vertex": "a:mid"}],
        }
        self.run_scene(scene)
        data = self.trajectory()
        self.assertLess(abs(data["position"][:, :11, 2]).max(), 1e-15)
        table = self.table("probes.csv")
        self.assertLess(abs(table["rails.fy"][-1]), 1e-12)
        gap = data["position"][:, 5, 1] - data["position"][:, 16, 1]
        self.assertGreater(gap.min(), 0.0185)


class Joints(CliTest):
    def two_rods(self, welds, gap=0.0, **more):
        """A cantilever and a short rod in line with it."""
        scene = statics([{"type": "clamp", "name": "wall", "vertices": "a:start"}],
                        rods=[rod("a", segments=20), rod("b", (1 + gap, 0, 0), (2 + gap, 0, 0), 20)], forces=[])
        scene["probes"].append({"name": "far", "vertex": "b:end"})
        scene["welds"] = welds
        scene.update(more)
        return scene

    def test_a_weld_that_closes_carries_load(self):
        """Two cantilevers that meet: free until 0.5 s of pseudo-time, then a beam between two walls under a load in the middle."""
        force = 1e-3
        late = {"keys": [[0, [0, 0, 0]], [0.5, [0, 0, 0]], [1, [0, -force, 0]]]}
        for joint, deflection in ((True, force * 8 / (192 * EI)), (False, force / (6 * EI))):
            scene = self.two_rods([{"vertices": ["a:end", "b:start"], "close": 0.5, "joint": joint}])
            scene["constraints"].append({"type": "clamp", "name": "other", "vertices": "b:end"})
            scene["probes"].append({"name": "other", "reaction": "other"})
            scene["forces"] = [{"type": "force", "vertices": "b:start", "force": late}]
            scene["analysis"] = {"type": "static", "load_steps": 4, "ramp": False}
            for solver in SOLVERS:
                with self.subTest(joint=joint, solver=solver["name"]):
                    end = self.probes({**scene, "solver": solver})
                    self.assertAlmostEqual(end["tip.y"][-1], -deflection, delta=6e-3 * deflection)
                    self.assertAlmostEqual(end["wall.fy"][-1], force / 2, delta=1e-6 * force)
                    self.assertAlmostEqual(end["other.fy"][-1], force / 2, delta=1e-6 * force)
                    data = self.trajectory()["position"][-1]
                    self.assertEqual(abs(data[20] - data[21]).max(), 0)

    def test_a_weld_that_never_meets_is_told(self):
        """The gap of 0.5 m is not within 1 cm, and nothing moves."""
        for within, told in ((0.01, 1), (0.6, 0)):
            with self.subTest(within=within):
                rods = [{"name": name, "shape": {"type": "line", "from": [x, 0, 0], "to": [x + 1, 0, 0]}, "segments": 4,
                         "material": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}} for name, x in (("a", 0), ("b", 1.5))]
                result = self.run_scene({"rods": rods, "welds": [{"vertices": ["a:end", "b:start"], "within": within, "joint": False}],
                                         "constraints": [{"type": "clamp", "vertices": ["a:start", "b:end"]}],
                                         "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1}})
                self.assertEqual(self.stats()["welds_not_met"], told)
                self.assertEqual("never came as near" in result.err, bool(told), result)

    def test_a_weld_that_opens_lets_go(self):
        scene = self.two_rods([{"vertices": ["a:end", "b:start"], "open": 0.1}], forces=[{"type": "gravity", "acceleration": [0, -1, 0]}])
        scene["analysis"] = {"type": "dynamic", "step": 1e-3, "duration": 0.3, "fps": 1000}
        for solver in ({"name": "direct"}, {"name": "newton"}, {"name": "stable_cosserat", "iterations": 30}):
            with self.subTest(solver=solver["name"]):
                probes = self.probes({**scene, "solver": solver})
                data = self.trajectory()
                gap = abs(data["position"][:, 20] - data["position"][:, 21]).max(axis=1)
                self.assertEqual(gap[:101].max(), 0)
                self.assertGreater(gap[-1], 1e-3)
                # The piece that fell off is in free flight: its centre has the acceleration of gravity.
                y = data["position"][:, 21:, 1]
                mean = 0.5 * (y[:, 1:] + y[:, :-1]).mean(axis=1)
                a = (mean[120:] - 2 * mean[119:-1] + mean[118:-2]) / 1e-6
                self.assertLess(abs(a + 1).max(), 2e-2)

    def test_ends_that_meet_stay_together(self):
        """A rod flies into a resting one and is caught: momentum is kept, and the two go on together."""
        scene = self.two_rods([{"vertices": ["a:end", "b:start"], "within": 2e-3}], gap=0.1)
        scene["constraints"], scene["probes"] = [], []
        scene["rods"][1]["velocity"] = {"linear": [-1, 0, 0]}
        scene["analysis"] = {"type": "dynamic", "step": 1e-3, "duration": 0.4, "fps": 1000, "integrator": "midpoint"}
        scene["solver"] = {"name": "direct", "tolerance": 1e-9}
        scene["output"]["diagnostics"] = "step"
        self.run_scene(scene)
        data = self.trajectory()
        gap = abs(data["position"][:, 20] - data["position"][:, 21]).max(axis=1)
        self.assertGreater(gap[90], 1e-3)
        self.assertEqual(gap[105:].max(), 0)
        table = self.table("diagnostics.csv")
        self.assertLess(max(abs(p + 1) for p in table["px"]), 1e-8)

    def test_a_joint_between_two_segments_comes_and_goes(self):
        """Until the joint closes two cables hang like hinges at their common vertex."""
        scene = self.two_rods([{"vertices": ["a:end", "b:start"], "joint": False}])
        scene["joints"] = [{"segments": ["a:-1", "b:0"], "close": 0.1, "open": 0.2}]
        scene["rods"][1]["velocity"] = {"angular": [0, 0, 1], "about": [1, 0, 0]}
        scene["analysis"] = {"type": "dynamic", "step": 1e-3, "duration": 0.3, "fps": 1000}
        scene["probes"].append({"name": "knee", "joint": 38})
        self.run_scene(scene)
        knee = self.table("probes.csv")["knee.mz"]
        self.assertEqual(max(map(abs, knee[:101])), 0)
        self.assertGreater(max(map(abs, knee[101:200])), 1e-2)
        self.assertEqual(max(map(abs, knee[201:])), 0)


class Fracture(CliTest):
    """A clamped rod of 1 m, slow enough for statics: what it breaks at follows from the motion of its other end."""

    def moving(self, constraint, **fracture):
        wall = {"type": "clamp", "name": "wall", "vertices": "a:start"}
        scene = dynamics([wall, {"vertices": "a:end", **constraint}], 1, step=5e-3, rods=[rod(segments=20)],
                         forces=[{"type": "drag", "rate": 50}], fracture=fracture)
        scene["analysis"].update(fps=50, integrator="implicit_euler")
        scene["materials"]["m"].update(stretch_shear=1e4, line_density=0.01)
        return scene

    def lowered(self, **fracture):
        """M = 3 EI w at the wall, and w = 0.1 m/s t."""
        return self.moving({"type": "pin", "axes": "y", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [0, -0.1, 0]]]}}}, **fracture)

    def twisted(self, **fracture):
        turn = {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [1, 30]]}}
        return self.moving({"type": "clamp", "motion": {"rotate": turn}}, **fracture)

    def breaking_time(self, scene, moment):
        probes = self.probes(scene)
        most = 0
        for t, m in zip(probes["time"], probes["wall." + moment]):
            if most > 0.05 and abs(m) < 1e-9:
                return t
            most = max(most, 0 if math.isnan(m) else abs(m))
        return None

    def test_a_joint_breaks_at_its_curvature(self):
        self.assertAlmostEqual(self.breaking_time(self.lowered(curvature_limit=0.15), "mz"), 0.5, delta=0.02)
        self.assertIsNone(self.breaking_time(self.lowered(curvature_limit=0.35), "mz"))
        self.assertIsNone(self.breaking_time(self.lowered(twist_limit=0.01), "mz"))
        for solver in ({"name": "newton"}, {"name": "automatic", "tolerance": 1e-6}):
            self.assertAlmostEqual(self.breaking_time({**self.lowered(curvature_limit=0.15), "solver": solver}, "mz"), 0.5, delta=0.02)

    def test_a_joint_breaks_at_its_twist(self):
        limit = 0.5 * math.radians(30)
        self.assertAlmostEqual(self.breaking_time(self.twisted(twist_limit=limit), "mx"), 0.5, delta=0.02)
        self.assertIsNone(self.breaking_time(self.twisted(twist_limit=2.2 * limit), "mx"))
        self.assertIsNone(self.breaking_time(self.twisted(curvature_limit=0.01), "mx"))

    def test_a_material_breaks_at_its_own_limit(self):
        scene = self.lowered(curvature_limit=10)
        scene["materials"]["m"]["curvature_limit"] = 0.15
        self.assertAlmostEqual(self.breaking_time(scene, "mz"), 0.5, delta=0.02)


class Refusals(CliTest):
    def test_what_cannot_be(self):
        pin = {"type": "pin", "vertices": "a:start"}
        cases = [
            ([{"type": "pin", "vertices": "a:end", "axes": "xw"}], {"/constraints/0/axes": "not a set of axes"}),
            ([{"type": "pin", "vertices": "a:end", "axes": [[1, 0, 0], [1, 1, 0]]}], {"/constraints/0/axes/1": "not perpendicular"}),
            ([{"type": "roller", "vertices": "a:end", "normal": [0, 0, 0]}], {"/constraints/0/normal": "zero vector"}),
            ([pin, {"type": "roller", "vertices": "a:start"}], {"/constraints/1": "already held"}),
            ([{"type": "roller", "vertices": "a:end", "normal": [0, 1, 0]}, {"type": "pin", "axes": [1, 1, 0], "vertices": "a:end"}],
             {"/constraints/1": "not perpendicular"}),
            ([{"type": "symmetry", "vertices": "a:end", "normal": [0, 1, 0]}], {"/constraints/0/vertices": "right angle"}),
            ([{"type": "symmetry", "vertices": "a:2", "normal": [1, 0, 0]}], {"/constraints/0/vertices": "2 segments"}),
            ([{"type": "spring", "vertices": "a:end"}], {"/constraints/0": "neither"}),
            ([{"type": "spring", "vertices": "a:end", "stiffness": -1}], {"/constraints/0/stiffness": "-1"}),
            ([{"type": "spring", "vertices": "a:end", "to": "a:end", "stiffness": 1}], {"/constraints/0/to": "itself"}),
            ([{"type": "spring", "vertices": "a:end", "to": "a:start", "anchor": [0, 0, 0], "stiffness": 1}], {"/constraints/0": "keep one"}),
            ([{"type": "foundation", "segments": "a:*", "damping": 1}], {"/constraints/0/damping": "no effect on statics"}),
        ]
        for constraints, expected in cases:
            with self.subTest(constraints=constraints):
                scene = statics(constraints, forces=[])
                scene["probes"] = []
                self.assert_refused(scene, expected)

    def test_sweeps_say_that_they_cannot(self):
        scene = dynamics([{"type": "roller", "vertices": "a:end"}, {"type": "spring", "vertices": "a:start", "stiffness": 1}], 0.1)
        scene["analysis"]["integrator"] = "implicit_euler"
        scene["solver"] = {"name": "stable_cosserat", "iterations": 4}
        self.assert_refused(scene, {"/constraints/0": ["cannot hold vertices along single directions", "`direct`"],
                                    "/constraints/1": "cannot take springs"})

    def test_limits_and_times(self):
        scene = statics([], forces=[], rods=[rod(), rod("b", (1, 0, 0), (2, 0, 0))], fracture={})
        scene["welds"] = [{"vertices": ["a:end", "b:start"], "close": 2, "open": 1}, {"vertices": "a:*", "within": 1},
                          {"vertices": ["a:0", "b:1"], "open": 1}, {"vertices": ["a:0", "a:1"], "close": 1}]
        self.assert_refused(scene, {"/fracture": "has none of", "/welds/0": "not after `close`", "/welds/1/vertices": "41 vertices",
                                    "/welds/2": "apart", "/welds/3/vertices": "both are ends of segment"}, exactly=False)
        both = [{"type": "pin", "vertices": "a:end"}, {"type": "pin", "vertices": "b:start"}]
        scene = statics(both, forces=[], rods=[rod(), rod("b", (1, 0, 0), (2, 0, 0))])
        scene["welds"] = [{"vertices": ["a:end", "b:start"], "close": 0.5}]
        self.assert_refused(scene, {"/welds": "both held"})

    def test_point_masses(self):
        scene = statics([], point_masses=[{"vertices": "a:end"}, {"mass": 1}, {"segments": "a:0", "inertia": [1, 1, 1]},
                                          {"segments": "a:0", "inertia": [1, 1, 3]}], forces=[])
        self.assert_refused(scene, {"/point_masses/0": "go together", "/point_masses/1": "go together",
                                    "/point_masses/2/inertia": "no effect", "/point_masses/3/inertia": "not that of any rigid body"}, exactly=False)


if __name__ == "__main__":
    main()

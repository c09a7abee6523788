"""A scene does what it says. Numbers are compared with what implicit Euler gives by hand."""

import math

import h5py

from osier_cli import BAD_INPUT, DONE, RUN_FAILED, CliTest, beam, beam_rod, main

H = 0.01
STEPS = {"output": {"diagnostics": "step", "probes": "step"}}
TIP = [{"name": "tip", "vertex": "a:end"}]
EXACT = {"name": "newton", "tolerance": 1e-13}
SWEPT = {"name": "stable_cosserat", "method": "sweep", "tolerance": 1e-13, "max_iterations": 100000}


def steps(**changes):
    """One line per step, and each step solved to the end (statics find their own solver)."""
    scene = beam(**{**STEPS, "probes": TIP, "solver": EXACT, **changes})
    if scene["analysis"]["type"] == "static":
        del scene["solver"]
    else:
        scene["analysis"].setdefault("integrator", "implicit_euler")
    return scene


def conj(q):
    return (-q[0], -q[1], -q[2], q[3])


def product(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz)


class Loads(CliTest):
    def assert_series(self, found, expected, tolerance=1e-10):
        self.assertEqual(len(found), len(expected))
        for i, (a, b) in enumerate(zip(found, expected)):
            self.assertLessEqual(abs(a - b), tolerance, "entry %d: %.17g instead of %.17g" % (i, a, b))

    def test_free_fall_is_the_discrete_parabola(self):
        for solver in (SWEPT, EXACT):
            probes = self.probes(steps(forces=[{"type": "gravity", "acceleration": [0, -10, 2]}], solver=solver))
            n = range(11)
            self.assert_series(probes["tip.vy"], [-10 * H * i for i in n])
            self.assert_series(probes["tip.y"], [-10 * H * H * i * (i + 1) / 2 for i in n])
            self.assert_series(probes["tip.z"], [2 * H * H * i * (i + 1) / 2 for i in n])
            self.assert_series(probes["tip.x"], [1] * 11)
            self.assert_series(probes["time"], [H * i for i in n])

    def test_a_tolerance_below_the_floor_is_warned_of_once_and_counts_as_met_there(self):
        hold = [{"type": "pin", "vertices": "a:start"}]
        across = [{"type": "pin", "vertices": "a:2"}]  # held between its ends: by the recursion over trees, not in lanes
        for constraints in (hold, hold + across):
            for precision, tolerance, low in (("float", 1e-12, True), ("float", 1e-3, False), ("double", 1e-12, True), ("double", 1e-6, False)):
                with self.subTest(precision, tolerance=tolerance, held=len(constraints)):
                    solver = {"name": "stable_cosserat", "method": "direct", "precision": precision, "tolerance": tolerance}
                    result = self.run_scene(beam(constraints=constraints, forces=[{"type": "gravity"}], solver=solver))
                    self.assertEqual(result.err.count("steps end where corrections stop shrinking"), 1 if low else 0, result)
                    self.assertNotIn("iteration limit", result.err)

    def test_nothing_moves_without_forces(self):
        self.run_scene(beam())
        data = self.trajectory()
        self.assertLess(abs(data["position"] - data["position"][0]).max(), 1e-14)

    def test_gravity_has_an_earthly_default(self):
        probes = self.probes(steps(forces=[{"type": "gravity"}]))
        self.assert_series(probes["tip.vy"][:2], [0, -9.81 * H])

    def test_keyframed_gravity(self):
        def speed(interpolation, value):
            track = {"keys": [[0, [0, 0, 0]], [0.1, [0, -10, 0]]], "interpolation": interpolation}
            probes = self.probes(steps(forces=[{"type": "gravity", "acceleration": track}]))
            expected, v = [0], 0
            for i in range(1, 11):
                v += H * value(i / 10)
                expected.append(v)
            self.assert_series(probes["tip.vy"], expected)
        speed("linear", lambda s: -10 * s)
        speed("smooth", lambda s: -10 * s * s * (3 - 2 * s))
        speed("step", lambda s: -10 if s >= 1 else 0)

    def test_drag_slows_a_free_rod_at_the_implicit_rate(self):
        scene = steps(forces=[{"type": "drag", "rate": 7}], rods=[{**beam()["rods"][0], "velocity": {"linear": [1, 2, 3]}}])
        for solver in (SWEPT, EXACT):
            probes = self.probes({**scene, "solver": solver})
            self.assert_series(probes["tip.vz"], [3 / (1 + 7 * H) ** i for i in range(11)])
            self.assert_series(probes["tip.vx"], [1 / (1 + 7 * H) ** i for i in range(11)])

    def test_drag_per_length_equals_drag_by_mass_on_an_even_rod(self):
        rods = [{**beam()["rods"][0], "velocity": {"linear": [0, 0, 3]}}]
        by_length = self.probes(steps(forces=[{"type": "drag", "per_length": 5}], rods=rods))  # 1 kg/m
        self.assert_series(by_length["tip.vz"], [3 / (1 + 5 * H) ** i for i in range(11)])

    def test_a_force_accelerates_the_whole(self):
        self.run_scene(steps(forces=[{"type": "force", "vertices": "a:*", "force": [0, 0, 0.5]}]))
        momentum = self.table("diagnostics.csv")["pz"]
        self.assert_series(momentum, [5 * 0.5 * H * i for i in range(11)], 1e-8)

    def test_forces_add_up(self):
        one = self.probes(steps(forces=[{"type": "gravity", "acceleration": [0, -6, 0]}]))
        two = self.probes(steps(forces=[{"type": "gravity", "acceleration": [0, -2, 0]}, {"type": "gravity", "acceleration": [0, -4, 0]}]))
        self.assert_series(one["tip.y"], two["tip.y"])

    def test_wind_pushes_across_and_every_setting_of_it_counts(self):
        wind = {"type": "wind", "direction": [0, 0, 1], "speed": 5, "wavelength": 3, "coefficient": 1, "bias": 0}
        base = self.probes(steps(forces=[wind]))["tip.z"][-1]
        self.assertGreater(base, 0)
        for change in ({"direction": [0, 1, 1]}, {"speed": 6}, {"wavelength": 1}, {"coefficient": 2}, {"bias": 3}):
            self.assertNotAlmostEqual(self.probes(steps(forces=[{**wind, **change}]))["tip.z"][-1], base, 6, change)
        self.assertAlmostEqual(self.probes(steps(forces=[{**wind, "direction": [1, 0, 0]}]))["tip.z"][-1], 0, 12)

    def test_dead_and_follower_torque(self):
        def tip(axes, torque, bend):
            scene = steps(constraints=[{"type": "clamp", "vertices": 0}], analysis={"type": "static"},
                          forces=[{"type": "torque", "segments": "a:end", "torque": torque, "axes": axes},
                                  {"type": "force", "vertices": "a:end", "force": [0, bend, 0]}])
            probes = self.probes(scene)
            return [probes["tip." + c][-1] for c in "xyz"]
        # A twist of the straight rod is the same about x and about d3, until the rod is bent.
        self.assertLess(math.dist(tip("world", [0.5, 0, 0], 0), tip("material", [0, 0, 0.5], 0)), 1e-6)
        self.assertGreater(math.dist(tip("world", [0.5, 0, 0], 2), tip("material", [0, 0, 0.5], 2)), 1e-3)

    def test_a_torque_turns_in_its_sense(self):
        scene = steps(constraints=[{"type": "clamp", "vertices": 0}], analysis={"type": "static"},
                      forces=[{"type": "torque", "segments": "a:end", "torque": [0, 0, 0.1]}])
        self.assertGreater(self.probes(scene)["tip.y"][-1], 0.01)


class Constraints(CliTest):
    def test_keyframed_motion_is_followed_exactly(self):
        keys = [[0, [0, 0, 0]], [0.05, [0.1, 0.02, 0]], [0.1, [0, 0, 0.3]]]
        for solver in ({"name": "automatic"}, {"name": "automatic", "precision": "float"}, {"name": "stable_cosserat", "iterations": 4}, EXACT):
            for kind in ("pin", "clamp"):
                probes = self.probes(steps(constraints=[{"type": kind, "vertices": "a:end", "motion": {"translate": {"keys": keys}}}],
                                           forces=[{"type": "gravity"}], solver=solver))
                for time, (x, y, z) in keys:
                    i = round(time / H)
                    self.assertLess(math.dist((probes["tip.x"][i], probes["tip.y"][i], probes["tip.z"][i]), (1 + x, y, z)),
                                    1e-7 if solver.get("precision") else 1e-14)

    def test_turning_motion(self):
        motion = {"rotate": {"axis": [0, 0, 2], "center": [0.5, 0, 0], "angle": {"keys": [[0, 0], [0.1, 90]]}}, "translate": [0, 0, 1]}
        probes = self.probes(steps(constraints=[{"type": "pin", "vertices": "a:end", "motion": motion}]))
        self.assertLess(math.dist((probes["tip.x"][-1], probes["tip.y"][-1], probes["tip.z"][-1]), (0.5, 0.5, 1)), 1e-14)

    def test_fix_follows_its_rotation_and_leaves_the_vertices_alone(self):
        motion = {"rotate": {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [0.1, 90]]}}}
        self.run_scene(steps(constraints=[{"type": "fix", "segments": 0, "motion": motion}]))
        frame = self.trajectory()["frame"]
        turn = product(frame[-1][0], conj(frame[0][0]))
        self.assertAlmostEqual(abs(turn[0]), math.sin(math.pi / 4), 12)
        self.assertAlmostEqual(abs(turn[3]), math.cos(math.pi / 4), 12)

    def test_release_lets_go_at_its_time(self):
        for kind in ("pin", "clamp", "hinge"):
            where = "vertex" if kind == "hinge" else "vertices"
            probes = self.probes(steps(constraints=[{"type": kind, where: "a:end", "release": 0.05}], forces=[{"type": "gravity"}]))
            y = probes["tip.y"]
            self.assertEqual(y[:6], [0] * 6)
            self.assertLess(y[6], 0)
            self.assertLess(y[7], y[6])

    def test_a_clamp_holds_position_direction_and_twist(self):
        scene = steps(constraints=[{"type": "clamp", "vertices": 0}], forces=[{"type": "torque", "segments": "a:end", "torque": [0.2, 0, 0]}],
                      analysis={"type": "static"})
        self.run_scene(scene)
        frames = self.trajectory()["frame"]
        def twist(s):
            turn = product(frames[-1][s], conj(frames[0][s]))
            return 2 * math.atan2(turn[0], turn[3])
        # theta = M s/GJ at the middle of each segment, with GJ = 1
        for s in range(4):
            self.assertAlmostEqual(twist(s), 0.2 * (s + 0.5) / 4, 3)

    def test_the_tangent_of_a_clamp(self):
        scene = steps(constraints=[{"type": "clamp", "vertices": 0, "tangent": [0, 1, 0]}], analysis={"type": "static"})
        probes = self.probes(scene)
        self.assertLess(math.dist((probes["tip.x"][-1], probes["tip.y"][-1]), (0, 1)), 1e-4)

    def test_a_hinge_keeps_its_vertex_and_turns_about_its_axis_only(self):
        for solver in ({"name": "automatic"}, EXACT):
            scene = steps(constraints=[{"type": "hinge", "vertex": 0, "axis": [0, 0, 3]}], forces=[{"type": "gravity", "acceleration": [0, -9, 5]}],
                          solver=solver, analysis={"type": "dynamic", "step": H, "duration": 0.3, "fps": 100})
            self.run_scene(scene)
            data = self.trajectory()
            self.assertEqual(abs(data["position"][:, 0]).max(), 0)
            first = data["frame"][0][0]
            largest = 0
            for frame in data["frame"][1:]:
                turn = product(frame[0], conj(first))
                self.assertLess(abs(turn[0]) + abs(turn[1]), 1e-12)
                largest = max(largest, abs(turn[2]))
            self.assertGreater(largest, 0.1)

    def test_a_pin_turns_freely_where_a_hinge_does_not(self):
        gravity = [{"type": "gravity", "acceleration": [0, 0, 9]}]
        def steps(**changes):
            return beam(**STEPS, probes=TIP, solver=EXACT, **changes, analysis={"type": "dynamic", "step": H, "duration": 0.4, "fps": 100})
        pin = self.probes(steps(constraints=[{"type": "pin", "vertices": 0}], forces=gravity))["tip.z"][-1]
        hinge = self.probes(steps(constraints=[{"type": "hinge", "vertex": 0, "axis": [0, 0, 1]}], forces=gravity))["tip.z"][-1]
        self.assertGreater(pin, hinge + 1e-6)

    def test_a_hinge_between_segments_must_say_which_one_turns(self):
        self.assert_refused(beam(constraints=[{"type": "hinge", "vertex": 2}]), {"/constraints/0": "`segment`"})
        self.assert_good(beam(constraints=[{"type": "hinge", "vertex": 2, "segment": 1}]))
        self.assert_refused(beam(constraints=[{"type": "hinge", "vertex": 2, "segment": 3}]), {"/constraints/0/segment": "does not touch"})


class Rods(CliTest):
    def test_pose_is_where_it_starts_and_shape_where_it_rests(self):
        pose = {"type": "line", "from": [0, 0, 0], "to": [0, 2, 0]}
        scene = beam_rod(pose=pose)
        scene.update(forces=[{"type": "drag", "rate": 20}], analysis={"type": "dynamic", "step": H, "duration": 4, "fps": 10})
        self.assertAlmostEqual(self.info(scene)["segment_length"]["max"], 0.25)
        self.run_scene(scene)
        position = self.trajectory()["position"]
        for i in range(5):
            self.assertLess(math.dist(position[0][i], (0, i / 2, 0)), 1e-15)
        self.assertLess(abs(math.dist(position[-1][0], position[-1][4]) - 1), 0.01)

    def test_velocity(self):
        self.run_scene(beam_rod(velocity={"linear": [1, 0, 0], "angular": [0, 0, 2], "about": [0.5, 0, 0]}))
        velocity = self.trajectory()["velocity"][0]
        for i in range(5):
            self.assertLess(math.dist(velocity[i], (1, 2 * (i / 4 - 0.5), 0)), 1e-15)

    def test_segment_materials(self):
        heavy = {**beam()["materials"]["m"], "line_density": 10, "radius": 0.05}
        scene = beam_rod(segment_materials=[{"first": 1, "last": -1, "material": "heavy"}, {"first": -1, "material": "m"}])
        scene["materials"]["heavy"] = heavy
        self.assertAlmostEqual(self.info(scene)["mass_total"], 0.25 + 2 * 2.5 + 0.25)
        self.run_scene(scene)
        self.assertEqual([round(r, 12) for r in self.trajectory()["radius"]], [0.01, 0.05, 0.05, 0.05, 0.01])

    def test_a_soft_segment_takes_the_stretch(self):
        scene = beam_rod(segment_materials=[{"first": 1, "last": 1, "material": {**beam()["materials"]["m"], "stretch_shear": 10}}])
        scene.update(constraints=[{"type": "clamp", "vertices": 0}], forces=[{"type": "force", "vertices": 4, "force": [1, 0, 0]}],
                     analysis={"type": "static"})
        self.run_scene(scene)
        x = self.trajectory()["position"][-1][:, 0]
        for i, strain in enumerate((0.01, 0.1, 0.01, 0.01)):
            self.assertAlmostEqual(x[i + 1] - x[i], 0.25 * (1 + strain), 7)

    def test_si_and_raw_materials_agree(self):
        area = math.pi * 0.01**2
        si = {"young": 1e6, "density": 1000, "radius": 0.01}
        raw = {"stretch_shear": 1e6 * area, "bend_twist": 1e6 * area * 0.01**2 / 4, "line_density": 1000 * area, "radius": 0.01}
        swing = {"constraints": [{"type": "pin", "vertices": 0}], "forces": [{"type": "gravity"}]}
        a = self.probes(steps(materials={"m": si}, **swing))
        b = self.probes(steps(materials={"m": raw}, **swing))
        self.assertAlmostEqual(a["tip.y"][-1], b["tip.y"][-1], 10)

    def test_poisson_softens_the_twist_without_a_warning(self):
        material = {"young": 1e6, "density": 1000, "radius": 0.01, "poisson": 0.25}
        result = self.assert_good(beam(materials={"m": material}))
        self.assertNotIn("warning", result.err)
        (used,) = self.info(beam(materials={"m": material}))["materials"]
        self.assertEqual((used["name"], used["segments"]), ("m", 4))
        self.assertAlmostEqual(used["GJ"]["min"] / used["EI1"]["min"], 0.8, 12)
        self.assertAlmostEqual(used["GA2"]["min"] / used["EA"]["min"], 0.4 * 7.5 / 8.5, 12)

    def test_sections_have_two_axes(self):
        blade = {"preset": "nylon", "section": {"type": "rectangle", "width": 0.002, "height": 0.006}}
        (used,) = self.info(beam(materials={"m": blade}))["materials"]
        self.assertAlmostEqual(used["EI1"]["min"] / used["EI2"]["min"], 9, 9)
        load = {"analysis": {"type": "static"}, "constraints": [{"type": "clamp", "vertices": 0}],
                "forces": [{"type": "force", "vertices": 4, "force": [0, 0, 0.01]}], "probes": [{"name": "tip", "vertex": 4}]}
        def sag(**rod):
            scene = beam_rod(**rod)
            return self.probes({**scene, **load, "materials": {"m": blade}})["tip.z"][-1]
        self.assertGreater(sag(up=[0, 0, 1]), 5 * sag(up=[0, 1, 0]))

    def test_a_taper_takes_mass_and_radius(self):
        scene = beam_rod(taper={"keys": [[0, 1], [1, 0]]}, segments=4)
        self.assert_refused(scene, {"/rods/0/taper/keys/1/1": "above 0"})
        scene = beam_rod(taper={"keys": [[0, 1], [1, 0.5]]})
        found = self.info(scene)
        self.assertAlmostEqual(found["mass_total"], sum((1 - 0.5 * (i + 0.5) / 4) ** 2 / 4 for i in range(4)), 12)
        self.assertAlmostEqual(found["materials"][0]["EI1"]["min"], 0.5625 ** 4, 12)
        self.run_scene(scene)
        self.assertAlmostEqual(self.trajectory()["radius"][-1], 0.005625, 12)

    def test_pose_twist_unwinds(self):
        scene = beam_rod(pose_twist={"keys": [[0, 0], [1, 90]]})
        scene["constraints"] = [{"type": "clamp", "vertices": [0]}]
        self.run_scene({**scene, "solver": {"name": "newton"}})
        frame = self.trajectory()["frame"]
        self.assertAlmostEqual(2 * math.degrees(math.acos(abs(sum(a * b for a, b in zip(frame[0][0], frame[0][3]))))), 67.5, 5)
        self.assertLess(2 * math.degrees(math.acos(min(1, abs(sum(a * b for a, b in zip(frame[-1][0], frame[-1][3])))))), 1)

    def test_rotational_inertia_slows_the_untwisting(self):
        def turned(**root):
            scene = beam_rod(pose_twist={"keys": [[0, 0], [1, 90]]})
            scene["materials"]["m"]["radius"] = 0.3
            scene["constraints"] = [{"type": "clamp", "vertices": [0]}]
            self.run_scene({**scene, **root, "solver": {"name": "newton"}, "analysis": {"type": "dynamic", "step": 0.001, "duration": 0.02, "fps": 100}})
            frame = self.trajectory()["frame"]
            return 2 * math.degrees(math.acos(min(1, abs(sum(a * b for a, b in zip(frame[0][3], frame[1][3]))))))
        self.assertGreater(turned(), 60)
        self.assertLess(turned(rotational_inertia=True), 10)

    def test_damping_times_damp(self):
        def amplitude(**tau):
            scene = steps(constraints=[{"type": "clamp", "vertices": 0}], forces=[{"type": "gravity"}],
                          analysis={"type": "dynamic", "step": H, "duration": 1, "fps": 100}, solver=EXACT)
            scene["materials"]["m"].update(tau)
            return min(self.probes(scene)["tip.y"])
        plain = amplitude()
        self.assertGreater(amplitude(tau_bend=0.5), plain + 0.01)
        self.assertGreater(abs(amplitude(tau_stretch=0.5) - plain), 1e-4)
        self.assertGreater(abs(amplitude(tau_shear=0.5) - plain), 1e-4)

    def test_sampling_by_segment_length(self):
        self.assertEqual(self.info(beam_rod(segments=None, segment_length=0.1))["segments"], 10)

    def test_a_closed_rod(self):
        info = self.info(beam_rod(shape={"type": "circle", "radius": 1}, segments=12))
        self.assertEqual((info["vertices"], info["segments"], info["joints"]), (12, 12, 12))

    def test_a_cable_has_no_joints(self):
        scene = beam()
        scene["materials"]["m"]["bend_twist"] = 0
        self.assertEqual(self.info(scene)["joints"], 0)

    def test_up_turns_the_frames(self):
        self.run_scene(beam_rod(up=[0, 1, 0]))
        x, y, z, w = self.trajectory()["frame"][0][0]
        d1 = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
        self.assertLess(math.dist(d1, (0, 1, 0)), 1e-12)


class Graphs(CliTest):
    TWO = [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4, "material": "m"},
           {"name": "b", "shape": {"type": "line", "from": [1, 0, 0], "to": [1, 1, 0]}, "segments": 4, "material": "m"}]

    def counts(self, **changes):
        info = self.info(beam(rods=self.TWO, **changes))
        return info["vertices"], info["segments"], info["joints"]

    def test_welds_merge_vertices(self):
        self.assertEqual(self.counts(), (10, 8, 6))
        self.assertEqual(self.counts(welds=[{"vertices": ["a:end", "b:start"]}]), (9, 8, 7))
        self.assertEqual(self.counts(welds=[{"vertices": ["a:end", "b:start"], "joint": False}]), (9, 8, 6))

    def test_a_weld_in_the_middle_joins_every_pair(self):
        rods = [self.TWO[0], {**self.TWO[1], "shape": {"type": "line", "from": [0.5, -1, 0], "to": [0.5, 1, 0]}}]
        info = self.info(beam(rods=rods, welds=[{"vertices": ["a:mid", "b:mid"]}]))
        self.assertEqual((info["vertices"], info["joints"]), (9, 10))

    def test_a_weld_adds_up_the_mass(self):
        self.assertAlmostEqual(self.info(beam(rods=self.TWO, welds=[{"vertices": ["a:end", "b:start"]}]))["mass_total"], 2)

    def test_the_tolerance_of_a_weld(self):
        rods = [self.TWO[0], {**self.TWO[1], "shape": {"type": "line", "from": [1.001, 0, 0], "to": [1, 1, 0]}}]
        weld = {"vertices": ["a:end", "b:start"]}
        self.assert_refused(beam(rods=rods, welds=[weld]), {"/welds/0": "0.001 m apart"})
        self.assert_good(beam(rods=rods, welds=[{**weld, "tolerance": 0.01}]))

    def test_a_stiff_weld_keeps_the_angle_and_a_hinged_one_does_not(self):
        def drop(**weld):
            scene = steps(rods=self.TWO, welds=[{"vertices": ["a:end", "b:start"], **weld}], constraints=[{"type": "clamp", "vertices": "a:start"}],
                          forces=[{"type": "force", "vertices": "b:end", "force": [1, 0, 0]}], probes=[{"name": "tip", "vertex": "b:end"}], analysis={"type": "dynamic", "step": H, "duration": 1, "fps": 100})
            return self.probes(scene)["tip.x"][-1]
        soft, normal, stiff = drop(joint=False), drop(), drop(bend_twist=50)
        self.assertGreater(soft, normal + 1e-5)
        self.assertGreater(normal, stiff + 1e-7)

    def test_extra_joints(self):
        scene = beam(joints=[{"segments": ["a:0", "a:3"], "bend_twist": 5}])
        self.assertEqual(self.info(scene)["joints"], 4)

    def test_the_rest_rotation_of_a_joint_bends(self):
        half = math.sin(math.pi / 8)
        joint = {"segments": [0, 1], "bend_twist": 100, "rest_rotation": [half, 0, 0, math.cos(math.pi / 8)]}
        self.run_scene(beam(joints=[joint], constraints=[{"type": "clamp", "vertices": 0}], analysis={"type": "static"}))
        position = self.trajectory()["position"]
        self.assertGreater(abs(position[-1] - position[0]).max(), 0.05)

    def test_the_same_weld_twice_is_not_twice_as_stiff(self):
        weld = {"vertices": ["a:end", "b:start"]}
        result = self.check(beam(rods=self.TWO, welds=[weld, weld]))
        if result.code == DONE:
            self.assertEqual(self.counts(welds=[weld, weld]), (9, 8, 7))

    def test_a_welded_vertex_may_be_held_under_both_its_names(self):
        result = self.check(beam(rods=self.TWO, welds=[{"vertices": ["a:end", "b:start"]}], constraints=[{"type": "pin", "vertices": ["a:end", "b:start"]}]))
        self.assertEqual(result.code, DONE, result)

    def test_a_rod_cannot_take_the_name_of_a_piece_of_a_structure(self):
        self.assert_refused(beam(rods=[{**self.TWO[0], "name": "n.row0"}], structures=[{"type": "net", "name": "n"}]), {"/structures/0/name": "twice"}, exactly=False)

    def test_names_of_structures_default_to_the_type(self):
        self.assert_good({"structures": [{"type": "net"}], "constraints": [{"type": "pin", "vertices": "net.corners:*"}]})

    def test_names_with_colons_slashes_and_accents(self):
        for name in ("a:b", "a/b", "a:b/c", "grün ✓", "a..b", "*", "1", "a.b", " "):
            with self.subTest(name):
                scene = beam_rod(name=name)
                scene.update(constraints=[{"type": "pin", "vertices": name + ":1..2"}], probes=[{"name": "p", "vertex": name + ":end"}])
                self.assert_good(scene)


class Fracture(CliTest):
    PULL = {"constraints": [{"type": "clamp", "vertices": 0}], "forces": [{"type": "force", "vertices": 4, "force": {"keys": [[0, [0, 0, 0]], [0.2, [20, 0, 0]]]}}],
            "analysis": {"type": "dynamic", "step": H, "duration": 0.5, "fps": 100}}

    def alive(self, scene):
        self.run_scene(scene)
        return self.trajectory()["segment_alive"]

    def assert_breaks(self, alive):
        self.assertTrue((alive[0] == 1).all())
        self.assertTrue((alive[-1] == 0).any())
        self.assertTrue((alive[1:] <= alive[:-1]).all(), "a segment has come back to life")

    def test_a_broken_segment_stays_broken(self):
        for solver in ({"name": "automatic"}, EXACT):
            alive = self.alive(beam(fracture={"strain_limit": 0.05}, solver=solver, **self.PULL))
            self.assert_breaks(alive)
            self.assertEqual(self.stats()["segments_alive"], alive[-1].sum())
            self.assertEqual(self.table("diagnostics.csv")["segments_alive"][-1], alive[-1].sum())

    def test_nothing_breaks_without_a_limit(self):
        self.assertTrue((self.alive(beam(**self.PULL)) == 1).all())

    def test_the_limit_of_a_material_wins(self):
        scene = beam(fracture={"strain_limit": 0.05}, **self.PULL)
        scene["materials"]["m"]["strain_limit"] = 100
        self.assertTrue((self.alive(scene) == 1).all())
        del scene["fracture"]
        scene["materials"]["m"]["strain_limit"] = 0.05
        self.assert_breaks(self.alive(scene))

    def test_broken_segments_leave_the_obj_files(self):
        self.run_scene(beam(fracture={"strain_limit": 0.05}, output={"formats": ["obj", "hdf5"]}, **self.PULL))
        last = sorted((self.folder / "out/frames").iterdir())[-1].read_text()
        self.assertEqual(last.count("\nl "), self.trajectory()["segment_alive"][-1].sum())
        self.assertEqual(last.count("\nv "), 5)


class Analysis(CliTest):
    def test_statics_say_what_is_free_to_move(self):
        """Without support the load has no equilibrium; support across it is none either."""
        static = {"type": "static"}
        roller = [{"type": "roller", "vertices": "a:*", "normal": [0, 1, 0]}]
        for constraints, load, free in (([], [0, -1, 0], "(0, -1, 0)"), (roller, [2, 0, 0], "(1, 0, 0)"), (roller, [3, -5, 0], "(1, 0, 0)")):
            with self.subTest(free, constraints=len(constraints)):
                scene = beam(constraints=constraints, forces=[{"type": "force", "vertices": "a:*", "force": load}], analysis=static)
                scene.pop("solver", None)
                result = self.run_scene(scene, expect=RUN_FAILED)
                self.assertIn("is free to move along " + free, result.err)

    def test_critical_loads_are_told_in_their_own_units(self):
        """A column under twice its Euler load, by half-joints at the clamp: the critical force is that share of the full one."""
        scene = {"rods": [{"name": "c", "shape": {"type": "line", "from": [0, 0, 0], "to": [0, 1, 0]}, "segments": 40,
                           "material": {"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}],
                 "constraints": [{"type": "clamp", "vertices": "c:start"}],
                 "forces": [{"type": "force", "vertices": "c:end", "force": [0, -5, 0]}],
                 "analysis": {"type": "static", "load_steps": 4, "stop_at_instability": True}}
        result = self.run_scene(scene)
        stats = self.stats()
        (line,) = stats["critical_loads"]
        self.assertRegex(line, r"^/forces/0: [0-9.]+ N$")
        critical = float(line.split()[1])
        self.assertAlmostEqual(critical / (math.pi ** 2 / 4), 1, delta=1e-3)
        self.assertAlmostEqual(critical, 5 * stats["instability_time"], delta=1e-6)
        self.assertIn(line, result.out)

    SAG = {"constraints": [{"type": "clamp", "vertices": 0}], "forces": [{"type": "gravity"}], "probes": TIP}

    def test_steps_and_frames(self):
        self.run_scene(beam(analysis={"type": "dynamic", "step": 0.004, "duration": 0.1, "fps": 50}))
        self.assertEqual((self.stats()["frames"], self.stats()["steps"]), (5, 25))
        self.assertAlmostEqual(self.trajectory()["time"][1], 0.02, 12)

    def test_lines_per_frame_and_per_step(self):
        for rate, lines in (("frame", 6), ("step", 11)):
            self.run_scene(beam(output={"diagnostics": rate, "probes": rate}, probes=TIP))
            self.assertEqual(len(self.table("diagnostics.csv")["time"]), lines)
            self.assertEqual(len(self.table("probes.csv")["time"]), lines)
        self.run_scene(beam(output={"diagnostics": "none", "probes": "none"}, probes=TIP), folder="silent")
        self.assertEqual([p.name for p in (self.folder / "silent").iterdir()], ["trajectory.h5"])

    def test_columns_of_probes(self):
        scene = beam(probes=[{"name": "v", "vertex": 1}, {"name": "s", "segment": 1}, {"name": "j", "joint": 1}],
                     analysis={"type": "static"}, **{k: v for k, v in self.SAG.items() if k != "probes"})
        probes = self.probes(scene)
        self.assertEqual(list(probes), ["time", "load_factor"] + ["v." + c for c in ("x", "y", "z", "vx", "vy", "vz")] +
                         ["s." + c for c in ("qx", "qy", "qz", "qw", "fx", "fy", "fz", "tension", "n1", "n2", "n3", "g1", "g2", "g3")] +
                         ["j." + c for c in ("mx", "my", "mz", "angle", "m1", "m2", "m3", "k1", "k2", "k3")])
        # What hangs on segment 1: two and a half segments and half of its own outer vertex: 0.625 kg. What turns about joint 1: its lever.
        self.assertAlmostEqual(abs(probes["s.fy"][-1]), 9.81 * (0.25 + 0.25 + 0.125), 5)
        self.assertAlmostEqual(abs(probes["s.fx"][-1]), 0, 5)
        self.assertGreater(abs(probes["j.mz"][-1]), 0.1)
        self.assertAlmostEqual(math.dist([probes["s.n%d" % i][-1] for i in (1, 2, 3)], [0, 0, 0]), 9.81 * 0.625, 5)
        for i in (1, 2, 3):
            self.assertAlmostEqual(probes["s.n%d" % i][-1], 100 * probes["s.g%d" % i][-1], 9)
            self.assertAlmostEqual(probes["j.m%d" % i][-1], probes["j.k%d" % i][-1], 9)
        self.assertAlmostEqual(probes["s.tension"][-1], probes["s.n3"][-1], 9)
        self.assertAlmostEqual(abs(probes["j.mx"][-1]) + abs(probes["j.my"][-1]), 0, 6)

    def test_a_probe_of_a_joint_that_a_clamp_replaces_does_not_read_zero(self):
        """The rod bends at the clamp: 0.25 N m hang on the next joint and 0.375 on the clamped place."""
        scene = beam(constraints=[{"type": "clamp", "vertices": 2}], forces=[{"type": "force", "vertices": 4, "force": [0, 1, 0]}],
                     probes=[{"name": "j", "joint": 1}], analysis={"type": "static"})
        result = self.call("run", self.write(scene), "-o", "out")
        if result.code == DONE and "probes/0" not in result.err:
            self.assertGreater(abs(self.table("probes.csv")["j.mz"][-1]), 0.2)

    def test_names_of_probes_keep_the_table_a_table(self):
        for name in ("a,b", "a\nb", 'a"b', ""):
            with self.subTest(name):
                result = self.call("run", self.write(beam(probes=[{"name": name, "vertex": 0}])), "-o", "out")
                if result.code == DONE:
                    self.assertEqual(len(self.table("probes.csv")), 7)
                else:
                    self.assertEqual(result.code, BAD_INPUT, result)

    def test_a_clamp_reports_the_root_moment(self):
        scene = beam(constraints=[{"type": "clamp", "vertices": "a:start"}], analysis={"type": "static"}, solver={"name": "newton"},
                     forces=[{"type": "force", "vertices": "a:end", "force": [0, -1e-3, 0]}],
                     probes=[{"name": "root", "clamp": "a:start"}, {"name": "tip", "vertex": "a:end"}])
        probes = self.probes(scene)
        self.assertAlmostEqual(probes["root.mz"][-1], 1e-3 * probes["tip.x"][-1], delta=1e-9)  # load times lever
        self.assertAlmostEqual(probes["root.mx"][-1], 0, delta=1e-12)
        self.assertIn("has no clamp", self.check(beam(probes=[{"name": "root", "clamp": "a:end"}])).err)

    def test_a_probe_anywhere_on_a_rod(self):
        places = (0, 0.3, 0.5, 1)
        scene = beam(constraints=[{"type": "clamp", "vertices": "a:start"}], analysis={"type": "static"},
                     forces=[{"type": "force", "vertices": "a:end", "force": [0, -1e-3, 0]}],
                     probes=[{"name": "p%d" % i, "rod": "a", "at": at} for i, at in enumerate(places)] + [{"name": "root", "clamp": "a:start"}])
        scene["rods"][0]["up"] = [0, 1, 0]
        probes = self.probes(scene)
        self.assertEqual(list(probes)[2:20], ["p0." + c for c in "x y z tx ty tz n1 n2 n3 m1 m2 m3 g1 g2 g3 k1 k2 k3".split()])
        for i, at in enumerate(places):
            def value(column):
                return probes["p%d.%s" % (i, column)][-1]
            self.assertAlmostEqual(value("x"), at, delta=1e-6)
            self.assertAlmostEqual(value("tx"), 1, delta=1e-6)
            self.assertAlmostEqual(value("n1"), -1e-3, delta=1e-9)
            self.assertAlmostEqual(value("g1"), -1e-5, delta=1e-11)
            self.assertAlmostEqual(value("m2"), -1e-3 * (1 - at), delta=1e-9)
            self.assertAlmostEqual(value("k2"), -1e-3 * (1 - at), delta=1e-9)
            self.assertAlmostEqual(value("m1"), 0, delta=1e-12)
        self.assertAlmostEqual(probes["p0.m2"][-1], -probes["root.mz"][-1], delta=1e-12)  # by what lies beyond; by the clamp

    def test_a_cable_has_tension_and_no_moment(self):
        scene = beam(constraints=[{"type": "pin", "vertices": "a:start"}], forces=[{"type": "force", "vertices": "a:end", "force": [2, 0, 0]}],
                     probes=[{"name": "p", "rod": "a", "at": 0.4}], analysis={"type": "dynamic", "step": 1, "duration": 60, "fps": 1}, solver=EXACT)
        scene["materials"]["m"]["bend_twist"] = 0
        probes = self.probes(scene)
        self.assertAlmostEqual(probes["p.n3"][-1], 2, delta=1e-3)
        for c in ("m1", "m2", "m3", "k1", "k2", "k3"):
            self.assertEqual(probes["p." + c][-1], 0)

    def test_places_on_rods_that_cannot_be_probed(self):
        def refused(probe, expected, **changes):
            self.assert_refused(beam(probes=[{"name": "p", **probe}], **changes), expected)
        refused({"rod": "b", "at": 0.5}, {"/probes/0/rod": "there is no rod"})
        refused({"rod": "beem", "at": 0.5}, {"/probes/0/rod": "did you mean `beam`"}, rods=[{**beam()["rods"][0], "name": "beam"}])
        refused({"rod": "a", "at": 1.01}, {"/probes/0/at": "at most 1"})
        refused({"rod": "a", "at": -0.1}, {"/probes/0/at": "at least 0"})
        refused({"rod": "a", "at": "mid"}, {"/probes/0/at": "number"})
        refused({"rod": "a"}, {"/probes/0": "needs `at`"})
        refused({"rod": 3, "at": 0.5}, {"/probes/0/rod": "text"})
        refused({"vertex": 0, "at": 0.5}, {"/probes/0/at": "without `rod`"})
        refused({"vertex": 0, "rod": "a", "at": 0.5}, {"/probes/0": "exactly one of"})
        refused({"rod": "n.corners", "at": 0.5}, {"/probes/0/rod": "not one rod"}, structures=[{"type": "net", "name": "n"}])
        refused({"rod": "n.border", "at": 0.5}, {"/probes/0/rod": "not one rod"}, structures=[{"type": "net", "name": "n"}])

    def test_sections_in_the_trajectory(self):
        scene = beam(constraints=[{"type": "clamp", "vertices": "a:start"}], analysis={"type": "static"}, output={"sections": True},
                     forces=[{"type": "force", "vertices": "a:end", "force": [0, -1e-3, 0]}])
        scene["rods"][0]["up"] = [0, 1, 0]
        self.run_scene(scene)
        with h5py.File(self.folder / "out/trajectory.h5") as f:
            for joint, v in enumerate(f["topology/joint_vertex"][:]):
                self.assertAlmostEqual(f["joint_moment"][-1][joint][1], -1e-3 * (1 - v / 4), delta=1e-9)
                self.assertAlmostEqual(f["joint_curvature"][-1][joint][1], -1e-3 * (1 - v / 4), delta=1e-9)
            self.assertAlmostEqual(f["clamp_moment"][-1][0][1], -1e-3, delta=1e-9)
            self.assertEqual(list(f["topology/clamps"][0]), [0, 0])
            self.assertAlmostEqual(f["segment_force"][-1][2][0], -1e-3, delta=1e-9)
            self.assertAlmostEqual(f["segment_strain"][-1][2][0], -1e-5, delta=1e-11)
            self.assertLess(abs(f["segment_force"][0]).max(), 1e-12)
        self.run_scene({**scene, "output": {}})
        with h5py.File(self.folder / "out/trajectory.h5") as f:
            self.assertNotIn("segment_force", f)

    def test_sections_need_a_format_that_holds_them(self):
        for formats in (["obj"], []):
            self.assert_refused(beam(output={"sections": True, "formats": formats}), {"/output/sections": "no format"})
        for formats in (["vtp"], ["obj", "hdf5"]):
            self.assert_good(beam(output={"sections": True, "formats": formats}))

    def test_two_probes_of_one_name_are_refused(self):
        self.assert_refused(beam(probes=[{"name": "p", "vertex": 0}, {"name": "p", "vertex": 1}]), {"/probes/1/name": "twice"})

    def test_the_iterations_shortcut(self):
        self.run_scene(beam(analysis={**beam()["analysis"], "iterations": 7}))
        self.assertEqual(self.stats()["iterations"], 70)
        self.run_scene(beam(analysis={**beam()["analysis"], "iterations": 7}, solver={"name": "stable_cosserat", "iterations": 7}))
        self.assertEqual(self.stats()["iterations"], 70)

    def test_the_tolerance_shortcut(self):
        self.run_scene(beam(**self.SAG, solver={"name": "stable_cosserat", "method": "sweep"}, analysis={**beam()["analysis"], "tolerance": 1e-10}))
        self.assertGreater(self.stats()["iterations"], 100)
        self.assertLess(max(self.table("diagnostics.csv")["residual_relative"]), 1.1e-10)
        self.run_scene(beam(**self.SAG, analysis={**beam()["analysis"], "tolerance": 1e-10}))
        self.assertLess(self.stats()["iterations"], 100)
        self.assertLess(max(self.table("diagnostics.csv")["residual_relative"]), 1e-9)

    def test_every_setting_of_the_solver_counts(self):
        def end(**settings):
            return self.probes(beam(**self.SAG, solver=settings))["tip.y"][-1]
        sweeps, direct = {"name": "stable_cosserat", "method": "sweep"}, {"name": "direct"}
        self.assertNotEqual(end(**sweeps), end(**direct))
        for settings in ({}, {"name": "automatic"}, {"method": "direct"}, {"method": "auto"}, {"name": "stable_cosserat", "method": "direct"}):
            self.assertEqual(end(**settings), end(**direct), settings)
        self.assertEqual(end(name="stable_cosserat", method="sweep"), end(**sweeps))
        for settings in ({"iterations": 1}, {"tolerance": 1e-9}, {"precision": "float"}):
            self.assertNotEqual(end(**settings), end(**direct), settings)
            self.assertEqual(end(**settings), end(**direct, **settings), settings)
        base = end(**sweeps)
        for settings in ({"iterations": 5}, {"tolerance": 1e-9}, {"lambda": "approx"}, {"order": "gauss_seidel"}, {"order": "jacobi"}, {"precision": "float"}):
            self.assertNotEqual(end(**sweeps, **settings), base, settings)
        self.assertNotEqual(end(**sweeps, tolerance=1e-9, max_iterations=2), end(**sweeps, tolerance=1e-9))

    def test_the_solvers_agree_when_converged(self):
        a = self.probes(beam(**self.SAG, solver={"name": "stable_cosserat", "method": "sweep", "tolerance": 1e-12, "max_iterations": 100000}))["tip.y"]
        b = self.probes(beam(**self.SAG, solver=EXACT, analysis={"type": "dynamic", "step": 0.01, "duration": 0.1, "fps": 50, "integrator": "implicit_euler"}))["tip.y"]
        for x, y in zip(a, b):
            self.assertAlmostEqual(x, y, 9)

    def test_statics_are_solved_along_the_rods_by_default(self):
        self.run_scene(beam(**self.SAG, analysis={"type": "static"}))
        self.assertEqual(self.stats()["solver"], "automatic")
        self.assertLess(self.table("diagnostics.csv")["residual_relative"][-1], 1e-8)

    def test_load_steps_are_frames_and_ramp_the_load(self):
        probes = self.probes(beam(**self.SAG, analysis={"type": "static", "load_steps": 4, "duration": 2}))
        self.assertEqual(probes["time"], [0, 0.5, 1, 1.5, 2])
        half = self.probes(beam(**{**self.SAG, "forces": [{"type": "gravity", "acceleration": [0, -9.81 / 2, 0]}]}, analysis={"type": "static"}))
        self.assertAlmostEqual(probes["tip.y"][2], half["tip.y"][-1], 6)
        flat = self.probes(beam(**self.SAG, analysis={"type": "static", "load_steps": 4, "ramp": False}))
        self.assertAlmostEqual(flat["tip.y"][1], flat["tip.y"][-1], 6)
        self.assertAlmostEqual(flat["tip.y"][-1], probes["tip.y"][-1], 6)

    def test_a_static_solve_that_does_not_converge_fails_loudly(self):
        scene = beam(constraints=[{"type": "clamp", "vertices": 0}], forces=[{"type": "force", "vertices": 4, "force": [-1e4, 1e5, 3e4]}],
                     analysis={"type": "static", "max_iterations": 1})
        result = self.run_scene(scene, expect=RUN_FAILED)
        self.assertRegex(result.err, r"did not converge.*residual.*(vertex|segment) \d+")
        self.assertIn("raise `max_iterations`", result.err)
        self.assertEqual(len(self.trajectory()["time"]), 1)

    def test_a_rod_that_nothing_holds_has_no_equilibrium(self):
        self.run_scene(beam(forces=[{"type": "gravity"}], analysis={"type": "static"}), expect=RUN_FAILED)


class NothingIsIgnored(CliTest):
    """A value that is accepted is a value that is used."""

    def test_translating_a_fix(self):
        self.assert_not_ignored(beam(constraints=[{"type": "fix", "segments": 0, "motion": {"translate": [1, 0, 0]}}]), "translate")

    def test_up_along_the_rod(self):
        self.assert_not_ignored(beam_rod(up=[1, 0, 0]), "up")

    def test_stiffness_of_a_weld_without_joint(self):
        rods = Graphs.TWO
        self.assert_not_ignored(beam(rods=rods, welds=[{"vertices": ["a:end", "b:start"], "joint": False, "bend_twist": 3}]), "bend_twist")

    def test_threads_of_sequential_sweeps(self):
        self.assert_not_ignored(beam(solver={"name": "stable_cosserat", "order": "gauss_seidel", "threads": 4}), "threads")

    def test_settings_of_sweeps_beside_the_direct_method(self):
        for key, value in (("lambda", "approx"), ("order", "jacobi")):
            with self.subTest(key):
                self.assert_not_ignored(beam(solver={"name": "stable_cosserat", "method": "direct", key: value}), key)

    def test_newton_settings_in_statics(self):
        for key, value in (("tolerance", 1e-3), ("max_iterations", 1)):
            with self.subTest(key):
                self.assert_not_ignored(beam(analysis={"type": "static"}, constraints=[{"type": "clamp", "vertices": 0}],
                                             solver={"name": "newton", key: value}), key)

    def test_poisson_beside_a_raw_bending_stiffness(self):
        scene = beam()
        scene["materials"]["m"].update(young=1e6, poisson=0.3)
        self.assert_not_ignored(scene, "poisson")

    def test_rotational_inertia_in_statics(self):
        self.assert_not_ignored(beam(analysis={"type": "static"}, constraints=[{"type": "clamp", "vertices": 0}], rotational_inertia=True),
                                "rotational_inertia")

    def test_a_limit_on_iterations_that_a_fixed_number_of_them_never_reaches(self):
        for name in ("stable_cosserat", "direct", "automatic"):
            self.assert_not_ignored(beam(solver={"name": name, "iterations": 4, "max_iterations": 2}), "max_iterations")

    def test_a_number_of_iterations_beside_a_tolerance(self):
        for name in ("stable_cosserat", "direct", "automatic"):
            self.assert_not_ignored(beam(solver={"name": name, "iterations": 4, "tolerance": 0.1}), "iterations")


class Stability(CliTest):
    """A column past its critical load: who leaves it standing, or leaves it, has to say so."""

    COLUMN = {
        "materials": {"m": {"young": 1e7, "density": 1000, "radius": 0.005}},
        "rods": [{"name": "r", "shape": {"type": "line", "from": [0, 0, 0], "to": [0, 1, 0]}, "segments": 20, "material": "m"}],
        "constraints": [{"type": "clamp", "vertices": "r:start"}],
        "forces": [{"type": "force", "vertices": "r:end", "force": [0, -0.5, 0]}],
    }

    def remarks(self, solver, analysis):
        self.run_scene(dict(self.COLUMN, solver={"name": solver}, analysis=analysis))
        return " ".join(self.stats()["remarks"])

    def test_a_dynamic_run_starts_in_the_stable_one(self):
        said = self.remarks("generalized_alpha", {"type": "dynamic", "step": 0.01, "duration": 0.02, "fps": 100, "start": "equilibrium"})
        self.assertNotIn("nobody has looked", said)
        self.assertEqual(self.stats()["start_unstable_modes"], 0)

    def test_a_solver_that_leaves_it_sends_to_one_that_can_stay(self):
        for solver in ("deti", "generalized_alpha"):
            self.assertIn("say `--solver direct` and `branch` follow", self.remarks(solver, {"type": "static"}))
        said = self.remarks("direct", {"type": "static"})
        self.assertIn("say `branch` follow", said)
        self.assertNotIn("nobody has looked", said)

if __name__ == "__main__":
    main()

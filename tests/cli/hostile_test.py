"""Input that means harm or was made by accident: no crash, no hang, no memory eaten, no nonsense accepted."""

import json

from osier_cli import BAD_INPUT, DONE, CliTest, beam, beam_rod, main

GIB = 1 << 30


class Text(CliTest):
    def assert_bad(self, scene, *arguments, seconds=10, memory=2 * GIB, text=True):
        result = self.check(scene, *arguments, timeout=seconds, memory=memory)
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertTrue(result.err.strip())
        self.assertLess(len(result.err), 20000, "the message has no end")
        if text:  # otherwise the message may quote bytes that are none
            self.assert_readable(result)
        return result

    def test_deep_nesting(self):
        for depth in (200, 5000, 200000):
            for text in ('{"name": ' + "[" * depth + "]" * depth + "}", '{"foo": ' + '{"a":' * depth + "1" + "}" * depth + "}", "[" * depth,
                         '{"rods": ' + "[" * depth + "]" * depth + "}"):
                with self.subTest(depth=depth, text=text[:12]):
                    self.assert_bad(text)

    def test_deep_nesting_on_the_command_line(self):
        self.assert_bad(beam(), "--set", "/name=" + "[" * 50000 + "]" * 50000)

    def test_a_byte_order_mark_is_fine(self):
        self.assert_good(b"\xef\xbb\xbf" + json.dumps(beam()).encode())

    def test_other_encodings_are_refused(self):
        for encoding in ("utf-16", "utf-32"):
            self.assert_bad(json.dumps(beam()).encode(encoding), text=False)

    def test_bytes_that_are_no_text(self):
        for data in (b'{"name": "\xff"}', b"\x00", b"\x00" * 100, b"\x7fELF" + bytes(range(256)), json.dumps(beam()).encode()[:100] + b"\x00"):
            with self.subTest(data[:10]):
                self.assert_bad(data, text=False)

    def test_text_behind_a_nul_byte_is_not_dropped_in_silence(self):
        self.assert_bad(json.dumps(beam()).encode() + b"\x00 and {more}")

    def test_a_very_long_line(self):
        self.assert_good(json.dumps(beam(description="x" * 5_000_000)))
        self.assert_bad(json.dumps(beam(**{"k" * 100_000: 1})))
        self.assert_bad(json.dumps(beam(solver={"name": "n" * 100_000})))

    def test_long_text_with_accents_is_cut_between_letters(self):
        for shift in range(3):
            self.assert_bad(beam_rod(segments="x" * shift + "ü" * 100))

    def test_many_problems_are_reported_in_time(self):
        self.check(beam(**{"key%d" % i: 1 for i in range(20000)}), timeout=10)
        for scene in (beam(constraints=[{"type": "pin", "vertices": "nix%d:0" % i} for i in range(30000)]),
                      beam(constraints=[{"type": "pin", "vertices": 0}] * 30000)):
            self.assertEqual(self.check(scene, timeout=10).code, BAD_INPUT)

    def test_control_characters_are_written_out(self):
        """What a terminal would obey: colours, the cursor's place, a line that looks like another message."""
        odd = "a\x1b[31m\rb\x07\nerror: c\x7f\u009b2J"
        for scene in (beam(name=odd), beam_rod(name=odd), beam_rod(material=odd), beam(**{odd: 1}), beam(materials={odd: {}}), beam(solver={"name": odd}),
                      beam(constraints=[{"type": "pin", "vertices": odd}]), beam(structures=[{"type": "net", "name": odd}]),
                      beam(probes=[{"name": odd, "vertex": 0}]), beam_rod(shape={"type": "polyline", "file": odd})):
            with self.subTest(json.dumps(scene)[:200]):
                result = self.check(scene)
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertNotRegex(result.err, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                self.assertNotIn("\nerror: c", result.err)
        self.assertIn("\\x1b", self.check(beam_rod(material=odd)).err)
        result = self.call("run", "none\x1b[31m.json")
        self.assertNotIn("\x1b", result.err)


class Names(CliTest):
    def test_nul_in_names(self):
        for scene in (beam(name="a\0b"), beam_rod(name="a\0b"), beam(probes=[{"name": "a\0b", "vertex": 0}])):
            result = self.call("run", self.write(scene))
            self.assertEqual(result.code, BAD_INPUT, result)

    def test_odd_scene_names(self):
        for name in ("grün ✓", "a:b", " ", "-o", "."):
            with self.subTest(name):
                self.assertIn(self.call("run", self.write(beam(name=name))).code, (DONE, BAD_INPUT))

    def test_a_name_too_long_for_a_folder(self):
        result = self.call("run", self.write(beam(name="x" * 5000)))
        self.assertEqual(result.code, BAD_INPUT, result)

    def test_many_rods_can_be_named_and_held_in_time(self):
        rod = beam()["rods"][0]
        n = 2000
        rods = [{**rod, "name": "hair%d" % i, "shape": {"type": "line", "from": [i, 0, 0], "to": [i, 1, 0]}, "segments": 2} for i in range(n)]
        constraints = [{"type": "clamp", "vertices": "hair%d:start" % i} for i in range(n)]
        result = self.check(beam(rods=rods, constraints=constraints), timeout=20)
        self.assertEqual(result.code, DONE, result)


class Numbers(CliTest):
    assert_bad = Text.assert_bad

    def test_indices_beyond_an_int_do_not_wrap_around(self):
        for index in (2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1, 2**64, -2**31 - 1, -2**32, -2**63):
            with self.subTest(index):
                self.assert_bad(beam(constraints=[{"type": "pin", "vertices": index}]))

    def test_whole_numbers_beyond_an_int(self):
        for number in (2**31, 2**63, 2**64, 10**30, -2**40):
            with self.subTest(number):
                self.assert_bad(beam_rod(segments=number))
                self.assert_bad(beam(solver={"name": "stable_cosserat", "iterations": number}))

    def test_selections_with_numbers_beyond_an_int(self):
        for place in ("99999999999999999999", "-99999999999999999999", "0..99999999999999999999", "2147483648", "-2147483648", "..", "0..", "..1", "0...1"):
            with self.subTest(place):
                self.assert_bad(beam(constraints=[{"type": "pin", "vertices": "a:" + place}]))

    def test_huge_counts_are_refused_without_eating_memory(self):
        """About 1 kB per segment: what cannot fit into a common machine is refused before it is built."""
        for scene in (beam_rod(segments=100_000_000), beam_rod(segments=None, segment_length=1e-8), beam_rod(shape={"type": "coil", "vertices": 2_000_000_000}, segments=None),
                      {"structures": [{"type": "net", "nx": 100_000, "ny": 100_000}]}, {"structures": [{"type": "net", "nx": 2_000_000_000}]},
                      {"structures": [{"type": "bridge", "cable_segment_length": 1e-9}]}, {"structures": [{"type": "trees", "count": 2_000_000_000}]},
                      {"structures": [{"type": "hair", "strands": 2_000_000_000}]}, {"structures": [{"type": "grass", "vertices": 2_000_000_000}]}):
            with self.subTest(json.dumps(scene)[:300]):
                self.assert_bad(scene, seconds=5)

    def test_counts_that_add_up_to_too_much_are_refused(self):
        rod = beam()["rods"][0]
        self.assert_bad(beam(rods=[{**rod, "name": "r%d" % i, "segments": 20_000_000} for i in range(20)]), seconds=5)

    def test_what_scenes_cost_in_all_is_bounded_before_it_is_allocated(self):
        """Each part alone is within its limits. 2 GiB: a small machine, on which ten million segments do not fit."""
        rod = beam()["rods"][0]
        net = {"type": "net", "nx": 1000, "ny": 1000}
        for scene, place in ((beam_rod(segments=9_999_999), "/rods/0"), (beam(structures=[{**net, "name": "n%d" % i} for i in range(4)]), "/structures/"),
                             (beam(rods=[{**rod, "name": "r%d" % i, "segments": 700_000} for i in range(9)]), "/rods/"),
                             (beam_rod(segments=200_000) | {"welds": [{"vertices": "a:*", "tolerance": 10}]}, "/welds"),
                             ({"structures": [{"type": "trees", "step": 1e-9, "reach": 20}]}, "/structures/0"),
                             ({"structures": [{"type": "trees", "trunk_segments": 2_000_000_000}]}, "/structures/0"),
                             ({"structures": [{"type": "trees", "count": 1000, "crown_samples": 1_000_000, "attractors": 100_000}]}, "/structures/0")):
            with self.subTest(json.dumps(scene)[:300]):
                result = self.assert_bad(scene, seconds=20)
                self.assertTrue(all(p.startswith(place) for p in result.problems), result)

    def test_a_million_segments_are_fine(self):
        result = self.call("info", self.write(beam_rod(segments=1_000_000)), "--json", memory=3 * GIB, timeout=30)
        self.assertEqual(result.code, DONE, result)
        self.assertEqual(json.loads(result.out)["segments"], 1_000_000)

    def test_times_that_give_no_countable_number_of_frames(self):
        for analysis in ({"duration": 1e300}, {"fps": 1e-300}, {"step": 1e-300}, {"duration": 1e12, "step": 1e-6, "fps": 1e6}, {"fps": 1e-12, "step": 1e-6}):
            with self.subTest(analysis):
                self.assert_bad(beam(analysis={"type": "dynamic", **analysis}))

    def test_materials_that_overflow_or_vanish(self):
        for material in ({"young": 1e300, "density": 1e300, "radius": 1e150}, {"young": 1e9, "density": 1e3, "radius": 1e-200},
                         {"stretch_shear": 1e308, "bend_twist": 1, "line_density": 1e308, "radius": 1}):
            with self.subTest(material):
                scene = beam_rod(shape={"type": "line", "from": [0, 0, 0], "to": [1000, 0, 0]})
                self.assert_bad({**scene, "materials": {"m": material}})

    def test_lengths_that_overflow(self):
        self.assert_bad(beam_rod(shape={"type": "line", "from": [0, 0, 0], "to": [1e300, 0, 0]}))
        self.assert_bad(beam_rod(shape={"type": "line", "from": [-1e308, 0, 0], "to": [1e308, 0, 0]}))
        self.assert_bad(beam_rod(shape={"type": "helix", "radius": 1e200, "pitch": 1, "turns": 1}))

    def test_threads_within_reason(self):
        self.assertEqual(self.call("run", self.write(beam()), "-o", "out", "--threads", "1024", "--frames", "1").code, DONE)


class Time(CliTest):
    """`check` takes time in proportion to the scene: these took minutes when something was looked for in a list."""

    def assert_quick(self, scene, *arguments):
        result = self.check(scene, *arguments, timeout=12)
        self.assertEqual(result.code, DONE, result)

    def test_twenty_thousand_materials(self):
        material, rod = beam()["materials"]["m"], beam()["rods"][0]
        n = 20_000
        self.assert_quick(beam(materials={"m%d" % i: material for i in range(n)},
                               rods=[{**rod, "name": "r%d" % i, "segments": 1, "material": "m%d" % i} for i in range(n)]))

    def test_three_hundred_thousand_constraints(self):
        n = 300_000
        self.assert_quick(beam_rod(segments=n) | {"constraints": [{"type": "pin", "vertices": "a:%d" % i} for i in range(n)]})

    def test_clamps_welds_probes_and_joints(self):
        rod, n = beam()["rods"][0], 20_000
        rods = [{**rod, "name": "r%d" % i, "shape": {"type": "line", "from": [i, 0, 0], "to": [i + 1, 0, 0]}, "segments": 2} for i in range(n)]
        self.assert_quick(beam(rods=rods, constraints=[{"type": "clamp", "vertices": "r%d:mid" % i} for i in range(n)],
                               welds=[{"vertices": ["r%d:end" % i, "r%d:start" % (i + 1)]} for i in range(n - 1)],
                               probes=[{"name": "p%d" % i, "clamp": "r%d:mid" % i} for i in range(n)],
                               joints=[{"segments": ["r%d:0" % i, "r%d:0" % (i + 1)]} for i in range(n - 1)],
                               forces=[{"type": "force", "vertices": "r%d:end" % i, "force": [1, 0, 0]} for i in range(n)]))


if __name__ == "__main__":
    main()

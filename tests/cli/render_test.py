"""`osier render` from a user's side: pictures and films of runs and scenes, and what it says when something is wrong."""

import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zlib

import h5py

from osier_cli import BAD_INPUT, DONE, OSIER, RUN_FAILED, CliTest, beam, main

SMALL = ("--size", "96x64", "--samples", "4")


def read_png(path):
    """(width, height, rows of bytes): 8-bit RGB, decoded with zlib alone."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed, header = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), "wrong checksum"
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    width, height, depth, color = header[:4]
    assert (depth, color) == (8, 2), "not 8-bit RGB"
    raw, stride, rows, above = zlib.decompress(packed), 3 * width, [], bytearray(3 * width)
    for y in range(height):
        rule, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = (line[i - 3] if i >= 3 else 0), above[i], (above[i - 3] if i >= 3 else 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[rule]) & 255
        rows.append(bytes(line))
        above = line
    return width, height, rows


class Render(CliTest):
    def setUp(self):
        super().setUp()
        gravity = [{"type": "gravity", "acceleration": [0, -9.8, 0]}]
        self.scene = self.write(beam(forces=gravity, constraints=[{"type": "pin", "vertices": "a:start"}]))
        self.run_scene(beam(forces=gravity, constraints=[{"type": "pin", "vertices": "a:start"}]))
        if "without its ray tracer" in self.call("render", "out", *SMALL).err:
            self.skipTest("this osier was built without its ray tracer")

    def render(self, *arguments, expect=DONE, **options):
        result = self.call("render", *arguments, *SMALL, **options)
        self.assertEqual(result.code, expect, result)
        return result

    def digest(self, name):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def test_contacts_are_marked_and_their_forces_are_arrows(self):
        """A rod that lies on a floor: red arrows stand up from it, as high as the scale says."""
        lying = beam(contact={}, obstacles=[{"type": "plane", "point": [0, -0.012, 0]}], output={"contacts": True},
                     forces=[{"type": "gravity", "acceleration": [0, -9.8, 0]}], analysis={"type": "dynamic", "step": 0.004, "duration": 1})
        self.run_scene(lying)
        look = ("--camera", "from 0.5,0.1,3 at 0.5,0.1,0 fov 30")

        def colored(name):
            width, height, rows = read_png(self.folder / name)
            pixels = [(x, y, row[3 * x:3 * x + 3]) for y, row in enumerate(rows) for x in range(width)]
            return [(x, y) for x, y, (r, g, b) in pixels if r > 110 and r > 1.8 * g and r > 1.8 * b]

        self.render("out", "-o", "without.png", *look)
        self.render("out", "-o", "low.png", "--contacts", "--force-scale", "0.1", *look)
        result = self.render("out", "-o", "high.png", "--contacts", "--force-scale", "0.2", *look)
        self.assertIn("arrows 0.2 m per newton", result.out)
        self.assertEqual(colored("without.png"), [])
        low, high = colored("low.png"), colored("high.png")
        self.assertGreater(len(low), 4)
        rod = 36  # the row that shows y = 0, 4 pixels below the middle
        height = lambda pixels: rod - min(y for _, y in pixels)
        self.assertGreater(height(high), 1.5 * height(low))
        self.assertLess(height(high), 2.6 * height(low))
        self.render("out", "-o", "yarn.png", "--contacts", "--style", "yarn", *look)
        self.assertTrue(colored("yarn.png"))
        # A scene is simulated with them, whatever it says itself.
        self.write(json.dumps({k: v for k, v in lying.items() if k != "output"}), "lying.json")
        self.render("lying.json", "-o", "scene.png", "--contacts", "--force-scale", "0.2", "--frame", "30", *look)
        self.assertEqual(self.digest("scene.png"), self.digest("high.png"))

    def test_contacts_that_were_not_recorded_cannot_be_drawn(self):
        result = self.render("out", "--contacts", expect=BAD_INPUT)
        self.assertIn("does not hold contacts; run the scene again with --set /output/contacts=true", result.err)
        result = self.render("out", "--force-scale", "1", expect=BAD_INPUT)
        self.assertIn("--force-scale: no forces are drawn; add --contacts", result.err)

    def test_a_picture_has_the_size_asked_for_and_shows_something(self):
        self.render("out", "-o", "a.png")
        width, height, rows = read_png(self.folder / "a.png")
        self.assertEqual((width, height), (96, 64))
        light = [sum(row[i:i + 3]) for row in rows for i in range(0, len(row), 3)]
        self.assertGreater(max(light) - min(light), 150)
        self.assertGreater(len(set(light)), 20)
        # Most of the picture is the light backdrop.
        self.assertGreater(sum(v > 600 for v in light), len(light) / 2)

    def test_the_default_name_is_that_of_the_scene(self):
        result = self.render("out")
        self.assertIn("scene.png", result.out)
        self.assertTrue((self.folder / "scene.png").is_file())

    def test_a_scene_and_its_recording_give_the_same_picture(self):
        self.render(self.scene, "--frame", "3", "-o", "a.png")
        self.render("out/trajectory.h5", "--frame", "3", "-o", "b.png")
        self.assertEqual(self.digest("a.png"), self.digest("b.png"))

    def test_threads_do_not_change_the_picture(self):
        for threads in ("1", "2", "5"):
            self.render("out", "--threads", threads, "-o", threads + ".png", "--style", "yarn")
        self.assertEqual(len({self.digest(t + ".png") for t in ("1", "2", "5")}), 1)

    def test_frames_styles_colours_and_cameras_make_a_difference(self):
        variants = [(), ("--frame", "0"), ("--style", "yarn"), ("--style", "hair"), ("--color", "speed"), ("--color", "stretch"),
                    ("--color", "curvature"), ("--palette", "#ff0000"), ("--background", "dark"), ("--ground", "none"),
                    ("--ground", "-0.2"), ("--thickness", "2"), ("--camera", "azimuth 80"), ("--camera", "zoom 2"),
                    ("--camera", "from 0,0,3 at 0.5,0,0"), ("--style", "yarn", "--plies", "2"), ("--color", "speed", "--range", "100")]
        seen = {}
        for i, arguments in enumerate(variants):
            self.render("out", "-o", "%d.png" % i, *arguments)
            seen.setdefault(self.digest("%d.png" % i), []).append(arguments)
        self.assertEqual(len(seen), len(variants), [v for v in seen.values() if len(v) > 1])

    def test_a_scale_is_told_with_its_unit(self):
        self.assertRegex(self.render("out", "--color", "speed").out, r"speed up to [0-9.]+ m/s")

    def test_frames_are_named_as_in_convert(self):
        last = len(self.trajectory()["time"]) - 1
        for name, words in {"first": ("first", "0", str(-last - 1)), "last": ("last", "-1", str(last))}.items():
            for i, word in enumerate(words):
                self.render("out", "--frame", word, "-o", "%s%d.png" % (name, i))
            self.assertEqual(len({self.digest("%s%d.png" % (name, i)) for i in range(3)}), 1, words)
        self.assertNotEqual(self.digest("first0.png"), self.digest("last0.png"))
        self.render("out", "-o", "default.png")
        self.assertEqual(self.digest("default.png"), self.digest("last0.png"))
        for source in ("out", self.scene):
            for word in (str(last + 1), str(-last - 2)):
                result = self.render(source, "--frame", word, expect=BAD_INPUT)
                self.assertIn("--frame: %s is not there; there are frames 0 to %d" % (word, last), result.err)
            self.assertIn("`middle` is not a frame", self.render(source, "--frame", "middle", expect=BAD_INPUT).err)
            convert = self.call("convert", "out", "a.obj", "--frame", str(last + 1))
            self.assertIn("--frame: %d is not there; there are frames 0 to %d" % (last + 1, last), convert.err)

    def test_recordings_that_tell_less_are_refused_where_it_matters(self):
        shutil.copytree(self.folder / "out", self.folder / "early")
        with h5py.File(self.folder / "early" / "trajectory.h5", "a") as file:
            for name in ("material_names", "segment_material", "material_stiffness", "mass", "segment_stiffness", "joint_rest_rotation",
                         "joint_stiffness", "clamp_rest_rotation", "clamp_stiffness"):
                del file["topology"][name]
        self.assertIn("does not hold the materials", self.render("early", "--color", "material", expect=BAD_INPUT).err)
        self.assertIn("rest shape", self.render("early", "--color", "curvature_change", expect=BAD_INPUT).err)
        self.render("early", "--color", "curvature")

    def test_a_legend_stands_in_the_corner_of_measured_pictures(self):
        def draw(name, *arguments):
            result = self.call("render", "out", "-o", name, "--size", "320x180", "--samples", "1", *arguments)
            self.assertEqual(result.code, DONE, result)
            return read_png(self.folder / name)[2]

        for color in ("stretch", "curvature", "curvature_change", "twist_change", "speed", "material"):
            shown, hidden = draw("a.png", "--color", color), draw("b.png", "--color", color, "--legend", "off")
            rows = [y for y in range(180) if shown[y] != hidden[y]]
            columns = [x for x in range(320) if any(shown[y][3 * x:3 * x + 3] != hidden[y][3 * x:3 * x + 3] for y in rows)]
            self.assertGreater(min(rows), 110, color)
            self.assertLess(max(columns), 170, color)
            self.assertGreater(len(rows), 20, color)
        self.assertEqual(draw("a.png"), draw("b.png", "--legend", "off"))
        # Small pictures have none unless asked, and then it is refused.
        self.render("out", "-o", "c.png", "--color", "speed")
        self.render("out", "-o", "d.png", "--color", "speed", "--legend", "off")
        self.assertEqual(self.digest("c.png"), self.digest("d.png"))
        self.assertIn("--size 320x180 or more", self.render("out", "--color", "speed", "--legend", "on", expect=BAD_INPUT).err)
        self.assertIn("choose another --color", self.call("render", "out", "--legend", "on").err)

    def test_changes_against_rest_come_from_the_scene_of_the_run(self):
        # A straight beam: all of its curvature is change.
        for color in ("curvature", "curvature_change"):
            self.render("out", "--color", color, "-o", color + ".png")
        self.assertEqual(self.digest("curvature.png"), self.digest("curvature_change.png"))
        self.assertRegex(self.render("out", "--color", "curvature_change").out, r"change of curvature up to [0-9.e-]+ 1/m")
        # A ring that stays as it is has curvature and no change; the scene is compiled as it ran, changes included.
        ring = beam()
        ring["rods"][0].update(shape={"type": "circle", "radius": 1}, segments=24)
        self.run_scene(ring)
        self.assertRegex(self.render("out", "--color", "curvature").out, r"curvature up to (0\.99|1)")
        self.assertRegex(self.render("out", "--color", "curvature_change").out, r"change of curvature up to 0 1/m")

    def test_a_curve_file_is_drawn_as_it_is(self):
        self.write("0 0 0\n0.5 0.1 0\n1 0 0\n", "line.csv")
        result = self.call("render", "line.csv", "--size", "160x90", "--samples", "1")
        self.assertEqual(result.code, DONE, result)
        self.assertTrue((self.folder / "line.png").exists())
        result = self.call("render", "line.csv", "--set", "/name=x")
        self.assertEqual(result.code, BAD_INPUT, result)

    def test_a_still_shows_its_progress(self):
        self.run_scene(beam())
        result = self.call("render", "out", "--size", "160x90", "--samples", "1")
        self.assertRegex(result.err, r"tile \d+/\d+ ")
        self.assertEqual(self.call("render", "out", "--size", "160x90", "--samples", "1", "--quiet").err, "")

    def test_every_frame_as_png(self):
        self.render("out", "--png", "frames", "--orbit", "90")
        names = sorted(p.name for p in (self.folder / "frames").iterdir())
        self.assertEqual(names, ["frame_%05d.png" % i for i in range(len(names))])
        self.assertEqual(len(names), len(self.trajectory()["time"]))
        self.assertEqual(len({self.digest("frames/" + n) for n in names}), len(names))

    def test_jpeg_by_its_name(self):
        self.render("out", "-o", "a.jpg")
        self.assertEqual((self.folder / "a.jpg").read_bytes()[:2], b"\xff\xd8")

    @unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "ffmpeg is not installed")
    def test_a_film_has_all_frames_at_the_speed_of_the_run(self):
        self.render("out", "--mp4", "a.mp4")
        told = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames,r_frame_rate,pix_fmt",
                               "-of", "default=noprint_wrappers=1", self.folder / "a.mp4"], capture_output=True, check=True, text=True).stdout
        facts = dict(line.split("=", 1) for line in told.split())
        self.assertEqual((facts["width"], facts["height"], facts["pix_fmt"]), ("96", "64", "yuv420p"))
        self.assertEqual(int(facts["nb_read_frames"]), len(self.trajectory()["time"]))
        numerator, denominator = map(int, facts["r_frame_rate"].split("/"))
        self.assertAlmostEqual(numerator / denominator, 50, places=3)
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_without_ffmpeg_the_package_is_named_and_png_works(self):
        environment = dict(os.environ, PATH=str(self.folder / "nowhere"))
        process = subprocess.run([OSIER, "render", "out", "--mp4", "a.mp4", *SMALL], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(process.returncode, BAD_INPUT)
        self.assertIn("apt-get install ffmpeg", process.stderr)
        self.assertIn("--png", process.stderr)

    @unittest.skipUnless(shutil.which("sh"), "no shell")
    def test_an_ffmpeg_that_fails_leaves_no_film(self):
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "ffmpeg").write_text("#!/bin/sh\necho no such encoder >&2\nexit 3\n")
        (bin_folder / "ffmpeg").chmod(0o755)
        environment = dict(os.environ, PATH="%s:%s" % (bin_folder, os.environ["PATH"]))
        process = subprocess.run([OSIER, "render", "out", "--mp4", "a.mp4", *SMALL], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(process.returncode, RUN_FAILED)
        self.assertIn("no such encoder", process.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir() if "mp4" in p.name], [])

    def test_an_interrupted_film_leaves_nothing_half_written(self):
        film = ["--mp4", "a.mp4"] if shutil.which("ffmpeg") else ["--png", "frames"]
        process = subprocess.Popen([OSIER, "render", "out", *film, "--size", "640x480", "--samples", "64"], cwd=self.folder, stderr=subprocess.PIPE)
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, RUN_FAILED, err)
        self.assertIn(b"interrupted", err)
        self.assertEqual([p.name for p in self.folder.iterdir() if "mp4" in p.name or p.suffix == ".tmp"], [])

    def test_all_mistakes_at_once(self):
        before = set(self.folder.iterdir())
        result = self.call("render", "out", "--size", "big", "--samples", "0", "--style", "tube", "--color", "hot", "--background", "blue",
                           "--palette", "#12", "--camera", "form 1,2,3 fov 500", "--thickness", "0", "--ground", "low", "--frame", "900",
                           "--orbit", "3", "--fps", "10", "--plies", "2", "--set", "/a=1", "--legend", "yes", "-o", "a.gif")
        self.assertEqual(result.code, BAD_INPUT, result)
        for place in ("--size", "--samples", "--style", "--color", "--background", "--palette", "--camera", "--thickness", "--ground", "--frame",
                      "--orbit", "--fps", "--plies", "--set", "--legend", "-o"):
            self.assertRegex(result.err, r"(?m)^error: %s: " % place)
        self.assertIn("did you mean `tubes`?", result.err)
        self.assertIn("did you mean `from`?", result.err)
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_what_contradicts_itself_is_refused(self):
        for arguments, place in ((("--mp4", "a.mp4", "--frame", "1"), "--frame"), (("--mp4", "a.mp4", "-o", "a.png"), "-o"),
                                 (("--mp4", "a.mp4", "--png", "b"), "--png"), (("--mp4", "nowhere/a.mp4"), "--mp4"),
                                 (("--mp4", "a.mov"), "--mp4"), (("--png", "scene.json/frames"), "--png"), (("--range", "2"), "--range"),
                                 (("--camera", "from 1,1,1 azimuth 3"), "--camera")):
            with self.subTest(arguments):
                result = self.render("out", *arguments, expect=BAD_INPUT)
                self.assertRegex(result.err, r"(?m)^error: %s: " % place)
        self.assertIn("even", self.call("render", "out", "--mp4", "a.mp4", "--size", "95x64").err)

    def test_files_that_are_neither(self):
        self.assertIn("cannot be opened", self.render("nothing.json", expect=BAD_INPUT).err)
        (self.folder / "bad.h5").write_bytes(b"no")
        self.assertIn("bad.h5", self.render("bad.h5", expect=BAD_INPUT).err)
        self.assertIn("trajectory.h5", self.render(".", expect=BAD_INPUT).err)


if __name__ == "__main__":
    main()

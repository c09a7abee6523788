"""`osier render` from a user's side: pictures and films of runs and scenes, and what it says when something is wrong."""

import hashlib
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zlib

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
                           "--orbit", "3", "--fps", "10", "--plies", "2", "--set", "/a=1", "-o", "a.gif")
        self.assertEqual(result.code, BAD_INPUT, result)
        for place in ("--size", "--samples", "--style", "--color", "--background", "--palette", "--camera", "--thickness", "--ground", "--frame",
                      "--orbit", "--fps", "--plies", "--set", "-o"):
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

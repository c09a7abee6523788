"""osier view: the server from a browser's side, with sockets of our own."""

import base64
import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import time

import numpy

from osier_cli import BAD_INPUT, DONE, OSIER, SANITISED, CliTest, beam, main

TYPES = {"f32": "<f4", "f64": "<f8", "u32": "<u4", "i32": "<i4", "u16": "<u2", "i16": "<i2", "u8": "u1"}


def decode(data):
    """(header, {name: array}) of a packet, every byte accounted for."""
    magic, size = struct.unpack_from("<II", data)
    assert magic == 0x5249534F and size % 4 == 0
    header, at, arrays = json.loads(data[8:8 + size]), 8 + size, {}
    for a in header["arrays"]:
        kind = numpy.dtype(TYPES[a["type"]])
        arrays[a["name"]] = numpy.frombuffer(data, kind, a["count"], at)
        unit = max(4, kind.itemsize)
        at += -(-a["count"] * kind.itemsize // unit) * unit
    assert at == len(data)
    return header, arrays


class Page:
    """A WebSocket client that is as good or as bad as a test wants it."""

    opened = []

    def __init__(self, port, token, receive_buffer=None):
        self.socket = socket.socket()
        Page.opened.append(self)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20)
        self.socket.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(("GET /ws?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nUpgrade: websocket\r\n"
                             "Connection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n" % (token, port, port, key)).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.take(1)
        assert head.startswith(b"HTTP/1.1 101 "), head
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        assert accept in head, head
        self.number, self.hello, self.models, self.frames, self.status, self.errors = 0, None, {}, [], None, []

    def take(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("closed by the server")
            data += piece
        return data

    def send_raw(self, data, opcode):
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack(">H", len(data)) if len(data) < 65536 \
            else bytes([0xFF]) + struct.pack(">Q", len(data))
        mask = os.urandom(4)
        masked = (numpy.frombuffer(data, "u1") ^ numpy.resize(numpy.frombuffer(mask, "u1"), len(data))).tobytes() if data else b""
        self.socket.sendall(head + mask + masked)

    def send(self, command):
        self.send_raw(json.dumps(command).encode(), 1)

    def receive(self):
        """One message, kept by its kind; returns (kind, content)."""
        first, second = self.take(2)
        assert first & 0x80, "the server does not split messages"
        size = second & 127
        if size == 126:
            size, = struct.unpack(">H", self.take(2))
        elif size == 127:
            size, = struct.unpack(">Q", self.take(8))
        data, opcode = self.take(size), first & 15
        if opcode == 8:
            raise ConnectionError("closed by the server")
        if opcode == 9:
            self.send_raw(data, 10)
            return self.receive()
        if opcode == 2:
            header, arrays = decode(data)
            if header["type"] == "model":
                self.models[header["slot"]] = (header, arrays)
            else:
                self.frames.append((header, arrays))
            return header["type"], (header, arrays)
        message = json.loads(data)
        if message["type"] == "hello":
            self.hello = message
        if message["type"] == "status":
            self.status = message
        if message["type"] == "error":
            self.errors.append(message)
        return message["type"], message

    def until(self, kind):
        while True:
            got, content = self.receive()
            if got == kind:
                return content

    def ask(self, command):
        """Sends with an id and waits for the answer."""
        self.number += 1
        self.send({**command, "id": self.number})
        while True:
            kind, content = self.receive()
            if kind in ("ack", "error") and content["id"] == self.number:
                return content

    def look(self):
        """The newest frame and what belongs to it: (positions, status)."""
        self.send({"type": "ready"})
        header, arrays = self.until("frame")
        self.until("status")
        return arrays["position"].reshape(-1, 3), self.status

    def close(self):
        self.socket.close()


class ViewTest(CliTest):
    @contextlib.contextmanager
    def view(self, *arguments):
        """Starts the server; gives (process, port, token)."""
        process = subprocess.Popen([OSIER, "view", *map(os.fspath, arguments), "--no-browser"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32,})\n", line)
            self.assertTrue(match, (line, process.stderr.read() if not line else ""))
            yield process, int(match.group(1)), match.group(2)
            self.assertIsNone(process.poll(), "the server has ended by itself")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(20), DONE)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            while Page.opened:
                Page.opened.pop().close()
            process.stdout.close()
            process.stderr.close()

    def request(self, port, text):
        """The status code and the body that raw HTTP gets."""
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            with contextlib.suppress(OSError):  # it may answer and close before it has read everything
                connection.sendall(text.encode())
            data = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := connection.recv(65536):
                    data += piece
        match = re.match(rb"HTTP/1\.1 (\d+)", data)
        return (int(match.group(1)) if match else 0), data

    def get(self, port, target, host=None, origin=None, more=""):
        return self.request(port, "GET %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n" % (
            target, host or "127.0.0.1:%d" % port, "Origin: %s\r\n" % origin if origin else "", more))


UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
SWING = beam(forces=[{"type": "gravity"}, {"type": "drag", "rate": 2}], constraints=[{"type": "clamp", "vertices": 0}])


class Access(ViewTest):
    def test_page_comes_with_the_token_and_with_nothing_else(self):
        with self.view(self.write(SWING)) as (_, port, token):
            code, data = self.get(port, "/?token=" + token)
            self.assertEqual(code, 200)
            self.assertIn(b"<html", data)
            self.assertIn(b"Referrer-Policy: no-referrer", data)
            self.assertIn(b"frame-ancestors 'none'", data)
            self.assertEqual(self.get(port, "/?token=" + token, host="localhost:%d" % port)[0], 200)
            for target in ("/", "/?token=", "/?token=" + token[:-1], "/?token=" + "0" * len(token), "/?token=" + token + "0"):
                self.assertEqual(self.get(port, target)[0], 403, target)
            for target in ("/favicon.ico", "/../../etc/passwd", "/viewer.html", "//"):
                self.assertEqual(self.get(port, target)[0], 403, target)
                self.assertEqual(self.get(port, target + "?token=" + token)[0], 404, target)

    def test_foreign_hosts_and_origins_are_refused(self):
        with self.view(self.write(SWING)) as (_, port, token):
            own = "http://127.0.0.1:%d" % port
            for target in ("/?token=" + token, "/ws?token=" + token):
                for host in ("evil.example:%d" % port, "127.0.0.1", "localhost:1"):
                    self.assertEqual(self.get(port, target, host=host, origin=own, more=UPGRADE)[0], 403, host)
                for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:%d" % port):
                    self.assertEqual(self.get(port, target, origin=origin, more=UPGRADE)[0], 403, origin)
            self.assertEqual(self.get(port, "/ws?token=" + token, more=UPGRADE)[0], 403, "a WebSocket without an origin")
            self.assertEqual(self.get(port, "/ws?token=" + "0" * 32, origin=own, more=UPGRADE)[0], 403)
            self.assertEqual(self.get(port, "/ws?token=" + token, origin=own)[0], 400)
            Page(port, token).close()

    def test_what_is_not_a_plain_request_is_refused(self):
        with self.view(self.write(SWING)) as (_, port, token):
            host = "Host: 127.0.0.1:%d\r\n" % port
            self.assertEqual(self.request(port, "POST /?token=%s HTTP/1.1\r\n%sContent-Length: 2\r\n\r\nhi" % (token, host))[0], 405)
            self.assertEqual(self.request(port, "GET /?token=%s HTTP/1.1\r\n%sX: %s\r\n\r\n" % (token, host, "x" * 20000))[0], 431)
            self.assertEqual(self.request(port, "POST / HTTP/1.1\r\n%sContent-Length: 99999999\r\n\r\n" % host)[0], 413)
            self.assertEqual(self.request(port, "\x00\x01 garbage\r\n\r\n")[0], 400)
            self.assertEqual(self.get(port, "/?token=" + token)[0], 200)

    def test_other_interfaces_are_not_listened_on(self):
        with self.view(self.write(SWING)) as (process, port, _):
            entries = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
            listening = [e[1] for e in entries if e[3] == "0A" and int(e[1].split(":")[1], 16) == port]
            self.assertEqual(listening, ["0100007F:%04X" % port])

    def test_a_port_in_use_is_named(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            result = self.call("view", self.write(SWING), "--no-browser", "--port", str(other.getsockname()[1]))
        self.assertEqual(result.code, BAD_INPUT, result)
        self.assertIn("in use", result.problems["--port"][0])

    def test_bad_input_is_refused_before_anything_is_served(self):
        scene = self.write(SWING)
        self.run_scene(SWING)
        for arguments, word in ((("none.json",), "no such file"), ((scene, "out"), "cannot be compared"), (("out", "--set", "/a=1"), "recorded"),
                                (("out", scene), "HDF5"), ((scene, "--html", "x.html"), "osier run")):
            result = self.call("view", *arguments, "--no-browser")
            self.assertEqual(result.code, BAD_INPUT, result)
            self.assertIn(word, result.err)


class Curves(ViewTest):
    def test_a_curve_file_is_shown_as_it_is(self):
        self.write("0 0 0\n1 0 0\n1 1 0\n", "line.csv")
        with self.view("line.csv") as (_, port, token):
            page = Page(port, token)
            page.ask({"type": "seek", "frame": 0})
            page.send({"type": "ready"})
            header, arrays = page.until("frame")
            numpy.testing.assert_allclose(arrays["position"].reshape(-1, 3), [[0, 0, 0], [1, 0, 0], [1, 1, 0]], atol=1e-6)
            self.assertEqual((page.hello["mode"], page.models[0][0]["frames"]), ("playback", 1))


class Live(ViewTest):
    def test_frames_are_those_of_the_simulation(self):
        self.run_scene(SWING, "--frames", "5")
        data = self.trajectory()
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page = Page(port, token)
            start, status = page.look()
            hello, (model, arrays) = page.hello, page.models[0]
            self.assertEqual((hello["protocol"], hello["mode"], hello["is_static"]), (1, "live", False))
            self.assertEqual(hello["steps_per_frame"], 2)
            self.assertEqual([f["type"] for f in hello["forces"]], ["gravity", "drag"])
            self.assertEqual(hello["solver"], "automatic")
            self.assertLessEqual({"automatic", "direct", "stable_cosserat", "newton"}, set(hello["solvers"]))
            self.assertEqual((model["live"], model["frames"], model["rod_names"], model["material_names"]), (True, None, ["a"], ["m"]))
            self.assertEqual(model["up"], [0, 1, 0])
            self.assertEqual(arrays["segments"].tolist(), [0, 1, 1, 2, 2, 3, 3, 4])
            numpy.testing.assert_array_equal(arrays["radius"], data["radius"].astype("f4"))
            self.assertEqual(arrays["joints"].tolist(), [0, 1, 1, 2, 2, 3])
            numpy.testing.assert_array_equal(start, data["position"][0].astype("f4"))
            for frame in range(1, 6):
                self.assertEqual(page.ask({"type": "step"})["type"], "ack")
                position, status = page.look()
                self.assertEqual((status["frame"], status["playing"], status["error"]), (frame, False, None))
                self.assertAlmostEqual(status["time"], data["time"][frame], places=12)
                numpy.testing.assert_array_equal(position, data["position"][frame].astype("f4"))
                numpy.testing.assert_array_equal(page.frames[-1][1]["frame"].reshape(-1, 4), data["frame"][frame].astype("f4"))
                self.assertEqual(page.frames[-1][1]["joint_moment"].size, 9)
            self.assertAlmostEqual(status["total"], status["kinetic"] + status["stretch_shear"] + status["bend_twist"] + status["external"])
            self.assertGreater(status["residual_relative"], 0)

    def test_play_advances_pause_holds_and_reset_begins_again(self):
        with self.view(self.write(SWING)) as (_, port, token):
            page = Page(port, token)
            seen = [page.look()[1]["frame"] for _ in range(6)]
            self.assertEqual(seen[0], 0, "it begins when somebody looks")
            self.assertEqual(seen, sorted(seen))
            self.assertGreater(seen[-1], 2)
            page.ask({"type": "pause"})
            held = page.look()[1]
            self.assertFalse(held["playing"])
            page.send({"type": "ready"})
            self.assertFalse(select.select([page.socket], [], [], 0.3)[0], "nothing new to see, and yet something came")
            page.ask({"type": "reset"})
            page.until("status")
            self.assertEqual((page.status["frame"], page.status["time"]), (0, 0))

    def test_speed_is_simulated_time_over_real_time(self):
        with self.view(self.write(SWING)) as (_, port, token):
            page = Page(port, token)
            page.look()
            for speed in (0.5, 2):
                page.ask({"type": "speed", "value": speed})
                first, start = page.look()[1], time.monotonic()
                time.sleep(0.8)
                last = page.look()[1]
                self.assertAlmostEqual((last["time"] - first["time"]) / (time.monotonic() - start), speed, delta=0.25 * speed)
            page.ask({"type": "speed", "value": 0})
            first = page.look()[1]["time"]
            time.sleep(0.5)
            self.assertGreater(page.look()[1]["time"] - first, 2, "as fast as possible")
            self.assertIn("negative", page.ask({"type": "speed", "value": -1})["message"])

    def test_a_drag_moves_the_vertex_to_the_mouse(self):
        target = [0.6, 0.5, 0.3]
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page = Page(port, token)
            before = numpy.linalg.norm(page.look()[0][4] - target)
            self.assertEqual(page.ask({"type": "drag", "vertex": 4, "to": target})["type"], "ack")
            for _ in range(50):
                page.ask({"type": "step"})
            self.assertLess(numpy.linalg.norm(page.look()[0][4] - target), 0.3 * before)
            page.ask({"type": "release"})
            for _ in range(100):
                page.ask({"type": "step"})
            self.assertGreater(numpy.linalg.norm(page.look()[0][4] - target), 0.5 * before)
            for bad, word in (({"vertex": 0, "to": target}, "held"), ({"vertex": 99, "to": target}, "no vertex 99"), ({"vertex": 4}, "missing"),
                              ({"vertex": 4, "to": [1, 2]}, "three"), ({"vertex": "x", "to": target}, "number")):
                answer = page.ask({"type": "drag", **bad})
                self.assertEqual(answer["type"], "error", bad)
                self.assertIn(word, answer["message"])

    def test_set_changes_the_motion_and_keeps_the_state(self):
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page = Page(port, token)
            for _ in range(5):
                page.ask({"type": "step"})
            before, status = page.look()
            names = {p["pointer"]: p for p in page.hello["parameters"]}
            self.assertEqual(names["/materials/m/bend_twist"]["value"], 1)
            self.assertLess(names["/materials/m/bend_twist"]["min"], 0.5)
            self.assertEqual(names["/forces/1/rate"]["unit"], "1/s")
            # Gravity is the scene's default, a list that is not written down.
            self.assertEqual(page.ask({"type": "set", "pointer": "/forces/0/acceleration/1", "value": 9.81})["type"], "ack")
            after, status = page.look()
            numpy.testing.assert_array_equal(before, after, "the state is carried over")
            self.assertEqual((status["frame"], status["note"]), (5, None))
            self.assertEqual({p["pointer"]: p["value"] for p in page.hello["parameters"]}["/forces/0/acceleration/1"], 9.81)
            for _ in range(60):
                page.ask({"type": "step"})
            self.assertGreater(page.look()[0][4][1], 0, "upwards now")
            self.assertEqual(page.ask({"type": "set", "pointer": "/materials/m/radius", "value": 0.02})["type"], "ack")
            page.look()
            numpy.testing.assert_array_equal(page.models[0][1]["radius"], numpy.full(5, 0.02, "f4"))

    def test_numbers_of_structures_can_be_set(self):
        net = {"structures": [{"type": "net", "nx": 3, "ny": 2}], "constraints": [{"type": "pin", "vertices": 0}], "forces": [{"type": "gravity"}],
               "analysis": {"type": "dynamic", "duration": 1, "step": 0.005}}
        with self.view(self.write(net), "--paused") as (_, port, token):
            page = Page(port, token)
            for _ in range(3):
                page.ask({"type": "step"})
            before, _ = page.look()
            names = {p["pointer"]: p for p in page.hello["parameters"]}
            self.assertEqual((names["/structures/0/radius"]["value"], names["/structures/0/radius"]["unit"]), (0.005, "m"))  # a default
            # Made of something else, it goes on.
            for pointer, value in (("/structures/0/radius", 0.01), ("/structures/0/stretch_shear", 900)):
                self.assertEqual(page.ask({"type": "set", "pointer": pointer, "value": value})["type"], "ack")
            after, status = page.look()
            numpy.testing.assert_array_equal(before, after)
            self.assertEqual((status["frame"], status["note"]), (3, None))
            numpy.testing.assert_allclose(page.models[0][1]["radius"], 0.01)
            # Another size, or another graph, starts again.
            for pointer, value, word in (("/structures/0/cell", 0.2, "another shape"), ("/structures/0/nx", 5, "another")):
                page.ask({"type": "step"})
                self.assertEqual(page.ask({"type": "set", "pointer": pointer, "value": value})["type"], "ack")
                positions, status = page.look()
                self.assertEqual(status["frame"], 0)
                self.assertIn(word, status["note"])
            self.assertEqual(len(positions), 6 * 3)
            numpy.testing.assert_allclose(positions.max(axis=0) - positions.min(axis=0), [1, 0, 0.4], atol=1e-6)

    def test_frames_and_moments_come_to_those_who_want_them(self):
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page, other = Page(port, token), Page(port, token)
            for wants, names in (({"frame": False, "joint_moment": False}, {"position", "alive"}),
                                 ({"frame": True, "joint_moment": False}, {"position", "alive", "frame"}),
                                 ({"frame": True, "joint_moment": True}, {"position", "alive", "frame", "joint_moment"})):
                self.assertEqual(page.ask({"type": "want", **wants})["type"], "ack")
                page.look()  # nothing has moved: the frame comes again because more of it is wanted
                self.assertEqual(set(page.frames[-1][1]), names)
            page.ask({"type": "want", "frame": False, "joint_moment": False})
            page.send({"type": "ready"})
            self.assertFalse(select.select([page.socket], [], [], 0.3)[0], "less is no reason to send it again")
            other.look()
            self.assertEqual(set(other.frames[-1][1]), {"position", "alive", "frame", "joint_moment"})
            self.assertIn("missing", page.ask({"type": "want", "frame": True})["message"])

    def test_of_many_settings_at_once_the_last_one_counts(self):
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page = Page(port, token)
            page.look()
            values = [0.5 + 0.025 * i for i in range(200)]
            for i, value in enumerate(values):
                page.send({"type": "set", "pointer": "/forces/1/rate", "value": value, "id": "s%d" % i})
            acknowledged = [page.until("ack")["id"] for _ in values]
            self.assertEqual(acknowledged, ["s%d" % i for i in range(200)])
            page.look()
            self.assertEqual([p["value"] for p in page.hello["parameters"] if p["pointer"] == "/forces/1/rate"], [values[-1]])

    def test_a_bad_value_is_answered_with_the_remedy_and_changes_nothing(self):
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page = Page(port, token)
            page.look()
            for pointer, value, word in (("/materials/m/bend_twist", -1, "use a value of at least 0"), ("/forces/1/rate", -3, "at least 0"),
                                         ("/rods/0/segments", 9, "hello"), ("/materials/m/bend_twist", "x", "number"),
                                         ("/materials/nix/young", 1, "hello")):
                answer = page.ask({"type": "set", "pointer": pointer, "value": value})
                self.assertEqual(answer["type"], "error", pointer)
                self.assertIn(word, answer["message"])
                self.assertIn(pointer if "at least" in word else "", answer["message"])
            self.assertEqual(page.ask({"type": "step"})["type"], "ack")

    def test_the_announced_ranges_hold_for_every_set(self):
        scene = {**SWING, "solver": {"name": "stable_cosserat", "method": "sweep", "iterations": 4}}
        with self.view(self.write(scene), "--paused") as (_, port, token):
            page = Page(port, token)
            page.look()
            for pointer, value, word in (("/solver/iterations", 2_000_000_000, "at most"), ("/analysis/step", 2e-11, "at least"),
                                         ("/analysis/step", 1e300, "at most"), ("/materials/m/bend_twist", 1e9, "at most")):
                answer = page.ask({"type": "set", "pointer": pointer, "value": value})
                self.assertEqual(answer["type"], "error", pointer)
                self.assertRegex(answer["message"], "%s: .*%s" % (pointer, word))
            self.assertEqual(page.ask({"type": "step"})["type"], "ack", "it still answers")
            names = {p["pointer"]: p for p in page.hello["parameters"]}
            for pointer in ("/analysis/step", "/solver/iterations", "/materials/m/stretch_shear", "/forces/0/acceleration/1"):
                for end in ("min", "max"):
                    answer = page.ask({"type": "set", "pointer": pointer, "value": names[pointer][end]})
                    self.assertEqual(answer["type"], "ack", (pointer, answer))

    def test_ranges_do_not_creep_from_solver_to_solver(self):
        scene = {**SWING, "solver": {"name": "stable_cosserat", "method": "sweep", "iterations": 4}}
        with self.view(self.write(scene), "--paused") as (_, port, token):
            page = Page(port, token)
            page.look()

            def most():
                return {p["pointer"]: p["max"] for p in page.hello["parameters"]}
            first = most()
            for _ in range(3):
                page.ask({"type": "set", "pointer": "/solver/iterations", "value": most()["/solver/iterations"]})
                for name in ("direct", "stable_cosserat"):
                    page.ask({"type": "solver", "name": name})
                    page.look()
            self.assertEqual(most(), first)

    def test_out_of_memory_is_an_answer(self):
        """The limit is what it has; then everything it had before goes on."""
        net = {"structures": [{"type": "net", "nx": 150, "ny": 150}], "constraints": [{"type": "pin", "vertices": 0}], "forces": [{"type": "gravity"}],
               "analysis": {"type": "dynamic", "duration": 1, "step": 0.005}}
        if SANITISED:
            self.skipTest("a sanitised program reserves terabytes")
        with self.view(self.write(net), "--paused", "--threads", "1") as (process, port, token):
            page = Page(port, token)
            page.look()
            pages = int(pathlib.Path("/proc/%d/statm" % process.pid).read_text().split()[0])
            resource.prlimit(process.pid, resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 20), resource.RLIM_INFINITY))
            said = [page.ask(command) for command in ({"type": "set", "pointer": "/structures/0/stretch_shear", "value": 600},
                                                      {"type": "solver", "name": "newton"}, {"type": "reset"}, {"type": "step"}, {"type": "reset"})]
            errors = [answer["message"] for answer in said if answer["type"] == "error"]
            self.assertGreaterEqual(len(errors), 2, said)
            for message in errors:
                self.assertRegex(message, "memory|GB are free")
                self.assertNotIn("std::", message)
            page.send({"type": "play"})
            time.sleep(1)
            self.assertIsNone(process.poll())
            resource.prlimit(process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            self.assertEqual(page.ask({"type": "pause"})["type"], "ack")
            self.assertEqual(page.ask({"type": "set", "pointer": "/structures/0/stretch_shear", "value": 700})["type"], "ack")
            self.assertEqual(page.ask({"type": "step"})["type"], "ack")

    def test_ctrl_c_does_not_wait_for_a_step_that_takes_hours(self):
        scene = {**SWING, "solver": {"name": "stable_cosserat", "method": "sweep", "iterations": 2_000_000_000}}
        with self.view(self.write(scene)) as (_, port, token):
            page = Page(port, token)
            page.look()
            page.send({"type": "step"})
            time.sleep(0.5)

    def test_forces_can_be_switched(self):
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            page = Page(port, token)
            start, _ = page.look()
            self.assertEqual(page.ask({"type": "force", "pointer": "/forces/0", "on": False})["type"], "ack")
            for _ in range(10):
                page.ask({"type": "step"})
            numpy.testing.assert_allclose(page.look()[0], start, atol=1e-6)
            self.assertEqual([f["on"] for f in page.hello["forces"]], [False, True])
            page.ask({"type": "set", "pointer": "/forces/1/rate", "value": 1})
            page.ask({"type": "reset"})
            for _ in range(10):
                page.ask({"type": "step"})
            numpy.testing.assert_allclose(page.look()[0], start, atol=1e-6, err_msg="it stays off")
            page.ask({"type": "force", "pointer": "/forces/0", "on": True})
            for _ in range(10):
                page.ask({"type": "step"})
            self.assertLess(page.look()[0][4][1], -0.001)
            self.assertIn("not a force", page.ask({"type": "force", "pointer": "/forces/7", "on": True})["message"])

    def test_the_solver_can_be_switched_while_it_runs(self):
        with self.view(self.write(SWING)) as (_, port, token):
            page = Page(port, token)
            frame = page.look()[1]["frame"]
            for name in ("newton", "stable_cosserat", "direct", "automatic", "stable_cosserat"):
                self.assertIn(name, page.hello["solvers"])
                self.assertEqual(page.ask({"type": "solver", "name": name})["type"], "ack", name)
                status = page.look()[1]
                self.assertGreaterEqual(status["frame"], frame)
                self.assertIsNone(status["note"])
                self.assertEqual(page.hello["solver"], name)
                frame = status["frame"]
            answer = page.ask({"type": "solver", "name": "newtonn"})
            self.assertIn("did you mean `newton`", answer["message"])

    def test_a_failing_step_pauses_and_says_why(self):
        scene = beam(forces=[{"type": "force", "vertices": 4, "force": {"keys": [[0, [0, 0, 0]], [0.1, [0, 0, 0]], [0.2, [1e300, 1e300, 0]]]}}],
                     constraints=[{"type": "pin", "vertices": 0}])
        with self.view(self.write(scene)) as (_, port, token):
            page = Page(port, token)
            deadline = time.monotonic() + 20
            while not page.look()[1]["error"]:
                self.assertLess(time.monotonic(), deadline)
            self.assertIn("not finite", page.status["error"])
            self.assertFalse(page.status["playing"])
            self.assertTrue(numpy.isfinite(page.frames[-1][1]["position"]).all())
            page.ask({"type": "reset"})
            status = page.look()[1]
            self.assertEqual((status["error"], status["frame"]), (None, 0))

    def test_statics_are_shown_load_step_by_load_step(self):
        scene = beam(forces=[{"type": "gravity"}], constraints=[{"type": "clamp", "vertices": 0}], analysis={"type": "static", "load_steps": 3})
        with self.view(self.write(scene)) as (_, port, token):
            page = Page(port, token)
            while page.look()[1]["playing"]:
                pass
            self.assertEqual(page.status["frame"], 3)
            self.assertIn("complete", page.status["note"])
            self.assertTrue(page.hello["is_static"])
            self.assertIn("statics", page.ask({"type": "drag", "vertex": 4, "to": [0, 0, 0]})["message"].replace("static analysis", "statics"))


class Clients(ViewTest):
    """Whatever a client does, the simulation goes on."""

    def goes_on(self, port, token):
        page = Page(port, token)
        first = page.look()[1]["frame"]
        deadline = time.monotonic() + 20
        while page.look()[1]["frame"] < first + 5:
            self.assertLess(time.monotonic(), deadline, "the simulation stands still")
        page.close()

    def resident(self, process):
        return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path("/proc/%d/status" % process.pid).read_text()).group(1)) * 1024

    def test_garbage_is_answered_and_survived(self):
        with self.view(self.write(SWING)) as (_, port, token):
            page = Page(port, token)
            page.look()
            for data, opcode, word in ((b"\x00\x01\x02", 2, "binary"), (b"{", 1, "JSON"), (b"[1]", 1, "JSON"), (b"", 1, "JSON"), (b"null", 1, "JSON"),
                                       (b"[" * 20000, 1, "nested"), (b"{\"type\": 7}", 1, "type"), (b"{}", 1, "type"),
                                       (b"{\"type\": \"paly\"}", 1, "did you mean `play`"), (b"{\"type\": \"seek\", \"frame\": 1}", 1, "step or reset")):
                page.send_raw(data, opcode)
                self.assertIn(word, page.until("error")["message"], data[:40])
            self.assertEqual(page.ask({"type": "step"})["type"], "ack")
            self.assertEqual(page.ask({"type": "play"})["type"], "ack")
            for data, opcode in ((b"x" * 100000, 1), (b"\xff\xfe", 1), (b"x", 5)):
                bad = Page(port, token)
                with contextlib.suppress(OSError):
                    bad.send_raw(data, opcode)
                with self.assertRaises(OSError):
                    while True:
                        bad.receive()
                bad.close()
            self.goes_on(port, token)

    def test_clients_that_vanish_do_not_matter(self):
        with self.view(self.write(SWING)) as (_, port, token):
            for i in range(40):
                page = Page(port, token)
                page.send({"type": "ready"})
                if i % 2:
                    page.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a goodbye
                page.close()
            half = socket.create_connection(("127.0.0.1", port))
            half.sendall(b"GET /?tok")
            half.close()
            self.goes_on(port, token)

    def test_too_many_connections_are_turned_away_and_leave_room_again(self):
        with self.view(self.write(SWING)) as (_, port, token):
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
            time.sleep(0.3)
            with self.assertRaises((OSError, AssertionError)):
                Page(port, token)
            for connection in idle:
                connection.close()
            time.sleep(0.3)
            self.goes_on(port, token)

    def test_a_client_that_stops_reading_costs_a_frame_of_memory_and_no_time(self):
        scene = beam(forces=[{"type": "gravity"}], constraints=[{"type": "pin", "vertices": 0}])
        scene["rods"][0].update(segments=40000)
        scene["materials"]["m"].update(stretch_shear=10)
        scene["solver"] = {"name": "stable_cosserat", "iterations": 1}
        with self.view(self.write(scene)) as (process, port, token):
            good = Page(port, token)
            good.look()
            good.ask({"type": "speed", "value": 0})
            for _ in range(5):
                good.look()
            before, frame = self.resident(process), good.status["frame"]
            deaf = [Page(port, token, receive_buffer=4096) for _ in range(4)]
            for page in deaf:
                page.socket.settimeout(0.2)
                with contextlib.suppress(TimeoutError):  # at some point the server stops listening to it, too
                    for i in range(3000):
                        page.send({"type": "ready"})
                        page.send({"type": "bogus", "id": i})
            deadline = time.monotonic() + 30
            while good.look()[1]["frame"] < frame + 20:
                self.assertLess(time.monotonic(), deadline, "the simulation stands still")
            # A frame is 2.2 MB: model, frame and what is on its way for each of the four, and no more. (Sanitizers keep what is freed.)
            grown = self.resident(process) - before
            if not SANITISED:
                self.assertLess(grown, 4 * 4 * 2.5e6, "%.1f MB more" % (grown / 1e6))
            for page in deaf:
                page.close()

    def test_two_pages_see_the_same_simulation(self):
        with self.view(self.write(SWING), "--paused") as (_, port, token):
            one, two = Page(port, token), Page(port, token)
            one.look(), two.look()
            one.ask({"type": "step"})
            numpy.testing.assert_array_equal(one.look()[0], two.look()[0])
            self.assertEqual((one.status["frame"], two.status["frame"]), (1, 1))
            one.ask({"type": "set", "pointer": "/forces/1/rate", "value": 0.5})
            two.look()
            self.assertIn(0.5, [p["value"] for p in two.hello["parameters"] if p["pointer"] == "/forces/1/rate"])


class Playback(ViewTest):
    def test_any_frame_of_two_runs(self):
        self.run_scene(SWING, folder="one")
        self.run_scene(SWING, "--set", "/rods/0/segments=6", "--set", "/analysis/fps=25", folder="two")
        runs = [self.trajectory("one"), self.trajectory("two")]
        with self.view("one", "two/trajectory.h5") as (_, port, token):
            page = Page(port, token)
            page.until("hello")
            for slot in (0, 1):
                header, arrays = page.until("model")
                self.assertEqual((header["slot"], header["live"], header["frames"]), (slot, False, len(runs[slot]["time"])))
                self.assertEqual(header["name"], ("one", "two")[slot], "runs of one scene go by their folders")
                numpy.testing.assert_array_equal(arrays["times"], runs[slot]["time"])
            self.assertEqual((page.hello["mode"], page.hello["slots"]), ("playback", 2))
            last = [len(r["time"]) - 1 for r in runs]
            for slot, frame in ((0, 0), (1, 0), (0, last[0]), (1, last[1]), (0, 2), (1, 1), (0, 2)):
                page.send({"type": "ready"})
                page.send({"type": "seek", "slot": slot, "frame": frame})
                header, arrays = page.until("frame")
                self.assertEqual((header["slot"], header["index"], header["time"]), (slot, frame, runs[slot]["time"][frame]))
                numpy.testing.assert_array_equal(arrays["position"].reshape(-1, 3), runs[slot]["position"][frame].astype("f4"))
            for command, word in (({"type": "seek", "frame": last[0] + 1}, "use 0 to %d" % last[0]), ({"type": "seek", "slot": 2, "frame": 0}, "no slot 2"),
                                  ({"type": "seek", "frame": -1}, "no frame"), ({"type": "seek", "frame": 0.5}, "whole"), ({"type": "seek"}, "missing"),
                                  ({"type": "play"}, "recorded")):
                answer = page.ask(command)
                self.assertEqual(answer["type"], "error", command)
                self.assertIn(word, answer["message"])

    def test_frames_in_a_row_are_those_that_were_asked_for(self):
        """The next frame is read ahead; what is asked for counts, and what of it is wanted now."""
        self.run_scene(SWING)
        run = self.trajectory()
        last = len(run["time"]) - 1
        self.assertEqual(last, 5)
        with self.view("out") as (_, port, token):
            page = Page(port, token)
            page.until("model")
            for frames, parts in (((0, 1, 2, 2, 3), False), ((4, 5, 0, 1), True), ((3, 5, 2, 4, last, 0, 1), True), ((2, 3, 1), False)):
                page.send({"type": "want", "frame": parts, "joint_moment": False})
                for frame in frames:
                    page.send({"type": "ready"})
                    page.send({"type": "seek", "frame": frame})
                    header, arrays = page.until("frame")
                    self.assertEqual((header["index"], "frame" in arrays), (frame, parts))
                    numpy.testing.assert_array_equal(arrays["position"].reshape(-1, 3), run["position"][frame].astype("f4"))
                    if parts:
                        numpy.testing.assert_array_equal(arrays["frame"].reshape(-1, 4), run["frame"][frame].astype("f4"))
                    time.sleep(0.02)  # time to read ahead

    def test_recorded_runs_bring_materials_rest_shape_energies_and_their_extent(self):
        self.run_scene(SWING)
        run, table = self.trajectory(), self.table("diagnostics.csv")
        with self.view("out") as (_, port, token):
            page = Page(port, token)
            header, arrays = page.until("model")
            self.assertEqual(header["material_names"], ["m"])
            numpy.testing.assert_array_equal(arrays["segment_material"], numpy.zeros(len(arrays["segments"]) // 2))
            numpy.testing.assert_allclose(arrays["joint_rest"].reshape(-1, 4), [[0, 0, 0, 1]] * (len(arrays["joints"]) // 2), atol=1e-7)
            energy = arrays["energy"].reshape(-1, 4)
            for k, name in enumerate(("kinetic", "stretch_shear", "bend_twist", "external")):
                numpy.testing.assert_allclose(energy[:, k], table[name], rtol=1e-6, atol=1e-30)
            numpy.testing.assert_allclose(arrays["residual_relative"], table["residual_relative"], rtol=1e-6)
            self.assertEqual((arrays["compute_ms"][0], arrays["iterations"][0]), (0, 0))
            self.assertGreater(arrays["compute_ms"][1:].min(), 0)
            points, all_positions = arrays["landmarks"].reshape(-1, 3), run["position"].reshape(-1, 3).astype("f4")
            numpy.testing.assert_array_equal(points.min(axis=0), all_positions.min(axis=0))
            numpy.testing.assert_array_equal(points.max(axis=0), all_positions.max(axis=0))

    def test_only_the_newest_wish_is_answered(self):
        self.run_scene(SWING)
        with self.view("out") as (_, port, token):
            page = Page(port, token)
            for frame in (1, 2, 3):
                self.assertEqual(page.ask({"type": "seek", "frame": frame})["type"], "ack")
            page.send({"type": "ready"})
            self.assertEqual(page.until("frame")[0]["index"], 3)
            page.send({"type": "ready"})
            self.assertFalse(select.select([page.socket], [], [], 0.3)[0])


class Html(ViewTest):
    def test_a_page_in_itself_or_a_word_on_how_to_get_it(self):
        result = self.call("run", self.write(SWING), "-o", "out", "--html", "out/run.html")
        if "built without the viewer" in result.err:
            self.assertEqual(result.code, BAD_INPUT, result)
            self.assertIn("nodejs", result.err)
            self.assertFalse((self.folder / "out").exists())
            return
        self.assertEqual(result.code, DONE, result)
        again = self.call("view", "out", "--html", "again.html")
        self.assertEqual(again.code, DONE, again)
        data = self.trajectory()
        for name in ("out/run.html", "again.html"):
            html = (self.folder / name).read_text(encoding="utf-8")
            text = re.search(r'<script id="osier-recording"[^>]*>([^<]*)</script>', html).group(1)
            raw, packets, at = gzip.decompress(base64.b64decode(text, validate=True)), [], 0
            while at < len(raw):
                size, = struct.unpack_from("<I", raw, at)
                packets.append(decode(raw[at + 4:at + 4 + size]))
                at += 4 + size
            self.assertEqual([p[0]["type"] for p in packets], ["model"] + ["frame"] * len(data["time"]))
            position = numpy.zeros(15, "u2")
            for i, (header, arrays) in enumerate(packets[1:]):
                position = position + arrays["position"] if header["delta"] else arrays["position"]
                shown = numpy.array(header["origin"]) + header["scale"] * position.astype("f8").reshape(-1, 3)
                self.assertLessEqual(abs(shown - data["position"][i]).max(), 0.5000001 * header["scale"])
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"out", "scene.json", "again.html"})
        self.assertEqual({p.name for p in (self.folder / "out").glob("*.tmp")}, set())
        (self.folder / "printed.html").symlink_to("/dev/stdout")
        printed = self.call("view", "out", "--html", "printed.html")
        self.assertEqual(printed.code, DONE, printed)
        self.assertIn((self.folder / "again.html").read_text(encoding="utf-8"), printed.out)
        self.assertTrue((self.folder / "printed.html").is_symlink())
        refused = self.call("run", self.write(SWING), "-o", "other", "--html", "nowhere/run.html")
        self.assertEqual(refused.code, BAD_INPUT, refused)
        self.assertFalse((self.folder / "other").exists())


if __name__ == "__main__":
    main()

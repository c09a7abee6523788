// Speaks the viewer's protocol with rods that move by a formula: for developing and testing the page without the program.
// As a program: node tests/mock_server.mjs [--port N] [--rods N] [--segments N] [--playback FRAMES]
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { MockRods } from "./packets.mjs";

const PAGE = new URL("../dist/viewer.html", import.meta.url);

export const PARAMETERS = [
  { pointer: "/materials/steel/young", label: "Young's modulus", group: "steel", unit: "Pa", value: 2e9, min: 1e6, max: 1e12, log: true },
  { pointer: "/materials/steel/tau", label: "Damping time", group: "steel", unit: "s", value: 1e-3, min: 1e-5, max: 1e-1, log: true },
  { pointer: "/materials/steel/radius", label: "Radius", group: "steel", unit: "m", value: 0.012, min: 0.001, max: 0.05, log: false },
  { pointer: "/forces/1/rate", label: "Drag rate", group: "forces", unit: "1/s", value: 0.5, min: 0, max: 10, log: false },
];

export async function startMock({ port = 0, token = "mock", rods = 3, segments = 30, playback = 0 } = {}) {
  const parameters = structuredClone(PARAMETERS);
  const shape = new MockRods({ rods, segments });
  const log = []; // every command that came in
  const sockets = new Set();
  const state = { playing: true, speed: 1, frame: 0, serial: 0, stiffness: 1, gravity: true, pull: null, error: null, refuse: false, alive: Array(shape.segmentCount).fill(1) };
  const tipAt = (frame) => (state.gravity ? -0.25 : 0) + (0.3 / state.stiffness) * Math.sin(0.12 * frame);
  const times = Array.from({ length: playback }, (_, i) => i / 30);

  const http = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname !== "/" || url.searchParams.get("token") !== token) return response.writeHead(403).end("wrong token");
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(readFileSync(PAGE));
  });
  const web = new WebSocketServer({ server: http, path: "/ws" });

  const hello = () => JSON.stringify({
    type: "hello", protocol: 1, mode: playback ? "playback" : "live", version: "0.1.0", scene: "mock", time_step: 0.001, steps_per_frame: 33, fps: 30, is_static: false,
    parameters, forces: [{ pointer: "/forces/0", type: "gravity", on: true }, { pointer: "/forces/1", type: "drag", on: true }],
    solvers: ["automatic", "direct", "stable_cosserat", "newton"], solver: "automatic",
  });

  const pulled = () => {
    if (!state.pull) return null;
    const at = shape.positions(tipAt(state.frame)).subarray(3 * state.pull.vertex, 3 * state.pull.vertex + 3);
    return { vertex: state.pull.vertex, by: [0, 1, 2].map((k) => 0.9 * (state.pull.to[k] - at[k])) };
  };
  const send = (socket) => {
    if (playback || !socket.wants || socket.sent === state.serial) return;
    socket.wants = false;
    socket.sent = state.serial;
    const time = state.frame / 30;
    socket.send(shape.frame(state.frame, time, tipAt(state.frame), { pull: pulled(), alive: state.alive }));
    const swing = Math.sin(0.12 * state.frame);
    socket.send(JSON.stringify({
      type: "status", time, frame: state.frame, playing: state.playing, speed: state.speed, ms_per_frame: 4 + Math.sin(0.3 * state.frame), kinetic: 0.5 * (1 - swing * swing),
      stretch_shear: 0.02, bend_twist: 0.5 * swing * swing, external: 0.1, total: 0.62, residual_relative: 10 ** (-6 + swing), iterations: 4, vertices_alive: shape.vertexCount, error: state.error,
    }));
  };
  // Every change makes a frame worth sending, also while nothing moves.
  const changed = () => {
    ++state.serial;
    for (const socket of sockets) send(socket);
  };
  const advance = () => {
    ++state.frame;
    changed();
  };
  const timer = setInterval(() => state.playing && !playback && advance(), 33);

  const commands = {
    play: () => ((state.playing = true), changed()),
    pause: () => ((state.playing = false), changed()),
    step: () => ((state.playing = false), advance()),
    reset: () => ((state.frame = -1), advance()),
    speed: (c) => (state.speed = c.value),
    drag: (c) => (state.pull = c),
    release: () => (state.pull = null),
    force: (c) => (state.gravity = c.on),
    solver: () => {},
    want: () => {},
    set: (c, socket) => {
      const parameter = parameters.find((p) => p.pointer === c.pointer);
      if (!parameter || state.refuse) throw new Error(`${c.pointer}: cannot be changed now`);
      parameter.value = c.value;
      if (c.pointer.endsWith("young")) state.stiffness = c.value / 2e9;
      socket.send(hello());
    },
    seek: (c, socket) => socket.send(shape.frame(c.frame, times[c.frame], -0.5 * (c.frame / playback), { slot: c.slot ?? 0 })),
    ready: (_, socket) => ((socket.wants = true), send(socket)),
  };

  web.on("connection", (socket, request) => {
    if (new URL(request.url, "http://localhost").searchParams.get("token") !== token) return socket.close(1008, "wrong token");
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("message", (data) => {
      const command = JSON.parse(String(data));
      log.push(command);
      try {
        if (!commands[command.type]) throw new Error(`unknown command ${command.type}`);
        commands[command.type](command, socket);
        if (command.id !== undefined) socket.send(JSON.stringify({ type: "ack", id: command.id }));
      } catch (error) {
        socket.send(JSON.stringify({ type: "error", id: command.id, message: error.message }));
      }
    });
    socket.send(hello());
    socket.send(shape.model(playback ? { times } : {}));
  });
  await new Promise((done) => http.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${http.address().port}/?token=${token}`, log, state, shape, sockets,
    stop: () => {
      clearInterval(timer);
      for (const socket of sockets) socket.terminate();
      return new Promise((done) => http.close(done));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => {
    const i = process.argv.indexOf(`--${name}`);
    return i < 0 ? otherwise : Number(process.argv[i + 1]);
  };
  const server = await startMock({ port: option("port", 0), rods: option("rods", 3), segments: option("segments", 30), playback: option("playback", 0) });
  console.log(server.url);
}

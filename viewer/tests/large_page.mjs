// A page with a quarter of a million vertices. Without a graphics card drawing calls are counted and dropped, so that what is left is
// the page's own work; on a card they are drawn. Frames come from a stand-in for the WebSocket inside the page.
import { readFileSync } from "node:fs";
import { launch } from "./browser.mjs";

const PAGE = new URL("../dist/viewer.html", import.meta.url);

export const RODS = 7813, PER_ROD = 32; // 250,016 vertices

/** Runs inside the page, before its own script. */
function inside({ rods, perRod, card }) {
  const n = perRod - 1, vertices = rods * perRod, segments = rods * n, joints = rods * (n - 1);
  const count = (window.bench = { triangles: 0, bytes: 0, calls: 0, receive: [], draw: [], wants: null, received: 0 });

  const gl = WebGL2RenderingContext.prototype;
  for (const name of ["drawElements", "drawElementsInstanced", "drawArrays", "drawArraysInstanced"]) {
    const plain = gl[name], elements = name.startsWith("drawElements");
    gl[name] = function (...args) {
      const instances = name.endsWith("Instanced") ? args[elements ? 4 : 3] : 1;
      count.triangles += (args[elements ? 1 : 2] / 3) * instances;
      ++count.calls;
      if (card) plain.apply(this, args);
    };
  }
  for (const [name, at] of [["texSubImage2D", 8], ["texImage2D", 8], ["bufferSubData", 2], ["bufferData", 1]]) {
    const plain = gl[name];
    gl[name] = function (...args) {
      const data = args[at];
      if (ArrayBuffer.isView(data)) count.bytes += name === "bufferSubData" && args[4] ? args[4] * data.BYTES_PER_ELEMENT : data.byteLength;
      return plain.apply(this, args);
    };
  }

  const packet = (header, arrays) => {
    const types = { f32: Float32Array, u32: Uint32Array, u8: Uint8Array };
    let json = JSON.stringify({ ...header, arrays: arrays.map(([name, data]) => ({ name, type: Object.keys(types).find((t) => data instanceof types[t]), count: data.length })) });
    json += " ".repeat((4 - (json.length % 4)) % 4);
    const size = arrays.reduce((sum, [, data]) => sum + Math.ceil(data.byteLength / 4) * 4, 8 + json.length);
    const out = new Uint8Array(size);
    new DataView(out.buffer).setUint32(0, 0x5249534f, true);
    new DataView(out.buffer).setUint32(4, json.length, true);
    out.set(new TextEncoder().encode(json), 8);
    let at = 8 + json.length;
    for (const [, data] of arrays) {
      out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
      at += Math.ceil(data.byteLength / 4) * 4;
    }
    return out.buffer;
  };
  const model = () => {
    const ends = new Uint32Array(2 * segments), rod = new Uint32Array(segments), pairs = new Uint32Array(2 * joints), rest = new Float32Array(4 * joints);
    for (let r = 0, s = 0, j = 0; r < rods; ++r)
      for (let i = 0; i < n; ++i, ++s) {
        ends[2 * s] = r * perRod + i;
        ends[2 * s + 1] = r * perRod + i + 1;
        rod[s] = r;
        if (i) (pairs[2 * j] = s - 1), (pairs[2 * j + 1] = s), (rest[4 * j + 3] = 1), ++j;
      }
    return packet({ type: "model", slot: 0, name: "hair", live: true, units: "SI", rod_names: ["hair"], material_names: [], up: [0, 1, 0] }, [
      ["segments", ends], ["radius", new Float32Array(vertices).fill(4e-5)], ["rest_length", new Float32Array(segments).fill(0.16 / n)], ["segment_rod", rod],
      ["joints", pairs], ["joint_length", new Float32Array(joints).fill(0.16 / n)], ["joint_rest", rest],
    ]);
  };
  const position = new Float32Array(3 * vertices), turn = new Float32Array(4 * segments), alive = new Uint8Array(segments).fill(1);
  for (let s = 0; s < segments; ++s) turn[4 * s + 3] = 1;
  const frame = (index) => {
    for (let r = 0, k = 0; r < rods; ++r) {
      const a = r * 2.39996, up = 1 - r / rods, side = Math.sqrt(1 - up * up), sway = 0.01 * Math.sin(0.1 * index + r);
      for (let i = 0; i < perRod; ++i, k += 3) {
        const l = 0.1 + 0.16 * (i / n);
        position[k] = l * side * Math.cos(a) + sway * (i / n) ** 2;
        position[k + 1] = l * up - 0.1 * (i / n) ** 2;
        position[k + 2] = l * side * Math.sin(a);
      }
    }
    const arrays = [["position", position]];
    if (!count.wants || count.wants.frame) arrays.push(["frame", turn]);
    arrays.push(["alive", alive]);
    return packet({ type: "frame", slot: 0, index, time: index / 30 }, arrays);
  };

  const raf = window.requestAnimationFrame.bind(window);
  let spent = 0;
  window.requestAnimationFrame = (work) =>
    raf((now) => {
      const start = performance.now();
      work(now);
      spent += performance.now() - start;
    });
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    constructor() {
      setTimeout(() => {
        this.onopen();
        this.onmessage({ data: JSON.stringify({ type: "hello", protocol: 1, mode: "live" }) });
        this.onmessage({ data: model() });
      });
    }
    send(text) {
      const command = JSON.parse(text);
      if (command.type === "want") count.wants = command;
      if (command.type === "ready") (count.next = (data) => this.feed(data)), count.asked?.();
    }
    feed(data = frame(count.received++)) {
      count.frameBytes = data.byteLength;
      const start = performance.now();
      this.onmessage({ data });
      this.onmessage({ data: JSON.stringify({ type: "status", time: 0, frame: 0, playing: true, speed: 1, ms_per_frame: 1, kinetic: 1, stretch_shear: 1, bend_twist: 1, external: 1, total: 4, residual_relative: 1e-6, iterations: 1, vertices_alive: 1, error: null }) });
      count.receive.push(performance.now() - start);
    }
  };
  /** Takes frames one by one, each drawn before the next comes. */
  count.run = async (frames) => {
    count.receive = [], count.draw = [], count.triangles = count.bytes = count.calls = 0;
    for (let i = 0; i < frames; ++i) {
      spent = 0;
      count.next();
      await new Promise((done) => raf(() => raf(done)));
      count.draw.push(spent);
    }
    const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
    const least = { receive: Math.min(...count.receive), draw: Math.min(...count.draw) };
    return { receive: median(count.receive), draw: median(count.draw), least, triangles: count.triangles / frames, bytes: count.bytes / frames, calls: count.calls / frames, frameBytes: count.frameBytes };
  };

  /** Gives the page a frame whenever it asks for one, as a program does that is never late. */
  count.stream = async (seconds) => {
    const film = Array.from({ length: 12 }, (_, i) => frame(i));
    const result = await window.timeFrames(seconds, async (i) => {
      const asked = new Promise((done) => (count.asked = done));
      count.next(film[i % film.length]);
      await asked;
    });
    count.asked = null;
    return result;
  };
}

/** Runs inside a page: frames in a second. One may be on its way through the card while the page prepares the next, as on a screen. */
function timing() {
  const { port1, port2 } = new MessageChannel(), waiting = [];
  port1.onmessage = () => waiting.shift()();
  const turn = () => new Promise((done) => (waiting.push(done), port2.postMessage(0))); // what the card has finished is told between tasks
  window.timeFrames = async (seconds, show) => {
    const gl = document.querySelector("main canvas").getContext("webgl2"), times = [], onCard = [];
    const finished = async (fence) => {
      while (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) await turn();
      gl.deleteSync(fence);
    };
    const drawn = window.osier.drawings, begin = performance.now();
    let last = begin;
    for (let i = 0; last - begin < 1000 * seconds; ++i) {
      await show(i);
      onCard.push(gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0));
      gl.flush();
      if (onCard.length > 1) await finished(onCard.shift());
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    await finished(onCard.shift());
    const fps = (1000 * times.length) / (performance.now() - begin);
    times.sort((a, b) => a - b);
    return { fps, drawings: (window.osier.drawings - drawn) / times.length, median: times[times.length >> 1], slowest: times[times.length - 1] };
  };
}

/** The page with its first frames drawn: in the browser given, which has a card, or without one; then as a page that takes it for one, or not. */
export async function openLarge(card = null, { software = false } = {}) {
  const browser = card ?? (await launch());
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  await page.route("http://viewer.test/**", (route) => route.fulfill({ contentType: "text/html", body: readFileSync(PAGE) }));
  // The page asks the card for its name; software gets coarser drawing, which is not what is measured here.
  if (!card && !software)
    await page.addInitScript(() => {
      const plain = WebGL2RenderingContext.prototype.getParameter;
      WebGL2RenderingContext.prototype.getParameter = function (what) {
        return what === 0x9246 ? "a graphics card" : plain.call(this, what);
      };
    });
  await page.addInitScript(timing);
  await page.addInitScript(inside, { rods: RODS, perRod: PER_ROD, card: card !== null });
  await page.goto("http://viewer.test/?token=x");
  await page.waitForFunction(() => window.bench.next, null, { timeout: 60_000 });
  await page.evaluate(() => window.bench.run(5));
  return { browser, page };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { browser, page } = await openLarge();
  for (const [what, key] of [["by rod", "1"], ["by stretch", "3"], ["by curvature", "4"]]) {
    await page.keyboard.press(key);
    await page.evaluate(() => window.bench.run(3));
    console.log(what, await page.evaluate(() => window.bench.run(60)));
  }
  console.log("problems:", page.problems);
  await browser.close();
}

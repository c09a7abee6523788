import assert from "node:assert/strict";
import { test } from "node:test";
import { ColorRange, colorTable } from "../../src/colors";
import { measure } from "../../src/measures";
import { axis } from "../../src/overlays";
import { frameAt } from "../../src/playback";
import { type Frame, type Model } from "../../src/protocol";
import { CHUNK, chooseShapes, HIDDEN, makeChunks, RIBBON, ribbonIndices, TUBE, tubeGrid, tubeTriangles, updateBalls } from "../../src/rod_geometry";
import { buildTopology, NONE } from "../../src/topology";
import { fromSlider, number, roundDown, toSlider, withUnit } from "../../src/units";

function model(segments: number[], rods: number[], vertexCount: number, joints: number[] = [], jointLength: number[] = []): Model {
  const n = segments.length / 2;
  return {
    slot: 0, name: "m", live: true, rodNames: [], materialNames: [], up: [0, 1, 0], ground: null, vertexCount, segmentCount: n, segments: Uint32Array.from(segments),
    radius: new Float32Array(vertexCount).fill(0.01), restLength: new Float32Array(n).fill(1), segmentRod: Uint32Array.from(rods), segmentMaterial: null,
    joints: Uint32Array.from(joints), jointLength: Float32Array.from(jointLength), jointRest: null, times: null, landmarks: null, reports: null,
  };
}
const frame = (position: number[], quaternion: number[] | null = null): Frame =>
  ({ slot: 0, index: 0, time: 0, position: Float32Array.from(position), quaternion: quaternion && Float32Array.from(quaternion), alive: null, jointMoment: null, obstaclePoints: null, contacts: null });

const chain = model([0, 1, 1, 2, 2, 3], [0, 0, 0], 4, [0, 1, 1, 2], [1, 1]);
const line = [0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0];

test("a chain continues through its inner vertices and ends at its ends", () => {
  const { stencil, jointVertex } = buildTopology(chain, null, Float32Array.from(line));
  assert.deepEqual([...stencil], [0, 0, 1, 2, 0, 1, 2, 3, 1, 2, 3, 3]);
  assert.deepEqual([...jointVertex], [1, 2]);
});

test("segments that run against each other still continue", () => {
  const { stencil } = buildTopology(model([1, 0, 1, 2], [0, 0], 3), null, Float32Array.from(line));
  assert.deepEqual([...stencil], [2, 1, 0, 0, 0, 1, 2, 2]);
});

test("a broken segment ends its neighbours", () => {
  const { stencil } = buildTopology(chain, Uint8Array.from([1, 0, 1]), Float32Array.from(line));
  assert.deepEqual([...stencil.subarray(0, 4)], [0, 0, 1, 1]);
  assert.deepEqual([...stencil.subarray(8)], [2, 2, 3, 3]);
});

test("another rod welded on does not bend the curve; of a fork the straight branch continues", () => {
  const at = Float32Array.from([0, 0, 0, 1, 0, 0, 1, 1, 0, 2, 0.1, 0]);
  const welded = buildTopology(model([0, 1, 1, 2], [0, 1], 3), null, at);
  assert.deepEqual([...welded.stencil], [0, 0, 1, 1, 1, 1, 2, 2]);
  const fork = buildTopology(model([0, 1, 1, 2, 1, 3], [0, 0, 0], 4), null, at);
  assert.equal(fork.stencil[3], 3);
});

test("a joint to a clamp, which is no segment, meets nowhere", () => {
  const { jointVertex } = buildTopology(model([0, 1], [0], 2, [7, 0], [1]), null, Float32Array.from(line));
  assert.deepEqual([...jointVertex], [NONE]);
});

test("stretch of a rod drawn out by a tenth is 0.1 everywhere", () => {
  const out = new Float32Array(4);
  const f = frame(line.map((x) => 1.1 * x));
  measure("stretch", chain, buildTopology(chain, null, f.position), f, true, out);
  for (const x of out) assert.ok(Math.abs(x - 0.1) < 1e-6);
});

test("curvature of frames along a circle is one over its radius within the error of the sampling", () => {
  const n = 40, r = 2.5, step = (2 * Math.PI) / n, chord = 2 * r * Math.sin(step / 2);
  const pairs = (k: number): number[] => Array.from({ length: k }, (_, i) => [i, (i + 1) % k]).flat();
  const ring = model(pairs(n), Array(n).fill(0), n, pairs(n), Array(n).fill(chord));
  const position = Array.from({ length: n }, (_, i) => [r * Math.cos(i * step), r * Math.sin(i * step), 0]).flat();
  // d3 along the segment: a quarter turn about x, then about z by the angle of the segment. Every other one as -q.
  const turns = Array.from({ length: n }, (_, i) => {
    const half = ((i + 0.5) * step) / 2 + Math.PI / 2, c = Math.SQRT1_2, sign = i % 2 ? -1 : 1;
    return [c * Math.cos(half), c * Math.sin(half), c * Math.sin(half), c * Math.cos(half)].map((x, k) => sign * (k === 0 || k === 1 ? -x : x));
  }).flat();
  const out = new Float32Array(n);
  const f = frame(position, turns);
  measure("curvature", ring, buildTopology(ring, null, f.position), f, false, out);
  const exact = (2 * Math.sin(step / 2)) / chord; // (2/l) times the sine of half the angle between the frames
  assert.ok(Math.abs(exact * r - 1) < 1e-9);
  for (const k of out) assert.ok(Math.abs(k - exact) < 1e-5 * exact, String(k));
});

test("twist is twice the sine of half the angle about the axis over the length, whatever the sign of the quaternions", () => {
  const about = (angle: number): number[] => [0, 0, Math.sin(angle / 2), Math.cos(angle / 2)];
  const out = new Float32Array(4);
  const f = frame(line, [...about(0), ...about(0.3).map((x) => -x), ...about(0.5)]);
  measure("twist", chain, buildTopology(chain, null, f.position), f, false, out);
  assert.ok(Math.abs(out[1]! - 2 * Math.sin(0.15)) < 1e-6 && Math.abs(out[2]! - 2 * Math.sin(0.1)) < 1e-6, String([...out]));
});

test("material axes are the columns of the rotation", () => {
  const s = Math.SQRT1_2;
  const q = Float32Array.from([s, 0, 0, s]); // a quarter turn about x: y becomes z
  const near = (a: number[], b: number[]): void => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]!) < 1e-6));
  near(axis(q, 0, 0), [1, 0, 0]);
  near(axis(q, 0, 1), [0, 0, 1]);
  near(axis(q, 0, 2), [0, -1, 0]);
});

test("ribbons of listed segments use only their own vertices", () => {
  const out = new Uint32Array(6 * 2 * 2);
  assert.equal(ribbonIndices(2, [0, 3], out), 24);
  assert.equal(Math.max(...out.subarray(0, 12)), 5);
  assert.equal(Math.min(...out.subarray(12)), 18);
  assert.equal(Math.max(...out.subarray(12)), 23);
});

test("a tube is closed: caps end in a point, the seam meets itself", () => {
  const { position, index } = tubeGrid(4, 8);
  const rows = position.length / 3 / 9;
  assert.equal(rows, 4 + 1 + 6);
  assert.ok(Math.abs(position[2]! + Math.PI / 2) < 1e-6 && Math.abs(position[position.length - 1]! - Math.PI / 2) < 1e-6);
  assert.ok(Math.max(...index) < position.length / 3);
  assert.equal(index.length / 3, tubeTriangles(4, 8));
});

test("near chunks become tubes, far ones ribbons, those behind the eye are left out, and the budget holds", () => {
  const count = 4, segments: number[] = [], position: number[] = [];
  for (let c = 0; c < count; ++c)
    for (let i = 0; i < CHUNK; ++i) {
      segments.push(position.length / 3, position.length / 3 + 1);
      position.push(0.01 * i, 0, -1 - 10 * c, 0.01 * i + 0.01, 0, -1 - 10 * c);
    }
  position.forEach((_, i) => i % 3 === 2 && i >= position.length * 0.75 && (position[i] = 5));
  const chunks = makeChunks(Uint32Array.from(segments), new Float32Array(position.length / 3).fill(0.01));
  updateBalls(chunks, Uint32Array.from(segments), Float32Array.from(position));
  const out = new Uint8Array(count);
  const eye = { position: [0, 0, 0] as [number, number, number], planes: [[0, 0, -1, 0]], pixelAngle: 0.001 };
  chooseShapes(chunks, eye, { tubePixels: 2, tubeBudget: 1000 }, out);
  assert.deepEqual([...out], [TUBE, RIBBON, RIBBON, HIDDEN]);
  chooseShapes(chunks, eye, { tubePixels: 0.1, tubeBudget: 2 * CHUNK }, out);
  assert.deepEqual([...out], [TUBE, TUBE, RIBBON, HIDDEN]);
});

test("the frame that is due is the last one not after the time", () => {
  const times = [0, 0.1, 0.2, 0.5];
  assert.deepEqual([-1, 0, 0.05, 0.1, 0.3, 0.5, 9].map((t) => frameAt(times, t)), [0, 0, 0, 1, 2, 3, 3]);
});

test("a signed range is symmetric, grows and does not shrink", () => {
  const range = new ColorRange();
  range.include(Float32Array.from([-0.2, 0.1]), true);
  range.include(Float32Array.from([0.05]), true);
  assert.ok(Math.abs(range.min + 0.2) < 1e-6 && Math.abs(range.max - 0.2) < 1e-6);
});

test("one kink among thousands does not pale the rest", () => {
  const values = Float32Array.from({ length: 5000 }, (_, i) => (i === 1234 ? 1000 : i / 5000));
  const range = new ColorRange();
  range.include(values, false);
  assert.ok(range.max > 0.95 && range.max <= 1 && range.beyond && range.min === 0, String(range.max));
});

test("colour maps start and end at their end colours", () => {
  const table = colorTable("curvature", 256);
  assert.deepEqual([...table.subarray(0, 3)], [0x40, 0x30, 0x8a]);
  assert.deepEqual([...table.subarray(1020, 1023)], [0xfb, 0xe6, 0x5c]);
});

test("numbers read as people write them", () => {
  assert.equal(withUnit(0.0123, "m"), "12.3 mm");
  assert.equal(withUnit(2e9, "Pa"), "2 GPa");
  assert.equal(withUnit(999.96, "m"), "1 km");
  assert.equal(withUnit(0, "J"), "0 J");
  assert.equal(withUnit(NaN, "J"), "–");
  assert.equal(withUnit(2.07e-18, "J"), "2.07·10⁻¹⁸ J");
  assert.equal(number(1.2e-7), "1.2·10⁻⁷");
  assert.deepEqual([0.07, 1, 2.3, 990].map(roundDown), [0.05, 1, 2, 500]);
});

test("sliders go there and back, on both scales", () => {
  for (const log of [true, false]) for (const t of [0, 0.25, 1]) assert.ok(Math.abs(toSlider(fromSlider(t, 1e-3, 1e6, log), 1e-3, 1e6, log) - t) < 1e-9);
  assert.ok(Math.abs(fromSlider(0.5, 1, 100, true) - 10) < 1e-9);
});

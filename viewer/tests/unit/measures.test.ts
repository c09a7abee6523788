// The page's formulas against values that the program computed: tests/data/measures.json, which the program's own tests keep right.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Measure, measure } from "../../src/measures";
import type { Frame, Model } from "../../src/protocol";
import { buildTopology, NONE } from "../../src/topology";

type Numbers = number[];
const data = JSON.parse(readFileSync(process.env["OSIER_MEASURES"]!, "utf8")) as Record<string, Numbers> & { vertices: number };
const f32 = (name: string): Float32Array => Float32Array.from(data[name]!);
const segmentCount = data["segments"]!.length / 2;
const model: Model = {
  slot: 0, name: "m", live: true, rodNames: [], materialNames: [], up: [0, 1, 0], ground: null, vertexCount: data.vertices, segmentCount,
  segments: Uint32Array.from(data["segments"]!), radius: new Float32Array(data.vertices).fill(0.01), restLength: f32("rest_length"),
  segmentRod: new Uint32Array(segmentCount), segmentMaterial: null, joints: Uint32Array.from(data["joints"]!), jointLength: f32("joint_length"), jointRest: f32("joint_rest"),
  times: null, landmarks: null, reports: null,
};
const frame: Frame = { slot: 0, index: 0, time: 0, position: f32("position"), quaternion: f32("frame"), alive: null, jointMoment: null, obstaclePoints: null, contacts: null };
const topology = buildTopology(model, null, frame.position);

/** Means at the vertices of what the program says of each element. */
function means(of: (vertex: number) => number[]): Numbers {
  return Array.from({ length: data.vertices }, (_, v) => of(v)).map((list) => (list.length ? list.reduce((a, b) => a + b) / list.length : NaN));
}
const atJoints = (value: (j: number) => number): Numbers => means((v) => [...topology.jointVertex].flatMap((w, j) => (w === v && w !== NONE ? [value(j)] : [])));

function compare(kind: Measure, sinceRest: boolean, want: Numbers): number {
  const out = new Float32Array(data.vertices);
  measure(kind, model, topology, frame, sinceRest, out);
  let compared = 0, largest = 0;
  want.forEach((w, v) => {
    if (Number.isNaN(w)) return;
    ++compared;
    largest = Math.max(largest, Math.abs(w));
    assert.ok(Math.abs(out[v]! - w) < 2e-4 * (1 + Math.abs(w)), `${kind} at vertex ${v}: ${out[v]}, the program says ${w}`);
  });
  assert.ok(compared > data.vertices - 5);
  return largest;
}

test("stretch is the program's", () => {
  compare("stretch", true, means((v) => data["stretch"]!.filter((_, s) => data["segments"]![2 * s] === v || data["segments"]![2 * s + 1] === v)));
});
for (const [name, sinceRest] of [["curvature", false], ["change", true]] as const)
  test(`curvature and twist are the program's, ${sinceRest ? "as changes since rest" : "rest shape included"}`, () => {
    const k = data[name]!;
    assert.ok(compare("curvature", sinceRest, atJoints((j) => Math.hypot(k[3 * j]!, k[3 * j + 1]!))) > 1);
    assert.ok(compare("twist", sinceRest, atJoints((j) => k[3 * j + 2]!)) > 1);
  });

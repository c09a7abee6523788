// Which segments continue each other, so that a rod is drawn as one smooth curve and not as sticks.
import type { Model } from "./protocol";

export interface Topology {
  /** Per segment: vertex before, its two ends, vertex after; an end repeats itself where nothing continues it. */
  stencil: Uint32Array;
  /** Per joint: the vertex at which its two segments meet, or NONE for joints that have none (clamps beyond the end). */
  jointVertex: Uint32Array;
  /** For means at vertices. Per joint: one over the number of living joints at its vertex, 0 for one that does not count. */
  jointShare: Float32Array;
  /** Per vertex: one over the number of its living segments. */
  segmentShare: Float32Array;
  /** Pairs: a vertex without a joint, and the vertex beside it that has one. */
  ends: Uint32Array;
}
export const NONE = 0xffffffff;

/** Living segments at each vertex as compressed rows. */
function incidence(model: Model, alive: Uint8Array | null): { start: Uint32Array; entry: Uint32Array } {
  const { segments, vertexCount, segmentCount } = model;
  const start = new Uint32Array(vertexCount + 1);
  const lives = (s: number): boolean => !alive || alive[s] !== 0;
  for (let s = 0; s < segmentCount; ++s) {
    if (!lives(s)) continue;
    start[segments[2 * s]! + 1]!++;
    start[segments[2 * s + 1]! + 1]!++;
  }
  for (let v = 0; v < vertexCount; ++v) start[v + 1]! += start[v]!;
  const fill = start.slice();
  const entry = new Uint32Array(start[vertexCount]!);
  for (let s = 0; s < segmentCount; ++s) {
    if (!lives(s)) continue;
    entry[fill[segments[2 * s]!]!++] = s;
    entry[fill[segments[2 * s + 1]!]!++] = s;
  }
  return { start, entry };
}

/** At a fork the straightest branch of the same rod continues; rods that are welded together keep their corner. */
export function buildTopology(model: Model, alive: Uint8Array | null, position: Float32Array): Topology {
  const { segments, segmentCount, segmentRod } = model;
  const { start, entry } = incidence(model, alive);
  const other = (s: number, v: number): number => (segments[2 * s] === v ? segments[2 * s + 1]! : segments[2 * s]!);
  /** Cosine of the angle between going from `from` to `at` and on to `to`. */
  const straightness = (from: number, at: number, to: number): number => {
    let dot = 0, a2 = 0, b2 = 0;
    for (let k = 0; k < 3; ++k) {
      const a = position[3 * at + k]! - position[3 * from + k]!;
      const b = position[3 * to + k]! - position[3 * at + k]!;
      dot += a * b;
      a2 += a * a;
      b2 += b * b;
    }
    return dot / Math.sqrt(a2 * b2 || 1);
  };
  const continuation = (s: number, at: number): number => {
    const from = other(s, at);
    let best = at, bestCos = -2, candidates = 0;
    for (let i = start[at]!; i < start[at + 1]!; ++i) {
      const t = entry[i]!;
      if (t === s || segmentRod[t] !== segmentRod[s]) continue;
      ++candidates;
      const to = other(t, at);
      const cos = straightness(from, at, to);
      if (cos > bestCos) {
        bestCos = cos;
        best = to;
      }
    }
    return candidates <= 1 || bestCos > 0.5 ? best : at;
  };
  const stencil = new Uint32Array(4 * segmentCount);
  for (let s = 0; s < segmentCount; ++s) {
    const a = segments[2 * s]!, b = segments[2 * s + 1]!;
    stencil[4 * s] = continuation(s, a);
    stencil[4 * s + 1] = a;
    stencil[4 * s + 2] = b;
    stencil[4 * s + 3] = continuation(s, b);
  }
  const segmentShare = new Float32Array(model.vertexCount);
  for (let v = 0; v < model.vertexCount; ++v) segmentShare[v] = 1 / Math.max(1, start[v + 1]! - start[v]!);
  const jointVertex = meetingVertices(model);
  return { stencil, jointVertex, segmentShare, ...jointMeans(model, alive, jointVertex) };
}

function jointMeans(model: Model, alive: Uint8Array | null, jointVertex: Uint32Array): { jointShare: Float32Array; ends: Uint32Array } {
  const { joints, jointLength, segments } = model;
  const at = new Uint16Array(model.vertexCount), jointShare = new Float32Array(jointVertex.length);
  const counts = (j: number): boolean =>
    jointVertex[j] !== NONE && jointLength[j]! > 0 && (!alive || (alive[joints[2 * j]!] !== 0 && alive[joints[2 * j + 1]!] !== 0));
  for (let j = 0; j < jointVertex.length; ++j) if (counts(j)) ++at[jointVertex[j]!]!;
  for (let j = 0; j < jointVertex.length; ++j) jointShare[j] = counts(j) ? 1 / at[jointVertex[j]!]! : 0;
  const ends: number[] = [];
  for (let i = 0; i < segments.length; i += 2) {
    if (alive && alive[i / 2] === 0) continue;
    const a = segments[i]!, b = segments[i + 1]!;
    if (at[a] === 0 && at[b]! > 0) ends.push(a, b);
    else if (at[b] === 0 && at[a]! > 0) ends.push(b, a);
  }
  return { jointShare, ends: Uint32Array.from(ends) };
}

function meetingVertices(model: Model): Uint32Array {
  const { joints, segments, segmentCount } = model;
  const jointVertex = new Uint32Array(joints.length / 2).fill(NONE);
  for (let j = 0; j < jointVertex.length; ++j) {
    const s = joints[2 * j]!, t = joints[2 * j + 1]!;
    if (s >= segmentCount || t >= segmentCount) continue;
    const a = segments[2 * s]!, b = segments[2 * s + 1]!, c = segments[2 * t]!, d = segments[2 * t + 1]!;
    if (c === a || c === b) jointVertex[j] = c;
    if (d === a || d === b) jointVertex[j] = d;
  }
  return jointVertex;
}

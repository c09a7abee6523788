// Numbers to colour by, one per vertex: stretch [-], curvature [1/m], twist [rad/m].
import type { Frame, Model } from "./protocol";
import { NONE, type Topology } from "./topology";

export type Measure = "stretch" | "curvature" | "twist";

/** Means of what the elements around a vertex say. */
class VertexMean {
  private readonly count: Uint8Array;
  constructor(private readonly sum: Float32Array) {
    this.count = new Uint8Array(sum.length);
    sum.fill(0);
  }
  add(vertex: number, value: number): void {
    this.sum[vertex]! += value;
    this.count[vertex]!++;
  }
  finish(): void {
    for (let v = 0; v < this.sum.length; ++v) if (this.count[v]! > 1) this.sum[v]! /= this.count[v]!;
  }
  /** The end of a rod, where nothing bends, takes the value of the vertex beside it. */
  extend(segments: Uint32Array): void {
    for (let i = 0; i < segments.length; i += 2) {
      const a = segments[i]!, b = segments[i + 1]!;
      if (this.count[a] === 0 && this.count[b]! > 0) this.sum[a] = this.sum[b]!;
      else if (this.count[b] === 0 && this.count[a]! > 0) this.sum[b] = this.sum[a]!;
    }
  }
}

const lives = (frame: Frame, s: number): boolean => !frame.alive || frame.alive[s] !== 0;

function distance(x: Float32Array, a: number, b: number): number {
  return Math.hypot(x[3 * b]! - x[3 * a]!, x[3 * b + 1]! - x[3 * a + 1]!, x[3 * b + 2]! - x[3 * a + 2]!);
}

/** Length against rest length, minus one. */
export function stretch(model: Model, frame: Frame, out: Float32Array): void {
  const mean = new VertexMean(out);
  for (let s = 0; s < model.segmentCount; ++s) {
    if (!lives(frame, s)) continue;
    const a = model.segments[2 * s]!, b = model.segments[2 * s + 1]!;
    const value = distance(frame.position, a, b) / model.restLength[s]! - 1;
    mean.add(a, value);
    mean.add(b, value);
  }
  mean.finish();
}

/** Of the centreline: 2 tan(θ/2) over the mean length of the two segments that meet at the angle θ. */
export function curvature(model: Model, topology: Topology, frame: Frame, out: Float32Array): void {
  const mean = new VertexMean(out);
  const x = frame.position, { stencil } = topology;
  const turn = (p: number, a: number, b: number): void => {
    const l = distance(x, p, a), m = distance(x, a, b);
    let dot = 0;
    for (let k = 0; k < 3; ++k) dot += (x[3 * a + k]! - x[3 * p + k]!) * (x[3 * b + k]! - x[3 * a + k]!);
    const cos = dot / (l * m || 1);
    const tanHalf = Math.sqrt(Math.max(0, 1 - cos) / Math.max(1e-6, 1 + cos));
    mean.add(a, (4 * tanHalf) / (l + m || 1));
  };
  for (let s = 0; s < model.segmentCount; ++s) {
    if (!lives(frame, s)) continue;
    const p = stencil[4 * s]!, a = stencil[4 * s + 1]!, b = stencil[4 * s + 2]!, n = stencil[4 * s + 3]!;
    if (p !== a) turn(p, a, b);
    if (n !== b) turn(n, b, a);
  }
  mean.finish();
  mean.extend(model.segments);
}

/** Angle about the axis d3 from one segment's frame to the next, over the joint's length. */
export function twist(model: Model, topology: Topology, frame: Frame, out: Float32Array): void {
  const mean = new VertexMean(out);
  const q = frame.quaternion;
  if (!q) return;
  for (let j = 0; j < topology.jointVertex.length; ++j) {
    const v = topology.jointVertex[j]!, s = model.joints[2 * j]!, t = model.joints[2 * j + 1]!;
    if (v === NONE || !lives(frame, s) || !lives(frame, t) || !(model.jointLength[j]! > 0)) continue;
    const ax = q[4 * s]!, ay = q[4 * s + 1]!, az = q[4 * s + 2]!, aw = q[4 * s + 3]!;
    const bx = q[4 * t]!, by = q[4 * t + 1]!, bz = q[4 * t + 2]!, bw = q[4 * t + 3]!;
    // z and w of conj(a) b; q and -q are the same rotation.
    let z = aw * bz - az * bw - ax * by + ay * bx;
    let w = aw * bw + ax * bx + ay * by + az * bz;
    if (w < 0) (z = -z), (w = -w);
    mean.add(v, (2 * Math.atan2(z, w)) / model.jointLength[j]!);
  }
  mean.finish();
  mean.extend(model.segments);
}

export function measure(kind: Measure, model: Model, topology: Topology, frame: Frame, out: Float32Array): void {
  if (kind === "stretch") stretch(model, frame, out);
  else if (kind === "curvature") curvature(model, topology, frame, out);
  else twist(model, topology, frame, out);
}

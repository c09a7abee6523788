// Numbers to colour by, one per vertex: stretch [-], curvature [1/m], twist [rad/m]; the latter two as they are or as what has changed
// since rest. docs/viewer.md states the formulas, which are the program's own (src/energies/bend_twist.hpp); tests/data/measures.json
// holds values that the program's tests and the page's must both find.
import type { Frame, Model } from "./protocol";
import type { Topology } from "./topology";

export type Measure = "stretch" | "curvature" | "twist";

/** Length against rest length, minus one. */
export function stretch(model: Model, topology: Topology, frame: Frame, out: Float32Array): void {
  const { segments, restLength } = model, { segmentShare } = topology, x = frame.position, alive = frame.alive;
  out.fill(0);
  for (let s = 0; s < model.segmentCount; ++s) {
    if (alive && alive[s] === 0) continue;
    const a = segments[2 * s]!, b = segments[2 * s + 1]!;
    const dx = x[3 * b]! - x[3 * a]!, dy = x[3 * b + 1]! - x[3 * a + 1]!, dz = x[3 * b + 2]! - x[3 * a + 2]!;
    const value = Math.sqrt(dx * dx + dy * dy + dz * dz) / restLength[s]! - 1;
    out[a]! += value * segmentShare[a]!;
    out[b]! += value * segmentShare[b]!;
  }
}

/**
 * Of a joint of length l between frames qa and qb with r = conj(qa) qb and rest rotation q0: k = ±(2/l) Im r, signed so that the real
 * part is not negative; since rest (2/l) (Im r ∓ Im q0), signed so that r and ±q0 are near. Bending is the size of components 1 and 2, twist is component 3.
 */
export function bending(model: Model, topology: Topology, frame: Frame, sinceRest: boolean, wantTwist: boolean, out: Float32Array): void {
  const q = frame.quaternion, rest = sinceRest ? model.jointRest : null;
  const { joints, jointLength } = model, { jointVertex, jointShare, ends } = topology;
  out.fill(0);
  if (!q) return;
  for (let j = 0; j < jointVertex.length; ++j) {
    const v = jointVertex[j]!, share = jointShare[j]!;
    if (share === 0) continue;
    const s = 4 * joints[2 * j]!, t = 4 * joints[2 * j + 1]!;
    const ax = q[s]!, ay = q[s + 1]!, az = q[s + 2]!, aw = q[s + 3]!;
    const bx = q[t]!, by = q[t + 1]!, bz = q[t + 2]!, bw = q[t + 3]!;
    let x = aw * bx - ax * bw - ay * bz + az * by;
    let y = aw * by - ay * bw - az * bx + ax * bz;
    let z = aw * bz - az * bw - ax * by + ay * bx;
    const w = aw * bw + ax * bx + ay * by + az * bz;
    let sign = w < 0 ? -1 : 1; // q and -q are the same rotation
    if (rest) {
      const x0 = rest[4 * j]!, y0 = rest[4 * j + 1]!, z0 = rest[4 * j + 2]!;
      sign = x * x0 + y * y0 + z * z0 + w * rest[4 * j + 3]! < 0 ? -1 : 1;
      x -= sign * x0;
      y -= sign * y0;
      z -= sign * z0;
    }
    out[v]! += ((2 * share) / jointLength[j]!) * (wantTwist ? sign * z : Math.sqrt(x * x + y * y));
  }
  // The end of a rod, where nothing bends, takes the value of the vertex beside it.
  for (let i = 0; i < ends.length; i += 2) out[ends[i]!] = out[ends[i + 1]!]!;
}

export function measure(kind: Measure, model: Model, topology: Topology, frame: Frame, sinceRest: boolean, out: Float32Array): void {
  if (kind === "stretch") stretch(model, topology, frame, out);
  else bending(model, topology, frame, sinceRest, kind === "twist", out);
}

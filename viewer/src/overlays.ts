// What is drawn over the rods: material frames, section moments, the pull of the mouse.
import * as THREE from "three";
import type { Frame, Model } from "./protocol";
import { NONE, type Topology } from "./topology";

/** Beyond this many, every n-th is drawn; more would only be a blur. */
const MOST = 4000;
const AXIS_COLORS = [[0.86, 0.3, 0.27], [0.3, 0.66, 0.35], [0.27, 0.5, 0.88]] as const;

class Lines {
  readonly mesh: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private position: number[] = [];
  private color: number[] = [];

  constructor(depthTest = true) {
    const material = new THREE.LineBasicMaterial({ vertexColors: true, depthTest, transparent: !depthTest });
    material.toneMapped = false;
    this.mesh = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.mesh.frustumCulled = false;
  }
  clear(): void {
    this.position = [];
    this.color = [];
  }
  add(from: ArrayLike<number>, to: ArrayLike<number>, c: readonly number[]): void {
    this.position.push(from[0]!, from[1]!, from[2]!, to[0]!, to[1]!, to[2]!);
    this.color.push(c[0]!, c[1]!, c[2]!, c[0]!, c[1]!, c[2]!);
  }
  finish(): void {
    const geometry = this.mesh.geometry;
    geometry.dispose();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(this.position, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(this.color, 3));
    this.mesh.visible = this.position.length > 0;
  }
}

/** Column k of the rotation of segment s: the material axis d1, d2 or d3. */
export function axis(q: Float32Array, s: number, k: number): [number, number, number] {
  const x = q[4 * s]!, y = q[4 * s + 1]!, z = q[4 * s + 2]!, w = q[4 * s + 3]!;
  if (k === 0) return [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)];
  if (k === 1) return [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)];
  return [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)];
}

/** The axes d1 (red), d2 (green) and d3 (blue) in the middle of each segment. */
export class FrameOverlay {
  private readonly lines = new Lines();
  readonly object = this.lines.mesh;

  show(model: Model, frame: Frame): void {
    this.lines.clear();
    const q = frame.quaternion, x = frame.position;
    const stride = Math.max(1, Math.ceil(model.segmentCount / MOST));
    for (let s = 0; q && s < model.segmentCount; s += stride) {
      if (frame.alive && !frame.alive[s]) continue;
      const a = 3 * model.segments[2 * s]!, b = 3 * model.segments[2 * s + 1]!;
      const middle = [0, 1, 2].map((k) => (x[a + k]! + x[b + k]!) / 2);
      const size = Math.max(0.6 * model.restLength[s]!, 3 * model.radius[model.segments[2 * s]!]!);
      for (let k = 0; k < 3; ++k) {
        const d = axis(q, s, k);
        this.lines.add(middle, middle.map((m, i) => m + size * d[i]!), AXIS_COLORS[k]!);
      }
    }
    this.lines.finish();
  }
}

const BENDING = [0.93, 0.55, 0.15], TORQUE = [0.62, 0.4, 0.85];

/** Moment diagrams along the rods: bending drawn towards the fibre in tension, torque along d1. */
export class MomentOverlay {
  private readonly lines = new Lines();
  readonly object = this.lines.mesh;
  /** The largest moment seen [N·m]; it is drawn at a fixed part of the scene's size. */
  largest = 0;

  show(model: Model, topology: Topology, frame: Frame, sceneSize: number): void {
    this.lines.clear();
    const m = frame.jointMoment, q = frame.quaternion, x = frame.position;
    if (m && q) {
      for (let j = 0; j < m.length / 3; ++j) this.largest = Math.max(this.largest, Math.hypot(m[3 * j]!, m[3 * j + 1]!, m[3 * j + 2]!));
      const scale = this.largest > 0 ? (0.14 * sceneSize) / this.largest : 0;
      const stride = Math.max(1, Math.ceil(topology.jointVertex.length / MOST));
      // The tip at each segment's last joint, to join neighbouring tips into a curve.
      const tips = new Map<number, number[][]>();
      for (let j = 0; j < topology.jointVertex.length; j += stride) {
        const v = topology.jointVertex[j]!, s = model.joints[2 * j]!, t = model.joints[2 * j + 1]!;
        if (v === NONE || (frame.alive && (!frame.alive[s] || !frame.alive[t]))) continue;
        const [d1, d2] = [axis(q, s, 0), axis(q, s, 1)];
        const [m1, m2, m3] = [m[3 * j]!, m[3 * j + 1]!, m[3 * j + 2]!];
        const at = [x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!];
        // m1 d1 + m2 d2 turned by a right angle about d3 points across the rod, in the plane it bends in.
        const bend = at.map((p, k) => p + scale * (m1 * d2[k]! - m2 * d1[k]!));
        const turn = at.map((p, k) => p + scale * m3 * d1[k]!);
        this.lines.add(at, bend, BENDING);
        this.lines.add(at, turn, TORQUE);
        if (stride > 1) continue;
        for (const segment of [s, t]) {
          const before = tips.get(segment);
          if (before) {
            this.lines.add(before[0]!, bend, BENDING);
            this.lines.add(before[1]!, turn, TORQUE);
          }
        }
        tips.set(t, [bend, turn]);
        tips.set(s, [bend, turn]);
      }
    }
    this.lines.finish();
  }
}

const NORMAL_FORCE = [0.85, 0.22, 0.18], FRICTION_FORCE = [0.2, 0.65, 0.3], CONTACT = [0.97, 0.78, 0.2];

/** A cross at each contact; normal forces in red and friction in green, from there out of the rod that bears them. */
export class ContactOverlay {
  private readonly lines = new Lines(false);
  readonly object = this.lines.mesh;
  /** The largest normal force seen [N]; it is drawn at a fixed part of the scene's size. */
  largest = 0;

  constructor() {
    this.object.renderOrder = 9;
  }
  show(model: Model, frame: Frame, sceneSize: number): void {
    this.lines.clear();
    const contacts = frame.contacts, count = contacts ? contacts.position.length / 3 : 0;
    if (contacts) {
      const { segments, position, normalForce, frictionForce } = contacts;
      for (let c = 0; c < count; ++c) this.largest = Math.max(this.largest, Math.hypot(normalForce[3 * c]!, normalForce[3 * c + 1]!, normalForce[3 * c + 2]!));
      const scale = this.largest > 0 ? (0.12 * sceneSize) / this.largest : 0;
      const stride = Math.max(1, Math.ceil(count / MOST));
      for (let c = 0; c < count; c += stride) {
        const at = [position[3 * c]!, position[3 * c + 1]!, position[3 * c + 2]!];
        const size = 0.5 * (model.radius[model.segments[2 * segments[2 * c]!]!] ?? 0);
        for (let k = 0; k < 3; ++k) this.lines.add(at.map((x, i) => (i === k ? x - size : x)), at.map((x, i) => (i === k ? x + size : x)), CONTACT);
        // What an obstacle bears would lie inside of it.
        for (const side of segments[2 * c + 1]! < 0 ? [1] : [1, -1])
          for (const [force, color] of [[normalForce, NORMAL_FORCE], [frictionForce, FRICTION_FORCE]] as const)
            this.lines.add(at, at.map((x, i) => x + side * scale * force[3 * c + i]!), color);
      }
    }
    this.lines.finish();
  }
}

/** A line from the vertex that is held to the place the mouse pulls it to. */
export class PullOverlay {
  private readonly lines = new Lines(false);
  readonly object = this.lines.mesh;

  constructor() {
    this.object.renderOrder = 10;
    this.hide();
  }
  show(from: ArrayLike<number>, to: ArrayLike<number>, size: number): void {
    const c = [0.95, 0.35, 0.2];
    this.lines.clear();
    this.lines.add(from, to, c);
    for (let k = 0; k < 3; ++k) {
      const step = [0, 0, 0].map((_, i) => (i === k ? size : 0));
      this.lines.add([0, 1, 2].map((i) => to[i]! - step[i]!), [0, 1, 2].map((i) => to[i]! + step[i]!), c);
    }
    this.lines.finish();
  }
  hide(): void {
    this.lines.clear();
    this.lines.finish();
  }
}

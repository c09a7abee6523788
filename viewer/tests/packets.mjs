// Packets written from scratch, so that the tests do not believe the page's own codec.
import { gzipSync } from "node:zlib";

const TYPES = { f32: Float32Array, f64: Float64Array, u32: Uint32Array, i32: Int32Array, u16: Uint16Array, i16: Int16Array, u8: Uint8Array };
const fill = (bytes, to) => Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)]);

/** arrays: [name, type, numbers], each filled up to a multiple of four bytes, or of eight for doubles. */
export function packet(header, arrays) {
  let json = JSON.stringify({ ...header, arrays: arrays.map(([name, type, data]) => ({ name, type, count: data.length })) });
  json += " ".repeat((4 - (Buffer.byteLength(json) % 4)) % 4);
  const text = Buffer.from(json);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x5249534f, 0);
  head.writeUInt32LE(text.length, 4);
  return Buffer.concat([head, text, ...arrays.map(([, type, data]) => fill(Buffer.from(TYPES[type].from(data).buffer), type === "f64" ? 8 : 4))]);
}

/** Rods beside each other, clamped at x = 0, each `length` long: the mock's model. */
export class MockRods {
  constructor({ rods = 1, segments = 30, length = 1, radius = 0.012 } = {}) {
    Object.assign(this, { rods, perRod: segments + 1, length, radius, vertexCount: rods * (segments + 1), segmentCount: rods * segments });
  }
  model(header = {}) {
    const { rods, perRod, length } = this;
    const segments = [], rod = [], joints = [], n = perRod - 1;
    for (let r = 0; r < rods; ++r)
      for (let i = 0; i < n; ++i) {
        segments.push(r * perRod + i, r * perRod + i + 1);
        rod.push(r);
        if (i) joints.push(r * n + i - 1, r * n + i);
      }
    const arrays = [
      ["segments", "u32", segments], ["radius", "f32", Array(this.vertexCount).fill(this.radius)], ["rest_length", "f32", Array(this.segmentCount).fill(length / n)],
      ["segment_rod", "u32", rod], ["segment_material", "u32", rod.map((r) => r % 2)], ["joints", "u32", joints], ["joint_length", "f32", Array(joints.length / 2).fill(length / n)],
    ];
    if (header.times) arrays.push(["times", "f64", header.times]);
    const { times, more, ...rest } = header;
    arrays.push(...(more ?? []));
    return packet({
      type: "model", slot: 0, name: "mock", live: !times, precision: "double", frames: times?.length ?? null, units: "SI",
      rod_names: Array.from({ length: rods }, (_, r) => `rod ${r + 1}`), material_names: ["steel", "rubber"], up: [0, 1, 0], ground: null, ...rest,
    }, arrays);
  }
  /** A bending swing of the given tip deflection; `pull` moves the part of rod 0 near a vertex. */
  positions(tip, pull = null) {
    const out = new Float32Array(3 * this.vertexCount);
    for (let v = 0; v < this.vertexCount; ++v) {
      const r = Math.floor(v / this.perRod), s = (v % this.perRod) / (this.perRod - 1);
      out.set([s * this.length, tip * s * s * (1 + 0.1 * r), 0.12 * (r - (this.rods - 1) / 2)], 3 * v);
      if (pull && r === Math.floor(pull.vertex / this.perRod)) {
        const w = Math.exp(-(((v - pull.vertex) / (0.25 * this.perRod)) ** 2)) * Math.min(1, 4 * s);
        for (let k = 0; k < 3; ++k) out[3 * v + k] += w * pull.by[k];
      }
    }
    return out;
  }
  quaternions(position) {
    const q = new Float32Array(4 * this.segmentCount);
    for (let s = 0; s < this.segmentCount; ++s) {
      const r = Math.floor(s / (this.perRod - 1)), v = s + r;
      const d = [0, 1, 2].map((k) => position[3 * v + 3 + k] - position[3 * v + k]);
      const l = Math.hypot(...d);
      // The shortest turn from z to the segment.
      const w = 1 + d[2] / l, x = -d[1] / l, y = d[0] / l, m = Math.hypot(w, x, y);
      q.set([x / m, y / m, 0, w / m], 4 * s);
    }
    return q;
  }
  frame(index, time, tip, extra = {}) {
    const position = this.positions(tip, extra.pull);
    const moment = Array.from({ length: this.segmentCount - this.rods }, (_, j) => [0, tip * (1 - (j % (this.perRod - 2)) / this.perRod), 0.02]).flat();
    return packet({ type: "frame", slot: extra.slot ?? 0, index, time }, [
      ["position", "f32", position], ["frame", "f32", this.quaternions(position)],
      ["alive", "u8", extra.alive ?? Array(this.segmentCount).fill(1)], ["joint_moment", "f32", moment],
    ]);
  }
}

/** What a recorded run tells of itself: energies and the like that name their frame, and points at the ends of its motion. */
export const REPORT = (i, slot) => ({ energy: [i + slot, 2 * i, 3 * i, 100], residual: i === 0 ? -1 : 10 ** (-3 - slot), ms: 5 + i });
function recorded(rods, times, tip, slot) {
  const reports = times.map((_, i) => REPORT(i, slot));
  const points = times.flatMap((_, i) => [...rods.positions(tip(i))]);
  const landmarks = [0, 1, 2].flatMap((k) => {
    let low = 0, high = 0;
    for (let v = 0; v < points.length; v += 3) {
      if (points[v + k] < points[low + k]) low = v;
      if (points[v + k] > points[high + k]) high = v;
    }
    return [...points.slice(low, low + 3), ...points.slice(high, high + 3)];
  });
  return [
    ["landmarks", "f32", landmarks], ["energy", "f32", reports.flatMap((r) => r.energy)], ["residual_relative", "f32", reports.map((r) => r.residual)],
    ["compute_ms", "f32", reports.map((r) => r.ms)], ["iterations", "u32", reports.map((_, i) => i)],
  ];
}

/** A whole recording of `frames` frames (quantised, all but the first as differences), as base64. `tip(i)` is the deflection. */
export function recording(slots, frames, tip, dt = 1 / 30) {
  const parts = [];
  const add = (bytes) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    parts.push(size, bytes);
  };
  const times = Array.from({ length: frames }, (_, i) => i * dt);
  slots.forEach((rods, slot) => add(rods.model({ slot, name: `mock ${slot + 1}`, times, more: recorded(rods, times, (i) => tip(i, slot), slot) })));
  const origin = [-2, -2, -2], scale = 4 / 65535;
  const before = slots.map(() => null);
  for (let i = 0; i < frames; ++i)
    slots.forEach((rods, slot) => {
      const position = rods.positions(tip(i, slot));
      const q = Uint16Array.from(position, (x, k) => Math.round((x - origin[k % 3]) / scale));
      const turns = Int16Array.from(rods.quaternions(position), (x) => Math.round(x * 32767));
      const last = before[slot];
      add(packet({ type: "frame", slot, index: i, time: times[i], origin, scale, ...(last ? { delta: true } : {}) }, [
        ["position", "u16", last ? q.map((x, k) => x - last.q[k]) : q], ["frame", "i16", last ? turns.map((x, k) => x - last.turns[k]) : turns],
        ["alive", "u8", Array(rods.segmentCount).fill(1)],
      ]));
      before[slot] = { q, turns };
    });
  return gzipSync(Buffer.concat(parts)).toString("base64");
}

// Packets between the program and this page: a JSON header and little-endian arrays behind it. docs/viewer.md describes them.

export const PROTOCOL = 1;
export const MAGIC = 0x5249534f; // "OSIR"

const ARRAY_TYPES = {
  f32: Float32Array,
  f64: Float64Array,
  u32: Uint32Array,
  i32: Int32Array,
  u16: Uint16Array,
  i16: Int16Array,
  u8: Uint8Array,
} as const;
export type ArrayType = keyof typeof ARRAY_TYPES;
export type NumberArray = Float32Array | Float64Array | Uint32Array | Int32Array | Uint16Array | Int16Array | Uint8Array;

export interface Packet {
  header: Record<string, unknown>;
  arrays: Map<string, NumberArray>;
}

/** What is wrong with data from outside; its message is shown to the user. */
export class DataError extends Error {}

export interface Model {
  slot: number;
  name: string;
  live: boolean;
  rodCount?: number | undefined;  // without groups, which have names too
  rodNames: string[];
  /** Rods whose names differ in numbers alone: what they are called together, and which of these each rod is. */
  families: string[];
  rodFamily: Uint32Array;
  materialNames: string[];
  /** "#rrggbb" as the scene has it, or nothing where it leaves the choice to the page. */
  materialColors: (string | null)[];
  up: [number, number, number];
  /** Its height, "none" where the scene wants none, or nothing: then it lies below the rods. */
  ground: number | "none" | null;
  vertexCount: number;
  segmentCount: number;
  segments: Uint32Array;
  radius: Float32Array;
  restLength: Float32Array;
  segmentRod: Uint32Array;
  segmentMaterial: Uint32Array | null;
  joints: Uint32Array;
  jointLength: Float32Array;
  /** Rest rotations of the joints, xyzw, or nothing when they were not recorded. */
  jointRest: Float32Array | null;
  /** Points of all obstacles, xyz, and triangles of theirs; walls are seen from inside alone. */
  obstaclePoints: Float32Array | null;
  obstacleTriangles: Uint32Array;
  obstacleWalls: Uint32Array;
  /** Whether frames can tell what touches. */
  contacts: boolean;
  /** Playback: the time of every frame. */
  times: Float64Array | null;
  /** Playback: points at the ends of the whole motion, xyz. */
  landmarks: Float32Array | null;
  /** Playback: how the run was doing, frame by frame. */
  reports: Reports | null;
  /** Playback: what the probes of the run measured. */
  probes: Probes | null;
}

export interface Probes {
  /** "tip.x", "tip.y", ... */
  columns: string[];
  times: Float64Array;
  /** Per column, one for each time. */
  values: Float32Array[];
}

export interface Reports {
  /** Kinetic, stretch and shear, bend and twist, external [J], four for each frame. */
  energy: Float32Array;
  /** Negative where it was not measured. */
  residual: Float32Array;
  computeMs: Float32Array;
}

export interface Frame {
  slot: number;
  index: number;
  time: number;
  position: Float32Array;
  /** Unit quaternions xyzw, one per segment, or nothing when the sender left them out. */
  readonly quaternion: Float32Array | null;
  alive: Uint8Array | null;
  jointMoment: Float32Array | null;
  /** Where the points of obstacles are now, or nothing where none of them moves. */
  obstaclePoints: Float32Array | null;
  /** What touches, or nothing when the sender left it out. */
  contacts: Contacts | null;
}

export interface Contacts {
  /** Two for each: segments, or less than 0 for an obstacle. */
  segments: Int32Array;
  /** Three for each: where [m], and forces on the first segment [N]. */
  position: Float32Array;
  normalForce: Float32Array;
  frictionForce: Float32Array;
}

export interface Parameter {
  pointer: string;
  label: string;
  group: string;
  unit: string;
  value: number;
  min: number;
  max: number;
  log: boolean;
  /** A number without a fraction. */
  whole?: boolean;
  help?: string;
}

export interface Hello {
  type: "hello";
  protocol: number;
  mode: "live" | "playback";
  version?: string;
  scene?: string;
  time_step?: number;
  steps_per_frame?: number;
  fps?: number;
  is_static?: boolean;
  parameters?: Parameter[];
  forces?: { pointer: string; type: string; on: boolean }[];
  solvers?: string[];
  solver?: string;
  probe_columns?: string[];
  warnings?: string[];
}

export interface Status {
  type: "status";
  time: number;
  frame: number;
  playing: boolean;
  speed: number;
  ms_per_frame: number;
  kinetic: number;
  stretch_shear: number;
  bend_twist: number;
  external: number;
  total: number;
  residual_relative: number | null;
  iterations: number;
  vertices_alive: number;
  /** In the order of probe_columns; null where there is nothing to measure. */
  probes?: (number | null)[];
  error: string | null;
  note?: string | null;
}

/** Bytes an array takes: filled up to a multiple of four, or of eight for doubles. */
const padded = (bytes: number, type: ArrayType): number => {
  const unit = type === "f64" ? 8 : 4;
  return Math.ceil(bytes / unit) * unit;
};

/** Writes a packet; the page itself only reads, tests and the mock server write. */
export function encodePacket(header: Record<string, unknown>, arrays: { name: string; type: ArrayType; data: ArrayLike<number> }[]): Uint8Array {
  const described = { ...header, arrays: arrays.map(({ name, type, data }) => ({ name, type, count: data.length })) };
  const json = new TextEncoder().encode(JSON.stringify(described));
  const jsonBytes = Math.ceil(json.length / 4) * 4;
  const sizes = arrays.map(({ type, data }) => padded(data.length * ARRAY_TYPES[type].BYTES_PER_ELEMENT, type));
  const out = new Uint8Array(8 + jsonBytes + sizes.reduce((a, b) => a + b, 0)).fill(0x20, 8, 8 + jsonBytes);
  const view = new DataView(out.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, jsonBytes, true);
  out.set(json, 8);
  let at = 8 + jsonBytes;
  arrays.forEach(({ type, data }, i) => {
    out.set(new Uint8Array(ARRAY_TYPES[type].from(data).buffer), at);
    at += sizes[i]!;
  });
  return out;
}

/** Reads a packet. Every length is checked before it is believed. */
export function decodePacket(bytes: Uint8Array): Packet {
  if (bytes.length < 8) throw new DataError(`packet of ${bytes.length} bytes; its header alone takes 8`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) throw new DataError("packet does not start with OSIR");
  const jsonBytes = view.getUint32(4, true);
  if (8 + jsonBytes > bytes.length) throw new DataError(`packet of ${bytes.length} bytes claims a header of ${jsonBytes}`);
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, 8 + jsonBytes))) as Record<string, unknown>;
  } catch (error) {
    throw new DataError(`packet header is not JSON: ${(error as Error).message}`);
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) throw new DataError("packet header is not an object");
  const listed = header["arrays"] ?? [];
  if (!Array.isArray(listed)) throw new DataError("packet: arrays is not a list");
  const arrays = new Map<string, NumberArray>();
  let at = 8 + jsonBytes;
  for (const entry of listed as { name?: unknown; type?: unknown; count?: unknown }[]) {
    const { name, type, count } = entry;
    if (typeof name !== "string" || typeof type !== "string" || !(type in ARRAY_TYPES) || !Number.isInteger(count) || (count as number) < 0)
      throw new DataError(`packet: bad array entry ${JSON.stringify(entry)}`);
    const ctor = ARRAY_TYPES[type as ArrayType];
    const size = (count as number) * ctor.BYTES_PER_ELEMENT;
    if (at + size > bytes.length) throw new DataError(`packet ends inside array ${name}`);
    // In place where the address allows it: a large frame is not worth copying.
    const start = bytes.byteOffset + at;
    arrays.set(name, start % ctor.BYTES_PER_ELEMENT === 0
      ? new ctor(bytes.buffer as ArrayBuffer, start, count as number)
      : new ctor(new Uint8Array(bytes.subarray(at, at + size)).buffer, 0, count as number));
    at += padded(size, type as ArrayType);
  }
  return { header, arrays };
}

function need<T extends NumberArray>(packet: Packet, name: string, type: { new (n: number): T }, count?: number): T {
  const array = packet.arrays.get(name);
  if (!(array instanceof type)) throw new DataError(`${String(packet.header["type"])}: array ${name} is missing or of another type`);
  if (count !== undefined && array.length !== count)
    throw new DataError(`${String(packet.header["type"])}: array ${name} has ${array.length} numbers, ${count} are expected`);
  return array;
}

function optional<T extends NumberArray>(packet: Packet, name: string, type: { new (n: number): T }, count: number): T | null {
  return packet.arrays.has(name) ? need(packet, name, type, count) : null;
}

const text = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
export const slotOf = (packet: Packet): number => (packet.header["slot"] === 1 ? 1 : 0);

function inRange(array: Uint32Array, limit: number, what: string): void {
  for (let i = 0; i < array.length; ++i) if (array[i]! >= limit) throw new DataError(`model: ${what} ${i} names ${array[i]}, there are ${limit}`);
}

function readProbes(packet: Packet): Probes | null {
  const columns = strings(packet.header["probe_columns"]);
  if (columns.length === 0 || !packet.arrays.has("probe_times")) return null;
  const times = need(packet, "probe_times", Float64Array), all = need(packet, "probe_values", Float32Array, columns.length * times.length);
  return { columns, times, values: columns.map((_, c) => all.subarray(c * times.length, (c + 1) * times.length)) };
}

export function readModel(packet: Packet): Model {
  const h = packet.header;
  const radius = need(packet, "radius", Float32Array);
  const segments = need(packet, "segments", Uint32Array);
  if (segments.length % 2) throw new DataError("model: array segments has an odd length");
  const segmentCount = segments.length / 2;
  inRange(segments, radius.length, "segment end");
  const joints = packet.arrays.has("joints") ? need(packet, "joints", Uint32Array) : new Uint32Array();
  const up = h["up"];
  const times = packet.arrays.has("times") ? need(packet, "times", Float64Array) : null;
  const obstaclePoints = packet.arrays.has("obstacle_points") ? need(packet, "obstacle_points", Float32Array) : null;
  const triangles = (name: string): Uint32Array => {
    const list = obstaclePoints ? need(packet, name, Uint32Array) : new Uint32Array();
    inRange(list, (obstaclePoints?.length ?? 0) / 3, "corner of an obstacle");
    return list;
  };
  return {
    slot: slotOf(packet),
    name: text(h["name"], "unnamed"),
    live: h["live"] === true,
    rodCount: typeof h["rods"] === "number" ? h["rods"] : undefined,
    rodNames: strings(h["rod_names"]),
    families: strings(h["families"]),
    rodFamily: packet.arrays.has("rod_family") ? need(packet, "rod_family", Uint32Array) : new Uint32Array(),
    materialNames: strings(h["material_names"]),
    materialColors: Array.isArray(h["material_colors"]) ? h["material_colors"].map((c) => (typeof c === "string" && /^#[0-9a-f]{6}$/i.test(c) ? c : null)) : [],
    up: Array.isArray(up) && up.length === 3 && up.every(Number.isFinite) ? (up as [number, number, number]) : [0, 1, 0],
    ground: typeof h["ground"] === "number" || h["ground"] === "none" ? h["ground"] : null,
    vertexCount: radius.length,
    segmentCount,
    segments,
    radius,
    restLength: need(packet, "rest_length", Float32Array, segmentCount),
    segmentRod: need(packet, "segment_rod", Uint32Array, segmentCount),
    segmentMaterial: optional(packet, "segment_material", Uint32Array, segmentCount),
    joints,
    jointLength: optional(packet, "joint_length", Float32Array, joints.length / 2) ?? new Float32Array(joints.length / 2),
    jointRest: optional(packet, "joint_rest", Float32Array, 2 * joints.length),
    obstaclePoints,
    obstacleTriangles: triangles("obstacle_triangles"),
    obstacleWalls: triangles("obstacle_walls"),
    contacts: h["contacts"] === true,
    times,
    landmarks: packet.arrays.has("landmarks") ? need(packet, "landmarks", Float32Array) : null,
    reports: times && packet.arrays.has("energy") ? {
      energy: need(packet, "energy", Float32Array, 4 * times.length),
      residual: need(packet, "residual_relative", Float32Array, times.length),
      computeMs: need(packet, "compute_ms", Float32Array, times.length),
    } : null,
    probes: readProbes(packet),
  };
}

/** Quantised values of the frame before, for frames that hold differences. */
export interface Quantised {
  position: Uint16Array;
  quaternion: Int16Array | null;
}

/** Adds what a delta frame holds to the one before it; both wrap at 65536. */
export function undelta(packet: Packet, before: Quantised | null): Quantised | null {
  const position = packet.arrays.get("position");
  if (!(position instanceof Uint16Array)) return null;
  const frame = packet.arrays.get("frame");
  const now: Quantised = { position, quaternion: frame instanceof Int16Array ? frame : null };
  if (packet.header["delta"] !== true) return now;
  if (!before || before.position.length !== position.length) throw new DataError("recording: a frame of differences follows nothing");
  for (let i = 0; i < position.length; ++i) position[i] = position[i]! + before.position[i]!;
  if (now.quaternion) {
    if (before.quaternion?.length !== now.quaternion.length) throw new DataError("recording: orientations of differences follow nothing");
    for (let i = 0; i < now.quaternion.length; ++i) now.quaternion[i] = now.quaternion[i]! + before.quaternion[i]!;
  }
  return now;
}

/** Orientations stay packed until somebody asks: most frames of a recording are drawn without them. */
function turns(packed: NumberArray | undefined): Float32Array | null {
  if (!(packed instanceof Int16Array)) return (packed as Float32Array | undefined) ?? null;
  const out = new Float32Array(packed.length);
  for (let i = 0; i < packed.length; ++i) out[i] = packed[i]! / 32767; // Float32Array.from with a function takes thirty times as long
  return out;
}

function readContacts(packet: Packet): Contacts | null {
  if (!packet.arrays.has("contact_position")) return null;
  const position = need(packet, "contact_position", Float32Array);
  if (position.length % 3) throw new DataError("frame: array contact_position is not three numbers for each contact");
  return {
    segments: need(packet, "contact_segments", Int32Array, (2 * position.length) / 3),
    position,
    normalForce: need(packet, "contact_normal_force", Float32Array, position.length),
    frictionForce: need(packet, "contact_friction_force", Float32Array, position.length),
  };
}

/** The frame in a packet; `place` says where it is shown where that is not what the packet says. */
export function readFrame(packet: Packet, model: Model, place?: { slot: number; index: number }): Frame {
  const h = packet.header;
  const raw = packet.arrays.get("position");
  let position: Float32Array;
  if (raw instanceof Uint16Array) {
    const origin = h["origin"] as number[];
    const scale = h["scale"] as number;
    if (!Array.isArray(origin) || origin.length !== 3 || !Number.isFinite(scale)) throw new DataError("frame: quantised positions without origin or scale");
    const [x, y, z] = origin as [number, number, number];
    position = new Float32Array(raw.length);
    for (let i = 0; i + 2 < raw.length; i += 3) {
      position[i] = x + scale * raw[i]!;
      position[i + 1] = y + scale * raw[i + 1]!;
      position[i + 2] = z + scale * raw[i + 2]!;
    }
  } else {
    position = need(packet, "position", Float32Array);
  }
  if (position.length !== 3 * model.vertexCount)
    throw new DataError(`frame: array position has ${position.length} numbers, ${3 * model.vertexCount} are expected`);
  const turned = packet.arrays.get("frame");
  if (turned && !(turned instanceof Int16Array)) need(packet, "frame", Float32Array);
  if (turned && turned.length !== 4 * model.segmentCount)
    throw new DataError(`frame: array frame has ${turned.length} numbers, ${4 * model.segmentCount} are expected`);
  let quaternion: Float32Array | null | undefined;
  return {
    slot: place?.slot ?? slotOf(packet),
    index: place?.index ?? Number(h["index"] ?? 0),
    time: Number(h["time"] ?? 0),
    position,
    get quaternion() {
      return quaternion === undefined ? (quaternion = turns(turned)) : quaternion;
    },
    alive: optional(packet, "alive", Uint8Array, model.segmentCount),
    jointMoment: optional(packet, "joint_moment", Float32Array, (3 * model.joints.length) / 2),
    obstaclePoints: model.obstaclePoints ? optional(packet, "obstacle_points", Float32Array, model.obstaclePoints.length) : null,
    contacts: readContacts(packet),
  };
}

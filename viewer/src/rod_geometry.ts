// The two shapes a segment is drawn with, for the vertex shader to bend into place, and the choice between them.

export interface Grid {
  position: Float32Array;
  index: Uint16Array;
}

function strip(rows: [along: number, cap: number][], columns: number[]): Grid {
  const position = new Float32Array(rows.length * columns.length * 3);
  let k = 0;
  for (const [along, cap] of rows)
    for (const across of columns) {
      position[k++] = along;
      position[k++] = across;
      position[k++] = cap;
    }
  const index: number[] = [];
  const n = columns.length;
  for (let r = 0; r + 1 < rows.length; ++r)
    for (let c = 0; c + 1 < n; ++c) {
      const at = r * n + c;
      index.push(at, at + 1, at + n, at + n, at + 1, at + n + 1);
    }
  return { position, index: Uint16Array.from(index) };
}

/** Triangles of the ribbons of the listed segments; a vertex number is segment · 2 (steps + 1) + corner. Returns how many were written. */
export function ribbonIndices(steps: number, segments: Iterable<number>, out: Uint32Array): number {
  let n = 0;
  for (const s of segments) {
    let at = s * 2 * (steps + 1);
    for (let i = 0; i < steps; ++i, at += 2) {
      out[n++] = at;
      out[n++] = at + 1;
      out[n++] = at + 2;
      out[n++] = at + 2;
      out[n++] = at + 1;
      out[n++] = at + 3;
    }
  }
  return n;
}

const CAP_RINGS = [90, 60, 30];
export const tubeTriangles = (steps: number, sides: number): number => 2 * sides * (steps + 2 * CAP_RINGS.length);

/** A round tube with a cap at each end; the shader flattens the caps of ends that continue. */
export function tubeGrid(steps: number, sides: number): Grid {
  const cap = CAP_RINGS.map((degrees) => (degrees * Math.PI) / 180);
  const rows: [number, number][] = [
    ...cap.map((angle): [number, number] => [0, -angle]),
    ...Array.from({ length: steps + 1 }, (_, i): [number, number] => [i / steps, 0]),
    ...cap.reverse().map((angle): [number, number] => [1, angle]),
  ];
  return strip(rows, Array.from({ length: sides + 1 }, (_, i) => i / sides));
}

/** Segments in runs of CHUNK neighbours; a chunk is drawn, or left out, as a whole. */
export const CHUNK = 96;

export interface Chunks {
  count: number;
  /** Per chunk: centre and radius of a ball around it, and its thickest vertex. */
  ball: Float32Array;
  thickest: Float32Array;
  /** Per chunk: first and last vertex where all between belong to it, as in strands; otherwise nothing (last < first). */
  run: Int32Array;
  /** Around all of them: low x, y, z, high x, y, z. */
  box: Float64Array;
}

export function makeChunks(segments: Uint32Array, radius: Float32Array): Chunks {
  const count = Math.ceil(segments.length / 2 / CHUNK);
  const thickest = new Float32Array(count), run = new Int32Array(2 * count);
  for (let c = 0; c < count; ++c) {
    let first = Infinity, last = -1;
    const to = Math.min(segments.length, 2 * (c + 1) * CHUNK);
    for (let i = 2 * c * CHUNK; i < to; ++i) {
      const v = segments[i]!;
      thickest[c] = Math.max(thickest[c]!, radius[v]!);
      first = Math.min(first, v);
      last = Math.max(last, v);
    }
    // A few vertices of neighbours more do no harm to a ball.
    const compact = last - first < to - 2 * c * CHUNK;
    run[2 * c] = compact ? first : 0;
    run[2 * c + 1] = compact ? last : -1;
  }
  return { count, ball: new Float32Array(4 * count), thickest, run, box: new Float64Array(6) };
}

export function updateBalls(chunks: Chunks, segments: Uint32Array, x: Float32Array): void {
  const { ball, thickest, run, box } = chunks;
  box.fill(Infinity, 0, 3).fill(-Infinity, 3);
  for (let c = 0; c < chunks.count; ++c) {
    let x0 = Infinity, y0 = Infinity, z0 = Infinity, x1 = -Infinity, y1 = -Infinity, z1 = -Infinity;
    const inRun = run[2 * c + 1]! >= run[2 * c]!;
    const from = inRun ? run[2 * c]! : 2 * c * CHUNK, to = inRun ? run[2 * c + 1]! + 1 : Math.min(segments.length, 2 * (c + 1) * CHUNK);
    for (let i = from; i < to; ++i) {
      const v = 3 * (inRun ? i : segments[i]!), a = x[v]!, b = x[v + 1]!, d = x[v + 2]!;
      if (a < x0) x0 = a;
      if (a > x1) x1 = a;
      if (b < y0) y0 = b;
      if (b > y1) y1 = b;
      if (d < z0) z0 = d;
      if (d > z1) z1 = d;
    }
    ball[4 * c] = (x0 + x1) / 2;
    ball[4 * c + 1] = (y0 + y1) / 2;
    ball[4 * c + 2] = (z0 + z1) / 2;
    ball[4 * c + 3] = Math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / 2 + thickest[c]!;
    box[0] = Math.min(box[0]!, x0);
    box[1] = Math.min(box[1]!, y0);
    box[2] = Math.min(box[2]!, z0);
    box[3] = Math.max(box[3]!, x1);
    box[4] = Math.max(box[4]!, y1);
    box[5] = Math.max(box[5]!, z1);
  }
}

export interface Eye {
  position: [number, number, number];
  /** Six planes as (normal, offset), positive inside. */
  planes: number[][];
  pixelAngle: number;
}

export interface Lod {
  /** Pixels of radius from which a chunk is drawn as tubes. */
  tubePixels: number;
  /** The most segments drawn as tubes. */
  tubeBudget: number;
}

export const HIDDEN = 0, RIBBON = 1, TUBE = 2;

/** Chooses a shape for each chunk by its thickness on the screen; the nearest first when there are too many for tubes. */
export function chooseShapes(chunks: Chunks, eye: Eye, lod: Lod, out: Uint8Array): void {
  const near: { chunk: number; pixels: number }[] = [];
  for (let c = 0; c < chunks.count; ++c) {
    const x = chunks.ball[4 * c]!, y = chunks.ball[4 * c + 1]!, z = chunks.ball[4 * c + 2]!, r = chunks.ball[4 * c + 3]!;
    out[c] = RIBBON;
    for (const p of eye.planes) if (p[0]! * x + p[1]! * y + p[2]! * z + p[3]! < -r) out[c] = HIDDEN;
    if (out[c] === HIDDEN) continue;
    const range = Math.hypot(x - eye.position[0], y - eye.position[1], z - eye.position[2]) - r;
    const pixels = chunks.thickest[c]! / (eye.pixelAngle * Math.max(range, chunks.thickest[c]!));
    if (pixels >= lod.tubePixels) near.push({ chunk: c, pixels });
  }
  near.sort((a, b) => b.pixels - a.pixels);
  for (const { chunk } of near.slice(0, Math.floor(lod.tubeBudget / CHUNK))) out[chunk] = TUBE;
}

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

/** A round tube with a cap at each end; the shader flattens the caps of ends that continue. */
export function tubeGrid(steps: number, sides: number): Grid {
  const cap = [90, 60, 30].map((degrees) => (degrees * Math.PI) / 180);
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
}

export function makeChunks(segments: Uint32Array, radius: Float32Array): Chunks {
  const count = Math.ceil(segments.length / 2 / CHUNK);
  const thickest = new Float32Array(count);
  for (let i = 0; i < segments.length; ++i) {
    const chunk = Math.floor(i / 2 / CHUNK);
    thickest[chunk] = Math.max(thickest[chunk]!, radius[segments[i]!]!);
  }
  return { count, ball: new Float32Array(4 * count), thickest };
}

export function updateBalls(chunks: Chunks, segments: Uint32Array, position: Float32Array): void {
  for (let c = 0; c < chunks.count; ++c) {
    const from = 2 * c * CHUNK, to = Math.min(segments.length, from + 2 * CHUNK);
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = from; i < to; ++i) {
      const v = 3 * segments[i]!;
      for (let k = 0; k < 3; ++k) {
        const x = position[v + k]!;
        if (x < low[k]!) low[k] = x;
        if (x > high[k]!) high[k] = x;
      }
    }
    for (let k = 0; k < 3; ++k) chunks.ball[4 * c + k] = (low[k]! + high[k]!) / 2;
    chunks.ball[4 * c + 3] = Math.hypot(high[0]! - low[0]!, high[1]! - low[1]!, high[2]! - low[2]!) / 2 + chunks.thickest[c]!;
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
    const [x, y, z, r] = [chunks.ball[4 * c]!, chunks.ball[4 * c + 1]!, chunks.ball[4 * c + 2]!, chunks.ball[4 * c + 3]!];
    out[c] = RIBBON;
    if (eye.planes.some((p) => p[0]! * x + p[1]! * y + p[2]! * z + p[3]! < -r)) {
      out[c] = HIDDEN;
      continue;
    }
    const range = Math.hypot(x - eye.position[0], y - eye.position[1], z - eye.position[2]) - r;
    const pixels = chunks.thickest[c]! / (eye.pixelAngle * Math.max(range, chunks.thickest[c]!));
    if (pixels >= lod.tubePixels) near.push({ chunk: c, pixels });
  }
  near.sort((a, b) => b.pixels - a.pixels);
  for (const { chunk } of near.slice(0, Math.floor(lod.tubeBudget / CHUNK))) out[chunk] = TUBE;
}

// Colours of rods: a palette for names, colour maps for numbers, and how far a map reaches.
import type { Measure } from "./measures";

/** By names, or by numbers. */
export type Category = "family" | "rod" | "material";
export type ColorBy = Category | Measure;
export const isCategory = (mode: ColorBy): mode is Category => mode === "family" || mode === "rod" || mode === "material";

/** What the legend says of a number: what has changed since rest, or what there is. Stretch is a change by itself. */
export const colorLabel = (mode: ColorBy, sinceRest: boolean): string =>
  mode === "curvature" || mode === "twist" ? (sinceRest ? `Change of ${mode}` : mode === "twist" ? "Twist" : "Curvature") : COLOR_MODES.find((m) => m.value === mode)!.label;

export const COLOR_MODES: { value: ColorBy; label: string; unit: string }[] = [
  { value: "rod", label: "Rod", unit: "" },
  { value: "material", label: "Material", unit: "" },
  { value: "stretch", label: "Stretch", unit: "%" },
  { value: "curvature", label: "Curvature", unit: "1/m" },
  { value: "twist", label: "Twist", unit: "rad/m" },
  { value: "family", label: "Family", unit: "" },
];

/** Distinct at equal lightness, readable on light and dark ground. */
export const PALETTE = ["#3f8fb5", "#d98336", "#57a05b", "#b9574f", "#8470b8", "#b39a34", "#c4719f", "#3fa39a", "#7c8894", "#9a7148", "#6f92d6", "#93a83f"];

/** What has this number among the names of a category: the scene's own colour, or one of the palette. */
export const categoryColor = (number: number, own: (string | null)[] = []): string => own[number] ?? PALETTE[number % PALETTE.length]!;

/** How a model is coloured until the user chooses: as its author says; else rod by rod while there are colours to tell them apart. */
export function usualColor(models: { materialColors: (string | null)[]; families: string[]; rodNames: string[] }[]): Category {
  if (models.some((m) => m.materialColors.some((c) => c !== null))) return "material";
  return models.some((m) => m.families.length > 0 && m.rodNames.length > PALETTE.length) ? "family" : "rod";
}

const SEQUENTIAL = ["#40308a", "#3c62a8", "#2c93a0", "#62bb72", "#c9d44a", "#fbe65c"];
const DIVERGING = ["#1f4fa3", "#4f8fd0", "#b9cbd8", "#d9cfc4", "#e08a5a", "#b5322a"];

export const isSigned = (kind: Measure): boolean => kind !== "curvature";
const stops = (kind: Measure): string[] => (isSigned(kind) ? DIVERGING : SEQUENTIAL);

export function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

/** RGBA bytes of a colour map, or of the palette repeated, in `size` texels. */
export function colorTable(mode: ColorBy, size: number, own: (string | null)[] = []): Uint8Array<ArrayBuffer> {
  const table = new Uint8Array(4 * size);
  for (let i = 0; i < size; ++i) {
    let c: [number, number, number];
    if (isCategory(mode)) {
      c = rgb(categoryColor(i, mode === "material" ? own : []));
    } else {
      const list = stops(mode).map(rgb);
      const x = (i / (size - 1)) * (list.length - 1);
      const k = Math.min(list.length - 2, Math.floor(x));
      c = list[k]!.map((from, j) => from + (x - k) * (list[k + 1]![j]! - from)) as [number, number, number];
    }
    table.set([...c, 255], 4 * i);
  }
  return table;
}

export const gradient = (kind: Measure): string => `linear-gradient(to right, ${stops(kind).join(", ")})`;

/** Up to this many values the range reaches to the largest; of more, one in fifty may lie beyond it, as one kink would pale all the rest. */
const FEW = 1000;

/** The largest value, or of many the one that two per cent exceed (of a sample of them). */
export function highEnd(values: Float32Array, signed: boolean): number {
  const size = (x: number): number => (signed ? Math.abs(x) : x);
  if (values.length <= FEW) return values.reduce((most, x) => Math.max(most, size(x)), 0);
  const stride = Math.max(1, Math.floor(values.length / 4000));
  const sample = new Float32Array(Math.ceil(values.length / stride));
  let n = 0;
  for (let i = 0; i < values.length; i += stride) if (Number.isFinite(values[i])) sample[n++] = size(values[i]!);
  return n > 0 ? sample.subarray(0, n).sort()[Math.floor(0.98 * (n - 1))]! : 0;
}

/** The values a colour map spans: it grows and does not shrink, so that a colour keeps its meaning from frame to frame. */
export class ColorRange {
  /** Smallest and largest, for the shader. */
  readonly ends = { x: 0, y: 0 };
  /** Some values may lie beyond the ends. */
  beyond = false;

  get min(): number {
    return this.ends.x;
  }
  get max(): number {
    return this.ends.y;
  }
  reset(): void {
    this.beyond = false;
    this.ends.x = this.ends.y = 0;
  }
  include(values: Float32Array, signed: boolean): void {
    if (values.length === 0) return;
    const high = highEnd(values, signed);
    this.beyond ||= values.length > FEW;
    this.ends.y = Math.max(this.ends.y, high);
    this.ends.x = signed ? -this.ends.y : 0;
  }
}

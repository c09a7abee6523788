// Numbers as people read them: three digits, SI prefixes, round lengths for scale bars.

const PREFIXES: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

const trim = (x: number): string => String(Number(x.toPrecision(3)));

/** 0.0123 m -> "12.3 mm". Units that are not simple (1/m, N·m²) or dimensionless take a power of ten instead of a prefix. */
export function withUnit(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit}`.trim();
  const size = Math.abs(value);
  if (/^(m|s|N|J|Pa|W|N·m|N m)$/.test(unit) && size >= 1e-10) {
    const [factor, prefix] = PREFIXES.find(([f]) => size >= f * 0.9995) ?? PREFIXES[PREFIXES.length - 1]!;
    return `${trim(value / factor)} ${prefix}${unit}`;
  }
  return `${number(value)} ${unit}`.trim();
}

export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(2).split("e") as [string, string];
    return `${Number(mantissa)}·10${superscript(Number(exponent))}`;
  }
  return trim(value);
}

const superscript = (n: number): string => [...String(n)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]!)).join("");

/** The largest of 1, 2, 5 · 10ⁿ that does not exceed x. */
export function roundDown(x: number): number {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  const lead = x / power + 1e-9;
  return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

export const clock = (seconds: number): string =>
  seconds >= 100 || seconds <= -100 ? `${seconds.toFixed(1)} s` : `${seconds.toFixed(3)} s`;

/** A slider's position 0..1 to a value and back; logarithmic where both ends are positive and it is asked for. */
export const fromSlider = (t: number, min: number, max: number, log: boolean): number =>
  log && min > 0 && max > 0 ? min * (max / min) ** t : min + t * (max - min);
export const toSlider = (value: number, min: number, max: number, log: boolean): number => {
  const t = log && min > 0 && max > 0 && value > 0 ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
  return Number.isFinite(t) ? Math.min(1, Math.max(0, t)) : 0;
};

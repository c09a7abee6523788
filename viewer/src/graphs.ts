// Strip charts of what the program reports with every frame.
import { h } from "./dom";
import { number, withUnit } from "./units";

const KEPT = 900;

export interface Series {
  label: string;
  color: string;
}

export class Graph {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {});
  private readonly readouts: HTMLElement[];
  private time: number[] = [];
  private values: number[][];
  private scheduled = false;

  constructor(title: string, private readonly unit: string, private readonly series: Series[], private readonly logarithmic = false) {
    this.values = series.map(() => []);
    this.readouts = series.map(() => h("b", {}, "–"));
    this.element = h("figure", { class: "graph" },
      h("figcaption", {}, h("span", {}, title),
        h("span", { class: "readouts" }, ...series.map((s, i) => {
          const chip = h("i", {});
          chip.style.background = s.color;
          return h("span", {}, chip, series.length > 1 ? `${s.label} ` : "", this.readouts[i]!);
        }))),
      this.canvas);
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  clear(): void {
    this.time = [];
    this.values = this.series.map(() => []);
    this.redraw();
  }

  push(time: number, values: number[]): void {
    if (this.time.length && time < this.time[this.time.length - 1]!) this.clear(); // the run was reset
    this.time.push(time);
    values.forEach((x, i) => this.values[i]!.push(x));
    if (this.time.length > KEPT) for (const list of [this.time, ...this.values]) list.shift();
    this.redraw();
  }

  redraw(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  private draw(): void {
    this.values.forEach((list, i) => (this.readouts[i]!.textContent = list.length ? withUnit(list[list.length - 1]!, this.unit) : "–"));
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const g = this.canvas.getContext("2d")!;
    g.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const ink = style.getPropertyValue("--muted"), rule = style.getPropertyValue("--rule");
    const put = (x: number): number => (this.logarithmic ? Math.log10(Math.max(x, 1e-300)) : x);
    let low = Infinity, high = -Infinity;
    for (const list of this.values) for (const x of list) {
      if (!Number.isFinite(x) || (this.logarithmic && x <= 0)) continue;
      low = Math.min(low, put(x));
      high = Math.max(high, put(x));
    }
    const bottom = height - 4, top = 4;
    g.strokeStyle = rule;
    g.lineWidth = 1;
    for (const y of [top, bottom]) {
      g.beginPath();
      g.moveTo(0, Math.round(y) + 0.5);
      g.lineTo(width, Math.round(y) + 0.5);
      g.stroke();
    }
    if (!(high >= low)) return;
    if (high - low < 1e-9 * Math.max(Math.abs(high), 1e-12)) (low -= Math.abs(low) * 0.05 || 0.5), (high += Math.abs(high) * 0.05 || 0.5);
    const y = (v: number): number => bottom - ((put(v) - low) / (high - low)) * (bottom - top);
    const n = this.time.length;
    this.series.forEach((s, i) => {
      g.strokeStyle = s.color;
      g.lineWidth = 1.5;
      g.beginPath();
      let down = false;
      this.values[i]!.forEach((v, k) => {
        const ok = Number.isFinite(v) && (!this.logarithmic || v > 0);
        const px = n > 1 ? (k / (n - 1)) * width : width;
        if (ok) down ? g.lineTo(px, y(v)) : g.moveTo(px, y(v));
        down = ok;
      });
      g.stroke();
    });
    g.fillStyle = ink;
    g.font = "10px system-ui, sans-serif";
    const label = (v: number): string => number(this.logarithmic ? 10 ** v : v);
    g.textBaseline = "top";
    g.fillText(label(high), 3, top + 3);
    g.textBaseline = "bottom";
    g.fillText(label(low), 3, bottom - 2);
    g.textAlign = "right";
    g.fillText(`${number(this.time[0]!)}–${number(this.time[n - 1]!)} s`, width - 3, bottom - 2);
  }
}

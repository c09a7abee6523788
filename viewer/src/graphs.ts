// Charts over time: of a running simulation what the program reports with every frame, of recorded runs what was recorded with them.
import { h } from "./dom";
import { nearestTo } from "./playback";
import { number, withUnit } from "./units";

const KEPT = 900;

export interface Series {
  label: string;
  color: string;
}

/** One run: its times and, for each series, its values. */
export interface Curves {
  time: ArrayLike<number>;
  values: ArrayLike<number>[];
}

/** A second run is drawn with the same colours, broken. */
const DASHES = [[], [3, 3]];

export class Graph {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", {});
  private readonly readouts: HTMLElement[];
  private runs: Curves[] = [];
  private readonly live: { time: number[]; values: number[][] };
  /** Recorded: the time shown, and the entry of each run that belongs to it. */
  private cursor: { time: number; at: number[] } | null = null;
  private scheduled = false;
  /** The curves as drawn last; the cursor goes on top. */
  private readonly picture = document.createElement("canvas");
  private stale = true;
  private span: [number, number] = [0, 1];

  constructor(title: string, private readonly unit: string, private readonly series: Series[], private readonly logarithmic = false, onSeek?: (time: number) => void) {
    this.live = { time: [], values: series.map(() => []) };
    this.runs = [this.live];
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
    const seek = (event: PointerEvent): void => {
      if (!this.cursor || !(event.buttons & 1)) return;
      const box = this.canvas.getBoundingClientRect();
      onSeek?.(this.span[0] + ((event.clientX - box.left) / box.width) * (this.span[1] - this.span[0]));
    };
    this.canvas.addEventListener("pointerdown", seek);
    this.canvas.addEventListener("pointermove", seek);
  }

  clear(): void {
    this.live.time = [];
    this.live.values = this.series.map(() => []);
    this.redraw();
  }

  push(time: number, values: number[]): void {
    const { live } = this;
    if (live.time.length && time < live.time[live.time.length - 1]!) this.clear(); // the run was reset
    live.time.push(time);
    values.forEach((x, i) => live.values[i]!.push(x));
    if (live.time.length > KEPT) for (const list of [live.time, ...live.values]) list.shift();
    this.redraw();
  }

  /** Shows whole runs instead of what comes in. */
  setRuns(runs: Curves[]): void {
    this.runs = runs;
    this.cursor = { time: runs[0]?.time[0] ?? 0, at: runs.map(() => 0) };
    this.redraw();
  }
  setCursor(time: number): void {
    this.cursor = { time, at: this.runs.map((run) => nearestTo(run.time, time)) };
    this.redraw(false);
  }

  /** The numbers beside the title, run by run: for tests and for reading aloud. */
  shown(): (number | undefined)[][] {
    return this.runs.map((run, r) => run.values.map((list) => list[this.cursor ? (this.cursor.at[r] ?? 0) : list.length - 1]));
  }

  redraw(stale = true): void {
    this.stale ||= stale;
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  private draw(): void {
    const shown = this.shown();
    this.readouts.forEach((place, i) => (place.textContent = shown.map((run) => (run[i] === undefined ? "–" : withUnit(run[i]!, this.unit))).join(" | ")));
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.stale) {
      this.stale = false;
      this.picture.width = width * ratio;
      this.picture.height = height * ratio;
      const g = this.picture.getContext("2d")!;
      g.scale(ratio, ratio);
      this.drawCurves(g, width, height);
    }
    if (this.canvas.width !== this.picture.width || this.canvas.height !== this.picture.height) {
      this.canvas.width = this.picture.width;
      this.canvas.height = this.picture.height;
    }
    const g = this.canvas.getContext("2d")!;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.picture.width && this.picture.height) g.drawImage(this.picture, 0, 0);
    if (!this.cursor) return;
    g.scale(ratio, ratio);
    g.fillStyle = getComputedStyle(this.canvas).getPropertyValue("--ink");
    g.fillRect(Math.min(width - 1, Math.max(0, this.place(this.cursor.time, width) - 0.5)), 0, 1, height);
  }

  private place(time: number, width: number): number {
    return this.span[1] > this.span[0] ? ((time - this.span[0]) / (this.span[1] - this.span[0])) * width : width;
  }

  private drawCurves(g: CanvasRenderingContext2D, width: number, height: number): void {
    const style = getComputedStyle(this.canvas);
    const put = (x: number): number => (this.logarithmic ? Math.log10(Math.max(x, 1e-300)) : x);
    const usable = (x: number): boolean => Number.isFinite(x) && (!this.logarithmic || x > 0);
    let low = Infinity, high = -Infinity;
    for (const run of this.runs)
      for (const list of run.values)
        for (let k = 0; k < list.length; ++k) {
          if (!usable(list[k]!)) continue;
          low = Math.min(low, put(list[k]!));
          high = Math.max(high, put(list[k]!));
        }
    const bottom = height - 4, top = 4;
    g.strokeStyle = style.getPropertyValue("--rule");
    g.lineWidth = 1;
    for (const y of [top, bottom]) {
      g.beginPath();
      g.moveTo(0, Math.round(y) + 0.5);
      g.lineTo(width, Math.round(y) + 0.5);
      g.stroke();
    }
    const ends = this.runs.filter((run) => run.time.length > 0).map((run) => [run.time[0]!, run.time[run.time.length - 1]!] as const);
    this.span = [Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1]))];
    if (!(high >= low)) return;
    if (high - low < 1e-9 * Math.max(Math.abs(high), 1e-12)) (low -= Math.abs(low) * 0.05 || 0.5), (high += Math.abs(high) * 0.05 || 0.5);
    const y = (v: number): number => bottom - ((put(v) - low) / (high - low)) * (bottom - top);
    g.lineWidth = 1.5;
    this.runs.forEach((run, r) =>
      this.series.forEach((s, i) => {
        g.strokeStyle = s.color;
        g.setLineDash(DASHES[r] ?? []);
        this.stroke(g, run.time, run.values[i]!, width, y, usable);
      }));
    g.setLineDash([]);
    g.fillStyle = style.getPropertyValue("--muted");
    g.font = "10px system-ui, sans-serif";
    g.strokeStyle = style.getPropertyValue("--surface");
    g.lineWidth = 3;
    const label = (v: number): string => withUnit(this.logarithmic ? 10 ** v : Math.abs(v) < 1e-9 * (high - low) ? 0 : v, this.unit);
    const write = (text: string, x: number, at: number, align: CanvasTextAlign, baseline: CanvasTextBaseline): void => {
      Object.assign(g, { textAlign: align, textBaseline: baseline });
      g.strokeText(text, x, at); // a rim, so that curves do not cross it out
      g.fillText(text, x, at);
    };
    write(label(high), 3, top + 3, "left", "top");
    write(label(low), 3, bottom - 2, "left", "bottom");
    write(`${number(this.span[0])}–${number(this.span[1])} s`, width - 3, bottom - 2, "right", "bottom");
  }

  /** Of many points in one column of pixels, lowest and highest are enough: a spike stays, and ten thousand frames draw like a hundred. */
  private stroke(g: CanvasRenderingContext2D, time: ArrayLike<number>, list: ArrayLike<number>, width: number, y: (v: number) => number, usable: (v: number) => boolean): void {
    g.beginPath();
    let down = false;
    for (let k = 0; k < list.length; ) {
      if (!usable(list[k]!)) {
        down = false;
        ++k;
        continue;
      }
      const px = this.place(time[k]!, width);
      let least = list[k]!, most = least, last = least;
      for (++k; k < list.length && usable(list[k]!) && this.place(time[k]!, width) - px < 0.5; ++k) {
        last = list[k]!;
        least = Math.min(least, last);
        most = Math.max(most, last);
      }
      if (down) g.lineTo(px, y(least));
      else g.moveTo(px, y(least));
      if (most > least) {
        g.lineTo(px, y(most));
        g.lineTo(px, y(last));
      }
      down = true;
    }
    g.stroke();
  }
}

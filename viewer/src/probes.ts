// Graphs of what probes measure: of each probe one for each quantity, from columns such as "tip.x" (docs/output.md names them all).
import { PALETTE } from "./colors";
import { h } from "./dom";
import { type Curves, Graph } from "./graphs";
import type { Model } from "./protocol";

interface Quantity {
  title: string;
  unit: string;
  columns: RegExp;
}
const QUANTITIES: Quantity[] = [
  { title: "position", unit: "m", columns: /^[xyz]$/ },
  { title: "velocity", unit: "m/s", columns: /^v[xyz]$/ },
  { title: "force", unit: "N", columns: /^(f[xyz]|tension)$/ },
  { title: "moment", unit: "N·m", columns: /^m[xyz]$/ },
  { title: "angle", unit: "rad", columns: /^angle$/ },
  { title: "section force", unit: "N", columns: /^n[123]$/ },
  { title: "section moment", unit: "N·m", columns: /^m[123]$/ },
  { title: "strain", unit: "", columns: /^g[123]$/ },
  { title: "curvature", unit: "1/m", columns: /^k[123]$/ },
  { title: "tangent", unit: "", columns: /^t[xyz]$/ },
  { title: "orientation", unit: "", columns: /^q[xyzw]$/ },
];
const OTHER: Quantity = { title: "value", unit: "", columns: /.*/ };
/** Probes whose graphs are open at first: a scene may have dozens. */
const OPEN = 2;

/** Columns of one graph: places in the list of all columns. */
export interface Plot {
  probe: string;
  quantity: Quantity;
  names: string[];
  places: number[];
}

/** What belongs into one graph: the components of one quantity of one probe, in order of appearance. */
export function plotsOf(columns: string[]): Plot[] {
  const plots: Plot[] = [];
  columns.forEach((column, place) => {
    const dot = column.lastIndexOf("."), probe = column.slice(0, dot), name = column.slice(dot + 1);
    const quantity = QUANTITIES.find((q) => q.columns.test(name)) ?? OTHER;
    let plot = plots.find((p) => p.probe === probe && p.quantity === quantity);
    if (!plot) plots.push((plot = { probe, quantity, names: [], places: [] }));
    plot.names.push(name);
    plot.places.push(place);
  });
  return plots;
}

export class ProbeGraphs {
  readonly element = h("section", { class: "graphs probes", hidden: true });
  graphs: Graph[] = [];
  private plots: Plot[] = [];
  private columns = "";

  constructor(private readonly seek: (time: number) => void) {}

  /** Makes the graphs; nothing where they are there already. */
  setColumns(columns: string[]): void {
    if (columns.join() === this.columns) return;
    this.columns = columns.join();
    this.plots = plotsOf(columns);
    this.graphs = this.plots.map(({ quantity, names }) =>
      new Graph(quantity.title, quantity.unit, names.map((label, i) => ({ label, color: PALETTE[i % PALETTE.length]! })), false, this.seek));
    const probes = [...new Set(this.plots.map((p) => p.probe))];
    this.element.hidden = probes.length === 0;
    this.element.replaceChildren(h("h2", {}, "Probes"), ...probes.map((probe, i) =>
      h("details", { open: i < OPEN }, h("summary", {}, probe), ...this.graphs.filter((_, g) => this.plots[g]!.probe === probe).map((g) => g.element))));
  }

  push(time: number, values: (number | null)[]): void {
    this.graphs.forEach((graph, g) => graph.push(time, this.plots[g]!.places.map((place) => values[place] ?? NaN)));
  }

  /** Recorded runs; one that has no such column has no curve in that graph. */
  setRuns(models: Model[]): void {
    const all = [...new Set(models.flatMap((m) => m.probes?.columns ?? []))];
    this.setColumns(all);
    this.graphs.forEach((graph, g) => graph.setRuns(models.map((m): Curves => ({
      time: m.probes?.times ?? new Float64Array(),
      values: this.plots[g]!.places.map((place) => m.probes?.values[m.probes.columns.indexOf(all[place]!)] ?? new Float32Array()),
    }))));
  }
}

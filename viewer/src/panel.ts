// The panel beside the picture: how to look, and what can be changed while a simulation runs.
import { COLOR_MODES, type ColorBy, usualColor } from "./colors";
import { h, select, toggle } from "./dom";
import { Graph } from "./graphs";
import { ProbeGraphs } from "./probes";
import type { Hello, Model, Parameter, Status } from "./protocol";
import type { ViewOptions } from "./stage";
import { fromSlider, toSlider, withUnit } from "./units";

export interface PanelActions {
  view(options: ViewOptions): void;
  set(pointer: string, value: number): void;
  force(pointer: string, on: boolean): void;
  solver(name: string): void;
  seek(time: number): void;
  /** Asks the program for the scene with what has been changed. */
  saveScene(): void;
}

const STEPS = 400;
/** A slider in motion sends at most this often [ms]. */
const PACE = 90;

export class Panel {
  readonly element: HTMLElement;
  readonly options: ViewOptions = { colorBy: "rod", sinceRest: true, frames: false, moments: false, contacts: false, ground: true, follow: true };
  private readonly color;
  private readonly frames;
  private readonly moments;
  private readonly contacts;
  private readonly ground;
  private readonly follow;
  /** Until the user chooses, colours are what suits the model. */
  private colorChosen = false;
  private readonly sinceRest;
  private readonly live = h("div", { class: "live" });
  private readonly facts = h("dl", { class: "facts" });
  readonly energy: Graph;
  readonly residual: Graph;
  readonly cost: Graph;
  readonly probes: ProbeGraphs;
  private readonly graphs: HTMLElement;
  private readonly runNames = h("p", { class: "run-names", hidden: true });

  private shape = "";
  private knowsRest = true;
  private updates: ((hello: Hello) => void)[] = [];

  constructor(private readonly actions: PanelActions) {
    const seek = (time: number): void => actions.seek(time);
    this.energy = new Graph("Energy", "J", [
      { label: "total", color: "#7c8894" }, { label: "kinetic", color: "#d98336" }, { label: "stretch", color: "#3f8fb5" }, { label: "bend", color: "#57a05b" },
    ], false, seek);
    this.residual = new Graph("Residual, relative", "", [{ label: "residual", color: "#b9574f" }], true, seek);
    this.cost = new Graph("Time per frame", "s", [{ label: "time", color: "#8470b8" }], false, seek);
    this.probes = new ProbeGraphs(seek);
    this.graphs = h("section", { class: "graphs" }, h("h2", {}, "Graphs"), this.runNames, this.energy.element, this.residual.element, this.cost.element);
    const changed = (): void => {
      this.offerSinceRest();
      this.actions.view({ ...this.options });
    };
    this.color = select("Colour by", COLOR_MODES, "rod", (value) => {
      this.options.colorBy = value as ColorBy;
      this.colorChosen = true;
      changed();
    });
    const option = (label: string, key: "frames" | "moments" | "contacts" | "ground" | "follow" | "sinceRest", title: string): ReturnType<typeof toggle> =>
      toggle(label, this.options[key], (on) => {
        this.options[key] = on;
        changed();
      }, title);
    this.ground = option("Ground and shadow", "ground", "G");
    this.follow = option("Camera follows", "follow", "Keeps what moves in view, until you turn or move the view yourself (V)");
    this.follow.hidden = true;
    this.sinceRest = option("Only what changed since rest", "sinceRest", "Curvature and twist without those of the rest shape (S)");
    this.frames = option("Material frames", "frames", "d1 red, d2 green, d3 blue (A)");
    this.moments = option("Section moments", "moments", "Bending and torque at each joint (B)");
    this.contacts = option("Contacts and their forces", "contacts", "Normal forces red, friction green (K)");
    this.contacts.hidden = true;
    this.graphs.hidden = true;
    this.offerSinceRest();
    this.element = h("aside", { class: "panel", "aria-label": "Settings" },
      h("section", {}, h("h2", {}, "View"), this.color, this.sinceRest, this.ground, this.follow, this.frames, this.moments, this.contacts),
      this.live, this.graphs, this.probes.element,
      h("section", {}, h("h2", {}, "Model"), this.facts));
  }

  /** Changes an option from outside (a key) and keeps the controls in step. */
  setOption<K extends keyof ViewOptions>(key: K, value: ViewOptions[K]): void {
    this.options[key] = value;
    this.colorChosen ||= key === "colorBy";
    this.color.select.value = this.options.colorBy;
    this.frames.input.checked = this.options.frames;
    this.moments.input.checked = this.options.moments;
    this.contacts.input.checked = this.options.contacts;
    this.ground.input.checked = this.options.ground;
    this.follow.input.checked = this.options.follow;
    this.offerSinceRest();
    this.actions.view({ ...this.options });
  }

  /** Offered where it makes a difference: for these colours, and where the rest shape is known. */
  private offerSinceRest(): void {
    this.sinceRest.hidden = this.options.colorBy !== "curvature" && this.options.colorBy !== "twist";
    this.sinceRest.input.disabled = !this.knowsRest;
    this.sinceRest.input.checked = this.knowsRest && this.options.sinceRest;
  }

  /** The program says hello again whenever something has changed; the controls stay where they are and take the new values. */
  setHello(hello: Hello): void {
    this.follow.hidden = hello.mode !== "live";
    if (hello.mode === "live") {
      this.graphs.hidden = false;
      this.probes.setColumns(hello.probe_columns ?? []);
    }
    const shape = JSON.stringify([hello.mode, hello.solvers, hello.forces?.map((f) => f.pointer), hello.parameters?.map((p) => [p.pointer, p.min, p.max])]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(hello);
    }
    for (const update of this.updates) update(hello);
  }

  private build(hello: Hello): void {
    this.updates = [];
    this.live.replaceChildren();
    if (hello.mode !== "live") return;
    this.live.append(h("section", {}, h("button", { class: "wide", type: "button", title: "The scene file with solver, forces and sliders as they stand now", onClick: () => this.actions.saveScene() }, "Save as a scene")));
    if (hello.solvers?.length) this.live.append(this.solverSection(hello));
    if (hello.forces?.length) this.live.append(h("section", {}, h("h2", {}, "Forces"), ...hello.forces.map((f) => this.forceToggle(f, hello.forces!))));
    const groups = new Map<string, Parameter[]>();
    for (const p of hello.parameters ?? []) groups.set(p.group || "Parameters", [...(groups.get(p.group || "Parameters") ?? []), p]);
    // The first groups are open; a scene with fifty materials must not become a wall of sliders.
    let index = 0;
    for (const [group, list] of groups)
      this.live.append(h("section", {}, h("details", { open: index++ < 2 }, h("summary", {}, readable(group)), ...list.map((p) => this.slider(p)))));
  }

  private forceToggle(force: { pointer: string; type: string; on: boolean }, all: { pointer: string; type: string }[]): HTMLElement {
    const label = toggle(forceLabel(force, all), force.on, (on) => this.actions.force(force.pointer, on), force.pointer);
    label.input.dataset["pointer"] = force.pointer;
    this.updates.push((hello) => {
      const now = hello.forces?.find((f) => f.pointer === force.pointer);
      if (now) label.input.checked = now.on;
    });
    return label;
  }

  private solverSection(hello: Hello): HTMLElement {
    const solver = select("Solver", hello.solvers!.map((name) => ({ value: name, label: name })), "", (name) => this.actions.solver(name));
    this.updates.push((now) => {
      solver.select.value = now.solver ?? "";
    });
    return h("section", {}, h("h2", {}, "Solver"), solver);
  }

  private slider(p: Parameter): HTMLElement {
    const readout = h("output", {});
    let timer = 0, pending = p.value, held = false;
    const place = (value: number): void => {
      pending = value;
      input.value = String(Math.round(STEPS * toSlider(value, p.min, p.max, p.log)));
      readout.textContent = withUnit(value, p.unit);
    };
    const send = (): void => {
      timer = 0;
      this.actions.set(p.pointer, pending);
    };
    const input = h("input", {
      type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": p.label,
      title: `${p.help ? `${p.help}\n` : ""}${p.pointer}; double-click for the scene's own value`,
      onInput: () => {
        const value = fromSlider(Number(input.value) / STEPS, p.min, p.max, p.log);
        pending = p.whole ? Math.round(value) : Number(value.toPrecision(4));
        readout.textContent = withUnit(pending, p.unit);
        timer ||= window.setTimeout(send, PACE);
      },
      onPointerdown: () => (held = true),
      onPointerup: () => (held = false),
      onPointercancel: () => (held = false),
      onDblclick: () => {
        place(p.value);
        timer ||= window.setTimeout(send, PACE);
      },
    });
    input.dataset["pointer"] = p.pointer;
    // What the user is moving right now is not moved away under the hand.
    this.updates.push((hello) => {
      const now = hello.parameters?.find((q) => q.pointer === p.pointer);
      if (now && !held && !timer) place(now.value);
    });
    place(p.value);
    return h("div", { class: "slider" }, h("div", { class: "row" }, h("span", {}, readable(p.label)), readout), input);
  }

  setStatus(status: Status): void {
    this.energy.push(status.time, [status.total, status.kinetic, status.stretch_shear, status.bend_twist]);
    this.residual.push(status.time, [status.residual_relative ?? NaN]);
    this.cost.push(status.time, [status.ms_per_frame / 1000]);
    this.probes.push(status.time, status.probes ?? []);
  }
  /** What was recorded with the runs; those that recorded nothing have no curves. */
  setRuns(models: Model[]): void {
    const runs = models.map((m) => {
      const time = m.times ?? new Float64Array(), n = m.reports ? time.length : 0;
      const { energy, residual, computeMs } = m.reports ?? { energy: new Float32Array(), residual: new Float32Array(), computeMs: new Float32Array() };
      const part = (k: number): Float32Array => Float32Array.from({ length: n }, (_, i) => energy[4 * i + k]!);
      const total = Float32Array.from({ length: n }, (_, i) => energy[4 * i]! + energy[4 * i + 1]! + energy[4 * i + 2]! + energy[4 * i + 3]!);
      return { time, energy: [total, part(0), part(1), part(2)], residual: [residual.map((x) => (x < 0 ? NaN : x))], cost: [computeMs.map((x) => x / 1000)] };
    });
    this.graphs.hidden = models.every((m) => !m.reports);
    this.energy.setRuns(runs.map((r) => ({ time: r.time, values: r.energy })));
    this.residual.setRuns(runs.map((r) => ({ time: r.time, values: r.residual })));
    // Nothing is computed for the first frame.
    this.cost.setRuns(runs.map((r) => ({ time: r.time, values: [r.cost[0]!.map((x, i) => (i === 0 ? NaN : x))] })));
    this.probes.setRuns(models);
    this.runNames.hidden = models.length < 2;
    this.runNames.textContent = models.length < 2 ? "" : `solid: ${models[0]!.name} · dashed: ${models[1]!.name}`;
  }
  setCursor(time: number): void {
    for (const graph of this.all()) graph.setCursor(time);
  }
  clearGraphs(): void {
    for (const graph of this.all()) graph.clear();
  }
  redrawGraphs(): void {
    for (const graph of this.all()) graph.redraw();
  }
  private all(): Graph[] {
    return [this.energy, this.residual, this.cost, ...this.probes.graphs];
  }

  /** Chooses colours that suit the model, unless the user has chosen. */
  suggestColor(models: Model[]): void {
    const usual = usualColor(models);
    if (this.colorChosen || this.options.colorBy === usual) return;
    this.setOption("colorBy", usual);
    this.colorChosen = false;
  }

  setFacts(models: Model[], extra: [string, string][]): void {
    this.contacts.hidden = models.every((m) => !m.contacts);
    this.knowsRest = models.every((m) => m.jointRest !== null);
    this.sinceRest.title = this.knowsRest ? "Curvature and twist without those of the rest shape (S)" : "The rest shape was not recorded with this run";
    this.offerSinceRest();
    const rows: [string, string][] = models.flatMap((m, i): [string, string][] => [
      [models.length > 1 ? `Run ${i + 1}` : "Name", m.name],
      ["Vertices", m.vertexCount.toLocaleString("en")], ["Segments", m.segmentCount.toLocaleString("en")], ["Rods", (m.rodCount ?? m.rodNames.length).toLocaleString("en")],
    ]);
    this.facts.replaceChildren(...[...rows, ...extra].flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }
}

/** "bend_twist" -> "Bend twist" */
export const readable = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1).replaceAll("_", " ");

/** "gravity"; "wind 2" where there are several of a type. */
export function forceLabel(force: { pointer: string; type: string }, all: { pointer: string; type: string }[]): string {
  const same = all.filter((f) => f.type === force.type);
  const name = readable(force.type);
  return same.length > 1 ? `${name} ${same.findIndex((f) => f.pointer === force.pointer) + 1}` : name;
}

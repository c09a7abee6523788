// The panel beside the picture: how to look, and what can be changed while a simulation runs.
import { COLOR_MODES, type ColorBy } from "./colors";
import { h, select, toggle } from "./dom";
import { Graph } from "./graphs";
import type { Hello, Model, Parameter, Status } from "./protocol";
import type { ViewOptions } from "./stage";
import { fromSlider, toSlider, withUnit } from "./units";

export interface PanelActions {
  view(options: ViewOptions): void;
  set(pointer: string, value: number): void;
  force(pointer: string, on: boolean): void;
  solver(name: string, method: string): void;
}

const STEPS = 400;
/** A slider in motion sends at most this often [ms]. */
const PACE = 90;

export class Panel {
  readonly element: HTMLElement;
  readonly options: ViewOptions = { colorBy: "rod", frames: false, moments: false, ground: true };
  private readonly color;
  private readonly frames;
  private readonly moments;
  private readonly ground;
  private readonly live = h("div", { class: "live" });
  private readonly facts = h("dl", { class: "facts" });
  private readonly energy = new Graph("Energy", "J", [
    { label: "total", color: "#7c8894" }, { label: "kinetic", color: "#d98336" }, { label: "stretch", color: "#3f8fb5" }, { label: "bend", color: "#57a05b" },
  ]);
  private readonly residual = new Graph("Residual, relative", "", [{ label: "residual", color: "#b9574f" }], true);
  private readonly cost = new Graph("Time per frame", "s", [{ label: "time", color: "#8470b8" }]);
  private readonly graphs = h("section", {}, h("h2", {}, "Graphs"), this.energy.element, this.residual.element, this.cost.element);

  constructor(private readonly actions: PanelActions) {
    const changed = (): void => this.actions.view({ ...this.options });
    this.color = select("Colour by", COLOR_MODES, "rod", (value) => {
      this.options.colorBy = value as ColorBy;
      changed();
    });
    const option = (label: string, key: "frames" | "moments" | "ground", title: string): ReturnType<typeof toggle> =>
      toggle(label, this.options[key], (on) => {
        this.options[key] = on;
        changed();
      }, title);
    this.ground = option("Ground and shadow", "ground", "G");
    this.frames = option("Material frames", "frames", "d1 red, d2 green, d3 blue (A)");
    this.moments = option("Section moments", "moments", "Bending and torque at each joint (B)");
    this.graphs.hidden = true;
    this.element = h("aside", { class: "panel", "aria-label": "Settings" },
      h("section", {}, h("h2", {}, "View"), this.color, this.ground, this.frames, this.moments),
      this.live, this.graphs,
      h("section", {}, h("h2", {}, "Model"), this.facts));
  }

  /** Changes an option from outside (a key) and keeps the controls in step. */
  setOption<K extends keyof ViewOptions>(key: K, value: ViewOptions[K]): void {
    this.options[key] = value;
    this.color.select.value = this.options.colorBy;
    this.frames.input.checked = this.options.frames;
    this.moments.input.checked = this.options.moments;
    this.ground.input.checked = this.options.ground;
    this.actions.view({ ...this.options });
  }

  setHello(hello: Hello): void {
    this.live.replaceChildren();
    this.graphs.hidden = hello.mode !== "live";
    if (hello.mode !== "live") return;
    if (hello.solvers?.length) this.live.append(this.solverSection(hello));
    if (hello.forces?.length)
      this.live.append(h("section", {}, h("h2", {}, "Forces"), ...hello.forces.map((f) => toggle(forceLabel(f, hello.forces!), f.on, (on) => this.actions.force(f.pointer, on), f.pointer))));
    const groups = new Map<string, Parameter[]>();
    for (const p of hello.parameters ?? []) groups.set(p.group || "Parameters", [...(groups.get(p.group || "Parameters") ?? []), p]);
    // The first groups are open; a scene with fifty materials must not become a wall of sliders.
    let index = 0;
    for (const [group, list] of groups)
      this.live.append(h("section", {}, h("details", { open: index++ < 2 }, h("summary", {}, group), ...list.map((p) => this.slider(p)))));
  }

  private solverSection(hello: Hello): HTMLElement {
    const solvers = hello.solvers!;
    let name = hello.solver ?? solvers[0]!.name;
    const methods = (of: string): { value: string; label: string }[] => (solvers.find((s) => s.name === of)?.methods ?? []).map((m) => ({ value: m, label: m }));
    const method = select("Method", methods(name), hello.method ?? "", (value) => this.actions.solver(name, value));
    method.hidden = methods(name).length === 0;
    const solver = select("Solver", solvers.map((s) => ({ value: s.name, label: s.name })), name, (value) => {
      name = value;
      method.select.replaceChildren(...methods(name).map((m) => h("option", { value: m.value }, m.label)));
      method.hidden = methods(name).length === 0;
      this.actions.solver(name, method.select.value);
    });
    return h("section", {}, h("h2", {}, "Solver"), solver, method);
  }

  private slider(p: Parameter): HTMLElement {
    const readout = h("output", {}, withUnit(p.value, p.unit));
    let timer = 0, pending = p.value;
    const send = (): void => {
      timer = 0;
      this.actions.set(p.pointer, pending);
    };
    const input = h("input", {
      type: "range", min: "0", max: String(STEPS), step: "1", value: String(Math.round(STEPS * toSlider(p.value, p.min, p.max, p.log))),
      "aria-label": p.label, title: `${p.pointer}; double-click for the scene's own value`,
      onInput: () => {
        pending = Number(fromSlider(Number(input.value) / STEPS, p.min, p.max, p.log).toPrecision(4));
        readout.textContent = withUnit(pending, p.unit);
        timer ||= window.setTimeout(send, PACE);
      },
      onDblclick: () => {
        input.value = String(Math.round(STEPS * toSlider(p.value, p.min, p.max, p.log)));
        pending = p.value;
        readout.textContent = withUnit(p.value, p.unit);
        timer ||= window.setTimeout(send, PACE);
      },
    });
    input.dataset["pointer"] = p.pointer;
    return h("div", { class: "slider" }, h("div", { class: "row" }, h("span", {}, p.label), readout), input);
  }

  setStatus(status: Status): void {
    this.energy.push(status.time, [status.total, status.kinetic, status.stretch_shear, status.bend_twist]);
    this.residual.push(status.time, [status.residual_relative ?? NaN]);
    this.cost.push(status.time, [status.ms_per_frame / 1000]);
  }
  clearGraphs(): void {
    for (const graph of [this.energy, this.residual, this.cost]) graph.clear();
  }
  redrawGraphs(): void {
    for (const graph of [this.energy, this.residual, this.cost]) graph.redraw();
  }

  setFacts(models: Model[], extra: [string, string][]): void {
    const rows: [string, string][] = models.flatMap((m, i): [string, string][] => [
      [models.length > 1 ? `Run ${i + 1}` : "Name", m.name],
      ["Vertices", m.vertexCount.toLocaleString("en")], ["Segments", m.segmentCount.toLocaleString("en")], ["Rods", m.rodNames.length.toLocaleString("en")],
    ]);
    this.facts.replaceChildren(...[...rows, ...extra].flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }
}

/** "gravity"; "wind 2" where there are several of a type. */
export function forceLabel(force: { pointer: string; type: string }, all: { pointer: string; type: string }[]): string {
  const same = all.filter((f) => f.type === force.type);
  const name = force.type.charAt(0).toUpperCase() + force.type.slice(1).replaceAll("_", " ");
  return same.length > 1 ? `${name} ${same.findIndex((f) => f.pointer === force.pointer) + 1}` : name;
}

// Puts the parts together: what comes in goes to the picture and the panel, what the user does goes out.
import { COLOR_MODES } from "./colors";
import { Connection } from "./connection";
import { h, iconButton } from "./dom";
import { Drag } from "./drag";
import { Legend } from "./legend";
import { Notices } from "./notices";
import { Panel } from "./panel";
import { type FrameSource, Playback } from "./playback";
import { DataError, type Frame, type Hello, type Model, type Packet, type Parameter, PROTOCOL, readFrame, readModel, type Status } from "./protocol";
import { openRecording, type Track } from "./recording";
import { Shortcuts } from "./shortcuts";
import { Stage, type ViewOptions } from "./stage";
import { STAGE_COLORS, ThemeSwitch } from "./theme";
import { nextSpeed, Timeline } from "./timeline";

/** What the page tells to scripts and tests. */
export interface Exposed {
  readonly mode: "live" | "playback" | "recording" | null;
  readonly connected: boolean;
  readonly frame: number;
  readonly time: number;
  readonly playing: boolean;
  readonly vertexCount: number;
  readonly parameters: Parameter[];
  readonly status: Status | null;
  readonly drawings: number;
  readonly drawn: { tubes: number; ribbons: number };
  /** The numbers beside the graphs, run by run: energies [J], relative residual, time of a frame [s]. */
  readonly graphs: { energy: (number | undefined)[][]; residual: (number | undefined)[][]; cost: (number | undefined)[][] };
  /** Of the graphs of probes, in their order. */
  readonly probes: (number | undefined)[][][];
  readonly colorBy: string;
  readonly solver: string;
  /** What the last frame brought beside positions. */
  readonly has: { frame: boolean; moments: boolean; contacts: boolean };
  /** What a vertex is coloured by. */
  value(vertex: number, slot?: number): number;
  position(vertex: number, slot?: number): number[];
  screen(vertex: number, slot?: number): number[];
  seek(frame: number): void;
  picture(): string;
  /** Fulfilled when the first frame is on the screen. */
  ready: Promise<void>;
}
declare global {
  interface Window { osier: Exposed }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

const WIDE = "(min-width: 721px)";

export class App {
  private readonly stage: Stage;
  private readonly notices = new Notices();
  private readonly legend = new Legend();
  private readonly panel: Panel;
  private readonly timeline: Timeline;
  private readonly drag: Drag;
  private readonly shortcuts: Shortcuts;
  private readonly theme: ThemeSwitch;
  private readonly title = h("h1", {}, "Osier");
  private readonly chip = h("span", { class: "chip" }, "");
  private readonly slotNames = h("div", { class: "slot-names" });
  private readonly fitFrame = iconButton("present", "Show this frame", () => this.stage.fit(undefined, false), "C");
  private connection: Connection | null = null;
  private playback: Playback | null = null;
  private tracks: Track[] = [];
  private readonly models: (Model | undefined)[] = [];
  private readonly shownFrame: (Frame | undefined)[] = [];
  private hello: Hello | null = null;
  private status: Status | null = null;
  private lastError: string | null = null;
  private lastNote: string | null = null;
  private warned = new Set<string>();
  private mode: Exposed["mode"] = null;
  private readonly inFlight = [false, false];
  private wanted = "";
  private firstFrame: () => void = () => {};
  private readonly ready = new Promise<void>((done) => (this.firstFrame = done));

  constructor(private readonly host: HTMLElement) {
    const stageHost = h("main", { class: "stage" });
    this.panel = new Panel({
      view: (options) => this.setView(options),
      set: (pointer, value) => this.connection?.ask({ type: "set", pointer, value }),
      force: (pointer, on) => this.connection?.ask({ type: "force", pointer, on }),
      solver: (name) => this.connection?.ask({ type: "solver", name }),
      seek: (time) => this.playback?.seekTime(time),
      saveScene: () => this.saveScene(),
    });
    this.timeline = new Timeline({
      playPause: () => this.playPause(), step: (by) => this.step(by), reset: () => this.reset(),
      speed: (value) => this.setSpeed(value), loop: () => this.toggleLoop(), seek: (frame) => this.playback?.seek(frame),
    });
    this.theme = new ThemeSwitch(() => this.retheme());
    host.replaceChildren(
      h("header", { class: "bar" }, h("span", { class: "brand" }, "Osier"), this.title, this.chip, h("span", { class: "spacer" }),
        iconButton("fit", "Show everything", () => this.stage.fit(), "F"),
        this.fitFrame,
        iconButton("theme", "Light or dark", () => this.theme.toggle(), "T"),
        iconButton("help", "Keys and gestures", () => this.shortcuts.toggleHelp(), "?"),
        iconButton("panel", "Settings", () => this.togglePanel(), "H")),
      stageHost, this.panel.element, this.timeline.element);
    host.classList.toggle("closed", !window.matchMedia(WIDE).matches);
    this.stage = new Stage(stageHost);
    this.drag = new Drag(this.stage, stageHost, {
      enabled: () => this.mode === "live" && this.connection?.open === true,
      pull: (vertex, to) => this.connection?.tell({ type: "drag", vertex, to }),
      release: () => this.connection?.ask({ type: "release" }),
    });
    stageHost.append(this.slotNames, this.drag.marker, this.legend.element, this.notices.state, this.notices.list);
    this.shortcuts = this.makeShortcuts();
    host.append(this.shortcuts.dialog);
    this.stage.onTaken = () => {
      if (this.mode === "live" && this.panel.options.follow) this.panel.setOption("follow", false);
    };
    this.stage.onDraw = () => {
      this.legend.setScale(this.stage.metresPerPixel(), this.panel.options.ground ? this.stage.gridSpacing : 0);
      this.legend.setThinned(this.stage.thinned);
      this.drag.follow();
      this.placeNames();
    };
    this.fitFrame.hidden = true; // until there is more than one frame to choose from
    this.retheme();
    this.setView(this.panel.options);
  }

  start(recording: string): Exposed {
    if (recording) void this.playRecording(recording);
    else this.connect();
    return this.expose();
  }

  // ---- where data comes from

  private async playRecording(base64: string): Promise<void> {
    this.notices.setState("Opening the recording…");
    try {
      this.tracks = await openRecording(base64);
    } catch (error) {
      this.setChip("Error", "lost");
      return this.notices.setState("The recording cannot be shown", (error as Error).message);
    }
    this.mode = "recording";
    for (const [slot, track] of this.tracks.entries()) this.setModel({ ...track.model, slot, live: false });
    this.panel.setHello({ type: "hello", protocol: PROTOCOL, mode: "playback" });
    this.startPlayback({
      times: this.tracks.map((track) => track.times),
      idle: () => true,
      request: (slot, frame) => this.setFrame(this.tracks[slot]!.frame(frame, slot)),
    });
    // A page that somebody sent shows at once what it is about.
    const still = location.hash === "#paused" || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!still) this.playback?.play();
  }

  private connect(): void {
    this.notices.setState("Connecting…", "Waiting for the program that serves this page.");
    this.setChip("Connecting", "");
    if (!location.host) {
      this.setChip("Empty", "");
      return this.notices.setState("Nothing to show", "This page holds no recording. Write one with osier run SCENE --html FILE, or open a scene with osier view SCENE.");
    }
    this.connection ??= new Connection(Connection.address(location), {
      onOpen: () => {
        this.notices.setState("Connected", "Waiting for the model.");
        this.wanted = "";
        this.want();
        this.inFlight.fill(false);
      },
      onPacket: (packet) => this.receive(packet),
      onText: (message) => this.receiveText(message as unknown as { type: string }),
      onProblem: (message) => this.notices.problem(message),
      onClose: (reason) => this.lost(reason),
    });
    this.connection.connect();
  }

  private lost(reason: string): void {
    if (this.drag.vertex !== null) this.drag.stop();
    this.playback?.pause();
    this.timeline.setPlaying(false);
    this.setChip("Connection lost", "lost");
    this.notices.setState("Connection lost", sentence(reason), { label: "Try again", run: () => this.connect() });
  }

  private receive(packet: Packet): void {
    const type = packet.header["type"];
    if (type === "model") {
      this.setModel(readModel(packet));
      if (this.hello?.mode === "playback") this.startServerPlayback();
      else this.connection!.tell({ type: "ready" });
    } else if (type === "frame") {
      const slot = packet.header["slot"] === 1 ? 1 : 0;
      const model = this.models[slot];
      this.inFlight[slot] = false;
      if (!model) throw new DataError("a frame came before its model");
      try {
        this.setFrame(readFrame(packet, model));
      } finally {
        // The next frame is asked for when this one is on the screen, so that a slow browser falls behind in pictures, not in time.
        if (this.mode === "live") requestAnimationFrame(() => this.connection?.tell({ type: "ready" }));
        this.playback?.pump();
      }
    } else {
      throw new DataError(`packet of unknown type ${JSON.stringify(type)}`);
    }
  }

  private receiveText(message: { type: string }): void {
    if (message.type === "hello") this.setHello(message as Hello);
    else if (message.type === "status") this.setStatus(message as Status);
    else throw new DataError(`text of unknown type ${JSON.stringify(message.type)}`);
  }

  private setHello(hello: Hello): void {
    if (hello.protocol !== PROTOCOL) this.notices.problem(`The program speaks protocol ${hello.protocol}, this page ${PROTOCOL}. Reload the page.`);
    for (const warning of hello.warnings ?? []) if (!this.warned.has(warning)) this.notices.problem(warning, "note");
    this.warned = new Set(hello.warnings ?? []);
    this.hello = hello;
    this.panel.setHello(hello);
    if (this.mode !== hello.mode) this.timeline.setMode(hello.mode, 0);
    this.mode = hello.mode;
    this.updateChip();
  }

  private setStatus(status: Status): void {
    this.status = status;
    this.timeline.setPlaying(status.playing);
    this.timeline.setSpeed(status.speed);
    this.panel.setStatus(status);
    if (status.error && status.error !== this.lastError) this.notices.problem(status.error);
    this.lastError = status.error;
    if (status.note && status.note !== this.lastNote) this.notices.problem(sentence(status.note), "note");
    this.lastNote = status.note ?? null;
    this.updateChip();
  }

  private setModel(given: Model): void {
    const model = this.withCommonMaterials(given);
    this.models[model.slot] = model;
    this.shownFrame[model.slot] = undefined;
    this.stage.setModel(model);
    this.panel.suggestColor(this.present());
    this.title.textContent = this.present().map((m) => m.name).join(" | ");
    document.title = `${this.title.textContent} – Osier`;
    const facts: [string, string][] = [["Units", "SI"]];
    if (this.hello?.time_step) facts.push(["Time step", `${Number((1000 * this.hello.time_step).toPrecision(3))} ms`]);
    if (this.hello?.version) facts.push(["Osier", this.hello.version]);
    this.panel.setFacts(this.present(), facts);
    this.updateLegend();
    if (model.vertexCount === 0) this.notices.setState("Nothing to show", "The model has no vertices.");
  }

  private setFrame(frame: Frame): void {
    this.shownFrame[frame.slot] = frame;
    this.stage.show(frame);
    if (this.models[frame.slot]!.vertexCount > 0) this.notices.setState(null);
    if (frame.slot === 0 && this.mode === "live") this.timeline.setFrame(frame.index, frame.time, null);
    this.legend.setRange(this.stage.range);
    this.updateMoments();
    requestAnimationFrame(() => requestAnimationFrame(() => this.firstFrame()));
  }

  /** Two runs name their materials each in an order of its own; a colour stands for a name. */
  private withCommonMaterials(model: Model): Model {
    const other = this.models[1 - model.slot];
    if (!other || !model.segmentMaterial) return model;
    const names = [...new Set([...other.materialNames, ...model.materialNames])];
    const place = model.materialNames.map((name) => names.indexOf(name));
    const colorIn = (m: Model, name: string): string | null => m.materialColors[m.materialNames.indexOf(name)] ?? null;
    const materialColors = names.map((name) => colorIn(other, name) ?? colorIn(model, name));
    Object.assign(other, { materialNames: names, materialColors });
    return { ...model, materialNames: names, materialColors, segmentMaterial: model.segmentMaterial.map((m) => place[m] ?? 0) };
  }

  private present(): Model[] {
    return this.models.filter((m): m is Model => m !== undefined);
  }

  // ---- playback

  private startServerPlayback(): void {
    const models = this.present();
    if (models.some((m) => !m.times)) return;
    const frame = this.playback?.frame ?? 0;
    this.startPlayback({
      times: models.map((m) => m.times!),
      idle: (slot) => !this.inFlight[slot],
      request: (slot, index) => {
        this.inFlight[slot] = true;
        this.connection!.tell({ type: "ready" });
        this.connection!.ask({ type: "seek", slot, frame: index });
      },
    }, frame);
  }

  private startPlayback(source: FrameSource, frame = 0): void {
    this.playback?.pause();
    const playback = new Playback(source, () => {
      this.timeline.setPlaying(playback.playing);
      this.timeline.setFrame(playback.frame, playback.times[playback.frame] ?? 0, playback.frames);
      this.timeline.setLoop(playback.loop);
      this.panel.setCursor(playback.times[playback.frame] ?? 0);
      this.updateChip();
    });
    this.playback = playback;
    this.fitFrame.hidden = false;
    this.panel.setRuns(this.present());
    this.timeline.setMode("playback", playback.frames);
    playback.seek(frame);
  }

  // ---- what the user does

  private playPause(): void {
    if (this.playback) this.playback.playing ? this.playback.pause() : this.playback.play();
    else this.connection?.ask({ type: this.status?.playing ? "pause" : "play" });
  }
  private step(by: 1 | -1): void {
    if (this.playback) this.playback.step(by);
    else if (by > 0) this.connection?.ask({ type: "step" });
  }
  private reset(): void {
    if (this.playback) return this.playback.seek(0);
    this.panel.clearGraphs();
    this.stage.range.reset();
    this.connection?.ask({ type: "reset" });
  }
  private setSpeed(value: number): void {
    if (this.playback) this.playback.speed = value;
    else this.connection?.ask({ type: "speed", value });
    this.timeline.setSpeed(value);
  }
  private toggleLoop(): void {
    if (!this.playback) return;
    this.playback.loop = !this.playback.loop;
    this.timeline.setLoop(this.playback.loop);
  }
  private togglePanel(): void {
    this.host.classList.toggle("closed");
    this.panel.redrawGraphs();
  }
  private savePicture(): void {
    const name = `${this.present()[0]?.name ?? "osier"}-${String(this.shownFrame[0]?.index ?? 0).padStart(4, "0")}.png`;
    h("a", { href: this.stage.picture(), download: name }).click();
  }

  private saveScene(): void {
    this.connection?.ask({ type: "scene" }, ({ name, scene }) => {
      const file = URL.createObjectURL(new Blob([String(scene)], { type: "application/json" }));
      h("a", { href: file, download: `${String(name)}-changed.json` }).click();
      window.setTimeout(() => URL.revokeObjectURL(file), 60_000);
    });
  }

  private setView(options: ViewOptions): void {
    this.stage.setOptions(options);
    this.updateLegend();
    this.want();
  }

  /** Frames and moments are two thirds of a frame's bytes; the program sends them when they are shown. */
  private want(): void {
    const { colorBy, frames, moments, contacts } = this.panel.options;
    // Moments are given along the axes of the frames.
    const parts = { frame: frames || moments || colorBy === "curvature" || colorBy === "twist", joint_moment: moments, contacts };
    const now = JSON.stringify(parts), before = JSON.parse(this.wanted || "{}") as Partial<typeof parts>;
    if (now === this.wanted || !this.connection?.open) return;
    this.wanted = now;
    this.connection.tell({ type: "want", ...parts });
    const more = (parts.frame && !before.frame) || (parts.joint_moment && !before.joint_moment) || (parts.contacts && !before.contacts);
    if (more && this.playback) this.playback.restart();
  }

  private makeShortcuts(): Shortcuts {
    const playback = (): boolean => this.playback !== null;
    const flip = (key: "frames" | "moments" | "contacts" | "ground" | "follow" | "sinceRest") => () => this.panel.setOption(key, !this.panel.options[key]);
    const speed = (by: 1 | -1) => () => this.setSpeed(nextSpeed(this.playback?.speed ?? this.status?.speed ?? 1, by));
    return new Shortcuts([
      { keys: [" "], shown: "space", text: "play or pause", group: "Time", run: () => this.playPause() },
      { keys: ["ArrowRight", "."], shown: "→", text: "one frame on", group: "Time", run: () => this.step(1) },
      { keys: ["ArrowLeft", ","], shown: "←", text: "one frame back", group: "Time", run: () => this.step(-1), when: playback },
      { keys: ["r", "R", "Home"], shown: "R", text: "back to the start", group: "Time", run: () => this.reset() },
      { keys: ["End"], shown: "end", text: "last frame", group: "Time", run: () => this.playback?.seek(Infinity), when: playback },
      { keys: ["+", "="], shown: "+", text: "faster", group: "Time", run: speed(1) },
      { keys: ["-"], shown: "-", text: "slower", group: "Time", run: speed(-1) },
      { keys: ["l", "L"], shown: "L", text: "repeat on or off", group: "Time", run: () => this.toggleLoop(), when: playback },
      { keys: ["f", "F"], shown: "F", text: "show everything", group: "Camera", run: () => this.stage.fit() },
      { keys: ["c", "C"], shown: "C", text: "show this frame", group: "Camera", run: () => this.stage.fit(undefined, false), when: playback },
      { keys: ["x", "X"], shown: "X", text: "from the right", group: "Camera", run: () => this.stage.lookFrom(1) },
      { keys: ["y", "Y"], shown: "Y", text: "from above", group: "Camera", run: () => this.stage.lookFrom(2) },
      { keys: ["z", "Z"], shown: "Z", text: "from the front", group: "Camera", run: () => this.stage.lookFrom(0) },
      { keys: ["v", "V"], shown: "V", text: "camera follows, or stays", group: "Camera", run: flip("follow"), when: () => this.mode === "live" },
      ...COLOR_MODES.map((mode, i) => ({ keys: [String(i + 1)], shown: String(i + 1), text: `colour by ${mode.label.toLowerCase()}`, group: "Look", run: () => this.panel.setOption("colorBy", mode.value) })),
      { keys: ["s", "S"], shown: "S", text: "only what changed since rest", group: "Look", run: flip("sinceRest") },
      { keys: ["a", "A"], shown: "A", text: "material frames", group: "Look", run: flip("frames") },
      { keys: ["b", "B"], shown: "B", text: "section moments", group: "Look", run: flip("moments") },
      { keys: ["k", "K"], shown: "K", text: "contacts and their forces", group: "Look", run: flip("contacts") },
      { keys: ["g", "G"], shown: "G", text: "ground and shadow", group: "Look", run: flip("ground") },
      { keys: ["t", "T"], shown: "T", text: "light or dark", group: "Page", run: () => this.theme.toggle() },
      { keys: ["h", "H"], shown: "H", text: "settings on or off", group: "Page", run: () => this.togglePanel() },
      { keys: ["p", "P"], shown: "P", text: "save the picture", group: "Page", run: () => this.savePicture() },
      { keys: ["?"], shown: "?", text: "this help", group: "Page", run: () => this.shortcuts.toggleHelp() },
    ], () => [
      ...(this.mode === "live" ? [["drag a rod", "pull at it"] as [string, string]] : []),
      ["drag", "turn the view"], ["right drag", "move the view"], ["wheel, pinch", "nearer or farther"], ["two fingers", "move the view"],
      ...(this.mode === "live" ? [["shift drag", "move the view, even over a rod"] as [string, string]] : []),
    ]);
  }

  // ---- what the page says about itself

  private setChip(text: string, kind: "" | "live" | "lost"): void {
    this.chip.textContent = text;
    this.chip.dataset["kind"] = kind;
  }
  private updateChip(): void {
    if (this.mode === "live") {
      if (!this.connection?.open) return;
      this.setChip(this.status?.error ? "Stopped by an error" : this.status?.playing ? "Live" : "Paused", this.status?.error ? "lost" : "live");
    } else if (this.mode) {
      this.setChip(this.mode === "recording" ? "Recording" : "Recorded run", "");
    }
  }

  private updateLegend(): void {
    const mode = this.panel.options.colorBy;
    const model = this.present()[0];
    const names = mode === "material" ? (model?.segmentMaterial ? model.materialNames : ["not recorded"]) : (mode === "family" ? model?.families : model?.rodNames) ?? [];
    this.legend.setColors(mode, this.stage.sinceRest, names, mode === "material" ? (model?.materialColors ?? []) : [], () => {
      this.stage.resetRange();
      this.legend.setRange(this.stage.range);
    });
    this.legend.setRange(this.stage.range);
    this.updateMoments();
  }

  private updateMoments(): void {
    const { moments, contacts } = this.panel.options;
    this.legend.setLargest(moments ? this.stage.largestMoment() : null, this.shownFrame.some((f) => f?.jointMoment),
      contacts ? this.stage.largestContactForce() : null);
  }

  /** With two runs: their names in the corners and a line between. */
  private placeNames(): void {
    const models = this.present();
    if (models.length < 2) return this.slotNames.replaceChildren();
    if (this.slotNames.childElementCount !== 3) this.slotNames.replaceChildren(...models.map((m) => h("span", {}, m.name)), h("i", {}));
    const [a, b, line] = [...this.slotNames.children] as HTMLElement[];
    const rect = this.stage.rect(1);
    Object.assign(a!.style, { left: "0px", top: "0px" });
    Object.assign(b!.style, { left: `${rect.x}px`, top: `${rect.y}px` });
    Object.assign(line!.style, rect.x ? { left: `${rect.x}px`, top: "0", width: "1px", height: "100%" } : { left: "0", top: `${rect.y}px`, width: "100%", height: "1px" });
  }

  private retheme(): void {
    this.stage?.setColors(STAGE_COLORS[this.theme?.theme ?? "light"]);
    this.panel?.redrawGraphs();
  }

  private expose(): Exposed {
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const app = this;
    const at = (vertex: number, slot: number): number[] => [...(app.shownFrame[slot]?.position.subarray(3 * vertex, 3 * vertex + 3) ?? [])];
    return {
      get mode() { return app.mode; },
      get connected() { return app.connection?.open ?? false; },
      get frame() { return app.shownFrame[0]?.index ?? -1; },
      get time() { return app.shownFrame[0]?.time ?? NaN; },
      get playing() { return app.playback?.playing ?? app.status?.playing ?? false; },
      get vertexCount() { return app.models[0]?.vertexCount ?? 0; },
      get parameters() { return app.hello?.parameters ?? []; },
      get status() { return app.status; },
      get drawings() { return app.stage.drawings; },
      get drawn() { return app.stage.rods(0)?.drawn ?? { tubes: 0, ribbons: 0 }; },
      position: (vertex, slot = 0) => at(vertex, slot),
      screen(vertex, slot = 0) {
        const p = app.stage.project(slot, at(vertex, slot));
        return p ? [p.x, p.y] : [];
      },
      seek: (frame) => app.playback?.seek(frame),
      picture: () => app.stage.picture(),
      get graphs() { return { energy: app.panel.energy.shown(), residual: app.panel.residual.shown(), cost: app.panel.cost.shown() }; },
      get probes() { return app.panel.probes.graphs.map((g) => g.shown()); },
      get solver() { return app.hello?.solver ?? ""; },
      get colorBy() { return app.panel.options.colorBy; },
      get has() { return { frame: !!app.shownFrame[0]?.quaternion, moments: !!app.shownFrame[0]?.jointMoment, contacts: !!app.shownFrame[0]?.contacts }; },
      value: (vertex, slot = 0) => app.stage.rods(slot)?.value(vertex) ?? NaN,
      ready: app.ready,
    };
  }
}

// Pulling at a vertex: the nearest one on the screen is taken, the program's spring does the rest.
import { h } from "./dom";
import type { Stage } from "./stage";

export interface DragActions {
  enabled(): boolean;
  pull(vertex: number, to: [number, number, number]): void;
  release(): void;
}

/** Beyond this many vertices the nearest one is looked for only when the button goes down. */
const HOVER_LIMIT = 60_000;

export class Drag {
  readonly marker = h("div", { class: "marker", hidden: true });
  vertex: number | null = null;
  private pointer = -1;
  private grabbedAt: number[] = [];
  private target: [number, number, number] = [0, 0, 0];
  private hover: { x: number; y: number } | null = null;

  constructor(private readonly stage: Stage, host: HTMLElement, private readonly actions: DragActions) {
    // On the way down to the canvas, before the camera's controls see the event.
    host.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    host.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const type of ["pointerup", "pointercancel"] as const) host.addEventListener(type, (event) => this.up(event), { capture: true });
    host.addEventListener("pointerleave", () => this.point(null));
  }

  private held(): number[] | null {
    const frame = this.stage.rods(0)?.frame;
    return frame && this.vertex !== null ? [...frame.position.subarray(3 * this.vertex, 3 * this.vertex + 3)] : null;
  }

  private down(event: PointerEvent): void {
    if (event.target !== this.stage.canvas || event.button !== 0 || this.vertex !== null || event.shiftKey || event.ctrlKey || event.metaKey || !this.actions.enabled()) return;
    const vertex = this.stage.pick(0, event.clientX, event.clientY, event.pointerType === "touch" ? 26 : 14);
    if (vertex === null) return;
    event.stopPropagation();
    event.preventDefault();
    this.vertex = vertex;
    this.pointer = event.pointerId;
    this.grabbedAt = this.held()!;
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.pull(event);
  }

  private move(event: PointerEvent): void {
    if (this.vertex !== null && event.pointerId === this.pointer) {
      event.stopPropagation();
      this.pull(event);
    } else if (event.pointerType === "mouse" && event.buttons === 0) {
      this.point({ x: event.clientX, y: event.clientY });
    }
  }

  private pull(event: PointerEvent): void {
    this.target = this.stage.unproject(0, event.clientX, event.clientY, this.grabbedAt);
    this.actions.pull(this.vertex!, this.target);
    this.follow();
  }

  private up(event: PointerEvent): void {
    if (this.vertex === null || event.pointerId !== this.pointer) return;
    event.stopPropagation();
    this.stop();
    this.actions.release();
  }

  stop(): void {
    this.vertex = null;
    this.pointer = -1;
    this.stage.showPull(0, null);
    this.follow();
  }

  private point(at: { x: number; y: number } | null): void {
    this.hover = at;
    this.follow();
  }

  /** Puts line and marker where the vertex is now; called with every frame too. */
  follow(): void {
    const frame = this.stage.rods(0)?.frame;
    let vertex = this.vertex;
    if (vertex !== null && this.held()) this.stage.showPull(0, this.held(), this.target);
    else if (this.hover && frame && this.actions.enabled() && this.stage.rods(0)!.model.vertexCount <= HOVER_LIMIT) vertex = this.stage.pick(0, this.hover.x, this.hover.y, 14);
    const at = vertex !== null && frame ? this.stage.project(0, frame.position.subarray(3 * vertex, 3 * vertex + 3)) : null;
    this.marker.hidden = at === null;
    this.stage.canvas.style.cursor = this.vertex !== null ? "grabbing" : at ? "grab" : "";
    if (!at) return;
    const box = this.stage.canvas.getBoundingClientRect();
    this.marker.style.transform = `translate(${at.x - box.left}px, ${at.y - box.top}px)`;
  }
}

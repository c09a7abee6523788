// The bar below the picture: play, step, speed, and the timeline of a recorded run.
import { h, iconButton, setIcon } from "./dom";
import { clock } from "./units";

export interface TransportActions {
  playPause(): void;
  step(by: 1 | -1): void;
  reset(): void;
  speed(value: number): void;
  loop(): void;
  seek(frame: number): void;
}

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
/** 0 stands for as fast as the machine can; a simulation knows that speed, a recording does not. */
const speedLabel = (x: number): string => (x === 0 ? "max" : `${x}×`);

export class Timeline {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly speedBox: HTMLSelectElement;
  private readonly slider: HTMLInputElement;
  private live = true;
  private readonly clock = h("output", { class: "clock" }, "0.000 s");
  private readonly count = h("output", { class: "count" }, "");

  constructor(actions: TransportActions) {
    this.play = iconButton("play", "Play", actions.playPause, "space");
    this.play.classList.add("main");
    this.back = iconButton("back", "Step back", () => actions.step(-1), "←");
    this.loopButton = iconButton("loop", "Repeat", actions.loop, "L");
    this.speedBox = h("select", { class: "speed", title: "Speed (+ and -)", "aria-label": "Speed", onChange: () => actions.speed(Number(this.speedBox.value)) });
    this.slider = h("input", { type: "range", class: "scrub", min: "0", max: "0", step: "1", value: "0", "aria-label": "Frame", onInput: () => actions.seek(Number(this.slider.value)) });
    this.setSpeed(1);
    this.element = h("footer", { class: "transport" },
      h("div", { class: "buttons" }, iconButton("reset", "Back to the start", actions.reset, "R"), this.back, this.play, iconButton("step", "Step one frame", () => actions.step(1), "→"), this.loopButton, this.speedBox),
      this.slider,
      h("div", { class: "times" }, this.clock, this.count));
    this.setMode("live", 0);
  }

  setMode(mode: "live" | "playback", frames: number): void {
    const playback = mode === "playback";
    this.live = !playback;
    this.element.dataset["mode"] = mode;
    for (const part of [this.back, this.loopButton, this.slider]) part.hidden = !playback;
    this.slider.max = String(Math.max(0, frames - 1));
    this.setSpeed(Number(this.speedBox.value) || 1);
  }
  setPlaying(playing: boolean): void {
    setIcon(this.play, playing ? "pause" : "play", playing ? "Pause" : "Play", "space");
  }
  setLoop(on: boolean): void {
    this.loopButton.setAttribute("aria-pressed", String(on));
  }
  setSpeed(value: number): void {
    const values = [...(SPEEDS.includes(value) || value === 0 ? SPEEDS : [...SPEEDS, value].sort((a, b) => a - b)), ...(this.live ? [0] : [])];
    // An open list must not change under the hand.
    if (this.speedBox.value === String(value) && this.speedBox.options.length === values.length) return;
    this.speedBox.replaceChildren(...values.map((x) => h("option", { value: String(x) }, speedLabel(x))));
    this.speedBox.value = String(value);
  }
  setFrame(frame: number, time: number, frames: number | null): void {
    this.clock.textContent = clock(time);
    this.count.textContent = frames === null ? `frame ${frame}` : `frame ${frame} of ${frames - 1}`;
    if (frames !== null) {
      this.slider.value = String(frame);
      this.slider.style.setProperty("--done", `${frames > 1 ? (100 * frame) / (frames - 1) : 0}%`);
    }
  }
}

/** The speed one notch faster or slower. */
export function nextSpeed(current: number, by: 1 | -1): number {
  if (by > 0) return SPEEDS.find((x) => x > current * 1.001) ?? current;
  return [...SPEEDS].reverse().find((x) => x < current * 0.999) ?? current;
}

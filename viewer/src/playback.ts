// Recorded frames against the clock: which frame is due, for one run or for two side by side.

/** Index of the last time not after t. */
export function frameAt(times: ArrayLike<number>, t: number): number {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= t + 1e-12) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Index of the time nearest to t. */
export function nearestTo(times: ArrayLike<number>, t: number): number {
  const at = frameAt(times, t), next = Math.min(at + 1, times.length - 1);
  return Math.abs(times[next]! - t) < Math.abs(times[at]! - t) ? next : at;
}

/** Where frames come from. They may come later; the newest wish counts. */
export interface FrameSource {
  readonly times: ArrayLike<number>[];
  /** False while an earlier wish of this slot is still on its way. */
  idle(slot: number): boolean;
  request(slot: number, frame: number): void;
}

export class Playback {
  playing = false;
  loop = true;
  speed = 1;
  frame = 0;
  private time = 0;
  private last = 0;
  private readonly wanted: number[] = [];
  private readonly asked: number[] = [];

  constructor(private readonly source: FrameSource, private readonly onChange: () => void) {}

  get times(): ArrayLike<number> {
    return this.source.times[0]!;
  }
  get frames(): number {
    return this.times.length;
  }
  private get end(): number {
    return this.times[this.frames - 1] ?? 0;
  }

  seek(frame: number): void {
    const index = Math.min(this.frames - 1, Math.max(0, Math.round(frame)));
    this.goto(index, this.times[index] ?? 0);
  }

  step(by: 1 | -1): void {
    this.pause();
    this.seek(this.frame + by);
  }

  play(): void {
    if (this.frames < 2) return;
    if (this.frame >= this.frames - 1) this.seek(0);
    this.playing = true;
    this.last = performance.now();
    this.onChange();
    requestAnimationFrame((now) => this.tick(now));
  }
  pause(): void {
    this.playing = false;
    this.onChange();
  }

  private tick(now: number): void {
    if (!this.playing) return;
    // A tab that slept, or a slow machine, goes on where it was instead of jumping.
    const elapsed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    let t = this.time + elapsed * this.speed;
    const start = this.times[0] ?? 0;
    if (t > this.end) {
      if (!this.loop) {
        this.goto(this.frames - 1, this.end);
        return this.pause();
      }
      t = start + (this.end > start ? (t - this.end) % (this.end - start) : 0);
    }
    this.goto(frameAt(this.times, t), t);
    requestAnimationFrame((later) => this.tick(later));
  }

  /** The frame nearest to a time. */
  seekTime(time: number): void {
    this.seek(nearestTo(this.times, time));
  }

  /** The second run follows by time, not by number: its frames may come at another rate. */
  private goto(frame: number, time: number): void {
    this.frame = frame;
    this.time = time;
    this.source.times.forEach((times, slot) => (this.wanted[slot] = slot === 0 ? frame : frameAt(times, this.times[frame] ?? 0)));
    this.pump();
    this.onChange();
  }

  /** Asks for what is wanted where nothing is on its way; called again when a frame has arrived. */
  pump(): void {
    this.wanted.forEach((frame, slot) => {
      if (this.asked[slot] === frame || !this.source.idle(slot)) return;
      this.asked[slot] = frame;
      this.source.request(slot, frame);
    });
  }

  /** After a new connection nothing is on its way. */
  restart(): void {
    this.asked.length = 0;
    this.pump();
  }
}

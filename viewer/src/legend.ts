// The key to the picture: what the colours mean, how long a metre is.
import { type ColorBy, COLOR_MODES, colorLabel, type ColorRange, categoryColor, gradient, isCategory } from "./colors";
import { h } from "./dom";
import { number, roundDown, withUnit } from "./units";

const NAMES_SHOWN = 8;

export class Legend {
  readonly element = h("div", { class: "legend" });
  private readonly colors = h("div", { class: "colors" });
  private readonly notes = h("div", { class: "notes" });
  private readonly thinned = h("div", { class: "thinned" });
  private readonly bar = h("i", {});
  private readonly length = h("span", {}, "");
  private readonly grid = h("span", { class: "grid" }, "");
  private low = h("span", {});
  private high = h("span", {});
  private mode: ColorBy = "rod";

  constructor() {
    this.element.append(this.colors, this.notes, this.thinned, h("div", { class: "scale" }, this.bar, this.length, this.grid));
  }

  setColors(mode: ColorBy, sinceRest: boolean, names: string[], own: (string | null)[], onReset: () => void): void {
    this.mode = mode;
    const { unit } = COLOR_MODES.find((m) => m.value === mode)!, label = colorLabel(mode, sinceRest);
    if (isCategory(mode)) {
      const chips = names.slice(0, NAMES_SHOWN).map((name, i) => {
        const chip = h("i", {});
        chip.style.background = categoryColor(i, own);
        return h("li", {}, chip, name);
      });
      if (names.length > NAMES_SHOWN) chips.push(h("li", { class: "more" }, `and ${names.length - NAMES_SHOWN} more`));
      this.colors.replaceChildren(h("h3", {}, label), h("ul", {}, ...chips));
      return;
    }
    const ramp = h("div", { class: "ramp" });
    ramp.style.background = gradient(mode);
    this.low = h("span", {});
    this.high = h("span", {});
    this.colors.replaceChildren(
      h("h3", {}, `${label} [${unit}]`, h("button", { class: "quiet", type: "button", title: "Start the range again from this frame", onClick: onReset }, "reset")),
      ramp, h("div", { class: "ends" }, this.low, this.high));
  }

  setRange(range: ColorRange): void {
    const factor = this.mode === "stretch" ? 100 : 1;
    this.low.textContent = `${range.beyond && range.min < 0 ? "≤ " : ""}${number(range.min * factor)}`;
    this.high.textContent = `${range.beyond ? "≥ " : ""}${number(range.max * factor)}`;
  }

  /** Of section moments and of contacts, the largest that is shown; null where they are not. */
  setLargest(moment: number | null, has: boolean, contact: number | null): void {
    this.notes.replaceChildren();
    const chip = (color: string): HTMLElement => {
      const i = h("i", {});
      i.style.background = color;
      return i;
    };
    if (contact !== null)
      this.notes.append(h("span", {}, chip("#d9382e"), "normal force ", chip("#33a64d"), "friction; largest ", h("b", {}, withUnit(contact, "N"))));
    if (moment !== null) this.notes.append(has
      ? h("span", {}, chip("#ed8c26"), "bending ", chip("#9e66d9"), "torque; largest ", h("b", {}, withUnit(moment, "N·m")))
      : h("span", {}, "No section moments in this data; record with /output/sections true."));
  }

  setThinned(every: number): void {
    this.thinned.textContent = every > 1 ? `1 rod in ${every} while things move: no graphics card` : "";
  }

  setScale(metresPerPixel: number, gridSpacing: number): void {
    const metres = roundDown(105 * metresPerPixel);
    this.bar.style.width = `${metres / metresPerPixel}px`;
    this.length.textContent = withUnit(metres, "m");
    this.grid.textContent = gridSpacing > 0 ? `grid ${withUnit(gridSpacing, "m")}` : "";
  }
}

// What the user must know: the state of the page in its middle, problems as notes that stay until they are read.
import { h, icon } from "./dom";

export class Notices {
  readonly state = h("div", { class: "state", role: "status", hidden: true });
  readonly list = h("div", { class: "notices", role: "alert" });
  private readonly shown = new Map<string, { element: HTMLElement; count: number }>();

  /** A text in the middle of the picture, with a button when something can be done; null takes it away. */
  setState(title: string | null, detail = "", action?: { label: string; run: () => void }): void {
    this.state.hidden = title === null;
    this.state.replaceChildren();
    if (title === null) return;
    this.state.append(h("h2", {}, title));
    if (detail) this.state.append(h("p", {}, detail));
    if (action) this.state.append(h("button", { class: "primary", type: "button", onClick: action.run }, action.label));
  }

  /** The same message again counts up instead of filling the screen. */
  problem(message: string, kind: "problem" | "note" = "problem"): void {
    const before = this.shown.get(message);
    if (before) {
      before.element.querySelector(".count")!.textContent = `×${++before.count}`;
      return;
    }
    const close = h("button", { class: "icon", type: "button", title: "Dismiss", "aria-label": "Dismiss", onClick: () => this.dismiss(message) }, icon("close"));
    const element = h("div", { class: `notice ${kind}` }, h("span", {}, message), h("span", { class: "count" }), close);
    this.shown.set(message, { element, count: 1 });
    this.list.append(element);
    if (this.shown.size > 4) this.dismiss(this.shown.keys().next().value!);
  }
  dismiss(message: string): void {
    this.shown.get(message)?.element.remove();
    this.shown.delete(message);
  }
  dismissAll(): void {
    for (const message of [...this.shown.keys()]) this.dismiss(message);
  }
}

// Keys, and the help that lists them. An action is written once; the help cannot forget it.
import { h } from "./dom";

export interface Shortcut {
  keys: string[];
  shown: string;
  text: string;
  group: string;
  run: () => void;
  /** Left out of the help and inactive when it does not apply. */
  when?: () => boolean;
}

export class Shortcuts {
  readonly dialog = h("dialog", { class: "help", "aria-label": "Help" });

  constructor(private readonly shortcuts: Shortcut[], private readonly gestures: () => [string, string][]) {
    document.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    // A slider keeps the keys that move it, a list those that choose.
    const moves = /^(Arrow|Home|End|Page)/.test(event.key);
    if (target instanceof HTMLInputElement && target.type === "range" && moves) return;
    if (target instanceof HTMLSelectElement && event.key !== "?") return;
    if (this.dialog.open && event.key !== "?") return;
    const found = this.shortcuts.find((s) => s.keys.includes(event.key) && (s.when?.() ?? true));
    if (!found) return;
    event.preventDefault();
    if (target instanceof HTMLButtonElement) target.blur();
    found.run();
  }

  toggleHelp(): void {
    if (this.dialog.open) return this.dialog.close();
    const groups = new Map<string, Shortcut[]>();
    for (const s of this.shortcuts) if (s.when?.() ?? true) groups.set(s.group, [...(groups.get(s.group) ?? []), s]);
    const table = (rows: [string, string][]): HTMLElement => h("dl", {}, ...rows.flatMap(([key, text]) => [h("dt", {}, ...key.split(" ").map((k) => h("kbd", {}, k))), h("dd", {}, text)]));
    const plain = (rows: [string, string][]): HTMLElement => h("dl", {}, ...rows.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)]));
    this.dialog.replaceChildren(
      h("header", {}, h("h2", {}, "Keys and gestures"), h("button", { class: "quiet", type: "button", onClick: () => this.dialog.close() }, "Close")),
      h("div", { class: "help-groups" },
        h("section", {}, h("h3", {}, "Mouse and touch"), plain(this.gestures())),
        ...[...groups].map(([group, list]) => h("section", {}, h("h3", {}, group), table(list.map((s) => [s.shown, s.text]))))),
    );
    this.dialog.showModal();
  }
}

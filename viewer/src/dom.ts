// Small helpers for building the page's controls.

type Props = Record<string, unknown>;

/** An element with properties, attributes (names with a dash), listeners (onX) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2).toLowerCase(), value as EventListener);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else (element as unknown as Props)[name === "class" ? "className" : name] = value;
  }
  element.append(...children);
  return element;
}

const PATHS = {
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M7 5.5h3.5v13H7zM13.5 5.5H17v13h-3.5z",
  step: "M6.5 5.5v13l8-6.5zM16 5.5h2.5v13H16z",
  back: "M17.5 5.5v13l-8-6.5zM5.5 5.5H8v13H5.5z",
  reset: "M12 5a7 7 0 1 1-6.6 4.7l1.9.7A5 5 0 1 0 12 7v2.8L7.5 6 12 2.2z",
  loop: "M7 7h9V4.5l4 3.5-4 3.5V9H8.5v3.5h-2V8A1 1 0 0 1 7 7zm10 10H8v2.5L4 16l4-3.5V15h7.5v-3.5h2V16a1 1 0 0 1-.5 1z",
  help: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zm0 1.8a6.7 6.7 0 1 0 0 13.4 6.7 6.7 0 0 0 0-13.4zm-.9 9.7h1.8v1.8h-1.8zM12 7.2c1.8 0 3 1.1 3 2.7 0 1.2-.7 1.9-1.4 2.4-.6.5-.8.7-.8 1.5h-1.7c0-1.5.6-2.1 1.3-2.7.6-.4.9-.7.9-1.2 0-.7-.5-1.1-1.3-1.1s-1.3.5-1.4 1.3l-1.7-.2c.2-1.6 1.4-2.7 3.1-2.7z",
  theme: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zm0 1.8v13.4a6.7 6.7 0 0 0 0-13.4z",
  panel: "M4 6h10v1.8H4zm0 5.1h6v1.8H4zm0 5.1h10V18H4zM16 4.8h1.8v2.1H20v1.8h-2.2v2H16zM12 9.9h1.8v2H20v1.8h-6.2v2H12zM16 15h1.8v2.1H20v1.8h-2.2v2H16z",
  fit: "M4 4h6v1.8H5.8V10H4zm10 0h6v6h-1.8V5.8H14zM4 14h1.8v4.2H10V20H4zm14.2 0H20v6h-6v-1.8h4.2zM9 9h6v6H9z",
  present: "M4 4h6v1.8H5.8V10H4zm10 0h6v6h-1.8V5.8H14zM4 14h1.8v4.2H10V20H4zm14.2 0H20v6h-6v-1.8h4.2zM12 8.2a3.8 3.8 0 1 1 0 7.6 3.8 3.8 0 0 1 0-7.6zm0 1.8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  close: "M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4L12 13.4 6.4 19 5 17.6 10.6 12 5 6.4z",
} as const;
export type Icon = keyof typeof PATHS;

export function icon(name: Icon): SVGSVGElement {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(ns, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name: Icon, label: string, onClick: () => void, key = ""): HTMLButtonElement {
  const title = key ? `${label} (${key})` : label;
  return h("button", { class: "icon", type: "button", title, "aria-label": label, onClick }, icon(name));
}

export function setIcon(button: HTMLButtonElement, name: Icon, label: string, key = ""): void {
  if (button.dataset["icon"] === name) return;
  button.dataset["icon"] = name;
  button.replaceChildren(icon(name));
  button.title = key ? `${label} (${key})` : label;
  button.setAttribute("aria-label", label);
}

export function select(label: string, options: { value: string; label: string }[], value: string, onChange: (value: string) => void): HTMLLabelElement & { select: HTMLSelectElement } {
  const box = h("select", { onChange: () => onChange(box.value) }, ...options.map((o) => h("option", { value: o.value }, o.label)));
  box.value = value;
  return Object.assign(h("label", { class: "row" }, h("span", {}, label), box), { select: box });
}

export function toggle(label: string, on: boolean, onChange: (on: boolean) => void, title = ""): HTMLLabelElement & { input: HTMLInputElement } {
  const input = h("input", { type: "checkbox", checked: on, onChange: () => onChange(input.checked) });
  return Object.assign(h("label", { class: "row check", title }, h("span", {}, label), input), { input });
}

// Light and dark: the system's choice until the user makes another. The picture has colours of its own.

export type Theme = "light" | "dark";
const KEY = "osier-theme";

export const STAGE_COLORS = {
  light: { background: "#f3f5f7", plane: "#e6ebef", line: "#8d99a5", shadow: "#3f4952", ambient: 0.5 },
  dark: { background: "#14181d", plane: "#262d35", line: "#5d6977", shadow: "#040507", ambient: 0.42 },
} as const;

export class ThemeSwitch {
  private chosen: Theme | null = null;
  private readonly system = window.matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly onChange: (theme: Theme) => void) {
    // A page opened from disk may have no storage; then the choice lasts as long as the page.
    try {
      const stored = localStorage.getItem(KEY);
      if (stored === "light" || stored === "dark") this.chosen = stored;
    } catch { /* stays with the system */ }
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }
  get theme(): Theme {
    return this.chosen ?? (this.system.matches ? "dark" : "light");
  }
  toggle(): void {
    this.chosen = this.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.chosen);
    } catch { /* see above */ }
    this.apply();
  }
  private apply(): void {
    document.documentElement.dataset["theme"] = this.theme;
    this.onChange(this.theme);
  }
}

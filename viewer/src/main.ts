// The page: a recording inside it is played; otherwise it connects to the program that served it.
import { App } from "./app";
import "./style.css";

const host = document.getElementById("app")!;
try {
  const recording = document.getElementById("osier-recording")?.textContent?.trim() ?? "";
  window.osier = new App(host).start(recording);
} catch (error) {
  host.replaceChildren(Object.assign(document.createElement("p"), { className: "state", textContent: (error as Error).message }));
}

// What the browser tests run against: the mock server, and the real program where OSIER_BIN names one.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startMock } from "./mock_server.mjs";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const OSIER = process.env.OSIER_BIN;
export const scratch = mkdtempSync(join(tmpdir(), "osier-viewer-"));

/** Starts `osier view` and waits for the address it prints. */
export async function startView(...args) {
  const child = spawn(OSIER, ["view", "--no-browser", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((done, failed) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => {
        said += data;
        const found = /http:\S+/.exec(said);
        if (found) done(found[0]);
      });
    child.on("exit", (code) => failed(new Error(`osier view ended with ${code}: ${said}`)));
  });
  const ended = new Promise((done) => child.on("exit", done));
  return { url, stop: () => (child.kill("SIGINT"), ended) };
}

export function osier(...args) {
  const result = spawnSync(OSIER, args, { encoding: "utf8" });
  if (result.status !== 0) throw new Error(`osier ${args.join(" ")}: ${result.stderr}`);
  return result.stdout;
}

/** Live targets: how to start one, its free end, and the slider that makes it stiffer. */
export const LIVE = [
  { name: "mock", start: () => startMock({ rods: 1, segments: 20 }), tip: 20, slider: "/materials/steel/young" },
  ...(OSIER ? [{ name: "osier", start: () => startView(join(ROOT, "scenes/cantilever.json")), tip: 10, slider: "/materials/paper/bend_twist" }] : []),
];

// Bundles the TypeScript unit tests (Node 18 cannot read TypeScript) and runs them with Node's own test runner.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const names = readdirSync(join(here, "unit")).filter((name) => name.endsWith(".test.ts"));
await build({ entryPoints: names.map((name) => join(here, "unit", name)), outdir: join(here, "../build/unit"), bundle: true, platform: "node", format: "esm", target: "node18", outExtension: { ".js": ".mjs" } });
process.exit(spawnSync(process.execPath, ["--test", ...names.map((name) => join(here, "../build/unit", name.replace(".ts", ".mjs")))], { stdio: "inherit", env: { ...process.env, OSIER_MEASURES: join(here, "../../tests/data/measures.json") } }).status ?? 1);

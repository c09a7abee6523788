// A quarter of a million vertices on a graphics card, in frames a second (./test --device). Exits 77 where only software draws.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launchOnCard, openUnheard } from "./browser.mjs";
import { openLarge, PER_ROD, RODS } from "./large_page.mjs";
import { OSIER, osier, ROOT, scratch, startView } from "./targets.mjs";

const WANTED = 30 /* of the 60 that a screen shows */, VERTICES = RODS * PER_ROD;

// Where to put pictures of what was measured.
const album = process.env.OSIER_ALBUM;
async function keep(page, name) {
  if (!album) return;
  mkdirSync(album, { recursive: true });
  const data = await page.evaluate(() => window.osier.picture());
  writeFileSync(join(album, `${name}.png`), Buffer.from(data.split(",")[1], "base64"));
}

const card = await launchOnCard();
if (!card) {
  console.log("skipped: chromium finds no graphics card here, only software (docs/viewer.md, How much it can show)");
  process.exit(77);
}

describe("a quarter of a million vertices on a graphics card", () => {
  after(() => card.browser.close());
  const fast = (what, { fps, median, slowest, drawings }) => {
    console.log(`${what}: ${fps.toFixed(0)} frames/s${median ? `; a frame takes ${median.toFixed(1)} ms, the slowest ${slowest.toFixed(1)} ms` : ""}`);
    assert.ok(drawings >= 0.99, `${what}: only ${drawings} of the frames were drawn`);
    assert.ok(fps >= WANTED, `${what}: ${fps} frames/s`);
  };
  let page;
  before(async () => {
    console.log(`drawn by ${card.renderer}`);
    ({ page } = await openLarge(card.browser));
  });
  const stream = () => page.evaluate(() => window.bench.stream(4));

  test("a stream of frames, seen whole", async () => {
    for (const [what, key] of [["by rod", "1"], ["by stretch", "3"], ["by curvature", "4"]]) {
      await page.keyboard.press(key);
      await stream();
      const result = await stream();
      await keep(page, what.replace(" ", "_"));
      fast(what, result);
    }
  });

  test("a stream of frames, close up as tubes", async () => {
    const box = await page.locator("main canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let i = 0; i < 60 && (await page.evaluate(() => window.osier.drawn.tubes)) < 20_000; ++i) await page.mouse.wheel(0, -120);
    const { tubes, ribbons } = await page.evaluate(() => window.osier.drawn);
    assert.ok(tubes > 0, "nothing is close enough for tubes");
    await stream();
    const result = await stream();
    await keep(page, "close_up");
    fast(`${tubes} tubes and ${ribbons} ribbons`, result);
    assert.deepEqual(page.problems, []);
  });

  describe("a run played back", { skip: !OSIER && "OSIER_BIN is not set" }, () => {
    const FRAMES = 15, folder = join(scratch, "large"), html = join(scratch, "large.html");
    before(() => osier("run", join(ROOT, "scenes/hair_afro.json"), "--set", `/structures/0/strands=${RODS}`, "--frames", `${FRAMES}`, "--html", html, "-o", folder, "--quiet"));
    /** Plays at twice the speed, for which sixty frames a second are due, and counts those that are shown. */
    async function play(name, url) {
      const run = await openUnheard(card.browser, url);
      try {
        await run.evaluate(() => window.osier.ready);
        assert.equal(await run.evaluate(() => window.osier.vertexCount), VERTICES);
        await run.evaluate(() => ["+", " "].forEach((key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))));
        assert.ok(await run.evaluate(() => window.osier.playing));
        const pass = () => run.evaluate(async () => {
          let shown = 0, last = window.osier.frame;
          const drawn = window.osier.drawings, begin = performance.now();
          while (performance.now() - begin < 4000) {
            await new Promise((done) => requestAnimationFrame(done));
            if (window.osier.frame !== last) ++shown;
            last = window.osier.frame;
          }
          return { fps: (1000 * shown) / (performance.now() - begin), drawings: (window.osier.drawings - drawn) / shown };
        });
        await pass();
        const result = await pass();
        await keep(run, name);
        fast(name, result);
      } finally {
        await run.close();
      }
    }
    test("from one HTML file", () => play("recording", `file://${html}#paused`));
    test("by the program", async () => {
      const view = await startView(join(folder, "trajectory.h5"));
      try {
        await play("trajectory", view.url);
      } finally {
        await view.stop();
      }
    });
  });
});

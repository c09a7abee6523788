// A quarter of a million vertices on a graphics card: frames in a second, each finished on the card before the next is given.
// Needs one (./test --device); skipped where only software draws.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launchOnCard, openPage } from "./browser.mjs";
import { openLarge, PER_ROD, RODS, timing } from "./large_page.mjs";
import { OSIER, osier, ROOT, scratch, startView } from "./targets.mjs";

const WANTED = 30, VERTICES = RODS * PER_ROD;

// Where to put pictures of what was measured.
const album = process.env.OSIER_ALBUM;
async function keep(page, name) {
  if (!album) return;
  mkdirSync(album, { recursive: true });
  const data = await page.evaluate(() => window.osier.picture());
  writeFileSync(join(album, `${name}.png`), Buffer.from(data.split(",")[1], "base64"));
}

describe("a quarter of a million vertices on a graphics card", async () => {
  // Frames as fast as they can be drawn, not as often as a screen shows them: what is measured is the time of a frame.
  const card = await launchOnCard("--disable-frame-rate-limit", "--disable-gpu-vsync");
  after(() => card?.browser.close());
  const skip = card ? false : "no graphics card draws here";
  const fast = (what, { fps, median, slowest, drawings }) => {
    console.log(`${what}: ${fps.toFixed(0)} frames/s; a frame takes ${median.toFixed(1)} ms, the slowest ${slowest.toFixed(1)} ms`);
    assert.ok(drawings >= 0.99, `${what}: only ${drawings} of the frames were drawn`);
    assert.ok(fps >= WANTED, `${what}: ${fps} frames/s`);
  };
  let page;
  before(async () => {
    if (!card) return;
    console.log(`drawn by ${card.renderer}`);
    ({ page } = await openLarge(card.browser));
  });
  const stream = () => page.evaluate(() => window.bench.stream(4));

  test("a stream of frames, seen whole", { skip }, async () => {
    for (const [what, key] of [["by rod", "1"], ["by stretch", "3"], ["by curvature", "4"]]) {
      await page.keyboard.press(key);
      await stream();
      const result = await stream();
      await keep(page, what.replace(" ", "_"));
      fast(what, result);
    }
  });

  test("a stream of frames, close up as tubes", { skip }, async () => {
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

  describe("a run played back", { skip: skip || (OSIER ? false : "OSIER_BIN names no program") }, () => {
    const FRAMES = 15, folder = join(scratch, "large"), html = join(scratch, "large.html");
    before(() => osier("run", join(ROOT, "scenes/hair_afro.json"), "--set", `/structures/0/strands=${RODS}`, "--frames", `${FRAMES}`, "--html", html, "-o", folder, "--quiet"));
    /** Frame by frame over and over, each fetched, unpacked, shown and drawn. */
    async function play(name, url) {
      const run = await openPage(card.browser, url);
      await run.evaluate(() => window.osier.ready);
      assert.equal(await run.evaluate(() => window.osier.vertexCount), VERTICES);
      await run.evaluate(timing);
      const pass = () => run.evaluate((frames) => window.timeFrames(3, async (i) => {
        window.osier.seek(i % frames);
        do await new Promise((done) => requestAnimationFrame(done));
        while (window.osier.frame !== i % frames);
      }), FRAMES);
      await pass();
      const result = await pass();
      await keep(run, name);
      fast(name, result);
      assert.deepEqual(run.problems, []);
      await run.close();
    }
    test("from one HTML file", () => play("recording", `file://${html}`));
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

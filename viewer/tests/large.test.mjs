// A quarter of a million vertices: the page's own work for a frame, without a graphics card. What does not depend on the machine is
// asserted exactly; times have a wide margin and are printed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openLarge, PER_ROD, RODS } from "./large_page.mjs";

const VERTICES = RODS * PER_ROD, SEGMENTS = RODS * (PER_ROD - 1);

describe("large models without a graphics card", () => {
  let browser, page;
  before(async () => ({ browser, page } = await openLarge(null, { software: true })));
  after(() => browser?.close());

  test("while things move some of many rods are drawn, whole ones; all once they rest", async () => {
    await page.evaluate(() => window.bench.run(3));
    const { ribbons } = await page.evaluate(() => window.osier.drawn);
    assert.ok(ribbons > 15_000 && ribbons < 60_000, `${ribbons} segments`);
    assert.equal(ribbons % (PER_ROD - 1), 0, "whole rods");
    assert.match(await page.locator(".legend").innerText(), /1 rod in 8 while things move: no graphics card/);
    await page.waitForFunction((all) => window.osier.drawn.ribbons === all, SEGMENTS, { timeout: 30_000 });
    assert.doesNotMatch(await page.locator(".legend").innerText(), /1 rod in/);
    assert.deepEqual(page.problems, []);
  });
});

describe("large models", () => {
  let browser, page;
  const run = (frames) => page.evaluate((n) => window.bench.run(n), frames);
  before(async () => ({ browser, page } = await openLarge()));
  after(() => browser?.close());

  test("a frame brings and uploads positions and nothing else", async () => {
    const { bytes, frameBytes, calls } = await run(5);
    assert.ok(frameBytes < 12 * VERTICES + SEGMENTS + 512, `${frameBytes} bytes came`);
    const rows = Math.ceil(VERTICES / 2048) * 2048;
    assert.equal(bytes, 16 * rows, "one texture of positions, in whole rows");
    assert.ok(calls <= 4, `${calls} draw calls`);
  });

  test("far away a segment is two triangles, and its shadow two", async () => {
    assert.deepEqual(await page.evaluate(() => window.osier.drawn), { tubes: 0, ribbons: SEGMENTS });
    const { triangles } = await run(3);
    assert.ok(triangles <= 4 * SEGMENTS + 2, `${triangles} triangles`);
  });

  test("close up tubes appear, what is out of view does not, and the number of triangles stays bounded", async () => {
    const box = await page.locator("main canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let i = 0; i < 60; ++i) await page.mouse.wheel(0, -240);
    await page.waitForFunction(() => window.osier.drawn.tubes > 0, null, { timeout: 60_000 });
    const drawn = await page.evaluate(() => window.osier.drawn), { triangles } = await run(3);
    assert.ok(drawn.tubes + drawn.ribbons < 0.95 * SEGMENTS, JSON.stringify(drawn));
    assert.ok(triangles <= 3e6 + 4 * SEGMENTS, `${triangles} triangles for ${JSON.stringify(drawn)}`);
    console.log(`close up: ${drawn.tubes} tubes, ${drawn.ribbons} ribbons, ${Math.round(triangles)} triangles`);
    await page.keyboard.press("f");
  });

  test("the page's own time for a frame leaves room for thirty in a second", async () => {
    for (const [what, key] of [["rod", "1"], ["stretch", "3"], ["curvature", "4"]]) {
      await page.keyboard.press(key);
      await run(4);
      const { receive, draw } = await run(30);
      console.log(`by ${what}: ${receive.toFixed(1)} ms for a frame that comes in, ${draw.toFixed(1)} ms to draw`);
      assert.ok(receive + draw < 100, `by ${what}: ${receive} + ${draw} ms`); // some ten are usual
    }
  });

  test("frames leave nothing behind", async () => {
    await page.keyboard.press("4");
    const client = await page.context().newCDPSession(page);
    const used = async () => {
      await client.send("HeapProfiler.collectGarbage");
      const { usedSize, backingStorageSize = 0 } = await client.send("Runtime.getHeapUsage");
      return usedSize + backingStorageSize;
    };
    await run(10);
    const start = await used();
    await run(60);
    const grown = (await used()) - start;
    assert.ok(grown < 2e6, `${(grown / 1e6).toFixed(2)} MB after 60 frames of 7 MB`);
    assert.deepEqual(page.problems, []);
  });
});

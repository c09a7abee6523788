// Recorded runs: scrubbing, stepping, looping, two side by side, and the page that carries its recording with it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inkOf, launch, openPage } from "./browser.mjs";
import { startMock } from "./mock_server.mjs";
import { MockRods, recording, REPORT } from "./packets.mjs";
import { osier, OSIER, ROOT, scratch, startView } from "./targets.mjs";

const PAGE = readFileSync(new URL("../dist/viewer.html", import.meta.url), "utf8");
const MARK = '<script id="osier-recording" type="application/x-osier"></script>';
const FRAMES = 40;
const rods = new MockRods({ rods: 1, segments: 20 });
const sag = (i) => -0.6 * (i / FRAMES);

/** A page with this text as its recording, opened from disk. */
function embedded(name, base64) {
  assert.equal(PAGE.split(MARK).length, 2, "the page has one place for a recording");
  const file = join(scratch, name);
  writeFileSync(file, PAGE.replace(MARK, () => MARK.replace("></", `>${base64}</`)));
  return `${pathToFileURL(file).href}#paused`;
}

/** Positions of a frame as the program wrote them to an OBJ file. */
const objPositions = (folder, frame) =>
  readFileSync(join(folder, "frames", `frame_${String(frame).padStart(5, "0")}.obj`), "utf8").split("\n").filter((line) => line.startsWith("v ")).map((line) => line.slice(2).trim().split(/\s+/).map(Number));

const targets = [
  { name: "mock server", mode: "playback", open: async () => {
    const server = await startMock({ rods: 1, segments: 20, playback: FRAMES });
    return { url: server.url, stop: server.stop, frames: FRAMES, tip: 20, want: (i) => rods.positions(-0.5 * (i / FRAMES)).subarray(60, 63), tolerance: 1e-6 };
  } },
  { name: "file from the mock", mode: "recording", open: async () => ({ url: embedded("mock.html", recording([rods], FRAMES, sag)), stop() {}, frames: FRAMES, tip: 20, want: (i) => rods.positions(sag(i)).subarray(60, 63), tolerance: 4e-5 }) },
  ...(OSIER ? [
    { name: "osier view TRAJECTORY", mode: "playback", open: async () => {
      const folder = join(scratch, "run");
      osier("run", join(ROOT, "scenes/cantilever.json"), "--frames", String(FRAMES - 1), "-o", folder, "--quiet");
      const server = await startView(folder);
      return { ...server, frames: FRAMES, tip: 10, want: (i) => objPositions(folder, i)[10], tolerance: 1e-5 };
    } },
    { name: "osier run --html", mode: "recording", open: async () => {
      const folder = join(scratch, "run-html"), file = join(scratch, "cantilever.html");
      osier("run", join(ROOT, "scenes/cantilever.json"), "--frames", String(FRAMES - 1), "-o", folder, "--quiet", "--html", file);
      return { url: `${pathToFileURL(file).href}#paused`, stop() {}, frames: FRAMES, tip: 10, want: (i) => objPositions(folder, i)[10], tolerance: 1e-4 };
    } },
  ] : []),
];

for (const target of targets)
  describe(`playback: ${target.name}`, () => {
    let browser, run, page;
    const until = (condition, argument) => page.waitForFunction(condition, argument, { timeout: 40_000 });
    const scrub = async (frame) => {
      await page.locator(".scrub").fill(String(frame));
      await until((f) => window.osier.frame === f, frame);
    };
    before(async () => {
      browser = await launch();
      run = await target.open();
      page = await openPage(browser, run.url);
      await page.evaluate(() => window.osier.ready);
    });
    after(async () => {
      await browser?.close();
      await run?.stop();
    });

    test("it opens at the first frame", async () => {
      assert.deepEqual(await page.evaluate(() => [window.osier.mode, window.osier.frame, window.osier.playing]), [target.mode, 0, false]);
      assert.match(await page.locator(".times").innerText(), new RegExp(`frame 0 of ${run.frames - 1}`));
    });

    test("scrubbing shows the right frame, in numbers and in the picture", async () => {
      await scrub(run.frames - 1);
      const ink = [], tips = [];
      for (const frame of [0, Math.floor(run.frames / 2), run.frames - 1]) {
        await scrub(frame);
        const got = await page.evaluate((v) => window.osier.position(v), run.tip);
        const want = run.want(frame);
        for (let k = 0; k < 3; ++k) assert.ok(Math.abs(got[k] - want[k]) < run.tolerance, `frame ${frame}: ${got} instead of ${[...want]}`);
        assert.ok(Math.abs((await page.evaluate(() => window.osier.time)) - frame / 30) < 1e-6);
        ink.push(await inkOf(page));
        tips.push(want[1]);
      }
      // Where the rod hangs lower, its ink is lower in the picture.
      for (const [a, b] of [[0, 1], [0, 2], [1, 2]]) assert.equal(Math.sign(ink[a].y - ink[b].y), Math.sign(tips[b] - tips[a]), JSON.stringify({ ink, tips }));
      assert.ok(Math.abs(ink[0].y - ink[2].y) > 0.01, JSON.stringify(ink));
      assert.ok(ink.every((i) => i.share > 5e-4 && i.share < 0.3), JSON.stringify(ink));
    });

    test("steps go one frame on and back, and stop at the ends", async () => {
      await page.evaluate(() => window.osier.seek(5));
      await until(() => window.osier.frame === 5);
      await page.keyboard.press("ArrowRight");
      await until(() => window.osier.frame === 6);
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      await until(() => window.osier.frame === 4);
      await page.keyboard.press("Home");
      await until(() => window.osier.frame === 0);
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("End");
      await until((f) => window.osier.frame === f, run.frames - 1);
    });

    test("it plays, stops at the end without repeat, and starts over with it", async () => {
      await page.evaluate((f) => window.osier.seek(f), run.frames - 4);
      await page.keyboard.press("l");
      await page.keyboard.press(" ");
      await until((f) => !window.osier.playing && window.osier.frame === f, run.frames - 1);
      await page.keyboard.press("l");
      await page.keyboard.press(" ");
      await until((f) => window.osier.frame > 0 && window.osier.frame < f, run.frames - 3);
      await page.evaluate((f) => window.osier.seek(f), run.frames - 3);
      await until((f) => window.osier.frame < f, run.frames - 6);
      await page.keyboard.press(" ");
      assert.equal(await page.evaluate(() => window.osier.playing), false);
    });

    test("nothing went wrong in the page, and it asked nobody for anything", async () => {
      assert.deepEqual(page.problems, []);
      const requests = await page.evaluate(() => performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith("data:") && !n.startsWith("blob:")));
      assert.deepEqual(requests, []);
    });
  });

/** Columns of a CSV file that the program wrote. */
function table(file) {
  const [head, ...lines] = readFileSync(file, "utf8").trim().split("\n").map((line) => line.split(","));
  return Object.fromEntries(head.map((name, k) => [name, lines.map((line) => Number(line[k]))]));
}

describe("what was recorded with a run", () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());
  const near = (a, b, scale = Math.abs(b)) => assert.ok(Math.abs(a - b) <= 1e-5 * scale + 1e-12, `${a} instead of ${b}`);
  const go = async (page, frame) => {
    await page.evaluate((f) => window.osier.seek(f), frame);
    await page.waitForFunction((f) => window.osier.frame === f, frame, { timeout: 40_000 });
    return page.evaluate(() => window.osier.graphs);
  };
  const open = async (url) => {
    const page = await openPage(browser, url);
    await page.evaluate(() => window.osier.ready);
    return page;
  };

  test("graphs show energy, residual and time of the frame at the cursor; a click on one goes there", async () => {
    const page = await open(embedded("graphs.html", recording([rods], FRAMES, sag)));
    await page.locator(".graphs canvas").first().waitFor();
    for (const frame of [7, 0, 31]) {
      const { energy, residual, cost } = await go(page, frame);
      const r = REPORT(frame, 0);
      near(energy[0][0], r.energy.reduce((a, b) => a + b));
      r.energy.slice(0, 3).forEach((e, k) => near(energy[0][k + 1], e));
      if (frame) near(residual[0][0], r.residual), near(cost[0][0], r.ms / 1000);
      else assert.ok(Number.isNaN(residual[0][0]) && Number.isNaN(cost[0][0]), "nothing was computed for the first frame");
    }
    const canvas = page.locator(".graphs canvas").first();
    // The cursor is drawn where the frame is.
    const cursor = () => canvas.evaluate((c) => {
      const { data, width } = c.getContext("2d").getImageData(0, 1, c.width, 1);
      let best = 0;
      for (let x = 0; x < width; ++x) if (data[4 * x + 3] > data[4 * best + 3]) best = x;
      return best / width;
    });
    await go(page, 10);
    await page.locator(".graphs .readouts", { hasText: "kinetic 10 J" }).waitFor({ timeout: 30_000 });
    assert.ok(Math.abs((await cursor()) - 10 / (FRAMES - 1)) < 0.02, String(await cursor()));
    const box = await canvas.boundingBox();
    await page.mouse.click(box.x + 0.75 * box.width, box.y + box.height / 2);
    await page.waitForFunction((f) => window.osier.frame === f, Math.round(0.75 * (FRAMES - 1)), { timeout: 40_000 });
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test("two runs show both their curves", async () => {
    const page = await open(embedded("graphs2.html", recording([rods, rods], FRAMES, sag)));
    const { energy, residual } = await go(page, 12);
    for (const slot of [0, 1]) near(energy[slot][1], REPORT(12, slot).energy[0]), near(residual[slot][0], REPORT(12, slot).residual);
    await page.locator(".graphs .readouts", { hasText: /^\s*0\.001 \| 1·10⁻⁴\s*$/ }).waitFor({ timeout: 30_000 });
    assert.match(await page.locator(".run-names").innerText(), /solid: mock 1 · dashed: mock 2/);
    await page.context().close();
  });

  test("the camera sees the whole motion from the first frame on; C shows the present frame", async () => {
    // It starts as a level rod and ends hanging two lengths below.
    const page = await open(embedded("fall.html", recording([rods], FRAMES, (i) => -1.9 * (i / (FRAMES - 1)))));
    const canvas = await page.locator("main canvas").boundingBox();
    const inside = async () => {
      const [x, y] = await page.evaluate(() => window.osier.screen(20));
      return x > canvas.x && x < canvas.x + canvas.width && y > canvas.y && y < canvas.y + canvas.height;
    };
    const width = () => page.evaluate(() => Math.hypot(...[0, 1].map((k) => window.osier.screen(20)[k] - window.osier.screen(0)[k])));
    const far = await width();
    await go(page, FRAMES - 1);
    assert.ok(await inside(), "the last frame is in view without touching the camera");
    await go(page, 0);
    await page.keyboard.press("c");
    assert.ok((await width()) > 1.3 * far, `the rod is ${await width()} pixels long, before ${far}`);
    await go(page, FRAMES - 1);
    assert.ok(!(await inside()), "and no longer where it is not");
    await page.getByRole("button", { name: "Show everything" }).click();
    assert.ok(await inside());
    await page.context().close();
  });

  test("the program's runs bring energies, materials and their whole motion", { skip: !OSIER && "OSIER_BIN is not set" }, async (t) => {
    const folder = join(scratch, "recorded"), file = join(scratch, "recorded.html"), scene = join(scratch, "fall.json");
    writeFileSync(scene, JSON.stringify({
      rods: ["soft", "stiff"].map((name, i) => ({ name, shape: { type: "helix", center: [0.5 * i, 0, 0], radius: 0.1, pitch: 0.05, turns: 2 }, segments: 30, material: name })),
      materials: { soft: { young: 1e6, density: 1000, radius: 0.004 }, stiff: { young: 1e9, density: 1000, radius: 0.004 } },
      forces: [{ type: "gravity" }], analysis: { type: "dynamic", duration: 0.8, step: 0.005 },
      probes: [{ name: "head", vertex: "soft:start" }], output: { probes: "step" },
    }));
    osier("run", scene, "-o", folder, "--quiet", "--html", file);
    const said = table(join(folder, "diagnostics.csv")), probed = table(join(folder, "probes.csv"));
    const server = await startView(folder);
    t.after(() => server.stop());
    for (const url of [server.url, `${pathToFileURL(file).href}#paused`]) {
      const page = await open(url);
      const { energy, residual, cost } = await go(page, 20);
      // The total is a small difference of large numbers, which pages have in single precision.
      ["total", "kinetic", "stretch_shear", "bend_twist"].forEach((name, k) => near(energy[0][k], said[name][20], Math.abs(said[name][20]) + (k === 0 ? 0.1 * said.kinetic[20] : 0)));
      near(residual[0][0], said.residual_relative[20]);
      assert.ok(cost[0][0] > 0);
      // Probes were written with every step: the line of the frame's time is the one that is shown.
      const line = probed.time.findIndex((time) => Math.abs(time - said.time[20]) < 1e-6);
      const [position, velocity] = await page.evaluate(() => window.osier.probes);
      ["x", "y", "z"].forEach((k, i) => (near(position[0][i], probed[`head.${k}`][line], 1), near(velocity[0][i], probed[`head.v${k}`][line], 10)));
      assert.ok(line > 20 && position[0][1] < -1.9, `${position[0]}`);
      assert.deepEqual(await page.locator(".probes figcaption > span:first-child").allInnerTexts(), ["position", "velocity"]);
      const canvas = await page.locator("main canvas").boundingBox();
      await go(page, 23); // falls three metres
      for (const v of [0, 61]) {
        const [x, y] = await page.evaluate((w) => window.osier.screen(w), v);
        assert.ok(x > canvas.x && x < canvas.x + canvas.width && y > canvas.y && y < canvas.y + canvas.height, `vertex ${v} at ${[x, y]}`);
      }
      await page.keyboard.press("2");
      assert.deepEqual(await page.locator(".legend li").allInnerTexts(), ["soft", "stiff"]);
      // A helix that falls freely is curved and not bent.
      await page.keyboard.press("4");
      await page.waitForFunction(() => window.osier.has.frame, null, { timeout: 30_000 });
      assert.match(await page.locator(".legend h3").innerText(), /Change of curvature/);
      const change = await page.evaluate(() => window.osier.value(15));
      await page.keyboard.press("s");
      const total = await page.evaluate(() => window.osier.value(15));
      assert.ok(change < 0.02 && Math.abs(total - 1 / 0.1) < 0.3, `${change} and ${total} 1/m`);
      assert.deepEqual(page.problems, []);
      await page.context().close();
    }
  });
});

describe("side by side and damaged files", () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  const inStep = async (page, tips) => {
    await page.evaluate(() => window.osier.ready);
    await page.evaluate(() => window.osier.seek(20));
    await page.waitForFunction(([a, b]) => {
      const near = (slot, want) => Math.abs(window.osier.position(window.osier.vertexCount - 1, slot)[1] - want) < 1e-3;
      return window.osier.frame === 20 && near(0, a) && near(1, b);
    }, tips, { timeout: 40_000 });
    const [left, right] = await page.evaluate(() => [0, 1].map((slot) => window.osier.screen(0, slot)));
    const { width } = await page.locator("main canvas").boundingBox();
    assert.ok(Math.abs(right[0] - left[0] - width / 2) < 1.5 && Math.abs(right[1] - left[1]) < 1.5, "the same place in both halves");
    assert.equal(await page.locator(".slot-names span").count(), 2);
    assert.deepEqual(page.problems, []);
  };

  test("two runs in one recording move in step, under one camera", async () => {
    const page = await openPage(browser, embedded("two.html", recording([rods, rods], FRAMES, (i, slot) => sag(i) * (1 - 0.7 * slot))));
    await inStep(page, [sag(20), sag(20) * 0.3]);
    await page.context().close();
  });

  test("two runs from the program move in step", { skip: !OSIER && "OSIER_BIN is not set" }, async () => {
    const folders = [1, 0.3].map((k, i) => {
      const folder = join(scratch, `beside-${i}`);
      osier("run", join(ROOT, "scenes/cantilever.json"), "--frames", "30", "-o", folder, "--quiet", "--set", `/forces/0/acceleration=[0,${-9.8 * k},0]`);
      return folder;
    });
    const server = await startView(...folders);
    const page = await openPage(browser, server.url);
    await inStep(page, folders.map((folder) => objPositions(folder, 20)[10][1]));
    await page.context().close();
    await server.stop();
  });

  for (const [what, base64, says] of [
    ["no base64", "@@@@", "not base64"], ["no gzip", Buffer.from("hello").toString("base64"), "cannot be decompressed"],
    ["cut short", recording([rods], 5, sag).slice(0, 400), "cannot be decompressed"],
  ])
    test(`a recording that is ${what} says so`, async () => {
      const page = await openPage(browser, embedded("bad.html", base64));
      await page.getByRole("heading", { name: "The recording cannot be shown" }).waitFor({ timeout: 30_000 });
      assert.match(await page.locator(".state").innerText(), new RegExp(says));
      await page.context().close();
    });

  test("a recording plays by itself, over and over, unless its address or the reader's system asks for rest", async () => {
    const url = embedded("plays.html", recording([rods], 12, sag)).replace("#paused", "");
    const page = await openPage(browser, url);
    await page.waitForFunction(() => window.osier.playing && window.osier.frame > 6, null, { timeout: 40_000 });
    await page.waitForFunction(() => window.osier.frame < 4, null, { timeout: 40_000 });
    await page.context().close();
    const calm = await openPage(browser, url, { reducedMotion: "reduce" });
    await calm.evaluate(() => window.osier.ready);
    assert.deepEqual(await calm.evaluate(() => [window.osier.playing, window.osier.frame]), [false, 0]);
    await calm.context().close();
  });

  test("the empty page from disk says how to fill it", async () => {
    const page = await openPage(browser, pathToFileURL(new URL("../dist/viewer.html", import.meta.url).pathname).href);
    await page.getByRole("heading", { name: "Nothing to show" }).waitFor({ timeout: 30_000 });
    await page.context().close();
  });
});

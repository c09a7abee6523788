// A running simulation in the browser, as a user drives it: against the mock server and against the real program.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { inkOf, launch, openPage } from "./browser.mjs";
import { join } from "node:path";
import { LIVE, osier, OSIER, ROOT, scratch, startView } from "./targets.mjs";

const PATIENCE = { timeout: 60_000 };

for (const target of LIVE)
  describe(`live: ${target.name}`, () => {
    let browser, server, page;
    const get = (name) => page.evaluate((key) => window.osier[key], name);
    const tip = () => page.evaluate((v) => window.osier.position(v), target.tip);
    const until = (condition, argument) => page.waitForFunction(condition, argument, PATIENCE);
    const frames = async (n) => until((f) => window.osier.frame >= f, (await get("frame")) + n);
    const sent = (type) => server.log?.filter((c) => c.type === type) ?? [];
    before(async () => {
      browser = await launch();
      server = await target.start();
      page = await openPage(browser, server.url);
      await page.evaluate(() => window.osier.ready);
    });
    after(async () => {
      await browser?.close();
      await server?.stop();
    });

    test("the page loads, says where it is and draws the rod", async () => {
      assert.equal(await get("mode"), "live");
      assert.equal(await get("connected"), true);
      assert.equal(await get("vertexCount"), target.tip + 1);
      const { share } = await inkOf(page);
      assert.ok(share > 5e-4 && share < 0.3, `share of pixels that are rod: ${share}`);
      assert.deepEqual(page.problems, []);
    });

    test("the stream advances, in time as in pictures", async () => {
      const [frame, time, drawings] = [await get("frame"), await get("time"), await get("drawings")];
      await frames(5);
      assert.ok((await get("time")) > time && (await get("drawings")) > drawings && (await get("frame")) >= frame + 5);
      assert.equal((await get("status")).playing, true);
    });

    test("pause stops, a step is one frame, reset goes back to the start, play goes on", async () => {
      await page.keyboard.press(" ");
      await until(() => window.osier.playing === false);
      const frame = await get("frame");
      await page.waitForTimeout(300);
      assert.equal(await get("frame"), frame);
      await page.keyboard.press("ArrowRight");
      await until((f) => window.osier.frame === f, frame + 1);
      await page.getByRole("button", { name: "Back to the start" }).click();
      await until(() => window.osier.frame === 0 && window.osier.time === 0);
      await page.getByRole("button", { name: "Play" }).click();
      await frames(2);
    });

    test("the picture follows the rod: its ink is where the tip is", async () => {
      await page.keyboard.press(" ");
      await until(() => window.osier.playing === false);
      const [x, y] = await page.evaluate((v) => window.osier.screen(v), target.tip);
      const box = await page.locator("main canvas").boundingBox();
      assert.ok(x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height, "the tip is on the screen");
      const [r, g, b] = await page.evaluate(async ([px, py, left, top]) => {
        const image = new Image();
        image.src = window.osier.picture();
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
        const ink = canvas.getContext("2d");
        ink.drawImage(image, 0, 0);
        const ratio = image.width / document.querySelector("main canvas").clientWidth;
        return [...ink.getImageData(Math.round((px - left) * ratio), Math.round((py - top) * ratio), 1, 1).data];
      }, [x, y, box.x, box.y]);
      assert.ok(b - r > 25, `the tip is blue as the first rod is, not ${[r, g, b]}`);
      await page.keyboard.press(" ");
      await until(() => window.osier.playing === true);
    });

    test("dragging the tip up pulls it up; letting go lets it fall", async () => {
      await frames(20);
      const low = await tip();
      const [x, y] = await page.evaluate((v) => window.osier.screen(v), target.tip);
      // The rod moves while the mouse does: hold it first.
      await page.keyboard.press(" ");
      await until(() => window.osier.playing === false);
      const [px, py] = await page.evaluate((v) => window.osier.screen(v), target.tip);
      assert.ok(Math.hypot(px - x, py - y) < 400);
      const start = (await tip())[1];
      await page.mouse.move(px, py);
      await page.mouse.down();
      await page.mouse.move(px, py - 60, { steps: 4 });
      await page.mouse.move(px, py - 120, { steps: 4 });
      await page.keyboard.press(" ");
      await until(() => window.osier.playing === true);
      await until(([v, from]) => window.osier.position(v)[1] > from + 0.08, [target.tip, Math.min(start, low[1])]);
      if (server.log) {
        const pull = sent("drag").at(-1);
        assert.equal(pull.vertex, target.tip);
        assert.ok(pull.to[1] > start + 0.1 && pull.to.every(Number.isFinite), JSON.stringify(pull));
      }
      const held = (await tip())[1];
      await page.mouse.up();
      await until(([v, from]) => window.osier.position(v)[1] < from - 0.03, [target.tip, held]);
      if (server.log) assert.equal(sent("release").length, 1);
      assert.equal(await page.locator(".notice.problem").count(), 0);
    });

    test("a drag beside the rod turns the camera and pulls at nothing", async () => {
      const pulls = sent("drag").length;
      const where = await page.evaluate(() => window.osier.screen(0));
      const box = await page.locator("main canvas").boundingBox();
      await page.mouse.move(box.x + 60, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + 160, box.y + 90, { steps: 5 });
      await page.mouse.up();
      const now = await page.evaluate(() => window.osier.screen(0));
      assert.ok(Math.hypot(now[0] - where[0], now[1] - where[1]) > 5);
      assert.equal(sent("drag").length, pulls);
      await page.keyboard.press("f");
    });

    test("a slider sends its value, and the rod becomes stiffer", async () => {
      const low = async () => {
        let lowest = Infinity;
        for (let i = 0; i < 10; ++i) {
          await frames(6);
          lowest = Math.min(lowest, (await tip())[1]);
        }
        return lowest;
      };
      const soft = await low();
      const before_ = await page.evaluate((p) => window.osier.parameters.find((q) => q.pointer === p), target.slider);
      const slider = page.locator(`input[data-pointer="${target.slider}"]`);
      await slider.scrollIntoViewIfNeeded();
      const box = await slider.boundingBox();
      await page.mouse.click(box.x + box.width - 12, box.y + box.height / 2);
      await until(([p, v]) => window.osier.parameters.find((q) => q.pointer === p).value > 2 * v, [target.slider, before_.value]);
      if (server.log) assert.equal(sent("set").at(-1).pointer, target.slider);
      const stiff = await low();
      assert.ok(stiff > soft + 0.03, `lowest tip ${soft} before, ${stiff} after`);
      await slider.dblclick();
      await until(([p, v]) => Math.abs(window.osier.parameters.find((q) => q.pointer === p).value / v - 1) < 1e-3, [target.slider, before_.value]);
    });

    test("gravity off: the rod rises; the solver can be switched while it runs", async () => {
      await frames(10);
      const low = (await tip())[1];
      await page.getByText("Gravity", { exact: true }).click();
      await until(([v, from]) => window.osier.position(v)[1] > from + 0.05, [target.tip, low]);
      await page.getByText("Gravity", { exact: true }).click();
      await page.getByLabel("Solver").selectOption("newton");
      await frames(3);
      await page.getByLabel("Solver").selectOption("stable_cosserat");
      await frames(3);
      assert.equal(await page.getByLabel("Solver").inputValue(), "stable_cosserat");
      await page.getByLabel("Solver").selectOption("direct");
      await frames(3);
      assert.equal(await page.locator(".notice.problem").count(), 0, await page.locator(".notices").innerText());
    });

    test("colours by measure have a legend with units; frames and moments are drawn", async () => {
      for (const [key, unit] of [["3", "%"], ["4", "1/m"], ["5", "rad/m"]]) {
        await page.keyboard.press(key);
        await page.getByText(`[${unit}]`, { exact: false }).first().waitFor();
      }
      await page.keyboard.press("4");
      await frames(2);
      assert.match(await page.locator(".legend .ends").innerText(), /^0\s+[\d.·⁻⁰-⁹]+$/);
      await page.keyboard.press(" ");
      await until(() => window.osier.playing === false);
      // A picture at rest repeats itself; each overlay changes it.
      const picture = () => page.evaluate(() => window.osier.picture());
      const pictures = [await picture(), await picture()];
      assert.equal(pictures[0], pictures[1]);
      for (const [key, what] of [["a", "frame"], ["b", "moments"]]) {
        await page.keyboard.press(key);
        await until((part) => window.osier.has[part], what); // sent when it is asked for
        pictures.push(await picture());
      }
      assert.equal(new Set(pictures).size, 3);
      assert.match(await page.locator(".legend .notes").innerText(), /largest [\d.]+ [mµk]?N·m/);
      for (const key of ["a", "b", "1"]) await page.keyboard.press(key);
      assert.match(await page.locator(".scale").innerText(), /\d+ (k|m|µ)?m\s+grid \d+ (k|m|µ)?m/);
    });

    test("nothing went wrong in the page on the way", () => assert.deepEqual(page.problems, []));
  });

describe("live: generated structures", { skip: !OSIER && "OSIER_BIN is not set" }, () => {
  let browser, server, page;
  const until = (condition, argument) => page.waitForFunction(condition, argument, PATIENCE);
  before(async () => {
    browser = await launch();
    server = await startView(join(ROOT, "scenes/net.json"));
    page = await openPage(browser, server.url);
    await page.evaluate(() => window.osier.ready);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });
  const move = async (pointer, key) => {
    const slider = page.locator(`input[data-pointer="${pointer}"]`);
    await slider.evaluate((input) => (input.closest("details").open = true));
    await slider.focus();
    for (let i = 0; i < 12; ++i) await page.keyboard.press(key);
  };
  const value = (pointer) => page.evaluate((p) => window.osier.parameters.find((q) => q.pointer === p).value, pointer);

  test("a slider of a structure's stiffness changes it and the run goes on", async () => {
    await until(() => window.osier.frame > 3);
    const before_ = await value("/structures/0/stretch_shear");
    await page.keyboard.press(" ");
    await until(() => !window.osier.playing);
    const frame = await page.evaluate(() => window.osier.frame);
    await move("/structures/0/stretch_shear", "ArrowRight");
    await until(([p, v]) => window.osier.parameters.find((q) => q.pointer === p).value > 1.1 * v, ["/structures/0/stretch_shear", before_]);
    assert.equal(await page.evaluate(() => window.osier.frame), frame);
    assert.equal(await page.locator(".notice").count(), 0, await page.locator(".notices").innerText());
  });

  test("one of its shape makes other rods, starts again and says so", async () => {
    const vertices = await page.evaluate(() => window.osier.vertexCount);
    await move("/structures/0/nx", "ArrowLeft");
    await until((n) => window.osier.vertexCount < n && window.osier.frame === 0, vertices);
    await page.locator(".notice.note", { hasText: "has been started again" }).first().waitFor(PATIENCE);
    assert.equal(await page.locator(".notice.problem").count(), 0, await page.locator(".notices").innerText());
    assert.deepEqual(page.problems, []);
  });

  test("frames and moments are sent when they are shown", async () => {
    await page.keyboard.press("1");
    assert.deepEqual(await page.evaluate(() => window.osier.has), { frame: false, moments: false, contacts: false });
    await page.keyboard.press("a");
    await until(() => window.osier.has.frame && !window.osier.has.moments);
    await page.keyboard.press("b");
    await until(() => window.osier.has.frame && window.osier.has.moments);
    assert.match(await page.locator(".legend .notes").innerText(), /largest/);
  });

  test("moments alone are drawn: they bring the frames along whose axes they are given", async () => {
    const picture = () => page.evaluate(() => window.osier.picture());
    await page.reload();
    await page.evaluate(() => window.osier.ready);
    const without = await picture();
    await page.keyboard.press("b");
    await until(() => window.osier.has.frame && window.osier.has.moments);
    assert.notEqual(await picture(), without);
  });
});

describe("live: contacts", { skip: !OSIER && "OSIER_BIN is not set" }, () => {
  let browser, server, page;
  const until = (condition, argument) => page.waitForFunction(condition, argument, PATIENCE);
  before(async () => {
    browser = await launch();
    server = await startView(join(ROOT, "scenes/capstan.json"));
    page = await openPage(browser, server.url);
    await page.evaluate(() => window.osier.ready);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("are sent and drawn when they are asked for, with the largest force beside them", async () => {
    await until(() => window.osier.frame > 3);
    await page.keyboard.press(" ");
    await until(() => !window.osier.playing);
    assert.equal(await page.evaluate(() => window.osier.has.contacts), false, "they are off at first");
    const picture = () => page.evaluate(() => window.osier.picture());
    const without = await picture();
    await page.keyboard.press("k");
    await until(() => window.osier.has.contacts);
    assert.notEqual(await picture(), without);
    assert.match(await page.locator(".legend .notes").innerText(), /normal force friction; largest [0-9.]+ m?N/);
    assert.deepEqual(page.problems, []);
  });
});

describe("live: what the author of a scene wants", { skip: !OSIER && "OSIER_BIN is not set" }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());
  const open = async (name, change) => {
    const file = join(scratch, `${name}.json`);
    writeFileSync(file, JSON.stringify({
      rods: [{ name: "stick", shape: { type: "line", from: [0, 0, 0], to: [1, 0, 0] }, segments: 10, material: "red" }],
      materials: { red: { young: 1e7, density: 1000, radius: 0.02, color: "#e01010" } },
      forces: [{ type: "gravity" }, { type: "drag", rate: 0.1 }], analysis: { type: "dynamic", duration: 2, step: 0.005 },
      probes: [{ name: "tip", vertex: "stick:end" }], ...change,
    }));
    const server = await startView(file), page = await openPage(browser, server.url);
    await page.evaluate(() => window.osier.ready);
    return { page, close: async () => (await page.context().close(), await server.stop()) };
  };
  const seen = (page) => page.evaluate(() => {
    const [x, y] = window.osier.screen(5), box = document.querySelector("main canvas").getBoundingClientRect();
    return x > box.left && x < box.right && y > box.top && y < box.bottom;
  });
  const when = (page, condition, argument) => page.waitForFunction(condition, argument, PATIENCE);

  test("the camera goes after what falls out of view, until the user takes it; V gives it back", async () => {
    const { page, close } = await open("falls", {});
    await when(page, () => window.osier.position(5)[1] < -6);
    await page.keyboard.press(" ");
    await when(page, () => !window.osier.playing);
    await page.waitForTimeout(600);
    assert.ok(await seen(page), "it fell six metres and is still in view");
    const follows = page.getByLabel("Camera follows");
    assert.equal(await follows.isChecked(), true);
    const box = await page.locator("main canvas").boundingBox();
    await page.mouse.move(box.x + 60, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 75, box.y + 66, { steps: 3 });
    await page.mouse.up();
    assert.equal(await follows.isChecked(), false);
    await page.keyboard.press(" ");
    await when(page, () => window.osier.position(5)[1] < -14);
    await page.waitForTimeout(600);
    assert.ok(!(await seen(page)), "the camera stays where the user put it");
    await page.keyboard.press("v");
    await when(page, () => window.osier.position(5)[1] < -16);
    await page.waitForTimeout(600);
    assert.equal(await follows.isChecked(), true);
    assert.deepEqual(page.problems, []);
    await close();
  });

  test("rods have the colour of their material, and probes have graphs", async () => {
    const { page, close } = await open("red", { constraints: [{ type: "clamp", vertices: "stick:*" }], view: { ground: "none" } });
    assert.equal(await page.evaluate(() => window.osier.colorBy), "material");
    const [r, g, b] = await page.evaluate(async () => {
      const [x, y] = window.osier.screen(5), box = document.querySelector("main canvas").getBoundingClientRect(), image = new Image();
      image.src = window.osier.picture();
      await image.decode();
      const ink = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
      ink.drawImage(image, 0, 0);
      const ratio = image.width / box.width;
      return [...ink.getImageData(Math.round((x - box.left) * ratio), Math.round((y - box.top) * ratio), 1, 1).data];
    });
    assert.ok(r > 120 && g < 0.5 * r && b < 0.5 * r, `${[r, g, b]}`);
    assert.doesNotMatch(await page.locator(".scale").innerText(), /grid/);
    await when(page, () => Math.abs(window.osier.probes[0]?.[0][0] - 1) < 1e-9);
    assert.deepEqual(page.problems, []);
    await close();
  });

  test("what was changed is saved as a scene that the program reads", async () => {
    const { page, close } = await open("stick", { output: { formats: ["obj"] } });
    await page.locator('input[data-pointer="/materials/red/young"]').focus();
    for (let i = 0; i < 20; ++i) await page.keyboard.press("ArrowRight");
    await when(page, () => window.osier.parameters.find((p) => p.pointer === "/materials/red/young").value > 1.1e7);
    await page.getByText("Drag", { exact: true }).click();
    await page.getByLabel("Solver").selectOption("newton");
    await when(page, () => window.osier.solver === "newton");
    const want = await page.evaluate(() => window.osier.parameters.find((p) => p.pointer === "/materials/red/young").value);
    const [download] = await Promise.all([page.waitForEvent("download", PATIENCE), page.getByRole("button", { name: "Save as a scene" }).click()]);
    assert.equal(download.suggestedFilename(), "stick-changed.json");
    const file = join(scratch, "stick-changed.json");
    await download.saveAs(file);
    const scene = JSON.parse(readFileSync(file, "utf8"));
    assert.equal(scene.materials.red.young, want);
    assert.deepEqual(scene.forces.map((f) => f.type), ["gravity"]);
    assert.equal(scene.solver.name, "newton");
    assert.deepEqual(scene.output.formats, ["obj"]);
    assert.match(osier("info", file), /newton/);
    await close();
  });
});

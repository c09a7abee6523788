// The page by itself: states, errors, light and dark, phone width. All against the mock server.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { startMock } from "./mock_server.mjs";

describe("page", () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  const open = async (options, server) => {
    const page = await openPage(browser, server.url, options);
    await page.evaluate(() => window.osier.ready);
    return page;
  };

  test("what cannot be read, what is refused and what fails is shown", async () => {
    const server = await startMock({ rods: 1 });
    const page = await open({}, server);
    const said = (text) => page.locator(".notice", { hasText: text }).waitFor({ timeout: 30_000 });
    const [socket] = server.sockets;
    socket.send(Buffer.from("garbage that is not a packet"));
    await said("does not start with OSIR");
    socket.send("not json");
    await said("Unexpected token");
    socket.send(JSON.stringify({ type: "surprise" }));
    await said("surprise");
    server.state.refuse = true;
    await page.locator('input[data-pointer="/materials/steel/young"]').focus();
    await page.keyboard.press("ArrowRight");
    await said("set: /materials/steel/young: cannot be changed now");
    server.state.error = "the step did not converge";
    await said("the step did not converge");
    assert.match(await page.locator(".chip").innerText(), /error/);
    const frame = await page.evaluate(() => window.osier.frame);
    await page.waitForFunction((f) => window.osier.frame > f + 3, frame, { timeout: 30_000 }); // and it goes on
    await page.context().close();
    await server.stop();
  });

  test("a lost connection is said, and trying again mends it", async () => {
    const server = await startMock({ rods: 1 });
    const page = await open({}, server);
    const port = Number(new URL(server.url).port);
    await server.stop();
    await page.getByRole("heading", { name: "Connection lost" }).waitFor({ timeout: 30_000 });
    assert.equal(await page.evaluate(() => window.osier.connected), false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Connection lost" }).waitFor({ timeout: 30_000 });
    const second = await startMock({ rods: 1, port });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.waitForFunction(() => window.osier.connected && window.osier.playing, null, { timeout: 30_000 });
    await page.locator(".state").waitFor({ state: "hidden", timeout: 30_000 });
    await page.context().close();
    await second.stop();
  });

  test("light and dark follow the system and the key; text has contrast in both", async () => {
    const server = await startMock({ rods: 1 });
    const luminance = (css) => {
      const [r, g, b] = css.match(/[\d.]+/g).map((x) => (x / 255) ** 2.2);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    for (const scheme of ["light", "dark"]) {
      const page = await open({ colorScheme: scheme }, server);
      const colors = () => page.evaluate(() => ["body", ".panel", ".facts dt"].map((s) => getComputedStyle(document.querySelector(s))).map((c) => [c.backgroundColor, c.color]));
      const [[back], [panel, ink], [, muted]] = await colors();
      assert.ok(scheme === "light" ? luminance(back) > 0.8 : luminance(back) < 0.05, `${scheme}: ${back}`);
      for (const text of [ink, muted]) {
        const [a, b] = [luminance(panel), luminance(text)].sort((p, q) => q - p);
        assert.ok((a + 0.05) / (b + 0.05) > 4.5, `${scheme}: ${text} on ${panel}`);
      }
      await page.keyboard.press("t");
      const [[other]] = await colors();
      assert.ok(scheme === "light" ? luminance(other) < 0.05 : luminance(other) > 0.8);
      assert.deepEqual(page.problems, []);
      await page.context().close();
    }
    await server.stop();
  });

  test("at phone width everything is reachable and a finger pulls at the rod", async () => {
    const server = await startMock({ rods: 1, segments: 20 });
    const page = await open({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }, server);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    for (const name of ["Play", "Pause", "Step one frame", "Back to the start", "Settings"]) {
      const button = page.getByRole("button", { name, exact: true });
      if (!(await button.count())) continue; // play or pause
      const box = await button.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 780 && box.height >= 36, `${name}: ${JSON.stringify(box)}`);
    }
    assert.equal(await page.locator(".panel").isVisible(), false);
    await page.getByRole("button", { name: "Settings" }).tap();
    await page.getByText("Colour by").waitFor();
    await page.getByRole("button", { name: "Settings" }).tap();
    const client = await page.context().newCDPSession(page);
    await page.getByRole("button", { name: "Pause", exact: true }).tap();
    await page.waitForFunction(() => !window.osier.playing, null, { timeout: 30_000 });
    const [x, y] = await page.evaluate(() => window.osier.screen(10));
    const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points });
    await touch("touchStart", [{ x, y }]);
    await touch("touchMove", [{ x, y: y - 40 }]);
    await page.waitForTimeout(300);
    await touch("touchEnd", []);
    assert.ok(server.log.some((c) => c.type === "drag"), "a drag was sent");
    for (let i = 0; i < 50 && !server.log.some((c) => c.type === "release"); ++i) await page.waitForTimeout(100);
    assert.ok(server.log.some((c) => c.type === "release"), "and released");
    assert.deepEqual(page.problems, []);
    await page.context().close();
    await server.stop();
  });

  test("help lists the keys; broken segments vanish", async () => {
    const server = await startMock({ rods: 1, segments: 20 });
    const page = await open({}, server);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys and gestures" }).waitFor();
    assert.ok((await page.locator(".help kbd").count()) > 15);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".help").evaluate((d) => d.open), false);
    const drawn = () => page.evaluate(() => window.osier.drawn.tubes + window.osier.drawn.ribbons);
    assert.equal(await drawn(), 20);
    server.state.alive[7] = server.state.alive[8] = 0;
    await page.waitForFunction(() => window.osier.drawn.tubes + window.osier.drawn.ribbons === 18, null, { timeout: 30_000 });
    await page.context().close();
    await server.stop();
  });
});

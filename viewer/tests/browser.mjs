// Debian's chromium, drawing in software or on a graphics card; shared by the browser tests.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));

const start = (...args) => chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--ignore-gpu-blocklist", ...args] });

export function launch() {
  return start("--use-angle=swiftshader", "--enable-unsafe-swiftshader");
}

/** What draws the pages of this browser, in its own words; empty without WebGL. */
async function rendererOf(browser) {
  const page = await browser.newPage();
  const name = await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2"), info = gl?.getExtension("WEBGL_debug_renderer_info");
    return gl ? String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
  });
  await page.close();
  return name;
}

/** Draws on the graphics card without a display, through EGL where that is possible: then pages are put together on the card as well. Null where there is only software. */
export async function launchOnCard() {
  for (const api of [["--use-angle=gl-egl"], ["--use-angle=vulkan", "--enable-features=Vulkan", "--disable-vulkan-surface"], ["--use-angle=gl"]]) {
    const browser = await start("--enable-gpu", ...api), renderer = await rendererOf(browser);
    if (renderer && !/swiftshader|llvmpipe|software|basic render/i.test(renderer)) return { browser, renderer };
    await browser.close();
  }
  return null;
}

/** A page that collects what goes wrong in it. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  await page.goto(url);
  return page;
}

/** A page that nobody listens to: playwright copies whatever comes over a page's WebSockets, which takes longer than the page itself. */
export async function openUnheard(browser, url) {
  const browserSession = await browser.newBrowserCDPSession(), answers = new Map();
  const { browserContextId } = await browserSession.send("Target.createBrowserContext");
  const { targetId } = await browserSession.send("Target.createTarget", { url, browserContextId, width: 1100, height: 720 });
  const { sessionId } = await browserSession.send("Target.attachToTarget", { targetId, flatten: false });
  browserSession.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message);
    answers.get(id)?.(result);
  });
  const send = (method, params) =>
    new Promise((done) => {
      const id = answers.size + 1;
      answers.set(id, done);
      void browserSession.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) });
    });
  const evaluate = async (work) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression: `(${work})()`, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  while (!(await evaluate(() => document.readyState === "complete" && !!window.osier))) await new Promise((done) => setTimeout(done, 50));
  return { evaluate, close: () => browserSession.send("Target.disposeBrowserContext", { browserContextId }) };
}

/** Share of the picture's pixels that stand out from the background, and their centre (0..1 from the top left). */
export function inkOf(page, tolerance = 60) {
  return page.evaluate(async (limit) => {
    const image = new Image();
    image.src = window.osier.picture();
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const g = canvas.getContext("2d");
    g.drawImage(image, 0, 0);
    const { data } = g.getImageData(0, 0, canvas.width, canvas.height);
    let n = 0, sx = 0, sy = 0;
    for (let i = 0; i < data.length; i += 4) {
      const far = Math.max(Math.abs(data[i] - data[0]), Math.abs(data[i + 1] - data[1]), Math.abs(data[i + 2] - data[2]));
      if (far <= limit) continue;
      ++n;
      sx += (i / 4) % canvas.width;
      sy += Math.floor(i / 4 / canvas.width);
    }
    return { share: n / (canvas.width * canvas.height), x: sx / n / canvas.width, y: sy / n / canvas.height };
  }, tolerance);
}

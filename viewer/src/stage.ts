// The picture: one renderer, one camera, and one view per slot beside each other. It draws only when something has changed.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { type ColorBy, ColorRange } from "./colors";
import { Ground, groundAxes } from "./ground";
import { Obstacles } from "./obstacles";
import { ContactOverlay, FrameOverlay, MomentOverlay, PullOverlay } from "./overlays";
import type { Frame, Model } from "./protocol";
import { tubeTriangles } from "./rod_geometry";
import { type Quality, Rods } from "./rods";

export interface ViewOptions {
  colorBy: ColorBy;
  /** Curvature and twist as what has changed since rest. */
  sinceRest: boolean;
  frames: boolean;
  moments: boolean;
  contacts: boolean;
  ground: boolean;
  /** The camera keeps a running scene in view. */
  follow: boolean;
}

interface View {
  scene: THREE.Scene;
  rods: Rods;
  ground: Ground;
  obstacles: Obstacles;
  frames: FrameOverlay;
  moments: MomentOverlay;
  contacts: ContactOverlay;
  pull: PullOverlay;
}

/** What the shorter side of a view spans, in degrees. */
const FIELD = 32;
/** The most triangles that tubes take in a frame; what is farther away becomes ribbons. */
const TUBE_TRIANGLES = 3_000_000;
/** The most segments that software drawing refines when they rest, and about as many as it draws while they move. */
const REFINED = 30_000, MOVING = 30_000;

/** How far from the middle things may be that the camera keeps in view, in distances from which all was seen at first. */
const FARTHEST = 1.5;

interface Rect { x: number; y: number; width: number; height: number }

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly software: boolean;
  private readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 100);
  readonly range = new ColorRange();
  controls: OrbitControls;
  private readonly views: (View | undefined)[] = [];
  private options: ViewOptions = { colorBy: "rod", sinceRest: true, frames: false, moments: false, contacts: false, ground: true, follow: true };
  private colors = { background: "#ffffff", plane: "#eeeeee", line: "#888888", shadow: "#444444", ambient: 0.45 };
  private scheduled = false;
  private rest = 0;
  private refit = true;
  private size = { width: 1, height: 1 };
  /** Milliseconds of the last drawing, and how many there were. */
  drawMs = 0;
  drawings = 0;
  /** One rod in so many is in the picture. */
  thinned = 1;
  onDraw: () => void = () => {};
  /** The user turns, moves or zooms the view. */
  onTaken: () => void = () => {};
  /** Where the camera is on its way to, and since when it moves. */
  private goal: { target: THREE.Vector3; range: number } | null = null;
  private gliding = 0;
  /** The distance at which everything was brought into view last. */
  private fitted = Infinity;

  constructor(private readonly host: HTMLElement) {
    const probe = document.createElement("canvas").getContext("webgl2");
    if (!probe) throw new Error("This browser cannot draw: WebGL 2 is not available. Switch hardware acceleration on, or use another browser.");
    const info = probe.getExtension("WEBGL_debug_renderer_info");
    this.software = /swiftshader|llvmpipe|software|basic render/i.test(String(info ? probe.getParameter(info.UNMASKED_RENDERER_WEBGL) : probe.getParameter(probe.RENDERER)));
    probe.getExtension("WEBGL_lose_context")?.loseContext();
    this.renderer = new THREE.WebGLRenderer({ antialias: !this.software, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // the shaders do it
    this.renderer.autoClear = false;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "Three-dimensional view of the rods");
    host.append(this.canvas);
    this.canvas.addEventListener("webglcontextrestored", () => this.redraw());
    this.controls = this.makeControls();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = false;
    controls.zoomSpeed = 1.2;
    controls.addEventListener("change", () => this.redraw());
    controls.addEventListener("start", () => {
      this.goal = null;
      this.onTaken();
    });
    return controls;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    if (!clientWidth || !clientHeight) return;
    this.size = { width: clientWidth, height: clientHeight };
    this.renderer.setPixelRatio(this.pixelRatio(false));
    this.renderer.setSize(clientWidth, clientHeight);
    this.redraw();
  }

  /** Software drawing is coarse while things move, and fine once they rest. */
  private pixelRatio(resting: boolean): number {
    if (!this.software) return Math.min(window.devicePixelRatio, 2);
    const segments = this.present().reduce((sum, view) => sum + view.rods.model.segmentCount, 0);
    return resting && segments < REFINED ? 2 : 1;
  }

  private refine(resting: boolean): void {
    const ratio = this.pixelRatio(resting);
    if (ratio !== this.renderer.getPixelRatio()) this.renderer.setPixelRatio(ratio);
    this.thinned = Math.max(1, ...this.present().map((view) => view.rods.thin(this.software && !resting ? MOVING : Infinity)));
  }

  /** Finer drawing for small models and real graphics cards, coarser for large ones and software drawing. */
  private quality(segments: number): Quality {
    const n = this.software ? 6 * segments : segments;
    const tubeSteps = n < 12_000 ? 8 : 4, tubeSides = n < 12_000 ? 20 : 10;
    return {
      lod: { tubePixels: this.software ? 5 : 2.5, tubeBudget: this.software ? 1500 : Math.floor(TUBE_TRIANGLES / tubeTriangles(tubeSteps, tubeSides)) },
      shadows: n < 400_000,
      ribbonSteps: n < 6000 ? 8 : n < 40_000 ? 3 : n < 120_000 ? 2 : 1,
      tubeSteps,
      tubeSides,
    };
  }

  setModel(model: Model): void {
    const before = this.views[model.slot]?.rods.model;
    this.refit = before?.name !== model.name || before.vertexCount !== model.vertexCount;
    this.remove(model.slot);
    const rods = new Rods(model, this.quality(model.segmentCount), this.range);
    const up = rods.uniforms["upDirection"]!.value as THREE.Vector3;
    const [x, z] = groundAxes(up);
    const light = up.clone().addScaledVector(x, 0.38).addScaledVector(z, 0.3).normalize();
    const ground = new Ground(rods, light, rods.quality.shadows);
    const obstacles = new Obstacles(model, light, rods.uniforms["ambient"]!);
    const view: View = { scene: new THREE.Scene(), rods, ground, obstacles, frames: new FrameOverlay(), moments: new MomentOverlay(), contacts: new ContactOverlay(), pull: new PullOverlay() };
    view.scene.add(ground.mesh, obstacles.group, rods.group, view.frames.object, view.moments.object, view.contacts.object, view.pull.object);
    this.views[model.slot] = view;
    for (const each of this.present()) each.rods.setColor(this.options.colorBy, this.sinceRest);
    this.paint(view);
    if (this.camera.up.distanceTo(up) > 1e-6) {
      this.camera.up.copy(up);
      this.controls.dispose();
      this.controls = this.makeControls();
    }
    this.redraw();
  }

  remove(slot: number): void {
    const view = this.views[slot];
    if (!view) return;
    view.rods.dispose();
    view.ground.dispose();
    view.obstacles.dispose();
    this.views[slot] = undefined;
    this.redraw();
  }

  /** Shows a frame; the first one of another model also brings the camera to it. */
  show(frame: Frame): void {
    const view = this.views[frame.slot];
    if (!view) return;
    view.rods.show(frame);
    view.obstacles.show(frame);
    view.ground.moved();
    const lowest = Math.min(...this.present().map((v) => v.ground.height).filter(Number.isFinite));
    for (const beside of this.present()) if (beside.rods.frame && beside.ground.height > lowest) beside.ground.moved(lowest);
    this.overlay(view);
    if (this.refit) this.fit();
    this.refit = false;
    this.follow();
    this.redraw();
  }

  /** Where a running scene leaves the view, the camera goes after it: as far as needed, from the side it looks from, never nearer. */
  private follow(): void {
    // What is pulled out of view is in somebody's hand, and the camera must not move under it.
    if (this.present().some((view) => view.pull.object.visible)) this.goal = null;
    else if (this.options.follow && !this.foreseen) this.goAfter(this.landmarks(false));
  }

  private goAfter(points: THREE.Vector3[]): void {
    if (points.length === 0) return;
    const range = this.camera.position.distanceTo(this.controls.target);
    if (!this.goal && points.every((p) => this.sees(p))) return;
    const from = this.camera.position.clone().sub(this.controls.target).normalize();
    const seen = this.framing(this.together(points), from);
    if (!this.goal) this.gliding = performance.now();
    this.goal = { target: seen.target, range: Math.max(range, 1.22 * seen.range) };
  }

  /** What stays near the most of it: one rod that falls away must not shrink all others to a dot. */
  private together(points: THREE.Vector3[]): THREE.Vector3[] {
    const median = (k: "x" | "y" | "z"): number => points.map((p) => p[k]).sort((a, b) => a - b)[points.length >> 1]!;
    const middle = new THREE.Vector3(median("x"), median("y"), median("z"));
    const near = points.filter((p) => p.distanceTo(middle) < FARTHEST * this.fitted);
    return near.length > 0 ? near : points;
  }

  private sees(point: THREE.Vector3): boolean {
    this.aim(this.rect(0));
    const p = point.clone().project(this.camera);
    return p.z < 1 && Math.max(Math.abs(p.x), Math.abs(p.y)) < 0.97;
  }

  /** A step of the camera's way, by the clock: most of it within a third of a second. */
  private glide(): void {
    if (!this.goal) return;
    const now = performance.now(), part = 1 - Math.exp(-Math.max(16, now - this.gliding) / 120);
    this.gliding = now;
    const { camera, controls } = this, from = camera.position.clone().sub(controls.target), before = from.length();
    const left = this.goal.target.distanceTo(controls.target) + Math.abs(this.goal.range - before);
    controls.target.lerp(this.goal.target, part);
    camera.position.copy(controls.target).addScaledVector(from.normalize(), before + part * (this.goal.range - before));
    controls.update();
    if (left < 1e-3 * before) this.goal = null;
    this.redraw();
  }

  private overlay(view: View): void {
    const { rods, frames, moments, contacts } = view;
    if (!rods.frame || !rods.topology) return;
    frames.object.visible = moments.object.visible = contacts.object.visible = false;
    if (this.options.frames) frames.show(rods.model, rods.frame);
    if (this.options.moments) moments.show(rods.model, rods.topology, rods.frame, this.sceneSize());
    if (this.options.contacts) contacts.show(rods.model, rods.frame, this.sceneSize());
  }

  setOptions(options: ViewOptions): void {
    const recolor = options.colorBy !== this.options.colorBy || options.sinceRest !== this.options.sinceRest;
    if (recolor) this.range.reset();
    this.options = { ...options };
    for (const view of this.present()) {
      if (recolor) view.rods.setColor(options.colorBy, this.sinceRest);
      view.ground.show(options.ground);
      this.overlay(view);
    }
    if (!options.follow) this.goal = null;
    this.redraw();
  }

  /** Lets the colour map span this frame only; it grows again from there. */
  resetRange(): void {
    this.range.reset();
    for (const view of this.present()) view.rods.setColor(this.options.colorBy, this.sinceRest);
    this.redraw();
  }

  setColors(colors: Stage["colors"]): void {
    this.colors = colors;
    for (const view of this.present()) this.paint(view);
    this.redraw();
  }

  private paint(view: View): void {
    view.ground.setColors(this.colors.plane, this.colors.line, this.colors.shadow);
    view.ground.show(this.options.ground);
    view.rods.uniforms["ambient"]!.value = this.colors.ambient;
  }

  /** What is shown: the same for all views, or a colour would mean two things. */
  get sinceRest(): boolean {
    return this.options.sinceRest && this.present().every((view) => view.rods.model.jointRest !== null);
  }

  private present(): View[] {
    return this.views.filter((view): view is View => view !== undefined);
  }
  rods(slot: number): Rods | null {
    return this.views[slot]?.rods ?? null;
  }
  largestMoment(): number {
    return Math.max(0, ...this.present().map((view) => view.moments.largest));
  }
  largestContactForce(): number {
    return Math.max(0, ...this.present().map((view) => view.contacts.largest));
  }
  get gridSpacing(): number {
    const ground = this.present()[0]?.ground;
    return ground?.mesh.visible ? ground.spacing : 0;
  }

  private bounds(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const view of this.present()) box.union(view.rods.bounds);
    return box;
  }
  sceneSize(): number {
    const box = this.bounds();
    return box.isEmpty() ? 1 : box.min.distanceTo(box.max) || 1;
  }

  /** Points to bring into view: the ends of the whole motion where they are known, or some vertices of what is shown. */
  private landmarks(wholeRun: boolean): THREE.Vector3[] {
    const points: THREE.Vector3[] = [];
    for (const { rods } of this.present()) {
      const position = (wholeRun ? rods.model.landmarks : null) ?? rods.frame?.position ?? new Float32Array();
      const stride = 3 * Math.max(1, Math.ceil(position.length / 3 / 4000));
      for (let i = 0; i < position.length; i += stride) points.push(new THREE.Vector3(position[i], position[i + 1], position[i + 2]));
    }
    return points.filter((p) => Number.isFinite(p.x + p.y + p.z));
  }

  /** Whether the whole motion is known beforehand. */
  private get foreseen(): boolean {
    return this.present().length > 0 && this.present().every((view) => view.rods.model.landmarks !== null);
  }

  /** Brings everything into view, from the side and a little above: the whole run, or the frame shown. */
  fit(direction?: THREE.Vector3, wholeRun = true): void {
    const points = this.landmarks(wholeRun), known = !wholeRun || this.foreseen;
    if (points.length === 0) return;
    const box = new THREE.Box3().setFromPoints(points), size = box.getSize(new THREE.Vector3());
    const largest = Math.max(size.x, size.y, size.z, 1e-6), { up } = this.camera;
    const tall = Math.abs(size.dot(up));
    // A rod that starts out level will sag: leave room below it.
    const sags = !known && tall < 0.3 * largest;
    const [x, z] = groundAxes(up);
    const from = (direction ?? new THREE.Vector3().addScaledVector(x, 0.36).addScaledVector(z, 1).addScaledVector(up, 0.32)).normalize();
    const { target, range: nearest } = this.framing(points, from);
    const range = nearest * (known ? 1.12 : sags ? 1.3 : 1.22);
    if (sags) target.addScaledVector(up, -0.2 * largest);
    this.goal = null;
    this.fitted = range;
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(from, range);
    this.controls.update();
    this.redraw();
  }

  /** The nearest place from which all points are in view in this direction: what the camera looks at, and from how far. */
  private framing(points: THREE.Vector3[], from: THREE.Vector3): { target: THREE.Vector3; range: number } {
    const { up } = this.camera, box = new THREE.Box3().setFromPoints(points), size = box.getSize(new THREE.Vector3());
    const right = new THREE.Vector3().crossVectors(up, from).normalize();
    const above = new THREE.Vector3().crossVectors(from, right);
    const { width, height } = this.rect(0);
    this.aim(this.rect(0));
    const tan = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)), wide = (tan * width) / height;
    const target = box.getCenter(new THREE.Vector3());
    let range = 0;
    // Near things look larger than far ones, so the middle of the picture is found step by step.
    for (let round = 0; round < 4; ++round) {
      range = 0.1 * Math.max(size.x, size.y, size.z, 1e-6);
      const seen = points.map((p) => p.clone().sub(target)).map((p) => ({ x: p.dot(right), y: p.dot(above), z: p.dot(from) }));
      for (const p of seen) range = Math.max(range, p.z + Math.max(Math.abs(p.y) / tan, Math.abs(p.x) / wide));
      const middle = (k: "x" | "y"): number => {
        const at = seen.map((p) => p[k] / Math.max(range - p.z, 1e-9));
        return ((at.reduce((a, b) => Math.min(a, b)) + at.reduce((a, b) => Math.max(a, b))) / 2) * range;
      };
      target.addScaledVector(right, middle("x")).addScaledVector(above, middle("y"));
    }
    return { target, range };
  }

  /** Looks along an axis of the ground: 0 from the front, 1 from the right, 2 from above. */
  lookFrom(side: 0 | 1 | 2): void {
    const [x, z] = groundAxes(this.camera.up);
    const above = this.camera.up.clone().addScaledVector(z, 1e-3);
    this.fit([z, x, above][side]!.clone());
  }

  /** The part of the canvas that belongs to a slot, in pixels of the page from the top left. */
  rect(slot: number): Rect {
    const { width, height } = this.size;
    if (this.present().length < 2) return { x: 0, y: 0, width, height };
    return width >= height
      ? { x: slot ? width / 2 : 0, y: 0, width: width / 2, height }
      : { x: 0, y: slot ? height / 2 : 0, width, height: height / 2 };
  }

  redraw(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.glide();
      this.refine(false);
      this.draw();
      if (!this.software) return;
      clearTimeout(this.rest);
      this.rest = window.setTimeout(() => {
        this.refine(true);
        this.draw();
      }, this.thinned > 1 ? 1500 : 350); // a whole picture of many rods takes a second itself
    });
  }

  private aim(rect: Rect): void {
    const range = this.camera.position.distanceTo(this.controls.target);
    const size = Math.max(range, this.sceneSize());
    this.camera.near = range * 0.005;
    this.camera.far = 12 * size;
    this.camera.aspect = rect.width / rect.height;
    const half = Math.tan(THREE.MathUtils.degToRad(FIELD / 2)) / Math.min(1, Math.max(0.4, this.camera.aspect));
    this.camera.fov = THREE.MathUtils.radToDeg(2 * Math.atan(half));
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
  }

  private draw(): void {
    const start = performance.now();
    const { renderer, camera } = this;
    const range = camera.position.distanceTo(this.controls.target);
    const background = new THREE.Color().setStyle(this.colors.background, THREE.LinearSRGBColorSpace);
    for (const view of this.present()) view.ground.drawShadow(renderer);
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, this.size.width, this.size.height);
    renderer.setClearColor(background, 1);
    renderer.clear();
    this.views.forEach((view, slot) => {
      if (!view?.rods.frame) return;
      const rect = this.rect(slot);
      this.aim(rect);
      const bottom = this.size.height - rect.y - rect.height;
      renderer.setViewport(rect.x, bottom, rect.width, rect.height);
      renderer.setScissor(rect.x, bottom, rect.width, rect.height);
      renderer.setScissorTest(true);
      const planes = new THREE.Frustum().setFromProjectionMatrix(new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse)).planes;
      view.rods.look({
        position: camera.position.toArray(),
        planes: planes.map((p) => [p.normal.x, p.normal.y, p.normal.z, p.constant]),
        pixelAngle: (2 * Math.tan(THREE.MathUtils.degToRad(camera.fov / 2))) / rect.height / renderer.getPixelRatio(),
      });
      view.ground.look(this.controls.target, range);
      renderer.render(view.scene, camera);
    });
    this.drawMs = performance.now() - start;
    ++this.drawings;
    this.onDraw();
  }

  /** Metres that one pixel of the page spans at the point the camera turns about. */
  metresPerPixel(): number {
    const range = this.camera.position.distanceTo(this.controls.target);
    return (2 * range * Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2))) / this.rect(0).height;
  }

  /** Where a point of the scene is on the page, and its depth; null behind the camera. */
  project(slot: number, at: ArrayLike<number>): { x: number; y: number; depth: number } | null {
    const rect = this.rect(slot);
    this.aim(rect);
    const p = new THREE.Vector3(at[0]!, at[1]!, at[2]!).project(this.camera);
    if (p.z > 1) return null;
    const box = this.canvas.getBoundingClientRect();
    return { x: box.left + rect.x + ((p.x + 1) / 2) * rect.width, y: box.top + rect.y + ((1 - p.y) / 2) * rect.height, depth: p.z };
  }

  /** The vertex nearest to a place on the page within `reach` pixels; of several, the one in front. */
  pick(slot: number, x: number, y: number, reach: number): number | null {
    const rods = this.views[slot]?.rods;
    if (!rods?.frame) return null;
    const rect = this.rect(slot);
    this.aim(rect);
    const box = this.canvas.getBoundingClientRect();
    const m = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse).elements;
    const px = x - box.left - rect.x, py = y - box.top - rect.y;
    const p = rods.frame.position;
    let best: number | null = null, bestScore = Infinity;
    for (let v = 0; v < rods.model.vertexCount; ++v) {
      const a = p[3 * v]!, b = p[3 * v + 1]!, c = p[3 * v + 2]!;
      const w = m[3]! * a + m[7]! * b + m[11]! * c + m[15]!;
      if (w <= 0) continue;
      const dx = (((m[0]! * a + m[4]! * b + m[8]! * c + m[12]!) / w + 1) / 2) * rect.width - px;
      const dy = ((1 - (m[1]! * a + m[5]! * b + m[9]! * c + m[13]!) / w) / 2) * rect.height - py;
      const gap = Math.hypot(dx, dy);
      // A pixel nearer counts as much as four per cent of distance.
      const score = gap + 25 * Math.log(w);
      if (gap <= reach && score < bestScore) (best = v), (bestScore = score);
    }
    return best;
  }

  /** The point under a place on the page, in the plane through `through` that faces the camera. */
  unproject(slot: number, x: number, y: number, through: ArrayLike<number>): [number, number, number] {
    const rect = this.rect(slot);
    this.aim(rect);
    const box = this.canvas.getBoundingClientRect();
    const ndc = new THREE.Vector3(((x - box.left - rect.x) / rect.width) * 2 - 1, 1 - ((y - box.top - rect.y) / rect.height) * 2, 0.5);
    const ray = ndc.unproject(this.camera).sub(this.camera.position).normalize();
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const t = new THREE.Vector3(through[0]!, through[1]!, through[2]!).sub(this.camera.position).dot(normal) / ray.dot(normal);
    return ray.multiplyScalar(t).add(this.camera.position).toArray();
  }

  showPull(slot: number, from: ArrayLike<number> | null, to?: ArrayLike<number>): void {
    const pull = this.views[slot]?.pull;
    if (from && to) pull?.show(from, to, 6 * this.metresPerPixel());
    else pull?.hide();
    this.redraw();
  }

  /** The picture as it is now, as a data URL. Read in the same task as it is drawn: the browser clears it afterwards. */
  picture(): string {
    this.refine(true);
    this.draw();
    return this.canvas.toDataURL("image/png");
  }
}

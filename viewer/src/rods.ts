// The rods of one model on the graphics card: textures of positions and stencils, instanced ribbons and tubes.
import * as THREE from "three";
import { type ColorBy, type ColorRange, colorTable, isCategory, isSigned } from "./colors";
import { type Measure, measure } from "./measures";
import type { Frame, Model } from "./protocol";
import { CHUNK, type Chunks, chooseShapes, type Eye, type Grid, type Lod, makeChunks, RIBBON, ribbonIndices, TUBE, tubeGrid, updateBalls } from "./rod_geometry";
import { ROD_FRAGMENT, ROD_VERTEX, SHADOW_FRAGMENT, SHADOW_VERTEX, TEXTURE_WIDTH } from "./rod_shaders";
import { buildTopology, type Topology } from "./topology";

/** A model is not thinned below this many rods. */
const LEAST_RODS = 300;

export interface Quality {
  lod: Lod;
  shadows: boolean;
  /** Steps along a segment for ribbons and tubes, sides of a tube. */
  ribbonSteps: number;
  tubeSteps: number;
  tubeSides: number;
}

function dataTexture(data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>, count: number, channels: 1 | 4): THREE.DataTexture {
  const height = Math.max(1, Math.ceil(count / TEXTURE_WIDTH));
  const whole = data instanceof Uint32Array;
  const texture = new THREE.DataTexture(
    data, TEXTURE_WIDTH, height,
    channels === 1 ? THREE.RedFormat : whole ? THREE.RGBAIntegerFormat : THREE.RGBAFormat,
    whole ? THREE.UnsignedIntType : THREE.FloatType,
  );
  if (whole) texture.internalFormat = "RGBA32UI";
  texture.minFilter = texture.magFilter = THREE.NearestFilter;
  texture.needsUpdate = true;
  return texture;
}
const texels = (count: number): number => TEXTURE_WIDTH * Math.max(1, Math.ceil(count / TEXTURE_WIDTH));

/** Tubes: an instance is a segment. */
class Tubes {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.RawShaderMaterial>;
  private readonly list: THREE.InstancedBufferAttribute;
  count = 0;

  constructor(grid: Grid, capacity: number, material: THREE.RawShaderMaterial) {
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(grid.position, 3));
    geometry.setIndex(new THREE.BufferAttribute(grid.index, 1));
    this.list = new THREE.InstancedBufferAttribute(new Float32Array(Math.max(1, capacity)), 1);
    this.list.setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("instance", this.list);
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }
  fill(segments: number[]): void {
    this.list.array.set(segments);
    this.list.clearUpdateRanges();
    this.list.addUpdateRange(0, segments.length);
    this.list.needsUpdate = true;
    this.mesh.geometry.instanceCount = this.count = segments.length;
    this.mesh.visible = segments.length > 0;
  }
}

/** Ribbons: one plain draw whose vertex numbers name segment and corner. */
class Ribbons {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.RawShaderMaterial>;
  private readonly index: THREE.BufferAttribute;
  count = 0;

  constructor(private readonly steps: number, capacity: number, material: THREE.RawShaderMaterial) {
    const geometry = new THREE.BufferGeometry();
    this.index = new THREE.BufferAttribute(new Uint32Array(Math.max(6, 6 * steps * capacity)), 1);
    this.index.setUsage(THREE.DynamicDrawUsage);
    geometry.setIndex(this.index);
    material.uniforms = { ...material.uniforms, ribbonSteps: { value: steps } };
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }
  fill(segments: number[]): void {
    const written = ribbonIndices(this.steps, segments, this.index.array as Uint32Array);
    this.index.clearUpdateRanges();
    this.index.addUpdateRange(0, written);
    this.index.needsUpdate = true;
    this.mesh.geometry.setDrawRange(0, written);
    this.count = segments.length;
    this.mesh.visible = segments.length > 0;
  }
}

export class Rods {
  readonly group = new THREE.Group();
  readonly shadow: THREE.Mesh;
  readonly bounds = new THREE.Box3();
  frame: Frame | null = null;
  topology: Topology | null = null;
  private readonly ribbons: Ribbons;
  private readonly tubes: Tubes;
  private readonly shadows: Ribbons;
  private readonly positionData: Float32Array<ArrayBuffer>;
  private readonly values: Float32Array;
  private readonly positions: THREE.DataTexture;
  private readonly stencils: THREE.DataTexture;
  private readonly categories: THREE.DataTexture;
  private readonly table: THREE.DataTexture;
  private readonly chunks: Chunks;
  private shapes: Uint8Array;
  private shapesBefore: Uint8Array;
  private lastAlive: Uint8Array | null = null;
  private colorBy: ColorBy = "rod";
  private sinceRest = false;
  private listsDirty = true;
  /** One rod in so many is drawn. */
  private every = 1;
  private readonly rodCount: number;
  readonly uniforms: Record<string, THREE.IUniform>;

  constructor(readonly model: Model, readonly quality: Quality, private readonly range: ColorRange) {
    const { vertexCount, segmentCount } = model;
    this.positionData = new Float32Array(4 * texels(vertexCount));
    this.positions = dataTexture(this.positionData, vertexCount, 4);
    this.values = new Float32Array(vertexCount);
    this.stencils = dataTexture(new Uint32Array(4 * texels(segmentCount)), segmentCount, 4);
    const radii = new Float32Array(texels(vertexCount));
    radii.set(model.radius);
    this.categories = dataTexture(new Float32Array(texels(segmentCount)), segmentCount, 1);
    this.table = new THREE.DataTexture(colorTable("rod", 256), 256, 1);
    this.chunks = makeChunks(model.segments, model.radius);
    this.rodCount = model.segmentRod.reduce((most, r) => Math.max(most, r + 1), 0);
    this.shapes = new Uint8Array(this.chunks.count);
    this.shapesBefore = new Uint8Array(this.chunks.count);
    this.uniforms = {
      positions: { value: this.positions },
      stencils: { value: this.stencils },
      radii: { value: dataTexture(radii, vertexCount, 1) },
      categories: { value: this.categories },
      colorTable: { value: this.table },
      colorByNumber: { value: 0 },
      colorRange: { value: range.ends }, // shared, so that a colour means the same in every view
      pixelAngle: { value: 0.001 },
      lightDirection: { value: new THREE.Vector3(0, 1, 0) },
      upDirection: { value: new THREE.Vector3(...model.up).normalize() },
      ambient: { value: 0.4 },
      groundX: { value: new THREE.Vector3(1, 0, 0) },
      groundZ: { value: new THREE.Vector3(0, 0, 1) },
      groundHeight: { value: 0 },
      shadowArea: { value: new THREE.Vector4(0, 0, 1, 0.001) },
    };
    const material = (vertexShader: string, fragmentShader: string, ribbon: boolean): THREE.RawShaderMaterial =>
      new THREE.RawShaderMaterial({
        vertexShader, fragmentShader, uniforms: this.uniforms, glslVersion: THREE.GLSL3, side: THREE.DoubleSide,
        defines: ribbon ? { RIBBON: 1 } : {},
      });
    this.ribbons = new Ribbons(quality.ribbonSteps, segmentCount, material(ROD_VERTEX, ROD_FRAGMENT, true));
    this.tubes = new Tubes(tubeGrid(quality.tubeSteps, quality.tubeSides), Math.min(segmentCount, quality.lod.tubeBudget + CHUNK), material(ROD_VERTEX, ROD_FRAGMENT, false));
    const shade = material(SHADOW_VERTEX, SHADOW_FRAGMENT, true);
    Object.assign(shade, { blending: THREE.CustomBlending, blendEquation: THREE.MaxEquation, blendSrc: THREE.OneFactor, blendDst: THREE.OneFactor, depthTest: false, depthWrite: false });
    this.shadows = new Ribbons(Math.max(1, Math.ceil(quality.ribbonSteps / 2)), segmentCount, shade);
    this.shadow = this.shadows.mesh;
    this.group.add(this.ribbons.mesh, this.tubes.mesh);
    this.setColor("rod", false);
  }

  setColor(mode: ColorBy, sinceRest: boolean): void {
    this.colorBy = mode;
    this.sinceRest = sinceRest;
    this.table.image.data.set(colorTable(mode, 256, this.model.materialColors));
    this.table.needsUpdate = true;
    const ids = mode === "material" ? this.model.segmentMaterial : this.model.segmentRod, { rodFamily } = this.model;
    const data = this.categories.image.data as unknown as Float32Array;
    for (let s = 0; s < this.model.segmentCount; ++s) data[s] = (mode === "family" ? (rodFamily[ids![s]!] ?? 0) : (ids?.[s] ?? 0)) % 252; // 21 times the palette
    this.categories.needsUpdate = true;
    this.uniforms["colorByNumber"]!.value = this.byNumber() ? 1 : 0;
    if (this.frame) this.upload(this.frame);
  }

  private byNumber(): Measure | null {
    return isCategory(this.colorBy) ? null : this.colorBy;
  }

  show(frame: Frame): void {
    this.frame = frame;
    if (!this.topology || !sameAlive(this.lastAlive, frame.alive)) this.retopologise(frame);
    updateBalls(this.chunks, this.model.segments, frame.position);
    this.bounds.min.fromArray(this.chunks.box);
    this.bounds.max.fromArray(this.chunks.box, 3);
    this.upload(frame);
  }

  private retopologise(frame: Frame): void {
    this.topology = buildTopology(this.model, frame.alive, frame.position);
    (this.stencils.image.data as unknown as Uint32Array).set(this.topology.stencil);
    this.stencils.needsUpdate = true;
    this.lastAlive = frame.alive ? frame.alive.slice() : null;
    this.listsDirty = true;
  }

  private upload(frame: Frame): void {
    const kind = this.byNumber();
    if (kind && this.topology) {
      measure(kind, this.model, this.topology, frame, this.sinceRest, this.values);
      this.range.include(this.values, isSigned(kind));
    }
    const out = this.positionData, x = frame.position, values = this.values, n = this.model.vertexCount;
    for (let v = 0, i = 0, o = 0; v < n; ++v, i += 3, o += 4) {
      out[o] = x[i]!;
      out[o + 1] = x[i + 1]!;
      out[o + 2] = x[i + 2]!;
      out[o + 3] = values[v]!;
    }
    this.positions.needsUpdate = true;
  }

  /** Draws about `most` segments: of many rods some, of few all, as a rod with gaps would be another one. Returns one in how many. */
  thin(most: number): number {
    const every = Math.max(1, Math.min(Math.floor(this.model.segmentCount / most), Math.floor(this.rodCount / LEAST_RODS)));
    this.listsDirty ||= every !== this.every;
    return (this.every = every);
  }

  /** Sorts chunks into ribbons and tubes for this camera. */
  look(eye: Eye): void {
    this.uniforms["pixelAngle"]!.value = eye.pixelAngle;
    [this.shapes, this.shapesBefore] = [this.shapesBefore, this.shapes];
    chooseShapes(this.chunks, eye, this.quality.lod, this.shapes);
    if (!this.listsDirty && sameBytes(this.shapes, this.shapesBefore)) return;
    this.ribbons.fill(this.collect((shape) => shape === RIBBON));
    this.tubes.fill(this.collect((shape) => shape === TUBE));
    if (this.listsDirty) this.shadows.fill(this.collect(() => true));
    this.listsDirty = false;
  }

  private collect(wanted: (shape: number) => boolean): number[] {
    const list: number[] = [];
    for (let c = 0; c < this.chunks.count; ++c) {
      if (!wanted(this.shapes[c]!)) continue;
      for (let s = c * CHUNK; s < Math.min(this.model.segmentCount, (c + 1) * CHUNK); ++s)
        if ((!this.lastAlive || this.lastAlive[s]) && (this.every === 1 || isKept(this.model.segmentRod[s]!, this.every))) list.push(s);
    }
    return list;
  }

  /** The number that a vertex is coloured by. */
  value(vertex: number): number {
    return this.values[vertex] ?? NaN;
  }

  /** How many segments are drawn as tubes and as ribbons. */
  get drawn(): { tubes: number; ribbons: number } {
    return { tubes: this.tubes.count, ribbons: this.ribbons.count };
  }

  dispose(): void {
    for (const { mesh } of [this.ribbons, this.tubes, this.shadows]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    for (const uniform of Object.values(this.uniforms)) if (uniform.value instanceof THREE.Texture) uniform.value.dispose();
  }
}

/** One rod in `every`, in no order that colours or rows of rods could share. */
const isKept = (rod: number, every: number): boolean => (Math.imul(rod, 0x9e3779b1) >>> 8) % every === 0;

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  for (let i = 0; i < a.length; ++i) if (a[i] !== b[i]) return false;
  return true;
};

function sameAlive(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (!a || !b) return !a && !b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; ++i) if ((a[i] !== 0) !== (b[i] !== 0)) return false;
  return true;
}

// The ground: a grid with known spacing, and the shadow of the rods on it.
import * as THREE from "three";
import type { Rods } from "./rods";

const VERTEX = /* glsl */ `
uniform vec3 groundX, groundZ, upDirection;
uniform float groundHeight, extent;
uniform vec2 centre;
out vec2 vAt;
void main() {
  vAt = centre + position.xy * extent;
  vec3 world = groundX * vAt.x + groundZ * vAt.y + upDirection * groundHeight;
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
`;

const FRAGMENT = /* glsl */ `
uniform vec3 lineColor, planeColor, shadowColor;
uniform float spacing, extent, shadowOn;
uniform vec2 centre;
uniform vec4 shadowArea;
uniform sampler2D shadowMap;
in vec2 vAt;
out vec4 color;

float lines(vec2 at, float step_) {
  vec2 x = at / step_;
  vec2 width = max(fwidth(x), 1e-6);
  vec2 gap = abs(fract(x - 0.5) - 0.5) / width;
  // Lines closer than a few pixels melt into grey; fade them before they shimmer.
  vec2 fade = 1.0 - smoothstep(0.12, 0.45, width);
  vec2 on = (1.0 - smoothstep(0.4, 1.3, gap)) * fade;
  return max(on.x, on.y);
}

float shadow(vec2 at) {
  vec2 uv = (at - shadowArea.xy) / shadowArea.z * 0.5 + 0.5;
  if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) return 0.0;
  float sum = 0.0, weight = 0.0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) {
      float w = exp(-0.5 * float(i * i + j * j));
      sum += w * texture(shadowMap, uv + vec2(i, j) * 1.6 / vec2(textureSize(shadowMap, 0))).r;
      weight += w;
    }
  return sum / weight;
}

void main() {
  float away = length(vAt - centre) / extent;
  float fade = 1.0 - smoothstep(0.25, 1.0, away);
  float line = max(0.42 * lines(vAt, spacing), 0.85 * lines(vAt, spacing * 10.0));
  float dark = shadowOn > 0.5 ? 0.75 * shadow(vAt) : 0.0;
  vec3 base = mix(planeColor, lineColor, line);
  float alpha = fade * max(line, 0.75);
  color = vec4(mix(base, shadowColor, dark), max(alpha, dark * fade));
}
`;

const SHADOW_SIZE = 1024;

/** Two axes along the ground for a given up. */
export function groundAxes(up: THREE.Vector3): [THREE.Vector3, THREE.Vector3] {
  const z = new THREE.Vector3(0, 0, 1);
  const x = new THREE.Vector3().crossVectors(up, Math.abs(up.dot(z)) > 0.9 ? new THREE.Vector3(0, -1, 0) : z).normalize();
  return [x, new THREE.Vector3().crossVectors(x, up).normalize()];
}

export class Ground {
  readonly mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
  private readonly target: THREE.WebGLRenderTarget | null;
  private readonly shadowScene = new THREE.Scene();
  private readonly camera = new THREE.Camera();
  private readonly x: THREE.Vector3;
  private readonly z: THREE.Vector3;
  height: number;
  spacing = 1;
  private stale = true;

  constructor(private readonly rods: Rods, readonly light: THREE.Vector3, shadows: boolean) {
    const up = rods.uniforms["upDirection"]!.value as THREE.Vector3;
    [this.x, this.z] = groundAxes(up);
    this.height = typeof rods.model.ground === "number" ? rods.model.ground : NaN;
    this.target = shadows ? new THREE.WebGLRenderTarget(SHADOW_SIZE, SHADOW_SIZE, { depthBuffer: false, format: THREE.RedFormat }) : null;
    this.mesh = new THREE.Mesh(
      new THREE.PlaneGeometry(2, 2),
      new THREE.ShaderMaterial({
        vertexShader: VERTEX, fragmentShader: FRAGMENT, glslVersion: THREE.GLSL3, transparent: true, depthWrite: false, side: THREE.DoubleSide,
        uniforms: {
          groundX: { value: this.x }, groundZ: { value: this.z }, upDirection: { value: up },
          groundHeight: { value: 0 }, extent: { value: 1 }, spacing: { value: 1 }, centre: { value: new THREE.Vector2() },
          lineColor: { value: new THREE.Color() }, planeColor: { value: new THREE.Color() }, shadowColor: { value: new THREE.Color() },
          shadowOn: { value: shadows ? 1 : 0 }, shadowMap: { value: this.target?.texture ?? null },
          shadowArea: rods.uniforms["shadowArea"]!,
        },
      }),
    );
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -1;
    rods.uniforms["groundX"]!.value = this.x;
    rods.uniforms["groundZ"]!.value = this.z;
    rods.uniforms["lightDirection"]!.value = light;
    this.shadowScene.add(rods.shadow);
  }

  setColors(plane: string, line: string, shadow: string): void {
    // The shaders work in the screen's own colour space.
    const u = this.mesh.material.uniforms;
    for (const [name, value] of [["planeColor", plane], ["lineColor", line], ["shadowColor", shadow]] as const)
      (u[name]!.value as THREE.Color).setStyle(value, THREE.LinearSRGBColorSpace);
  }

  /** A scene without a ground gets one below its rods; it sinks when they fall below it, or when the view beside it has a lower one. */
  moved(atMost = Infinity): void {
    this.stale = true;
    const { min, max } = this.rods.bounds;
    if (this.rods.bounds.isEmpty()) return;
    const up = this.rods.uniforms["upDirection"]!.value as THREE.Vector3;
    const corners = [min.x, max.x].flatMap((x) => [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => new THREE.Vector3(x, y, z))));
    const size = min.distanceTo(max);
    if (typeof this.rods.model.ground !== "number") {
      const low = Math.min(...corners.map((c) => c.dot(up)));
      const tall = Math.max(...corners.map((c) => c.dot(up))) - low;
      // What stands, stands on it; what hangs has it at a distance.
      if (Number.isNaN(this.height)) this.height = low - (tall > 0.3 * size ? 0 : 0.12 * size);
      else if (low < this.height - 0.01 * size) this.height = low - 0.06 * size;
      this.height = Math.min(this.height, atMost);
    }
    const area = this.rods.uniforms["shadowArea"]!.value as THREE.Vector4;
    const tall = Math.max(...corners.map((c) => c.dot(up))) - this.height;
    const lean = this.light.clone().addScaledVector(up, -this.light.dot(up)).multiplyScalar(Math.max(0, tall) / this.light.dot(up));
    const feet = corners.flatMap((c) => [c, c.clone().sub(lean)]);
    const span = (axis: THREE.Vector3): [number, number] => {
      const at = feet.map((c) => c.dot(axis));
      return [Math.min(...at), Math.max(...at)];
    };
    const [x0, x1] = span(this.x), [z0, z1] = span(this.z);
    const half = 0.55 * Math.max(x1 - x0, z1 - z0, 1e-9);
    area.set((x0 + x1) / 2, (z0 + z1) / 2, half, half / SHADOW_SIZE);
    for (const uniforms of [this.rods.uniforms, this.mesh.material.uniforms]) uniforms["groundHeight"]!.value = this.height;
  }

  /** Whether it is drawn: where it is wished for, and the scene has one. */
  show(wished: boolean): void {
    this.mesh.visible = wished && this.rods.model.ground !== "none";
  }

  /** Spacing and extent follow the camera: some ten to forty squares across the view. */
  look(focus: THREE.Vector3, range: number): void {
    const u = this.mesh.material.uniforms;
    this.spacing = 10 ** Math.round(Math.log10(range / 14));
    u["spacing"]!.value = this.spacing;
    u["extent"]!.value = 9 * range;
    (u["centre"]!.value as THREE.Vector2).set(focus.dot(this.x), focus.dot(this.z));
  }

  drawShadow(renderer: THREE.WebGLRenderer): void {
    if (!this.stale || !this.target || !this.mesh.visible) return;
    this.stale = false;
    renderer.setRenderTarget(this.target);
    renderer.setScissorTest(false);
    renderer.setClearColor(0x000000, 1);
    renderer.clear();
    renderer.render(this.shadowScene, this.camera);
    renderer.setRenderTarget(null);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.target?.dispose();
  }
}

// What rods touch that is no rod: plain surfaces, lit like the rods.
import * as THREE from "three";
import type { Frame, Model } from "./protocol";

const VERTEX = /* glsl */ `
out vec3 vWorld;
void main() {
  vWorld = position;
  gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0);
}
`;

const FRAGMENT = /* glsl */ `
uniform vec3 lightDirection, surfaceColor;
uniform float ambient;
in vec3 vWorld;
out vec4 color;
void main() {
  vec3 normal = normalize(cross(dFdx(vWorld), dFdy(vWorld)));
  if (dot(normal, cameraPosition - vWorld) < 0.0) normal = -normal;
  float lit = ambient + (1.0 - ambient) * max(0.0, dot(normal, lightDirection));
  color = vec4(surfaceColor * lit, 1.0);
}
`;

export class Obstacles {
  readonly group = new THREE.Group();
  private readonly points: THREE.BufferAttribute | null = null;
  private readonly materials: THREE.ShaderMaterial[] = [];
  private readonly geometries: THREE.BufferGeometry[] = [];

  constructor(model: Model, light: THREE.Vector3, ambient: THREE.IUniform) {
    if (!model.obstaclePoints) return;
    this.points = new THREE.BufferAttribute(model.obstaclePoints.slice(), 3);
    for (const [triangles, side] of [[model.obstacleTriangles, THREE.DoubleSide], [model.obstacleWalls, THREE.FrontSide]] as const) {
      if (triangles.length === 0) continue;
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", this.points);
      geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
      const material = new THREE.ShaderMaterial({
        vertexShader: VERTEX, fragmentShader: FRAGMENT, glslVersion: THREE.GLSL3, side,
        uniforms: { lightDirection: { value: light }, surfaceColor: { value: new THREE.Color(0.62, 0.64, 0.67) }, ambient },
      });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.frustumCulled = false;
      this.group.add(mesh);
      this.materials.push(material);
      this.geometries.push(geometry);
    }
  }

  show(frame: Frame): void {
    if (!this.points || !frame.obstaclePoints) return;
    (this.points.array as Float32Array).set(frame.obstaclePoints);
    this.points.needsUpdate = true;
  }

  dispose(): void {
    for (const each of [...this.materials, ...this.geometries]) each.dispose();
  }
}

// One vertex shader draws every rod: the curve of a segment is interpolated here from four vertices that lie in a texture. A new
// frame therefore uploads positions and nothing else.

export const TEXTURE_WIDTH = 2048;

const FETCH = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
uniform sampler2D positions;   // xyz, and the number to colour by
uniform usampler2D stencils;   // vertex before, two ends, vertex after
uniform sampler2D radii;
uniform sampler2D categories;  // rod or material of a segment
uniform sampler2D colorTable;
uniform float colorByNumber;
uniform vec2 colorRange;
// A corner: place along the segment 0..1, place across, angle of the end cap.
vec3 corner;
uint segment;
#ifdef RIBBON
uniform int ribbonSteps;
// Ribbons are one plain draw whose vertex numbers say everything: software drawing pays dearly for each instance.
void findCorner() {
  int perSegment = 2 * (ribbonSteps + 1), local = gl_VertexID % perSegment;
  segment = uint(gl_VertexID / perSegment);
  corner = vec3(float(local / 2) / float(ribbonSteps), float(local % 2) * 2.0 - 1.0, 0.0);
}
#else
in vec3 position;
in float instance;
void findCorner() {
  segment = uint(instance);
  corner = position;
}
#endif

ivec2 texel(uint i) { return ivec2(int(i % ${TEXTURE_WIDTH}u), int(i / ${TEXTURE_WIDTH}u)); }

struct Point { vec3 at; vec3 tangent; float radius; float value; bool freeStart; bool freeEnd; };

// Cubic Hermite curve through the vertices; tangents from the neighbours, weighted so that uneven lengths do not overshoot.
Point curvePoint(float t) {
  uvec4 id = texelFetch(stencils, texel(segment), 0);
  vec4 p = texelFetch(positions, texel(id.x), 0), a = texelFetch(positions, texel(id.y), 0);
  vec4 b = texelFetch(positions, texel(id.z), 0), n = texelFetch(positions, texel(id.w), 0);
  vec3 d = b.xyz - a.xyz;
  float l = max(length(d), 1e-20), lp = distance(p.xyz, a.xyz), ln = distance(n.xyz, b.xyz);
  vec3 ma = id.x == id.y ? d : (b.xyz - p.xyz) * (l / (l + lp));
  vec3 mb = id.w == id.z ? d : (n.xyz - a.xyz) * (l / (l + ln));
  float t2 = t * t, t3 = t2 * t;
  Point c;
  c.at = (2.0 * t3 - 3.0 * t2 + 1.0) * a.xyz + (t3 - 2.0 * t2 + t) * ma + (3.0 * t2 - 2.0 * t3) * b.xyz + (t3 - t2) * mb;
  vec3 slope = (6.0 * t2 - 6.0 * t) * (a.xyz - b.xyz) + (3.0 * t2 - 4.0 * t + 1.0) * ma + (3.0 * t2 - 2.0 * t) * mb;
  c.tangent = slope / max(length(slope), 1e-20);
  c.radius = mix(texelFetch(radii, texel(id.y), 0).r, texelFetch(radii, texel(id.z), 0).r, t);
  c.value = mix(a.w, b.w, t);
  c.freeStart = id.x == id.y;
  c.freeEnd = id.w == id.z;
  return c;
}

vec3 baseColor(float value) {
  float x = colorByNumber > 0.5
    ? clamp((value - colorRange.x) / max(colorRange.y - colorRange.x, 1e-30), 0.0, 1.0) * 255.0 / 256.0 + 0.5 / 256.0
    : (mod(texelFetch(categories, texel(segment), 0).r, 252.0) + 0.5) / 256.0;
  return pow(texture(colorTable, vec2(x, 0.5)).rgb, vec3(2.2));
}
`;

export const ROD_VERTEX = /* glsl */ `${FETCH}
uniform mat4 viewMatrix, projectionMatrix;
uniform vec3 cameraPosition;
uniform float pixelAngle;      // what one pixel spans at distance one
out vec3 vColor;
out vec3 vSide;
out vec3 vFacing;
out vec3 vNormal;
out float vAcross;
out vec3 vToCamera;

void main() {
  findCorner();
  Point c = curvePoint(corner.x);
  vec3 toCamera = cameraPosition - c.at;
  float range = length(toCamera);
  vec3 side = cross(c.tangent, toCamera);
  // Seen along its axis a rod has no side of its own.
  side = dot(side, side) > 1e-8 * range * range ? normalize(side) : normalize(cross(c.tangent, vec3(0.577, 0.211, 0.789)));
  vec3 facing = cross(side, c.tangent);
  if (dot(facing, toCamera) < 0.0) facing = -facing;
#ifdef RIBBON
  float width = max(c.radius, 0.55 * pixelAngle * range);
  vec3 at = c.at + side * (width * corner.y);
  vAcross = corner.y;
  vNormal = facing;
#else
  bool capped = corner.z < 0.0 ? c.freeStart : c.freeEnd;
  float cap = capped ? corner.z : 0.0;
  float angle = 6.28318531 * corner.y;
  vec3 round_ = side * cos(angle) + facing * sin(angle);
  float width = max(c.radius, 0.55 * pixelAngle * range);
  vNormal = round_ * cos(cap) + c.tangent * sin(cap);
  vec3 at = c.at + vNormal * width;
  vAcross = 0.0;
#endif
  vSide = side;
  vFacing = facing;
  vToCamera = toCamera;
  vColor = baseColor(c.value);
  gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
}
`;

export const ROD_FRAGMENT = /* glsl */ `
precision highp float;
uniform vec3 lightDirection, upDirection;
uniform float ambient;
in vec3 vColor;
in vec3 vSide;
in vec3 vFacing;
in vec3 vNormal;
in float vAcross;
in vec3 vToCamera;
out vec4 color;

void main() {
#ifdef RIBBON
  float u = clamp(vAcross, -1.0, 1.0);
  vec3 n = normalize(vSide * u + vFacing * sqrt(1.0 - u * u)); // lit as the round rod it stands for
#else
  vec3 n = normalize(vNormal);
#endif
  vec3 v = normalize(vToCamera);
  float key = max(dot(n, lightDirection), 0.0);
  float sky = 0.5 + 0.5 * dot(n, upDirection);
  float edge = max(dot(n, v), 0.0);
  float gloss = pow(max(dot(n, normalize(lightDirection + v)), 0.0), 48.0);
  vec3 lit = vColor * (ambient * mix(0.55, 1.0, sky) + 0.72 * key) * mix(0.62, 1.0, smoothstep(0.0, 0.55, edge)) + 0.16 * gloss;
  color = vec4(pow(clamp(lit, 0.0, 1.0), vec3(1.0 / 2.2)), 1.0);
}
`;

// Rods flattened onto the ground along the light, into a picture of the shadow.
export const SHADOW_VERTEX = /* glsl */ `${FETCH}
uniform vec3 lightDirection, upDirection, groundX, groundZ;
uniform vec4 shadowArea;       // centre on the ground, half its side, half a texel in metres
uniform float groundHeight;
out float vStrength;

void main() {
  findCorner();
  Point c = curvePoint(corner.x);
  float height = dot(c.at, upDirection) - groundHeight;
  vec3 foot = c.at - lightDirection * (height / dot(lightDirection, upDirection));
  vec3 along = c.tangent - lightDirection * (dot(c.tangent, upDirection) / dot(lightDirection, upDirection));
  vec2 flat_ = vec2(dot(along, groundX), dot(along, groundZ));
  vec2 across = dot(flat_, flat_) > 1e-12 ? normalize(vec2(-flat_.y, flat_.x)) : vec2(1.0, 0.0);
  float width = max(c.radius, 1.6 * shadowArea.w);
  vec2 at = vec2(dot(foot, groundX), dot(foot, groundZ)) + across * width * corner.y;
  float thin = min(1.0, c.radius / width + 0.5); // a rod thinner than a texel covers only a part of it
  vStrength = height < -c.radius ? 0.0 : thin * exp(-0.45 * max(height, 0.0) / shadowArea.z);
  gl_Position = vec4((at - shadowArea.xy) / shadowArea.z, 0.0, height < -c.radius ? 0.0 : 1.0);
}
`;
export const SHADOW_FRAGMENT = /* glsl */ `
precision highp float;
in float vStrength;
out vec4 color;
void main() { color = vec4(vStrength, vStrength, vStrength, 1.0); }
`;

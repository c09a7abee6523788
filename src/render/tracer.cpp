#include "render/tracer.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>

#include "osier/error.hpp"
#include "render/sampling.hpp"

#if OSIER_HAS_RENDER
#include <embree3/rtcore.h>
#endif

namespace osier::render {

const char* const kCannotTrace =
    "this osier was built without its ray tracer; install the packages libembree-dev and libstb-dev, then configure with "
    "-DOSIER_RENDER=ON and build again";

constexpr unsigned kSampleBits = 12;  // `--samples` goes to 4096

std::uint32_t lot_of(int x, int y, int sample, int use) {
  const auto word = [](int i) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)); };
  const std::uint64_t pixel = mix_bits(word(x) | word(y) << 24 | word(use) << 48);
  return static_cast<std::uint32_t>(pixel) << kSampleBits | (static_cast<std::uint32_t>(sample) & ((1U << kSampleBits) - 1));
}

float drawn(std::uint32_t lot, std::uint32_t fiber) {
  // The sample's place in van der Corput's sequence, which fills any 2^k consecutive samples evenly, shifted for each fibre.
  std::uint32_t reversed = 0;
  for (unsigned bit = 0; bit < kSampleBits; ++bit) reversed = reversed << 1 | (lot >> bit & 1U);
  const std::uint64_t shift = mix_bits(static_cast<std::uint64_t>(lot >> kSampleBits) << 32 | fiber);
  const std::uint32_t place = (reversed << (32 - kSampleBits)) + static_cast<std::uint32_t>(shift);
  return static_cast<float>(place >> 8) * 0x1p-24F;
}

#if OSIER_HAS_RENDER

bool can_trace() { return true; }

struct Tracer::Impl {
  const Geometry* geometry = nullptr;
  RTCDevice device = nullptr;
  RTCScene scene = nullptr;
  ~Impl() {
    if (scene) rtcReleaseScene(scene);
    if (device) rtcReleaseDevice(device);
  }
};

static_assert(RTC_CURVE_FLAG_NEIGHBOR_LEFT == 1 && RTC_CURVE_FLAG_NEIGHBOR_RIGHT == 2);

namespace {

/// Walls around rods are not there for what looks at them from outside.
void look_through(const RTCFilterFunctionNArguments* args) {
  const auto& g = *static_cast<const Geometry*>(args->geometryUserPtr);
  for (unsigned int i = 0; i < args->N; ++i) {
    if (args->valid[i] != -1) continue;
    const Vec3f& n = g.flat_normal[g.solid_triangles + RTCHitN_primID(args->hit, args->N, i)];
    const Vec3f d{RTCRayN_dir_x(args->ray, args->N, i), RTCRayN_dir_y(args->ray, args->N, i),
                  RTCRayN_dir_z(args->ray, args->N, i)};
    if (dot(n, d) > 0) args->valid[i] = 0;
  }
}
/// Fibres drawn too wide.
void thin_out(const RTCFilterFunctionNArguments* args) {
  const auto& g = *static_cast<const Geometry*>(args->geometryUserPtr);
  for (unsigned int i = 0; i < args->N; ++i) {
    if (args->valid[i] != -1) continue;
    const unsigned piece = RTCHitN_primID(args->hit, args->N, i);
    if (piece >= g.fiber.size()) continue;  // a mark
    const std::uint32_t p = g.piece[piece];
    const float u = RTCHitN_u(args->hit, args->N, i), coverage = g.coverage[p] + u * (g.coverage[p + 1] - g.coverage[p]);
    if (drawn(RTCRayN_id(args->ray, args->N, i), g.fiber[piece]) >= coverage) args->valid[i] = 0;
  }
}
void let_light_in(const RTCFilterFunctionNArguments* args) {
  for (unsigned int i = 0; i < args->N; ++i) args->valid[i] = 0;
}

}  // namespace

Tracer::Tracer(const Geometry& g, bool ribbons) : impl_(std::make_unique<Impl>()) {
  impl_->geometry = &g;
  // One thread builds: with more the order inside the hierarchy, and with it the last bit of a hit, would depend on their luck.
  impl_->device = rtcNewDevice("threads=1,set_affinity=0");
  if (!impl_->device)
    throw RunError(fmt::format("Embree could not be started: error {}", static_cast<int>(rtcGetDeviceError(nullptr))));
  impl_->scene = rtcNewScene(impl_->device);
  rtcSetSceneFlags(impl_->scene, RTC_SCENE_FLAG_ROBUST);
  RTCGeometry curves =
      rtcNewGeometry(impl_->device, ribbons ? RTC_GEOMETRY_TYPE_FLAT_LINEAR_CURVE : RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE);
  rtcSetSharedGeometryBuffer(curves, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, g.point.data(), 0, sizeof(g.point[0]),
                             g.point.size());
  rtcSetSharedGeometryBuffer(curves, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT, g.piece.data(), 0, sizeof(g.piece[0]),
                             g.piece.size());
  if (!ribbons)
    rtcSetSharedGeometryBuffer(curves, RTC_BUFFER_TYPE_FLAGS, 0, RTC_FORMAT_UCHAR, g.neighbors.data(), 0, 1, g.neighbors.size());
  if (ribbons && !g.coverage.empty()) {
    rtcSetGeometryUserData(curves, const_cast<Geometry*>(&g));
    rtcSetGeometryIntersectFilterFunction(curves, thin_out);
    rtcSetGeometryOccludedFilterFunction(curves, thin_out);
  }
  rtcCommitGeometry(curves);
  rtcAttachGeometry(impl_->scene, curves);
  rtcReleaseGeometry(curves);
  const auto add_triangles = [&](std::size_t first, std::size_t count, bool from_inside) {
    if (count == 0) return;
    RTCGeometry surface = rtcNewGeometry(impl_->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(surface, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, g.corner.data(), 0, sizeof(Vec3f),
                               g.corner.size());
    rtcSetSharedGeometryBuffer(surface, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, g.triangle.data() + first, 0,
                               sizeof(g.triangle[0]), count);
    if (from_inside) {
      rtcSetGeometryUserData(surface, const_cast<Geometry*>(&g));
      rtcSetGeometryIntersectFilterFunction(surface, look_through);
      rtcSetGeometryOccludedFilterFunction(surface, let_light_in);
    }
    rtcCommitGeometry(surface);
    rtcAttachGeometryByID(impl_->scene, surface, from_inside ? 2 : 1);
    rtcReleaseGeometry(surface);
  };
  add_triangles(0, g.solid_triangles, false);
  add_triangles(g.solid_triangles, g.triangle.size() - g.solid_triangles, true);
  rtcCommitScene(impl_->scene);
  const RTCError error = rtcGetDeviceError(impl_->device);
  if (error == RTC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  if (error != RTC_ERROR_NONE) throw RunError(fmt::format("Embree rejected the geometry: error {}", static_cast<int>(error)));
}
Tracer::~Tracer() = default;

namespace {

template <class Packet>
void fill(Packet& to, std::span<const Ray> rays, int* valid) {
  for (std::size_t i = 0; i < Tracer::kPacket; ++i) {
    const Ray& ray = rays[i < rays.size() ? i : 0];  // the rest is left out, but must be numbers
    valid[i] = i < rays.size() && norm2(ray.direction) > 0 ? -1 : 0;
    to.org_x[i] = ray.origin.x, to.org_y[i] = ray.origin.y, to.org_z[i] = ray.origin.z;
    to.dir_x[i] = ray.direction.x, to.dir_y[i] = ray.direction.y, to.dir_z[i] = ray.direction.z;
    to.tnear[i] = ray.nearest, to.tfar[i] = std::numeric_limits<float>::infinity();
    to.time[i] = 0, to.mask[i] = ~0U, to.id[i] = ray.lot, to.flags[i] = 0;
  }
}

}  // namespace

void Tracer::intersect(std::span<const Ray> rays, std::span<Hit> hits) const {
  alignas(64) int valid[kPacket];
  RTCRayHit16 query;
  fill(query.ray, rays, valid);
  std::fill(std::begin(query.hit.geomID), std::end(query.hit.geomID), RTC_INVALID_GEOMETRY_ID);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  rtcIntersect16(valid, impl_->scene, &context, &query);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    hits[i] = {.distance = std::numeric_limits<float>::infinity(), .piece = 0, .along = 0, .normal = {}};
    if (query.hit.geomID[i] == RTC_INVALID_GEOMETRY_ID) continue;
    hits[i] = {query.ray.tfar[i], query.hit.primID[i], query.hit.u[i],
               normalized(Vec3f{query.hit.Ng_x[i], query.hit.Ng_y[i], query.hit.Ng_z[i]})};
    if (query.hit.geomID[i] == 0) continue;
    if (query.hit.geomID[i] == 2) hits[i].piece += static_cast<std::uint32_t>(impl_->geometry->solid_triangles);
    hits[i].on_obstacle = true;
    hits[i].second = query.hit.u[i], hits[i].third = query.hit.v[i];
  }
}

void Tracer::occluded(std::span<const Ray> rays, std::span<bool> blocked) const {
  alignas(64) int valid[kPacket];
  RTCRay16 query;
  fill(query, rays, valid);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded16(valid, impl_->scene, &context, &query);
  for (std::size_t i = 0; i < rays.size(); ++i) blocked[i] = valid[i] != 0 && query.tfar[i] < 0;
}

#else

bool can_trace() { return false; }
struct Tracer::Impl {};
Tracer::Tracer(const Geometry&, bool) { throw RunError(kCannotTrace); }
Tracer::~Tracer() = default;
void Tracer::intersect(std::span<const Ray>, std::span<Hit>) const {}
void Tracer::occluded(std::span<const Ray>, std::span<bool>) const {}

#endif

}  // namespace osier::render

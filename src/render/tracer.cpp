#include "render/tracer.hpp"

#include <fmt/format.h>
#include <limits>

#include "osier/error.hpp"

#if OSIER_HAS_RENDER
#include <embree3/rtcore.h>
#endif

namespace osier::render {

const char* const kCannotTrace =
    "this osier was built without its ray tracer; install libembree-dev and libstb-dev, then configure again with "
    "-DOSIER_RENDER=ON";

#if OSIER_HAS_RENDER

bool can_trace() { return true; }

struct Tracer::Impl {
  RTCDevice device = nullptr;
  RTCScene scene = nullptr;
  ~Impl() {
    if (scene) rtcReleaseScene(scene);
    if (device) rtcReleaseDevice(device);
  }
};

static_assert(RTC_CURVE_FLAG_NEIGHBOR_LEFT == 1 && RTC_CURVE_FLAG_NEIGHBOR_RIGHT == 2);

Tracer::Tracer(const Geometry& g, bool ribbons) : impl_(std::make_unique<Impl>()) {
  // One thread builds: with more the order inside the hierarchy, and with it the last bit of a hit, would depend on their luck.
  impl_->device = rtcNewDevice("threads=1,set_affinity=0");
  if (!impl_->device)
    throw RunError(fmt::format("Embree does not start: error {}", static_cast<int>(rtcGetDeviceError(nullptr))));
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
  rtcCommitGeometry(curves);
  rtcAttachGeometry(impl_->scene, curves);
  rtcReleaseGeometry(curves);
  rtcCommitScene(impl_->scene);
  const RTCError error = rtcGetDeviceError(impl_->device);
  if (error == RTC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  if (error != RTC_ERROR_NONE) throw RunError(fmt::format("Embree refuses the geometry: error {}", static_cast<int>(error)));
}
Tracer::~Tracer() = default;

static void set(RTCRay& to, const Ray& ray) {
  to.org_x = ray.origin.x, to.org_y = ray.origin.y, to.org_z = ray.origin.z;
  to.dir_x = ray.direction.x, to.dir_y = ray.direction.y, to.dir_z = ray.direction.z;
  to.tnear = ray.nearest, to.tfar = std::numeric_limits<float>::infinity();
  to.time = 0, to.mask = ~0U, to.id = 0, to.flags = 0;
}

bool Tracer::intersect(const Ray& ray, Hit& hit) const {
  RTCRayHit query;
  set(query.ray, ray);
  query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(impl_->scene, &context, &query);
  if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
  hit = {query.ray.tfar, query.hit.primID, query.hit.u, normalized(Vec3f{query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z})};
  return true;
}

bool Tracer::occluded(const Ray& ray) const {
  RTCRay query;
  set(query, ray);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded1(impl_->scene, &context, &query);
  return query.tfar < 0;
}

#else

bool can_trace() { return false; }
struct Tracer::Impl {};
Tracer::Tracer(const Geometry&, bool) { throw RunError(kCannotTrace); }
Tracer::~Tracer() = default;
bool Tracer::intersect(const Ray&, Hit&) const { return false; }
bool Tracer::occluded(const Ray&) const { return false; }

#endif

}  // namespace osier::render

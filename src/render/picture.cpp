#include "render/picture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numbers>
#include <optional>

#include "render/fiber_bsdf.hpp"
#include "render/sampling.hpp"
#include "render/shading.hpp"

namespace osier::render {

namespace {

constexpr int kTile = 16;

class Picture {
 public:
  Picture(const Geometry& geometry, const Tracer& tracer, const Camera& camera, const Studio& studio,
          const PictureOptions& options)
      : geometry_(geometry),
        tracer_(tracer),
        camera_(camera),
        studio_(studio),
        options_(options),
        light_(studio.to_light),
        up_(studio.up) {}

  /// The samples of a pixel go together through each stage, a packet at a time.
  Rgb pixel(int x, int y) const {
    Rgb sum{0, 0, 0};
    for (int first = 0; first < options_.samples; first += kPacket) {
      const int count = std::min(kPacket, options_.samples - first);
      std::array<Sample, kPacket> samples;
      std::array<Ray, kPacket> rays;
      std::array<Hit, kPacket> hits;
      std::array<bool, kPacket> no_light{}, no_sky{};
      const auto n = static_cast<std::size_t>(count);
      for (std::size_t i = 0; i < n; ++i) {
        Sampler sampler(x, y, first + static_cast<int>(i), options_.samples);
        const Point2 offset = tent_offset(sampler.next());
        const Vec3d through = camera_.direction(x + 0.5 + offset.x, y + 0.5 + offset.y);
        samples[i].light = cone_direction(light_, studio_.light_cosine, sampler.next());
        samples[i].sky = sampler.next();
        rays[i] = {cast<float>(camera_.position), cast<float>(normalized(through)), 0,
                   lot_of(x, y, first + static_cast<int>(i), 0)};
      }
      tracer_.intersect({rays.data(), n}, hits);
      std::array<Ray, kPacket> to_light, to_sky;
      for (std::size_t i = 0; i < n; ++i) meet(rays[i], hits[i], samples[i], to_light[i], to_sky[i]);
      std::array<Rgb, kPacket> from_fibers{};
      if (options_.style == Style::hair) follow_fibers(x, y, first, {rays.data(), n}, hits, samples, from_fibers);
      tracer_.occluded({to_light.data(), n}, no_light);
      tracer_.occluded({to_sky.data(), n}, no_sky);
      for (std::size_t i = 0; i < n; ++i) {
        Rgb light = samples[i].is_fiber() ? from_fibers[i] : shade(rays[i], samples[i], to_sky[i], !no_light[i], !no_sky[i]);
        // One sample on a highlight must not outweigh all others.
        const float brightest = std::max({light.x, light.y, light.z});
        if (brightest > kMostLight) light = (kMostLight / brightest) * light;
        sum += light;
      }
    }
    return (1 / static_cast<float>(options_.samples)) * sum;
  }

 private:
  static constexpr float kMostLight = 4;
  static constexpr int kPacket = Tracer::kPacket;

  enum class Seen : std::uint8_t { backdrop, floor, rod };
  struct Sample {
    Vec3f light;  ///< direction to a point of the lamp
    Point2 sky;   ///< chooses a direction to the sky
    Seen seen = Seen::backdrop;
    Surface surface;  ///< of a rod or an obstacle; of the floor its position alone
    Style style = Style::tubes;
    float distance = 0;  ///< from the eye
    Rgb direct{};        ///< what the lamp gives a rod
    bool matt = false;   ///< an obstacle
    bool is_fiber() const { return seen == Seen::rod && style == Style::hair; }
  };

  // ------------------------------------------------------------------------------------------------------------- hair

  /// Light that goes from fibre to fibre until it leaves the hair, followed backwards from the eye: path tracing, with the lamp
  /// asked for at every fibre and each path ended by chance once it carries little (Russian roulette), which keeps its mean.
  struct Path {
    std::optional<FiberBsdf> fiber;  ///< where it is; nothing once it has ended
    Vec3f place;
    float clear = 0;       ///< how far from there other fibres may be met
    Rgb carries{1, 1, 1};  ///< part of the light there that reaches the eye
    Rgb direct;            ///< what the lamp adds, if nothing is in its way
    Rgb weight;
  };

  void follow_fibers(int x, int y, int first, std::span<const Ray> rays, std::span<const Hit> hits,
                     std::span<const Sample> samples, std::span<Rgb> gathered) const {
    constexpr int kMostFibers = 48, kSureFibers = 3;
    const std::size_t n = rays.size();
    std::array<Path, kPacket> paths;
    std::array<std::optional<Sampler>, kPacket> sampler;
    bool going = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (!samples[i].is_fiber()) continue;
      sampler[i].emplace(x, y, first + static_cast<int>(i), options_.samples);
      for (int used = 0; used < 3; ++used) sampler[i]->next();
      enter(paths[i], rays[i], hits[i]);
      going = true;
    }
    for (int step = 0; going && step < kMostFibers; ++step) {
      std::array<Ray, kPacket> to_light, onward;
      std::array<Hit, kPacket> met;
      std::array<bool, kPacket> dark{};
      for (std::size_t i = 0; i < n; ++i) {
        Path& p = paths[i];
        to_light[i] = onward[i] = {p.place, {0, 0, 0}, 0};
        if (!p.fiber) continue;
        const auto lot = [&](int use) { return lot_of(x, y, first + static_cast<int>(i), 2 * step + use); };
        to_light[i] = {p.place, cone_direction(light_, studio_.light_cosine, sampler[i]->next()), p.clear, lot(1)};
        p.direct = std::numbers::pi_v<float> * times(studio_.light, p.fiber->value(to_light[i].direction));
        const Point2 a = sampler[i]->next(), b = sampler[i]->next();
        const auto [direction, weight] = p.fiber->sample(a, b);
        p.weight = weight, onward[i] = {p.place, direction, p.clear, lot(2)};
      }
      tracer_.occluded({to_light.data(), n}, dark);
      tracer_.intersect({onward.data(), n}, met);
      going = false;
      for (std::size_t i = 0; i < n; ++i) {
        Path& p = paths[i];
        if (!p.fiber) continue;
        if (!dark[i]) gathered[i] += times(p.carries, p.direct);
        p.carries = times(p.carries, p.weight);
        if (!meets_fiber(onward[i], met[i])) {
          gathered[i] += times(p.carries, beyond(onward[i], met[i]));
          p.fiber.reset();
          continue;
        }
        const float most = std::max({p.carries.x, p.carries.y, p.carries.z}),
                    stay = step < kSureFibers ? 1 : std::min(0.95F, most);
        if (stay < 1 && sampler[i]->next().x >= stay) {
          p.fiber.reset();
          continue;
        }
        p.carries = (1 / stay) * p.carries;
        enter(p, onward[i], met[i]);
        going = true;
      }
    }
  }

  bool meets_fiber(const Ray& ray, const Hit& hit) const {
    if (!std::isfinite(hit.distance) || hit.on_obstacle || is_mark(hit)) return false;
    const float floor = floor_distance(ray);
    return !(floor > 0 && floor <= hit.distance);
  }
  /// Light from where there is no hair. Obstacles and marks are lit half as well as what is in the open.
  Rgb beyond(const Ray& ray, const Hit& hit) const {
    if (std::isfinite(hit.distance) && !(floor_distance(ray) > 0 && floor_distance(ray) <= hit.distance))
      return 0.5F * (hit.on_obstacle ? obstacle_at(ray, hit) : surface_at(ray, hit)).color;
    return below_floor(ray.origin, ray.direction) ? Rgb{0, 0, 0} : studio_.sky(ray.direction);
  }

  void enter(Path& p, const Ray& ray, const Hit& hit) const {
    const Surface s = surface_at(ray, hit);
    const Vec3f sideways = cross(s.tangent, s.normal);  // of a ribbon the normal is the way to the eye, across the fibre
    const std::uint32_t i = geometry_.piece[hit.piece];
    const auto &a = geometry_.point[i], &b = geometry_.point[i + 1];
    const Vec3f axis = mix(Vec3f{a[0], a[1], a[2]}, Vec3f{b[0], b[1], b[2]}, std::clamp(hit.along, 0.0F, 1.0F));
    const float h = -dot(s.position - axis, sideways) / std::max(s.radius, 1e-12F);
    p.fiber.emplace(s.tangent, s.to_eye, h, absorption_of(s.color, kLook.roughness_across), kLook);
    p.place = s.position;
    // Ribbons turn to every ray, so a step past their own width, or a fibre would meet itself.
    p.clear = 1e-4F * hit.distance + 2.5F * s.radius;
  }

  static constexpr FiberLook kLook{};

  /// What a ray meets first, and the rays that ask for light there; without direction when none is needed.
  void meet(const Ray& ray, const Hit& hit, Sample& s, Ray& to_light, Ray& to_sky) const {
    to_light = to_sky = {ray.origin, {0, 0, 0}, 0};
    const float floor = floor_distance(ray);
    if (floor > 0 && floor <= hit.distance) {
      s.surface.position = ray.origin + floor * ray.direction;
      if (studio_.floor_strength(s.surface.position) <= 0) return;
      s.seen = Seen::floor, s.distance = floor;
      to_light = {s.surface.position, s.light, 1e-5F * studio_.radius, ray.lot};
      to_sky = {s.surface.position, cosine_direction(up_, s.sky), 1e-5F * studio_.radius, ray.lot};
      return;
    }
    if (!std::isfinite(hit.distance)) return;
    s.seen = Seen::rod, s.distance = hit.distance;
    s.matt = hit.on_obstacle;
    s.style = hit.on_obstacle || is_mark(hit) ? Style::tubes : options_.style;
    if (s.is_fiber()) return;
    s.surface = hit.on_obstacle ? obstacle_at(ray, hit) : surface_at(ray, hit);
    // Off the surface, or rounding would let a rod shade itself.
    const float clear = 1e-4F * hit.distance + 0.02F * s.surface.radius;
    const Vec3f start = s.surface.position + clear * s.surface.normal;
    s.direct = times(studio_.light, reflected(s.style, s.surface, s.light));
    if (s.direct.x + s.direct.y + s.direct.z > 0) to_light = {start, s.light, 0, ray.lot};
    to_sky = {start, cosine_direction(Basis(s.surface.normal), s.sky), 0, ray.lot};
  }

  /// To the floor along a ray; 0 where it does not get there.
  float floor_distance(const Ray& ray) const {
    const float fall = dot(ray.direction, studio_.up);
    if (!studio_.floor || fall >= 0) return 0;
    return std::max(0.0F, (studio_.floor_height - dot(ray.origin, studio_.up)) / fall);
  }

  Rgb shade(const Ray& ray, const Sample& s, const Ray& to_sky, bool lit, bool open) const {
    switch (s.seen) {
      case Seen::backdrop:
        return studio_.backdrop(ray.direction);
      case Seen::floor:
        return studio_.floor_color(s.surface.position, ray.direction, lit ? 1.0F : 0.0F, open ? 1.0F : 0.0F,
                                   2 * static_cast<float>(camera_.tan_y / camera_.height) * s.distance);
      case Seen::rod:
        break;
    }
    const Surface& surface = s.surface;
    open = open && !below_floor(to_sky.origin, to_sky.direction);
    // Whatever is in the way has likely the same colour and is lit half as well.
    const Rgb ambient = open ? studio_.sky(to_sky.direction) : 0.3F * surface.color;
    const Vec3f mirror = 2 * dot(surface.normal, surface.to_eye) * surface.normal - surface.to_eye;
    const float gloss = open && !s.matt ? mirrored(s.style, surface) : 0.0F;
    return (lit ? s.direct : Rgb{0, 0, 0}) + times(surface.color, ambient) + gloss * studio_.sky(mirror);
  }

  bool is_mark(const Hit& hit) const { return !hit.on_obstacle && hit.piece >= geometry_.plain_from; }

  Surface obstacle_at(const Ray& ray, const Hit& hit) const {
    const std::array<Vec3f, 3>& normal = geometry_.corner_normal[hit.piece];
    Surface s;
    s.position = ray.origin + hit.distance * ray.direction;
    s.to_eye = -ray.direction;
    s.normal = normalized((1 - hit.second - hit.third) * normal[0] + hit.second * normal[1] + hit.third * normal[2]);
    if (dot(s.normal, s.to_eye) < 0) s.normal = -s.normal;
    const Vec3f& t = geometry_.flat_normal[hit.piece];
    s.tangent = normalized(cross(t, std::abs(t.x) < 0.7F ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0}));
    s.color = {0.47F, 0.49F, 0.52F};
    return s;
  }

  Surface surface_at(const Ray& ray, const Hit& hit) const {
    const std::uint32_t i = geometry_.piece[hit.piece];
    const auto &a = geometry_.point[i], &b = geometry_.point[i + 1];
    const float u = std::clamp(hit.along, 0.0F, 1.0F);
    Surface s;
    s.position = ray.origin + hit.distance * ray.direction;
    s.to_eye = -ray.direction;
    s.color = mix(geometry_.color[i], geometry_.color[i + 1], u);
    s.radius = (1 - u) * a[3] + u * b[3];
    s.tangent = normalized(mix(geometry_.tangent[i], geometry_.tangent[i + 1], u));
    const Vec3f from{a[0], a[1], a[2]}, to{b[0], b[1], b[2]}, axis = mix(from, to, u);
    // Pieces are straight, but lit as the curve they stand for; the ball at a free end is itself.
    const std::uint8_t neighbors = geometry_.neighbors[hit.piece];
    const bool cap = (u < 1e-3F && !(neighbors & 1)) || (u > 1 - 1e-3F && !(neighbors & 2));
    const Vec3f out = options_.style == Style::hair ? s.to_eye : s.position - axis;
    const float lean = dot(out, s.tangent);
    s.normal = normalized(out - lean * s.tangent);
    if (options_.style != Style::hair) {
      // So is a steep cone between a thick and a thin end, and the ball that is its shoulder: the way out leans along the rod.
      const float slope = std::abs(b[3] - a[3]) / norm(to - from);
      const float itself = std::max(smooth_step(0.1F, 0.3F, slope), smooth_step(0.25F, 0.6F, std::abs(lean) / norm(out)));
      s.normal = normalized(mix(s.normal, hit.normal, cap ? 1 : itself));
    }
    if (options_.style == Style::yarn && !is_mark(hit)) {
      const Vec3f outward = mix(geometry_.outward[i], geometry_.outward[i + 1], u);
      const float turns = geometry_.turns[i] + u * (geometry_.turns[i + 1] - geometry_.turns[i]);
      add_fibers(s, std::atan2(dot(s.normal, cross(s.tangent, outward)), dot(s.normal, outward)), turns);
    }
    if (dot(s.normal, s.to_eye) < 0) s.normal = normalized(s.normal - 2 * dot(s.normal, s.to_eye) * s.to_eye);
    return s;
  }

  /// The floor right under a rod is in its shade.
  bool below_floor(const Vec3f& p, const Vec3f& d) const {
    if (!studio_.floor) return false;
    const float fall = -dot(d, studio_.up), height = dot(p, studio_.up) - studio_.floor_height;
    return fall > 0 && height < 0.04F * studio_.radius * fall;
  }

  const Geometry& geometry_;
  const Tracer& tracer_;
  const Camera& camera_;
  const Studio& studio_;
  const PictureOptions& options_;
  Basis light_, up_;
};

}  // namespace

Image draw_picture(const Geometry& geometry, const Tracer& tracer, const Camera& camera, const Studio& studio,
                   const PictureOptions& options, const Executor& executor) {
  Image image(camera.width, camera.height);
  const Picture picture(geometry, tracer, camera, studio, options);
  const int columns = (camera.width + kTile - 1) / kTile, rows = (camera.height + kTile - 1) / kTile, tiles = columns * rows;
  std::atomic<int> done{0};
  std::atomic<bool> stopped{false};
  executor.for_each_job(static_cast<std::size_t>(tiles), [&](std::size_t tile) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const int left = static_cast<int>(tile) % columns * kTile, top = static_cast<int>(tile) / columns * kTile;
    for (int y = top; y < std::min(top + kTile, camera.height); ++y)
      for (int x = left; x < std::min(left + kTile, camera.width); ++x) image.at(x, y) = picture.pixel(x, y);
    const int now = ++done;
    if (executor.worker() != 0) return;
    if (options.progress) options.progress(now, tiles);
    if (options.stop && options.stop()) stopped.store(true, std::memory_order_relaxed);
  });
  return image;
}

}  // namespace osier::render

#include "view/packet.hpp"

#include <algorithm>
#include <filesystem>

#include "io/up.hpp"
#include "math/vec3.hpp"
#include "model/rod_count.hpp"
#include "model/rod_family.hpp"
#include "model/strands.hpp"

namespace osier::view {

std::string Packet::bytes() const {
  std::string json = header_.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const auto put = [](std::string& out, std::uint32_t v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  std::size_t size = 8 + json.size();
  for (const Part& p : parts_) size += p.size + sizeof(double);
  std::string out;
  out.reserve(size);
  put(out, 0x5249534F);
  put(out, static_cast<std::uint32_t>(json.size()));
  out += json;
  for (const Part& p : parts_) {
    const std::size_t unit = std::max<std::size_t>(p.number, 4);
    out.append(p.data, p.size);
    out.append((unit - p.size % unit) % unit, '\0');
  }
  return out;
}

std::vector<Index> joints_between_segments(const Model& model) {
  std::vector<Index> list;
  for (Index j = 0; j < model.joint_count(); ++j)
    if (!model.joint_is_clamp[static_cast<std::size_t>(j)]) list.push_back(j);
  return list;
}

ModelText model_text(const RunInfo& info, bool live) {
  return {.slot = 0,
          .name = info.scene_name,
          .live = live,
          .precision = info.double_precision ? "double" : "float",
          .times = {},
          .up = up_direction(info.scene_json),
          .materials = info.materials,
          .segment_material = info.segment_material,
          .look = look_of(info),
          .obstacles = info.obstacles,
          .contacts = info.contacts};
}

ModelText model_text(const Trajectory& t) {
  ModelText text = model_text(t.info(), false);
  text.has_rest = t.has_rest();
  return text;
}

std::vector<std::string> run_names(std::span<const Trajectory> runs) {
  std::vector<std::string> scenes, folders, paths;
  for (const Trajectory& t : runs) {
    scenes.push_back(t.name()), paths.push_back(t.path().string());
    folders.push_back(std::filesystem::absolute(t.path()).lexically_normal().parent_path().filename().string());
  }
  for (const auto* names : {&scenes, &folders}) {
    std::vector<std::string> sorted = *names;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return *names;
  }
  return paths;
}

static std::vector<float> floats(std::span<const double> values) {
  std::vector<float> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), [](double v) { return static_cast<float>(v); });
  return out;
}

std::string model_packet(const Model& model, const ModelText& text) {
  // Level planes are the ground or lie below it; walls around rods are seen from inside alone.
  const std::optional<double> height = ground_of(text.look, text.obstacles, text.up);
  const OrderedJson ground = text.look.no_ground ? OrderedJson("none") : height ? OrderedJson(*height) : OrderedJson(nullptr);
  std::vector<std::uint32_t> surfaces, walls;
  std::uint32_t first_point = 0;
  for (const Surface& s : text.obstacles) {
    const std::optional<double> level = level_of(s, text.up);
    const bool hidden = level && (!height || *level <= *height);
    for (const auto& t : s.triangles)
      for (const Index v : t)
        if (!hidden) (s.from_inside ? walls : surfaces).push_back(first_point + static_cast<std::uint32_t>(v));
    first_point += static_cast<std::uint32_t>(s.points.size());
  }
  OrderedJson names = OrderedJson::array();
  for (const RodInfo& rod : model.rods) names.push_back(rod.name);
  const RodFamilies families = rod_families(model, rod_of_segments(model));
  OrderedJson colors = OrderedJson::array();
  for (const auto& color : text.look.material) colors.push_back(color ? OrderedJson(color->text()) : OrderedJson(nullptr));
  OrderedJson header = {{"type", "model"},
                        {"slot", text.slot},
                        {"name", text.name},
                        {"live", text.live},
                        {"precision", text.precision},
                        {"frames", text.live ? OrderedJson(nullptr) : OrderedJson(text.times.size())},
                        {"units", "SI"},
                        {"rods", rod_count(model)},
                        {"rod_names", names},
                        {"families", families.names},
                        {"material_names", text.materials},
                        {"material_colors", colors},
                        {"up", {text.up.x, text.up.y, text.up.z}},
                        {"ground", ground},
                        {"contacts", text.contacts}};
  if (!text.probes.columns.empty()) header["probe_columns"] = text.probes.columns;
  const auto segments = static_cast<std::size_t>(model.segment_count());
  std::vector<std::uint32_t> ends, rod_of(segments, 0), joints, material;
  for (const auto& [a, b] : model.segment_vertices)
    ends.push_back(static_cast<std::uint32_t>(a)), ends.push_back(static_cast<std::uint32_t>(b));
  for (std::size_t r = 0; r < model.rods.size(); ++r)
    for (const Index s : model.rods[r].segments) rod_of[static_cast<std::size_t>(s)] = static_cast<std::uint32_t>(r);
  std::vector<float> joint_length, joint_rest;
  for (const Index j : joints_between_segments(model)) {
    const auto& [a, b] = model.joint_frames[static_cast<std::size_t>(j)];
    joints.push_back(static_cast<std::uint32_t>(a)), joints.push_back(static_cast<std::uint32_t>(b));
    joint_length.push_back(static_cast<float>(model.joint_length[static_cast<std::size_t>(j)]));
    const Quatd& q = model.joint_rest_rotation[static_cast<std::size_t>(j)];
    for (const double c : {q.x, q.y, q.z, q.w}) joint_rest.push_back(static_cast<float>(c));
  }
  for (const Index m : text.segment_material) material.push_back(static_cast<std::uint32_t>(m));
  const std::vector<float> radius = floats(model.vertex_radius), rest_length = floats(model.segment_rest_length);
  Packet packet(std::move(header));
  packet.add("segments", ends);
  packet.add("radius", radius);
  packet.add("rest_length", rest_length);
  packet.add("segment_rod", rod_of);
  packet.add("rod_family", families.of_rod);
  if (!material.empty()) packet.add("segment_material", material);
  packet.add("joints", joints);
  packet.add("joint_length", joint_length);
  if (text.has_rest) packet.add("joint_rest", joint_rest);
  std::vector<float> obstacle_points;
  for (const Vec3d& x : points_of(text.obstacles))
    for (const double c : {x.x, x.y, x.z}) obstacle_points.push_back(static_cast<float>(c));
  if (!surfaces.empty() || !walls.empty()) {
    packet.add("obstacle_points", obstacle_points);
    packet.add("obstacle_triangles", surfaces);
    packet.add("obstacle_walls", walls);
  }
  if (!text.live) packet.add("times", text.times);
  std::vector<float> landmarks, energy, residual, compute_ms;
  std::vector<std::uint32_t> iterations;
  for (const Vec3d& x : text.landmarks)
    for (const double c : {x.x, x.y, x.z}) landmarks.push_back(static_cast<float>(c));
  if (!landmarks.empty()) packet.add("landmarks", landmarks);
  for (const FrameReport& r : text.reports) {
    for (const double e : {r.kinetic, r.stretch_shear, r.bend_twist, r.external}) energy.push_back(static_cast<float>(e));
    residual.push_back(static_cast<float>(r.residual_relative));
    compute_ms.push_back(static_cast<float>(r.compute_ms));
    iterations.push_back(static_cast<std::uint32_t>(r.iterations));
  }
  if (!energy.empty()) {
    packet.add("energy", energy);
    packet.add("residual_relative", residual);
    packet.add("compute_ms", compute_ms);
    packet.add("iterations", iterations);
  }
  std::vector<float> probe_values;  // column after column
  for (const auto& column : text.probes.values) probe_values.insert(probe_values.end(), column.begin(), column.end());
  if (!probe_values.empty()) packet.add("probe_times", text.probes.times), packet.add("probe_values", probe_values);
  return packet.bytes();
}

/// Components in single precision, one after the other.
template <std::size_t Components, class Value>
static std::vector<float> single(std::span<const Value> values) {
  static_assert(sizeof(Value) == Components * sizeof(double));
  std::vector<float> out(Components * values.size());
  const double* in = reinterpret_cast<const double*>(values.data());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(in[i]);
  return out;
}

ContactArrays::ContactArrays(std::span<const ContactPoint> contacts) {
  const auto put = [](std::vector<float>& list, const Vec3d& v) {
    for (const double c : {v.x, v.y, v.z}) list.push_back(static_cast<float>(c));
  };
  for (const ContactPoint& c : contacts) {
    segments.push_back(c.a), segments.push_back(c.b);
    put(place, c.position), put(normal, c.normal_force), put(friction, c.friction_force);
  }
}

void ContactArrays::add_to(Packet& packet) const {
  packet.add("contact_segments", segments);
  packet.add("contact_position", place);
  packet.add("contact_normal_force", normal);
  packet.add("contact_friction_force", friction);
}

std::string frame_packet(const Frame& frame, int slot, std::span<const Index> joints, FrameParts parts) {
  Packet packet({{"type", "frame"}, {"slot", slot}, {"index", frame.index}, {"time", frame.time}});
  const std::vector<float> position = single<3>(frame.vertex_position);
  packet.add("position", position);
  std::vector<float> rotation, moment;
  if (parts.frame) {
    rotation = single<4>(frame.segment_frame);
    packet.add("frame", rotation);
  }
  packet.add("alive", frame.segment_alive);
  const std::vector<float> obstacles = single<3>(frame.obstacle_points);
  if (!obstacles.empty()) packet.add("obstacle_points", obstacles);
  if (parts.joint_moment && !frame.joint_moment.empty()) {
    moment.reserve(3 * joints.size());
    for (const Index j : joints) {
      const Vec3d& m = frame.joint_moment[static_cast<std::size_t>(j)];
      for (const double c : {m.x, m.y, m.z}) moment.push_back(static_cast<float>(c));
    }
    packet.add("joint_moment", moment);
  }
  const ContactArrays contacts(frame.contacts);
  if (parts.contacts) contacts.add_to(packet);
  return packet.bytes();
}

}  // namespace osier::view

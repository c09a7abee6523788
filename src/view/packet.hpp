// Binary messages for the viewer: a JSON header and plain arrays, little endian (docs/viewer_protocol.md).
//
//   u32 magic "OSIR", u32 bytes of JSON (a multiple of 4), JSON padded with spaces, then the arrays that the JSON lists under
//   "arrays" as {name, type, count}, each padded to a multiple of 4 bytes, of 8 when its numbers are f64.
#pragma once

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "io/look.hpp"
#include "osier/frame.hpp"
#include "osier/io.hpp"
#include "osier/model.hpp"
#include "osier/trajectory.hpp"
#include "view/probes.hpp"

namespace osier::view {

static_assert(std::endian::native == std::endian::little);

class Packet {
 public:
  explicit Packet(OrderedJson header) : header_(std::move(header)) { header_["arrays"] = OrderedJson::array(); }

  template <class T>
  void add(const char* name, const char* type, std::span<const T> values) {
    header_["arrays"].push_back({{"name", name}, {"type", type}, {"count", values.size()}});
    parts_.push_back({reinterpret_cast<const char*>(values.data()), values.size_bytes(), sizeof(T)});
  }
  void add(const char* name, std::span<const float> values) { add(name, "f32", values); }
  void add(const char* name, std::span<const double> values) { add(name, "f64", values); }
  void add(const char* name, std::span<const std::uint32_t> values) { add(name, "u32", values); }
  void add(const char* name, std::span<const std::int32_t> values) { add(name, "i32", values); }
  void add(const char* name, std::span<const std::uint16_t> values) { add(name, "u16", values); }
  void add(const char* name, std::span<const std::int16_t> values) { add(name, "i16", values); }
  void add(const char* name, std::span<const std::uint8_t> values) { add(name, "u8", values); }

  /// The arrays must still be there.
  std::string bytes() const;

 private:
  struct Part {
    const char* data;
    std::size_t size, number;
  };
  OrderedJson header_;
  std::vector<Part> parts_;
};

/// What does not change from frame to frame.
struct ModelText {
  int slot = 0;
  std::string name;
  bool live = false;
  std::string precision = "double";
  std::vector<double> times;              ///< of recorded frames
  Vec3d up{0, 1, 0};                      ///< against gravity
  std::vector<std::string> materials;     ///< names, or empty
  std::vector<Index> segment_material{};  ///< one of these for each segment, or empty
  Look look{};                            ///< ground, and colours of `materials`
  bool has_rest = true;                   ///< the model knows its rest rotations
  std::vector<FrameReport> reports{};     ///< of recorded frames, or empty
  ProbeTable probes{};                    ///< of a recorded run
  std::vector<Vec3d> landmarks{};         ///< of all recorded frames, see Landmarks
  std::vector<Surface> obstacles{};
  bool contacts = false;  ///< frames can tell what touches
};
ModelText model_text(const RunInfo& info, bool live);
ModelText model_text(const Trajectory& trajectory);
/// What to call runs that are shown together: their scenes' names, or those of their folders where they are runs of one scene.
std::vector<std::string> run_names(std::span<const Trajectory> runs);
std::string model_packet(const Model& model, const ModelText& text);

/// Joints between two segments, in the order of the model packet: the half-joints of clamps are left out.
std::vector<Index> joints_between_segments(const Model& model);

/// What a client wants of a frame beside positions and what is alive.
struct FrameParts {
  bool frame = true, joint_moment = true, contacts = false;
  bool operator==(const FrameParts&) const = default;
};

/// What touches, as arrays of a frame packet.
struct ContactArrays {
  explicit ContactArrays(std::span<const ContactPoint> contacts);
  /// They must outlive the packet.
  void add_to(Packet& packet) const;
  std::vector<std::int32_t> segments;          ///< two of each
  std::vector<float> place, normal, friction;  ///< three of each
};

/// In single precision, as a view sends it.
std::string frame_packet(const Frame& frame, int slot, std::span<const Index> joints, FrameParts parts = {});

}  // namespace osier::view

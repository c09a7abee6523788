#include "scene/unresisted.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "forces/loads.hpp"

namespace osier {
namespace {

constexpr double kStraight = 1e-6;  ///< largest sine of the angle between parts of a straight piece
constexpr double kBalanced = 1e-9;  ///< couples whose sum is this small a share of them cancel
constexpr int kTimes = 8;           ///< times in the course of the run at which torques are looked at

/// Frames that joints connect, and the line along which all of them lie.
struct Piece {
  std::vector<Index> frames;
  Vec3d line;
  bool is_straight = true;
};

Vec3d direction(const Model& m, const State& state, Index segment) {
  const auto [a, b] = m.segment_vertices[segment];
  return normalized(state.vertex_position[b] - state.vertex_position[a]);
}

/// The piece that a segment belongs to; its frames are marked as seen.
Piece piece_of(const Model& m, const State& state, Index segment, std::vector<std::uint8_t>& seen) {
  Piece piece{{segment}, direction(m, state, segment)};
  const Vec3d origin = state.vertex_position[m.segment_vertices[segment][0]];
  seen[segment] = 1;
  for (std::size_t next = 0; next < piece.frames.size(); ++next) {
    const Index frame = piece.frames[next];
    if (!m.is_anchor(frame)) {
      const double extent = m.segment_rest_length[frame];
      for (const Index v : m.segment_vertices[frame]) {
        const Vec3d arm = state.vertex_position[v] - origin;
        piece.is_straight = piece.is_straight && norm(cross(arm, piece.line)) <= kStraight * (norm(arm) + extent);
      }
    }
    for (const Index entry : m.frame_joints.of(frame))
      for (const Index other : m.joint_frames[entry / 2])
        if (!seen[other]) {
          seen[other] = 1;
          piece.frames.push_back(other);
        }
  }
  return piece;
}

/// Whether a frame that is held or hinged keeps the piece from spinning about its line.
bool is_held(const Piece& piece, const Control& control) {
  return std::any_of(piece.frames.begin(), piece.frames.end(), [&](Index f) {
    if (control.frame_control[f] == FrameControl::fixed) return true;
    if (control.frame_control[f] != FrameControl::hinged) return false;
    return control.frame_damping[f] > 0 || norm(cross(control.frame_hinge_axis[f], piece.line)) > kStraight;
  });
}

Control empty_control(const Model& m) {
  const auto nv = static_cast<std::size_t>(m.vertex_count());
  const auto nf = static_cast<std::size_t>(m.frame_count());
  Control c;
  c.vertex_force.resize(nv);
  c.vertex_damping.resize(nv);
  c.vertex_fixed.resize(nv);
  c.vertex_target.resize(nv);
  c.frame_control.resize(nf);
  c.frame_target.resize(nf);
  c.frame_hinge_axis.resize(nf);
  c.frame_torque.resize(nf);
  c.frame_torque_material.resize(nf);
  c.frame_damping.resize(nf);
  return c;
}

}  // namespace

void warn_of_unresisted_couples(Setup& setup) {
  const DynamicAnalysis* dynamic = setup.spec.dynamic();
  if (!dynamic || setup.spec.rotational_inertia) return;
  std::vector<const Torque*> torques;
  for (const auto& force : setup.spec.forces)
    if (const auto* torque = dynamic_cast<const Torque*>(force.get())) torques.push_back(torque);
  if (torques.empty()) return;

  const Model& m = setup.model;
  const State& state = setup.initial;
  const Executor executor(1);
  std::vector<Control> controls;
  for (int i = 0; i <= kTimes; ++i) {
    const double time = dynamic->duration * i / kTimes;
    Control& control = controls.emplace_back(empty_control(m));
    for (const Torque* torque : torques) torque->apply({m, state, time, 1}, control);
    for (const auto& constraint : setup.spec.constraints)
      if (!constraint->release || time < *constraint->release) constraint->apply(time, state, executor, control);
  }

  std::vector<std::uint8_t> seen(static_cast<std::size_t>(m.frame_count()));
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (seen[s] || !m.segment_alive[s]) continue;
    const Piece piece = piece_of(m, state, s, seen);
    if (!piece.is_straight) continue;
    for (const Control& control : controls) {
      double sum = 0;
      double size = 0;
      Index driven = -1;
      for (const Index f : piece.frames) {
        const Vec3d couple = control.frame_torque[f] + rotate(state.frame_rotation[f], control.frame_torque_material[f]);
        const double along = dot(couple, piece.line);
        sum += along;
        size += norm(couple);
        if (driven < 0 && std::abs(along) > kBalanced * norm(couple)) driven = f;
      }
      if (std::abs(sum) <= kBalanced * size || is_held(piece, control)) continue;
      setup.unresisted.push_back(
          fmt::format("nothing resists the torque of {:.3g} N m about the line of the straight rod at segment {}: the rod is "
                      "free to spin about itself and has no inertia against that, so that steps cannot converge; hold it "
                      "against turning (`fix`, `clamp`), or set `rotational_inertia`",
                      sum, driven));
      setup.warnings.push_back(setup.unresisted.back());
      break;
    }
  }
}

}  // namespace osier

// The graph while it is being built: rods, trees, bridges and nets are the same three lists. compile() turns it into a Model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "materials/section.hpp"
#include "math/quat.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

/// More than this is a slip of the pen: the graph alone would take gigabytes.
constexpr double kMostSegments = 1e7;

/// A joint that turns more than this at rest is a corner between two rods, not a piece of a sampled curve [rad].
constexpr double kCornerAngle = 0.6;

struct GraphVertex {
  Vec3d rest;      ///< rest shape
  Vec3d position;  ///< initial pose
  Vec3d velocity;
  double mass = 0;
  double radius = 0;
};

struct GraphSegment {
  Index a = 0, b = 0;
  Section section;
  double rest_length = 0;
  PerAxis stretch_stiffness{};  ///< k^ss = (GA1, GA2, EA) l
  Quatd rest_frame;
  double pose_twist = 0;     ///< turn about d3 in the initial state, on top of what the pose gives [rad]
  Vec3d angular_velocity{};  ///< initial, world axes [rad/s]; counts with rotational inertia
};

struct GraphJoint {
  Index a = 0, b = 0;  ///< segments
  Quatd rest_rotation;
  PerAxis stiffness{};  ///< k^bt = 4 (EI1, EI2, GJ)/length
  double length = 0;
  PerAxis tau{};
};

class RodGraph {
 public:
  std::vector<GraphVertex> vertices;
  std::vector<GraphSegment> segments;
  std::vector<GraphJoint> joints;
  std::vector<RodInfo> rods;

  Index add_vertex(const Vec3d& rest);

  /// A segment with rest length |b - a|, its mass shared by both ends, and a rest frame whose d3 is the edge. `like` is a
  /// neighbouring segment whose frame is carried over by the smallest rotation (parallel transport); `up` (optional)
  /// orients d1 of a frame without neighbour.
  Index add_segment(Index a, Index b, const Section& section, std::optional<Index> like = {}, std::optional<Vec3d> up = {});

  /// A joint that keeps the present rest angle of two segments. Its stiffness is that of the two half segments in series,
  /// k = 4 / (la/(2 EIa) + lb/(2 EIb)); `bend_twist` overrides EI1, EI2, GJ
  /// of both.
  Index add_joint(Index a, Index b, std::optional<PerAxis> bend_twist = {}, std::optional<Quatd> rest_rotation = {});

  /// Vertices `path` (already added) joined into a chain with joints; a section that does not bend means no joints.
  /// Adds a RodInfo under `name` and returns its index.
  std::size_t add_chain(const std::string& name, const std::vector<Index>& path, const Section& section, bool closed = false,
                        std::optional<Vec3d> up = {});
  /// The same with a section for each segment.
  std::size_t add_chain(const std::string& name, const std::vector<Index>& path, std::span<const Section> sections,
                        bool closed = false, std::optional<Vec3d> up = {});

  Vec3d direction(Index segment) const;  ///< unit rest direction

  /// Where a segment stands in a rod: rods[rod].segments[place].
  struct Place {
    std::size_t rod, place;
  };
  /// Every place of a segment, in the order of `rods`. Worked out for all segments at once, again when rods were added.
  std::span<const Place> places_of(Index segment) const;

 private:
  struct Places {
    std::size_t rods = 0, segments = 0;  ///< how many there were
    std::vector<std::size_t> start;
    std::vector<Place> entry;
  };
  mutable Places places_;
};

/// The arrays a solver needs, without constraints.
Model compile_graph(const RodGraph& graph);

/// Positions of the pose; frames that carry the rest frames over to the pose with the least strain.
State initial_state(const RodGraph& graph, const Model& model);

/// Appends an anchor frame with half-joints (length l/2, k = 8 EI/l) to every segment at `vertex`, replacing the joints
/// between those segments there. Returns the anchor's frame index; the caller sets its rotation in the state.
/// Second order where freezing the segment's own frame would be first order.
struct ClampResult {
  Index anchor = -1;                   ///< stays -1 when nothing at the vertex can bend
  Quatd rotation;                      ///< at rest
  std::vector<Index> half_joints;      ///< new
  std::vector<Index> replaced_joints;  ///< switched off while the clamp holds
};
ClampResult add_clamp(Model& model, const RodGraph& graph, const State& state, Index vertex);

}  // namespace osier

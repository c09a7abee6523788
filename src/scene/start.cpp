#include "scene/start.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "math/quat.hpp"
#include "osier/trajectory.hpp"

namespace osier {

namespace {

/// What differs between the graphs, or nothing.
std::string difference(const Model& mine, const Model& other) {
  if (mine.vertex_count() != other.vertex_count())
    return fmt::format("has {} vertices, the scene {}", other.vertex_count(), mine.vertex_count());
  if (mine.segment_count() != other.segment_count())
    return fmt::format("has {} segments, the scene {}", other.segment_count(), mine.segment_count());
  for (Index s = 0; s < mine.segment_count(); ++s)
    if (mine.segment_vertices[s] != other.segment_vertices[s])
      return fmt::format("joins other vertices by segment {} than the scene", s);
  return {};
}

void take_over(const Frame& frame, Model& model, State& state) {
  state.vertex_position.assign(frame.vertex_position.begin(), frame.vertex_position.end());
  state.vertex_velocity.assign(frame.vertex_velocity.begin(), frame.vertex_velocity.end());
  state.vertex_velocity_previous = state.vertex_velocity;
  for (Index s = 0; s < model.segment_count(); ++s) state.frame_rotation[s] = normalized(frame.segment_frame[s]);
  if (!frame.segment_spin.empty()) std::copy(frame.segment_spin.begin(), frame.segment_spin.end(), state.frame_velocity.begin());
  std::copy(frame.segment_alive.begin(), frame.segment_alive.end(), model.segment_alive.begin());
}

}  // namespace

std::map<Index, Quatd> start_from_run(const StartSpec& start, const std::string& folder, Model& model, State& state,
                                      std::vector<std::string>& warnings, Problems& problems) {
  std::map<Index, Quatd> clamps;
  const std::string at = start.where + "/run";
  try {
    Trajectory run = Trajectory::open(std::filesystem::path(folder) / start.run);
    if (const std::string what = difference(model, run.model()); !what.empty()) {
      problems.add(at, "the run " + what, "start from a run of the same rods, with the same sampling");
      return clamps;
    }
    const int frames = run.frame_count(), wanted = start.frame < 0 ? frames + start.frame : start.frame;
    if (wanted < 0 || wanted >= frames) {
      problems.add(start.where + "/frame", fmt::format("the run has no frame {}", start.frame),
                   frames > 0 ? fmt::format("it has 0 to {}", frames - 1) : "run it for longer");
      return clamps;
    }
    const Frame frame = run.read(wanted, {.moment = false, .sections = false});
    const auto is_finite_place = [](const Vec3d& x) { return is_finite(x); };
    if (!std::all_of(frame.vertex_position.begin(), frame.vertex_position.end(), is_finite_place) ||
        !std::all_of(frame.vertex_velocity.begin(), frame.vertex_velocity.end(), is_finite_place) ||
        !std::all_of(frame.segment_frame.begin(), frame.segment_frame.end(), [](const Quatd& q) { return norm2(q) > 0.5; })) {
      problems.add(at, fmt::format("frame {} of the run has numbers that are not finite", wanted), "choose an earlier `frame`");
      return clamps;
    }
    take_over(frame, model, state);
    if (model.has_inertia() && frame.segment_spin.empty())
      warnings.push_back(at + ": the run has no record of how fast its segments turn: they start without turning");
    if (!run.double_precision())
      warnings.push_back(at + ": the run was recorded in float, whose rounding stiff rods feel as small strains");
    for (std::size_t c = 0; c < frame.clamp_frame.size(); ++c)
      if (const Quatd& q = frame.clamp_frame[c]; norm2(q) > 0.5) clamps[run.model().anchor_vertex[c]] = normalized(q);
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) problems.add(at, p.where + ": " + p.what, p.remedy);
  } catch (const RunError& error) {
    problems.add(at, error.what(), "run the scene again");
  }
  return clamps;
}

}  // namespace osier

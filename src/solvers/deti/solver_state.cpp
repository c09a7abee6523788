// Between a state and the unknowns of fibres: what the memory knows, or what the state's frames tell.
#include <algorithm>
#include <cmath>

#include "math/quat.hpp"
#include "solvers/deti/deti_solver.hpp"
#include "solvers/deti/fibre_statics.hpp"

namespace osier::deti {

namespace {

Quatd frame_of(const Chain& c, std::size_t k, const State& state, const Memory& memory) {
  double u[kUnknowns];
  put_unknowns(c, k, state, memory, u);
  return section_frame(u);
}

}  // namespace

/// Whether the memory belongs to the state: its sections have the frames of the state's segments, and velocities are as they were
/// left.
bool Deti::fits(const Chain& c, const State& state, const Memory& memory) const {
  constexpr double kSame = 1e-9;
  Quatd first{};
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    double size = 0;
    for (std::size_t i = 0; i < 9; ++i) size += std::abs(memory.sections[9 * v + i]);
    if (!(size > 0)) return false;
    // Sections of another width are no sections of this fibre.
    const double* a = &memory.sections[9 * v];
    constexpr double kWide = 0.3;
    if (!(std::abs(norm(Vec3d{a[0], a[1], a[2]}) - 0.5 * c.fibre.side) < kWide * c.fibre.side)) return false;
    const Quatd second = frame_of(c, k, state, memory);
    if (k > 0) {
      const auto u = static_cast<std::size_t>(c.vertices[k - 1]);
      const Quatd q = segment_frame(state.vertex_position[u], state.vertex_position[v], first, second);
      const Quatd& known = state.frame_rotation[c.segments[k - 1]];
      if (!(std::min(norm(q - known), norm(q + known)) < kSame)) return false;
    }
    const Vec3d& w = state.vertex_velocity[v];
    if (w.x != memory.velocity[kUnknowns * v] || w.y != memory.velocity[kUnknowns * v + 1] ||
        w.z != memory.velocity[kUnknowns * v + 2])
      return false;
    first = second;
  }
  return true;
}

/// Sections from the state's frames, unless they are `known`, and velocities of unknowns into the memory's motion.
void Deti::begin_to_move(const Model& m, const Chain& c, const State& state, Memory& memory, bool known) const {
  if (!known) {
    const std::vector<Quatd> frames = section_frames(m, c, state.frame_rotation);
    for (std::size_t k = 0; k < c.vertices.size(); ++k) {
      double u[kUnknowns];
      put_section({}, frames[k], c.fibre.side, u);
      for (std::size_t i = 0; i < 9; ++i) memory.sections[9 * static_cast<std::size_t>(c.vertices[k]) + i] = u[3 + i];
    }
  }
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    double* w = &memory.motion[kUnknowns * v];
    const Vec3d& own = state.vertex_velocity[v];
    w[0] = own.x, w[1] = own.y, w[2] = own.z;
    if (known) continue;
    // Sections turn with the segments beside them.
    Vec3d spin{};
    int count = 0;
    for (const std::size_t s : {k - 1, k}) {
      if (s >= c.segments.size()) continue;
      const Index a = c.vertices[s], b = c.vertices[s + 1];
      const Vec3d e = state.vertex_position[b] - state.vertex_position[a];
      spin += (1 / norm2(e)) * cross(e, state.vertex_velocity[b] - state.vertex_velocity[a]);
      ++count;
    }
    spin = (1.0 / count) * spin;
    for (std::size_t a = 0; a < 3; ++a) {
      const double* s = &memory.sections[9 * v + 3 * a];
      const Vec3d turn = cross(spin, Vec3d{s[0], s[1], s[2]});
      w[3 + 3 * a] = turn.x, w[4 + 3 * a] = turn.y, w[5 + 3 * a] = turn.z;
    }
  }
}

void Deti::load(const Model& m, const Control& c, const State& state, const Memory& memory, std::size_t own, int lane, double h,
                const FibreView& view) const {
  const Chain& fibre = chain(own);
  const auto at = [&](Index i) { return i * view.lanes + lane; };
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k) {
    double u[kUnknowns];
    put_unknowns(fibre, k, state, memory, u);
    const double* w = &memory.motion[kUnknowns * static_cast<std::size_t>(fibre.vertices[k])];
    for (Index i = 0; i < kUnknowns; ++i) {
      const Index unknown = static_cast<Index>(k) * kUnknowns + i;
      view.y[at(unknown)] = u[i];
      view.w[at(unknown)] = w[i];
      view.velocity[at(unknown)] = w[i];
    }
  }
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k) view.starting[at(static_cast<Index>(k))] = starts_[own] ? 1 : 0;
  load_control(m, c, fibre, lane, h, view);
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i)
      view.load[at(static_cast<Index>(kUnknowns * k + i))] += memory.push[3 * static_cast<std::size_t>(fibre.vertices[k]) + i];
  // The printed scheme knows drag as a force.
  for (std::size_t k = 0; is_printed() && k < fibre.vertices.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      const Index unknown = static_cast<Index>(kUnknowns * k + i);
      view.load[at(unknown)] -= c.vertex_damping[fibre.vertices[k]] * view.w[at(unknown)];
    }
  if (!held_back_ || !touches_[own]) return;
  // What contact has held back does not arrive.
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      const Index unknown = static_cast<Index>(kUnknowns * k + i);
      if (view.free[at(unknown)] == 0) view.target[at(unknown)] = view.y[at(unknown)] + h * view.w[at(unknown)];
    }
}

/// Loads, what is held, and drag.
void Deti::load_control(const Model& m, const Control& c, const Chain& fibre, int lane, double h, const FibreView& view) const {
  const auto at = [&](Index i) { return i * view.lanes + lane; };
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k) {
    const Index section = static_cast<Index>(k), v = fibre.vertices[k], first = section * kUnknowns;
    const Held held = held_unknowns(c, fibre, k);
    for (Index i = 0; i < kUnknowns; ++i) {
      view.free[at(first + i)] = (i < 3 ? held.centre : held.frame) ? 0 : 1;
      view.target[at(first + i)] = held.target[i];
      view.load[at(first + i)] = 0;
    }
    const Vec3d& f = c.vertex_force[v];
    view.load[at(first)] = f.x;
    view.load[at(first + 1)] = f.y;
    view.load[at(first + 2)] = f.z;
    const double x = h * (settings_.alpha0 + c.vertex_damping[v] / m.vertex_mass[v]);
    constexpr double kSeries = 1e-4;
    const double p0 = x > 0 ? -std::expm1(-x) / x : 1;
    view.decay[at(section)] = std::exp(-x);
    view.reach[at(section)] = std::sqrt(p0);
    view.lead[at(section)] = x > kSeries ? (1 - p0) / x : 0.5 - x / 6 + x * x / 24;
  }
}

void Deti::store(const Chain& c, int lane, const FibreView& view, State& state, Memory& memory) const {
  const auto at = [&](Index i) { return i * view.lanes + lane; };
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    const Index first = static_cast<Index>(k) * kUnknowns;
    state.vertex_position[v] = {view.y[at(first)], view.y[at(first + 1)], view.y[at(first + 2)]};
    for (std::size_t i = 0; i < 9; ++i) memory.sections[9 * v + i] = view.y[at(first + 3 + static_cast<Index>(i))];
    for (std::size_t i = 0; i < kUnknowns; ++i) memory.motion[kUnknowns * v + i] = view.w[at(first + static_cast<Index>(i))];
    double* own = &memory.velocity[kUnknowns * v];
    for (std::size_t i = 0; i < kUnknowns; ++i) own[i] = view.velocity[at(first + static_cast<Index>(i))];
    state.vertex_velocity_previous[v] = state.vertex_velocity[v];
    state.vertex_velocity[v] = {own[0], own[1], own[2]};
  }
  place_frames(c, state, memory);
}

void Deti::place_frames(const Chain& c, State& state, const Memory& memory) const {
  Quatd first = frame_of(c, 0, state, memory);
  for (std::size_t k = 0; k < c.segments.size(); ++k) {
    const Quatd second = frame_of(c, k + 1, state, memory);
    const Quatd q = segment_frame(state.vertex_position[c.vertices[k]], state.vertex_position[c.vertices[k + 1]], first, second);
    state.frame_rotation[c.segments[k]] = q;
    first = second;
  }
}

/// The first mean velocity of a fibre into the memory.
void Deti::keep_first_motion(std::size_t own, const FibreView& view, int lane, Memory& memory) const {
  if (!starts_[own]) return;
  const std::vector<Index>& vertices = chain(own).vertices;
  for (std::size_t k = 0; k < vertices.size(); ++k)
    for (std::size_t i = 0; i < kUnknowns; ++i)
      memory.motion[kUnknowns * static_cast<std::size_t>(vertices[k]) + i] =
          view.w[(kUnknowns * k + i) * static_cast<std::size_t>(view.lanes) + static_cast<std::size_t>(lane)];
}

}  // namespace osier::deti

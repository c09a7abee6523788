#include "solvers/deti/fibre_reactions.hpp"

#include <algorithm>
#include <array>

#include "exec/aligned.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_springs.hpp"
#include "solvers/deti/fibre_statics.hpp"

namespace osier::deti {

namespace {

/// Forces on the unknowns of section k: of its springs, and of what damps them at the velocities at hand.
std::array<double, kUnknowns> forces_on(const Chain& c, std::size_t k, const State& state, const Memory& memory) {
  const std::size_t first = k > 0 ? k - 1 : 0, last = std::min(k + 1, c.vertices.size() - 1);
  // A piece of the fibre has all springs of the section.
  Fibre piece;
  piece.side = c.fibre.side;
  for (std::size_t i = first; i <= last; ++i) {
    piece.mass.push_back(c.fibre.mass[i]);
    piece.sections.push_back(c.fibre.sections[i]);
    if (i < last) piece.cuboids.push_back(c.fibre.cuboids[i]);
  }
  AlignedArray<double> model(model_numbers(piece.size(), 1), 0.0), step(step_numbers(piece.size(), 1, Variant::double_pole), 0.0);
  const FibreView view = view_of(piece.size(), 1, Variant::double_pole, model.data(), step.data());
  load_fibre(piece, view, 0);
  for (std::size_t i = first; i <= last; ++i) {
    put_unknowns(c, i, state, memory, view.y + kUnknowns * (i - first));
    std::copy_n(&memory.velocity[kUnknowns * static_cast<std::size_t>(c.vertices[i])], kUnknowns,
                view.w + kUnknowns * (i - first));
  }
  std::fill_n(view.free, kUnknowns * piece.size(), 1.0);
  const Springs<double> springs{view};
  springs.forces();
  springs.product<Stiffness::viscous>(1.0, view.w, view.r1);
  std::array<double, kUnknowns> sum;
  for (std::size_t i = 0; i < kUnknowns; ++i)
    sum[i] = view.force[kUnknowns * (k - first) + i] - view.r1[kUnknowns * (k - first) + i];
  return sum;
}

}  // namespace

void FibreReactions::clear(const Model& m) {
  force.assign(static_cast<std::size_t>(m.vertex_count()), {});
  couple.assign(static_cast<std::size_t>(m.frame_count()), {});
}

void FibreReactions::measure(const Model& m, const Control& control, const Chain& c, const State& state, const Memory& memory,
                             double h) {
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const Held held = held_unknowns(control, c, k);
    if (!held.centre && !held.frame) continue;
    const std::array<double, kUnknowns> f = forces_on(c, k, state, memory);
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    if (held.centre) {
      const Vec3d& load = control.vertex_force[v];
      const Vec3d push{memory.push[3 * v], memory.push[3 * v + 1], memory.push[3 * v + 2]};
      const Vec3d rate = h > 0 ? (1 / h) * (state.vertex_velocity[v] - state.vertex_velocity_previous[v]) : Vec3d{};
      const Vec3d& velocity = state.vertex_velocity[v];
      force[v] +=
          m.vertex_mass[v] * rate + (h > 0 ? control.vertex_damping[v] : 0) * velocity - Vec3d{f[0], f[1], f[2]} - load - push;
    }
    if (!held.frame) continue;
    Index frame = c.anchor[k];
    if (frame < 0 || control.frame_control[frame] != FrameControl::fixed) {
      for (const std::size_t s : {k, k - 1})
        if (s < c.segments.size() && control.frame_control[c.segments[s]] == FrameControl::fixed) frame = c.segments[s];
    }
    Vec3d sum;
    const double* a = &memory.sections[9 * v];
    for (std::size_t i = 0; i < 3; ++i)
      sum -= cross(Vec3d{a[3 * i], a[3 * i + 1], a[3 * i + 2]}, Vec3d{f[3 + 3 * i], f[4 + 3 * i], f[5 + 3 * i]});
    couple[static_cast<std::size_t>(frame)] += sum;
  }
}

}  // namespace osier::deti

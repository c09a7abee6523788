#include "solvers/deti/fibre_energy.hpp"

#include "exec/aligned.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_springs.hpp"
#include "solvers/solver_memory.hpp"

namespace osier::deti {

constexpr MemoryDeclaration kSections{"deti/sections", ElementKind::vertex, 9};
constexpr MemoryDeclaration kMotion{"deti/motion", ElementKind::vertex, kUnknowns};
constexpr MemoryDeclaration kVelocity{"deti/velocity", ElementKind::vertex, kUnknowns};
constexpr MemoryDeclaration kStep{"deti/step", ElementKind::whole, 1};
constexpr MemoryDeclaration kPush{"deti/contact", ElementKind::vertex, 3};

Memory::Memory(const Model& m, State& state) {
  // Arrays may move when one is added, so they are looked up once all are there.
  for (const MemoryDeclaration& d : {kSections, kMotion, kVelocity, kStep, kPush}) solver_memory(state, m, d);
  sections = solver_memory(state, m, kSections);
  motion = solver_memory(state, m, kMotion);
  velocity = solver_memory(state, m, kVelocity);
  step = solver_memory(state, m, kStep);
  push = solver_memory(state, m, kPush);
}

void put_unknowns(const Chain& c, std::size_t k, const State& state, const Memory& memory, double* u) {
  const auto v = static_cast<std::size_t>(c.vertices[k]);
  const Vec3d& x = state.vertex_position[v];
  u[0] = x.x, u[1] = x.y, u[2] = x.z;
  for (std::size_t i = 0; i < 9; ++i) u[3 + i] = memory.sections[9 * v + i];
}

NetworkEnergy network_energy(const Model& model, const Settings& settings, State& state) {
  NetworkEnergy sum;
  const Memory memory(model, state);
  for (const Chain& c : plan_fibres(model, settings).chains) {
    AlignedArray<double> numbers(model_numbers(c.fibre.size(), 1), 0.0), y(c.vertices.size() * kUnknowns);
    FibreView view = view_of(c.fibre.size(), 1, settings.variant, numbers.data(), nullptr);
    load_fibre(c.fibre, view, 0);
    for (std::size_t k = 0; k < c.vertices.size(); ++k) {
      put_unknowns(c, k, state, memory, y.data() + k * kUnknowns);
      const double* v = &memory.velocity[kUnknowns * static_cast<std::size_t>(c.vertices[k])];
      for (int i = 0; i < kUnknowns; ++i) sum.kinetic += 0.5 * c.fibre.mass[k] * v[i] * v[i];
    }
    view.y = y.data();
    sum.elastic += Springs<double>{view}.energy();
  }
  return sum;
}

}  // namespace osier::deti

// Rods that touch: a model with contact, stepped by a solver without a scene around it.
#pragma once

#include <functional>
#include <memory>
#include <numbers>
#include <vector>

#include "contact/contacts.hpp"
#include "model/rod_graph.hpp"
#include "solvers/solver.hpp"
#include "support/problem.hpp"

namespace osier::test {

struct RoundRod {
  double young = 1e6;  ///< [Pa]
  double radius = 4e-3;
  double density = 1000;
  double bend_share = 1;  ///< of the bending stiffness of a solid rod
};

/// Of a round rod with Poisson's ratio 1/2 and, as in the paper, one stiffness for stretch and shear and one for bend and twist.
inline Section section_of(const RoundRod& rod) {
  const double area = std::numbers::pi * rod.radius * rod.radius;
  Section s;
  s.stretch_shear = rod.young * area;
  s.bend_twist = rod.bend_share * rod.young * area * rod.radius * rod.radius / 4;
  s.line_density = rod.density * area;
  s.radius = rod.radius;
  return s;
}

class ContactScene {
 public:
  RodGraph graph;
  Model model;
  State state;
  Control control;
  contact::Settings settings;
  double friction = 0;
  contact::Contacts contacts;
  Vec3d gravity;
  std::vector<Vec3d> loads;  ///< on vertices, beside gravity [N]
  std::vector<std::shared_ptr<contact::Obstacle>> obstacles;
  contact::Record touched;
  StepReport report;
  int most_iterations = 0, unconverged = 0;
  long steps = 0, iterations = 0;

  std::vector<Index> add_rod(const std::vector<Vec3d>& points, const RoundRod& rod, bool closed = false) {
    std::vector<Index> path;
    for (const Vec3d& p : points) path.push_back(graph.add_vertex(p));
    graph.add_chain("rod" + std::to_string(graph.rods.size()), path, section_of(rod), closed);
    return path;
  }
  std::vector<Index> add_line(const Vec3d& from, const Vec3d& to, int segments, const RoundRod& rod) {
    std::vector<Vec3d> points;
    for (int i = 0; i <= segments; ++i) points.push_back(from + (static_cast<double>(i) / segments) * (to - from));
    return add_rod(points, rod);
  }
  void hold(Index v) { control.vertex_fixed[v] = 1; }
  /// Both vertices of a segment and its frame.
  void clamp(Index segment) {
    for (const Index v : model.segment_vertices[segment]) hold(v);
    control.frame_control[segment] = FrameControl::fixed;
  }

  /// After the rods, before holds.
  void build() {
    model = compile_graph(graph);
    state = initial_state(graph, model);
    control = still_control(model, state);
  }
  /// After the holds.
  void begin(std::unique_ptr<Solver> made) {
    contact::FrictionTable table;
    table.value[0] = friction;
    contacts =
        contact::Contacts(model, state, settings, table, std::vector<Index>(static_cast<std::size_t>(model.segment_count()), 0));
    for (const auto& obstacle : obstacles) contacts.add(obstacle, 0);
    solver = std::move(made);
    solver->declare_memory(model, state);
  }
  void begin(const std::string& name = "direct", int threads = 1) {
    auto chosen = make_settings(name);
    chosen->execution.threads = threads;
    begin(chosen->make(model));
  }
  void step(double h) {
    for (Index v = 0; v < model.vertex_count(); ++v) control.vertex_force[v] = model.vertex_mass[v] * gravity;
    for (std::size_t v = 0; v < loads.size(); ++v) control.vertex_force[v] += loads[v];
    contacts.set_step(state.time, state.time + h);
    report = solver->step(StepInput{model, control, control, contacts, h, &touched}, state);
    state.time += h;
    ++state.step_index;
    ++steps;
    iterations += report.iterations;
    most_iterations = std::max(most_iterations, report.iterations);
    unconverged += report.not_converged ? 1 : 0;
  }

  std::unique_ptr<Solver> solver;
};

}  // namespace osier::test

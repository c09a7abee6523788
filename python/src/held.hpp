// A simulation in the hands of Python.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <stdexcept>
#include <vector>

#include "osier/osier.hpp"

namespace osier::python {

/// One step at a time: two threads must not step the same simulation, and nobody changes it meanwhile.
class Running {
 public:
  explicit Running(std::atomic<bool>& flag) : flag_(flag) {
    if (flag_.exchange(true)) throw std::runtime_error("this simulation is being stepped in another thread");
  }
  ~Running() { flag_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool>& flag_;
};

struct Held {
  explicit Held(const Scene& scene) : simulation(scene) { simulation.keep_addresses(); }
  explicit Held(Simulation&& other) : simulation(std::move(other)) { simulation.keep_addresses(); }
  Simulation simulation;
  std::atomic<bool> running = false;
  /// What arrays of Python look at; the memory stays where it is once they do.
  enum Section { force, strain, moment, curvature, joint_moment, joint_curvature, kSections };
  std::array<std::vector<Vec3d>, kSections> sections;
  std::vector<Wrench> reactions;  ///< of constraints, after every call of step(), once they were asked for
  void measure_reactions() {
    for (std::size_t i = 0; i < reactions.size(); ++i) reactions[i] = simulation.reaction(i);
  }
  /// For whoever changes it.
  Simulation& idle() {
    if (running) throw std::runtime_error("this simulation is being stepped in another thread");
    return simulation;
  }
};

}  // namespace osier::python

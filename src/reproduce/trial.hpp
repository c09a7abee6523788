// A scene of a paper with some of its settings changed, stepped to where a figure looks at it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "osier/osier.hpp"

namespace osier::reproduction {

class Trial {
 public:
  /// `changes`: as for --set, "/solver/iterations=10".
  Trial(const std::filesystem::path& scene, const std::vector<std::string>& changes);

  void step();
  /// Steps until this time [s].
  void run_to(double time);
  /// Steps until nothing has moved by more than `still` of the rod's length in a tenth of a second, but no longer than until this
  /// time. Tells whether it has come to rest.
  bool settle(double still, double latest);

  Simulation& simulation() { return *simulation_; }
  const State& state() const { return simulation_->state(); }
  const Model& model() const { return simulation_->model(); }
  /// Largest distance of two rest vertices [m].
  double length() const { return length_; }
  /// A vertex by its fraction of the rod's vertices, over the length.
  Vec3d at(double fraction) const;
  /// The rod's x and y, or y and z, over its length.
  std::vector<std::pair<double, double>> outline(int across = 0, int up = 1) const;
  /// Wall time and steps so far.
  double seconds() const { return seconds_; }
  long steps() const { return steps_; }
  long iterations() const { return iterations_; }
  bool finite() const { return finite_; }

 private:
  std::unique_ptr<Simulation> simulation_;
  double length_ = 0, seconds_ = 0;
  long steps_ = 0, iterations_ = 0;
  bool finite_ = true;
};

}  // namespace osier::reproduction

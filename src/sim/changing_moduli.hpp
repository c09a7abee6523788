// Materials whose moduli change while a simulation runs: factors on E and G over time, and the stiffnesses of the model by them.
#pragma once

#include <vector>

#include "core/archive.hpp"
#include "osier/model.hpp"
#include "scene/setup.hpp"

namespace osier {

class ChangingModuli {
 public:
  ChangingModuli() = default;
  explicit ChangingModuli(const Setup& setup);
  bool empty() const { return tracks_.empty(); }
  /// Whether stiffnesses at time t are others than those that were set last.
  bool changes(double t) const;
  /// Gives `model`, which is that of the scene but for what broke or was welded, the stiffnesses of time t: EA and EI are
  /// multiplied by the factor on E, GA and GJ by that on G. A joint takes the mean of its two segments' factors.
  void set(double t, const Model& scene, Model& model);
  /// The factors that were set last.
  void carry(Archive& archive) { archive(now_); }

 private:
  struct Factors {
    double young = 1, shear = 1;
    bool operator==(const Factors&) const = default;
  };
  std::vector<Factors> at(double t) const;

  struct Tracks {
    Track<double> young, shear;
  };
  std::vector<Tracks> tracks_;
  std::vector<Index> track_of_;  ///< per segment, or -1
  std::vector<Factors> now_;     ///< per track
};

}  // namespace osier

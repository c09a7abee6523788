// Frequency and damping of a free vibration. The signal is the displacement from the rest shape, projected on the displacement
// it started with and weighted by mass (and by rotational inertia, where there is any),
//
//   a(t) = sum m u(t).u(0) + sum J theta(t).theta(0)
//
// Modes are orthogonal in that product, so what the start has of other modes counts with its square only.
#pragma once

#include "integration/integrator.hpp"
#include "validate/instrument.hpp"

namespace osier::validate {

class Vibration final : public Instrument {
 public:
  std::string rod;
  int skip = 0;

  static const char* kind() { return "vibration"; }
  static const char* help() {
    return "Frequency [Hz] and damping ratio of a free vibration. Columns: frequency, damping_ratio (implicit Euler's own shift "
           "and damping taken out, exactly), raw_frequency, raw_damping (as the samples show them), mode_damping (as the "
           "samples show it, with other modes told apart).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("rod", rod, "Which rod; the first when left out");
    f("skip", skip, "Zero crossings to leave out at the start", {.min = 0});
  }
  void prepare(const Scene& scene, Problems& problems) override;
  std::vector<std::string> columns() const override {
    return {"frequency", "damping_ratio", "raw_frequency", "raw_damping", "mode_damping"};
  }
  void start(const Simulation& simulation) override;
  void step(const Simulation& simulation) override { samples_.push_back(amplitude(simulation)); }
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  double amplitude(const Simulation& simulation) const;
  Vec3d turn(const State& state, Index segment) const;  ///< rotation vector from the rest frame, in its axes

  std::vector<Index> vertices_, segments_;
  State rest_;
  std::optional<TimeIntegrator> integrator_;
  std::vector<Vec3d> weight_, turn_weight_;  ///< m u(0) per vertex, J theta(0) per segment
  std::vector<double> samples_;
};

}  // namespace osier::validate

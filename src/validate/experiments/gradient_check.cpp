#include "validate/experiments/gradient_check.hpp"

#include "validate/experiments/workbench.hpp"

namespace osier::validate {

namespace {

/// d f(t)/dt at 0: central, of fourth order.
template <class F>
double derivative(const F& f, double e) {
  return (8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * e);
}

Vec3d unit(int i) { return {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0}; }

struct Errors {
  double position = 0, frame = 0;
};

void compare(const Workbench& w, const Place& at, Errors& worst) {
  const StepPotential potential = w.potential(at);
  std::vector<Vec3d> gx, gw;
  potential.gradient(w.unknowns(at), gx, gw);
  const double scale_x = largest(gx), scale_w = largest(gw);
  Place trial = at;
  const auto value = [&] { return potential.value(w.unknowns(trial)).total(); };
  for (Index v = 0; v < w.model.vertex_count(); ++v) {
    if (w.control.vertex_fixed[v]) continue;  // carries a reaction, which the value does not know
    const double l = w.model.segment_rest_length[w.model.vertex_segments.of(v)[0] / 2];
    for (int i = 0; i < 3; ++i) {
      const double numeric = derivative([&](double t) { return trial.x[v] = at.x[v] + t * unit(i), value(); }, 3e-3 * l);
      worst.position = std::max(worst.position, std::abs(numeric - dot(gx[v], unit(i))) / scale_x);
    }
    trial.x[v] = at.x[v];
  }
  for (Index s = 0; s < w.model.segment_count(); ++s) {
    if (w.control.frame_control[s] == FrameControl::fixed) continue;
    const auto turned = [&](double t, int i) { return normalized(rotation_exp(t * unit(i)) * at.q[s]); };
    for (int i = 0; i < 3; ++i) {
      const double numeric = derivative([&](double t) { return trial.q[s] = turned(t, i), value(); }, 1e-3);
      worst.frame = std::max(worst.frame, std::abs(numeric - dot(gw[s], unit(i))) / scale_w);
    }
    trial.q[s] = at.q[s];
  }
}

}  // namespace

std::vector<double> GradientCheck::examine(const Json& json, const std::filesystem::path& folder) {
  const Workbench scene(json, folder);
  Random random(seed);
  Errors worst;
  for (int i = 0; i < samples; ++i) {
    Workbench w = scene;
    w.shake(strain, random);
    Place at = w.nearby(strain, random);
    while (w.least_cosine(at) < 0.05) at = w.nearby(strain, random);  // differences across a kink mean nothing
    compare(w, at, worst);
  }
  return {worst.position, worst.frame};
}

}  // namespace osier::validate

#include "scene/spec.hpp"

#include <algorithm>
#include <cmath>

#include "core/fields.hpp"

namespace osier {

namespace {
constexpr double kUsualFps = 30;
/// Whole numbers, whatever the last bit of a quotient says.
int whole_number_above(double x) { return std::max(1, static_cast<int>(std::ceil(x * (1 - 1e-12) - 1e-9))); }
}  // namespace

bool StartSpec::read_short(const Json& j, const std::string& at, Problems& problems) {
  if (!j.is_string()) return false;
  where = at;
  if (j.get<std::string>() != "equilibrium")
    problems.add(at, shorten(j) + " is not a start", R"(write "equilibrium", or {"run": "out/folder", "frame": -1})");
  return true;
}

OrderedJson StartSpec::short_schema(FieldDoc& doc) {
  doc.type = "`equilibrium`, or a [start](#start)";
  return {{"const", "equilibrium"}};
}

bool CheckpointSpec::read_short(const Json& j, const std::string& at, Problems& problems) {
  if (!j.is_string()) return false;
  where = at;
  off = true;
  if (j.get<std::string>() != "none")
    problems.add(at, shorten(j) + " is not a checkpoint", R"(write "none", {"frames": 10} or {"minutes": 5})");
  return true;
}

OrderedJson CheckpointSpec::short_schema(FieldDoc& doc) {
  doc.type = "`none`, or a [checkpoint](#checkpoint)";
  return {{"const", "none"}};
}

bool GroundSpec::read_short(const Json& j, const std::string& at, Problems& problems) {
  if (j.is_number()) height = j.get<double>();
  else if (j != "none") problems.add(at, shorten(j) + " is not a ground", R"(give its height in metres, or write "none")");
  return true;
}

OrderedJson GroundSpec::short_schema(FieldDoc& doc) {
  doc.type = "number or `none`";
  return {{"anyOf", {{{"type", "number"}}, {{"const", "none"}}}}};
}

int DynamicAnalysis::steps_per_frame() const {
  return frame_steps ? *frame_steps : whole_number_above(1 / (fps.value_or(kUsualFps) * step));
}

double DynamicAnalysis::time_step() const {
  return frame_steps && step_given_ ? step : 1 / (fps.value_or(kUsualFps) * steps_per_frame());
}

double DynamicAnalysis::frames_per_second() const {
  return frame_steps && step_given_ ? 1 / (step * *frame_steps) : fps.value_or(kUsualFps);
}

int DynamicAnalysis::frame_count() const { return whole_number_above(duration * frames_per_second()); }

TimeIntegrator SceneSpec::integrator() const {
  const Traits traits = solver->traits();
  // The curve of a motor says nothing beyond its no-load speed, which implicit Euler does not pass.
  const auto is_driven = [](const auto& c) {
    const auto* motor = dynamic_cast<const Motor*>(c.get());
    return motor && motor->torque_speed.given();
  };
  const bool driven = std::any_of(constraints.begin(), constraints.end(), is_driven);
  const bool second_order = traits.integrators && solver->role() != SolverRole::sweeps && !driven && !contact;
  const IntegratorKind usual = second_order ? IntegratorKind::bdf2 : IntegratorKind::implicit_euler;
  return {dynamic()->integrator.value_or(usual), dynamic()->rho_infinity};
}

}  // namespace osier

#include "validate/trial.hpp"

#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "core/json_reader.hpp"
#include "scene/setup.hpp"
#include "scene/solver_spelling.hpp"
#include "sim/probes.hpp"
#include "validate/relax.hpp"
#include "validate/shape.hpp"

namespace osier::validate {

namespace {

using Instruments = std::vector<std::unique_ptr<Instrument>>;

Values parameters_of(const CaseSpec& spec, const RunSpec& run, std::optional<int> resolution, Problems& problems) {
  std::map<std::string, Formula> formulas = spec.parameters;
  for (const auto& [name, formula] : run.parameters) formulas[name] = formula;
  Values values;
  if (resolution) values[spec.resolution->name] = *resolution;
  resolve(formulas, values, problems);
  return values;
}

std::string in_file(const CaseSpec& spec, const std::string& pointer) { return spec.file.filename().string() + pointer; }

Instruments read_instruments(const Json& json, const std::string& where, const Scene& scene, Problems& problems) {
  Instruments instruments;
  if (json.is_null()) return instruments;
  JsonReader reader(json, "", problems);
  reader.read(json, where, instruments, FieldInfo{});
  for (const auto& i : instruments)
    if (i) i->prepare(scene, problems);
  std::erase(instruments, nullptr);
  return instruments;
}

std::unique_ptr<Experiment> read_experiment(const Trial& trial, Problems& problems) {
  std::unique_ptr<Experiment> experiment;
  if (trial.experiment.is_null()) return experiment;
  JsonReader reader(trial.experiment, "", problems);
  reader.read(trial.experiment, in_file(*trial.spec, "/experiment"), experiment, FieldInfo{});
  return experiment;
}

void put(Values& values, const std::string& prefix, const std::vector<std::string>& names, const std::vector<double>& numbers) {
  for (std::size_t i = 0; i < names.size(); ++i) values[prefix + names[i]] = numbers.at(i);
}

constexpr const char* kStateNames[] = {
    "time", "energy.kinetic", "energy.stretch_shear", "energy.bend_twist", "energy.external", "energy.total"};

void measure(const Simulation& simulation, const Setup& setup, Instruments& instruments, Values& values) {
  const Diagnostics d = simulation.diagnostics();
  const double numbers[] = {d.time, d.kinetic, d.stretch_shear, d.bend_twist, d.external, d.total()};
  for (std::size_t i = 0; i < std::size(numbers); ++i) values[kStateNames[i]] = numbers[i];
  std::vector<double> probes;
  probe_values(setup, simulation, probes);
  put(values, "", probe_columns(setup), probes);
  for (const auto& i : instruments) put(values, i->name + ".", i->columns(), i->finish(simulation));
}

std::string first_line(const InputError& e) {
  std::string text = to_string(e.problems().front());
  if (e.problems().size() > 1) text += fmt::format(" (and {} more)", e.problems().size() - 1);
  return text;
}

/// The largest left-over force of a run over the largest force at work in it: steps before the load comes have only rounding to
/// be relative to.
std::optional<double> worst_residual(const std::vector<std::pair<double, double>>& residuals) {
  if (residuals.empty()) return {};
  double left_over = 0, at_work = 0;
  for (const auto& [value, relative] : residuals) {
    left_over = std::max(left_over, value);
    if (relative > 0) at_work = std::max(at_work, value / relative);
  }
  return at_work > 0 ? left_over / at_work : 0;
}

}  // namespace

long step_count(const Setup& setup) {
  if (const auto* d = setup.spec.dynamic()) return std::max(1L, std::lround(std::ceil(d->duration / d->step - 1e-9)));
  return setup.spec.statics()->load_steps;
}

void run_to_end(const Json& json, const Json& instrument_list, const std::string& where, const std::filesystem::path& folder,
                Outcome& out, const Trial* trial) {
  const Scene scene = Scene::parse(json.dump(), "case", folder);
  out.solver = scene.setup().spec.solver->name();
  Problems problems;
  Instruments instruments = read_instruments(instrument_list, where, scene, problems);
  problems.throw_if_any();
  Simulation simulation(scene);
  for (const auto& i : instruments) i->start(simulation);
  const long steps = step_count(scene.setup());
  const bool relaxing = trial && is_static(trial->scene) && !is_static(json);
  RestWatch watch(relaxing ? trial->scene["analysis"].value("duration", 1.0) : 0,
                  relaxing ? schedule_of(trial->scene).rest_tolerance : 0);
  std::vector<std::pair<double, double>> residuals;  // [N], and over the largest force at work
  bool last = false, rest = false;
  for (long k = 0; !last && !simulation.finished(); ++k, ++out.steps) {
    last = rest || k + 1 == steps;
    const StepReport report = simulation.step(last);
    rest = relaxing && watch.at_rest(simulation.state());
    out.iterations += report.iterations;
    out.steps_not_converged += report.not_converged ? 1 : 0;
    if (report.residual_relative >= 0) residuals.emplace_back(report.residual, report.residual_relative);
    for (const auto& i : instruments) i->step(simulation);
  }
  out.residual = worst_residual(residuals);
  if (stops_at_instability(json) && !simulation.finished()) throw RunError("it is still stable under the full load");
  measure(simulation, scene.setup(), instruments, out.values);
  if (trial && trial->shape) out.rod = rod_of(*trial->shape, scene, simulation.state());
}

Trial make_trial(const CaseSpec& spec, const RunSpec& run, std::optional<int> resolution, Problems& problems) {
  Trial t{.spec = &spec,
          .run = &run,
          .resolution = resolution,
          .parameters = parameters_of(spec, run, resolution, problems),
          .scene = {},
          .instruments = {},
          .experiment = {},
          .shape = {}};
  Json scene = spec.scene.value;
  if (!run.scene.value.is_null()) scene.merge_patch(run.scene.value);
  t.scene = fill(scene, t.parameters, in_file(spec, "/scene"), problems);
  const auto own_or_common = [&](const RawJson& own, const RawJson& common) {
    const RawJson& chosen = own.value.is_null() ? common : own;
    return fill(chosen.value, t.parameters, chosen.where, problems);
  };
  t.instruments = own_or_common(run.instruments, spec.instruments);
  t.experiment = own_or_common(run.experiment, spec.experiment);
  t.shape = shape_of(t, problems);
  return t;
}

void check_trial(const Trial& trial, Problems& problems) {
  Values values = trial.parameters;
  try {
    const Scene scene = Scene::parse(trial.scene.dump(), trial.spec->name, trial.spec->file.parent_path());
    const std::unique_ptr<Experiment> experiment = read_experiment(trial, problems);
    if (experiment) {
      for (const std::string& name : experiment->columns()) values[name] = 1;
    } else {
      for (const char* name : kStateNames) values[name] = 1;
      for (const std::string& name : probe_columns(scene.setup())) values[name] = 1;
      for (const auto& i : read_instruments(trial.instruments, in_file(*trial.spec, "/instruments"), scene, problems))
        for (const std::string& name : i->columns()) values[i->name + "." + name] = 1;
    }
    if (trial.shape) {
      find_rod(scene, trial.shape->rod, in_file(*trial.spec, "/shape/rod"), problems);
      curve_of(*trial.shape, trial.parameters, problems);
    }
  } catch (const InputError& e) {
    for (const Problem& p : e.problems()) problems.add(in_file(*trial.spec, "/scene" + p.where), p.what, p.remedy);
    return;
  }
  for (const ExpectSpec* e : trial.spec->expectations(*trial.run)) {
    e->value.value(values, problems);
    const double reference = e->reference.value(trial.parameters, problems);
    if (e->error == ErrorKind::relative && reference == 0)
      problems.add(e->reference.where, "is 0, but the error is relative to it", R"(use "error": "absolute")");
    for (const Allowance* a : {&e->table, &e->within})
      if (const Formula* f = a->find(trial.resolution)) f->value(trial.parameters, problems);
  }
}

bool has_four_sweeps(const Trial& trial) {
  const bool too_long = is_static(trial.scene) && trial.resolution.value_or(0) > kRelaxedResolution;
  Problems ignored;
  const std::unique_ptr<Experiment> experiment = read_experiment(trial, ignored);
  const bool a_run = trial.experiment.is_null() || (experiment && experiment->runs_the_scene());
  return trial.spec->sweeps && a_run && !stops_at_instability(trial.scene) && !too_long;
}

Outcome run_trial(const Trial& trial, Mode mode, const std::string& solver) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Outcome out;
  out.values = trial.parameters;
  try {
    Json scene = trial.scene;
    if (mode == Mode::four_sweeps) scene = with_four_sweeps(std::move(scene));
    else if (!solver.empty()) scene = with_solver(std::move(scene), solver);
    Problems problems;
    if (const std::unique_ptr<Experiment> experiment = read_experiment(trial, problems)) {
      out.solver = solver_name_of(scene);
      problems.throw_if_any();
      put(out.values, "", experiment->columns(), experiment->examine(scene, trial.spec->file.parent_path()));
    } else {
      run_to_end(scene, trial.instruments, in_file(*trial.spec, "/instruments"), trial.spec->file.parent_path(), out, &trial);
    }
  } catch (const InputError& e) {
    out.error = first_line(e);
  } catch (const std::exception& e) {
    out.error = e.what();
  }
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return out;
}

}  // namespace osier::validate

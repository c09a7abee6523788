#include "validate/needs.hpp"

#include "scene/needs.hpp"
#include "validate/relax.hpp"

namespace osier::validate {

std::string unmet_need(const Trial& trial, const std::string& solver) {
  if (solver.empty()) return "";
  const std::string& of = trial.run->of_solver.empty() ? trial.spec->of_solver : trial.run->of_solver;
  if (!of.empty() && of != solver) return "the solver `" + of + "`";
  Json json = trial.scene;
  json.erase("execution");  // the other solver has its default
  const Scene scene = Scene::parse(json.dump(), trial.spec->name, trial.spec->file.parent_path());
  const bool relaxes = !trial.run->unstable && !stops_at_instability(trial.scene);
  const Traits traits = make_settings(solver)->traits();
  for (const Need& need : needs_of(scene.setup())) {
    const bool in_place_of_statics = need.trait == &Traits::statics && relaxes;
    if (!(traits.*need.trait) && !in_place_of_statics) return "a solver that can " + need.what;
  }
  return "";
}

}  // namespace osier::validate

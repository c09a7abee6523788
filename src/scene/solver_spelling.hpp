// Older spellings of solver and execution settings, translated in one place while a scene is loaded.
//
//   "method": "sweep" | "direct" | "auto"      the name stable_cosserat | direct | automatic
//   no name, but `order` or `lambda`           stable_cosserat, whose settings they are
//   no name                                    automatic
//   threads, simd, precision in the solver     in `execution`
//
// A bare {"name": "stable_cosserat"}, which used to choose for itself, means its sweeps, and is told so; in statics, which sweeps
// cannot do, it means `automatic`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/fields.hpp"

namespace osier {

/// Where values that were moved while loading stand in what the user wrote.
class WrittenPlaces {
 public:
  void moved(const std::string& now, const std::string& written) { written_[now] = written; }
  /// The place as the user knows it.
  std::string of(const std::string& pointer) const;

 private:
  std::map<std::string, std::string> written_;
};

/// Translates `solver` and `execution` of a scene. A scene that is spelled as it should be stays as it is, but its solver always
/// has a name: recorded scenes are read by others.
void translate_spellings(Json& scene, WrittenPlaces& places, Problems& problems, std::vector<std::string>& warnings);

/// A solver object of this name without settings.
Json solver_called(const std::string& name);

/// The solver that the scene asks for, in whatever spelling; empty when that cannot be told.
std::string solver_name_of(const Json& scene);

}  // namespace osier

// Scenes: load, check, look at.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "osier/error.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct Setup;

struct LoadOptions {
  std::string solver;                  ///< replaces the scene's solver, with that solver's defaults, before anything else
  std::vector<std::string> overrides;  ///< "/analysis/step=0.002": a JSON pointer and a JSON value (a bare word counts as text)
  std::string precision;               ///< for the execution object, when not empty
  std::optional<int> threads;          ///< likewise
  std::string simd;                    ///< likewise
  std::string device = {};             ///< likewise
  /// Where neither the scene nor `threads` says: at most this many, fewer where the scene is small or its solver works on one.
  int default_threads = 1;
};

/// A validated, compiled scene. Construction throws InputError with every problem found.
class Scene {
 public:
  static Scene load(const std::filesystem::path& file, const LoadOptions& options = {});
  static Scene parse(const std::string& text, const std::string& name = "scene", const std::filesystem::path& folder = ".",
                     const LoadOptions& options = {}, const std::string& source = {});

  const std::string& name() const;
  const std::string& json() const;  ///< as it will run, overrides included
  const std::vector<std::string>& warnings() const;
  /// Where a constraint or an obstacle of this name stands in its list; nothing when there is none.
  std::optional<std::size_t> constraint(const std::string& name) const;
  std::optional<std::size_t> obstacle(const std::string& name) const;
  std::vector<std::string> constraint_names() const;
  std::vector<std::string> obstacle_names() const;
  const Model& model() const;
  const State& initial_state() const;
  const Setup& setup() const { return *setup_; }
  explicit Scene(std::shared_ptr<const Setup> setup) : setup_(std::move(setup)) {}

 private:
  std::shared_ptr<const Setup> setup_;
  friend class Simulation;
};

/// Whether both begin in the same place: a run cannot go on in rods of another shape or size.
bool begin_alike(const Scene& a, const Scene& b);

/// The scene language, generated from the parameter descriptions.
std::string scene_schema();
std::string scene_reference();

}  // namespace osier

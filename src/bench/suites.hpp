// The suites. One file each, one line in registry.cpp.
#pragma once

#include <functional>
#include <span>

#include "bench/subject.hpp"
#include "osier/bench.hpp"

namespace osier::bench {

/// What a suite has to work with.
struct Context {
  const BenchOptions& options;
  std::vector<BenchRow>& rows;

  bool wants(const std::string& scene) const;
  void say(const std::string& what) const {
    if (options.progress) options.progress(what);
  }
};

struct Suite {
  const char* name;
  const char* help;
  void (*run)(Context& context);
  std::vector<std::string> (*scenes)();  ///< that --scene may choose from
};

std::span<const Suite> suites();

void run_scenes(Context& context);
void run_kernels(Context& context);
void run_convergence(Context& context);
void run_scaling(Context& context);
void run_contact(Context& context);
void run_fibres(Context& context);
void run_device(Context& context);
std::vector<std::string> scenes_of_scenes();
std::vector<std::string> scenes_of_kernels();
std::vector<std::string> scenes_of_convergence();
std::vector<std::string> scenes_of_scaling();
std::vector<std::string> scenes_of_contact();
std::vector<std::string> scenes_of_fibres();
std::vector<std::string> scenes_of_device();

/// Least squares through (log vertices, log ms) of the rows from `first` on.
double slope_of(const std::vector<BenchRow>& rows, std::size_t first);

/// A row that knows what it was measured on.
BenchRow row_for(const char* suite, const char* table, const std::string& subject, const Scene& scene, const Variant& variant);

}  // namespace osier::bench

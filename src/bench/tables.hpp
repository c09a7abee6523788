// Results as tables of words, before they become text or Markdown.
#pragma once

#include <string>
#include <vector>

#include "osier/bench.hpp"

namespace osier::bench {

struct Table {
  std::string title;
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};

/// Those that have rows.
std::vector<Table> tables(const Bench& bench);

/// "AMD EPYC, 2 cores, avx2; GCC 12.2.0; Osier 0.1.0"
std::string machine_text(const BenchMachine& machine);
/// A folder name: "amd-epyc-2-cores-avx2".
std::string machine_slug(const BenchMachine& machine);

}  // namespace osier::bench

// The files of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "osier/sweep.hpp"

namespace osier {

/// `sweep.csv`, `sweep.h5` and `index.html`.
void write_sweep(const SweepTable& table, const std::filesystem::path& folder);
void write_sweep_table(const SweepTable& table, const std::filesystem::path& file);
std::string sweep_html(const SweepTable& table);

/// The numbers of a column, over runs; NaN where there is none.
std::vector<double> parameter_of(const SweepTable& table, std::size_t parameter);
std::vector<double> result_of(const SweepTable& table, std::size_t column);

}  // namespace osier

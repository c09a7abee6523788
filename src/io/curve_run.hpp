// Curves that nobody has simulated, as a run of one frame: what draws and shows runs then draws and shows curve files too.
#pragma once

#include <filesystem>
#include <string>

#include "osier/curves.hpp"

namespace osier {

/// Whether the name is that of a curve file, by its extension.
bool is_curve_file(const std::filesystem::path& file);

/// Writes trajectory.h5 into the folder. Curves of fewer than two different points are left out; where the curves have no widths
/// they get a thin one that suits their size. Throws InputError when nothing is left.
void write_curve_run(const CurveSet& curves, const std::string& name, const std::filesystem::path& folder);

}  // namespace osier

// Writing a simulation that somebody steps by hand, and pages that play it.
#pragma once

#include <filesystem>
#include <memory>

#include "osier/io.hpp"
#include "osier/scene.hpp"
#include "osier/trajectory.hpp"

namespace osier {

/// What Writer::begin wants to know of a scene.
RunInfo run_info(const Scene& scene);

/// A writer of one HTML page that plays the run and needs nothing else. Throws InputError when this Osier was built without the
/// viewer's page. `run_folder`: of the run that is recorded, whose probes are shown; none when left out.
std::unique_ptr<Writer> make_html_writer(const std::filesystem::path& file, const std::filesystem::path& run_folder = {});
/// The same of a run that has been recorded.
void write_html(Trajectory& run, const std::filesystem::path& file);

}  // namespace osier

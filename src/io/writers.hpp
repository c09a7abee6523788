// One maker per format, listed in registry.cpp.
#pragma once

#include <filesystem>
#include <memory>

#include "osier/io.hpp"

namespace osier {

std::unique_ptr<Writer> make_hdf5_writer(const std::filesystem::path& folder);
std::unique_ptr<Writer> make_obj_writer(const std::filesystem::path& folder);
std::unique_ptr<Writer> make_vtp_writer(const std::filesystem::path& folder);

}  // namespace osier

// One maker per format, listed in registry.cpp.
#pragma once

#include <memory>

#include "osier/io.hpp"

namespace osier {

std::unique_ptr<Writer> make_hdf5_writer(const WriteTarget& target);
std::unique_ptr<Writer> make_obj_writer(const WriteTarget& target);
std::unique_ptr<Writer> make_vtp_writer(const WriteTarget& target);

}  // namespace osier

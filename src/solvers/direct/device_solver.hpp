// The solver whose direct steps run on a device, or on its twin.
#pragma once

#include <memory>

#include "solvers/driver_options.hpp"
#include "solvers/solver.hpp"

namespace osier::direct {

/// `device` is not the processor, and the model is made of strands (hanging_strands.hpp).
std::unique_ptr<Solver> make_on_device(const Model& model, const systems::Options& options, Device device);

}  // namespace osier::direct

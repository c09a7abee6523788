// The solver whose sweeps run on a device, or on its twin.
#pragma once

#include <memory>

#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

/// `settings.execution.device` is not the processor.
std::unique_ptr<Solver> make_on_device(const Settings& settings, const Model& model);

}  // namespace osier::stable_cosserat

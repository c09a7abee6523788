// What a run of a case asks of a solver that is tried on it in place of its own.
#pragma once

#include <string>

#include "validate/trial.hpp"

namespace osier::validate {

/// What `solver` would have to be able to do, by its traits; empty where it can, and for the case's own solver (`solver` empty).
/// Statics count only where their equilibrium cannot be found by relaxation, see relax.hpp.
std::string unmet_need(const Trial& trial, const std::string& solver);

}  // namespace osier::validate

// "A Physically Based Approach to the Accurate Simulation of Stiff Fibers and Stiff Fiber Meshes" (Michels, Mueller, Sobottka
// 2015).
#pragma once

#include "osier/reproduce.hpp"

namespace osier {

Paper deti_paper();

}  // namespace osier

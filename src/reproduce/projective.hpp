// "Cosserat Rods with Projective Dynamics" (Soler, Martin, Sorkine-Hornung 2018).
#pragma once

#include "osier/reproduce.hpp"

namespace osier {

Paper projective_paper();

}  // namespace osier

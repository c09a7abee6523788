// "Stable Integration of the Dynamic Cosserat Equations with Application to Hair Modeling" (Sobottka, Lay, Weber 2008; slides).
#pragma once

#include "osier/reproduce.hpp"

namespace osier {

Paper generalized_alpha_paper();

}  // namespace osier

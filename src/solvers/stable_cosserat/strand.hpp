// A chain as a strand of the kernels of strand_kernels.hpp.
#pragma once

#include "osier/types.hpp"

namespace osier::stable_cosserat {

struct Strand {
  Index first_vertex, vertices, first_segment;
  Index head;  ///< anchor frame before the first segment, or -1
};

}  // namespace osier::stable_cosserat

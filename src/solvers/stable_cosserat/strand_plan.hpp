// Which chains of a model are strands for the kernels of strand_kernels.hpp, and their constants.
#pragma once

#include <vector>

#include "osier/model.hpp"
#include "solvers/stable_cosserat/device_sweep.hpp"
#include "solvers/stable_cosserat/strand.hpp"

namespace osier::stable_cosserat {

/// Elements that strands take: 1 for each.
struct StrandCover {
  std::vector<std::uint8_t> vertices, segments, frames, joints;
};

template <class T>
struct StrandPlan {
  std::vector<Strand> strands;
  std::vector<T> constants;  ///< [strand][constant][row], chain_constants.hpp
  Index rows = 0;            ///< of the longest strand
  bool damped = false;
  StrandCover cover;
};

/// Strands of at most `most_rows` vertices: none where the options ask for what they do not know.
template <class T>
StrandPlan<T> plan_strands(const Model& model, const DeviceSweepOptions& options, Index most_rows);
/// Whether the loads and holds of a step are for strands: no hinges and no torques.
bool suits_strands(const Control& control);

}  // namespace osier::stable_cosserat

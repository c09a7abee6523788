// Where the arrays of a view lie, and how a fibre gets into its lane.
#pragma once

#include <cstddef>

#include "solvers/deti/fibre.hpp"
#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

/// Numbers of the model, which stay, and of a step. Every array begins with a cache line where its lanes fill some.
std::size_t model_numbers(Index sections, int lanes);
std::size_t step_numbers(Index sections, int lanes, Variant variant);
/// `step` may be null: then only the numbers of the model are there.
FibreView view_of(Index sections, int lanes, Variant variant, double* model, double* step);
/// Some of the sections of a view of one lane.
FibreView part_of(const FibreView& view, Index first, Index sections);
void load_fibre(const Fibre& fibre, const FibreView& view, int lane);

}  // namespace osier::deti

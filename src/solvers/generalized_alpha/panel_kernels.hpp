// The inner loops of the elimination, by instruction set.
#pragma once

#include "exec/simd.hpp"

namespace osier::generalized_alpha {

inline constexpr int kPanelStride = 32;  ///< numbers of a row, so that rows begin on cache lines

/// Eliminates the first `columns` columns of `count` rows below the diagonal, with pivots from any row below. False where there
/// is none. Rows have `used` numbers.
using Triangulate = bool (*)(double (*rows)[kPanelStride], int count, int columns, int used);

template <Simd S>
Triangulate triangulate_for();

}  // namespace osier::generalized_alpha

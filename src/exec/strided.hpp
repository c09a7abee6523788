// Structs of numbers in memory that lies component by component: number c of a struct at from[c * stride], so that threads, or
// lanes, side by side read neighbouring numbers.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "exec/unroll.hpp"
#include "math/number.hpp"

namespace osier {

/// How many numbers P a struct of nothing else has.
template <class Struct, class P>
inline constexpr int numbers_in = static_cast<int>(sizeof(Struct) / sizeof(P));

template <class Struct, class P>
OSIER_FN Struct load_numbers(const ScalarOf<P>* from, Index stride) {
  static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) % sizeof(P) == 0);
  P numbers[numbers_in<Struct, P>];
  OSIER_UNROLL(128)
  for (int c = 0; c < numbers_in<Struct, P>; ++c) numbers[c] = load_lanes<P>(from + static_cast<std::ptrdiff_t>(c) * stride);
  Struct s;
  std::memcpy(static_cast<void*>(&s), numbers, sizeof s);
  return s;
}

/// Numbers kFrom to kTo - 1 of the struct, to their places in memory.
template <class P, int kFrom, int kTo, class Struct>
OSIER_FN void store_numbers_of(const Struct& s, ScalarOf<P>* to, Index stride) {
  P numbers[numbers_in<Struct, P>];
  std::memcpy(numbers, static_cast<const void*>(&s), sizeof s);
  OSIER_UNROLL(128)
  for (int c = kFrom; c < kTo; ++c) store_lanes(numbers[c], to + static_cast<std::ptrdiff_t>(c) * stride);
}

template <class P, class Struct>
OSIER_FN void store_numbers(const Struct& s, ScalarOf<P>* to, Index stride) {
  store_numbers_of<P, 0, numbers_in<Struct, P>>(s, to, stride);
}

}  // namespace osier

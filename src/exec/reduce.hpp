// Sums and largest values over many items, always in the same order: items are combined one after the other within blocks of a
// fixed size, and the blocks' values one after the other. The result depends on neither the number of threads nor the backend.
//
//   Value     a number or a struct that is combined; Value{} or `start` is the value of no items
//   combine   combine(Value& sum, const Value& item); for kernels OSIER_FN
#pragma once

#include "exec/launch.hpp"
#include "exec/parallel.hpp"

namespace osier {

constexpr std::size_t blocks_of(std::size_t items, std::size_t block) { return (items + block - 1) / block; }

/// of_range(begin, end) is the value of some consecutive items, which it combines in order. `partial`: memory for
/// blocks_of(items, block) values. `weight`: how many elements one item stands for (Executor).
template <class Value, class OfRange, class Combine>
Value reduce_ranges(const Executor& executor, std::size_t items, std::size_t block, Value* partial, const OfRange& of_range,
                    const Combine& combine, Value start = {}, std::size_t weight = 1) {
  const std::size_t blocks = blocks_of(items, block);
  executor.for_each(
      blocks,
      [&](std::size_t b) {
        const std::size_t begin = b * block;
        partial[b] = of_range(begin, begin + block < items ? begin + block : items);
      },
      block * weight);
  Value sum = start;
  for (std::size_t b = 0; b < blocks; ++b) combine(sum, partial[b]);
  return sum;
}

/// Combines item(i), the values of single items.
template <class Value, class Item, class Combine>
Value reduce(const Executor& executor, std::size_t items, std::size_t block, Value* partial, const Item& item,
             const Combine& combine, Value start = {}) {
  const auto of_range = [&](std::size_t begin, std::size_t end) {
    Value sum = start;
    for (std::size_t i = begin; i < end; ++i) combine(sum, item(i));
    return sum;
  };
  return reduce_ranges(executor, items, block, partial, of_range, combine, start);
}

/// Kernels of the same sum: first BlockValues once for each block, then SumOfBlocks once.
template <class Value, class Item, class Combine>
struct BlockValues {
  Item item;
  Combine combine;
  Value start;
  Index items, block;
  Value* partial;
  OSIER_FN void operator()(Index b) const {
    const Index begin = b * block, end = begin + block < items ? begin + block : items;
    Value sum = start;
    for (Index i = begin; i < end; ++i) combine(sum, item(i));
    partial[b] = sum;
  }
};
template <class Value, class Combine>
struct SumOfBlocks {
  Combine combine;
  Value start;
  Index blocks;
  const Value* partial;
  Value* sum;
  OSIER_FN void operator()(Index) const {
    Value all = start;
    for (Index b = 0; b < blocks; ++b) combine(all, partial[b]);
    *sum = all;
  }
};
inline namespace OSIER_BACKEND_NAMESPACE {

/// `item` and `combine` are functors, and `partial` and `sum` lie in the memory of the backend.
template <class Value, class Item, class Combine>
void launch_reduce(Backend where, Index items, Index block, Value* partial, Value* sum, const Item& item, const Combine& combine,
                   Value start = {}) {
  const Index blocks = (items + block - 1) / block;
  launch(where, blocks, BlockValues<Value, Item, Combine>{item, combine, start, items, block, partial});
  launch(where, 1, SumOfBlocks<Value, Combine>{combine, start, blocks, partial, sum});
}
}  // namespace OSIER_BACKEND_NAMESPACE

}  // namespace osier

// Prefetches the data of the next group of chains while the present one is being worked on. A group reads about eight arrays at
// as many places as there are lanes, which is more streams than the hardware prefetcher follows.
#pragma once

#include "math/number.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/step_view.hpp"

namespace osier::lanes {

template <class P>
class ChainPrefetch {
 public:
  /// `next` may be null: then nothing is fetched.
  ChainPrefetch(const ChainGroup* next, const StepView& view, ChainUse use) : next_(next), view_(view), use_(use) {}

  /// To be called for every row of the present group, in any order: a few lanes of a block of rows each time.
  OSIER_FN void row(Index i) const {
    constexpr int W = lanes_of<P>, kPerRow = (W + kBlock - 1) / kBlock;
    if (next_ == nullptr) return;
    const Index first = i / kBlock * kBlock;
    const int lane = i % kBlock * kPerRow;
    for (int k = lane; k < lane + kPerRow && k < W; ++k) {
      if (first >= next_->vertices[k]) continue;
      const Index v = next_->first_vertex[k] + first, s = next_->first_segment[k] + first;
      fetch(view_.position + v), fetch(view_.velocity + v), fetch(view_.velocity_previous + v), fetch(view_.force + v);
      fetch(view_.damping + v);
      fetch(view_.rotation + s);
      if (use_ == ChainUse::direct) fetch(view_.joint_rest + next_->first_joint[k] + first), fetch(view_.rest_length + s);
    }
  }
  /// Calls after this one do nothing.
  OSIER_FN void done() { next_ = nullptr; }

 private:
  static constexpr Index kBlock = 8;  ///< rows
  template <class Element>
  OSIER_FN static void fetch(const Element* from) {
    const char* bytes = reinterpret_cast<const char*>(from);
    for (std::size_t b = 0; b < kBlock * sizeof(Element); b += kCacheLine) __builtin_prefetch(bytes + b, 0, 2);
  }

  const ChainGroup* next_;
  const StepView& view_;
  ChainUse use_;
};

}  // namespace osier::lanes

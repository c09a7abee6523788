// How far the sweeps of a step still are from where they would end, from how far they went.
//
// The last sweep says little about it: where rods are stiff, thousands of small moves are still to come. So displacements are
// compared at checks n_1, n_2, ... that lie a quarter of the sweeps so far apart. With m_k the largest move of a vertex between
// check k - 1 and check k, and s = m_k/m_(k-1),
//
//   what is left = m_(k+1) + m_(k+2) + ... <= m_k s/(1 - s)     as long as the ratios do not rise.
//
// They do not: in these distances an algebraic decay, the sum of many modes that such sweeps begin with, has a constant ratio,
// and an exponential one, where a single slow mode is left, has ratios that fall from check to check. What can mislead is a slow
// mode hidden behind fast ones; hence the larger of the last two ratios, and a factor.
//
// The error is measured against what the step changes: the largest |x - x_t - h v_t|, between kLeastChange and the whole of the
// largest motion |x - x_t|. Sweeps err to one side, always lagging behind, step after step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/parallel.hpp"
#include "math/vec3.hpp"
#include "solvers/settling.hpp"

namespace osier::stable_cosserat {

/// Largest of all vertices [m].
struct Moves {
  double moved = 0;   ///< since the check before
  double motion = 0;  ///< since the start of the step
};

class SweepError {
 public:
  /// `attainable`: of the motion, where moves stop shrinking because of rounding. `rounding`: moves that mean nothing [m].
  /// `expected`: sweeps.
  SweepError(double tolerance, double attainable, double rounding, double kappa, int expected)
      : tolerance_(tolerance),
        attainable_(attainable),
        rounding_(rounding),
        kappa_(kappa),
        expected_(expected),
        next_(std::max(4, expected / 4)) {}

  /// The next check is after this many sweeps of the step.
  int next() const { return next_; }

  /// What the sweeps since the last check have done; at the first check there is none, and whatever is passed is ignored.
  /// change(): largest |x - x_t - h v_t|, asked for when it may decide.
  template <class Change>
  bool settled(const Moves& m, const Change& change) {
    const int distance = next_ - last_, check = checks_++;
    last_ = next_;
    next_ += std::max(2, next_ / 4);
    if (check == 0) return false;
    const double ratio = check == 1 ? kNone : m.moved / moved_;
    const double s = std::max({ratio, check == 2 ? 0 : ratio_, kappa_ > 0 ? std::exp(-2 * distance / kappa_) : 0.0});
    moved_ = m.moved, ratio_ = ratio;
    if (m.moved == 0) return true;
    if (check == 1) return false;
    error_ = s < kSlowest ? systems::left_after(m.moved, s) : kNone;
    if (error_ <= tolerance_ * m.motion && error_ <= systems::allowed_error(tolerance_, change(), m.motion)) return true;
    // Moves that have stopped shrinking and are as small as rounding makes them say no more. What goes on beneath them is left
    // the sweeps that were expected, twice.
    return last_ >= 2 * expected_ && !(ratio <= kStalled) && m.moved <= std::max(rounding_, attainable_ * m.motion);
  }
  /// Estimated at the last check [m].
  double error() const { return error_; }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kSlowest = 0.97, kStalled = 0.5;
  double tolerance_, attainable_, rounding_, kappa_;
  double moved_ = 0, ratio_ = 0, error_ = kNone;
  int expected_, next_, last_ = 0, checks_ = 0;
};

/// Compares displacements with those of the last check. at(i): the displacement of vertex i, as Vec3<T>.
template <class T>
class MoveMeter {
 public:
  void bind(std::size_t vertices) {
    if (vertices == last_.size()) return;
    last_.assign(vertices, Vec3<T>{});
    block_.assign((vertices + kBlock - 1) / kBlock, Moves{});
  }
  static std::size_t bytes(std::size_t vertices) {
    return vertices * sizeof(Vec3<T>) + (vertices + kBlock - 1) / kBlock * sizeof(Moves);
  }

  /// Since the last call, of whatever step.
  template <class At>
  Moves since_last(const At& at, const Executor& executor) {
    return largest(executor, [&](std::size_t begin, std::size_t end) {
      T moved = 0, motion = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const Vec3<T> u = at(i);
        moved = std::max(moved, norm2(u - last_[i])), motion = std::max(motion, norm2(u));
        last_[i] = u;
      }
      return Moves{std::sqrt(static_cast<double>(moved)), std::sqrt(static_cast<double>(motion))};
    });
  }
  /// The largest |f(i)|.
  template <class F>
  double largest_of(const Executor& executor, const F& f) {
    const auto most = [&](std::size_t begin, std::size_t end) {
      double square = 0;
      for (std::size_t i = begin; i < end; ++i) square = std::max(square, norm2(f(i)));
      return Moves{std::sqrt(square), 0};
    };
    return largest(executor, most).moved;
  }

 private:
  static constexpr std::size_t kBlock = 256, kWeight = 16;  ///< a vertex is worth a sixteenth of an item of some 50 ns
  /// Block by block, the same on any number of threads.
  template <class F>
  Moves largest(const Executor& executor, const F& of_range) {
    executor.for_each(
        block_.size(), [&](std::size_t b) { block_[b] = of_range(b * kBlock, std::min(last_.size(), (b + 1) * kBlock)); },
        kWeight);
    Moves all;
    for (const Moves& m : block_) all.moved = std::max(all.moved, m.moved), all.motion = std::max(all.motion, m.motion);
    return all;
  }

  std::vector<Vec3<T>> last_;
  std::vector<Moves> block_;
};

}  // namespace osier::stable_cosserat

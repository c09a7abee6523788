// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/deti/kernels.hpp"

#include <cmath>
#include <type_traits>

#include "exec/simd_target.hpp"
#include "solvers/deti/fibre_step.hpp"

namespace osier::deti {

template <class P>
struct Kernel {
  static void start(const FibreView& fibre, const StepRule& rule) { FibreStep<P>(fibre).start(rule); }
  static void step(const FibreView& fibre, const StepRule& rule) { FibreStep<P>(fibre).step(rule); }
  static void forces(const FibreView& fibre) { Springs<P>{fibre}.forces(); }

  static constexpr int N = kUnknowns;
  static bool reduce(double* row, std::size_t count) {
    for (int j = 0; j < N; ++j) {
      double* const own = row + j * N;
      if (!(own[j] > 0)) return false;
      const double root = std::sqrt(own[j]), share = 1 / root;
      own[j] = root;
      for (int c = j + 1; c < N; ++c) own[c] *= share;
      for (int i = j + 1; i < N; ++i)
        for (int c = i; c < N; ++c) row[i * N + c] -= own[i] * own[c];
    }
    for (std::size_t k = 1; k < count; ++k) {
      double* const b = row + k * (N * N);
      for (int j = 0; j < N; ++j) {
        const double share = 1 / row[j * N + j];
        for (int c = 0; c < N; ++c) b[j * N + c] *= share;
        for (int i = j + 1; i < N; ++i)
          for (int c = 0; c < N; ++c) b[i * N + c] -= row[j * N + i] * b[j * N + c];
      }
    }
    return true;
  }
  static void take_away(const double* a, const double* b, double* c, std::size_t count) {
    // A row of 12 in as few packs as it fills, and as many rows as registers hold.
    using V = std::conditional_t<N % lanes_of<P> == 0, P, Pack<double, 4>>;
    constexpr int kRows = 4, W = lanes_of<V>, kPacks = N / W;
    for (std::size_t k = 0; k < count; ++k, b += N * N, c += N * N)
      for (int r = 0; r < N; r += kRows) {
        V sum[kRows][kPacks], x[kPacks];
        for (int q = 0; q < kRows; ++q)
          for (int i = 0; i < kPacks; ++i) sum[q][i] = load_lanes<V>(c + (r + q) * N + W * i);
        for (int t = 0; t < N; ++t) {
          for (int i = 0; i < kPacks; ++i) x[i] = load_lanes<V>(b + t * N + W * i);
          for (int q = 0; q < kRows; ++q)
            for (int i = 0; i < kPacks; ++i) sum[q][i] -= V(a[t * N + r + q]) * x[i];
        }
        for (int q = 0; q < kRows; ++q)
          for (int i = 0; i < kPacks; ++i) store_lanes(sum[q][i], c + (r + q) * N + W * i);
      }
  }
};

template <class P>
constexpr FibreKernel kFibreKernel{lanes_of<P>,        &Kernel<P>::start,  &Kernel<P>::step,
                                   &Kernel<P>::forces, &Kernel<P>::reduce, &Kernel<P>::take_away};

template <Simd S>
const FibreKernel& fibre_kernel_for() {
  return kFibreKernel<NumberOf<double, S>>;
}
template const FibreKernel& fibre_kernel_for<kSimdTarget>();

}  // namespace osier::deti

#include "solvers/systems/coupled/coupled_system.hpp"

#include <algorithm>
#include <limits>

#include "exec/reduce.hpp"

namespace osier::systems {

namespace {

constexpr double kShare = 0.1;  ///< of the correction, in the norm of the preconditioner, that may be left as error
constexpr int kMostIterations = 200;
/// Corrections that turn a segment further than this are where the quadratic model is good for nothing [rad].
constexpr double kMostTurn = 1;
constexpr std::size_t kBlock = 512;

}  // namespace

void CoupledSystem::bind(const Model& m, const Control& c, const Subset& subset, double h) { rods_->bind(m, c, subset, h); }

Signature CoupledSystem::linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) {
  potential_ = &potential;
  z_ = &z;
  frames_move_ = how.frames_move;
  hessian_.assemble(potential, z);
  blocks_.clear();
  if (contact_) contact_->list_blocks(blocks_);
  Linearisation rods = how;
  rods.curvature = Curvature::positive;
  rods.blocks = blocks_;
  Signature signature = rods_->linearise(potential, z, rods);
  if (signature.definite) return signature;
  Shift shift{.size = 1e-3, .force = potential.force_scale(z), .positions = true};
  for (int attempt = 0; attempt < 40 && !signature.definite; ++attempt, shift.size *= 4) signature = rods_->factorise(shift);
  return signature;
}

double CoupledSystem::dot(const Field& a, const Field& b) const {
  const std::size_t n = a.x.size() + a.w.size();
  partial_.resize(blocks_of(n, kBlock));
  const auto of_range = [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i)
      sum += i < a.x.size() ? osier::dot(a.x[i], b.x[i]) : osier::dot(a.w[i - a.x.size()], b.w[i - a.x.size()]);
    return sum;
  };
  return reduce_ranges(executor_, n, kBlock, partial_.data(), of_range, [](double& sum, double x) { sum += x; });
}

/// H d = left_ with the first preconditioned residual in scaled_ and d = 0.
struct CoupledSystem::Iteration {
  CoupledSystem& s;
  double first = 0, latest = 0;
  bool bounded = false;  ///< the sum has reached the turn at which the quadratic model ends

  double size() { return first = latest = s.dot(s.left_, s.scaled_); }
  double curvature(double beta) {
    s.each_entry(
        [&](auto part, std::size_t i) { (s.direction_.*part)[i] = (s.scaled_.*part)[i] + beta * (s.direction_.*part)[i]; });
    s.product(s.direction_, s.image_);
    return s.dot(s.direction_, s.image_);
  }
  /// The share of a step along the direction at which some segment has turned as far as it may.
  double reach(double a) const {
    const std::size_t n = s.sum_.w.size();
    s.partial_.resize(blocks_of(n, kBlock));
    const auto share_of = [&](std::size_t i) {
      const Vec3d from = s.sum_.w[i], d = a * s.direction_.w[i];
      if (!(norm2(from + d) > kMostTurn * kMostTurn)) return 1.0;
      const double dd = norm2(d), fd = osier::dot(from, d), left = kMostTurn * kMostTurn - norm2(from);
      return std::clamp((std::sqrt(std::max(0.0, fd * fd + dd * left)) - fd) / dd, 0.0, 1.0);
    };
    return reduce(
        s.executor_, n, kBlock, s.partial_.data(), share_of, [](double& all, double x) { all = std::min(all, x); }, 1.0);
  }
  double advance(double a) {
    const double share = reach(a);
    bounded = share < 1;
    if (bounded) a *= share;
    s.each_entry([&](auto part, std::size_t i) {
      (s.sum_.*part)[i] += a * (s.direction_.*part)[i];
      (s.left_.*part)[i] -= a * (s.image_.*part)[i];
    });
    if (!s.rods_->solve(s.left_, s.scaled_)) return std::numeric_limits<double>::quiet_NaN();
    return latest = s.dot(s.left_, s.scaled_);
  }
  bool enough(int, double) const { return bounded || latest <= kShare * kShare * first; }
};

bool CoupledSystem::iterate() {
  hessian_.clear(sum_);
  hessian_.clear(direction_);
  Iteration iteration{*this};
  if (const double first = dot(left_, scaled_); first < 0 && std::isfinite(first)) {
    // The factor of the rods has lost its digits, under contacts that are stiffer than they are by more than double can tell:
    // they stay where they are, and the step is not solved.
    solved_ = false;
    lost_digits_ = true;
    return true;
  }
  const PcgResult result = pcg(iteration, kMostIterations);
  iterations_ += result.iterations;
  solved_ =
      (result.end == PcgEnd::enough && !iteration.bounded) || result.end == PcgEnd::exact || result.end == PcgEnd::not_positive;
  if (result.end == PcgEnd::not_positive && result.iterations == 0) std::swap(sum_, direction_);
  return result.end != PcgEnd::not_finite;
}

bool CoupledSystem::step(const Accuracy& accuracy) {
  if (correct(accuracy)) return true;
  // What could not be solved is told by a correction that is no number.
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  hessian_.clear(sum_);
  std::fill(sum_.x.begin(), sum_.x.end(), Vec3d{kNothing, kNothing, kNothing});
  std::fill(sum_.w.begin(), sum_.w.end(), Vec3d{kNothing, kNothing, kNothing});
  return false;
}

bool CoupledSystem::correct(const Accuracy& accuracy) {
  const Model& m = potential_->model();
  if (!frames_move_) {
    if (!rods_->step(accuracy)) return false;
    hessian_.clear(sum_);
    const Subset& all = potential_->subset();
    for (std::size_t i = 0; i < all.vertices.size(); ++i) sum_.x[all.vertices[i]] = rods_->displacement(all.vertices[i]);
    return true;
  }
  hessian_.clear(left_);
  if (contact_) contact_->add_gradient(left_.x);
  const auto negate = [&](auto part, std::size_t i) { (left_.*part)[i] = -(left_.*part)[i]; };
  each_entry(negate);
  hessian_.keep_free(left_);
  if (!rods_->step(accuracy)) return false;
  hessian_.clear(direction_);
  const Subset& part = potential_->subset();
  executor_.for_each(part.vertices.size(), [&](std::size_t i) {
    const Index v = part.vertices[i];
    direction_.x[v] = rods_->displacement(v);
  });
  executor_.for_each(part.segments.size(), [&](std::size_t i) {
    const Index s = part.segments[i];
    if (m.segment_alive[s]) direction_.w[s] = rods_->turn(s);
  });
  if (!rods_->solve(left_, scaled_)) return false;
  each_entry([&](auto own, std::size_t i) { (scaled_.*own)[i] += (direction_.*own)[i]; });
  potential_->gradient(*z_, left_.x, left_.w, &executor_);
  each_entry(negate);
  hessian_.keep_free(left_);
  return iterate();
}

bool CoupledSystem::solve(const Field& r, Field& z) {
  left_ = r;
  hessian_.keep_free(left_);
  if (!rods_->solve(left_, scaled_) || !iterate()) return false;
  z = sum_;
  return true;
}

void CoupledSystem::product(const Field& p, Field& image) const {
  hessian_.product(p, nullptr, image);
  if (contact_) contact_->add_product(p.x, image.x);
  hessian_.keep_free(image);
}

std::size_t CoupledSystem::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  std::size_t sum = rods_->bytes() + of(blocks_);
  for (const Field* f : {&sum_, &left_, &scaled_, &direction_, &image_}) sum += of(f->x) + of(f->w);
  return sum;
}

}  // namespace osier::systems

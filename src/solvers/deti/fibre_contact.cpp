#include "solvers/deti/fibre_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/pcg.hpp"
#include "solvers/deti/fibre_step.hpp"
#include "solvers/guarded_descent.hpp"

namespace osier::deti {

namespace {

constexpr std::size_t N = kUnknowns;
constexpr int kMostIterations = 100, kMostProducts = 200;
constexpr double kShare = 0.1;  ///< of a correction, in the norm of the preconditioner, that may be left as error
using namespace guarded;

double dot_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

FibreContact::FibreContact(FibreSet& set, contact::ContactStep& contact, const std::vector<Index>& vertex,
                           const std::vector<Vec3d>& push_before, double h, double tolerance)
    : set_(set), contact_(contact), vertex_(vertex), push_before_(push_before), h_(h), tolerance_(tolerance) {
  const std::size_t n = N * static_cast<std::size_t>(set.sections());
  const FibreView& v = set.view();
  for (std::vector<double>* list : {&d_, &wanted_, &left_, &correction_, &scaled_, &direction_, &image_, &off_, &work_})
    list->assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) wanted_[i] = v.free[i] != 0 ? h * v.w[i] : v.target[i] - v.y[i];
  for (std::vector<Vec3d>* list : {&u_, &du_, &px_, &image_x_}) list->assign(push_before.size(), Vec3d{});
  section_of_.assign(push_before.size(), -1);
  for (std::size_t k = 0; k < vertex_.size(); ++k) section_of_[static_cast<std::size_t>(vertex_[k])] = static_cast<Index>(k);
}

/// Displacements of vertices, which contact may have moved by itself, into unknowns.
void FibreContact::take_centroids() {
  for (std::size_t k = 0; k < vertex_.size(); ++k) {
    const Vec3d& u = u_[static_cast<std::size_t>(vertex_[k])];
    d_[N * k] = u.x, d_[N * k + 1] = u.y, d_[N * k + 2] = u.z;
  }
}

/// out = S x of what is free.
void FibreContact::multiply(const std::vector<double>& x, std::vector<double>& out) const {
  const FibreView& v = set_.view();
  set_.product<Stiffness::gauss_newton>(kBeta * h_ * h_, x.data(), out.data());
  for (std::size_t i = 0; i < x.size(); ++i) out[i] += v.free[i] * v.mass[i / N] * x[i];
}

/// h^2 times the energy. What is held counts as where it is.
double FibreContact::value() const {
  for (std::size_t i = 0; i < d_.size(); ++i) off_[i] = is_free(i) ? d_[i] - wanted_[i] : 0;
  multiply(off_, work_);
  double sum = contact_.value(u_);
  for (const Index v : vertex_) sum += dot(push_before_[static_cast<std::size_t>(v)], u_[static_cast<std::size_t>(v)]);
  return 0.5 * dot_of(off_, work_) + h_ * h_ * sum;
}

void FibreContact::linearise(double fresh) {
  contact_.linearise(u_, fresh);
  for (std::size_t i = 0; i < d_.size(); ++i) off_[i] = is_free(i) ? d_[i] - wanted_[i] : 0;
  multiply(off_, left_);
  std::fill(px_.begin(), px_.end(), Vec3d{});
  contact_.add_gradient(px_);
  const double hh = h_ * h_;
  for (std::size_t k = 0; k < vertex_.size(); ++k) {
    const auto v = static_cast<std::size_t>(vertex_[k]);
    const Vec3d g = px_[v] + push_before_[v];
    left_[N * k] += hh * g.x, left_[N * k + 1] += hh * g.y, left_[N * k + 2] += hh * g.z;
  }
  for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = is_free(i) ? -left_[i] : 0;
  blocks_.clear();
  contact_.list_blocks(touched_);
  for (const systems::VertexBlock& b : touched_) {
    const Index a = section_of_[static_cast<std::size_t>(b.a)];
    if (a >= 0) blocks_.push_back({.a = a, .aa = hh * b.aa});
  }
  set_.factor(blocks_);
}

/// (S + h^2 E'') x = left_.
struct FibreContact::Iteration {
  FibreContact& c;
  double first = 0, latest = 0;

  void scale() {
    c.scaled_ = c.left_;
    c.set_.solve<1>({c.scaled_.data()});
    latest = dot_of(c.left_, c.scaled_);
  }
  double size() {
    scale();
    return first = latest;
  }
  double curvature(double beta) {
    for (std::size_t i = 0; i < c.direction_.size(); ++i) c.direction_[i] = c.scaled_[i] + beta * c.direction_[i];
    c.multiply(c.direction_, c.image_);
    std::fill(c.image_x_.begin(), c.image_x_.end(), Vec3d{});
    for (std::size_t k = 0; k < c.vertex_.size(); ++k)
      c.px_[static_cast<std::size_t>(c.vertex_[k])] = c.centroid(c.direction_, k);
    c.contact_.add_product(c.px_, c.image_x_, contact::ContactStep::Part::positive);
    const double hh = c.h_ * c.h_;
    for (std::size_t k = 0; k < c.vertex_.size(); ++k) {
      const Vec3d& more = c.image_x_[static_cast<std::size_t>(c.vertex_[k])];
      const double* free = c.set_.view().free + N * k;
      c.image_[N * k] += free[0] * hh * more.x;
      c.image_[N * k + 1] += free[1] * hh * more.y;
      c.image_[N * k + 2] += free[2] * hh * more.z;
    }
    return dot_of(c.direction_, c.image_);
  }
  double advance(double a) {
    for (std::size_t i = 0; i < c.direction_.size(); ++i) {
      c.correction_[i] += a * c.direction_[i];
      c.left_[i] -= a * c.image_[i];
    }
    scale();
    return latest;
  }
  bool enough(int, double) const { return latest <= kShare * kShare * first; }
};

void FibreContact::find_correction() {
  std::fill(correction_.begin(), correction_.end(), 0.0);
  std::fill(direction_.begin(), direction_.end(), 0.0);
  std::fill(px_.begin(), px_.end(), Vec3d{});
  Iteration iteration{*this};
  const PcgResult result = pcg(iteration, kMostProducts);
  solved_ = result.end == PcgEnd::enough || result.end == PcgEnd::exact || result.end == PcgEnd::not_positive;
  if (result.end == PcgEnd::not_positive && result.iterations == 0) std::swap(correction_, direction_);
  double most = 0;
  for (std::size_t k = 0; k < vertex_.size(); ++k) most = std::max(most, norm2(centroid(correction_, k)));
  moved_ = std::sqrt(most);
}

/// Along the correction as far as the guard lets it, and only downhill.
FibreContact::Descent FibreContact::descend() {
  const std::vector<double> start = d_;
  const std::vector<Vec3d> start_u = u_;
  std::vector<Vec3d> whole(u_.size());
  for (std::size_t k = 0; k < vertex_.size(); ++k) whole[static_cast<std::size_t>(vertex_[k])] = centroid(correction_, k);
  du_ = whole;
  contact::ContactStep::Guarded guarded = contact_.guard(u_, du_);
  const double before = value(), noise = 1e-12 * (std::abs(before) + std::abs(dot_of(off_, work_)));
  bool alike = false;
  const auto go = [&](double share) {
    for (std::size_t k = 0; k < vertex_.size(); ++k) {
      const auto v = static_cast<std::size_t>(vertex_[k]);
      u_[v] = start_u[v] + share * du_[v];
      const double own = share * (alike ? guarded.share : contact_.share(vertex_[k]));
      for (std::size_t i = 3; i < N; ++i) d_[N * k + i] = start[N * k + i] + own * correction_[N * k + i];
    }
    take_centroids();
  };
  double share = 1;
  for (int cut = 0; cut < kMostHalvings; ++cut, share *= 0.5) {
    if (cut == 3 && guarded.cut > 0) {
      du_ = whole;
      guarded = contact_.guard_alike(start_u, du_);
      alike = true;
      share = 1;
      if (guarded.share == 0) break;
    }
    go(share);
    if (!(value() <= before + noise)) continue;
    contact_.passed(u_);
    return {.lower = true, .whole = share == 1 && guarded.cut == 0};
  }
  d_ = start;
  u_ = start_u;
  return {};
}

StepReport FibreContact::solve() {
  StepReport report;
  set_.assemble<Stiffness::gauss_newton>(kBeta * h_ * h_);
  // The first guess is the motion without contact, as far as the guard lets it.
  contact_.begin_path();
  for (std::size_t k = 0; k < vertex_.size(); ++k) du_[static_cast<std::size_t>(vertex_[k])] = centroid(wanted_, k);
  contact_.guard(u_, du_);
  for (std::size_t k = 0; k < vertex_.size(); ++k) {
    const auto v = static_cast<std::size_t>(vertex_[k]);
    u_[v] += du_[v];
    const double share = contact_.share(vertex_[k]);
    for (std::size_t i = 3; i < N; ++i) d_[N * k + i] = (is_free(N * k + i) ? share : 1) * wanted_[N * k + i];
  }
  contact_.passed(u_);
  double extent = 0;
  for (std::size_t k = 0; k < vertex_.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) extent = std::max(extent, std::abs(set_.view().y[N * k + i]));
  // What the guard has let come near is squeezed at first, and friction in proportion to that would throw light fibres about: it
  // acts once the barriers have had their way.
  constexpr int kMostWithoutFriction = 12;
  bool rubs = false;
  int stuck = 0, since = 0;
  while (report.iterations < kMostIterations) {
    contact_.hold(u_);
    take_centroids();
    const double fresh = rubs ? freshness(since++) : 0;
    linearise(fresh);
    if (report.iterations >= kFirstStiffening && report.iterations % 2 == 0 && contact_.stiffen()) linearise(fresh);
    find_correction();
    ++report.iterations;
    if (!std::isfinite(moved_)) {
      report.non_finite = true;
      break;
    }
    const Descent descent = descend();
    const double range = contact_.smallest_range();
    double motion = 0;
    for (const Index v : vertex_) motion = std::max(motion, norm2(u_[static_cast<std::size_t>(v)]));
    const double bearable = std::isfinite(range) ? kShareOfRange * tolerance_ * range : 0;
    const bool small = moved_ <= std::max({tolerance_ * std::sqrt(motion), bearable, 1e-14 * extent});
    // Where the search finds nothing lower, a small correction is one of rounding or of the kink of friction.
    const bool rounding = !descent.lower && std::isfinite(range) && moved_ <= 0.1 * range;
    stuck = contact_.has_arrived() || !contact_.is_stuck() ? 0 : stuck + 1;
    const bool held = contact_.has_arrived() || stuck > kMostStuck;
    const bool settled = held && solved_ && ((small && descent.whole) || rounding);
    report.not_converged = !settled;
    if (!rubs) {
      rubs = settled || !descent.lower || report.iterations >= kMostWithoutFriction;
      continue;
    }
    if (settled && fresh < 1) since = 0;  // with the friction of earlier iterations: not yet with its own
    else if (settled || !descent.lower) break;
  }
  report.held_back = !contact_.has_arrived();
  const FibreView& v = set_.view();
  for (std::size_t i = 0; i < d_.size(); ++i) v.w[i] = d_[i] / h_;
  return report;
}

}  // namespace osier::deti

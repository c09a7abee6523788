#include "solvers/deti/fibre_set.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/deti/block_chain.hpp"
#include "solvers/deti/fibre_memory.hpp"

namespace osier::deti {

namespace {

constexpr int N = kUnknowns;

Vec3d centroid(const double* x, Index section) { return {x[N * section], x[N * section + 1], x[N * section + 2]}; }

}  // namespace

void FibreSet::arrange(std::vector<const Fibre*> fibres) {
  fibre_ = std::move(fibres);
  first_.clear();
  Index sections = 0;
  for (const Fibre* f : fibre_) {
    first_.push_back(sections);
    sections += f->size();
  }
  model_.assign(model_numbers(sections, 1), 0.0);
  step_.assign(step_numbers(sections, 1, Variant::double_pole), 0.0);
  order_known_ = false;
  all_ = view_of(sections, 1, Variant::double_pole, model_.data(), step_.data());
  part_.clear();
  for (std::size_t i = 0; i < fibre_.size(); ++i) {
    part_.push_back(part_of(all_, first_[i], fibre_[i]->size()));
    load_fibre(*fibre_[i], part_.back(), 0);
  }
  const std::size_t blocks = static_cast<std::size_t>(sections) * N * N;
  factor_diagonal_.resize(blocks);
  factor_above_.resize(blocks);
  set_ties({});
}

void FibreSet::set_ties(std::vector<Tie> ties) {
  const auto same = [](const Tie& a, const Tie& b) { return a.a == b.a && a.b == b.b; };
  if (!std::equal(ties.begin(), ties.end(), ties_.begin(), ties_.end(), same)) order_known_ = false;
  ties_ = std::move(ties);
  tie_block_.assign(ties_.size(), {});
  coupled_ = std::any_of(ties_.begin(), ties_.end(), [](const Tie& t) { return t.b >= 0; });
}

bool FibreSet::is_damped() const {
  return std::any_of(ties_.begin(), ties_.end(), [](const Tie& t) { return t.terms.damping > 0; });
}

Vec3d FibreSet::reach(const Tie& t, const double* y, bool is_velocity) const {
  const Vec3d other = t.b >= 0 ? centroid(y, t.b) : is_velocity ? Vec3d{} : t.anchor;
  return other - centroid(y, t.a);
}

void FibreSet::forces() const {
  executor_.for_each_job(part_.size(), [&](std::size_t i) { Springs<double>{part_[i]}.forces(); });
  for (const Tie& t : ties_) {
    const Vec3d d = reach(t, all_.y, false);
    vertex_spring::Terms<double> elastic = t.terms;
    elastic.damping = 0;
    Vec3d pull = vertex_spring::gradient(elastic, d);
    // The damper acts with the motion (FibreStep::dissipate); here is the part of a place that moves.
    if (t.b < 0 && t.terms.damping > 0) pull += t.terms.damping * (sight(t.terms, d) * t.anchor_velocity);
    for (int i = 0; i < 3; ++i) {
      const double f = i == 0 ? pull.x : i == 1 ? pull.y : pull.z;
      all_.force[N * t.a + i] += all_.free[N * t.a + i] * f;
      if (t.b >= 0) all_.force[N * t.b + i] -= all_.free[N * t.b + i] * f;
    }
  }
}

template <Stiffness S>
Mat3<double> FibreSet::tie_stiffness(const Tie& t) const {
  const double k = S == Stiffness::viscous ? t.terms.damping : t.terms.k;
  return k * sight(t.terms, reach(t, all_.y, false));
}

template <Stiffness S>
void FibreSet::product(double scale, const double* x, double* out) const {
  executor_.for_each_job(part_.size(), [&](std::size_t i) {
    const Index at = N * first_[i];
    Springs<double>{part_[i]}.template product<S>(scale, x + at, out + at);
  });
  for (const Tie& t : ties_) {
    const Vec3d f = -scale * (tie_stiffness<S>(t) * reach(t, x, true));
    for (int i = 0; i < 3; ++i) {
      const double part = i == 0 ? f.x : i == 1 ? f.y : f.z;
      out[N * t.a + i] += all_.free[N * t.a + i] * part;
      if (t.b >= 0) out[N * t.b + i] -= all_.free[N * t.b + i] * part;
    }
  }
}

template <Stiffness S>
void FibreSet::assemble(double scale) {
  executor_.for_each_job(part_.size(), [&](std::size_t i) { Springs<double>{part_[i]}.template assemble<S>(scale); });
  for (std::size_t i = 0; i < ties_.size(); ++i) tie_block_[i] = scale * tie_stiffness<S>(ties_[i]);
}

template void FibreSet::product<Stiffness::gauss_newton>(double, const double*, double*) const;
template void FibreSet::product<Stiffness::viscous>(double, const double*, double*) const;
template void FibreSet::assemble<Stiffness::gauss_newton>(double);
template void FibreSet::assemble<Stiffness::viscous>(double);

void FibreSet::factor(std::span<const CentroidBlock> blocks) {
  sparse_ = coupled_;
  if (sparse_) return factor_sparse(blocks);
  std::vector<std::size_t> begin(part_.size() + 1, 0);
  std::vector<CentroidBlock> sorted(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < ties_.size(); ++i) sorted.push_back({.a = ties_[i].a, .aa = tie_block_[i]});
  std::stable_sort(sorted.begin(), sorted.end(), [](const CentroidBlock& x, const CentroidBlock& y) { return x.a < y.a; });
  executor_.for_each_job(part_.size(), [&](std::size_t i) {
    const Index first = first_[i], count = part_[i].sections;
    auto next = std::lower_bound(sorted.begin(), sorted.end(), first, [](const CentroidBlock& b, Index s) { return b.a < s; });
    const double *diagonal = part_[i].diagonal, *above = part_[i].above, *free = part_[i].free;
    double* const to_diagonal = factor_diagonal_.data() + static_cast<std::size_t>(first) * N * N;
    double* const to_above = factor_above_.data() + static_cast<std::size_t>(first) * N * N;
    BlockChain<double>(count, to_diagonal, to_above).factor([&](Index k, Block<double>& S, Block<double>& U) {
      for (int r = 0; r < N; ++r) {
        for (int c = r; c < N; ++c) S.a[r][c] = diagonal[(k * N + r) * N + c];
        S.a[r][r] += part_[i].mass[k];
        for (int c = 0; c < N && k + 1 < count; ++c) U.a[r][c] = above[(k * N + r) * N + c];
      }
      Mat3<double> own{};
      for (; next != sorted.end() && next->a == first + k; ++next) own = own + next->aa;
      const double* f = free + N * k;
      for (int r = 0; r < 3; ++r)
        for (int c = r; c < 3; ++c) S.a[r][c] += f[r] * f[c] * own.m[r][c];
    });
  });
}

template <int Count>
void FibreSet::solve_chains(double* const (&x)[Count]) const {
  executor_.for_each_job(part_.size(), [&](std::size_t i) {
    const auto at = static_cast<std::size_t>(first_[i]) * N;
    double* own[Count];
    for (int v = 0; v < Count; ++v) own[v] = x[v] + at;
    // A factor is only read when it solves.
    auto* diagonal = const_cast<double*>(factor_diagonal_.data()) + at * N;
    auto* above = const_cast<double*>(factor_above_.data()) + at * N;
    BlockChain<double>(part_[i].sections, diagonal, above).template solve<Count>(own);
  });
}
template void FibreSet::solve_chains<1>(double* const (&)[1]) const;
template void FibreSet::solve_chains<2>(double* const (&)[2]) const;

/// What has a block: a section and the next one of its fibre, and the ends of a tie.
void FibreSet::find_order() {
  links_.clear();
  std::vector<std::array<Index, 2>> pairs;
  for (std::size_t i = 0; i < part_.size(); ++i)
    for (Index k = 0; k + 1 < part_[i].sections; ++k) {
      pairs.push_back({first_[i] + k, first_[i] + k + 1});
      links_.push_back({.section = first_[i] + k});
    }
  for (std::size_t i = 0; i < ties_.size(); ++i) {
    if (ties_[i].b < 0) continue;
    pairs.push_back({ties_[i].a, ties_[i].b});
    links_.push_back({.tie = i});
  }
  fronts_.arrange(all_.sections, pairs);
  order_known_ = true;
}

void FibreSet::factor_sparse(std::span<const CentroidBlock> blocks) {
  if (!order_known_) find_order();
  centre_.assign(static_cast<std::size_t>(all_.sections), Mat3<double>{});
  const auto add_centre = [&](Index a, const Mat3<double>& block) {
    centre_[static_cast<std::size_t>(a)] = centre_[static_cast<std::size_t>(a)] + block;
  };
  for (std::size_t i = 0; i < ties_.size(); ++i) {
    add_centre(ties_[i].a, tie_block_[i]);
    if (ties_[i].b >= 0) add_centre(ties_[i].b, tie_block_[i]);
  }
  for (const CentroidBlock& b : blocks) add_centre(b.a, b.aa);
  const auto on_diagonal = [&](std::size_t section, double* to) {
    const double *own = all_.diagonal + section * N * N, *free = all_.free + section * N;
    for (int r = 0; r < N; ++r) {
      for (int c = r; c < N; ++c) to[r * N + c] += own[r * N + c];
      to[r * N + r] += all_.mass[section];
    }
    for (int r = 0; r < 3; ++r)
      for (int c = r; c < 3; ++c) to[r * N + c] += free[r] * free[c] * centre_[section].m[r][c];
  };
  const auto between = [&](std::size_t link, double* to) {
    if (const Index k = links_[link].section; k >= 0) {
      const double* const own = all_.above + static_cast<std::size_t>(k) * N * N;
      for (int i = 0; i < N * N; ++i) to[i] += own[i];
      return;
    }
    const Tie& t = ties_[links_[link].tie];
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        to[r * N + c] -= all_.free[N * t.a + r] * all_.free[N * t.b + c] * tie_block_[links_[link].tie].m[r][c];
  };
  fronts_.factor(on_diagonal, between);
}

}  // namespace osier::deti

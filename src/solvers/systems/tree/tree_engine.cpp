// Linear systems by the recursion along a tree.
#include <algorithm>

#include "solvers/newton_driver.hpp"
#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::systems {

namespace {

template <class T>
class TreeEngine final : public Engine {
 public:
  using Engine::Engine;
  std::size_t bytes() const override {
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    return step_.bytes() + tree_.bytes() + factor_.bytes() + of(pull_) + of(roots_) + of(block_largest_);
  }
  void arrange(const Model& m, Tree tree) override;

 private:
  void forget_forces() override { std::fill(pull_.begin(), pull_.end(), Vec3<T>{}); }
  bool solve(Curvature curvature) override;
  bool has_couples() const override {
    return std::any_of(nodes().begin(), nodes().end(),
                       [&](const TreeNode& n) { return !is_isotropic_segment(step_.model(), n.segment); });
  }
  void solve_positions() override;
  /// False as in solve().
  template <class LinkOf, class RowsOf, class Visit>
  bool solve_with(const LinkOf& link, const RowsOf& rows, Curvature curvature, const Visit& visit);
  void move(double share) override;
  double largest_turn() override {
    return largest(nodes().size(), [&](std::size_t i) { return norm(turn(i)); });
  }
  double largest_correction() override;
  void locate_trouble(StepReport& report) const override;
  double torque_work() const override {
    double work = 0;
    for (std::size_t i = 0; i < nodes().size(); ++i) work += dot(step_.torque(nodes()[i].segment), turn(i));
    return work;
  }

  Correction correction() const override {
    Correction c{std::vector<Vec3d>(step_.u.size()), std::vector<Vec3d>(step_.model().segment_count())};
    for (std::size_t i = 0; i < nodes().size(); ++i) {
      c.w[nodes()[i].segment] = turn(i);
      if (nodes()[i].far_vertex >= 0) c.x[nodes()[i].far_vertex] = displacement(i);
    }
    for (std::size_t r = 0; r < roots_.size(); ++r) c.x[tree_.roots[r]] = cast<double>(factor_.root_displacement()[r]);
    return c;
  }
  const std::vector<TreeNode>& nodes() const { return tree_.nodes; }
  /// What is held has no corrections, but for rounding.
  Vec3d turn(std::size_t i) const {
    return step_.is_fixed_frame(nodes()[i].segment) ? Vec3d{} : cast<double>(factor_.displacement()[i].w);
  }
  /// The turn, of which spin counts as far as it twists the joint to the parent: a cable that nothing but its vertices holds
  /// spins by what rounding makes of its forces, all in one, and no vertex moves.
  Vec3d bent(std::size_t i) const {
    const TreeNode& n = nodes()[i];
    const auto spin = [&](std::size_t node) { return dot(turn(node), director3(step_.q[nodes()[node].segment])); };
    const bool twists = n.joint >= 0 && n.parent < static_cast<Index>(nodes().size());
    const double along = spin(i), beyond = n.joint < 0 ? 0 : twists ? along - spin(static_cast<std::size_t>(n.parent)) : along;
    return turn(i) + (beyond - along) * director3(step_.q[n.segment]);
  }
  Vec3d displacement(std::size_t i) const {
    const Index v = nodes()[i].far_vertex;
    return v >= 0 && step_.is_free(v) ? cast<double>(factor_.displacement()[i].x) : Vec3d{};
  }

  Tree tree_;
  TreeFactor<T> factor_;
  std::vector<RootVertex<T>> roots_;
  std::vector<Vec3<T>> pull_;  ///< per segment, the force through its link, kept across steps
};

template <class T>
void TreeEngine<T>::arrange(const Model& m, Tree tree) {
  tree_ = std::move(tree);
  pull_.resize(m.segment_count());
  std::vector<AxisSets> axes;
  for (const TreeNode& n : tree_.nodes) axes.push_back(axis_sets(m, n));
  roots_.resize(tree_.roots.size());
  factor_.plan(tree_.parents(), static_cast<int>(tree_.roots.size()), tree_.row_ends(), axes);
}

template <class T>
template <class LinkOf, class RowsOf, class Visit>
bool TreeEngine<T>::solve_with(const LinkOf& link, const RowsOf& rows, Curvature curvature, const Visit& visit) {
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r] = assemble_root<T>(step_, tree_.roots[r]);
  const bool exact = curvature == Curvature::exact;
  factor_.allow_either_sign(exact);
  factor_.factor_made(link, roots_, rows, &executor_);
  const auto negative = [&](std::size_t i) { return factor_.is_positive(static_cast<int>(i)) ? 0.0 : 1.0; };
  if (exact && (largest(nodes().size(), negative) > 0 || !factor_.are_others_positive())) return false;
  factor_.solve(&executor_, visit);
  return true;
}

template <class T>
bool TreeEngine<T>::solve(Curvature curvature) {
  return solve_with(
      [&](std::size_t i) {
        return assemble_link<T>(step_, tree_, i, cast<double>(pull_[nodes()[i].segment]), curvature, couples_);
      },
      [&](std::size_t begin, std::size_t end, const auto& put) { assemble_rows<T>(step_, tree_, begin, end, put); }, curvature,
      [&](int i, const Vec6<T>& F, const Vec3<T>&) { pull_[nodes()[static_cast<std::size_t>(i)].segment] = F.x; });
}

template <class T>
void TreeEngine<T>::solve_positions() {
  solve_with(
      [&](std::size_t i) {
        return with_still_frame(assemble_link<T>(step_, tree_, i, {}, Curvature::positive, Couples::of_last_force));
      },
      [&](std::size_t begin, std::size_t end, const auto& put) {
        assemble_rows<T>(step_, tree_, begin, end, [&](std::size_t i, const Row<T>& row) { put(i, with_still_frames(row)); });
      },
      Curvature::positive, [](int, const Vec6<T>&, const Vec3<T>&) {});
}

template <class T>
void TreeEngine<T>::move(double share) {
  executor_.for_each(nodes().size(), [&](std::size_t i) {
    const TreeNode& n = nodes()[i];
    if (n.far_vertex >= 0 && step_.is_free(n.far_vertex)) step_.u[n.far_vertex] += share * displacement(i);
    Quatd& q = step_.q[n.segment];
    if (const Vec3d w = turn(i); norm2(w) > 0) q = normalized(rotation_exp(share * w) * q);
  });
  for (std::size_t r = 0; r < roots_.size(); ++r) step_.u[tree_.roots[r]] += share * cast<double>(factor_.root_displacement()[r]);
}

template <class T>
double TreeEngine<T>::largest_correction() {
  double size = largest(nodes().size(), [&](std::size_t i) {
    return std::max(norm(displacement(i)), step_.model().segment_rest_length[nodes()[i].segment] * norm(bent(i)));
  });
  for (const Vec3<T>& x : factor_.root_displacement())
    size = is_finite(x) ? std::max(size, norm(cast<double>(x))) : std::numeric_limits<double>::quiet_NaN();
  return size;
}

template <class T>
void TreeEngine<T>::locate_trouble(StepReport& report) const {
  const auto note = [](Index& worst, Index here) { worst = worst < 0 ? here : std::min(worst, here); };
  for (std::size_t r = 0; r < roots_.size(); ++r)
    if (!is_finite(factor_.root_displacement()[r])) note(report.worst_vertex, tree_.roots[r]);
  for (std::size_t i = 0; i < nodes().size(); ++i)
    if (!is_finite(displacement(i))) note(report.worst_vertex, nodes()[i].far_vertex);
  for (std::size_t i = 0; i < nodes().size() && report.worst_vertex < 0; ++i)
    if (!is_finite(turn(i))) note(report.worst_segment, nodes()[i].segment);
  if (report.worst_vertex < 0 && report.worst_segment < 0) report.worst_vertex = 0;
}

}  // namespace

std::unique_ptr<Engine> make_tree_engine(const Options& options) {
  if (options.precision == Precision::single_precision) return std::make_unique<TreeEngine<float>>(options);
  return std::make_unique<TreeEngine<double>>(options);
}

}  // namespace osier::systems

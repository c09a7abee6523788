#include "solvers/direct/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/direct/link_assembly.hpp"
#include "solvers/direct/row_iteration.hpp"
#include "solvers/direct/tree_system.hpp"

namespace osier::direct {

/// The algorithm, whatever the number type of its recursion.
class DirectSolver::Engine {
 public:
  explicit Engine(const Options& options) : options_(options), executor_(options.threads) {}
  virtual ~Engine() = default;
  virtual std::size_t bytes() const = 0;
  virtual void rebind(const Model& m) = 0;
  /// Leaves the state as it is where float finds no way down: has_given_up().
  StepReport step(const Model& m, const Control& c, State& state, double h);
  bool has_given_up() const { return given_up_; }

 protected:
  /// Memory for a new tree.
  virtual void plan(const Model& m) = 0;
  /// Corrections for the state at hand, and forces for the next time. False if the exact curvature is not positive.
  virtual bool solve(Curvature curvature) = 0;
  /// The same for positions at the frames at hand, for which the energy is quadratic: their minimum.
  virtual void solve_positions() = 0;
  /// Adds a share of the corrections to u and q.
  virtual void move(double share) = 0;
  /// Largest turn of the corrections [rad] and largest correction [m]; not a number if one of them is none.
  virtual double largest_turn() = 0;
  virtual double largest_correction() = 0;
  virtual void locate_trouble(StepReport& report) const = 0;
  /// Of the torques, along the corrections.
  virtual double torque_work() const = 0;

  void begin(const Model& m, const Control& c, const State& state, double h);
  void correct();
  double extent();
  double free_motion();
  void move_to(double share);
  void settle_positions();
  bool descend();
  struct Correction {
    std::vector<Vec3d> x, w;  ///< per vertex, per segment
  };
  virtual Correction correction() const = 0;
  void store(State& state, StepReport& report);
  /// The largest f(i) that is not negative; not a number if one of them is none.
  template <class F>
  double largest(std::size_t n, const F& f);

  Options options_;
  Executor executor_;
  StepModel step_;
  Outlook outlook_;
  bool was_exact_ = false;        ///< the curvature of the last solve
  int wait_ = 0, next_wait_ = 0;  ///< steps until the exact curvature is tried again, and how many the next time that it fails
  bool given_up_ = false;
  double turned_ = 0;  ///< largest turn of the corrections [rad]
  double share_ = 0;   ///< of the corrections that is in u and q
  std::vector<double> block_largest_;
  /// Below, what the quadratic model leaves out is a hundredth of what it says.
  static constexpr double kSmallTurn = 0.1;
};

namespace {

template <class T>
class EngineOf final : public DirectSolver::Engine {
 public:
  using Engine::Engine;
  std::size_t bytes() const override {
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    return step_.bytes() + factor_.bytes() + rows_.bytes() + of(pull_) + of(roots_) + of(block_largest_);
  }
  void rebind(const Model& m) override {
    step_.forget_tree();
    pull_.assign(m.segment_count(), {});
    wait_ = next_wait_ = 0;
    outlook_.forget();
  }

 private:
  void plan(const Model& m) override;
  bool solve(Curvature curvature) override;
  void solve_positions() override;
  /// False as in solve(). `keep`: the multipliers are those of the step, a good guess for the next time.
  template <class LinkOf, class RowsOf, class Visit>
  bool solve_with(const LinkOf& link, const RowsOf& rows, Curvature curvature, bool keep, const Visit& visit);
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
    for (std::size_t r = 0; r < roots_.size(); ++r) c.x[step_.tree().roots[r]] = cast<double>(factor_.root_displacement()[r]);
    return c;
  }
  const std::vector<TreeNode>& nodes() const { return step_.tree().nodes; }
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

  TreeFactor<T> factor_;
  RowIteration<T> rows_;  ///< those that are not columns of the factor
  std::vector<RootVertex<T>> roots_;
  std::vector<Vec3<T>> pull_;  ///< per segment, the force through its link, kept across steps
};

template <class T>
void EngineOf<T>::plan(const Model& m) {
  pull_.resize(m.segment_count());
  const Tree& tree = step_.tree();
  std::vector<AxisSets> axes;
  for (const TreeNode& n : tree.nodes) axes.push_back(axis_sets(m, n));
  roots_.resize(tree.roots.size());
  factor_.plan(tree.parents(), static_cast<int>(tree.roots.size()), tree.row_ends(), axes);
  rows_ = {};
  if (tree.iterates()) rows_.plan(tree);
}

template <class T>
template <class LinkOf, class RowsOf, class Visit>
bool EngineOf<T>::solve_with(const LinkOf& link, const RowsOf& rows, Curvature curvature, bool keep, const Visit& visit) {
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r] = assemble_root<T>(step_, step_.tree().roots[r]);
  const bool exact = curvature == Curvature::exact;
  factor_.allow_either_sign(exact);
  factor_.factor_made(link, roots_, rows, &executor_);
  if (exact) {  // of a tree whose rows are iterated upon: without them, which is what conjugate gradients need
    const auto negative = [&](std::size_t i) { return factor_.is_positive(static_cast<int>(i)) ? 0.0 : 1.0; };
    if (largest(nodes().size(), negative) > 0 || !factor_.are_others_positive()) return false;
  }
  if (!step_.tree().iterates()) {
    factor_.solve(&executor_, visit);
    return true;
  }
  // A hundredth of what counts as converged: gaps are felt around them.
  const double motion = largest(step_.u.size(), [&](std::size_t v) { return norm(step_.u[v]); });
  rows_.solve(factor_, step_.tree(), rows, executor_,
              {.share = options_.loop_share, .gap = options_.iterations == 0 ? 0.01 * options_.tolerance * motion : 0}, keep,
              visit);
  return true;
}

template <class T>
bool EngineOf<T>::solve(Curvature curvature) {
  return solve_with([&](std::size_t i) { return assemble_link<T>(step_, i, cast<double>(pull_[nodes()[i].segment]), curvature); },
                    [&](std::size_t begin, std::size_t end, const auto& put) { assemble_rows<T>(step_, begin, end, put); },
                    curvature, true,
                    [&](int i, const Vec6<T>& F, const Vec3<T>&) { pull_[nodes()[static_cast<std::size_t>(i)].segment] = F.x; });
}

template <class T>
void EngineOf<T>::solve_positions() {
  solve_with([&](std::size_t i) { return with_still_frame(assemble_link<T>(step_, i, {}, Curvature::positive)); },
             [&](std::size_t begin, std::size_t end, const auto& put) {
               assemble_rows<T>(step_, begin, end, [&](std::size_t i, const Row<T>& row) { put(i, with_still_frames(row)); });
             },
             Curvature::positive, false, [](int, const Vec6<T>&, const Vec3<T>&) {});
}

template <class T>
void EngineOf<T>::move(double share) {
  executor_.for_each(nodes().size(), [&](std::size_t i) {
    const TreeNode& n = nodes()[i];
    if (n.far_vertex >= 0 && step_.is_free(n.far_vertex)) step_.u[n.far_vertex] += share * displacement(i);
    Quatd& q = step_.q[n.segment];
    if (const Vec3d w = turn(i); norm2(w) > 0) q = normalized(rotation_exp(share * w) * q);
  });
  for (std::size_t r = 0; r < roots_.size(); ++r)
    step_.u[step_.tree().roots[r]] += share * cast<double>(factor_.root_displacement()[r]);
}

template <class T>
double EngineOf<T>::largest_correction() {
  double size = largest(nodes().size(), [&](std::size_t i) {
    return std::max(norm(displacement(i)), step_.model().segment_rest_length[nodes()[i].segment] * norm(bent(i)));
  });
  for (const Vec3<T>& x : factor_.root_displacement())
    size = is_finite(x) ? std::max(size, norm(cast<double>(x))) : std::numeric_limits<double>::quiet_NaN();
  return size;
}

template <class T>
void EngineOf<T>::locate_trouble(StepReport& report) const {
  const auto note = [](Index& worst, Index here) { worst = worst < 0 ? here : std::min(worst, here); };
  for (std::size_t r = 0; r < roots_.size(); ++r)
    if (!is_finite(factor_.root_displacement()[r])) note(report.worst_vertex, step_.tree().roots[r]);
  for (std::size_t i = 0; i < nodes().size(); ++i)
    if (!is_finite(displacement(i))) note(report.worst_vertex, nodes()[i].far_vertex);
  for (std::size_t i = 0; i < nodes().size() && report.worst_vertex < 0; ++i)
    if (!is_finite(turn(i))) note(report.worst_segment, nodes()[i].segment);
  if (report.worst_vertex < 0 && report.worst_segment < 0) report.worst_vertex = 0;
}

}  // namespace

template <class F>
double DirectSolver::Engine::largest(std::size_t n, const F& f) {
  constexpr std::size_t kBlock = 128;
  const auto add = [](double x, double& most, double& all) { most = std::max(most, x), all += x; };
  const auto result = [](double most, double all) {
    return std::isfinite(all) ? most : std::numeric_limits<double>::quiet_NaN();
  };
  block_largest_.resize((n + kBlock - 1) / kBlock);
  executor_.for_each(
      block_largest_.size(),
      [&](std::size_t block) {
        double most = 0, all = 0;
        for (std::size_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) add(f(i), most, all);
        block_largest_[block] = result(most, all);
      },
      kBlock);
  double most = 0, all = 0;
  for (double x : block_largest_) add(x, most, all);
  return result(most, all);
}

void DirectSolver::Engine::begin(const Model& m, const Control& c, const State& state, double h) {
  if (step_.build(m, c, h, options_.loops)) plan(m);
  step_.begin(m, c, state, h, executor_);
}

/// With the exact curvature where it is positive, otherwise with what is positive of it. Where it is not, it will not be so soon.
void DirectSolver::Engine::correct() {
  static constexpr int kLongestWait = 63;
  const bool exact = wait_ == 0 && solve(Curvature::exact);
  if (exact != was_exact_) outlook_.forget();
  was_exact_ = exact;
  if (exact) {
    next_wait_ = 0;
    return;
  }
  if (wait_ == 0) wait_ = next_wait_ = std::min(2 * next_wait_ + 1, kLongestWait);
  solve(Curvature::positive);
}

/// How far the rods reach from their first vertex [m].
double DirectSolver::Engine::extent() {
  const Model& m = step_.model();
  const std::vector<Vec3d>& x = step_.start().vertex_position;
  return largest(x.size(), [&](std::size_t v) { return m.vertex_alive[v] ? norm(x[v] - x[0]) : 0; });
}

/// Of the vertex that would move farthest if nothing were elastic [m].
double DirectSolver::Engine::free_motion() {
  return largest(step_.u.size(), [&](std::size_t i) {
    const auto v = static_cast<Index>(i);
    const double weight = step_.vertex_weight(v);
    return step_.model().vertex_alive[v] && step_.is_free(v) && weight > 0 ? norm(step_.vertex_pull(v)) / weight : 0;
  });
}

/// A share of the corrections. Turns beyond a radian are where a quadratic model means nothing.
void DirectSolver::Engine::move_to(double share) {
  move((share - share_) / std::max(1.0, turned_));
  share_ = share;
}

/// Positions to their minimum at the frames at hand; undone if rounding makes that no gain.
void DirectSolver::Engine::settle_positions() {
  const Energy before = step_.energy(executor_);
  const std::vector<Vec3d> u = step_.u;
  solve_positions();
  if (std::isfinite(largest_correction())) move(1);
  if (!(step_.energy(executor_).value <= before.value + 1e-12 * before.magnitude)) step_.u = u;
}

/// The ladder: the whole correction; the same with positions settled at its frames; shares of it, halved, settled likewise: the
/// direction descends, so this ends. Settled positions are what makes large turns possible: along a straight line to where the
/// frames turn, vertices stretch their segments. False when rounding leaves nothing; everything is where it was then.
bool DirectSolver::Engine::descend() {
  const Energy before = step_.energy(executor_);
  const double work = step_.control().has_torque ? torque_work() / std::max(1.0, turned_) : 0;
  const auto lower = [&](double share) {
    return step_.energy(executor_).value - share * work <= before.value + 1e-12 * before.magnitude;
  };
  move_to(1);
  if (lower(1)) return true;
  move_to(0);
  const Correction whole = correction();
  const std::vector<Vec3d> u = step_.u;
  const std::vector<Quatd> q = step_.q;
  double share = 1;
  for (int cut = 0; cut < 12; ++cut, share *= 0.5) {
    for (std::size_t v = 0; v < u.size(); ++v) step_.u[v] = u[v] + (share / std::max(1.0, turned_)) * whole.x[v];
    for (std::size_t f = 0; f < whole.w.size(); ++f)
      step_.q[f] = normalized(rotation_exp((share / std::max(1.0, turned_)) * whole.w[f]) * q[f]);
    if (cut > 0 && lower(share)) return true;
    settle_positions();
    if (lower(share)) return true;
  }
  step_.u = u, step_.q = q;
  return false;
}

StepReport DirectSolver::Engine::step(const Model& m, const Control& c, State& state, double h) {
  begin(m, c, state, h);
  given_up_ = false;
  StepReport report;
  const bool by_tolerance = options_.iterations == 0;
  const int limit = by_tolerance ? options_.max_iterations : options_.iterations;
  double before = std::numeric_limits<double>::infinity();
  if (wait_ > 0) --wait_;
  outlook_.begin(h);
  for (report.iterations = 0; report.iterations < limit;) {
    correct();
    ++report.iterations;
    share_ = 0;
    const double moved = largest_correction();
    if (!std::isfinite(moved)) {
      report.non_finite = true;
      locate_trouble(report);
      break;
    }
    turned_ = largest_turn();
    const auto progress = [&] {
      return Progress{moved, before, largest(step_.u.size(), [&](std::size_t v) { return norm(step_.u[v]); })};
    };
    const auto is_settled = [&](const Progress& p) {
      if (moved <= options_.tolerance * p.motion) return true;
      return is_at_floor(p, free_motion(), extent(), options_.precision == Precision::single_precision);
    };
    // Small turns and shrinking corrections need no proof. Neither does what rounding makes of a rod at rest.
    const bool ordinary = turned_ <= kSmallTurn && (moved <= 0.5 * before || is_settled(progress()));
    bool better = true;
    if (ordinary) move_to(1);
    else better = descend();
    const Progress now = progress();
    const bool enough = outlook_.is_enough(now, ordinary, options_.tolerance);
    const bool settled = enough || is_settled(now);
    given_up_ = !better && !settled && options_.precision == Precision::single_precision;
    if (given_up_) return report;
    report.not_converged = by_tolerance && !settled;
    if (by_tolerance && (settled || !better)) break;
    before = moved;
  }
  store(state, report);
  return report;
}

void DirectSolver::Engine::store(State& state, StepReport& report) {
  const Model& m = step_.model();
  const Control& c = step_.control();
  const double h = step_.h();
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  // By the squares: a state whose energy overflows is as lost as a NaN.
  const auto size = [&](std::size_t v) { return norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v]); };
  const double largest_size = largest(step_.u.size(), [&](std::size_t v) {
    state.vertex_position[v] += step_.u[v];
    if (c.vertex_fixed[v]) state.vertex_position[v] = c.vertex_target[v];
    state.vertex_velocity[v] = m.vertex_alive[v] ? (1 / h) * step_.u[v] : Vec3d{};
    return size(v);
  });
  for (Index v = 0; v < m.vertex_count() && !report.non_finite && !std::isfinite(largest_size); ++v)
    if (!std::isfinite(size(v))) report.non_finite = true, report.worst_vertex = v;
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(step_.q[s])) report.non_finite = true, report.worst_segment = s;
  state.frame_rotation.swap(step_.q);  // q is the start now
  update_frame_velocity(m, c, step_.q, h, state);
}

DirectSolver::DirectSolver(const Model& model, const Options& options) : options_(options) {
  if (options.precision == Precision::single_precision) engine_ = std::make_unique<EngineOf<float>>(options);
  else engine_ = std::make_unique<EngineOf<double>>(options);
  rebind(model);
}
DirectSolver::~DirectSolver() = default;
void DirectSolver::rebind(const Model& model) {
  engine_->rebind(model);
  statics_.reset();
}
StepReport DirectSolver::step(const Model& m, const Control& c, State& state, double h) {
  const StepReport report = engine_->step(m, c, state, h);
  if (!engine_->has_given_up()) return report;
  // Far from where it should be a net, say, has compliances that float cannot add up.
  Options options = options_;
  options.precision = Precision::double_precision;
  return DirectSolver(m, options).step(m, c, state, h);
}
StepReport DirectSolver::solve_static(const Model& m, const Control& c, State& state, const StaticOptions& options) {
  if (!statics_) statics_ = make_statics(m, c);
  return statics_->solve_static(m, c, state, options);
}
std::size_t DirectSolver::bytes() const { return engine_->bytes(); }

std::size_t DirectSolver::bytes(const Model& m, const Control& c, double h, Precision precision, Loops loops) {
  const Tree tree = build_step_tree(m, c, h, loops);
  const TreePlan plan = tree.plan();
  std::size_t axes = 0;
  for (const TreeNode& n : tree.nodes) axes += static_cast<std::size_t>(axis_sets(m, n));
  const auto recursion = [&]<class T>(T) {
    return TreeFactor<T>::bytes(plan, tree.columns, axes) + (tree.iterates() ? RowIteration<T>::bytes(tree) : 0) +
           tree.roots.size() * sizeof(RootVertex<T>) + static_cast<std::size_t>(m.segment_count()) * sizeof(Vec3<T>);
  };
  return StepModel::bytes(m, tree) + (precision == Precision::single_precision ? recursion(float{}) : recursion(double{}));
}

}  // namespace osier::direct

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
  StepReport step(const Model& m, const Control& c, State& state, double h);

 protected:
  /// Memory for a new tree.
  virtual void plan(const Model& m) = 0;
  /// Corrections for the state at hand, and tensions for the next time.
  virtual void solve() = 0;
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
  double extent();
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
    return step_.bytes() + factor_.bytes() + rows_.bytes() + of(tension_) + of(roots_) + of(block_largest_);
  }
  void rebind(const Model& m) override {
    step_.forget_tree();
    tension_.assign(m.segment_count(), T(0));
  }

 private:
  void plan(const Model& m) override;
  void solve() override;
  void solve_positions() override;
  /// `keep`: the multipliers are those of the step, a good guess for the next time.
  template <class LinkOf, class RowsOf, class Visit>
  void solve_with(const LinkOf& link, const RowsOf& rows, bool keep, const Visit& visit);
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
  Vec3d displacement(std::size_t i) const {
    const Index v = nodes()[i].far_vertex;
    return v >= 0 && step_.is_free(v) ? cast<double>(factor_.displacement()[i].x) : Vec3d{};
  }

  TreeFactor<T> factor_;
  RowIteration<T> rows_;  ///< those that are not columns of the factor
  std::vector<RootVertex<T>> roots_;
  std::vector<T> tension_;  ///< per segment, kept across steps
};

template <class T>
void EngineOf<T>::plan(const Model& m) {
  tension_.resize(m.segment_count(), T(0));
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
void EngineOf<T>::solve_with(const LinkOf& link, const RowsOf& rows, bool keep, const Visit& visit) {
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r] = assemble_root<T>(step_, step_.tree().roots[r]);
  factor_.factor_made(link, roots_, rows, &executor_);
  if (!step_.tree().iterates()) {
    factor_.solve(&executor_, visit);
    return;
  }
  // A hundredth of what counts as converged: gaps are felt around them.
  const double motion = largest(step_.u.size(), [&](std::size_t v) { return norm(step_.u[v]); });
  rows_.solve(factor_, step_.tree(), rows, executor_,
              {.share = options_.loop_share, .gap = options_.iterations == 0 ? 0.01 * options_.tolerance * motion : 0}, keep,
              visit);
}

template <class T>
void EngineOf<T>::solve() {
  solve_with([&](std::size_t i) { return assemble_link<T>(step_, i, static_cast<double>(tension_[nodes()[i].segment])); },
             [&](std::size_t begin, std::size_t end, const auto& put) { assemble_rows<T>(step_, begin, end, put); }, true,
             [&](int i, const Vec6<T>& F, const Vec3<T>& arm) {
               tension_[nodes()[static_cast<std::size_t>(i)].segment] = std::max(T(0), dot(F.x, normalized(arm)));
             });
}

template <class T>
void EngineOf<T>::solve_positions() {
  solve_with([&](std::size_t i) { return with_still_frame(assemble_link<T>(step_, i, 0)); },
             [&](std::size_t begin, std::size_t end, const auto& put) {
               assemble_rows<T>(step_, begin, end, [&](std::size_t i, const Row<T>& row) { put(i, with_still_frames(row)); });
             },
             false, [](int, const Vec6<T>&, const Vec3<T>&) {});
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
    return std::max(norm(displacement(i)), step_.model().segment_rest_length[nodes()[i].segment] * norm(turn(i)));
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

/// How far the rods reach from their first vertex [m].
double DirectSolver::Engine::extent() {
  const Model& m = step_.model();
  const std::vector<Vec3d>& x = step_.start().vertex_position;
  return largest(x.size(), [&](std::size_t v) { return m.vertex_alive[v] ? norm(x[v] - x[0]) : 0; });
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
  StepReport report;
  const bool by_tolerance = options_.iterations == 0;
  const int limit = by_tolerance ? options_.max_iterations : options_.iterations;
  double before = std::numeric_limits<double>::infinity();
  for (report.iterations = 0; report.iterations < limit;) {
    solve();
    ++report.iterations;
    share_ = 0;
    const double moved = largest_correction();
    if (!std::isfinite(moved)) {
      report.non_finite = true;
      locate_trouble(report);
      break;
    }
    turned_ = largest_turn();
    // Small turns and shrinking corrections need no proof. Neither do those of 1e-12 of the rods' reach: they are what rounding
    // makes of positions, and a rod at rest has no other motion.
    const bool rounding = !(moved <= 0.5 * before) && moved <= 1e-12 * extent();
    const bool ordinary = turned_ <= kSmallTurn && (moved <= 0.5 * before || rounding);
    bool better = true;
    if (ordinary) move_to(1);
    else better = descend();
    const double motion = largest(step_.u.size(), [&](std::size_t v) { return norm(step_.u[v]); });
    // A correction that has stopped shrinking and is below what the number type resolves is as good as it gets.
    const double attainable = options_.precision == Precision::single_precision ? kFloatFloor : kDoubleFloor;
    const bool at_floor = !(moved <= 0.5 * before) && moved <= attainable * motion;
    const bool settled = moved <= options_.tolerance * motion || moved <= 1e-12 * extent() || at_floor;
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

DirectSolver::DirectSolver(const Model& model, const Options& options) {
  if (options.precision == Precision::single_precision) engine_ = std::make_unique<EngineOf<float>>(options);
  else engine_ = std::make_unique<EngineOf<double>>(options);
  rebind(model);
}
DirectSolver::~DirectSolver() = default;
void DirectSolver::rebind(const Model& model) {
  engine_->rebind(model);
  statics_.reset();
}
StepReport DirectSolver::step(const Model& m, const Control& c, State& state, double h) { return engine_->step(m, c, state, h); }
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
           tree.roots.size() * sizeof(RootVertex<T>) + static_cast<std::size_t>(m.segment_count()) * sizeof(T);
  };
  return StepModel::bytes(m, tree) + (precision == Precision::single_precision ? recursion(float{}) : recursion(double{}));
}

}  // namespace osier::direct

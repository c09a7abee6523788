// Linear systems by conjugate gradients on blocks.
#include "solvers/systems/blocks/block_iteration.hpp"

namespace osier::systems {

namespace {

template <class T>
class BlockEngine final : public Engine {
 public:
  using Engine::Engine;
  std::size_t bytes() const override {
    return step_.bytes() + blocks_.bytes() + block_largest_.capacity() * sizeof(block_largest_[0]);
  }
  void arrange(const Model& m, Tree) override { blocks_.arrange(m, options_.simd); }

 private:
  void forget_forces() override { blocks_.forget_strains(); }
  bool solve(Curvature curvature) override { return blocks_.solve(step_, curvature, enough(), executor_); }
  bool was_solved() const override { return blocks_.is_solved(); }
  void solve_positions() override { blocks_.solve_positions(step_, enough(), executor_); }
  /// A tenth of what counts as converged; with a fixed number of iterations, little enough for any.
  typename BlockIteration<T>::Enough enough() {
    const double motion = largest(step_.u.size(), [&](std::size_t v) { return norm(step_.u[v]); });
    const double floor = std::is_same_v<T, float> ? kFloatFloor : kDoubleFloor;
    return {.share = options_.loop_share, .gap = (options_.iterations == 0 ? 0.1 * options_.tolerance : 1e-3 * floor) * motion};
  }
  void move(double share) override {
    executor_.for_each(step_.u.size(), [&](std::size_t v) { step_.u[v] += share * displacement(static_cast<Index>(v)); });
    executor_.for_each(segments(), [&](std::size_t s) {
      Quatd& q = step_.q[s];
      if (const Vec3d w = turn(static_cast<Index>(s)); norm2(w) > 0) q = normalized(rotation_exp(share * w) * q);
    });
  }
  double largest_turn() override {
    return largest(segments(), [&](std::size_t s) { return norm(turn(static_cast<Index>(s))); });
  }
  double largest_correction() override {
    const double moved = largest(step_.u.size(), [&](std::size_t v) { return norm(displacement(static_cast<Index>(v))); });
    const double bent = largest(segments(), [&](std::size_t s) { return bend(static_cast<Index>(s)); });
    return std::isfinite(moved + bent) ? std::max(moved, bent) : std::numeric_limits<double>::quiet_NaN();
  }
  /// The turn times the length of its segment, of which spin counts as far as it twists joints.
  double bend(Index s) const {
    const Model& m = step_.model();
    const auto spin = [&](Index f) { return m.is_anchor(f) ? 0 : dot(turn(f), director3(step_.q[f])); };
    const double along = spin(s);
    double twist = 0;
    for (Index e : m.frame_joints.of(s)) twist = std::max(twist, std::abs(along - spin(m.joint_frames[e / 2][1 - e % 2])));
    return m.segment_rest_length[s] * (norm(turn(s) - along * director3(step_.q[s])) + twist);
  }
  void locate_trouble(StepReport& report) const override {
    for (Index v = step_.model().vertex_count(); v-- > 0;)
      if (!is_finite(displacement(v))) report.worst_vertex = v;
    for (Index s = step_.model().segment_count(); s-- > 0 && report.worst_vertex < 0;)
      if (!is_finite(turn(s))) report.worst_segment = s;
    if (report.worst_vertex < 0 && report.worst_segment < 0) report.worst_vertex = 0;
  }
  double torque_work() const override {
    double work = 0;
    for (Index s = 0; s < step_.model().segment_count(); ++s) work += dot(step_.torque(s), turn(s));
    return work;
  }
  Correction correction() const override {
    Correction c{std::vector<Vec3d>(step_.u.size()), std::vector<Vec3d>(segments())};
    for (std::size_t v = 0; v < c.x.size(); ++v) c.x[v] = displacement(static_cast<Index>(v));
    for (std::size_t s = 0; s < c.w.size(); ++s) c.w[s] = turn(static_cast<Index>(s));
    return c;
  }

  std::size_t segments() const { return static_cast<std::size_t>(step_.model().segment_count()); }
  Vec3d displacement(Index v) const { return cast<double>(blocks_.displacement(v)); }
  Vec3d turn(Index s) const { return cast<double>(blocks_.turn(s)); }

  BlockIteration<T> blocks_;
};

}  // namespace

std::unique_ptr<Engine> make_block_engine(const Options& options) {
  if (options.precision == Precision::single_precision) return std::make_unique<BlockEngine<float>>(options);
  return std::make_unique<BlockEngine<double>>(options);
}

}  // namespace osier::systems

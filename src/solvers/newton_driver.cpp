#include "solvers/newton_driver.hpp"

#include "core/archive.hpp"
#include "model/held_axes.hpp"
#include "solvers/first_guess.hpp"

namespace osier::systems {

void NewtonDriver::rebind() {
  if (system_) system_->forget_forces();
  wait_ = next_wait_ = 0;
  outlook_.forget();
  z_.q.clear();
}

void NewtonDriver::carry(Archive& archive) { archive(z_.q, outlook_, was_exact_, wait_, next_wait_); }

/// Sets the unknowns of the first iteration: vertices keep their velocities, frames turn with their edges and spin as in the last
/// step.
void NewtonDriver::begin(const Model& m, const Control& c, const State& state, double h, const Subset& subset,
                         contact::ContactStep* contact) {
  potential_.begin(m, c, state, h, &subset);
  potential_.set_contact(contact);
  subset_ = &subset;
  z_.u.resize(m.vertex_count());
  if (contact) {
    z_.u.assign(z_.u.size(), {});
    contact->predict(z_.u);
  } else {
    executor_.for_each(subset.vertices.size(), [&](std::size_t i) {
      const Index v = subset.vertices[i];
      if (!m.vertex_alive[v]) z_.u[v] = {};
      else z_.u[v] = c.vertex_fixed[v] ? c.vertex_target[v] - state.vertex_position[v] : h * state.vertex_velocity[v];
    });
    for (const HeldAxes& held : c.held_axes) {
      const Vec3d& x = state.vertex_position[held.vertex];
      if (m.vertex_alive[held.vertex]) z_.u[held.vertex] = held_place(held, x + z_.u[held.vertex]) - x;
    }
  }
  const bool known = z_.q.size() == state.frame_rotation.size();  // frames of the step before
  z_.q.resize(m.frame_count());
  const bool inertia = h > 0 && m.has_inertia();
  executor_.for_each(subset.frames.size(), [&](std::size_t i) {
    const Index f = subset.frames[i];
    Quatd& q = z_.q[f];
    const Quatd last = known ? q : state.frame_rotation[f];
    q = state.frame_rotation[f];
    if (inertia && c.frame_control[f] != FrameControl::fixed) {
      q = guessed_frame(m, c, state, h, f);
    } else if (h > 0 && f < m.segment_count() && c.frame_control[f] == FrameControl::free) {
      const Vec3d edge = potential_.edge_at_start(f);
      double free;
      q = normalized(carried_turn(edge, edge_over_length(m, z_.u, f), free) * spin_of(turn_between(last, q), edge) * q);
    }
    if (c.frame_control[f] == FrameControl::fixed) q = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) q = nearest_on_hinge(q, c.frame_target[f], c.frame_hinge_axis[f]);
  });
}

/// The accuracy of iterative solves: a tenth of the tolerance. With a fixed number of iterations, a thousandth of the rounding
/// floor, which is enough for any number.
Accuracy NewtonDriver::accuracy() {
  const double floor = options_.precision == Precision::single_precision ? kFloatFloor : kDoubleFloor;
  return {.share = options_.loop_share, .gap = (options_.iterations == 0 ? 0.1 * options_.tolerance : 1e-3 * floor) * motion()};
}

/// Linearises and solves. Returns false where the exact curvature is not positive definite.
bool NewtonDriver::solve_linear(Curvature curvature, bool frames_move) {
  const Linearisation how{.curvature = curvature, .couples = couples_, .frames_move = frames_move};
  if (!system_->linearise(potential_, z_, how).definite && curvature == Curvature::exact) return false;
  return system_->step(accuracy());
}

/// Finds a correction with the exact curvature, or with the positive one where that fails. After a failure the exact curvature is
/// not tried for some steps, since it will fail again.
void NewtonDriver::correct() {
  static constexpr int kLongestWait = 63;
  const bool exact = wait_ == 0 && solve_linear(Curvature::exact);
  if (exact != was_exact_) outlook_.forget();
  was_exact_ = exact;
  if (exact) {
    next_wait_ = 0;
  } else {
    if (wait_ == 0) wait_ = next_wait_ = std::min(2 * next_wait_ + 1, kLongestWait);
    solve_linear(Curvature::positive);
  }
  share_ = 0;
  measure_correction();
}

/// The turn of a frame times the length of its segment. Spin about the segment counts as far as it twists joints: a cable that
/// only its vertices hold spins as a whole by rounding errors of its forces, and no vertex moves.
double NewtonDriver::bend(Index s) const {
  const Model& m = potential_.model();
  const Vec3d turn = system_->turn(s), d = director3(z_.q[s]);
  const double along = dot(turn, d);
  double twist = 0;
  for (Index e : m.frame_joints.of(s)) {
    const Index other = m.joint_frames[e / 2][1 - e % 2];
    const double spin = m.is_anchor(other) ? 0 : dot(system_->turn(other), director3(z_.q[other]));
    twist = std::max(twist, std::abs(along - spin));
  }
  return m.segment_rest_length[s] * (norm(turn - along * d) + twist);
}

void NewtonDriver::measure_correction() {
  turned_ = largest(subset_->segments, [&](Index s) { return norm(system_->turn(s)); });
  const double moved = largest(subset_->vertices, [&](Index v) { return norm(system_->displacement(v)); });
  const double bent = largest(subset_->segments, [&](Index s) { return bend(s); });
  moved_ = std::isfinite(moved + bent) ? std::max(moved, bent) : std::numeric_limits<double>::quiet_NaN();
}

double NewtonDriver::motion() {
  return largest(subset_->vertices, [&](Index v) { return norm(z_.u[v]); });
}

/// How far the rods reach from their first living vertex [m].
double NewtonDriver::extent() {
  const Model& m = potential_.model();
  const std::vector<Vec3d>& x = potential_.start().vertex_position;
  const IndexList& vertices = subset_->vertices;
  std::size_t first = 0;
  while (first + 1 < vertices.size() && !m.vertex_alive[vertices[first]]) ++first;
  return largest(vertices, [&](Index v) { return m.vertex_alive[v] ? norm(x[v] - x[vertices[first]]) : 0; });
}

/// The largest displacement of a vertex if nothing were elastic [m].
double NewtonDriver::free_motion() {
  return largest(subset_->vertices, [&](Index v) {
    const double weight = potential_.vertex_weight(v);
    const bool moves = potential_.model().vertex_alive[v] && potential_.is_free(v) && weight > 0;
    return moves ? norm(potential_.vertex_force(v)) / weight : 0;
  });
}

/// Adds a share of the corrections to the unknowns.
void NewtonDriver::move(double share) {
  executor_.for_each(subset_->vertices.size(), [&](std::size_t i) {
    const Index v = subset_->vertices[i];
    z_.u[v] += share * system_->displacement(v);
  });
  executor_.for_each(subset_->segments.size(), [&](std::size_t i) {
    const Index s = subset_->segments[i];
    if (const Vec3d w = system_->turn(s); norm2(w) > 0) z_.q[s] = normalized(rotation_exp(share * w) * z_.q[s]);
  });
}

/// Moves to a share of the corrections, scaled down so that no frame turns by more than a radian: the quadratic model reaches no
/// further.
void NewtonDriver::move_to(double share) {
  move((share - share_) / std::max(1.0, turned_));
  share_ = share;
}

/// Moves positions to their minimum at the present frames. Undone if rounding makes the energy no lower.
void NewtonDriver::settle_positions() {
  const EnergyTerms before = potential_.value(z_, &executor_);
  const std::vector<Vec3d> u = z_.u;
  solve_linear(Curvature::positive, false);
  const double moved = largest(subset_->vertices, [&](Index v) { return norm(system_->displacement(v)); });
  if (std::isfinite(moved)) move(1);
  if (!(potential_.value(z_, &executor_).total() <= before.total() + 1e-12 * before.magnitude)) z_.u = u;
}

/// Line search. Tries the whole correction, then the whole correction with positions settled at its frames, then halved shares
/// with settled positions. The direction descends, so this ends. Settled positions make large turns possible: vertices that move
/// along straight lines while frames turn stretch their segments. Returns false when rounding leaves no lower energy; the
/// unknowns are those of before then.
bool NewtonDriver::descend() {
  potential_.set_torque_point(z_.q);
  const EnergyTerms before = potential_.value(z_, &executor_);
  const auto lower = [&] { return potential_.value(z_, &executor_).total() <= before.total() + 1e-12 * before.magnitude; };
  move_to(1);
  if (lower()) return true;
  move_to(0);
  const Unknowns start = z_;
  Field whole{std::vector<Vec3d>(z_.u.size()), std::vector<Vec3d>(z_.q.size())};
  for (std::size_t i = 0; i < subset_->vertices.size(); ++i)
    whole.x[subset_->vertices[i]] = system_->displacement(subset_->vertices[i]);
  for (std::size_t i = 0; i < subset_->segments.size(); ++i) whole.w[subset_->segments[i]] = system_->turn(subset_->segments[i]);
  double share = 1 / std::max(1.0, turned_);
  for (int cut = 0; cut < 12; ++cut, share *= 0.5) {
    for (std::size_t i = 0; i < subset_->vertices.size(); ++i) {
      const Index v = subset_->vertices[i];
      z_.u[v] = start.u[v] + share * whole.x[v];
    }
    for (std::size_t i = 0; i < subset_->segments.size(); ++i) {
      const Index s = subset_->segments[i];
      z_.q[s] = normalized(rotation_exp(share * whole.w[s]) * start.q[s]);
    }
    if (cut > 0 && lower()) return true;
    settle_positions();
    if (lower()) return true;
  }
  z_ = start;
  return false;
}

StepReport NewtonDriver::solve(const Model& m, const Control& c, const State& state, double h, const Subset& subset) {
  begin(m, c, state, h, subset);
  has_arrived_ = true;
  given_up_ = false;
  StepReport report;
  const bool in_float = options_.precision == Precision::single_precision;
  const bool by_tolerance = options_.iterations == 0;
  const int limit = by_tolerance ? options_.max_iterations : options_.iterations;
  double before = std::numeric_limits<double>::infinity();
  if (wait_ > 0) --wait_;
  outlook_.begin(h);
  couples_ = Couples::of_last_force;
  for (report.iterations = 0; report.iterations < limit;) {
    correct();
    if (couples_ == Couples::of_last_force && !is_ordinary({moved_, before, 0}, turned_) && system_->has_couples()) {
      if (!std::isfinite(moved_)) system_->forget_forces();
      couples_ = Couples::of_strain;
      correct();
    }
    ++report.iterations;
    if (!std::isfinite(moved_)) {
      report.non_finite = true;
      locate_trouble(report);
      break;
    }
    const double moved = moved_;
    const auto progress = [&] { return Progress{moved, before, motion()}; };
    const auto is_settled = [&](const Progress& p) {
      if (moved <= options_.tolerance * p.motion) return true;
      return is_at_floor(p, free_motion(), extent(), in_float);
    };
    // Rounding errors of a rod at rest need no proof that the energy falls either.
    const bool ordinary = is_ordinary({moved, before, 0}, turned_) || (turned_ <= kSmallTurn && is_settled(progress()));
    bool better = true;
    if (ordinary) {
      move_to(1);
      couples_ = Couples::of_last_force;
    } else {
      better = descend();
    }
    const Progress now = progress();
    const bool enough = outlook_.is_enough(now, ordinary, options_.tolerance);
    const bool settled = system_->was_solved() && (enough || is_settled(now));
    given_up_ = !better && !settled && in_float;
    if (given_up_) return report;
    report.not_converged = by_tolerance && !settled;
    if (by_tolerance && (settled || !better)) break;
    before = moved;
  }
  if (report.non_finite || report.not_converged) {
    // Discard the link forces of a failed step; they would poison the next warm start.
    system_->forget_forces();
    outlook_.forget();
  }
  return report;
}

void NewtonDriver::locate_trouble(StepReport& report) const {
  const IndexList &vertices = subset_->vertices, &segments = subset_->segments;
  for (std::size_t i = 0; i < vertices.size() && report.worst_vertex < 0; ++i)
    if (!is_finite(system_->displacement(vertices[i]))) report.worst_vertex = vertices[i];
  for (std::size_t i = 0; i < segments.size() && report.worst_vertex < 0 && report.worst_segment < 0; ++i)
    if (!is_finite(system_->turn(segments[i]))) report.worst_segment = segments[i];
  if (report.worst_vertex < 0 && report.worst_segment < 0) report.worst_vertex = 0;
}

void NewtonDriver::store(State& state, StepReport& report) {
  const Model& m = potential_.model();
  const Control& c = potential_.control();
  const double h = potential_.h();
  // The test uses squares, because a state whose energy overflows is as useless as NaN.
  const auto size = [&](Index v) { return norm2(state.vertex_position[v]) + norm2(state.vertex_velocity_previous[v]); };
  const double largest_size = largest(subset_->vertices, [&](Index v) {
    state.vertex_position[v] += z_.u[v];
    // What the guard has held back is not there yet.
    if (c.vertex_fixed[v] && has_arrived_) state.vertex_position[v] = c.vertex_target[v];
    if (const HeldAxes* held = c.held_axes.empty() || !has_arrived_ ? nullptr : held_axes_of(c, v))
      state.vertex_position[v] = held_place(*held, state.vertex_position[v]);
    state.vertex_velocity_previous[v] = m.vertex_alive[v] ? (1 / h) * z_.u[v] : Vec3d{};
    return size(v);
  });
  const IndexList &vertices = subset_->vertices, &segments = subset_->segments;
  for (std::size_t i = 0; i < vertices.size() && !report.non_finite && !std::isfinite(largest_size); ++i)
    if (!std::isfinite(size(vertices[i]))) {
      report.non_finite = true;
      report.worst_vertex = vertices[i];
    }
  for (std::size_t i = 0; i < segments.size() && !report.non_finite; ++i)
    if (!is_finite(z_.q[segments[i]])) {
      report.non_finite = true;
      report.worst_segment = segments[i];
    }
  for (std::size_t i = 0; i < segments.size(); ++i) std::swap(state.frame_rotation[segments[i]], z_.q[segments[i]]);
  update_frame_velocity(m, c, z_.q, h, state, &segments);
}

std::size_t NewtonDriver::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return potential_.bytes() + of(z_.u) + of(z_.q) + of(block_largest_) + (system_ ? system_->bytes() : 0);
}

std::size_t NewtonDriver::bytes(const Model& m) {
  const auto nv = static_cast<std::size_t>(m.vertex_count()), nf = static_cast<std::size_t>(m.frame_count());
  return StepPotential::bytes(m) + nv * sizeof(Vec3d) + nf * sizeof(Quatd);
}

}  // namespace osier::systems

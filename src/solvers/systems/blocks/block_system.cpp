#include "solvers/systems/blocks/block_system.hpp"

#include <cmath>

#include "exec/reduce.hpp"
#include "linalg/pcg.hpp"
#include "solvers/joint_model.hpp"
#include "solvers/step_potential.hpp"
#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::systems {

namespace {

constexpr std::size_t kTilesPerSum = 16;  ///< number of tiles whose sums are added up first

double mean(const Mat3<double>& m) { return (m.m[0][0] + m.m[1][1] + m.m[2][2]) / 3; }
Vec3d over(const Vec3d& a, const Vec3d& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
double inverse_or_0(double x) { return x > 0 ? 1 / x : 0; }

}  // namespace

template <class T>
template <class Visit>
void BlockSystem<T>::each_array(std::size_t joints, const Visit& visit) {
  const std::size_t v = layout_.vertex_places(), s = layout_.segment_places();
  visit(direction_, 4 * (v + s + 1)), visit(force_, 4 * (s + 1));
  visit(joint_, at(isotropic_ ? joint_numbers(true) : joint_numbers(false)) * (joints + 1));
  visit(solution_, 3 * (v + s)), visit(left_, 3 * (v + s)), visit(image_, 3 * v);
  visit(weight_, v), visit(vertex_inverse_, v);
  visit(frame_inverse_, kFrameInverseRows * s), visit(arm_, 3 * s), visit(strain_, 3 * s);
  visit(stiffness_, at(isotropic_ ? stiffness_rows(true) : stiffness_rows(false)) * s);
}

template <class T>
void BlockSystem<T>::bind(const Model& m, const Control&, const Subset& subset, double) {
  if (subset_ == &subset) return;
  subset_ = &subset;
  isotropic_ = m.is_isotropic();
  kernel_ = &block_kernel<T>(simd_, isotropic_);
  layout_ = lay_out_blocks(m, subset, kernel_->lanes);
  each_array(at(m.joint_count()), [](Numbers& a, std::size_t n) { a = Numbers(n, T(0)); });
  // One number for each group of tiles, or for each group of as many vertices or segments, dead ones included.
  const std::size_t elements = std::max(subset.vertices.size(), subset.segments.size()), lanes = at(layout_.lanes);
  part_.assign(std::max(layout_.tiles.size(), (elements + lanes - 1) / lanes) / kTilesPerSum + 1, 0);
  part_most_ = part_;
  inertia_ = {};
}

template <class T>
BlockView<T> BlockSystem<T>::view() {
  return {.tile = layout_.tiles.data(),
          .index = layout_.index.data(),
          .vertex_tiles = static_cast<int>(layout_.vertex_tiles),
          .direction = direction_.data(),
          .force = force_.data(),
          .joint = joint_.data(),
          .solution = solution_.data(),
          .left = left_.data(),
          .image = image_.data(),
          .weight = weight_.data(),
          .vertex_inverse = vertex_inverse_.data(),
          .frame_inverse = frame_inverse_.data(),
          .arm = arm_.data(),
          .strain = strain_.data(),
          .stiffness = stiffness_.data(),
          .inertia = inertia_.empty() ? nullptr : inertia_.data(),
          .exact = curvature_ == Curvature::exact};
}

template <class T>
template <class F>
double BlockSystem<T>::sum(std::size_t first, std::size_t last, const F& f) {
  const auto of_range = [&](std::size_t begin, std::size_t end) {
    return f(static_cast<int>(first + begin), static_cast<int>(first + end));
  };
  const auto add = [](double& all, double x) { all += x; };
  return reduce_ranges(executor_, last - first, kTilesPerSum, part_.data(), of_range, add, 0.0, at(layout_.lanes));
}

template <class T>
template <class F>
double BlockSystem<T>::largest(const IndexList& list, const F& f) {
  const auto take = [](double& most, double x) { most = std::max(most, x); };
  const auto of = [&](std::size_t i) { return f(list[i]); };
  return reduce(executor_, list.size(), kTilesPerSum * at(layout_.lanes), part_most_.data(), of, take);
}

template <class T>
void BlockSystem<T>::linearise_joint(Index j) {
  const Model& m = potential_->model();
  if (!m.joint_alive[j]) return;
  Mat3<double> stiffness;
  Vec3d gradient;
  if (curvature_ == Curvature::exact) {
    const JointHessian h = potential_->joint_hessian(z_->q, j);
    stiffness = h.same;
    gradient = h.gradient;
  } else {
    const auto [a, b] = m.joint_frames[j];
    const JointModel model = joint_model(potential_->joint_spring(j), z_->q[a], z_->q[b]);
    const auto stiff = [](double c) { return c < kLoose<double> ? 1 / c : 0; };
    stiffness =
        rotated_diagonal(model.axes, Vec3d{stiff(model.compliance.x), stiff(model.compliance.y), stiff(model.compliance.z)});
    gradient = model.gradient;
  }
  T* to = joint_.data() + at(isotropic_ ? joint_numbers(true) : joint_numbers(false)) * at(j);
  to[0] = static_cast<T>(gradient.x), to[1] = static_cast<T>(gradient.y), to[2] = static_cast<T>(gradient.z);
  const Sym3<T> k = lower_triangle<T>(stiffness);
  to[3] = k.xx;
  if (!isotropic_) to[4] = k.yx, to[5] = k.yy, to[6] = k.zx, to[7] = k.zy, to[8] = k.zz;
}

template <class T>
void BlockSystem<T>::linearise_segment(bool frames_move, Index s) {
  const StepPotential& step = *potential_;
  const Quatd& q = z_->q[s];
  const Model& m = step.model();
  const Index place = layout_.segment_place[s];
  if (place < 0) return;
  frame_inverse_[row(place, 0, kFrameInverseRows)] = frame_inverse_[row(place, 1, kFrameInverseRows)] = T(0);
  put(left_, first_segment() + place, Vec3<T>{});
  const double l = m.segment_rest_length[s];
  const SegmentAtHand here = step.segment(*z_, s);
  const Vec3d arm = l * here.axis, &k = here.spring.k;
  put(arm_, place, cast<T>(arm));
  const Mat3<double> C = here.isotropic ? identity3(k.x / (l * l)) : (1 / (l * l)) * rotated_diagonal(rotation_matrix(q), k);
  if (isotropic_) stiffness_[row(place, 0, 1)] = static_cast<T>(C.m[0][0]);
  else put(stiffness_, place, lower_triangle<T>(C));
  if (!frames_move || step.is_fixed_frame(s)) return;
  // Only tension has positive curvature.
  Vec3d strain = cast<double>(vector(strain_, place));
  if (curvature_ == Curvature::positive) {
    const Vec3d tension = (std::max(0.0, dot(C * strain, arm)) / norm2(arm)) * arm;
    const bool stiff = k.x > 0 && k.y > 0 && k.z > 0;
    strain = stiff ? (l * l) * rotate(q, over(rotate(conj(q), tension), k)) : Vec3d{};
  }
  put(strain_, place, cast<T>(strain));
  Vec3d couple = -1.0 * stretch_shear::gradient_w(here.section, here.edge);
  if (step.control().has_torque) couple += step.torque(s, q);
  Mat3<double> inertia{};
  for (const DirectionTerm& term : step.directions(s)) {
    const Vec3d a = rotate(q, term.a);
    inertia = inertia + stretch_shear::hessian_ww(term.k, curvature_ == Curvature::exact ? term.y : a, a);
    couple -= stretch_shear::gradient_w(term.k, term.y, a);
  }
  if (!inertia_.empty()) put(inertia_, place, lower_triangle<T>(inertia));
  double along = std::max(0.0, mean(inertia)), joints = 0;
  for (Index e : m.frame_joints.of(s)) {
    const T* joint = joint_.data() + at(isotropic_ ? joint_numbers(true) : joint_numbers(false)) * at(e / 2);
    const Vec3d gradient{static_cast<double>(joint[0]), static_cast<double>(joint[1]), static_cast<double>(joint[2])};
    couple -= (e % 2 == 1 ? 1.0 : -1.0) * gradient;
    joints += static_cast<double>(isotropic_ ? joint[3] : (joint[3] + joint[5] + joint[8]) / T(3));
  }
  along += std::max(0.0, joints);
  const double a2 = norm2(arm), across = along + a2 * mean(C) + std::max(0.0, dot(C * strain, arm));
  // Regularise the spin of a frame without joints, which only rounding errors cause: the stiffer the better.
  if (!(along > 0)) along = across;
  if (step.control().frame_control[s] == FrameControl::hinged) {
    const Vec3d& axis = step.control().frame_hinge_axis[s];
    const double along_arm = dot(axis, arm);
    const double about = across + (along - across) * along_arm * along_arm / a2;
    hinges_.push_back({place, cast<T>(axis), static_cast<T>(inverse_or_0(about))});
    couple = dot(axis, couple) * axis;
  } else {
    frame_inverse_[row(place, 0, kFrameInverseRows)] = static_cast<T>(inverse_or_0(across));
    frame_inverse_[row(place, 1, kFrameInverseRows)] = static_cast<T>((inverse_or_0(along) - inverse_or_0(across)) / a2);
  }
  put(left_, first_segment() + place, cast<T>(couple));
}

/// Sets the numbers of a vertex. Forces are added up in double: in a tight rope their difference is small against each of them.
template <class T>
void BlockSystem<T>::linearise_vertex(Index v) {
  const StepPotential& step = *potential_;
  const Model& m = step.model();
  const Index place = layout_.vertex_place[v];
  if (place < 0) return;
  const double weight = step.vertex_weight(v);
  weight_[at(place)] = static_cast<T>(weight);
  vertex_inverse_[at(place)] = T(0);
  put(left_, place, Vec3<T>{});
  if (!step.is_free(v)) return;
  Vec3d force = step.vertex_force(v) - weight * z_->u[v];
  double block = weight;
  for (Index e : m.vertex_segments.of(v)) {
    const Index s = e / 2;
    if (!subset_->has_segment(m, s)) continue;
    const double l = m.segment_rest_length[s];
    const SegmentAtHand here = step.segment(*z_, s);
    force += (e % 2 == 1 ? -1 / l : 1 / l) * here.section;
    block += (here.spring.k.x + here.spring.k.y + here.spring.k.z) / (3 * l * l);
  }
  for (const VertexBlock& extra : hessian_.blocks()) {
    if (extra.a == v) block += mean(extra.aa);
    else if (extra.segment >= 0 && m.segment_vertices[extra.segment][1] == v) block += mean(extra.bb);
  }
  put(left_, place, cast<T>(force));
  vertex_inverse_[at(place)] = static_cast<T>(inverse_or_0(block));
}

template <class T>
Signature BlockSystem<T>::linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) {
  if (how.shift.size != 0) return {};  // shifts are for exact systems
  potential_ = &potential;
  z_ = &z;
  hessian_.set(potential, z, how.blocks);
  curvature_ = how.curvature;
  frames_move_ = how.frames_move;
  const bool directed = potential.has_directions();
  if (directed != !inertia_.empty()) inertia_ = Numbers(directed ? kInertiaRows * layout_.segment_places() : 0);
  hinges_.clear();
  const IndexList &vertices = subset_->vertices, &segments = subset_->segments, &joints = subset_->joints;
  executor_.for_each(joints.size(), [&](std::size_t i) { linearise_joint(joints[i]); });
  executor_.for_each(vertices.size(), [&](std::size_t i) { linearise_vertex(vertices[i]); });
  const auto is_hinged = [&](Index s) { return potential.control().frame_control[s] == FrameControl::hinged; };
  executor_.for_each(segments.size(), [&](std::size_t i) {
    if (!is_hinged(segments[i])) linearise_segment(frames_move_, segments[i]);
  });
  for (std::size_t i = 0; i < segments.size(); ++i)  // hinges are few, so that one thread appends them to a list
    if (is_hinged(segments[i])) linearise_segment(frames_move_, segments[i]);
  const double most_inverse = largest(vertices, [&](Index v) {
    return potential.is_free(v) && potential.model().vertex_alive[v] ? 1 / potential.vertex_weight(v) : 0;
  });
  least_weight_ = 1 / most_inverse;  // infinite where no vertex is free
  return {.negative = 0, .definite = true};
}

/// Stop rule. The energy gained by the latest iterations estimates the energy of the error before them. Where many iterations are
/// needed progress pauses now and then, so the estimate looks back over a quarter of them. The energy of an error is at least its
/// inertia, which bounds the error of a vertex. Frames have no inertia as a rule: their turns of the latest iterations estimate
/// the turns that are left.
template <class T>
bool BlockSystem<T>::is_enough(const Accuracy& accuracy, const Check& now) {
  if (iterations_ < next_check_) return false;
  next_check_ = iterations_ + std::max(1, iterations_ / 16);
  checks_[checked_++ % checks_.size()] = now;
  const int until = iterations_ - std::max(4, iterations_ / 4);
  if (until < 0) return false;
  Check early;  // the last check that is early enough; one of the ten is
  for (const Check& c : checks_)
    if (c.iterations <= until && c.iterations >= early.iterations) early = c;
  const double moves = least_weight_ > 0 ? std::sqrt((now.gained - early.gained) / least_weight_) : now.moved - early.moved;
  const double turns = now.turned - early.turned;
  const auto within = [&](double most, double most_turn) {
    return moves <= std::max(accuracy.gap, accuracy.share * most) && turns <= std::max(accuracy.gap, accuracy.share * most_turn);
  };
  if (within(0, 0)) return true;
  if (!within(now.moved, now.turned)) return false;  // the sums of moves and turns bound all displacements
  const auto displaced2 = [&](Index v) { return norm2(displacement(v)); };
  const auto turned2 = [&](Index s) {
    const Index place = layout_.segment_place[s];
    return place < 0 ? 0 : norm2(turn(s)) * static_cast<double>(norm2(vector(arm_, place)));
  };
  const double most2 = largest(subset_->vertices, displaced2), most_turn2 = largest(subset_->segments, turned2);
  return within(std::sqrt(most2), std::sqrt(most_turn2));
}

template <class T>
class BlockSystem<T>::Iterations {
 public:
  Iterations(BlockSystem& own, const Accuracy& accuracy)
      : own_(own),
        accuracy_(accuracy),
        view_(own.view()),
        tiles_(own.layout_.tiles.size()),
        vertices_(own.layout_.vertex_tiles) {}

  double size() {
    return with_hinges(own_.sum(0, tiles_, [&](int b, int e) { return kernel().size(view_, b, e); }));
  }
  double curvature(double beta) {
    each(0, tiles_, [&](int b, int e) { kernel().advance(view_, static_cast<T>(beta), b, e); });
    for (const Hinge& h : own_.hinges_) {
      Vec3<T>& p = own_.quad(own_.direction_, own_.first_segment() + h.place);
      p += answer(h) * h.axis;
    }
    each(vertices_, tiles_, [&](int b, int e) { kernel().forces(view_, b, e); });
    double curved = own_.sum(0, vertices_, [&](int b, int e) { return kernel().image_vertices(view_, b, e); }) +
                    own_.sum(vertices_, tiles_, [&](int b, int e) { return kernel().image_frames(view_, b, e); });
    for (const VertexBlock& block : own_.hessian_.blocks()) curved += add_block(block);
    // Remove the image across hinges, so that no residual adds up there.
    for (const Hinge& h : own_.hinges_) {
      Vec3<T>& image = own_.quad(own_.force_, h.place);
      image = dot(h.axis, image) * h.axis;
    }
    return curved;
  }
  double advance(double step) {
    const double left = move(step, 0, vertices_, now_.moved);
    return with_hinges(left + move(step, vertices_, tiles_, now_.turned));
  }
  bool enough(int iterations, double gained) {
    own_.iterations_ = now_.iterations = iterations;
    now_.gained = gained;
    return own_.is_enough(accuracy_, now_);
  }

 private:
  const BlockKernel<T>& kernel() const { return *own_.kernel_; }
  template <class F>
  void each(std::size_t first, std::size_t last, const F& f) {
    own_.executor_.for_each_range(
        last - first,
        [&](std::size_t begin, std::size_t end) { f(static_cast<int>(first + begin), static_cast<int>(first + end)); },
        at(own_.layout_.lanes));
  }
  /// The preconditioned residual of a hinge.
  T answer(const Hinge& h) const { return h.inverse * dot(h.axis, left(h)); }
  Vec3<T> left(const Hinge& h) const { return own_.vector(own_.left_, own_.first_segment() + h.place); }
  double with_hinges(double size) const {
    for (const Hinge& h : own_.hinges_) size += static_cast<double>(answer(h) * dot(h.axis, left(h)));
    return size;
  }
  /// Adds a block on vertices to the image; returns its share of p.H p.
  double add_block(const VertexBlock& block) {
    const Model& m = own_.potential_->model();
    const Index a = own_.layout_.vertex_place[at(block.a)];
    const Index b = block.segment < 0 ? -1 : own_.layout_.vertex_place[at(m.segment_vertices[block.segment][1])];
    const auto direction = [&](Index place) { return place < 0 ? Vec3d{} : cast<double>(own_.quad(own_.direction_, place)); };
    const auto add = [&](Index place, const Vec3d& f) {
      if (place >= 0) own_.put(own_.image_, place, own_.vector(own_.image_, place) + cast<T>(f));
    };
    const Vec3d pa = direction(a), pb = direction(b);
    const Vec3d fa = block.aa * pa + block.ab * pb, fb = transposed_times(block.ab, pa) + block.bb * pb;
    add(a, fa);
    add(b, fb);
    return dot(pa, fa) + dot(pb, fb);
  }
  double move(double step, std::size_t first, std::size_t last, double& moved) {
    std::vector<double>& most = own_.part_most_;
    std::fill(most.begin(), most.end(), 0);
    const double left = own_.sum(first, last, [&](int b, int e) {
      return kernel().move(view_, static_cast<T>(step), b, e, most[(at(b) - first) / kTilesPerSum]);
    });
    moved += step * std::sqrt(*std::max_element(most.begin(), most.end()));
    return left;
  }

  BlockSystem& own_;
  const Accuracy& accuracy_;
  BlockView<T> view_;
  std::size_t tiles_, vertices_;
  Check now_;
};

/// Solves for the right-hand side in left_. Returns false where the curvature turned out not to be positive.
template <class T>
bool BlockSystem<T>::iterate(const Accuracy& accuracy) {
  std::fill(solution_.begin(), solution_.end(), T(0));
  std::fill(direction_.begin(), direction_.end(), T(0));
  checks_.fill({});
  checked_ = 0;
  next_check_ = 1;
  iterations_ = 0;
  Iterations iterations(*this, accuracy);
  const PcgResult result = pcg(iterations, kMostIterations);
  solved_ = result.end != PcgEnd::too_many;
  if (result.end == PcgEnd::not_positive) return curvature_ == Curvature::positive;
  if (result.end == PcgEnd::not_finite) mark_invalid_solution();
  return true;
}

/// Fills the solution with NaN where the residual is not finite, so that the caller notices; everywhere, if it is finite after
/// all.
template <class T>
void BlockSystem<T>::mark_invalid_solution() {
  bool found = false;
  for (std::size_t i = 0; i < solution_.size(); ++i) {
    if (std::isfinite(left_[i])) continue;
    solution_[i] = std::numeric_limits<T>::quiet_NaN();
    found = true;
  }
  if (!found) std::fill(solution_.begin(), solution_.end(), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
void BlockSystem<T>::keep_strains() {
  const Model& m = potential_->model();
  executor_.for_each(subset_->segments.size(), [&](std::size_t i) {
    const Index s = subset_->segments[i], place = layout_.segment_place[at(s)];
    if (place < 0) return;
    const SegmentAtHand here = potential_->segment(*z_, s);
    const auto moved = [&](Index v) { return vector(solution_, layout_.vertex_place[at(v)]); };
    const auto [a, b] = m.segment_vertices[s];
    put(strain_, place,
        cast<T>(m.segment_rest_length[s] * (here.edge - here.axis)) + moved(b) - moved(a) +
            cross(vector(arm_, place), vector(solution_, first_segment() + place)));
  });
}

template <class T>
bool BlockSystem<T>::step(const Accuracy& accuracy) {
  if (!iterate(accuracy)) return false;
  if (frames_move_) keep_strains();
  return true;
}

template <class T>
bool BlockSystem<T>::solve(const Field& r, Field& z) {
  const Model& m = potential_->model();
  for (std::size_t i = 0; i < subset_->vertices.size(); ++i) {
    const Index v = subset_->vertices[i], place = layout_.vertex_place[at(v)];
    if (place >= 0) put(left_, place, potential_->is_free(v) ? cast<T>(r.x[v]) : Vec3<T>{});
  }
  for (std::size_t i = 0; i < subset_->segments.size(); ++i) {
    const Index s = subset_->segments[i], place = layout_.segment_place[at(s)];
    if (place < 0) continue;
    const FrameControl held = potential_->control().frame_control[s];
    const Vec3d& axis = potential_->control().frame_hinge_axis[s];
    const Vec3d couple = held == FrameControl::free ? r.w[s] : held == FrameControl::hinged ? dot(axis, r.w[s]) * axis : Vec3d{};
    put(left_, first_segment() + place, cast<T>(couple));
  }
  const bool solved = iterate({.share = 1e-6});
  return gather(m, *subset_, executor_, z) && solved;
}

template <class T>
std::size_t BlockSystem<T>::bytes() const {
  const auto of = [](const auto& a) { return a.capacity() * sizeof(a[0]); };
  std::size_t sum = layout_.bytes() + of(inertia_) + of(hinges_) + of(part_) + of(part_most_);
  for (const Numbers* a : {&direction_, &force_, &joint_, &solution_, &left_, &image_, &weight_, &vertex_inverse_,
                           &frame_inverse_, &arm_, &strain_, &stiffness_})
    sum += of(*a);
  return sum;
}

template <class T>
std::size_t BlockSystem<T>::bytes(const Model& m, const Subset& subset, Simd simd) {
  BlockSystem plan(simd, 1);
  plan.isotropic_ = m.is_isotropic();
  plan.layout_ = lay_out_blocks(m, subset, block_kernel<T>(simd, plan.isotropic_).lanes);
  std::size_t numbers = m.has_inertia() ? kInertiaRows * plan.layout_.segment_places() : 0;
  plan.each_array(at(m.joint_count()), [&](Numbers&, std::size_t n) { numbers += n; });
  return plan.layout_.bytes() + numbers * sizeof(T);
}

template class BlockSystem<float>;
template class BlockSystem<double>;

}  // namespace osier::systems

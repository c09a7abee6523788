#include "solvers/systems/blocks/block_iteration.hpp"

#include <cmath>

#include "solvers/potential_hessian.hpp"
#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::systems {

namespace {

constexpr std::size_t kPart = 16;  ///< tiles whose sums are added up in one go

double mean(const Mat3<double>& m) { return (m.m[0][0] + m.m[1][1] + m.m[2][2]) / 3; }
Vec3d over(const Vec3d& a, const Vec3d& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
double inverse_or_0(double x) { return x > 0 ? 1 / x : 0; }

}  // namespace

template <class T>
template <class Visit>
void BlockIteration<T>::each_array(std::size_t joints, const Visit& visit) {
  const std::size_t v = layout_.vertex_places(), s = layout_.segment_places();
  visit(direction_, 4 * (v + s + 1)), visit(force_, 4 * (s + 1));
  visit(joint_, at(isotropic_ ? joint_numbers(true) : joint_numbers(false)) * (joints + 1));
  visit(solution_, 3 * (v + s)), visit(left_, 3 * (v + s)), visit(image_, 3 * v);
  visit(weight_, v), visit(vertex_inverse_, v);
  visit(frame_inverse_, kFrameInverseRows * s), visit(arm_, 3 * s), visit(strain_, 3 * s);
  visit(stiffness_, at(isotropic_ ? stiffness_rows(true) : stiffness_rows(false)) * s);
}

template <class T>
void BlockIteration<T>::arrange(const Model& m, Simd simd) {
  isotropic_ = m.is_isotropic();
  kernel_ = &block_kernel<T>(simd, isotropic_);
  layout_ = lay_out_blocks(m, kernel_->lanes);
  each_array(at(m.joint_count()), [](Numbers& a, std::size_t n) { a = Numbers(n, T(0)); });
  // Of tiles, and of as many vertices or segments, dead ones included.
  const std::size_t elements = at(std::max(m.vertex_count(), m.segment_count())), lanes = at(layout_.lanes);
  part_.assign(std::max(layout_.tiles.size(), (elements + lanes - 1) / lanes) / kPart + 1, 0);
  part_most_ = part_;
  inertia_ = {};
}

template <class T>
BlockView<T> BlockIteration<T>::view() {
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
double BlockIteration<T>::sum(const Executor& executor, std::size_t first, std::size_t last, const F& f) {
  const std::size_t parts = (last - first + kPart - 1) / kPart;
  executor.for_each(
      parts,
      [&](std::size_t i) {
        const std::size_t begin = first + i * kPart;
        part_[i] = f(static_cast<int>(begin), static_cast<int>(std::min(last, begin + kPart)));
      },
      kPart * at(layout_.lanes));
  double all = 0;
  for (std::size_t i = 0; i < parts; ++i) all += part_[i];
  return all;
}

template <class T>
template <class F>
double BlockIteration<T>::largest(const Executor& executor, std::size_t n, const F& f) {
  const std::size_t size = kPart * at(layout_.lanes), parts = (n + size - 1) / size;
  executor.for_each(
      parts,
      [&](std::size_t part) {
        double most = 0;
        for (std::size_t i = part * size; i < std::min(n, (part + 1) * size); ++i)
          most = std::max(most, f(static_cast<Index>(i)));
        part_most_[part] = most;
      },
      size);
  return parts == 0 ? 0 : *std::max_element(part_most_.begin(), part_most_.begin() + static_cast<std::ptrdiff_t>(parts));
}

template <class T>
void BlockIteration<T>::linearise_joint(const StepModel& step, Index j) {
  const Model& m = step.model();
  if (!m.joint_alive[j]) return;
  const auto [a, b] = m.joint_frames[j];
  const JointSpring spring = step.joint_spring(j);
  Mat3<double> stiffness;
  Vec3d gradient;
  if (curvature_ == Curvature::exact) {
    JointHessian h = joint_hessian(bend_twist::stiffness4(spring.k), step.q[a], step.q[b], spring.rest);
    if (spring.damped()) h += joint_hessian(bend_twist::viscous4(spring.k, spring.alpha), step.q[a], step.q[b], spring.previous);
    stiffness = h.same, gradient = h.gradient;
  } else {
    const JointModel model = joint_model(spring, step.q[a], step.q[b]);
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
void BlockIteration<T>::linearise_segment(const StepModel& step, bool frames_move, Index s) {
  const Model& m = step.model();
  const Index place = layout_.segment_place[s];
  if (place < 0) return;
  frame_inverse_[row(place, 0, kFrameInverseRows)] = frame_inverse_[row(place, 1, kFrameInverseRows)] = T(0);
  put(left_, first_segment() + place, Vec3<T>{});
  const double l = m.segment_rest_length[s];
  const SegmentAtHand here = step.segment(s);
  const Vec3d arm = l * here.axis, &k = here.spring.k;
  put(arm_, place, cast<T>(arm));
  const Mat3<double> C =
      here.isotropic ? identity3(k.x / (l * l)) : (1 / (l * l)) * rotated_diagonal(rotation_matrix(step.q[s]), k);
  if (isotropic_) stiffness_[row(place, 0, 1)] = static_cast<T>(C.m[0][0]);
  else put(stiffness_, place, lower_triangle<T>(C));
  if (!frames_move || step.is_fixed_frame(s)) return;
  // Of the force only what pulls, if the whole must be positive.
  Vec3d strain = cast<double>(vector(strain_, place));
  if (curvature_ == Curvature::positive) {
    const Vec3d tension = (std::max(0.0, dot(C * strain, arm)) / norm2(arm)) * arm;
    const bool stiff = k.x > 0 && k.y > 0 && k.z > 0;
    strain = stiff ? (l * l) * rotate(step.q[s], over(rotate(conj(step.q[s]), tension), k)) : Vec3d{};
  }
  put(strain_, place, cast<T>(strain));
  Vec3d couple = -1.0 * stretch_shear::gradient_w(here.section, here.edge);
  if (step.control().has_torque) couple += step.torque(s);
  Mat3<double> inertia{};
  for (const DirectionTerm& term : step.directions(s)) {
    const Vec3d a = rotate(step.q[s], term.a);
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
  // Spin of a frame without joints costs nothing, and nothing asks for it but rounding: the less it answers the better.
  if (!(along > 0)) along = across;
  if (step.control().frame_control[s] == FrameControl::hinged) {
    const Vec3d& axis = step.control().frame_hinge_axis[s];
    const double lean = dot(axis, arm);
    const double about = across + (along - across) * lean * lean / a2;
    hinges_.push_back({place, cast<T>(axis), static_cast<T>(inverse_or_0(about))});
    couple = dot(axis, couple) * axis;
  } else {
    frame_inverse_[row(place, 0, kFrameInverseRows)] = static_cast<T>(inverse_or_0(across));
    frame_inverse_[row(place, 1, kFrameInverseRows)] = static_cast<T>((inverse_or_0(along) - inverse_or_0(across)) / a2);
  }
  put(left_, first_segment() + place, cast<T>(couple));
}

/// Forces are added up in double: in a tight rope their difference is small against each of them.
template <class T>
void BlockIteration<T>::linearise_vertex(const StepModel& step, Index v) {
  const Model& m = step.model();
  const Index place = layout_.vertex_place[v];
  if (place < 0) return;
  const double weight = step.vertex_weight(v);
  weight_[at(place)] = static_cast<T>(weight);
  vertex_inverse_[at(place)] = T(0);
  put(left_, place, Vec3<T>{});
  if (!step.is_free(v)) return;
  Vec3d force = step.vertex_pull(v) - weight * step.u[v];
  double block = weight;
  for (Index e : m.vertex_segments.of(v)) {
    const Index s = e / 2;
    const double l = m.segment_rest_length[s];
    const SegmentAtHand here = step.segment(s);
    force += (e % 2 == 1 ? -1 / l : 1 / l) * here.section;
    block += (here.spring.k.x + here.spring.k.y + here.spring.k.z) / (3 * l * l);
  }
  put(left_, place, cast<T>(force));
  vertex_inverse_[at(place)] = static_cast<T>(inverse_or_0(block));
}

template <class T>
void BlockIteration<T>::linearise(const StepModel& step, Curvature curvature, bool frames_move, const Executor& executor) {
  const Model& m = step.model();
  curvature_ = curvature;
  const bool directed = step.has_directions();
  if (directed != !inertia_.empty()) inertia_ = Numbers(directed ? kInertiaRows * layout_.segment_places() : 0);
  hinges_.clear();
  executor.for_each(at(m.joint_count()), [&](std::size_t j) { linearise_joint(step, static_cast<Index>(j)); });
  executor.for_each(at(m.vertex_count()), [&](std::size_t v) { linearise_vertex(step, static_cast<Index>(v)); });
  const auto is_hinged = [&](Index s) { return step.control().frame_control[s] == FrameControl::hinged; };
  executor.for_each(at(m.segment_count()), [&](std::size_t s) {
    if (!is_hinged(static_cast<Index>(s))) linearise_segment(step, frames_move, static_cast<Index>(s));
  });
  for (Index s = 0; s < m.segment_count(); ++s)  // few, into one list
    if (is_hinged(s)) linearise_segment(step, frames_move, s);
  const double most_inverse = largest(executor, at(m.vertex_count()), [&](Index v) {
    return step.is_free(v) && m.vertex_alive[v] ? 1 / step.vertex_weight(v) : 0;
  });
  least_weight_ = 1 / most_inverse;  // infinite where nothing is free
}

/// What the latest iterations have gained is what was missing before them: an estimate of the energy of the error, which lags
/// behind. Where many are needed progress pauses now and then, so the lag is a quarter of them. The energy of an error is at
/// least that of its inertia, which says how far a vertex may be off. Frames have none, as a rule: how far they have turned of
/// late is what they may still have to turn.
template <class T>
bool BlockIteration<T>::is_enough(const Enough& enough, const Check& now, const Executor& executor) {
  if (iterations_ < next_check_) return false;
  next_check_ = iterations_ + std::max(1, iterations_ / 16);
  checks_[checked_++ % checks_.size()] = now;
  const int until = iterations_ - std::max(4, iterations_ / 4);
  if (until < 0) return false;
  Check early;  // the last that is early enough: one of the ten is
  for (const Check& c : checks_)
    if (c.iterations <= until && c.iterations >= early.iterations) early = c;
  const double moves = least_weight_ > 0 ? std::sqrt((now.gained - early.gained) / least_weight_) : now.moved - early.moved;
  const double turns = now.turned - early.turned;
  const auto within = [&](double most, double most_turn) {
    return moves <= std::max(enough.gap, enough.share * most) && turns <= std::max(enough.gap, enough.share * most_turn);
  };
  if (within(0, 0)) return true;
  if (!within(now.moved, now.turned)) return false;  // nothing is farther from where it was
  const auto displaced2 = [&](Index v) { return static_cast<double>(norm2(displacement(v))); };
  const auto turned2 = [&](Index s) {
    const Index place = layout_.segment_place[s];
    return place < 0 ? 0 : static_cast<double>(norm2(turn(s)) * norm2(vector(arm_, place)));
  };
  const double most2 = largest(executor, layout_.vertex_place.size(), displaced2),
               most_turn2 = largest(executor, layout_.segment_place.size(), turned2);
  return within(std::sqrt(most2), std::sqrt(most_turn2));
}

template <class T>
bool BlockIteration<T>::iterate(const Enough& enough, const Executor& executor) {
  const BlockView<T> v = view();
  const BlockKernel<T>& kernel = *kernel_;
  const std::size_t tiles = layout_.tiles.size(), vertices = layout_.vertex_tiles;
  const auto each = [&](std::size_t first, std::size_t last, const auto& f) {
    executor.for_each_range(
        last - first,
        [&](std::size_t begin, std::size_t end) { f(static_cast<int>(first + begin), static_cast<int>(first + end)); },
        at(layout_.lanes));
  };
  const auto number = [](T x) { return static_cast<double>(x); };
  // What hinges add to r.z, and to the direction.
  const auto answer = [&](const Hinge& h) { return h.inverse * dot(h.axis, vector(left_, first_segment() + h.place)); };
  const auto with_hinges = [&](double size) {
    for (const Hinge& h : hinges_) size += number(answer(h) * dot(h.axis, vector(left_, first_segment() + h.place)));
    return size;
  };
  std::fill(solution_.begin(), solution_.end(), T(0));
  std::fill(direction_.begin(), direction_.end(), T(0));
  double size = with_hinges(sum(executor, 0, tiles, [&](int b, int e) { return kernel.size(v, b, e); })), before = size;
  checks_.fill({});
  checked_ = 0, next_check_ = 1;
  Check now;
  solved_ = true;
  for (iterations_ = 0; size > 0 && std::isfinite(size);) {
    solved_ = iterations_ < enough.most;
    if (!solved_) return true;
    const T again = static_cast<T>(iterations_ > 0 ? size / before : 0);
    each(0, tiles, [&](int b, int e) { kernel.advance(v, again, b, e); });
    for (const Hinge& h : hinges_) {
      Vec3<T>& p = quad(direction_, first_segment() + h.place);
      p += answer(h) * h.axis;
    }
    each(vertices, tiles, [&](int b, int e) { kernel.forces(v, b, e); });
    const double curved = sum(executor, 0, vertices, [&](int b, int e) { return kernel.image_vertices(v, b, e); }) +
                          sum(executor, vertices, tiles, [&](int b, int e) { return kernel.image_frames(v, b, e); });
    // What a hinge cannot answer must not build up.
    for (const Hinge& h : hinges_) {
      Vec3<T>& image = quad(force_, h.place);
      image = dot(h.axis, image) * h.axis;
    }
    if (!std::isfinite(curved)) break;
    if (!(curved > 0)) return curvature_ == Curvature::positive;
    const double step = size / curved;
    now.gained += step * size;
    before = size;
    const auto move = [&](std::size_t first, std::size_t last, double& moved) {
      std::fill(part_most_.begin(), part_most_.end(), 0);
      const double left = sum(executor, first, last, [&](int b, int e) {
        return kernel.move(v, static_cast<T>(step), b, e, part_most_[(at(b) - first) / kPart]);
      });
      moved += step * std::sqrt(*std::max_element(part_most_.begin(), part_most_.end()));
      return left;
    };
    size = move(0, vertices, now.moved);
    size = with_hinges(size + move(vertices, tiles, now.turned));
    now.iterations = ++iterations_;
    if (is_enough(enough, now, executor)) return true;
  }
  if (!(size == 0)) spoil_solution();
  return true;
}

/// No number where something is none, for whoever looks at the solution; everywhere if that is nowhere.
template <class T>
void BlockIteration<T>::spoil_solution() {
  bool found = false;
  for (std::size_t i = 0; i < solution_.size(); ++i) {
    if (std::isfinite(left_[i])) continue;
    solution_[i] = std::numeric_limits<T>::quiet_NaN();
    found = true;
  }
  if (!found) std::fill(solution_.begin(), solution_.end(), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
void BlockIteration<T>::keep_strains(const StepModel& step, const Executor& executor) {
  const Model& m = step.model();
  executor.for_each(at(m.segment_count()), [&](std::size_t i) {
    const auto s = static_cast<Index>(i);
    const Index place = layout_.segment_place[s];
    if (place < 0) return;
    const SegmentAtHand here = step.segment(s);
    const auto [a, b] = m.segment_vertices[s];
    put(strain_, place,
        cast<T>(m.segment_rest_length[s] * (here.edge - here.axis)) + displacement(b) - displacement(a) +
            cross(vector(arm_, place), turn(s)));
  });
}

template <class T>
bool BlockIteration<T>::solve(const StepModel& step, Curvature curvature, const Enough& enough, const Executor& executor) {
  linearise(step, curvature, true, executor);
  if (!iterate(enough, executor)) return false;
  keep_strains(step, executor);
  return true;
}

template <class T>
void BlockIteration<T>::solve_positions(const StepModel& step, const Enough& enough, const Executor& executor) {
  linearise(step, Curvature::positive, false, executor);
  iterate(enough, executor);
}

template <class T>
std::size_t BlockIteration<T>::bytes() const {
  const auto of = [](const auto& a) { return a.capacity() * sizeof(a[0]); };
  std::size_t sum = layout_.bytes() + of(inertia_) + of(hinges_) + of(part_) + of(part_most_);
  for (const Numbers* a : {&direction_, &force_, &joint_, &solution_, &left_, &image_, &weight_, &vertex_inverse_,
                           &frame_inverse_, &arm_, &strain_, &stiffness_})
    sum += of(*a);
  return sum;
}

template <class T>
std::size_t BlockIteration<T>::bytes(const Model& m, Simd simd) {
  BlockIteration plan;
  plan.isotropic_ = m.is_isotropic();
  plan.layout_ = lay_out_blocks(m, block_kernel<T>(simd, plan.isotropic_).lanes);
  std::size_t numbers = m.has_inertia() ? kInertiaRows * plan.layout_.segment_places() : 0;
  plan.each_array(at(m.joint_count()), [&](Numbers&, std::size_t n) { numbers += n; });
  return plan.layout_.bytes() + numbers * sizeof(T);
}

template class BlockIteration<float>;
template class BlockIteration<double>;

}  // namespace osier::systems

// Newton's method for one step of a rod, or of as many equal rods as a number has lanes: the unknowns of all stations are solved
// for together, panel by panel (elimination.hpp). T is a double or a pack of them; lanes that have arrived, or are lost, stay
// where they are. What a step starts from, and what becomes of its result, is in rod.cpp.
#pragma once

#include <limits>

#include "math/lane_access.hpp"
#include "solvers/generalized_alpha/elimination.hpp"
#include "solvers/generalized_alpha/newton_view.hpp"
#include "solvers/generalized_alpha/turns.hpp"

namespace osier::generalized_alpha {

template <class T>
OSIER_FN T largest(const Vec3<T>& a) {
  using std::abs;
  return larger(larger(abs(a.x), abs(a.y)), abs(a.z));
}
template <class T>
OSIER_FN MaskOf<T> is_number(T x) {
  return x - x == T(0);
}

template <class T>
class RodNewton {
 public:
  RodNewton(const NewtonView<T>& view, Triangulate triangulate)
      : v_(view), elimination_(view.kept, triangulate, view.closed ? kSides : 1) {}

  /// Which lanes have arrived. `iterations`: of every lane. `shortened`: corrections are halved while they make things worse, for
  /// single rods.
  MaskOf<T> iterate(const NewtonGoal& goal, bool shortened, int* iterations);

 private:
  using Mask = MaskOf<T>;
  using Row = typename Elimination<T>::Row;
  /// The residual of everything at x, in the units of the rod; returns the largest number.
  T evaluate();
  void evaluate_station(std::size_t j);
  /// dx from the derivative at x; which lanes have one.
  Mask solve();
  /// x += share dx; the size of that in the units of the rod, forces and curvatures relative to what there is of them.
  T correct(Mask active, double share);
  void boundary(std::size_t e, EndResidual<T>& left_over) const;
  void boundary_rows(std::size_t e, Row* rows) const;
  void cut_rows(std::size_t e, Row* rows) const;
  bool close();
  OSIER_FN Sym3<T> moment_slope(std::size_t j) const;

  OSIER_FN std::size_t station_of(std::size_t e) const { return e == 0 ? 0 : v_.cells; }
  OSIER_FN static T sign_of(std::size_t e) { return T(e == 0 ? -1.0 : 1.0); }
  /// A vector in world axes, in the local ones of a station.
  OSIER_FN Vec3<T> local_at_stage(std::size_t j, const Vec3<T>& now, const Vec3<T>& before) const {
    return v_.stage.value(rotate(conj(v_.frame[j]), now), rotate(conj(v_.frame_before[j]), before));
  }
  /// The turn of a station by its new angular velocity.
  OSIER_FN Mat3<T> turn_slope(std::size_t j) const { return T(v_.stage.gain()) * right_jacobian(v_.turn[j]); }
  /// Nothing at ends whose frames are held.
  OSIER_FN Mat3<T> station_slope(std::size_t j) const {
    const bool held = (j == 0 && v_.frame_held[0]) || (j == v_.cells && v_.frame_held[1]);
    return held ? Mat3<T>{} : turn_slope(j);
  }
  /// d(R^T F)/dw = [R^T F]x g Jr(turn), g the gain of the step.
  OSIER_FN Mat3<T> slope_of(std::size_t j, const Vec3<T>& world) const {
    return cross_matrix(rotate(conj(v_.frame[j]), world)) * turn_slope(j);
  }

  NewtonView<T> v_;
  Elimination<T> elimination_;
};

/// The six numbers that vanish at an end, in local axes: of velocity or force, and of angular velocity or moment. With a guide
/// the first three are in world axes, some of velocity and some of force.
template <class T>
void RodNewton<T>::boundary(std::size_t e, EndResidual<T>& left_over) const {
  if (v_.closed) {
    // Of forces and moments on either side of the first station, and of its motion.
    const StageEnd<T>&first = v_.y[0], &last = v_.y[v_.cells];
    if (e == 0) left_over = {last.y.n - first.y.n, last.m - first.m};
    else left_over = {v_.x[v_.cells].u - v_.x[0].u, v_.x[v_.cells].w - v_.x[0].w};
    return;
  }
  const std::size_t j = station_of(e);
  const T sign = sign_of(e);
  const EndLoad<T>&now = v_.end_end[e], &before = v_.start_end[e];
  const EndHold<T>& hold = v_.hold[e];
  const Quat<T>& R = v_.frame[j];
  const Vec3<T> pull = v_.y[j].y.n - sign * (local_at_stage(j, now.force, before.force) - hold.drag * v_.y[j].y.u);
  if (!v_.place_held[e]) {
    left_over.place = pull;
  } else if (v_.guide[e] == Guide::none) {
    left_over.place = v_.x[j].u - rotate(conj(R), hold.velocity);
  } else {
    const Vec3<T> slip = rotate(R, v_.x[j].u) - hold.velocity, force = rotate(R, pull);
    const bool rail = v_.guide[e] == Guide::rail;
    const Vec3<T>&all = rail ? slip : force, &one = rail ? force : slip;
    left_over.place = all + dot(one - all, hold.axis) * hold.axis;
  }
  left_over.frame = v_.frame_held[e] ? v_.x[j].w - hold.spin
                                     : v_.y[j].m - sign * (local_at_stage(j, now.couple, before.couple) +
                                                           v_.stage.value(now.couple_material, before.couple_material));
}

/// A closed rod is cut at its first station, which is its last one too. As rows: the correction of the motion there is one of six
/// units, of velocity and of angular velocity, each a right-hand side of its own.
template <class T>
void RodNewton<T>::cut_rows(std::size_t e, Row* rows) const {
  for (int i = 0; i < kMotions; ++i) rows[i][i] = rows[i][kRhs + 1 + i] = T(1);
  if (e == 0) return;
  const EndResidual<T>& apart = v_.end_residual[1];
  const T left_over[kMotions]{apart.place.x, apart.place.y, apart.place.z, apart.frame.x, apart.frame.y, apart.frame.z};
  for (int i = 0; i < kMotions; ++i) rows[i][kRhs] = -left_over[i];
}

/// The motion of the cut for which the rod pulls and bends equally on either side of it, and the corrections with it.
template <class T>
bool RodNewton<T>::close() {
  if (!elimination_.solve_sides()) return false;
  const std::size_t last = v_.cells;
  const Mat3<T> slope = full(moment_slope(0));
  const EndResidual<T>& apart = v_.end_residual[0];
  const T left_over[kMotions]{apart.place.x, apart.place.y, apart.place.z, apart.frame.x, apart.frame.y, apart.frame.z};
  Row rows[kMotions] = {};
  for (int i = 0; i < kMotions; ++i) {
    const int first = i < 3 ? kN : kK;
    rows[i][kMotions] = -left_over[i];
    for (int a = 0; a < 3; ++a) {
      const T by = i >= 3 ? slope.m[i - 3][a] : T(a == i ? 1 : 0);
      const T *const there = elimination_.sides_of(last, first + a), *const here = elimination_.sides_of(0, first + a);
      for (int s = 0; s < kMotions; ++s) rows[i][s] += by * (there[1 + s] - here[1 + s]);
      rows[i][kMotions] -= by * (there[0] - here[0]);
    }
  }
  T motion[kMotions];
  if (!elimination_.solve_few(rows, motion)) return false;
  for (std::size_t j = 0; j <= last; ++j)
    for (int p = 0; p < kUnknowns; ++p) {
      const T* const sides = elimination_.sides_of(j, p);
      T sum = sides[0];
      for (int s = 0; s < kMotions; ++s) sum += motion[s] * sides[1 + s];
      v_.dx[j * kUnknowns + static_cast<std::size_t>(p)] = sum;
    }
  return true;
}

template <class T>
void RodNewton<T>::boundary_rows(std::size_t e, Row* rows) const {
  if constexpr (lanes_of<T> == 1) {
    if (v_.closed) return cut_rows(e, rows);
  }
  const std::size_t j = station_of(e);
  const T sign = sign_of(e), B(v_.stage.of_new());
  const EndHold<T>& hold = v_.hold[e];
  const auto add = [&](int row, int column, T factor, const Mat3<T>& block) {
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) rows[row + a][column + b] += factor * block.m[a][b];
  };
  const Mat3<T> one = identity3<T>();
  const bool turns = !v_.frame_held[e];
  const Vec3<T>& force = v_.end_end[e].force;
  if (!v_.place_held[e]) {
    add(0, kN, T(1), one);
    add(0, kU, sign * hold.drag * B, one);
    if (turns) add(0, kW, -sign * B, slope_of(j, force));
  } else if (v_.guide[e] == Guide::none) {
    add(0, kU, T(1), one);
    if (turns) add(0, kW, T(-1), slope_of(j, hold.velocity));
  } else {
    // P a a^T is the share of the guide's axis; slip = R u - v, force = R (n + sign drag u) - sign F.
    const Mat3<T> R = rotation_matrix(v_.frame[j]), along = outer(hold.axis, hold.axis);
    const Mat3<T> across = one + T(-1) * along;
    const bool rail = v_.guide[e] == Guide::rail;
    const Mat3<T> slip = (rail ? across : along) * R, pull = (rail ? along : across) * R;
    add(0, kU, T(1), slip);
    add(0, kN, T(1), pull);
    add(0, kU, sign * hold.drag * B, pull);
    if (turns) {
      const EndLoad<T>& before = v_.start_end[e];
      const Vec3<T> p = v_.y[j].y.n - sign * (local_at_stage(j, force, before.force) - hold.drag * v_.y[j].y.u);
      add(0, kW, T(-1), slip * (cross_matrix(v_.x[j].u) * turn_slope(j)));
      add(0, kW, T(-1), pull * (cross_matrix(p) * turn_slope(j)));
      add(0, kW, -sign * B, pull * slope_of(j, force));
    }
  }
  if (v_.frame_held[e]) {
    add(3, kW, T(1), one);
  } else {
    add(3, kK, T(1), full(moment_slope(j)));
    add(3, kW, -sign * B, slope_of(j, v_.end_end[e].couple));
  }
  const Vec3<T>&first = v_.end_residual[e].place, &second = v_.end_residual[e].frame;
  rows[0][kRhs] = -first.x, rows[1][kRhs] = -first.y, rows[2][kRhs] = -first.z;
  rows[3][kRhs] = -second.x, rows[4][kRhs] = -second.y, rows[5][kRhs] = -second.z;
}

/// Of the moment at a station by the new change of curvature there.
template <class T>
OSIER_FN Sym3<T> RodNewton<T>::moment_slope(std::size_t j) const {
  const double rate = v_.stage.rate_of_new();
  const T value(v_.stage.of_new()), by_rate(rate), by_second(rate * v_.second_by_rate);
  const Sym3<T>&K = v_.stiffness[j], &C = v_.viscosity[j];
  const Vec3<T>& lumped = v_.lumped[j];
  return {value * K.xx + by_rate * C.xx + by_second * lumped.x,
          value * K.yx + by_rate * C.yx,
          value * K.yy + by_rate * C.yy + by_second * lumped.y,
          value * K.zx + by_rate * C.zx,
          value * K.zy + by_rate * C.zy,
          value * K.zz + by_rate * C.zz + by_second * lumped.z};
}

template <class T>
void RodNewton<T>::evaluate_station(std::size_t j) {
  const Stage& stage = v_.stage;
  const Station<T>&now = v_.x[j], &before = v_.before[j];
  Rates<T>& rate = v_.rate[j];
  const Rates<T>& rate_before = v_.rate_before[j];
  StageEnd<T>& y = v_.y[j];
  rate.u = stage.new_rate(now.u, before.u, rate_before.u);
  rate.w = stage.new_rate(now.w, before.w, rate_before.w);
  rate.k = stage.new_rate(now.k, before.k, rate_before.k);
  y.u_rate = stage.rate(rate.u, rate_before.u);
  y.w_rate = stage.rate(rate.w, rate_before.w);
  y.k_rate = stage.rate(rate.k, rate_before.k);
  y.y = {stage.value(now.u, before.u), stage.value(now.w, before.w), stage.value(now.k, before.k), now.n};
  const Vec3<T> second = v_.second_rest[j] + T(v_.second_by_rate) * y.k_rate;
  y.m = v_.stiffness[j] * y.y.k + v_.viscosity[j] * y.k_rate + times(v_.lumped[j], second);
  rate.turn = stage.rate_from_stage(y.y.w, rate_before.turn);
  v_.turn[j] = stage.growth(rate.turn, rate_before.turn);
  const bool end = j == 0 || j == v_.cells;
  const std::size_t e = j == 0 ? 0 : 1;
  if (end && v_.frame_held[e]) v_.frame[j] = v_.end_end[e].frame;
  else if (v_.any_load || end) v_.frame[j] = v_.frame_before[j] * turned_by(v_.turn[j]);
}

template <class T>
T RodNewton<T>::evaluate() {
  for (std::size_t j = 0; j <= v_.cells; ++j) evaluate_station(j);
  const T length = v_.units->length, force = v_.units->force, dt(v_.stage.dt), half(0.5);
  T most(0);
  const auto note = [&](const Vec3<T>& a, T unit) { most = larger(most, largest(a) * unit); };
  for (std::size_t c = 0; c < v_.cells; ++c) {
    CellForce<T>& f = v_.force[c];
    const CellLoad<T>&now = v_.end_load[c], &before = v_.start_load[c];
    f.drag_left = v_.drag[c].left, f.drag_right = v_.drag[c].right;
    f.l = v_.stage.value(now.couple_material, before.couple_material);
    f.f = f.df = {};
    if (v_.any_load) f.weighs = lever_share(v_.cell[c]);
    else f.weighs = T(0);
    if (v_.any_load) {
      const Vec3<T> left = local_at_stage(c, now.left, before.left), right = local_at_stage(c + 1, now.right, before.right);
      f.f = left + right, f.df = right - left;
      if (v_.any_couple)
        f.l += half * (local_at_stage(c, now.couple, before.couple) + local_at_stage(c + 1, now.couple, before.couple));
    }
    const Residual<T>& r = v_.residual[c] = residual(v_.cell[c], v_.law[c], f, v_.y[c], v_.y[c + 1]);
    note(r.a, length / force), note(r.b, T(1) / force), note(r.c, dt * length), note(r.d, dt);
  }
  for (std::size_t e = 0; e < 2; ++e) {
    boundary(e, v_.end_residual[e]);
    const bool cut = v_.closed && e == 1;
    note(v_.end_residual[e].place, v_.place_held[e] || cut ? dt / length : T(1) / force);
    note(v_.end_residual[e].frame, v_.frame_held[e] || cut ? dt : T(1) / (force * length));
  }
  return most;
}

template <class T>
MaskOf<T> RodNewton<T>::solve() {
  const double B = v_.stage.of_new();
  boundary_rows(0, elimination_.begin(v_.cells));
  Slopes<T> s;
  s.value = T(B), s.rate = T(v_.stage.rate_of_new());
  Mask good = T(0) == T(0);
  Mat3<T> turn_left, turn_right;
  if (v_.any_load) turn_right = station_slope(0);
  s.m_right = moment_slope(0);
  for (std::size_t c = 0; c < v_.cells; ++c) {
    s.m_left = s.m_right, s.m_right = moment_slope(c + 1);
    if (v_.any_load) {
      turn_left = turn_right, turn_right = station_slope(c + 1);
      const CellLoad<T>& load = v_.end_load[c];
      const auto slope = [&](const Vec3<T>& world, std::size_t j, const Mat3<T>& turn) {
        return crossed(T(B) * rotate(conj(v_.frame[j]), world), turn);
      };
      s.f_left = slope(load.left, c, turn_left), s.f_right = slope(load.right, c + 1, turn_right);
      if (v_.any_couple) {
        s.l_left = T(0.5) * slope(load.couple, c, turn_left), s.l_right = T(0.5) * slope(load.couple, c + 1, turn_right);
      }
    }
    const Cell<T>& cell = v_.cell[c];
    const Middle<T> y(cell, v_.law[c], v_.force[c], v_.y[c], v_.y[c + 1]);
    Row* const rows = elimination_.cell();
    jacobian<T, Elimination<T>::kWidth>(cell, v_.law[c], v_.force[c], y, s, v_.y[c], v_.y[c + 1], v_.any_load, rows);
    const Residual<T>& r = v_.residual[c];
    const Vec3<T>* const list[4]{&r.a, &r.b, &r.c, &r.d};
    for (int b = 0; b < 4; ++b)
      rows[3 * b][kRhs] = -list[b]->x, rows[3 * b + 1][kRhs] = -list[b]->y, rows[3 * b + 2][kRhs] = -list[b]->z;
    good = good & elimination_.eliminate(good);
    if (!any(good)) return good;
  }
  boundary_rows(1, elimination_.end());
  if constexpr (lanes_of<T> == 1) {
    if (v_.closed) return good & close();
  }
  return good & elimination_.solve(good, v_.dx);
}

template <class T>
T RodNewton<T>::correct(Mask active, double share) {
  const T length = v_.units->length, dt(v_.stage.dt);
  T most_force = v_.units->force, most_k = T(1) / length, du(0), dw(0), dk(0), dn(0), sum(0);
  for (std::size_t j = 0; j <= v_.cells; ++j) {
    const T* const d = v_.dx + j * kUnknowns;
    const auto part = [&](int column) {
      const auto at = [&](int i) { return select(active, T(share) * d[column + i], T(0)); };
      return Vec3<T>{at(0), at(1), at(2)};
    };
    Station<T>& x = v_.x[j];
    const Vec3<T> u = part(kU), w = part(kW), k = part(kK), n = part(kN);
    x.u += u, x.w += w, x.k += k, x.n += n;
    du = larger(du, largest(u)), dw = larger(dw, largest(w)), dk = larger(dk, largest(k)), dn = larger(dn, largest(n));
    sum += largest(u) + largest(w) + largest(k) + largest(n);
    most_force = larger(most_force, largest(x.n)), most_k = larger(most_k, largest(x.k));
  }
  const T most = larger(larger(dt * du / length, dt * dw), larger(dk / most_k, dn / most_force));
  return select(is_number(sum), most, T(std::numeric_limits<double>::infinity()));
}

template <class T>
MaskOf<T> RodNewton<T>::iterate(const NewtonGoal& goal, bool shortened, int* iterations) {
  constexpr double kFloor = 1e-6;  ///< corrections below it that do not shrink any more are rounding
  constexpr double kLost = 1e3;    ///< corrections beyond it lead nowhere
  T left = evaluate(), last(std::numeric_limits<double>::infinity());
  Mask active = is_number(left), arrived = active & !active;
  for (int i = 0; i < goal.max_iterations && any(active); ++i) {
    for (int k = 0; k < lanes_of<T>; ++k) iterations[k] += static_cast<int>((bits(active) >> k) & 1u);
    active = active & solve();
    if (!any(active)) break;
    double share = 1;
    const T size = correct(active, share);
    active = active & (size < T(kLost));
    if (!any(active)) break;
    T now = evaluate();
    if constexpr (lanes_of<T> == 1) {
      constexpr int kBacktracks = 4;
      for (int k = 0; shortened && k < kBacktracks && !(now <= left) && left > 1e3 * goal.tolerance; ++k) {
        correct(active, -0.5 * share);
        share *= 0.5;
        now = evaluate();
      }
    }
    left = now;
    const Mask whole = share == 1 ? active : active & !active;
    const Mask ended = whole & ((size <= T(goal.tolerance)) | ((size < T(kFloor)) & (size > T(0.5) * last)));
    arrived = arrived | (ended & is_number(left));
    active = active & !ended & is_number(left);
    last = size;
  }
  return arrived;
}

}  // namespace osier::generalized_alpha

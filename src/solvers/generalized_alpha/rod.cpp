#include "solvers/generalized_alpha/rod.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/link_algebra.hpp"
#include "linalg/small_ldl.hpp"
#include "solvers/generalized_alpha/cayley.hpp"
#include "solvers/generalized_alpha/newton.hpp"

namespace osier::generalized_alpha {

namespace {

Vec3d mixed(const Vec3d& a, const Vec3d& b, double share) { return (1 - share) * a + share * b; }
Quatd mixed(const Quatd& a, const Quatd& b, double share) {
  return normalized(a * rotation_exp(share * rotation_log(conj(a) * b)));
}

/// Loads between those of two times.
void mix(const Loads& a, const Loads& b, double share, Loads& to) {
  to.cells.resize(a.cells.size());
  for (std::size_t c = 0; c < a.cells.size(); ++c) {
    to.cells[c].left = mixed(a.cells[c].left, b.cells[c].left, share);
    to.cells[c].right = mixed(a.cells[c].right, b.cells[c].right, share);
    to.cells[c].couple = mixed(a.cells[c].couple, b.cells[c].couple, share);
    to.cells[c].couple_material = mixed(a.cells[c].couple_material, b.cells[c].couple_material, share);
  }
  for (std::size_t e = 0; e < 2; ++e) {
    const EndLoad<double>&p = a.ends[e], &q = b.ends[e];
    to.ends[e] = {.force = mixed(p.force, q.force, share),
                  .couple = mixed(p.couple, q.couple, share),
                  .couple_material = mixed(p.couple_material, q.couple_material, share),
                  .place = mixed(p.place, q.place, share),
                  .frame = mixed(p.frame, q.frame, share)};
  }
}

}  // namespace

void RodModel::find_units() {
  length = 0, line_density = 0, bending = 0;
  for (const Cell<double>& c : cells) length += c.h, line_density += c.rhoA * c.h;
  line_density /= length;
  for (const Sym3<double>& k : stiffness) bending = std::max({bending, k.xx, k.yy, k.zz});
}

namespace {

/// Turns of cells at rest, and their neighbours.
struct RestTurns {
  explicit RestTurns(const RodModel& model) : m(model), n(model.cell_count()) {}
  const RodModel& m;
  std::size_t n;

  Vec3d of(std::size_t c) const { return m.cells[c].h * m.cells[c].k0; }
  /// The cell before a station, and the one after it; the same one at an end.
  std::size_t before(std::size_t j) const { return j > 0 ? j - 1 : m.closed ? n - 1 : 0; }
  std::size_t after(std::size_t j) const { return j < n ? j : m.closed ? 0 : n - 1; }
  /// How far a cell is from being one of a smooth bend: 0 there, 1 next to a corner, where its neighbours are turned differently.
  double sharpness(std::size_t c) const {
    const double a = norm(of(before(c))), b = norm(of(after(c + 1)));
    return a + b > 0 ? std::abs(b - a) / (a + b) : 0;
  }
  /// How far the rod is turned at a station.
  double at(std::size_t j) const { return std::min(norm(of(before(j))), norm(of(after(j)))); }
  /// The share of a cell's turn that belongs to one of its stations: half of it in a smooth bend, all of it in a corner.
  double share(std::size_t c, std::size_t j) const {
    const double both = at(c) + at(c + 1), own = both > 0 ? at(j) / both : 0.5;
    const bool end = !m.closed && (j == 0 || j == n);
    return end ? 2 * own : own;
  }
  /// Square root of the share of its stiffness that a cell that is turned by 2 x at rest has to have. What is across the axis of
  /// its turn loses cos x twice, 1 - x^2: where moments are averaged, and where angular velocities are summed up. That is so at a
  /// corner, where moments stay what they are in space. In a smooth bend they turn with the rod more or less, and the loss is
  /// between 1 - x^2/3 and that: cos x is right to second order for neither and near to both.
  Mat3<double> of_stiffness(std::size_t c) const {
    const Cell<double>& cell = m.cells[c];
    const double k2 = norm2(cell.k0), y = 0.5 * cell.h * std::sqrt(k2), cosine = std::cos(std::atan(y * (1 + y * y / 3)));
    if (!(k2 > 0)) return identity3<double>();
    const double s = sharpness(c), across = std::pow(cosine, 0.5 * (1 + s * s)), along = cosine * std::sqrt(1 + y * y);
    return identity3<double>(across) + outer(((along - across) / k2) * cell.k0, cell.k0);
  }
};

}  // namespace

void RodModel::soften() {
  const RestTurns turns(*this);
  for (std::size_t j = 0; j < station_count(); ++j) {
    const auto soften = [&](Sym3<double>& matrix) {
      if (!(std::min({matrix.xx, matrix.yy, matrix.zz}) > 0)) return;
      const Mat3<double> all = full(matrix), give = systems::inverse3(all);
      Mat3<double> sum = give;
      const auto add = [&](std::size_t cell, std::size_t station) {
        const Mat3<double> share = turns.of_stiffness(cell);
        sum = sum + turns.share(cell, station) * (systems::inverse3(share * all * share) + (-1.0) * give);
      };
      if (j > 0 || closed) add(turns.before(j), turns.before(j) + 1);
      if (j < cell_count() || closed) add(turns.after(j), turns.after(j));
      matrix = lower_triangle<double>(systems::inverse3(sum));
    };
    soften(stiffness[j]), soften(viscosity[j]);
  }
}
void RodModel::lump() {
  constexpr double kShare = 2.0 / 3;
  lumped.assign(station_count(), {});
  for (std::size_t c = 0; c < cell_count(); ++c) {
    Cell<double>& cell = cells[c];
    const double share = 0.25 * kShare * cell.h * cell.h;
    lumped[c] += (0.5 * share) * cell.rhoI, lumped[c + 1] += (0.5 * share) * cell.rhoI;
    cell.lumped = share * cell.rhoA;
    cell.rhoI.x += cell.lumped, cell.rhoI.y += cell.lumped;
  }
  if (closed) lumped.front() = lumped.back() = lumped.front() + lumped.back();
  else lumped.front() = 2.0 * lumped.front(), lumped.back() = 2.0 * lumped.back();
}
double RodModel::time_unit() const { return length * length * std::sqrt(line_density / bending); }
double RodModel::force_unit() const { return bending / (length * length); }

void RodState::resize(std::size_t cells) {
  x.resize(cells + 1), rate.resize(cells + 1), rate_before.resize(cells + 1);
  frame.resize(cells + 1), place.resize(cells + 1);
  strain.resize(cells), strain_rate.resize(cells), strain_rate_before.resize(cells), strain_second.resize(cells);
}

void RodControl::resize(std::size_t cells) {
  start.resize(cells), end.resize(cells);
  drag.assign(cells, {});
  end_drag = {}, place_held = frame_held = {};
  guide = {}, guide_axis = {};
}

namespace {

Quatd turn_of(const RodModel& m, const RodState& s, std::size_t c) {
  const Cell<double>& cell = m.cells[c];
  return cayley(0.5 * cell.h * box_curvature(cell, 0.5 * (s.x[c].k + s.x[c + 1].k)));
}

}  // namespace

Quatd segment_frame(const RodModel& m, const RodState& s, std::size_t c) {
  const Vec3d shift = (m.cells[c].h / 12) * (s.x[c].k - s.x[c + 1].k);
  return normalized(s.frame[c] * half_rotation(turn_of(m, s, c)) * rotation_exp(shift) * m.offset[c]);
}

void sweep_frames(const RodModel& m, RodState& s, bool from_last) {
  const std::size_t n = m.cell_count();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = from_last ? n - 1 - i : i;
    const Quatd turn = turn_of(m, s, c);
    if (from_last) s.frame[c] = normalized(s.frame[c + 1] * conj(turn));
    else s.frame[c + 1] = normalized(s.frame[c] * turn);
    const Vec3d edge = rotate(segment_frame(m, s, c), m.cells[c].h * (Vec3d{0, 0, 1} + s.strain[c]));
    if (from_last) s.place[c] = s.place[c + 1] - edge;
    else s.place[c + 1] = s.place[c] + edge;
  }
}

bool close_rod(const RodModel& m, RodState& s) {
  constexpr int kPasses = 20;
  constexpr double kClosed = 1e-13;
  const std::size_t n = m.cell_count();
  double apart = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kPasses; ++pass) {
    sweep_frames(m, s, false);
    const Vec3d turn = rotation_log(s.frame[0] * conj(s.frame[n])), shift = (1 / m.length) * (s.place[0] - s.place[n]);
    const double before = apart;
    apart = std::max(largest(turn), largest(shift));
    if (!(apart > kClosed) || (apart < 1e3 * kClosed && apart >= 0.5 * before)) return true;
    // A change dk at a station turns what lies beyond by h R dk and moves the end by that across its lever.
    const auto weight = [&](std::size_t j) {
      const double h = 0.5 * ((j > 0 ? m.cells[j - 1].h : 0) + (j < n ? m.cells[j].h : 0));
      const Sym3<double>& k = m.stiffness[j];
      const auto give = [&](double stiffness) { return stiffness > 0 ? m.bending * h / stiffness : 0; };
      return Vec3d{give(k.xx), give(k.yy), give(k.zz)};
    };
    const auto lever = [&](std::size_t j) { return (1 / m.length) * (s.place[n] - s.place[j]); };
    double matrix[21] = {};
    for (std::size_t j = 0; j <= n; ++j) {
      const Mat3<double> R = rotation_matrix(s.frame[j]), across = -1.0 * (cross_matrix(lever(j)) * R);
      const Vec3d w = weight(j);
      const double share[3]{w.x, w.y, w.z};
      for (int a = 0; a < 3; ++a) {
        double column[6];
        for (int i = 0; i < 3; ++i) column[i] = R.m[i][a], column[3 + i] = across.m[i][a];
        for (int i = 0; i < 6; ++i)
          for (int k = 0; k <= i; ++k) matrix[triangle(i, k)] += share[a] * column[i] * column[k];
      }
    }
    double pull[6]{turn.x, turn.y, turn.z, shift.x, shift.y, shift.z};
    Ldl<6, double>(matrix).solve(pull);
    const Vec3d couple{pull[0], pull[1], pull[2]}, force{pull[3], pull[4], pull[5]};
    for (std::size_t j = 0; j <= n; ++j) {
      // The first station is the last one again: without a lever.
      const Vec3d arm = j == 0 ? Vec3d{} : lever(j);
      const Sym3<double>& k = m.stiffness[j];
      const Vec3d moment = rotate(conj(s.frame[j]), couple + cross(arm, force));
      const auto give = [&](double stiffness) { return stiffness > 0 ? m.bending / stiffness : 0; };
      s.x[j].k += Vec3d{give(k.xx) * moment.x, give(k.yy) * moment.y, give(k.zz) * moment.z};
    }
    s.x[n].k = s.x[0].k;
  }
  return apart < 1e-9;
}

double box_energy(const RodModel& m, const RodState& s) {
  double sum = 0;
  for (std::size_t c = 0; c < m.cell_count(); ++c) {
    const Cell<double>& cell = m.cells[c];
    const Station<double>&a = s.x[c], &b = s.x[c + 1];
    const Vec3d u = 0.5 * (a.u + b.u), w = 0.5 * (a.w + b.w), k = 0.5 * (a.k + b.k);
    const Vec3d moment = 0.5 * (m.stiffness[c] * a.k + m.stiffness[c + 1] * b.k);
    sum += 0.5 * cell.h * (cell.rhoA * norm2(u) + dot(w, times(cell.rhoI, w)) + dot(k, moment));
    const Vec3d rate = 0.5 * (times(m.lumped[c], s.rate[c].k) + times(m.lumped[c + 1], s.rate[c + 1].k));
    sum += 0.25 * cell.h * dot(s.rate[c].k + s.rate[c + 1].k, rate) + 0.5 * cell.h * cell.lumped * norm2(s.strain_rate[c]);
    const auto stretching = [](double e, double compliance) { return compliance > 0 ? e * e / compliance : 0; };
    const Vec3d& e = s.strain[c];
    sum += 0.5 * cell.h *
           (stretching(e.x, cell.compliance.x) + stretching(e.y, cell.compliance.y) + stretching(e.z, cell.compliance.z));
  }
  return sum;
}

namespace {

/// The part of a vector along the directions in which a place is held.
Vec3d held_part(const RodControl& c, std::size_t e, const Vec3d& v) {
  if (c.guide[e] == Guide::none) return v;
  const Vec3d along = dot(v, c.guide_axis[e]) * c.guide_axis[e];
  return c.guide[e] == Guide::wall ? along : v - along;
}

}  // namespace

/// How held ends move: velocities at the end of the step, by differences of second order, and on top of them a share of the gap
/// that is left, so that it does not grow.
void RodStepper::lead_ends(const RodModel& m, const RodControl& control, const Part& part, const RodState& s) {
  for (std::size_t e = 0; e < 2; ++e) {
    const std::size_t j = e == 0 ? 0 : m.cell_count();
    const bool known = !part.restart && s.dt > 0;
    const double ahead = known ? stage_.dt / (stage_.dt + s.dt) : 0;
    const EndLoad<double>&from = start_.ends[e], &to = end_.ends[e];
    const bool gap_opens = control.from_last() != (e == 1);
    EndHold<double>& hold = hold_[e];
    hold = {{}, {}, control.guide_axis[e], control.end_drag[e]};
    lead_[e] = lead_turn_[e] = {};
    if (control.place_held[e]) {
      lead_[e] = (1 / stage_.dt) * held_part(control, e, to.place - from.place);
      hold.velocity = lead_[e] + ahead * (lead_[e] - s.lead[e]);
      if (gap_opens) hold.velocity += (part.closure / stage_.dt) * held_part(control, e, from.place - s.place[j]);
    }
    if (control.frame_held[e]) {
      lead_turn_[e] = (1 / stage_.dt) * rotation_log(to.frame * conj(from.frame));
      Vec3d turn = lead_turn_[e] + ahead * (lead_turn_[e] - s.lead_turn[e]);
      if (gap_opens) turn += (part.closure / stage_.dt) * rotation_log(from.frame * conj(s.frame[j]));
      hold.spin = rotate(conj(to.frame), turn);
    }
  }
}

void RodStepper::begin(const RodModel& m, const RodControl& control, const Stage& stage, const Part& part, const RodState& s) {
  const std::size_t stations = m.station_count(), cells = m.cell_count();
  constexpr double kSame = 1e-9;  ///< share by which the lengths of steps may differ
  stage_ = stage;
  mix(control.start, control.end, part.from, start_);
  mix(control.start, control.end, part.to, end_);
  lead_ends(m, control, part, s);
  x_ = s.x, before_ = s.x;
  rate_before_ = s.rate, strain_rate_before_ = s.strain_rate, place_rate_before_ = s.place_rate;
  strain_before_ = s.strain, strain_second_before_ = s.strain_second;
  const bool same_step = std::abs(stage_.dt - s.dt) <= kSame * s.dt;
  rates_known_ = !part.restart && s.history >= 1;
  second_known_ = rates_known_ && s.second_known && same_step;
  if (!part.restart && s.history >= 2 && !same_step) {
    for (std::size_t j = 0; j < stations; ++j) {
      Rates<double>& r = rate_before_[j];
      const Rates<double>& q = s.rate_before[j];
      r.u = stage_.moved(r.u, q.u, s.dt), r.w = stage_.moved(r.w, q.w, s.dt), r.k = stage_.moved(r.k, q.k, s.dt);
      r.turn = stage_.moved(r.turn, q.turn, s.dt);
    }
    for (std::size_t c = 0; c < cells; ++c)
      strain_rate_before_[c] = stage_.moved(s.strain_rate[c], s.strain_rate_before[c], s.dt);
    place_rate_before_ = stage_.moved(s.place_rate, s.place_rate_before, s.dt);
  }
  frame_before_ = s.frame;
  find_laws(m);
  if (control.any_load) find_bows(m, part, s);
  show(m, control);
}

/// What is known of strains and of rates of curvatures at the stage before the step is solved.
void RodStepper::find_laws(const RodModel& m) {
  const double gain = stage_.gain(), by_rate = rates_known_ ? stage_.second_of_rate(second_known_) : 0;
  const auto second = [&](const Vec3d& rate_before, const Vec3d& second_before) {
    return rates_known_ ? stage_.second(Vec3d{}, rate_before, second_before, second_known_) : Vec3d{};
  };
  law_.resize(m.cell_count());
  for (std::size_t c = 0; c < m.cell_count(); ++c) {
    const Vec3d none = stage_.rate_from_stage(Vec3d{}, strain_rate_before_[c]);
    law_[c].before = strain_before_[c] + stage_.of_new() * stage_.growth(none, strain_rate_before_[c]);
    const Vec3d &tau = m.cells[c].tau, inertia = m.cells[c].lumped * m.cells[c].compliance;
    law_[c].offset = law_[c].before + times(inertia, second(strain_rate_before_[c], strain_second_before_[c]));
    const Vec3d down = Vec3d{gain, gain, gain} + tau + by_rate * inertia;
    law_[c].pace = {1 / down.x, 1 / down.y, 1 / down.z};
    law_[c].share = gain * law_[c].pace;
  }
  second_rest_.resize(m.station_count());
  for (std::size_t j = 0; j < m.station_count(); ++j) second_rest_[j] = second(rate_before_[j].k, rate_before_[j].second);
}

/// A load bows a cell out, so that the force along it differs from the mean of its ends: on the mean over the cell by a third of
/// what it does in the middle (Middle::n_lever). That stretches less. As of the start of the step.
void RodStepper::find_bows(const RodModel& m, const Part& part, const RodState& s) {
  constexpr double kSharp = 30;
  if (!part.still && !rates_known_) return;
  for (std::size_t c = 0; c < m.cell_count(); ++c) {
    const Cell<double>& cell = m.cells[c];
    const Vec3d b = 0.5 * cell.h * box_curvature(cell, 0.5 * (s.x[c].k + s.x[c + 1].k));
    const CellLoad<double>& load = (part.still ? end_ : start_).cells[c];
    const auto less_inertia = [&](std::size_t j, const Vec3d& force) {
      const Vec3d rate = part.still ? Vec3d{} : s.rate[j].u + cross(s.x[j].w, s.x[j].u);
      return rotate(conj(s.frame[j]), force) - 0.5 * cell.rhoA * rate;
    };
    // Less where the load itself turns a cell far: there the bow is none of a parabola.
    const double share = lever_share(cell) / (1 + kSharp * norm2(b));
    const Vec3d f = share * (less_inertia(c, load.left) + less_inertia(c + 1, load.right));
    law_[c].offset += times(cell.compliance, (cell.h / 6) * cross(b, f));
  }
}

/// The arrays of Newton's method.
void RodStepper::show(const RodModel& m, const RodControl& control) {
  const std::size_t stations = m.station_count(), cells = m.cell_count();
  rate_.resize(stations), y_.resize(stations), turn_.resize(stations), frame_.resize(stations);
  force_.resize(cells), residual_.resize(cells), dx_.resize(stations * kUnknowns);
  if (kept_.size() < cells * Elimination<double>::kKept) kept_.resize(cells * Elimination<double>::kKept);
  units_ = {m.length, m.force_unit()};
  NewtonView<double>& v = view_;
  v.cells = cells, v.stage = stage_;
  v.second_by_rate = rates_known_ ? stage_.second_of_rate(second_known_) : 0;
  v.place_held = control.place_held, v.frame_held = control.frame_held, v.guide = control.guide;
  v.any_load = control.any_load, v.any_couple = control.any_couple, v.closed = m.closed;
  v.cell = m.cells.data(), v.stiffness = m.stiffness.data(), v.viscosity = m.viscosity.data(), v.lumped = m.lumped.data();
  v.start_load = start_.cells.data(), v.end_load = end_.cells.data(), v.drag = control.drag.data();
  v.start_end = start_.ends.data(), v.end_end = end_.ends.data(), v.hold = hold_.data(), v.units = &units_;
  v.before = before_.data(), v.rate_before = rate_before_.data(), v.frame_before = frame_before_.data();
  v.second_rest = second_rest_.data(), v.law = law_.data();
  v.x = x_.data(), v.rate = rate_.data(), v.y = y_.data(), v.turn = turn_.data(), v.frame = frame_.data();
  v.force = force_.data(), v.residual = residual_.data(), v.end_residual = end_residual_.data();
  v.dx = dx_.data(), v.kept = kept_.data();
}

/// False where a closed rod cannot be closed again.
bool RodStepper::accept(const RodModel& m, const RodControl& control, RodState& s) {
  const std::size_t cells = m.cell_count();
  const Stage of_second{second_known_ ? stage_.w : kBackwardEuler, stage_.dt};
  const auto new_second = [&](const Vec3d& rate, const Vec3d& before, const Vec3d& second_before) {
    return rates_known_ ? of_second.new_rate(rate, before, second_before) : Vec3d{};
  };
  for (std::size_t c = 0; c < cells; ++c) {
    const Middle<double> y(m.cells[c], law_[c], force_[c], y_[c], y_[c + 1]);
    s.strain_rate_before[c] = strain_rate_before_[c];
    s.strain_rate[c] = stage_.rate_from_stage(y.e_rate, strain_rate_before_[c]);
    s.strain[c] = strain_before_[c] + stage_.growth(s.strain_rate[c], strain_rate_before_[c]);
    s.strain_second[c] = new_second(s.strain_rate[c], strain_rate_before_[c], strain_second_before_[c]);
  }
  for (std::size_t j = 0; j <= cells; ++j) rate_[j].second = new_second(rate_[j].k, rate_before_[j].k, rate_before_[j].second);
  s.second_known = rates_known_;
  s.rate_before = rate_before_, s.rate = rate_, s.x = x_;
  const bool last = control.from_last();
  s.place_rate_before = place_rate_before_;
  place_first(control, s);
  sweep_frames(m, s, last);
  s.lead = lead_, s.lead_turn = lead_turn_;
  s.dt = stage_.dt;
  s.history = std::min(s.history + 1, 2);
  return !m.closed || close_rod(m, s);
}

/// The station from which frames and places are found: where it is held, and as it moves where it is not.
void RodStepper::place_first(const RodControl& control, RodState& s) const {
  const bool last = control.from_last();
  const std::size_t e = last ? 1 : 0, j = last ? s.strain.size() : 0;
  const Vec3d v = stage_.value(rotate(frame_[j], x_[j].u), rotate(frame_before_[j], before_[j].u));
  s.place_rate = stage_.rate_from_stage(v, place_rate_before_);
  s.place[j] += stage_.growth(s.place_rate, place_rate_before_);
  if (control.place_held[e]) {
    s.place[j] += held_part(control, e, end_.ends[e].place - s.place[j]);
    s.place_rate += lead_[e] - held_part(control, e, s.place_rate);
  }
  s.frame[j] = normalized(frame_[j]);
}

void RodStepper::tell(const RodModel& m, const RodControl& control, Outcome& outcome) const {
  const std::size_t cells = m.cell_count();
  outcome.residual = outcome.scale = outcome.inertia = 0;
  for (std::size_t c = 0; c < cells; ++c) {
    const Cell<double>& cell = m.cells[c];
    const Middle<double> y(cell, law_[c], force_[c], y_[c], y_[c + 1]);
    const Residual<double>& r = residual_[c];
    const double left_over = std::max(norm(r.a) * cell.h, norm(r.b));
    if (!(left_over <= outcome.residual)) outcome.residual = left_over, outcome.worst = c;
    const Vec3d acceleration = 0.5 * (y_[c].u_rate + y_[c + 1].u_rate) + cross(y.w, y.u);
    const Vec3d viscous = 0.5 * (m.viscosity[c] * y_[c].k_rate + m.viscosity[c + 1] * y_[c + 1].k_rate);
    const Vec3d drag = control.drag[c].left * y_[c].y.u + control.drag[c].right * y_[c + 1].y.u;
    const double inertia = std::max({cell.rhoA * norm(acceleration) * cell.h, norm(viscous) / m.length, norm(drag) * cell.h});
    outcome.inertia = std::max(outcome.inertia, inertia);
    const double load = norm(force_[c].f) * cell.h;
    outcome.scale = std::max({outcome.scale, norm(y.n), norm(y.m) / m.length, load, inertia});
  }
  for (int end = 0; end < 2; ++end) {
    const auto e = static_cast<std::size_t>(end);
    const std::size_t j = end == 0 ? 0 : cells;
    const double sign = end == 0 ? -1 : 1;
    const EndLoad<double>&now = end_.ends[e], &before = start_.ends[e];
    const auto to_world = [&](const Vec3d& a) { return stage_.value(rotate(frame_[j], a), rotate(frame_before_[j], a)); };
    const auto& [first, second] = end_residual_[e];
    outcome.force[e] = outcome.couple[e] = {};
    if (m.closed) {
      if (e == 0) outcome.residual = std::max({outcome.residual, norm(first), norm(second) / m.length});
      continue;
    }
    if (!control.place_held[e]) outcome.residual = std::max(outcome.residual, norm(first));
    if (!control.frame_held[e]) outcome.residual = std::max(outcome.residual, norm(second) / m.length);
    if (control.place_held[e])
      outcome.force[e] = held_part(
          control, e,
          sign * to_world(y_[j].y.n) + control.end_drag[e] * to_world(y_[j].y.u) - stage_.value(now.force, before.force));
    if (control.frame_held[e])
      outcome.couple[e] = sign * to_world(y_[j].m) - stage_.value(now.couple, before.couple) -
                          to_world(stage_.value(now.couple_material, before.couple_material));
  }
}

/// Newton's method for one step; the state stays as it is where that fails. Whole corrections often pass through larger residuals
/// on their way, as where an end is drawn, so they are tried first, and shortened ones where that leads nowhere.
Outcome RodStepper::attempt(const RodModel& m, const RodControl& control, const Stage& stage, const Part& part,
                            const NewtonGoal& goal, RodState& state) {
  Outcome outcome;
  for (const bool shortened : {false, true}) {
    begin(m, control, stage, part, state);
    outcome.converged = RodNewton<double>(view_, triangulate_).iterate(goal, shortened, &outcome.iterations);
    if (!outcome.converged) continue;
    tell(m, control, outcome);
    if (m.closed) state_open_ = state;
    if (accept(m, control, state)) break;
    state = state_open_;
    outcome.converged = false;
  }
  return outcome;
}

void RodStepper::begin_step(const RodModel& m, const RodControl& control, const Weights& weights, double dt,
                            const RodState& state) {
  const bool restart = state.history == 0;
  begin(m, control, {restart ? kBackwardEuler : weights, dt}, {.restart = restart}, state);
}

Outcome RodStepper::end_step(const RodModel& m, const RodControl& control, int iterations, RodState& state) {
  Outcome outcome{.converged = true, .iterations = iterations, .force = {}, .couple = {}};
  tell(m, control, outcome);
  accept(m, control, state);
  return outcome;
}

Outcome RodStepper::step(const RodModel& m, const RodControl& control, const Weights& weights, double dt, const NewtonGoal& goal,
                         RodState& state) {
  constexpr int kMostParts = 64;
  const bool restart = state.history == 0;
  Outcome outcome = attempt(m, control, {restart ? kBackwardEuler : weights, dt}, {.restart = restart}, goal, state);
  if (outcome.converged) return outcome;
  int iterations = outcome.iterations;
  state_before_ = state;
  for (int parts = 2; parts <= kMostParts; parts *= 2) {
    state = state_before_;
    state.history = 0;
    for (int i = 0; i < parts; ++i) {
      const bool first = state.history == 0;
      const Part part{.from = static_cast<double>(i) / parts, .to = static_cast<double>(i + 1) / parts, .restart = first};
      outcome = attempt(m, control, {first ? kBackwardEuler : weights, dt / parts}, part, goal, state);
      iterations += outcome.iterations;
      if (!outcome.converged) break;
    }
    outcome.iterations = iterations, outcome.steps = parts;
    if (outcome.converged) return outcome;
  }
  state = state_before_;
  return outcome;
}

Outcome RodStepper::relax(const RodModel& m, const RodControl& control, double tolerance, int max_iterations,
                          const NewtonGoal& goal, RodState& state) {
  constexpr double kFirst = 0.05, kLargest = 1e3, kSmallest = 1e-7;  ///< steps, in units of time
  constexpr double kGrowth = 3, kCut = 0.25;
  constexpr int kFew = 7;                         ///< iterations of a step that may grow
  constexpr double kFarthest = 0.1, kTurn = 0.3;  ///< that a held end goes in a step: of the length, [rad]
  constexpr double kThere = 1e-11;                ///< and that may be left, as a share of it: stiff rods tell it as a force
  for (auto& x : state.x) x.u = x.w = {};
  state.rate.assign(state.rate.size(), {});
  state.strain_rate.assign(state.strain_rate.size(), {});
  state.place_rate = {};
  RodControl leading = control;
  leading.start = control.end;
  double load = 0;
  for (std::size_t c = 0; c < m.cell_count(); ++c)
    load += (norm(control.end.cells[c].left) + norm(control.end.cells[c].right)) * m.cells[c].h;
  for (const EndLoad<double>& e : control.end.ends) load += norm(e.force);
  const double unit = m.time_unit() / std::sqrt(1 + load / m.force_unit() / 50);
  double dt = kFirst * unit, reach = 1;  ///< the latter: how far held ends go, as a share of what they may
  Outcome outcome;
  int iterations = 0, steps = 0;
  bool there = false;
  while (iterations < max_iterations) {
    double far = 0;
    for (std::size_t e = 0; e < 2; ++e) {
      const std::size_t j = e == 0 ? 0 : m.cell_count();
      EndLoad<double>& now = leading.start.ends[e];
      now.place = state.place[j], now.frame = state.frame[j];
      if (control.place_held[e])
        far = std::max(far, norm(held_part(control, e, control.end.ends[e].place - now.place)) / (kFarthest * m.length));
      if (control.frame_held[e]) far = std::max(far, norm(rotation_log(control.end.ends[e].frame * conj(now.frame))) / kTurn);
    }
    const double share = far > reach ? reach / far : 1;
    for (std::size_t e = 0; e < 2; ++e) {
      leading.end.ends[e].place = mixed(leading.start.ends[e].place, control.end.ends[e].place, share);
      leading.end.ends[e].frame = mixed(leading.start.ends[e].frame, control.end.ends[e].frame, share);
    }
    // Without the velocities of the last step the way down is overdamped.
    for (auto& x : state.x) x.u = x.w = {};
    state.history = 0;
    outcome = attempt(m, leading, {kBackwardEuler, dt}, {.closure = 0, .restart = true, .still = true}, goal, state);
    iterations += outcome.iterations;
    ++steps;
    if (!outcome.converged) {
      dt *= kCut, reach = kCut * std::min(reach, far);
      if (dt < kSmallest * unit) break;
      continue;
    }
    there = share == 1 && far < kThere && outcome.inertia <= tolerance * outcome.scale;
    if (there) break;
    reach = std::min(1.0, kGrowth * reach);
    if (outcome.iterations <= kFew) dt = std::min(dt * kGrowth, kLargest * unit);
  }
  outcome.converged = there;
  outcome.residual = std::max(outcome.residual, outcome.inertia);
  outcome.iterations = iterations, outcome.steps = steps;
  for (auto& x : state.x) x.u = x.w = {};
  state.rate.assign(state.rate.size(), {});
  state.rate_before = state.rate;
  state.strain_rate.assign(state.strain_rate.size(), {});
  state.place_rate = {};
  state.lead = state.lead_turn = {};
  state.history = 0, state.dt = 0;
  return outcome;
}

}  // namespace osier::generalized_alpha

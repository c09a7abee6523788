#include "solvers/generalized_alpha/rod_plan.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/generalized_alpha/cayley.hpp"
#include "solvers/solver_memory.hpp"

namespace osier::generalized_alpha {

namespace {

constexpr MemoryDeclaration kVelocity{"generalized_alpha/velocity", ElementKind::segment, 12};
constexpr MemoryDeclaration kChange{"generalized_alpha/change_of_curvature", ElementKind::segment, 6};
constexpr MemoryDeclaration kForce{"generalized_alpha/force", ElementKind::segment, 6};
constexpr MemoryDeclaration kRate{"generalized_alpha/rate", ElementKind::segment, 30};
constexpr MemoryDeclaration kRateBefore{"generalized_alpha/rate_before", ElementKind::segment, 30};
constexpr MemoryDeclaration kFrame{"generalized_alpha/frame", ElementKind::segment, 8};
constexpr MemoryDeclaration kStrain{"generalized_alpha/strain", ElementKind::segment, 3};
constexpr MemoryDeclaration kStrainRate{"generalized_alpha/strain_rate", ElementKind::segment, 3};
constexpr MemoryDeclaration kStrainRateBefore{"generalized_alpha/strain_rate_before", ElementKind::segment, 3};
constexpr MemoryDeclaration kStrainSecond{"generalized_alpha/strain_second", ElementKind::segment, 3};
constexpr MemoryDeclaration kLead{"generalized_alpha/velocity_of_held_end", ElementKind::segment, 12};
constexpr MemoryDeclaration kPlaceRate{"generalized_alpha/velocity_of_first_station", ElementKind::segment, 6};
/// On the first segment of a rod: the length of the last step, how many rates are stored, which ends were held, and whether there
/// is anything.
constexpr MemoryDeclaration kClock{"generalized_alpha/clock", ElementKind::segment, 5};

Vec3d get(std::span<const double> a, std::size_t at) { return {a[at], a[at + 1], a[at + 2]}; }
void put(std::span<double> a, std::size_t at, const Vec3d& v) { a[at] = v.x, a[at + 1] = v.y, a[at + 2] = v.z; }
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A share of a rotation by the shorter way.
Quatd part_of(const Quatd& q, double share) { return rotation_exp(share * rotation_log(q)); }

struct Neighbours {
  std::vector<Index> next, joint;  ///< per segment: the segment after it, and the joint to that; -1: none
  std::vector<std::uint8_t> has_previous;
};

Neighbours find_neighbours(const Model& m) {
  Neighbours n;
  n.next.assign(at(m.segment_count()), -1), n.joint = n.next;
  n.has_previous.assign(at(m.segment_count()), 0);
  for (Index j = 0; j < m.joint_count(); ++j) {
    const auto [a, b] = m.joint_frames[j];
    if (!m.joint_alive[j] || m.joint_is_clamp[j] || m.segment_vertices[a][1] != m.segment_vertices[b][0]) continue;
    n.next[at(a)] = b, n.joint[at(a)] = j, n.has_previous[at(b)] = 1;
  }
  return n;
}

/// The half-joint of a clamp between a segment and the vertex at its end; -1: none.
Index half_joint(const Model& m, Index segment, Index vertex) {
  for (const Index e : m.frame_joints.of(segment)) {
    const Index j = e / 2;
    if (m.joint_is_clamp[j] && m.joint_alive[j] && m.anchor_vertex[at(m.joint_frames[j][0] - m.segment_count())] == vertex)
      return j;
  }
  return -1;
}

void find_joints(const Model& m, const Neighbours& n, Rod& rod) {
  const std::size_t cells = rod.segments.size();
  rod.joint.assign(cells + 1, -1), rod.joint_length.assign(cells + 1, 0);
  for (std::size_t c = 0; c + 1 < cells; ++c) rod.joint[c + 1] = n.joint[at(rod.segments[c])];
  if (rod.model.closed) {
    rod.joint.front() = rod.joint.back() = n.joint[at(rod.segments.back())];
  } else {
    rod.joint.front() = half_joint(m, rod.segments.front(), rod.vertices.front());
    rod.joint.back() = half_joint(m, rod.segments.back(), rod.vertices.back());
  }
  for (std::size_t j = 0; j <= cells; ++j)
    if (rod.joint[j] >= 0) rod.joint_length[j] = m.joint_length[at(rod.joint[j])];
  if (rod.model.closed) return;
  for (const std::size_t e : {std::size_t{0}, std::size_t{1}})
    if (const Index j = e == 0 ? rod.joint.front() : rod.joint.back(); j >= 0) rod.anchor[e] = m.joint_frames[at(j)][0];
}

/// Frames of stations at rest: between those of segments, or of the clamp, or as the curve goes on beyond the last joint.
void find_rest_frames(const Model& m, Rod& rod) {
  const std::size_t cells = rod.segments.size();
  rod.to_segment.assign(cells, {}), rod.to_station.assign(cells, {});
  const auto length = [&](std::size_t c) { return m.segment_rest_length[at(rod.segments[c])]; };
  const auto rest = [&](std::size_t j) { return m.joint_rest_rotation[at(rod.joint[j])]; };
  for (std::size_t j = 1; j < cells; ++j) {
    rod.to_station[j - 1] = part_of(rest(j), length(j - 1) / (length(j - 1) + length(j)));
    rod.to_segment[j] = normalized(conj(rod.to_station[j - 1]) * rest(j));
  }
  if (rod.model.closed) {
    rod.to_station[cells - 1] = part_of(rest(cells), length(cells - 1) / (length(cells - 1) + length(0)));
    rod.to_segment[0] = normalized(conj(rod.to_station[cells - 1]) * rest(cells));
    return;
  }
  if (rod.joint[0] >= 0) rod.to_segment[0] = rest(0);
  else if (cells > 1) rod.to_segment[0] = rod.to_station[0];
  if (rod.joint[cells] >= 0) rod.to_station[cells - 1] = conj(rest(cells));
  else if (cells > 1) rod.to_station[cells - 1] = rod.to_segment[cells - 1];
}

/// The curvature at rest of a cell that is turned by `wanted`: box_curvature() backwards.
Vec3d curvature_of_turn(double h, const Vec3d& wanted) {
  const double b = 0.5 * h * norm(wanted);
  if (!(b > 0)) return wanted;
  double x = b;  // of x (1 + x^2/3) = b, from above
  for (int i = 0; i < 50; ++i) {
    const double step = (x * (1 + x * x / 3) - b) / (1 + x * x);
    x -= step;
    if (std::abs(step) <= 1e-16 * x) break;
  }
  return (x / b) * wanted;
}

/// The change of curvature with which a cell is turned by `wanted`: box_curvature() backwards.
Vec3d change_of_turn(const Cell<double>& cell, const Vec3d& wanted) {
  Vec3d change = wanted - box_curvature(cell, {});
  for (int i = 0; i < 50; ++i) {
    const Vec3d step = wanted - box_curvature(cell, change);
    change += (1 / (1 + 0.25 * cell.h * cell.h * norm2(wanted))) * step;
    if (norm(step) <= 1e-16 * norm(wanted)) break;
  }
  return change;
}

void find_model(const Model& m, const std::vector<double>& masses, bool kirchhoff, Rod& rod) {
  const std::size_t cells = rod.segments.size();
  RodModel& model = rod.model;
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t s = at(rod.segments[c]);
    const double h = m.segment_rest_length[s];
    Quatd turn = normalized(rod.to_segment[c] * rod.to_station[c]);
    if (turn.w < 0) turn = -turn;
    const Vec3d b = inverse_cayley(turn);
    const Quatd offset = normalized(conj(half_rotation(turn)) * rod.to_segment[c]);
    Cell<double> cell;
    cell.h = h, cell.rhoA = masses[s] / h;
    cell.rhoI = cast<double>((1 / h) * m.segment_inertia[s]);
    cell.k0 = curvature_of_turn(h, (2 / h) * b);
    cell.nu0 = box_tangent(rotate(offset, Vec3d{0, 0, 1}), b);
    const PerAxis& k = m.segment_stiffness[s];
    if (!kirchhoff) cell.compliance = {h / k.d1, h / k.d2, h / k.d3};
    cell.tau = cast<double>(m.segment_tau[s]);
    model.cells.push_back(cell);
    model.offset.push_back(offset);
  }
  model.stiffness.assign(cells + 1, {}), model.viscosity.assign(cells + 1, {});
  for (std::size_t j = 0; j <= cells; ++j) {
    std::size_t from = j;
    if (rod.joint[j] < 0) from = j == 0 ? 1 : cells - 1;
    if (rod.joint[from] < 0) continue;
    const std::size_t joint = at(rod.joint[from]);
    const Vec3d stiffness = (0.25 * m.joint_length[joint]) * cast<double>(m.joint_stiffness[joint]);
    model.stiffness[j] = diagonal(stiffness), model.viscosity[j] = diagonal(times(stiffness, cast<double>(m.joint_tau[joint])));
  }
  model.find_units();
  model.soften();
  if (rod.anchor[0] < 0 && rod.anchor[1] < 0) {
    // Nothing would tell how a straight rod that is free to spin about its axis does so if it had no inertia at all.
    constexpr double kLeastInertia = 1e-8;  // of a rod's length, squared
    for (auto& cell : model.cells) cell.rhoI.z = std::max(cell.rhoI.z, kLeastInertia * cell.rhoA * model.length * model.length);
  }
  model.lump();
}

}  // namespace

namespace {

constexpr double kRounding = 1e-6;  ///< of masses

/// Masses of the segments of a ring, which lie half on either end: any of them gives all the others. With an odd number of
/// segments the last one has to fit, with an even number all fit or none, and those are taken that differ least from segment to
/// segment. Nothing where vertices are heavier than that: then masses alternate.
bool find_ring_masses(const Model& m, Index first, std::vector<double>& mass) {
  std::vector<std::size_t> segments;
  std::vector<double> own;  // if the first one had none
  Index segment = first, vertex = m.segment_vertices[at(first)][1];
  double next = 0;
  do {
    segments.push_back(at(segment)), own.push_back(next);
    const auto around = m.vertex_segments.of(vertex);
    if (around.size() != 2) return false;
    next = 2 * m.vertex_mass[at(vertex)] - next;
    segment = around[0] / 2 == segment ? around[1] / 2 : around[0] / 2;
    const auto [a, b] = m.segment_vertices[at(segment)];
    vertex = vertex == a ? b : a;
  } while (segment != first);
  const std::size_t n = segments.size();
  const auto length = [&](std::size_t i) { return m.segment_rest_length[segments[i % n]]; };
  double all = 0, share = 0.5 * next;  // of the first one
  for (std::size_t i = 0; i < n; ++i) all += m.vertex_mass[at(m.segment_vertices[segments[i]][0])];
  if (n % 2 == 0) {
    if (std::abs(next) > kRounding * all / static_cast<double>(n)) return false;
    double above = 0, below = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double sign = i % 2 == 0 ? 1 : -1, jump = own[(i + 1) % n] / length(i + 1) - own[i] / length(i);
      const double by_share = -sign * (1 / length(i + 1) + 1 / length(i));
      above -= by_share * jump, below += by_share * by_share;
    }
    share = above / below;
  }
  std::vector<double> density(n);
  for (std::size_t i = 0; i < n; ++i) {
    mass[segments[i]] = own[i] + (i % 2 == 0 ? share : -share);
    if (!(mass[segments[i]] > 0)) return false;
    density[i] = mass[segments[i]] / length(i);
  }
  std::size_t turns = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double before = density[(i + 1) % n] - density[i], after = density[(i + 2) % n] - density[(i + 1) % n];
    if (before * after < 0 && std::abs(before) > kRounding * density[i]) ++turns;
  }
  return 2 * turns <= n;
}

}  // namespace

std::optional<std::vector<double>> segment_masses(const Model& m) {
  std::vector<double> mass(at(m.segment_count()), 0);
  std::vector<std::uint8_t> done(at(m.segment_count()), 0);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (m.vertex_segments.of(v).size() != 1) continue;
    Index vertex = v, segment = m.vertex_segments.of(v)[0] / 2;
    if (done[at(segment)]) continue;
    for (double before = 0;;) {
      mass[at(segment)] = 2 * m.vertex_mass[at(vertex)] - before;
      done[at(segment)] = 1;
      before = mass[at(segment)];
      if (!(before > 0)) return {};
      const auto [a, b] = m.segment_vertices[at(segment)];
      vertex = vertex == a ? b : a;
      const auto around = m.vertex_segments.of(vertex);
      if (around.size() != 2) {
        if (std::abs(2 * m.vertex_mass[at(vertex)] - before) > kRounding * before) return {};
        break;
      }
      segment = around[0] / 2 == segment ? around[1] / 2 : around[0] / 2;
    }
  }
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[at(s)] && mass[at(s)] == 0 && !find_ring_masses(m, s, mass)) return {};
  return mass;
}

std::vector<Rod> find_rods(const Model& m, bool kirchhoff) {
  std::vector<Rod> rods;
  const auto masses = segment_masses(m);
  if (!masses) return rods;
  const Neighbours n = find_neighbours(m);
  std::vector<int> ends(at(m.vertex_count()), 0);
  std::vector<std::uint8_t> found(at(m.segment_count()), 0);
  const auto add = [&](Index first, bool closed) {
    Rod rod;
    rod.model.closed = closed;
    for (Index s = first; s >= 0 && !found[at(s)]; s = n.next[at(s)]) {
      found[at(s)] = 1;
      rod.segments.push_back(s);
      rod.vertices.push_back(m.segment_vertices[at(s)][0]);
    }
    rod.vertices.push_back(m.segment_vertices[at(rod.segments.back())][1]);
    find_joints(m, n, rod);
    find_rest_frames(m, rod);
    find_model(m, *masses, kirchhoff, rod);
    const auto& cells = rod.model.cells;
    rod.density.assign(rod.vertices.size(), 0);
    for (std::size_t j = 1; j + 1 < rod.vertices.size(); ++j) rod.density[j] = 1 / (cells[j - 1].h + cells[j].h);
    if (closed) rod.density.front() = rod.density.back() = 1 / (cells.back().h + cells.front().h);
    else ++ends[at(rod.vertices.front())], ++ends[at(rod.vertices.back())];
    rods.push_back(std::move(rod));
  };
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[at(s)] && !n.has_previous[at(s)]) add(s, false);
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[at(s)] && !found[at(s)]) add(s, true);
  for (Rod& rod : rods)
    if (!rod.model.closed) rod.end_share = {1.0 / ends[at(rod.vertices.front())], 1.0 / ends[at(rod.vertices.back())]};
  return rods;
}

// -----------------------------------------------------------------------------------------------------------------------------
// memory

void RodMemory::declare(const Model& m, State& state) {
  for (const MemoryDeclaration& d : {kVelocity, kChange, kForce, kRate, kRateBefore, kFrame, kStrain, kStrainRate,
                                     kStrainRateBefore, kStrainSecond, kLead, kPlaceRate, kClock})
    solver_memory(state, m, d);
}

RodMemory::RodMemory(const Model& m, State& state) {
  declare(m, state);
  velocity_ = solver_memory(state, m, kVelocity), change_ = solver_memory(state, m, kChange);
  force_ = solver_memory(state, m, kForce), rate_ = solver_memory(state, m, kRate);
  rate_before_ = solver_memory(state, m, kRateBefore), frame_ = solver_memory(state, m, kFrame);
  strain_ = solver_memory(state, m, kStrain), strain_rate_ = solver_memory(state, m, kStrainRate);
  strain_rate_before_ = solver_memory(state, m, kStrainRateBefore), lead_ = solver_memory(state, m, kLead);
  strain_second_ = solver_memory(state, m, kStrainSecond);
  place_rate_ = solver_memory(state, m, kPlaceRate), clock_ = solver_memory(state, m, kClock);
}

int RodMemory::holds(const Rod& rod) const { return static_cast<int>(clock_[5 * at(rod.segments[0]) + 2]); }

bool RodMemory::load(const Rod& rod, const State& state, RodState& to) const {
  constexpr double kSame = 1e-9;
  const std::size_t cells = rod.segments.size();
  const std::size_t first = at(rod.segments[0]);
  if (clock_[5 * first + 3] == 0) return false;
  to.resize(cells);
  for (std::size_t j = 0; j <= cells; ++j) {
    const std::size_t end = j == cells ? 1 : 0, s = 2 * at(rod.segments[j - end]) + end;
    to.x[j] = {get(velocity_, 6 * s), get(velocity_, 6 * s + 3), get(change_, 3 * s), get(force_, 3 * s)};
    const auto rates = [&](std::span<const double> a) {
      return Rates<double>{get(a, 15 * s), get(a, 15 * s + 3), get(a, 15 * s + 6), get(a, 15 * s + 9), get(a, 15 * s + 12)};
    };
    to.rate[j] = rates(rate_), to.rate_before[j] = rates(rate_before_);
    to.frame[j] = {frame_[4 * s], frame_[4 * s + 1], frame_[4 * s + 2], frame_[4 * s + 3]};
    to.place[j] = state.vertex_position[at(rod.vertices[j])];
  }
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t s = 3 * at(rod.segments[c]);
    to.strain[c] = get(strain_, s), to.strain_rate[c] = get(strain_rate_, s);
    to.strain_rate_before[c] = get(strain_rate_before_, s), to.strain_second[c] = get(strain_second_, s);
  }
  to.place_rate = get(place_rate_, 6 * first), to.place_rate_before = get(place_rate_, 6 * first + 3);
  for (std::size_t e = 0; e < 2; ++e)
    to.lead[e] = get(lead_, 12 * first + 6 * e), to.lead_turn[e] = get(lead_, 12 * first + 6 * e + 3);
  to.dt = clock_[5 * first], to.history = static_cast<int>(clock_[5 * first + 1]), to.second_known = clock_[5 * first + 4] != 0;
  // Whether the state is still the one that was stored.
  for (std::size_t c = 0; c < cells; ++c) {
    const Quatd frame = segment_frame(rod.model, to, c);
    if (!(std::abs(dot(frame, state.frame_rotation[at(rod.segments[c])])) > 1 - kSame)) return false;
    const double h = rod.model.cells[c].h;
    const Vec3d edge = rotate(frame, h * (Vec3d{0, 0, 1} + to.strain[c]));
    if (!(norm(to.place[c + 1] - to.place[c] - edge) < kSame * rod.model.length)) return false;
  }
  for (std::size_t j = 0; j <= cells; ++j) {
    const Vec3d v = rotate(to.frame[j], to.x[j].u), other = state.vertex_velocity[at(rod.vertices[j])];
    if (!(norm(v - other) <= kSame * (norm(v) + norm(other)))) return false;
  }
  return true;
}

void RodMemory::store(const Rod& rod, const RodState& from, int holds) {
  const std::size_t cells = rod.segments.size(), first = at(rod.segments[0]);
  const auto put_station = [&](std::size_t s, std::size_t j) {
    put(velocity_, 6 * s, from.x[j].u), put(velocity_, 6 * s + 3, from.x[j].w);
    put(change_, 3 * s, from.x[j].k), put(force_, 3 * s, from.x[j].n);
    const auto rates = [&](std::span<double> a, const Rates<double>& r) {
      put(a, 15 * s, r.u), put(a, 15 * s + 3, r.w), put(a, 15 * s + 6, r.k), put(a, 15 * s + 9, r.turn);
      put(a, 15 * s + 12, r.second);
    };
    rates(rate_, from.rate[j]), rates(rate_before_, from.rate_before[j]);
    const Quatd& q = from.frame[j];
    frame_[4 * s] = q.x, frame_[4 * s + 1] = q.y, frame_[4 * s + 2] = q.z, frame_[4 * s + 3] = q.w;
  };
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t s = at(rod.segments[c]);
    put_station(2 * s, c), put_station(2 * s + 1, c + 1);
    put(strain_, 3 * s, from.strain[c]), put(strain_rate_, 3 * s, from.strain_rate[c]);
    put(strain_rate_before_, 3 * s, from.strain_rate_before[c]), put(strain_second_, 3 * s, from.strain_second[c]);
  }
  put(place_rate_, 6 * first, from.place_rate), put(place_rate_, 6 * first + 3, from.place_rate_before);
  for (std::size_t e = 0; e < 2; ++e)
    put(lead_, 12 * first + 6 * e, from.lead[e]), put(lead_, 12 * first + 6 * e + 3, from.lead_turn[e]);
  clock_[5 * first] = from.dt, clock_[5 * first + 1] = from.history, clock_[5 * first + 2] = holds, clock_[5 * first + 3] = 1;
  clock_[5 * first + 4] = from.second_known ? 1 : 0;
}

// -----------------------------------------------------------------------------------------------------------------------------
// states

namespace {

/// The cells on either side of a station, if there are two.
std::optional<std::pair<std::size_t, std::size_t>> around(const Rod& rod, std::size_t j) {
  const std::size_t cells = rod.segments.size();
  if (j > 0 && j < cells) return std::pair{j - 1, j};
  if (rod.model.closed) return std::pair{cells - 1, std::size_t{0}};
  return {};
}

/// Changes of curvature from the turns between segments, and then such that the means of cells turn their ends as far as they are
/// turned. What is left of that is the part that alternates from station to station, which would only set off vibration.
void find_changes(const Rod& rod, const State& state, RodState& to) {
  constexpr int kPasses = 4;
  const std::size_t cells = rod.segments.size();
  const auto frame = [&](std::size_t c) { return state.frame_rotation[at(rod.segments[c])]; };
  for (std::size_t j = 0; j <= cells; ++j) {
    Quatd turn;  // beyond the one at rest, in the axes of the station
    if (const auto sides = around(rod, j)) {
      const auto [a, b] = *sides;
      const Quatd more = conj(frame(a) * rod.to_station[a] * rod.to_segment[b]) * frame(b);
      turn = rod.to_segment[b] * more * conj(rod.to_segment[b]);
    } else if (rod.joint[j] >= 0) {
      const std::size_t c = j == 0 ? 0 : cells - 1;
      const Quatd clamp = state.frame_rotation[at(rod.anchor[j == 0 ? 0 : 1])];
      turn = j == 0 ? conj(clamp * rod.to_segment[0]) * frame(0) : conj(frame(c) * rod.to_station[c]) * clamp;
    }
    to.x[j].k = rod.joint_length[j] > 0 ? (1 / rod.joint_length[j]) * rotation_log(normalized(turn)) : Vec3d{};
  }
  // At a clamp the half-joint shows the curvature of a third of a segment farther on; what goes on from the inside is nearer.
  const bool front = !rod.model.closed && rod.joint.front() >= 0, back = !rod.model.closed && rod.joint.back() >= 0;
  const auto go_on = [&](std::size_t end, std::ptrdiff_t step) {
    const auto k = [&](std::ptrdiff_t i) {
      return to.x[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(end) + i * step)].k;
    };
    if (cells > 4) to.x[end].k = 4.0 * (k(1) + k(3)) - 6.0 * k(2) - k(4);
    else if (cells > 2) to.x[end].k = 2.0 * k(1) - k(2);
  };
  if (front) go_on(0, 1);
  if (back) go_on(cells, -1);
  std::vector<Vec3d> missing(cells);
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t c = 0; c < cells; ++c) {
      const Cell<double>& cell = rod.model.cells[c];
      Quatd turn = normalized(conj(to.frame[c]) * to.frame[c + 1]);
      if (turn.w < 0) turn = -turn;
      missing[c] = change_of_turn(cell, (2 / cell.h) * inverse_cayley(turn)) - 0.5 * (to.x[c].k + to.x[c + 1].k);
    }
    for (std::size_t j = 0; j <= cells; ++j)
      if (const auto sides = around(rod, j)) to.x[j].k += 0.5 * (missing[sides->first] + missing[sides->second]);
    if (front) to.x[0].k += missing[0];
    if (back) to.x[cells].k += missing[cells - 1];
  }
}

/// Turns stations until their cells show the segments as they are: frames between those of segments alone would move the rod by
/// what it bends in a sixth of a segment.
void correct_frames(const Rod& rod, const State& state, RodState& to) {
  constexpr int kPasses = 6;
  const std::size_t cells = rod.segments.size();
  std::vector<Vec3d> off(cells);
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t c = 0; c < cells; ++c) {
      const Quatd shown = segment_frame(rod.model, to, c);
      off[c] = rotation_log(normalized(state.frame_rotation[at(rod.segments[c])] * conj(shown)));
    }
    for (std::size_t j = 0; j <= cells; ++j) {
      if ((j == 0 && rod.anchor[0] >= 0) || (j == cells && rod.anchor[1] >= 0)) continue;
      const auto sides = around(rod, j);
      const Vec3d turn = sides ? 0.5 * (off[sides->first] + off[sides->second]) : j == 0 ? off[0] : off[cells - 1];
      to.frame[j] = normalized(rotation_exp(turn) * to.frame[j]);
    }
    find_changes(rod, state, to);
  }
}

}  // namespace

void start_from(const Rod& rod, const Model& m, const State& state, bool from_last, RodState& to) {
  const std::size_t cells = rod.segments.size();
  to = {};
  to.resize(cells);
  const auto frame = [&](std::size_t c) { return state.frame_rotation[at(rod.segments[c])]; };
  for (std::size_t j = 0; j <= cells; ++j) {
    to.place[j] = state.vertex_position[at(rod.vertices[j])];
    if (const auto sides = around(rod, j)) {
      // Between the two segments, as at rest: half of what they are turned from there, each by its length.
      const auto [a, b] = *sides;
      const Quatd more = conj(frame(a) * rod.to_station[a] * rod.to_segment[b]) * frame(b);
      const double share = rod.model.cells[a].h / (rod.model.cells[a].h + rod.model.cells[b].h);
      to.frame[j] = normalized(frame(a) * rod.to_station[a] * rod.to_segment[b] * part_of(normalized(more), share) *
                               conj(rod.to_segment[b]));
    } else if (j == 0) {
      to.frame[j] = rod.anchor[0] >= 0 ? state.frame_rotation[at(rod.anchor[0])] : normalized(frame(0) * conj(rod.to_segment[0]));
    } else {
      to.frame[j] =
          rod.anchor[1] >= 0 ? state.frame_rotation[at(rod.anchor[1])] : normalized(frame(cells - 1) * rod.to_station[cells - 1]);
    }
  }
  find_changes(rod, state, to);
  correct_frames(rod, state, to);
  for (std::size_t c = 0; c < cells; ++c) {
    const Cell<double>& cell = rod.model.cells[c];
    const Vec3d edge = rotate(conj(frame(c)), to.place[c + 1] - to.place[c]);
    if (cell.compliance.z > 0) to.strain[c] = (1 / cell.h) * edge - Vec3d{0, 0, 1};
  }
  sweep_frames(rod.model, to, from_last);
  if (rod.model.closed) close_rod(rod.model, to);
  for (std::size_t j = 0; j <= cells; ++j) {
    // Across the rod the frames turn with the segments; about it, with what the state says.
    Vec3d spin;
    const auto sides =
        around(rod, j).value_or(j == 0 ? std::pair{std::size_t{0}, std::size_t{0}} : std::pair{cells - 1, cells - 1});
    for (const std::size_t c : {sides.first, sides.second}) {
      const std::size_t s = at(rod.segments[c]);
      const Vec3d d3 = director3(frame(c));
      const Vec3d v = state.vertex_velocity[at(rod.vertices[c + 1])] - state.vertex_velocity[at(rod.vertices[c])];
      const Vec3d across = (1 / rod.model.cells[c].h) * cross(d3, v);
      spin += 0.5 * (across + dot(state.frame_velocity[s], d3) * d3);
    }
    const bool held = (j == 0 && rod.anchor[0] >= 0) || (j == cells && rod.anchor[1] >= 0);
    to.x[j].w = held ? Vec3d{} : rotate(conj(to.frame[j]), spin);
    to.x[j].u = rotate(conj(to.frame[j]), state.vertex_velocity[at(rod.vertices[j])]);
  }
  (void)m;
}

void store_state(const Rod& rod, const Model& m, const RodState& from, State& state) {
  const std::size_t cells = rod.segments.size();
  for (std::size_t j = 0; j < from.place.size() - (rod.model.closed ? 1 : 0); ++j) {
    const std::size_t v = at(rod.vertices[j]);
    state.vertex_position[v] = from.place[j];
    state.vertex_velocity_previous[v] = state.vertex_velocity[v];
    state.vertex_velocity[v] = rotate(from.frame[j], from.x[j].u);
  }
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t s = at(rod.segments[c]);
    state.frame_rotation[s] = segment_frame(rod.model, from, c);
    if (m.segment_inertia[s].any())
      state.frame_velocity[s] = 0.5 * (rotate(from.frame[c], from.x[c].w) + rotate(from.frame[c + 1], from.x[c + 1].w));
  }
}

}  // namespace osier::generalized_alpha

#include "sim/certifier.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "contact/contact_step.hpp"
#include "energies/stretch_shear.hpp"
#include "model/edge.hpp"
#include "model/held_axes.hpp"
#include "sim/measure.hpp"
#include "solvers/direction_terms.hpp"

namespace osier {

namespace {

constexpr double kSumError = 1e-9;  ///< of sums of many terms in double, relative to their sizes
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
constexpr double kMostLeft = 0.25;         ///< of the largest force, in a step that a solver calls solved
constexpr double kReach = 1.2;             ///< in radii: barriers begin where two of these meet
constexpr double kMostLinkWork = 1 << 20;  ///< pairs of segments whose solid angles a step may add up

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Of vertices, and of frames with rotational inertia.
double kinetic_of_vertices(const Model& m, const State& s) {
  double sum = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v]) sum += 0.5 * m.vertex_mass[v] * norm2(s.vertex_velocity[v]);
  return sum;
}
double kinetic_of_frames(const Model& m, const State& s) {
  double sum = 0;
  for (Index f = 0; f < m.segment_count(); ++f) {
    if (!m.segment_alive[f] || !m.segment_inertia[f].any()) continue;
    const Vec3d w = rotate(conj(s.frame_rotation[f]), s.frame_velocity[f]);
    sum += 0.5 * dot(w, times(cast<double>(m.segment_inertia[f]), w));
  }
  return sum;
}

double elastic_of(const Model& m, const State& s) {
  const EnergyTerms e = elastic_energy(m, s.vertex_position, s.frame_rotation);
  return e.stretch_shear + e.bend_twist;
}

}  // namespace

/// Keeps the path of a step and what contact does in it, with pairs that are found here.
class Certifier::Observer final : public certificate::PathRecorder {
 public:
  Observer(const Contacts& contacts, const Executor& executor) : contacts_(contacts), executor_(executor) {}
  void start(const Model& model, const State& state) {
    m_ = &model, start_ = &state;
    account_ = {};
  }
  const ContactAccount& account() const { return account_; }

  void begin_path() override {
    account_ = {};
    PathRecorder::begin_path();
  }
  void end_path(const contact::ContactStep& contact, const std::vector<Vec3d>& u) override {
    account_ = {};
    const std::vector<double> begun(contacts_.obstacles().size(), 0), share = last_share();
    find_pairs(u);
    const std::vector<Vec3d> still(u.size());
    each_contact(contact, still, begun, [&](const contact::Contact& c) { account_.energy_start += energy_of(c); });
    each_contact(contact, u, share, [&](const contact::Contact& c) { take(c, u, share); });
    for (const contact::Contact& c : contact.contacts()) take_friction(c, u, share);
  }

 private:
  /// Calls f for what all pairs make at u, in their order.
  template <class F>
  void each_contact(const contact::ContactStep& contact, const std::vector<Vec3d>& u, const std::vector<double>& share,
                    const F& f) const {
    constexpr std::size_t kChunk = 1024;
    std::vector<std::vector<contact::Contact>> lists((pairs_.size() + kChunk - 1) / kChunk);
    executor_.for_each_job(lists.size(), [&](std::size_t chunk) {
      const std::size_t end = std::min(pairs_.size(), (chunk + 1) * kChunk);
      for (std::size_t p = chunk * kChunk; p < end; ++p) contact.contacts_of(pairs_[p], u, share, lists[chunk]);
    });
    for (const auto& list : lists)
      for (const contact::Contact& c : list) f(c);
  }
  static double energy_of(const contact::Contact& c) { return contact::barrier_energy(c.s(), c.range, c.stiffness_k); }
  using Weights = std::array<double, 4>;
  static Vec3d motion(const contact::Contact& c, const Weights& weight, const std::vector<Vec3d>& u) {
    Vec3d sum;
    for (std::size_t j = 0; j < 4; ++j)
      if (c.vertex[j] >= 0) sum += weight[j] * u[c.vertex[j]];
    return sum;
  }
  /// Of an obstacle, at the contact.
  Vec3d obstacle_motion(const contact::Contact& c, const std::vector<double>& share) const {
    const std::size_t o = c.pair.obstacle();
    const contact::Obstacle& obstacle = *contacts_.obstacles()[o];
    return obstacle.is_moving() ? obstacle.moved(c.pair.feature, c.place - c.distance * normalized(c.n), share[o]) : Vec3d{};
  }
  Vec3d moment(const contact::Contact& c, const Weights& weight, const std::vector<Vec3d>& u, const Vec3d& push) const {
    Vec3d sum;
    for (std::size_t j = 0; j < 4; ++j)
      if (c.vertex[j] >= 0) sum += cross(start_->vertex_position[c.vertex[j]] + u[c.vertex[j]], weight[j] * push);
    return sum;
  }
  void take(const contact::Contact& c, const std::vector<Vec3d>& u, const std::vector<double>& share) {
    account_.energy_end += energy_of(c);
    const Vec3d push = c.force * c.n;
    const double work = dot(push, motion(c, c.weight, u));
    account_.work += work;
    account_.turnover += std::abs(work);
    account_.force_size += norm(push);
    if (!c.pair.with_obstacle()) return;
    take_obstacle(c, c.weight, u, share, push);
    account_.obstacle_push_work += dot(push, obstacle_motion(c, share));
  }
  void take_obstacle(const contact::Contact& c, const Weights& weight, const std::vector<Vec3d>& u,
                     const std::vector<double>& share, const Vec3d& push) {
    account_.obstacle_force += push;
    account_.obstacle_moment += moment(c, weight, u, push);
    account_.obstacle_work += dot(push, obstacle_motion(c, share));
  }
  void take_friction(const contact::Contact& c, const std::vector<Vec3d>& u, const std::vector<double>& share) {
    if (!(c.limit > 0)) return;
    const Vec3d push = -c.friction_force(), moved = motion(c, c.rub, u);
    account_.friction_work += dot(push, moved);
    account_.turnover += std::abs(dot(push, moved));
    account_.force_size += norm(push);
    account_.friction_loss -= dot(push, moved);
    if (!c.pair.with_obstacle()) {
      account_.friction_couple += moment(c, c.rub, u, push);
      return;
    }
    account_.friction_loss += dot(push, obstacle_motion(c, share));
    take_obstacle(c, c.rub, u, share, push);
  }
  /// Of the list of contact nothing is used.
  void find_pairs(const std::vector<Vec3d>& u) {
    const Model& m = *m_;
    std::vector<certificate::Bounds> boxes(static_cast<std::size_t>(m.segment_count()), certificate::Bounds::nothing());
    executor_.for_each(boxes.size(), [&](std::size_t s) {
      if (!m.segment_alive[s]) return;
      const double reach = kReach * contacts_.radius(static_cast<Index>(s));
      for (const Index v : m.segment_vertices[s]) {
        const Vec3d& x = start_->vertex_position[v];
        boxes[s].include(x, reach);
        boxes[s].include(x + u[v], reach);
      }
    });
    pairs_.clear();
    std::vector<certificate::IndexPair> found;
    if (contacts_.rods_touch()) certificate::overlapping_pairs(boxes, executor_, found);
    for (const auto& [a, b] : found)
      if (!contacts_.neighbour(a, b)) pairs_.push_back({.a = a, .b = b});
    std::vector<Index> features;
    for (std::size_t o = 0; o < contacts_.obstacles().size(); ++o)
      for (Index s = 0; s < m.segment_count(); ++s) {
        if (!m.segment_alive[s] || contacts_.is_attached(s, o)) continue;
        features.clear();
        contacts_.obstacles()[o]->features_near({boxes[s].low, boxes[s].high}, features);
        for (const Index f : features) pairs_.push_back({.a = s, .b = -1 - static_cast<Index>(o), .feature = f});
      }
  }

  const Contacts& contacts_;
  const Executor& executor_;
  const Model* m_ = nullptr;
  const State* start_ = nullptr;
  std::vector<contact::Pair> pairs_;
  ContactAccount account_;
};

/// The step at hand.
struct Certifier::Step {
  bool ended = false;
  bool budgeted = false;  ///< energy and momentum are judged
  std::optional<certificate::Collision> collision;
  certificate::NearestPair nearest;
  EnergyBudget energy;
  double turnover = 0, energy_error = 0, unexplained = 0;
  double momentum_error = 0, angular_momentum_error = 0;  ///< relative
  double gained = 0, bound = 0;                           ///< energy out of nothing, and what there may be of it
  double friction_couple = 0, contact_energy = 0;
  bool loose_force = false, loose_couple = false;
  Index off_frame = -1;
  double residual = 0;             ///< share of the largest force that a step leaves which its solver calls solved
  std::vector<std::size_t> links;  ///< pairs whose numbers have changed
};

Certifier::Certifier(const Model& model, const State& initial, Contacts& contacts, int threads, double rounding, bool solves)
    : m_(&model),
      contacts_(contacts),
      executor_(threads),
      rounding_(std::max(rounding, kSumError)),
      solves_(solves),
      observer_(std::make_unique<Observer>(contacts, executor_)),
      linking_(model, initial.vertex_position, {}),
      last_(initial),
      segment_alive_(model.segment_alive),
      joint_alive_(model.joint_alive) {
  contacts_.set_observer(observer_.get());
  if (const auto crossing = check_.begin(model, contacts, initial.vertex_position))
    report_.failure = "at the start " + about(*crossing);
  last_elastic_ = elastic_of(model, initial);
  last_kinetic_ = kinetic(initial);
  report_.time = initial.time;
  report_.curves = static_cast<long>(linking_.curve_count());
  report_.curve_pairs = static_cast<long>(linking_.pairs().size());
  double work = 0;
  for (const auto& pair : linking_.pairs())
    work += static_cast<double>(model.rods[pair.first].segments.size()) *
            static_cast<double>(model.rods[pair.second].segments.size());
  link_every_ = 1 + static_cast<long>(work / kMostLinkWork);
}

Certifier::~Certifier() {
  if (contacts_.observer() == observer_.get()) contacts_.set_observer(nullptr);
}

double Certifier::kinetic(const State& s) const { return kinetic_of_vertices(*m_, s) + kinetic_of_frames(*m_, s); }

std::string Certifier::names(Index a, Index b) const {
  const auto segment = [&](Index s) {
    for (const RodInfo& rod : m_->rods) {
      const auto found = std::find(rod.segments.begin(), rod.segments.end(), s);
      if (found != rod.segments.end()) return fmt::format("segment {} of `{}`", found - rod.segments.begin(), rod.name);
    }
    return fmt::format("segment {}", s);
  };
  if (a < 0) return {};
  if (b >= 0) return segment(a) + " and " + segment(b);
  const auto o = static_cast<std::size_t>(-1 - b);
  const std::string& name = contacts_.obstacles()[o]->name;
  return segment(a) + " and " + (name.empty() ? fmt::format("obstacle {}", o) : fmt::format("obstacle `{}`", name));
}

std::string Certifier::about(const certificate::Collision& c) const {
  return fmt::format("{} came within {:.4g} m of each other, and {:.4g} m is what they are promised", names(c.a, c.b), c.distance,
                     c.least);
}

void Certifier::begin(const Model& model, const State& start) {
  m_ = &model;
  check_.rebind(model);
  fault_.clear();
  const bool same_state =
      same_bits(start.vertex_position, last_.vertex_position) && same_bits(start.vertex_velocity, last_.vertex_velocity) &&
      same_bits(start.frame_rotation, last_.frame_rotation) && same_bits(start.frame_velocity, last_.frame_velocity);
  start_ = start;
  step_ = std::make_unique<Step>();
  observer_->begin(last_.vertex_position, contacts_.obstacles().size());
  observer_->set_reference(start_.vertex_position);
  observer_->start(model, start_);
  const bool same_topology = segment_alive_ == model.segment_alive && joint_alive_ == model.joint_alive;
  if (same_state && same_topology) return;
  const double gained = elastic_of(model, start) - last_elastic_ + kinetic(start) - last_kinetic_;
  if (!same_state)
    fault_ = fmt::format("the state has been changed between two steps, by {:.4g} J of kinetic and elastic energy", gained);
  step_->energy.broken = gained;
}

/// Springs are outside of the rods, and their forces need not lie along the lines between their ends.
void Certifier::take_springs_off(const StepPotential& potential, const State& end, const Vec3d& centre, Vec3d& force,
                                 Vec3d& couple, double& size) const {
  const Unknowns z{displacements(end), {}};
  for (const Index i : potential.springs()) {
    const SpringAtHand s = potential.spring_at(z, i);
    const Vec3d pull = vertex_spring::gradient(s.terms, s.d);
    const auto take = [&](Index v, const Vec3d& on_it) {
      force -= on_it;
      couple -= cross(end.vertex_position[v] - centre, on_it);
      size += norm(on_it);
    };
    take(s.a, pull);
    if (s.b >= 0) take(s.b, -pull);
  }
}

std::vector<Vec3d> Certifier::displacements(const State& end) const {
  std::vector<Vec3d> u(end.vertex_position.size());
  for (std::size_t v = 0; v < u.size(); ++v) u[v] = end.vertex_position[v] - start_.vertex_position[v];
  return u;
}

/// What springs did: their elastic energy is stored, their dampers lose, and the places that they are tied to may be led.
Certifier::SpringAccount Certifier::account_of_springs(const StepPotential& potential, const State& end) const {
  SpringAccount sum;
  const Unknowns z{displacements(end), {}};
  for (const Index i : potential.springs()) {
    const SpringAtHand s = potential.spring_at(z, i);
    vertex_spring::Terms<double> elastic = s.terms;
    elastic.damping = 0;
    const Vec3d pull = vertex_spring::gradient(s.terms, s.d), pull_elastic = vertex_spring::gradient(elastic, s.d);
    const Vec3d stretching = s.d - s.terms.start, of_rods = (s.b < 0 ? Vec3d{} : z.u[s.b]) - z.u[s.a];
    const double before = vertex_spring::elastic_value(elastic, s.terms.start),
                 after = vertex_spring::elastic_value(elastic, s.d);
    sum.work.push_back(dot(pull, of_rods));
    sum.driven += dot(pull, stretching - of_rods);
    sum.driven_size += std::abs(dot(pull, stretching - of_rods));
    sum.damping += dot(pull - pull_elastic, stretching);
    sum.step += dot(pull_elastic, stretching) - (after - before);
    sum.energy_start += before, sum.energy_end += after;
    sum.noise += 1e4 * kRounding * norm(pull) * (norm(s.d) + norm(stretching));
  }
  return sum;
}

/// sum over vertices and frames of forces and couples that ought to be none, about the middle of all.
void Certifier::measure_momentum(const StepPotential& potential, const StepBalance& balance, const State& end, Step& step) const {
  const Model& m = *m_;
  const Control& c = potential.control();
  const ContactAccount& contact = observer_->account();
  const double h = potential.h();
  Vec3d centre, force = -contact.obstacle_force, couple;
  double count = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v]) centre += end.vertex_position[v], count += 1;
  centre = (1 / std::max(count, 1.0)) * centre;
  couple = -(contact.obstacle_moment - cross(centre, contact.obstacle_force)) - contact.friction_couple;
  double size = contact.force_size, reach = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) continue;
    const Vec3d inertia = (m.vertex_mass[v] / h) * (end.vertex_velocity[v] - start_.vertex_velocity[v]),
                drag = (c.vertex_damping[v] / h) * (end.vertex_position[v] - start_.vertex_position[v]);
    const Vec3d f = inertia + drag - c.vertex_force[v] - balance.force[v], arm = end.vertex_position[v] - centre;
    force += f;
    couple += cross(arm, f);
    size += norm(inertia) + norm(drag) + norm(c.vertex_force[v]) + norm(balance.force[v]);
    reach = std::max(reach, norm(arm));
  }
  take_springs_off(potential, end, centre, force, couple, size);
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.segment_alive[s]) size += norm(section_force(m, end, s));
  double couples = size * reach;
  for (Index f = 0; f < m.frame_count(); ++f) {
    Vec3d outside = balance.couple[f] + potential.torque(f, end.frame_rotation[f]);
    if (f < m.segment_count())
      for (const DirectionTerm& t : potential.directions(f))
        outside -= stretch_shear::gradient_w(t.k, t.y, rotate(end.frame_rotation[f], t.a));
    couple -= outside;
    couples += norm(outside);
  }
  // Rounding of the forces of very stiff rods is no force.
  const double noise = balance.rounding * count;
  step.momentum_error = size > 0 ? norm(force) / size : 0;
  step.angular_momentum_error = couples > 0 ? norm(couple) / couples : 0;
  step.loose_force = norm(force) > noise + rounding_ * size;
  step.loose_couple = norm(couple) > noise * reach + rounding_ * couples;
}

void Certifier::measure(const StepPotential& potential, const StepBalance& balance, const State& end, const StepReport& report) {
  const Model& m = *m_;
  const Control& c = potential.control();
  const ContactAccount& contact = observer_->account();
  const double h = potential.h();
  Step& step = *step_;
  EnergyBudget& e = step.energy;
  const auto motion = [&](Index v) { return end.vertex_position[v] - start_.vertex_position[v]; };
  const auto turn = [&](Index f) { return rotation_log(end.frame_rotation[f] * conj(start_.frame_rotation[f])); };
  double solved = 0, found = 0, noise = 0;  // the two sides of the identity; what rounding makes of them
  const auto add = [&](double work) {
    found += work;
    step.turnover += std::abs(work);
  };
  double vertex_step = 0, moved_by_hand = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) continue;
    const Vec3d dx = motion(v), dv = end.vertex_velocity[v] - start_.vertex_velocity[v];
    const double mass = m.vertex_mass[v];
    const double gain = 0.5 * mass * (norm2(end.vertex_velocity[v]) - norm2(start_.vertex_velocity[v]));
    const double loss = 0.5 * mass * norm2(dv), load = dot(c.vertex_force[v], dx), drag = c.vertex_damping[v] / h * norm2(dx);
    add(gain), add(loss), add(drag), add(-load);
    vertex_step += loss;
    e.loads += load;
    e.damping += drag;
    const double work = dot(balance.force[v], dx);
    solved += work;
    (c.vertex_fixed[v] ? e.driven : e.left) += work;
    if (c.vertex_fixed[v]) moved_by_hand += std::abs(work);
    // dx is good to the rounding of positions: what moves less shows in no work.
    noise +=
        balance.rounding * norm(dx) + (mass / h * norm(dv) + norm(c.vertex_force[v])) * kRounding * norm(end.vertex_position[v]);
  }
  e.step += vertex_step;
  // What is held along single directions is driven along these.
  for (const HeldAxes& held : c.held_axes) {
    if (!m.vertex_alive[held.vertex] || c.vertex_fixed[held.vertex]) continue;
    const double work = dot(along(held, balance.force[held.vertex]), motion(held.vertex));
    e.driven += work;
    e.left -= work;
    moved_by_hand += std::abs(work);
  }
  const SpringAccount springs = account_of_springs(potential, end);
  for (const double work : springs.work) add(work);
  e.driven += springs.driven;
  e.damping += springs.damping;
  e.step += springs.step;
  moved_by_hand += springs.driven_size;
  noise += springs.noise;
  // Couples on frames, about the turn of each.
  std::vector<Vec3d> w(static_cast<std::size_t>(m.frame_count()));
  for (Index f = 0; f < m.frame_count(); ++f) {
    w[f] = turn(f);
    const double work = dot(balance.couple[f], w[f]), load = dot(potential.torque(f, end.frame_rotation[f]), w[f]);
    solved += work;
    (c.frame_control[f] == FrameControl::fixed ? e.driven : e.left) += work;
    if (c.frame_control[f] == FrameControl::fixed) moved_by_hand += std::abs(work);
    e.loads += load;
    add(-load);
    if (f < m.segment_count()) noise += balance.rounding * m.segment_rest_length[f] * norm(w[f]);
    if (f >= m.segment_count() || potential.directions(f).empty()) continue;
    double whole = 0;
    for (const DirectionTerm& t : potential.directions(f))
      whole += dot(stretch_shear::gradient_w(t.k, t.y, rotate(end.frame_rotation[f], t.a)), w[f]);
    const double inertia = m.segment_inertia[f].any() ? -dot(inertial_couple(m.segment_inertia[f], start_.frame_rotation[f],
                                                                             start_.frame_velocity[f], h, end.frame_rotation[f]),
                                                             w[f])
                                                      : 0;
    add(whole);
    e.loads -= whole - inertia;
    e.step += inertia;
  }
  // Elasticity and damping of the material, element by element.
  const double elastic_rods = elastic_of(m, end), elastic_rods_start = elastic_of(m, start_);
  const double elastic = elastic_rods + springs.energy_end, elastic_start = elastic_rods_start + springs.energy_start;
  double elastic_work = 0;
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const Vec3d &from = end.vertex_position[a], &to = end.vertex_position[b], edge = to - from;
    const Vec3d stretching = motion(b) - motion(a);
    const auto work_of = [&](const Vec3d& force) {
      // Positions are rounded, and so are the parts of the work, which may cancel.
      noise +=
          norm(force) * (kRounding * (norm(from) + norm(to)) + 1e4 * kRounding * (norm(stretching) + norm(edge) * norm(w[s])));
      return dot(force, stretching) + dot(cross(force, edge), w[s]);
    };
    const double work = work_of(section_force(m, end, s));
    elastic_work += work;
    add(work);
    if (!m.segment_tau[s].any()) continue;
    const Vec3d k = cast<double>((1 / (h * m.segment_rest_length[s])) * (m.segment_stiffness[s] * m.segment_tau[s]));
    const Vec3d rate = section_strain(m, end, s) - section_strain(m, start_, s);
    const double lost = work_of(rotate(end.frame_rotation[s], times(k, rate)));
    add(lost);
    e.damping += lost;
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Vec3d bending = joint_moment(m, end, j);
    noise += 1e4 * kRounding * norm(bending) * (norm(w[a]) + norm(w[b]));
    const double work = dot(bending, w[b] - w[a]);
    elastic_work += work;
    add(work);
    if (!m.joint_tau[j].any()) continue;
    const Quatd& qa = end.frame_rotation[a];
    const Vec3d both = rotate(qa, moment(potential.joint_spring(j), conj(qa) * end.frame_rotation[b]));
    const double lost = dot(both - joint_moment(m, end, j), w[b] - w[a]);
    add(lost);
    e.damping += lost;
  }
  found -= contact.work + contact.friction_work;
  step.turnover += contact.turnover;
  const double kinetic_gain = kinetic(end) - kinetic(start_), contact_gain = contact.energy_end - contact.energy_start;
  // What the forces at the end of the step did, and has become no energy.
  e.step += elastic_work - (elastic_rods - elastic_rods_start) - contact.work + contact.obstacle_push_work - contact_gain;
  e.step -= kinetic_of_frames(m, end) - kinetic_of_frames(m, start_);
  e.driven += contact.obstacle_work;
  e.friction += contact.friction_loss;
  e.stiffening += contact.energy_start - last_contact_;
  step.contact_energy = contact.energy_end;
  const double error = std::abs(solved - found), whole = step.turnover + elastic + elastic_start + kinetic(end);
  step.energy_error = whole > 0 ? error / whole : 0;
  step.unexplained = error > noise + rounding_ * step.turnover ? error : 0;
  step.friction_couple = norm(contact.friction_couple);
  // Energy out of nothing.
  const double gained = kinetic_gain + elastic - elastic_start + contact_gain - e.loads - e.driven;
  const double end_kinetic = kinetic(end);
  const bool is_solved = !report.not_converged && report.residual_relative <= RunStats::kUnsolved;
  const double roundings =
      noise + rounding_ * (step.turnover + elastic + elastic_start + contact.energy_end + contact.energy_start);
  moved_by_hand += std::abs(contact.obstacle_work);
  step.residual = solves_ && !report.not_converged ? report.residual_relative : 0;
  step.gained = gained + vertex_step;
  step.bound = end_kinetic + moved_by_hand + 2 * std::abs(e.left) + std::abs(contact.friction_loss) + roundings;
  if (!is_solved)
    step.bound += kinetic(start_) + elastic_start + contact.energy_start + vertex_step + std::abs(e.loads) + end_kinetic;
}

void Certifier::end(const StepPotential& potential, const StepBalance& balance, const State& end, const StepReport& report) {
  end_of_motion(end);
  step_->budgeted = true;
  measure(potential, balance, end, report);
  measure_momentum(potential, balance, end, *step_);
}

void Certifier::end_of_motion(const State& end) {
  Step& step = *step_;
  step.ended = true;
  const certificate::Path& path = observer_->complete(end.vertex_position);
  step.collision = check_.check(path, executor_);
  if (step.collision) step.collision->distance = check_.smallest_distance(path, *step.collision);
  step.nearest = check_.nearest(end.vertex_position, executor_);
  for (std::size_t f = 0; f < end.frame_rotation.size() && step.off_frame < 0; ++f) {
    const double size = norm(end.frame_rotation[f]);
    if (!(std::abs(size - 1) < 1e-6)) step.off_frame = static_cast<Index>(f);
  }
}

std::string Certifier::what_is_wrong() const {
  const Step& step = *step_;
  if (step.collision) return about(*step.collision);
  if (!fault_.empty()) return fault_;
  if (step.off_frame >= 0)
    return fmt::format("the frame of segment {} is not a rotation: its quaternion does not have length 1", step.off_frame);
  if (!step.links.empty()) {
    const auto& pair = linking_.pairs()[step.links.front()];
    return fmt::format("the linking number of `{}` and `{}` has become {}", m_->rods[pair.first].name, m_->rods[pair.second].name,
                       pair.number);
  }
  if (!(step.unexplained <= 0))
    return fmt::format("{:.3g} J of the {:.4g} J that changed hands in the step are not explained by forces", step.unexplained,
                       step.turnover);
  if (!(step.gained <= step.bound))
    return fmt::format("energy came out of nothing: {:.4g} J more than the loads have given, where the motion explains {:.4g} J",
                       step.gained, step.bound);
  if (step.residual > kMostLeft)
    return fmt::format("the solver calls the step solved, and {:.3g} of the largest force is left", step.residual);
  if (step.loose_force)
    return fmt::format("forces between rods add up to {:.3g} of their sizes instead of nothing", step.momentum_error);
  if (step.loose_couple)
    return fmt::format("moments of forces between rods add up to {:.3g} of their sizes instead of nothing",
                       step.angular_momentum_error);
  return {};
}

std::string Certifier::accept(const State& end) {
  if (!step_ || !step_->ended) return {};
  last_ = end;
  Step& step = *step_;
  CertificateReport& r = report_;
  ++r.steps;
  r.time = last_.time;
  if (r.steps % link_every_ == 0) step.links = linking_.update(*m_, last_.vertex_position);
  const certificate::NearestPair& near = step.nearest;
  r.contacts = near.contacts;
  r.most_contacts = std::max(r.most_contacts, near.contacts);
  r.gap_a = near.a, r.gap_b = near.b;
  r.gap = near.a >= 0 ? near.gap : std::numeric_limits<double>::quiet_NaN();
  r.gap_names = names(near.a, near.b);
  if (near.a >= 0 && !(r.gap >= r.least_gap)) {
    r.least_gap = r.gap, r.least_a = near.a, r.least_b = near.b, r.least_time = r.time;
    r.least_names = r.gap_names;
  }
  if (step.collision) r.penetration = std::max(r.penetration, step.collision->least - step.collision->distance);
  r.contact_energy = last_contact_ = step.contact_energy;
  EnergyBudget& sum = r.energy;
  const EnergyBudget& e = step.energy;
  sum.loads += e.loads, sum.driven += e.driven, sum.stiffening += e.stiffening, sum.broken += e.broken, sum.left += e.left;
  sum.friction += e.friction, sum.damping += e.damping, sum.step += e.step;
  r.energy_error = step.budgeted ? std::max(r.energy_error, step.energy_error) : std::numeric_limits<double>::quiet_NaN();
  r.momentum_error = std::max(r.momentum_error, step.momentum_error);
  r.angular_momentum_error = std::max(r.angular_momentum_error, step.angular_momentum_error);
  r.friction_couple = std::max(r.friction_couple, step.friction_couple);
  last_elastic_ = elastic_of(*m_, last_);
  last_kinetic_ = kinetic(last_);
  segment_alive_ = m_->segment_alive;
  joint_alive_ = m_->joint_alive;
  std::string wrong = r.failure.empty() ? what_is_wrong() : r.failure;
  if (r.failure.empty()) r.failure = wrong;
  step_.reset();
  return wrong;
}

}  // namespace osier

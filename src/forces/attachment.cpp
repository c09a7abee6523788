#include "forces/attachment.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "core/text.hpp"
#include "model/held_axes.hpp"

namespace osier {

void Motion::lead(const Vec3d& rest, double from_time, const Pose& from, double to_time, const Pose& to) {
  LedMotion motion{.rest = rest, .place = {}, .turn = {}};
  motion.place.keys = {{from_time, from.center}, {to_time, to.center}};
  motion.turn.keys = {{from_time, from.turn}, {to_time, to.turn}};
  led = std::move(motion);
}

Motion::Turning Motion::turning(double t) const {
  if (led) return {.all = led->at(t).turn, .recorded = {}};
  if (file) return {.all = {}, .recorded = file->at(t)};
  const Quatd own = turn(t) * (orientation.given() ? normalized(orientation.at(t)) : Quatd{});
  return {.all = carrier ? carrier->motion.turning(t)() * own : own, .recorded = {}};
}

double Motion::angle(double t) const {
  if (!rotate) return 0;
  return rotate->speed.given() ? rotate->speed.integral(t) : rotate->angle.at(t) * std::numbers::pi / 180;
}

Quatd Motion::turn(double t) const { return rotate ? axis_angle(normalized(rotate->axis), angle(t)) : Quatd{}; }

/// The way that something comes at this speed between two times: no less than that.
static double speed_way(const Track<double>& speed, double from, double to) {
  double sum = 0, last = from;
  const auto add = [&](double next) {
    sum += (next - last) * std::max(std::abs(speed.at(last)), std::abs(speed.at(next)));
    last = next;
  };
  for (const auto& key : speed.keys)
    if (key.time > from && key.time < to) add(key.time);
  add(to);
  return sum;
}

static double angle_between(const Quatd& a, const Quatd& b) {
  return norm(rotation_log(normalized(conj(normalized(a)) * normalized(b))));
}

double Motion::turn_between(double from, double to) const {
  const auto apart = [](double a, double b) { return std::abs(b - a); };
  if (led) return led->turn.way(from, to, angle_between);
  double sum = 0;
  // A speed that changes its sign between two keys is taken by its sizes at them, which is never less than the way.
  if (rotate && rotate->speed.given()) sum += speed_way(rotate->speed, from, to);
  else if (rotate) sum += rotate->angle.way(from, to, apart) * std::numbers::pi / 180;
  if (orientation.given()) sum += orientation.way(from, to, angle_between);
  if (file) {
    constexpr int kPieces = 8;
    Quatd last = file->at(from).turn_of(0);
    for (int i = 1; i <= kPieces; ++i) {
      const Quatd next = file->at(from + (to - from) * i / kPieces).turn_of(0);
      sum += angle_between(last, next);
      last = next;
    }
  }
  if (carrier) sum += carrier->motion.turn_between(from, to);
  return sum;
}

Motion::Placement Motion::placement(double t) const {
  Placement own;
  if (led) {
    const Pose now = led->at(t);
    own.turns = true;
    own.turn = now.turn;
    own.center = led->rest;
    own.shift = now.center - led->rest;
    return own;
  }
  if (file) {
    own.recorded = file->at(t);
    return own;
  }
  own.turns = rotate.has_value();
  own.turn = turn(t);
  own.center = rotate ? rotate->center : Vec3d{};
  own.shift = translate.at(t);
  if (!carrier) return own;
  // The carrier takes y to c' + Q (y - c), and y = center + R (x - center) + shift.
  const Quatd q = carrier->motion.turning(t)();
  const Vec3d moved = carrier->motion.placement(t)(carrier->center);
  own.shift = moved + osier::rotate(q, own.center + own.shift - carrier->center) - own.center;
  own.turns = true;
  own.turn = q * own.turn;
  return own;
}

/// Steps are divided until nothing turns far in one. A jump cannot be divided, and half a turn by the shorter arc is either way.
void Attachment::check_turns(Problems& problems) const {
  constexpr double kHalf = std::numbers::pi * (1 - 1e-6);
  const auto& turns = motion.orientation;
  for (std::size_t i = 0; i + 1 < turns.keys.size(); ++i) {
    if (angle_between(turns.keys[i].value, turns.keys[i + 1].value) < kHalf) continue;
    problems.add(fmt::format("{}/motion/orientation/keys/{}", where, i + 1),
                 "is half a turn from the key before, which may be either way round",
                 "put a key between the two, or use `rotate`");
  }
  if (!motion.rotate || motion.rotate->angle.interpolation != Interpolation::step) return;
  const auto& angles = motion.rotate->angle.keys;
  for (std::size_t i = 0; i + 1 < angles.size(); ++i) {
    if (std::abs(angles[i + 1].value - angles[i].value) * std::numbers::pi / 180 < kHalf) continue;
    problems.add(fmt::format("{}/angle/keys/{}", motion.rotate->where, i + 1),
                 fmt::format("jumps by {:g} degrees, and a jump of half a turn or more has no sense of turning",
                             angles[i + 1].value - angles[i].value),
                 "use `interpolation` linear or smooth, or more keys");
  }
}

void Attachment::prepare_motion(const AttachmentContext& c) {
  if (motion.rotate && norm2(motion.rotate->axis) == 0)
    c.problems.add(motion.rotate->where + "/axis", "is the zero vector", "give a direction");
  check_turns(c.problems);
  if (motion.file) motion.file->load(c.folder, c.problems);
  if (!motion.with) return;
  if (const auto found = c.carriers.find(*motion.with); found != c.carriers.end()) {
    motion.carrier = found->second;
    return;
  }
  std::vector<std::string> known;
  for (const auto& [obstacle, carrier] : c.carriers) known.push_back(obstacle);
  const std::string guess = closest(*motion.with, known);
  c.problems.add(where + "/motion/with", fmt::format("there is no obstacle \"{}\"", shorten(*motion.with)),
                 !guess.empty()  ? "did you mean `" + guess + "`?"
                 : known.empty() ? "add it to `obstacles`"
                                 : "known: " + join(known, ", "));
}

bool Attachment::claim(std::vector<std::string>& holder, Index i, const char* what, const std::string& by, Problems& problems) {
  if (!holder[i].empty()) {
    problems.add(by, fmt::format("{} {} is already held by {}", what, i, holder[i]), "keep one of the two constraints");
    return false;
  }
  holder[i] = by;
  return true;
}

bool AttachmentContext::claim_directions(Index vertex, const std::vector<Vec3d>& axes, bool turns, const std::string& by) {
  if (!vertex_holder[vertex].empty()) {
    problems.add(by, fmt::format("vertex {} is already held by {}", vertex, vertex_holder[vertex]),
                 "keep one of the two constraints");
    return false;
  }
  std::vector<HeldDirection>& known = vertex_directions[vertex];
  for (const HeldDirection& other : known)
    for (const Vec3d& axis : axes) {
      const double along = std::abs(dot(axis, other.axis));
      if (along <= 1e-6 && !turns && !other.turns) continue;
      problems.add(by,
                   fmt::format("vertex {} is held by {} along a direction that is {}", vertex, other.by,
                               along > 1 - 1e-6 ? "the same" : "not perpendicular, or turns"),
                   "let constraints on one vertex hold it along directions that stay perpendicular");
      return false;
    }
  for (const Vec3d& axis : axes) known.push_back({axis, turns, by});
  return true;
}

bool AttachmentContext::claim_vertex(Index vertex, const std::string& by) {
  const auto known = vertex_directions.find(vertex);
  if (vertex_holder[vertex].empty() && known != vertex_directions.end() && !known->second.empty()) {
    problems.add(by, fmt::format("vertex {} is already held along some directions by {}", vertex, known->second.front().by),
                 "keep one of the two constraints");
    return false;
  }
  if (!vertex_holder[vertex].empty()) {
    problems.add(by, fmt::format("vertex {} is already held by {}", vertex, vertex_holder[vertex]),
                 "keep one of the two constraints");
    return false;
  }
  vertex_holder[vertex] = by;
  return true;
}

Mover Attachment::mover(double time) const {
  Mover m = motion.placement(time);
  m.turn_of_frames = motion.turning(time)();
  return m;
}

std::string Attachment::amount(double time) const {
  std::string text;
  if (motion.translate.given()) text = fmt::format("{:.8g} m", norm(motion.translate.at(time)));
  if (motion.rotate)
    text += fmt::format("{}{:.8g} degrees", text.empty() ? "" : ", ", motion.angle(time) * 180 / std::numbers::pi);
  if (motion.orientation.given())
    text += fmt::format("{}orientation {:.6g} degrees", text.empty() ? "" : ", ",
                        norm(rotation_log(normalized(motion.orientation.at(time)))) * 180 / std::numbers::pi);
  return text;
}

void Attachment::refuse_recorded_motion(Problems& problems) const {
  if (motion.file)
    problems.add(where + "/motion/file", "leads vertices altogether, and here they are held along some directions only",
                 "give `translate` or `rotate`, or hold the vertices along all directions");
}

void Attachment::check_no_orientation(Problems& problems) const {
  if (motion.orientation.given())
    problems.add(where + "/motion/orientation", "has no effect on a vertex, which has no frame",
                 "use a `clamp`, or fix a segment");
}

std::optional<ClampResult> Attachment::clamp_vertex(AttachmentContext& c, Index v) const {
  ClampResult clamp = add_clamp(c.model, c.graph, c.state, v);
  if (clamp.anchor < 0) {
    c.problems.add(where, fmt::format("vertex {} belongs to a cable without bending stiffness", v), "use a pin");
    return {};
  }
  c.state.frame_rotation.push_back(clamp.rotation);
  c.state.frame_velocity.emplace_back();
  return clamp;
}

Index Attachment::segment_at(AttachmentContext& c, Index vertex, const Selection& segment) const {
  const auto touching = c.model.vertex_segments.of(vertex);
  if (segment.empty()) {
    if (touching.size() == 1) return touching[0] / 2;
    c.problems.add(where, fmt::format("vertex {} has {} segments", vertex, touching.size()),
                   "say which one turns with `segment`");
    return -1;
  }
  const Index s = c.names.find_one(segment, Element::segment, c.problems);
  if (s < 0) return -1;
  const auto [a, b] = c.model.segment_vertices[s];
  if (a == vertex || b == vertex) return s;
  c.problems.add(where + "/segment", fmt::format("segment {} does not touch vertex {}", s, vertex),
                 "name a segment at the vertex");
  return -1;
}

void Pin::bind(AttachmentContext& c) {
  prepare_motion(c);
  check_no_orientation(c.problems);
  for (Index v : c.names.find(vertices, Element::vertex, c.problems)) {
    const bool free_to_hold =
        holds_directions() ? c.claim_directions(v, axes->list, motion.turns_directions(), where) : c.claim_vertex(v, where);
    if (free_to_hold) held_.emplace_back(v, c.state.vertex_position[v]);
  }
  if (holds_directions()) refuse_recorded_motion(c.problems);
  if (!motion.file) return;
  std::vector<Vec3d> places;
  for (const auto& [v, x] : held_) places.push_back(x);
  motion.file->follow(places, false, c.problems);
}

void Pin::apply(double t, const State&, const Executor& executor, Control& control) const {
  const Motion::Placement moved = motion.placement(t);
  if (holds_directions()) {
    for (const Vec3d& axis : axes->list) {
      const Vec3d turned = moved.turns ? rotate(moved.turn, axis) : axis;
      for (const auto& [v, x] : held_) hold_along(control, v, turned, moved(x));
    }
    return;
  }
  executor.for_each(held_.size(), [&](std::size_t i) {
    const auto& [v, x] = held_[i];
    control.vertex_fixed[v] = 1, control.vertex_target[v] = moved(x, i);
  });
}

Vec3d Pin::share(double t, const Control&, Index, const Vec3d& force) const {
  if (!holds_directions()) return force;
  const Motion::Placement moved = motion.placement(t);
  Vec3d sum;
  for (const Vec3d& axis : axes->list) {
    const Vec3d turned = moved.turns ? rotate(moved.turn, axis) : axis;
    sum += dot(turned, force) * turned;
  }
  return sum;
}

bool Pin::tell(Index mover, std::vector<HeldVertex>& vertices_of, std::vector<HeldFrame>&) const {
  if (motion.file || holds_directions()) return false;
  for (const auto& [v, x] : held_) vertices_of.push_back({v, mover, x});
  return true;
}

void Pin::list_held(std::vector<Index>& held, std::vector<Index>&) const {
  for (const auto& [v, x] : held_) held.push_back(v);
}

void Fix::bind(AttachmentContext& c) {
  prepare_motion(c);
  if (motion.translate.given())
    c.problems.add(where + "/motion/translate", "has no effect on a frame", "use `rotate`, or pin the vertices too");
  for (Index s : c.names.find(segments, Element::segment, c.problems))
    if (claim(c.frame_holder, s, "segment", where, c.problems)) held_.emplace_back(s, c.state.frame_rotation[s]);
  if (!motion.file) return;
  if (!motion.file->turns())
    c.problems.add(motion.file->where, "has no turns, and a frame has no place", "pin the vertices instead");
  std::vector<Vec3d> places;
  for (const auto& [s, q] : held_) places.push_back(c.state.vertex_position[c.model.segment_vertices[s][0]]);
  motion.file->follow(places, true, c.problems);
}

void Fix::apply(double t, const State&, const Executor& executor, Control& control) const {
  const Motion::Turning turn = motion.turning(t);
  executor.for_each(held_.size(), [&](std::size_t i) {
    const auto& [s, q] = held_[i];
    control.frame_control[s] = FrameControl::fixed, control.frame_target[s] = turn(i) * q;
  });
}

bool Fix::tell(Index mover, std::vector<HeldVertex>&, std::vector<HeldFrame>& frames) const {
  if (motion.file) return false;
  for (const auto& [s, q] : held_) frames.push_back({s, mover, q});
  return true;
}

void Fix::list_held(std::vector<Index>&, std::vector<Index>& frames) const {
  for (const auto& [s, q] : held_) frames.push_back(s);
}

void Clamp::bind(AttachmentContext& c) {
  prepare_motion(c);
  if (tangent && norm2(*tangent) == 0) c.problems.add(where + "/tangent", "is the zero vector", "give a direction");
  for (Index v : c.names.find(vertices, Element::vertex, c.problems)) {
    if (!c.claim_vertex(v, where)) continue;
    std::optional<ClampResult> clamp = clamp_vertex(c, v);
    if (!clamp) continue;
    if (const auto earlier = c.earlier_clamps.find(v); earlier != c.earlier_clamps.end()) clamp->rotation = earlier->second;
    if (tangent && norm2(*tangent) > 0)
      clamp->rotation = normalized(rotation_between(director3(clamp->rotation), normalized(*tangent)) * clamp->rotation);
    c.state.frame_rotation[clamp->anchor] = clamp->rotation;
    held_.push_back({v, c.state.vertex_position[v], *clamp});
  }
  if (!motion.file) return;
  std::vector<Vec3d> places;
  for (const Held& h : held_) places.push_back(h.position);
  motion.file->follow(places, true, c.problems);
}

void Clamp::apply(double t, const State&, const Executor& executor, Control& control) const {
  const Motion::Turning turn = motion.turning(t);
  const Motion::Placement moved = motion.placement(t);
  executor.for_each(held_.size(), [&](std::size_t i) {
    const Held& h = held_[i];
    control.vertex_fixed[h.vertex] = 1;
    control.vertex_target[h.vertex] = moved(h.position, i);
    control.frame_control[h.clamp.anchor] = FrameControl::fixed;
    control.frame_target[h.clamp.anchor] = turn(i) * h.clamp.rotation;
  });
}

bool Clamp::tell(Index mover, std::vector<HeldVertex>& vertices_of, std::vector<HeldFrame>& frames) const {
  if (motion.file) return false;
  for (const Held& h : held_) {
    vertices_of.push_back({h.vertex, mover, h.position});
    frames.push_back({h.clamp.anchor, mover, h.clamp.rotation});
  }
  return true;
}

void Clamp::list_held(std::vector<Index>& held, std::vector<Index>& frames) const {
  for (const Held& h : held_) {
    held.push_back(h.vertex);
    frames.push_back(h.clamp.anchor);
  }
}

bool Clamp::let_go(Model& model) {
  for (const Held& h : held_) {
    for (Index j : h.clamp.half_joints) model.joint_alive[j] = 0;
    for (Index j : h.clamp.replaced_joints) model.joint_alive[j] = 1;
  }
  return true;
}

void Hinge::bind(AttachmentContext& c) {
  prepare_motion(c);
  if (norm2(axis) == 0) c.problems.add(where + "/axis", "is the zero vector", "give a direction");
  vertex_ = c.names.find_one(vertex, Element::vertex, c.problems);
  if (vertex_ < 0) return;
  segment_ = segment_at(c, vertex_, segment);
  if (segment_ < 0) return;
  if (!c.claim_vertex(vertex_, where)) return;
  if (!claim(c.frame_holder, segment_, "segment", where, c.problems)) return;
  position_ = c.state.vertex_position[vertex_];
  frame_ = c.state.frame_rotation[segment_];
  if (motion.file) motion.file->follow({position_}, true, c.problems);
}

void Hinge::apply(double t, const State&, const Executor&, Control& control) const {
  const Quatd turn = motion.turning(t)();
  control.vertex_fixed[vertex_] = 1;
  control.vertex_target[vertex_] = motion.placement(t)(position_);
  control.frame_control[segment_] = FrameControl::hinged;
  control.frame_target[segment_] = turn * frame_;
  control.frame_hinge_axis[segment_] = rotate(turn, normalized(axis));
}

void Hinge::list_held(std::vector<Index>& vertices, std::vector<Index>& frames) const {
  vertices.push_back(vertex_);
  frames.push_back(segment_);
}

void Motor::bind(AttachmentContext& c) {
  if (axis && norm2(*axis) == 0) c.problems.add(where + "/axis", "is the zero vector", "give a direction");
  if (torque_speed.given() && c.is_static)
    c.problems.add(where + "/torque_speed", "has no effect on statics, where nothing has a speed",
                   "use `speed`, or a `torque` force");
  segment_ = c.names.find_one(segment, Element::segment, c.problems);
  if (segment_ < 0 || !claim(c.frame_holder, segment_, "segment", where, c.problems)) return;
  frame_ = c.state.frame_rotation[segment_];
  axis_ = axis ? normalized(*axis) : director3(frame_);
  const Vec3d a = rotate(conj(frame_), axis_);
  inertia_ = dot(a, times(cast<double>(c.model.segment_inertia[segment_]), a));
}

double Motor::turn_between(double from, double to) const { return speed.given() ? speed_way(speed, from, to) : 0; }

void Motor::list_held(std::vector<Index>&, std::vector<Index>& frames) const { frames.push_back(segment_); }

/// The torque at the new speed, T(w_old) - c (w_new - w_old), with c from a secant of the curve: to the speed that the segment
/// alone would reach under the present torque, no further than where the torque vanishes. That is what the curve says about
/// speeds in between, and the motor cannot run past its no-load speed in however long a step; a tangent could, over a kink or a
/// flat part. Where torque rises with speed it is taken as it was, c = 0. direction_terms.hpp makes the sine of an angle of the
/// angle; the secant is raised so that its far end is met all the same. One radian is as far as that goes.
static double falling_slope(const Track<double>& torque, double speed, double inertia, double h) {
  const double now = torque.at(speed), sign = now < 0 ? -1 : 1;
  double gain = inertia > 0 ? std::min(1 / h, h * std::abs(now) / inertia) : 1 / h;
  const auto ahead = [&](double by) { return sign * torque.at(speed + sign * by); };
  if (ahead(gain) <= 0) {
    double low = 0;
    for (int i = 0; i < 60; ++i) (ahead(0.5 * (low + gain)) <= 0 ? gain : low) = 0.5 * (low + gain);
  }
  if (!(gain > 1e-6 * std::abs(speed))) return std::max(0.0, -torque.slope(speed));
  return std::max(0.0, sign * now - ahead(gain)) * h / std::sin(h * gain);
}

void Motor::drive(double now, double value) {
  if (speed.given()) {
    // The angle is the integral of the speed: it goes on from where it is.
    frame_ = axis_angle(axis_, speed.integral(now) - value * now) * frame_;
    speed = Track<double>(value);
  } else {
    torque_speed = Track<double>(value);
  }
}

void Motor::apply(double t, const State& state, const Executor&, Control& control) const {
  control.frame_hinge_axis[segment_] = axis_;
  if (speed.given()) {
    control.frame_control[segment_] = FrameControl::fixed;
    control.frame_target[segment_] = axis_angle(axis_, speed.integral(t)) * frame_;
    return;
  }
  control.frame_control[segment_] = FrameControl::hinged;
  control.frame_target[segment_] = frame_;
  const double now = dot(state.frame_velocity[segment_], axis_);
  control.has_torque = control.has_rotary_damping = true;
  control.frame_torque[segment_] += torque_speed.at(now) * axis_;
  control.frame_damping[segment_] += falling_slope(torque_speed, now, inertia_, t - state.time);
}

}  // namespace osier

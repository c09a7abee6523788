// A model, a state and a control in memory of a backend, for solvers that run there. Arrays lie as on the host; kernels see them
// through lanes::StepView.
#pragma once

#include <vector>

#include "exec/buffer.hpp"
#include "forces/step_script.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/systems/device/step_orders.hpp"

namespace osier::systems {

/// The loads of a script at a vertex, and whether it is held.
struct LoadVertex {
  StepOrders orders;
  Index step;
  Vec3d* force;
  double* damping;
  std::uint8_t* fixed;
  Vec3d* target;
  OSIER_FN void operator()(Index v) const {
    force[v] = orders.force_on(v, step, damping[v]);
    fixed[v] = orders.holds(v, step, target[v]) ? 1 : 0;
  }
};
struct HoldFrame {
  StepOrders orders;
  Index step;
  FrameControl* control;
  Quatd* target;
  OSIER_FN void operator()(Index f) const {
    control[f] = orders.holds_frame(f, step, target[f]) ? FrameControl::fixed : FrameControl::free;
  }
};
struct FreeFrames {
  FrameControl* control;
  OSIER_FN void operator()(Index f) const { control[f] = FrameControl::free; }
};
inline namespace OSIER_BACKEND_NAMESPACE {

/// An array of the host whose copy in memory of the backend follows it.
template <class T>
class Mirror {
 public:
  explicit Mirror(Backend where) : where_(where) {}
  void put(const std::vector<T>& from) {
    if (buffer_.size() != from.size()) buffer_ = Buffer<T>(where_, from.size());
    buffer_.copy_from(from.data());
  }
  void get(std::vector<T>& to) const { buffer_.copy_to(to.data()); }
  void resize(std::size_t size) {
    if (buffer_.size() != size) buffer_ = Buffer<T>(where_, size);
  }
  T* data() const { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }
  std::size_t bytes() const { return buffer_.bytes(); }
  void swap(Mirror& other) { std::swap(buffer_, other.buffer_); }

 private:
  Backend where_;
  Buffer<T> buffer_;
};

class DeviceState {
 public:
  explicit DeviceState(Backend where) : where_(where) {}

  Backend where() const { return where_; }

  /// The model lasts until the next bind().
  void bind(const Model& m) {
    mass_.put(m.vertex_mass), radius_.put(m.vertex_radius), vertex_alive_.put(m.vertex_alive),
        segment_alive_.put(m.segment_alive);
    segment_vertices_.put(m.segment_vertices), rest_length_.put(m.segment_rest_length);
    segment_stiffness_.put(m.segment_stiffness), segment_tau_.put(m.segment_tau);
    joint_frames_.put(m.joint_frames), joint_rest_.put(m.joint_rest_rotation);
    joint_stiffness_.put(m.joint_stiffness), joint_tau_.put(m.joint_tau);
    vertex_segment_start_.put(m.vertex_segments.start), vertex_segment_.put(m.vertex_segments.entry);
    frame_joint_start_.put(m.frame_joints.start), frame_joint_.put(m.frame_joints.entry);
  }
  void put(const State& s) {
    position_.put(s.vertex_position), rotation_.put(s.frame_rotation);
    velocity_.put(s.vertex_velocity), velocity_previous_.put(s.vertex_velocity_previous);
  }
  void get(State& s) const {
    position_.get(s.vertex_position), rotation_.get(s.frame_rotation);
    velocity_.get(s.vertex_velocity), velocity_previous_.get(s.vertex_velocity_previous);
  }
  void put(const Control& c) {
    holds_ = nullptr;
    force_.put(c.vertex_force), damping_.put(c.vertex_damping);
    vertex_fixed_.put(c.vertex_fixed), vertex_target_.put(c.vertex_target);
    frame_control_.put(c.frame_control), frame_target_.put(c.frame_target), hinge_axis_.put(c.frame_hinge_axis);
    has_torque_ = c.has_torque;
    if (has_torque_) torque_.put(c.frame_torque), torque_material_.put(c.frame_torque_material);
  }
  /// The motion of all steps of a script, and what is held where that has changed. Returns whether it has.
  bool put_movers(const StepScript& script) {
    movers_.put(script.movers);
    if (holds_ == script.holds) return false;
    holds_ = script.holds;
    held_vertices_.put(holds_->vertices), held_frames_.put(holds_->frames);
    const auto nv = static_cast<std::size_t>(vertex_count()), nf = static_cast<std::size_t>(frame_count());
    force_.resize(nv), damping_.resize(nv), vertex_fixed_.resize(nv), vertex_target_.resize(nv);
    frame_control_.resize(nf), frame_target_.resize(nf), hinge_axis_.resize(nf);
    has_torque_ = false;
    launch(where_, frame_count(), FreeFrames{frame_control_.data()});
    return true;
  }
  Vec3d* velocity() const { return velocity_.data(); }
  Vec3d* velocity_previous() const { return velocity_previous_.data(); }
  const Mover* movers() const { return movers_.data(); }
  const HeldVertex* held_vertices() const { return held_vertices_.data(); }
  const HeldFrame* held_frames() const { return held_frames_.data(); }
  /// The control of one step by the orders of a script.
  void put_step(const StepOrders& orders, Index step) {
    launch(where_, vertex_count(),
           LoadVertex{orders, step, force_.data(), damping_.data(), vertex_fixed_.data(), vertex_target_.data()});
    launch(where_, frame_count(), HoldFrame{orders, step, frame_control_.data(), frame_target_.data()});
  }
  /// After a step, whose new velocities stand in the place of those before.
  void swap_velocities() { velocity_.swap(velocity_previous_); }

  lanes::StepView view(double h) const {
    return {.h = h,
            .mass = mass_.data(),
            .rest_length = rest_length_.data(),
            .frame_joint_start = frame_joint_start_.data(),
            .frame_joint = frame_joint_.data(),
            .joint_rest = joint_rest_.data(),
            .joint_stiffness = joint_stiffness_.data(),
            .joint_tau = joint_tau_.data(),
            .segment_stiffness = segment_stiffness_.data(),
            .segment_tau = segment_tau_.data(),
            .joint_frames = joint_frames_.data(),
            .position = position_.data(),
            .velocity = velocity_.data(),
            .velocity_previous = velocity_previous_.data(),
            .rotation = rotation_.data(),
            .gamma = nullptr,
            .force = force_.data(),
            .damping = damping_.data(),
            .vertex_fixed = vertex_fixed_.data(),
            .vertex_target = vertex_target_.data(),
            .frame_control = frame_control_.data(),
            .frame_target = frame_target_.data(),
            .hinge_axis = hinge_axis_.data(),
            .torque = has_torque_ ? torque_.data() : nullptr,
            .torque_material = has_torque_ ? torque_material_.data() : nullptr};
  }
  const std::array<Index, 2>* segment_vertices() const { return segment_vertices_.data(); }
  const Index* vertex_segment_start() const { return vertex_segment_start_.data(); }
  const Index* vertex_segment() const { return vertex_segment_.data(); }
  const double* radius() const { return radius_.data(); }
  const double* mass() const { return mass_.data(); }
  const double* rest_length() const { return rest_length_.data(); }
  const std::uint8_t* vertex_alive() const { return vertex_alive_.data(); }
  const std::uint8_t* segment_alive() const { return segment_alive_.data(); }
  Index vertex_count() const { return static_cast<Index>(mass_.size()); }
  Index segment_count() const { return static_cast<Index>(rest_length_.size()); }
  Index frame_count() const { return static_cast<Index>(rotation_.size()); }
  Index joint_count() const { return static_cast<Index>(joint_rest_.size()); }

 private:
  Backend where_;
  Mirror<double> mass_{where_}, radius_{where_}, rest_length_{where_};
  Mirror<std::uint8_t> vertex_alive_{where_}, segment_alive_{where_};
  Mirror<std::array<Index, 2>> segment_vertices_{where_}, joint_frames_{where_};
  Mirror<PerAxis> segment_stiffness_{where_}, segment_tau_{where_}, joint_stiffness_{where_}, joint_tau_{where_};
  Mirror<Quatd> joint_rest_{where_};
  Mirror<Index> vertex_segment_start_{where_}, vertex_segment_{where_}, frame_joint_start_{where_}, frame_joint_{where_};

  Mirror<Vec3d> position_{where_}, velocity_{where_}, velocity_previous_{where_};
  Mirror<Quatd> rotation_{where_};

  Mirror<Vec3d> force_{where_}, vertex_target_{where_}, hinge_axis_{where_}, torque_{where_}, torque_material_{where_};
  Mirror<double> damping_{where_};
  Mirror<std::uint8_t> vertex_fixed_{where_};
  Mirror<FrameControl> frame_control_{where_};
  Mirror<Mover> movers_{where_};
  Mirror<HeldVertex> held_vertices_{where_};
  Mirror<HeldFrame> held_frames_{where_};
  Mirror<Quatd> frame_target_{where_};
  std::shared_ptr<const ScriptHolds> holds_;
  bool has_torque_ = false;
};

/// What a script says, made ready for strands.
class OrdersOfScript {
 public:
  explicit OrdersOfScript(Backend where) : loads_(where), winds_(where), vertex_hold_(where), frame_hold_(where) {}

  /// The state has the script's movers.
  StepOrders orders(const DeviceState& state, const StepScript& script) {
    loads_.put(script.loads), winds_.put(script.winds);
    settle(state, script);
    StepOrders orders = of_control(state, script.h);
    orders.loads = loads_.data();
    orders.winds = winds_.data(), orders.winds_per_step = script.winds_per_step();
    orders.movers = state.movers(), orders.movers_per_step = script.holds->movers;
    orders.held_vertices = state.held_vertices(), orders.held_frames = state.held_frames();
    orders.vertex_hold = vertex_hold_.data(), orders.frame_hold = frame_hold_.data();
    return orders;
  }
  /// Those of the control that the state has.
  static StepOrders of_control(const DeviceState& state, double h) {
    StepOrders orders;
    orders.step = state.view(h);
    orders.segment_start = state.vertex_segment_start(), orders.segment = state.vertex_segment();
    orders.segment_vertices = state.segment_vertices(), orders.radius = state.radius();
    return orders;
  }
  /// The model has changed.
  void forget() { holds_ = nullptr; }

 private:
  void settle(const DeviceState& state, const StepScript& script) {
    if (holds_ == script.holds) return;
    holds_ = script.holds;
    std::vector<Index> vertex(static_cast<std::size_t>(state.vertex_count()), -1);
    std::vector<Index> frame(static_cast<std::size_t>(state.frame_count()), -1);
    for (std::size_t i = 0; i < holds_->vertices.size(); ++i)
      vertex[static_cast<std::size_t>(holds_->vertices[i].vertex)] = static_cast<Index>(i);
    for (std::size_t i = 0; i < holds_->frames.size(); ++i)
      frame[static_cast<std::size_t>(holds_->frames[i].frame)] = static_cast<Index>(i);
    vertex_hold_.put(vertex), frame_hold_.put(frame);
  }

  Mirror<FieldLoads> loads_;
  Mirror<WindMoment> winds_;
  std::shared_ptr<const ScriptHolds> holds_;
  Mirror<Index> vertex_hold_, frame_hold_;
};

/// A mark that kernels leave where a number is not finite.
class TroubleMark {
 public:
  explicit TroubleMark(Backend where) : mark_(where, 1) { clear(); }
  void clear() {
    const std::int32_t none = 0;
    mark_.copy_from(&none);
  }
  /// Waits for the kernels.
  bool is_set() const {
    std::int32_t mark = 0;
    mark_.copy_to(&mark);
    return mark != 0;
  }
  std::int32_t* data() const { return mark_.data(); }

 private:
  Buffer<std::int32_t> mark_;
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::systems

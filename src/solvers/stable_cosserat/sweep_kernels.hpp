// Sweeps over any graph by kernels: one thread for each element of a colour, or for every element where all are updated at once.
// What an element does is written in element_view.hpp; here are order and memory.
#pragma once

#include <algorithm>

#include "solvers/stable_cosserat/device_sweep.hpp"
#include "solvers/stable_cosserat/element_view.hpp"
#include "solvers/stable_cosserat/strand_kernels.hpp"
#include "solvers/systems/device/device_contact.hpp"
#include "solvers/systems/device/device_state.hpp"

namespace osier::stable_cosserat {

template <class T>
struct LoadFrames {
  ElementView<T> view;
  OSIER_FN void operator()(Index f) const { view.load_frame(f, view.step.rotation[f]); }
};
template <class T>
struct LoadSegments {
  ElementView<T> view;
  OSIER_FN void operator()(Index s) const { view.load_segment(s); }
};
template <class T>
struct LoadJoints {
  ElementView<T> view;
  OSIER_FN void operator()(Index j) const { view.load_joint(j); }
};
template <class T>
struct LoadVertices {
  ElementView<T> view;
  OSIER_FN void operator()(Index v) const { view.load_vertex(v); }
};

/// Vertices of one colour.
template <class T, class Law>
struct MoveVertices {
  ElementView<T> view;
  const Index* list;
  OSIER_FN void operator()(Index i) const { view.u[list[i]] = view.template moved<Law>(list[i]); }
};
template <class T, class Law, Lambda kLambda>
struct TurnSegments {
  ElementView<T> view;
  const Index* list;
  OSIER_FN void operator()(Index i) const {
    view.q[list[i]] = view.template turned<Law, kLambda>(list[i]);
    view.put_spring(list[i]);
  }
};
/// All vertices at once.
template <class T>
struct MoveAtOnce {
  ElementView<T> view;
  Vec3<T>* next;
  OSIER_FN void operator()(Index v) const { next[v] = view.moved_at_once(v); }
};
template <class T, class Law, Lambda kLambda>
struct TurnAtOnce {
  ElementView<T> view;
  Quat<T>* next;
  Index segments;
  OSIER_FN void operator()(Index f) const { next[f] = f < segments ? view.template turned_at_once<Law, kLambda>(f) : view.q[f]; }
};
template <class T>
struct PutSprings {
  ElementView<T> view;
  OSIER_FN void operator()(Index s) const { view.put_spring(s); }
};

/// What contacts do to a vertex, linearised.
template <class T>
struct GatherContacts {
  systems::ContactView contact;
  VertexContact<T>* out;
  OSIER_FN void operator()(Index v) const {
    Vec3d gradient;
    Sym3<double> block{};
    if (!contact.add_contacts(v, gradient, block)) {
      out[v].touches = false;
      return;
    }
    const auto cast_one = [](double x) { return static_cast<T>(x); };
    out[v] = {
        cast<T>(gradient),
        cast<T>(contact.u[v]),
        {cast_one(block.xx), cast_one(block.yx), cast_one(block.yy), cast_one(block.zx), cast_one(block.zy), cast_one(block.zz)},
        true};
  }
};
template <class T>
struct CopyNumbers {
  const T* from;
  T* to;
  OSIER_FN void operator()(Index i) const { to[i] = from[i]; }
};

/// `guarded`: displacements in double, as the guard has seen them; null: there is no contact.
template <class T>
struct StoreVertices {
  ElementView<T> view;
  const Vec3d* guarded;
  std::int32_t* trouble;
  OSIER_FN void operator()(Index v) const {
    const Vec3d u = !view.vertex_alive[v] ? Vec3d{} : guarded != nullptr ? guarded[v] : cast<double>(view.u[v]);
    view.step.position[v] += u;
    const Vec3d velocity = (1 / view.step.h) * u;  // v <- (x - x_t)/h
    view.step.velocity_previous[v] = velocity;
    // Squares, because a state whose energy overflows is as useless as NaN.
    if (!(norm2(view.step.position[v]) + norm2(velocity) < std::numeric_limits<double>::infinity())) *trouble = 1;
  }
};
template <class T>
struct StoreFrames {
  ElementView<T> view;
  std::int32_t* trouble;
  OSIER_FN void operator()(Index f) const {
    const Quatd q = cast<double>(view.q[f]);
    view.step.rotation[f] = q;
    if (!(norm2(q) < std::numeric_limits<double>::infinity())) *trouble = 1;
  }
};

/// A kernel for every element of a list.
template <class Kernel>
struct OnList {
  Kernel kernel;
  const Index* list;
  OSIER_FN void operator()(Index i) const { kernel(list[i]); }
};

inline namespace OSIER_BACKEND_NAMESPACE {

using systems::Mirror;

/// A colouring, whose lists lie in memory of the backend.
class Colors {
 public:
  explicit Colors(Backend where) : where_(where), list_(where) {}
  /// Without the elements that are taken.
  void bind(const Coloring& colors, const std::vector<std::uint8_t>& taken) {
    std::vector<Index> list;
    start_.assign(1, 0);
    for (Index c = 0; c < colors.count(); ++c) {
      for (const Index e : colors.of(c))
        if (!taken[static_cast<std::size_t>(e)]) list.push_back(e);
      start_.push_back(static_cast<Index>(list.size()));
    }
    list_.put(list);
  }
  /// kernel_of(list) for every colour.
  template <class KernelOf>
  void launch_each(const KernelOf& kernel_of) const {
    for (std::size_t c = 0; c + 1 < start_.size(); ++c)
      launch(where_, start_[c + 1] - start_[c], kernel_of(list_.data() + start_[c]));
  }

 private:
  Backend where_;
  Mirror<Index> list_;
  std::vector<Index> start_;
};

/// Some elements of a model, in memory of the backend.
class Part {
 public:
  explicit Part(Backend where) : where_(where), list_(where) {}
  void bind(const std::vector<Index>& elements) { list_.put(elements); }
  template <class Kernel>
  void launch_on(const Kernel& kernel) const {
    launch(where_, static_cast<Index>(list_.size()), OnList<Kernel>{kernel, list_.data()});
  }

 private:
  Backend where_;
  Mirror<Index> list_;
};

template <class T>
class SweepKernels final : public DeviceSweep {
 public:
  SweepKernels(Backend where, const Model& m, const DeviceSweepOptions& options)
      : options_(options), where_(where), model_(&m), isotropic_(m.is_isotropic()) {
    state_.bind(m);
    cover_ = strands_.bind(m, options);
    divide(m, true);
    const auto nv = static_cast<std::size_t>(m.vertex_count()), ns = static_cast<std::size_t>(m.segment_count());
    const auto nf = static_cast<std::size_t>(m.frame_count()), nj = static_cast<std::size_t>(m.joint_count());
    u_.resize(nv), rhs_.resize(nv), weight_.resize(nv), segment_.resize(ns), q_.resize(nf), joint_.resize(nj);
    if (options.order == Order::jacobi) u_next_.resize(nv), q_next_.resize(nf);
  }

  void put(const State& state, std::span<const double> gamma) override {
    state_.put(state);
    if (!gamma.empty()) gamma_.put(std::vector<double>(gamma.begin(), gamma.end()));
    trouble_.clear();
  }
  void put(const Control& control) override {
    state_.put(control);
    if (const bool fit = !touches() && suits_strands(control); fit != strands_fit_) divide(*model_, fit);
  }
  void put(const contact::Contacts& contacts, const State& state) override {
    if (contacts_ != &contacts) {
      contacts_ = &contacts;
      if (touches()) {
        contact_.bind(*model_, state_, contacts);
        vertex_contact_.resize(static_cast<std::size_t>(model_->vertex_count()));
      }
    }
    if (touches()) contact_.put(state);
  }
  bool get(State& state, std::span<double> gamma) override {
    state_.get(state);
    if (!gamma.empty()) {
      std::vector<double> values(gamma.size());
      gamma_.get(values);
      std::copy(values.begin(), values.end(), gamma.begin());
    }
    if (touches()) contact_.get(state);
    return !trouble_.is_set();
  }
  bool was_late() const override { return late_; }
  void tell(contact::Record& record) override { contact_.tell(record); }
  std::vector<Vec3d> displacements() const override { return contact_.get_displacements(); }

  void step(double h) override {
    late_ = false;
    if (strands_fit_) strands_.step(state_, h, trouble_.data());
    step_rest(h);
  }
  bool run(const StepScript& script) override {
    // Wind asks for places that strands have in registers.
    if (const bool fit = !touches() && script.winds.empty(); fit != strands_fit_) divide(*model_, fit);
    late_ = false;
    state_.put_movers(script);
    systems::StepOrders orders = script_.orders(state_, script);
    if (strands_fit_) strands_.run(state_, orders, script.steps(), trouble_.data());
    for (int n = 0; n < script.steps(); ++n) {
      orders.step = state_.view(script.h);  // whose velocities have been swapped
      if (has_rest_) state_.put_step(orders, n);
      step_rest(script.h);
    }
    return !trouble_.is_set();
  }

 private:
  /// The rest is what strands do not take, which is all where some hold or torque is not for them.
  void divide(const Model& m, bool strands_fit) {
    strands_fit_ = strands_fit;
    StrandCover cover = cover_;
    if (!strands_fit)
      for (auto* list : {&cover.vertices, &cover.segments, &cover.frames, &cover.joints})
        std::fill(list->begin(), list->end(), 0);
    const auto rest_of = [](const std::vector<std::uint8_t>& taken) {
      std::vector<Index> rest;
      for (std::size_t i = 0; i < taken.size(); ++i)
        if (!taken[i]) rest.push_back(static_cast<Index>(i));
      return rest;
    };
    vertices_.bind(rest_of(cover.vertices)), segments_.bind(rest_of(cover.segments));
    frames_.bind(rest_of(cover.frames)), joints_.bind(rest_of(cover.joints));
    vertex_colors_.bind(m.vertex_colors, cover.vertices), segment_colors_.bind(m.segment_colors, cover.segments);
    has_rest_ = std::find(cover.vertices.begin(), cover.vertices.end(), 0) != cover.vertices.end();
  }

  bool touches() const { return contacts_ != nullptr && contacts_->active(); }
  void step_rest(double h) {
    if (touches()) sweep_in_contact(h);
    else if (has_rest_) sweep_rest(h);
    state_.swap_velocities();
  }
  void load(double h) {
    view_ = {.step = state_.view(h),
             .segment_vertices = state_.segment_vertices(),
             .vertex_segment_start = state_.vertex_segment_start(),
             .vertex_segment = state_.vertex_segment(),
             .vertex_alive = state_.vertex_alive(),
             .segment_alive = state_.segment_alive(),
             .closed_form = isotropic_,
             .u = u_.data(),
             .rhs = rhs_.data(),
             .weight = weight_.data(),
             .segment = segment_.data(),
             .q = q_.data(),
             .joint = joint_.data(),
             .direction = nullptr,
             .direction_start = nullptr,
             .contact = nullptr};
    view_.step.gamma = gamma_.data();
    frames_.launch_on(LoadFrames<T>{view_});
    segments_.launch_on(LoadSegments<T>{view_});
    joints_.launch_on(LoadJoints<T>{view_});
    vertices_.launch_on(LoadVertices<T>{view_});
  }
  void store(const Vec3d* guarded) const {
    vertices_.launch_on(StoreVertices<T>{view_, guarded, trouble_.data()});
    frames_.launch_on(StoreFrames<T>{view_, trouble_.data()});
  }
  void sweep_rest(double h) {
    load(h);
    for (int n = 0; n < options_.iterations; ++n) sweep();
    store(nullptr);
  }
  /// Each sweep with its contacts linearised once, and its motion through the guard (solver.cpp). A step whose lists of pairs did
  /// not reach far enough is made again.
  void sweep_in_contact(double h) {
    const auto observe = [&] {
      if (on_motion) on_motion(contact_.get_displacements());
    };
    contact_.begin(state_.view(h));
    gamma_start_.resize(gamma_.size());
    launch(where_, static_cast<Index>(gamma_.size()), CopyNumbers<double>{gamma_.data(), gamma_start_.data()});
    for (bool again = false;; again = true) {
      if (again) launch(where_, static_cast<Index>(gamma_.size()), CopyNumbers<double>{gamma_start_.data(), gamma_.data()});
      load(h);
      if (on_begin) on_begin();
      contact_.expect(u_.data());
      observe();
      for (int n = 0; n < options_.iterations; ++n) {
        contact_.linearise();
        launch(where_, state_.vertex_count(), GatherContacts<T>{contact_.view(), vertex_contact_.data()});
        view_.contact = vertex_contact_.data();
        sweep();
        contact_.guard(u_.data());
        observe();
      }
      if (contact_.finish()) break;
    }
    store(contact_.displacements());
    contact_.accept();
    late_ = late_ || contact_.is_late();
  }
  void sweep() {
    if (!view_.closed_form) sweep_by<AxesLaw<T>, Lambda::secular>();
    else if (options_.lambda == Lambda::approx) sweep_by<ClosedFormLaw<T>, Lambda::approx>();
    else if (options_.lambda == Lambda::exact) sweep_by<ClosedFormLaw<T>, Lambda::exact>();
    else sweep_by<ClosedFormLaw<T>, Lambda::secular>();
  }
  template <class Law, Lambda kLambda>
  void sweep_by() {
    if (options_.order == Order::jacobi) at_once<Law, kLambda>();
    else by_colors<Law, kLambda>();
  }
  template <class Law, Lambda kLambda>
  void by_colors() const {
    vertex_colors_.launch_each([&](const Index* list) { return MoveVertices<T, Law>{view_, list}; });
    segment_colors_.launch_each([&](const Index* list) { return TurnSegments<T, Law, kLambda>{view_, list}; });
  }
  template <class Law, Lambda kLambda>
  void at_once() {
    vertices_.launch_on(MoveAtOnce<T>{view_, u_next_.data()});
    u_.swap(u_next_);
    view_.u = u_.data();
    frames_.launch_on(TurnAtOnce<T, Law, kLambda>{view_, q_next_.data(), state_.segment_count()});
    q_.swap(q_next_);
    view_.q = q_.data();
    segments_.launch_on(PutSprings<T>{view_});
  }

  DeviceSweepOptions options_;
  Backend where_;
  const Model* model_;
  bool isotropic_, has_rest_ = true, strands_fit_ = true;
  StrandCover cover_;
  ElementView<T> view_{};
  systems::DeviceState state_{where_};
  systems::TroubleMark trouble_{where_};
  systems::OrdersOfScript script_{where_};
  StrandKernels<T> strands_{where_};
  Part vertices_{where_}, segments_{where_}, frames_{where_}, joints_{where_};
  Colors vertex_colors_{where_}, segment_colors_{where_};
  Mirror<Vec3<T>> u_{where_}, u_next_{where_}, rhs_{where_};
  Mirror<T> weight_{where_};
  Mirror<ElementSegment<T>> segment_{where_};
  Mirror<Quat<T>> q_{where_}, q_next_{where_};
  Mirror<ElementJoint<T>> joint_{where_};
  Mirror<double> gamma_{where_}, gamma_start_{where_};

  // With contact.
  const contact::Contacts* contacts_ = nullptr;
  systems::DeviceContact contact_{where_};
  Mirror<VertexContact<T>> vertex_contact_{where_};
  bool late_ = false;
};

inline std::unique_ptr<DeviceSweep> make_sweep(Backend where, const Model& model, const DeviceSweepOptions& options) {
  if (options.in_float) return std::make_unique<SweepKernels<float>>(where, model, options);
  return std::make_unique<SweepKernels<double>>(where, model, options);
}

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::stable_cosserat

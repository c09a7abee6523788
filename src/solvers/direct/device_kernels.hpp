// Direct steps by kernels: a thread for every strand (systems/device/strand_step.hpp), or for every piece of a longer chain
// (systems/device/piece_newton.hpp).
#pragma once

#include "solvers/direct/device_step.hpp"
#include "solvers/direct/hanging_strands.hpp"
#include "solvers/systems/device/piece_newton.hpp"
#include "solvers/systems/device/strand_step.hpp"

namespace osier::direct {

template <class T, template <class> class Law, bool kDamped>
struct StepStrand {
  systems::StrandStepView<T> view;
  OSIER_FN void operator()(Index k) const { systems::StrandStep<T, Law, kDamped>::run(view, k); }
};

inline namespace OSIER_BACKEND_NAMESPACE {

using systems::DeviceState;
using systems::Mirror;
using systems::Outlook;

/// Strands of one length and one law.
template <class T>
class StrandGroupKernels {
 public:
  StrandGroupKernels(Backend where, const StrandGroupPlan<T>& plan)
      : where_(where), rows_(plan.rows), law_(plan.law), damped_(plan.damped), strands_(plan.strands) {
    const std::size_t width = strands_.size();
    const bool axes = law_ == StiffnessLaw::anisotropic;
    const auto tiles = [&](int numbers) { return systems::size_of_tiles(rows_, numbers, width); };
    strand_.put(plan.strands), constants_.put(plan.constants);
    row_.resize(tiles(axes ? numbers<systems::AnisotropicLink>() : numbers<systems::IsotropicLink>()));
    head_.resize(width * static_cast<std::size_t>(numbers_in<systems::StrandHead<T>, T>));
    bent_.resize(tiles(1));
    force_.put(std::vector<T>(tiles(axes ? 3 : 1), T(0)));
    outlook_.put(std::vector<Outlook>(width));
    outcome_.resize(width);
    most_.resize(1);
  }

  void step(const systems::StepOrders& orders, Index number, const DeviceStepOptions& o) {
    const std::vector<std::int32_t> none(1, 0);
    most_.put(none);
    const T inverse_h = static_cast<T>(1 / orders.step.h);
    const systems::RowsView<T> rows{{rows_, static_cast<Index>(strands_.size()), row_.data(), head_.data(), bent_.data(),
                                     constants_.data(), force_.data(), inverse_h, damped_},
                                    strand_.data()};
    const systems::StrandStepView<T> view{.rows = rows,
                                          .h = orders.step.h,
                                          .rest_length = orders.step.rest_length,
                                          .options = {o.iterations, o.max_iterations, o.tolerance},
                                          .outlook = outlook_.data(),
                                          .outcome = outcome_.data(),
                                          .most_iterations = most_.data()};
    using systems::AnisotropicLink, systems::IsotropicLink;
    const bool axes = law_ == StiffnessLaw::anisotropic;
    if (axes && damped_) step_of<AnisotropicLink, true>(view, orders, number);
    else if (axes) step_of<AnisotropicLink, false>(view, orders, number);
    else if (damped_) step_of<IsotropicLink, true>(view, orders, number);
    else step_of<IsotropicLink, false>(view, orders, number);
  }
  /// What is kept from step to step.
  void carry(Archive& archive) {
    std::vector<T> force(force_.size());
    std::vector<Outlook> outlook(outlook_.size());
    force_.get(force), outlook_.get(outlook);
    archive(force, outlook);
    if (archive.reads()) force_.put(force), outlook_.put(outlook);
  }
  /// Waits for the kernel.
  void report(DeviceStepReport& report) const {
    std::vector<std::int32_t> most(1);
    most_.get(most);
    report.iterations = std::max(report.iterations, most[0]);
    std::vector<std::uint8_t> outcome(strands_.size());
    outcome_.get(outcome);
    for (std::size_t k = 0; k < outcome.size(); ++k) {
      report.unsettled = report.unsettled || (outcome[k] & systems::kStrandUnsettled) != 0;
      if (outcome[k] & systems::kStrandRose)
        report.rose.emplace_back(strands_[k].strand.first_segment, strands_[k].strand.first_segment + rows_);
    }
  }

 private:
  template <template <class> class Law, bool kDamped>
  void step_of(const systems::StrandStepView<T>& view, const systems::StepOrders& orders, Index number) const {
    using Rows = systems::RowKernels<T, Law, kDamped, false>;
    const auto width = static_cast<Index>(strands_.size()), items = systems::items_of_rows(rows_, width);
    launch(where_, items, typename Rows::LoadRows{view.rows, orders, number, nullptr, nullptr});
    launch(where_, width, StepStrand<T, Law, kDamped>{view});
    launch(where_, items, typename Rows::StoreRows{view.rows, orders, number, outcome_.data()});
  }
  template <template <class> class Law>
  static constexpr int numbers() {
    return numbers_in<systems::ChainLinkRow<T, Law>, T>;
  }

  Backend where_;
  Index rows_;
  StiffnessLaw law_;
  bool damped_;
  std::vector<systems::PieceOfChain> strands_;
  Mirror<systems::PieceOfChain> strand_{where_};
  Mirror<T> constants_{where_}, row_{where_}, head_{where_}, force_{where_};
  Mirror<std::uint8_t> bent_{where_}, outcome_{where_};
  Mirror<Outlook> outlook_{where_};
  Mirror<std::int32_t> most_{where_};
};

template <class T>
class DirectKernels final : public DeviceStep {
 public:
  DirectKernels(Backend where, const Model& m, const DeviceStepOptions& options) : options_(options), where_(where) {
    state_.bind(m);
    for (const StrandGroupPlan<T>& plan : plan_hanging_strands<T>(m)) groups_.emplace_back(where, plan);
  }

  void put(const State& state) override { state_.put(state); }
  void get(State& state) const override { state_.get(state); }
  void carry(Archive& archive) override {
    for (StrandGroupKernels<T>& group : groups_) group.carry(archive);
  }
  DeviceStepReport step(const Control& control, double h) override {
    state_.put(control);
    return step_by(systems::OrdersOfScript::of_control(state_, h), 0);
  }
  void begin(const StepScript& script) override {
    state_.put_movers(script);
    orders_ = script_.orders(state_, script);
  }
  DeviceStepReport step(int number) override {
    orders_.step = state_.view(orders_.step.h);  // whose velocities have been swapped
    return step_by(orders_, number);
  }

 private:
  DeviceStepReport step_by(const systems::StepOrders& orders, Index number) {
    for (StrandGroupKernels<T>& group : groups_) group.step(orders, number, options_);
    DeviceStepReport report;
    for (const StrandGroupKernels<T>& group : groups_) group.report(report);
    state_.swap_velocities();
    return report;
  }

  DeviceStepOptions options_;
  Backend where_;
  DeviceState state_{where_};
  systems::OrdersOfScript script_{where_};
  systems::StepOrders orders_;
  std::vector<StrandGroupKernels<T>> groups_;
};

/// Chains of any length, however they are held, in double.
class PieceKernels final : public DeviceStep {
 public:
  PieceKernels(Backend where, const Model& m, const DeviceStepOptions& options)
      : options_{options.iterations, options.max_iterations, options.tolerance},
        model_(m),
        state_(where),
        script_(where),
        newton_(where) {
    state_.bind(m);
  }

  void put(const State& state) override { state_.put(state); }
  void get(State& state) const override { state_.get(state); }
  void carry(Archive& archive) override {
    archive(vertex_fixed_, frame_control_);
    if (archive.reads() && vertex_fixed_.empty()) newton_.unbind();
    else if (archive.reads()) bind();
    newton_.carry(archive);
  }
  DeviceStepReport step(const Control& control, double h) override {
    hold(control.vertex_fixed, control.frame_control);
    state_.put(control);
    return step_by(systems::OrdersOfScript::of_control(state_, h), 0);
  }
  void begin(const StepScript& script) override {
    std::vector<std::uint8_t> vertex(static_cast<std::size_t>(model_.vertex_count()), 0);
    std::vector<FrameControl> frame(static_cast<std::size_t>(model_.frame_count()), FrameControl::free);
    for (const HeldVertex& h : script.holds->vertices) vertex[static_cast<std::size_t>(h.vertex)] = 1;
    for (const HeldFrame& h : script.holds->frames) frame[static_cast<std::size_t>(h.frame)] = FrameControl::fixed;
    hold(vertex, frame);
    state_.put_movers(script);
    orders_ = script_.orders(state_, script);
  }
  DeviceStepReport step(int number) override {
    orders_.step = state_.view(orders_.step.h);  // whose velocities have been swapped
    return step_by(orders_, number);
  }

 private:
  /// Chains are cut where they are held.
  void hold(const std::vector<std::uint8_t>& vertex, const std::vector<FrameControl>& frame) {
    if (vertex == vertex_fixed_ && frame == frame_control_) return;
    vertex_fixed_ = vertex, frame_control_ = frame;
    bind();
  }
  void bind() {
    Control held;
    held.vertex_fixed = vertex_fixed_, held.frame_control = frame_control_;
    newton_.bind(model_, held);
  }
  DeviceStepReport step_by(const systems::StepOrders& orders, Index number) {
    systems::PieceReport taken = newton_.step(orders, number, options_);
    state_.swap_velocities();
    return {taken.iterations, taken.unsettled, std::move(taken.rose)};
  }

  systems::StrandOptions options_;
  const Model& model_;
  DeviceState state_;
  systems::OrdersOfScript script_;
  systems::StepOrders orders_;
  systems::PieceNewton newton_;
  std::vector<std::uint8_t> vertex_fixed_;
  std::vector<FrameControl> frame_control_;
};

inline std::unique_ptr<DeviceStep> make_direct(Backend where, const Model& model, const DeviceStepOptions& options) {
  if (options.in_pieces) return std::make_unique<PieceKernels>(where, model, options);
  if (options.in_float) return std::make_unique<DirectKernels<float>>(where, model, options);
  return std::make_unique<DirectKernels<double>>(where, model, options);
}

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::direct

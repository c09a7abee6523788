// One time step of chains of any length by coupled Gauss-Newton iterations in pieces, as StrandStep takes one of short strands:
// the host queues the kernels, and looks once in an iteration whether all chains have settled.
#pragma once

#include <algorithm>
#include <utility>

#include "solvers/systems/device/device_chains.hpp"
#include "solvers/systems/device/strand_watch.hpp"

namespace osier::systems {

/// What kernels know of every chain, and read of its pieces.
struct WatchView {
  const PieceRoot* root;
  Index chains, pieces;
  const double *energy, *motion, *measure;  ///< of pieces (device_chains.hpp)
  const double* head;
  StrandWatch* watch;
  Outlook* outlook;
  std::uint8_t* outcome;  ///< StrandOutcome
  StrandOptions options;
  OSIER_FN Index end_of(Index chain) const { return chain + 1 < chains ? root[chain + 1].piece : pieces; }
};

struct BeginWatch {
  WatchView v;
  double h;
  OSIER_FN void operator()(Index i) const {
    StrandWatch watch;
    double free2 = 0;
    for (Index k = v.root[i].piece; k < v.end_of(i); ++k) {
      free2 = larger(free2, v.measure[k]);
      watch.length += v.measure[v.pieces + k];
    }
    watch.free_motion = std::sqrt(free2);
    v.watch[i] = watch;
    v.outlook[i].begin(h);
  }
};

struct WatchEnergy {
  WatchView v;
  OSIER_FN void operator()(Index i) const {
    double energy = 0, size = 0, margin = 0;
    for (Index k = v.root[i].piece; k < v.end_of(i); ++k) {
      energy += v.energy[k];
      size += v.energy[k] + 2 * v.energy[v.pieces + k];
      margin = smaller(margin, v.energy[2 * v.pieces + k]);
    }
    const auto h = load_numbers<StrandHead<double>, double>(v.head + v.root[i].piece, v.pieces);
    if (!(h.held > 0)) {
      // The first vertex is not the far vertex of any row.
      const double inertia = 0.5 * h.weight * norm2(h.u), done = dot(h.rhs, h.u);
      energy += inertia - done;
      size += inertia + (done < 0 ? -done : done);
    }
    v.watch[i].see_energy(energy, size, margin < 0, false);
    v.outcome[i] = v.watch[i].outcome(v.options);
  }
};

struct WatchMotion {
  WatchView v;
  OSIER_FN void operator()(Index i) const {
    double turn2 = 0, move2 = 0, motion2 = 0;
    for (Index k = v.root[i].piece; k < v.end_of(i); ++k) {
      turn2 = larger(turn2, v.motion[k]);
      // A sum keeps a NaN, which larger() would lose.
      move2 = larger(move2, v.motion[v.pieces + k]) + 0 * v.motion[v.pieces + k];
      motion2 = larger(motion2, v.motion[2 * v.pieces + k]);
    }
    v.watch[i].see_motion(turn2, move2, motion2, v.options, false, v.outlook[i]);
    v.outcome[i] = v.watch[i].outcome(v.options);
  }
};

/// Discards what a chain whose step was rejected would start the next one from.
struct ForgetChain {
  WatchView v;
  OSIER_FN void operator()(Index i) const {
    if (v.watch[i].rose) v.outlook[i].forget();
  }
};

inline namespace OSIER_BACKEND_NAMESPACE {

struct PieceReport {
  int iterations = 0;
  bool unsettled = false;
  std::vector<std::pair<Index, Index>> rose;  ///< chains whose energy rose, by their segments [first, end): left as they were
};

class PieceNewton {
 public:
  explicit PieceNewton(Backend where) : where_(where) {}

  /// `held`: what is held from now on.
  void bind(const Model& m, const Control& held) {
    laws_.clear();
    for (const PiecePlan& plan : plan_pieces(m, held)) laws_.emplace_back(where_, plan);
  }

  void unbind() { laws_.clear(); }

  PieceReport step(const StepOrders& orders, Index number, const StrandOptions& options) {
    PieceReport report;
    for (OfLaw& law : laws_) law.begin(orders, number, options);
    for (;;) {
      for (OfLaw& law : laws_) law.linearise();
      if (report.iterations == options.limit()) break;
      for (OfLaw& law : laws_) law.advance();
      ++report.iterations;
      if (options.iterations > 0 && report.iterations == options.iterations) break;
      if (options.iterations == 0 && std::none_of(laws_.begin(), laws_.end(), [](OfLaw& law) { return law.goes_on(); })) break;
    }
    for (OfLaw& law : laws_) law.end(orders, number, report);
    return report;
  }
  void carry(Archive& archive) {
    for (OfLaw& law : laws_) law.carry(archive);
  }

 private:
  class OfLaw {
   public:
    OfLaw(Backend where, const PiecePlan& plan)
        : where_(where), chains_(where, plan), watch_(where), outlook_(where), outcome_(where) {
      const std::size_t count = plan.roots.size();
      watch_.resize(count), outcome_.resize(count);
      outlook_.put(std::vector<Outlook>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const PieceOfChain& last =
            i + 1 < count ? plan.pieces[static_cast<std::size_t>(plan.roots[i + 1].piece) - 1] : plan.pieces.back();
        segments_.emplace_back(plan.pieces[static_cast<std::size_t>(plan.roots[i].piece)].strand.first_segment,
                               last.strand.first_segment + last.segments);
      }
    }
    void begin(const StepOrders& orders, Index number, const StrandOptions& options) {
      options_ = options;
      chains_.begin(orders, number);
      chains_.measure();
      each_chain(BeginWatch{view(), orders.step.h});
    }
    void linearise() {
      chains_.linearise(nullptr, false);
      each_chain(WatchEnergy{view()});
    }
    void advance() {
      chains_.step(nullptr, nullptr);
      each_chain(WatchMotion{view()});
    }
    /// Waits for the kernels.
    bool goes_on() {
      const std::vector<std::uint8_t> outcome = outcomes();
      return std::any_of(outcome.begin(), outcome.end(), [](std::uint8_t o) { return (o & kStrandUnsettled) != 0; });
    }
    void end(const StepOrders& orders, Index number, PieceReport& report) {
      chains_.store(orders, number, outcome_.data());
      each_chain(ForgetChain{view()});
      const std::vector<std::uint8_t> outcome = outcomes();
      for (std::size_t i = 0; i < outcome.size(); ++i) {
        report.unsettled = report.unsettled || (outcome[i] & kStrandUnsettled) != 0;
        if (outcome[i] & kStrandRose) report.rose.push_back(segments_[i]);
      }
    }
    void carry(Archive& archive) {
      std::vector<Outlook> outlook(outlook_.size());
      outlook_.get(outlook);
      archive(outlook);
      if (archive.reads()) outlook_.put(outlook);
      chains_.carry(archive);
    }

   private:
    WatchView view() const {
      return {.root = chains_.roots(),
              .chains = static_cast<Index>(segments_.size()),
              .pieces = chains_.pieces(),
              .energy = chains_.energy(),
              .motion = chains_.motion(),
              .measure = chains_.measured(),
              .head = chains_.head(),
              .watch = watch_.data(),
              .outlook = outlook_.data(),
              .outcome = outcome_.data(),
              .options = options_};
    }
    template <class Kernel>
    void each_chain(const Kernel& kernel) const {
      launch(where_, static_cast<Index>(segments_.size()), kernel);
    }
    std::vector<std::uint8_t> outcomes() const {
      std::vector<std::uint8_t> outcome(segments_.size());
      outcome_.get(outcome);
      return outcome;
    }

    Backend where_;
    LawChains chains_;
    StrandOptions options_;
    std::vector<std::pair<Index, Index>> segments_;  ///< of every chain
    Mirror<StrandWatch> watch_;
    Mirror<Outlook> outlook_;
    Mirror<std::uint8_t> outcome_;
  };

  Backend where_;
  std::vector<OfLaw> laws_;
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::systems

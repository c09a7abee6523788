// The linear system of chains of any length on a device or its twin, in double: chains are cut into pieces of 32 segments, a
// thread for each (chain_pieces.hpp); every piece is factored with six columns for the force on its end
// (systems/chains/chain_factor.hpp), and pieces are joined two by two (piece_tree.hpp). Kernels are queued one after the other,
// and nothing waits for them here.
//
//   bind        which vertices and frames are held, on the host
//   begin       the start of a step: strains, masses, loads, and where held parts go
//   guess       the first guess of the step
//   linearise   H at the unknowns at hand, with extra stiffness on vertices, factored
//   step        H d = -g, in the form that rounds least: with the forces through links of the last solve
//   solve       H z = r for any r, any number of times
//   product     H p
//   gradient    g, of which H has the positive part of the derivative
//   energies    of every vertex with its segment and its joint
//
// Arrays are in memory of the backend: u and x per vertex, q and w per frame of the model. u is the displacement since the start
// of the step, q the rotation at hand, w a turn or a couple in world axes. Entries of what is held are 0 in every result, and
// have to be 0 in p.
#pragma once

#include "core/archive.hpp"
#include "solvers/systems/device/device_state.hpp"
#include "solvers/systems/device/piece_kernels.hpp"

namespace osier::systems {

inline namespace OSIER_BACKEND_NAMESPACE {

/// Chains of one law.
class LawChains {
 public:
  LawChains(Backend where, const PiecePlan& plan)
      : where_(where), law_(plan.law), damped_(plan.damped), rows_(plan.rows), levels_(plan.levels) {
    const std::size_t width = plan.pieces.size(), rows = static_cast<std::size_t>(plan.rows);
    const bool axes = law_ == StiffnessLaw::anisotropic;
    const int numbers = axes ? numbers_in<ChainLinkRow<double, AnisotropicLink>, double>
                             : numbers_in<ChainLinkRow<double, IsotropicLink>, double>;
    piece_.put(plan.pieces), constants_.put(plan.constants), join_.put(plan.joins), root_.put(plan.roots);
    row_.resize(size_of_tiles(plan.rows, numbers, width));
    head_.resize(width * static_cast<std::size_t>(numbers_in<StrandHead<double>, double>));
    factored_.resize(width * static_cast<std::size_t>(numbers_in<FactoredHead<double>, double>));
    bent_.resize(size_of_tiles(plan.rows, 1, width)), tail_.resize(width), scratch_.resize(width * rows * 6);
    energy_.resize(3 * width), motion_.resize(3 * width), measure_.resize(2 * width);
    forget_forces();
    const std::size_t nodes = 1 + width + plan.joins.size();
    // Node 0 is a piece without stiffness.
    node_stiffness_.put(std::vector<double>(nodes * sizeof(NodeStiffness) / sizeof(double), 0));
    for (Mirror<double>* forces : {&residual_, &load_})
      forces->put(std::vector<double>(nodes * sizeof(NodeForces) / sizeof(double), 0));
    node_motion_.resize(nodes * sizeof(NodeMotion) / sizeof(double));
    gain_.resize(plan.joins.size() * sizeof(JoinGain) / sizeof(double));
  }

  void begin(const StepOrders& orders, Index step) {
    inverse_h_ = 1 / orders.step.h;
    rotation_ = orders.step.rotation, rest_length_ = orders.step.rest_length;
    by_law([&](auto kernels) {
      each_row(typename decltype(kernels)::Base::LoadRows{view().rows, orders, step, tail_.data(), factored_.data()});
    });
  }
  /// For the stop rule of steps (piece_newton.hpp).
  void measure() {
    by_law([&](auto kernels) {
      launch(where_, pieces(), typename decltype(kernels)::Base::Measure{view().rows, rest_length_, measure_.data()});
    });
  }
  void store(const StepOrders& orders, Index step, const std::uint8_t* outcome) const {
    by_law([&](auto kernels) { each_row(typename decltype(kernels)::Base::StoreRows{view().rows, orders, step, outcome}); });
  }
  void guess(Vec3d* u, Quatd* q) const {
    by_law([&](auto kernels) { each_row(typename decltype(kernels)::ReadGuess{view(), u, q}); });
  }
  void place(const Vec3d* u, const Quatd* q) {
    by_law([&](auto kernels) { each_row(typename decltype(kernels)::PlaceRows{view(), u, q}); });
  }
  void linearise(const double* blocks, bool always_bent) {
    always_bent_ = always_bent;
    by_law([&](auto kernels) {
      launch(where_, pieces(), typename decltype(kernels)::Linearise{view(), tree(residual_), blocks, energy_.data()});
    });
    each_level_up([&](Index first, Index count) { launch(where_, count, JoinStiffness{tree(residual_), first}); });
  }
  /// Newton's correction: into arrays, or, without them, of the rows themselves.
  void step(Vec3d* dx, Vec3d* dw) {
    close(residual_, nullptr);
    PiecesView v = view();
    v.moved = dx, v.turned = dw;
    by_law([&](auto kernels) {
      launch(where_, pieces(), typename decltype(kernels)::Advance{v, tree(residual_), dx == nullptr ? motion_.data() : nullptr});
    });
  }
  void solve(const Vec3d* x, const Vec3d* w, Vec3d* zx, Vec3d* zw) {
    by_law([&](auto kernels) {
      launch(where_, pieces(), typename decltype(kernels)::PassUp{view(), tree(load_), x, w, scratch_.data()});
    });
    close(load_, x);
    by_law([&](auto kernels) {
      launch(where_, pieces(), typename decltype(kernels)::PassDown{view(), tree(load_), x, w, scratch_.data(), zx, zw});
    });
  }
  void product(const Vec3d* px, const Vec3d* pw, Vec3d* Hx, Vec3d* Hw, const double* blocks) const {
    by_law([&](auto kernels) { each_row(typename decltype(kernels)::Product{view(), blocks, px, pw, Hx, Hw}); });
  }
  void evaluate(Vec3d* gx, Vec3d* gw, double* energy, double* magnitude) const {
    by_law([&](auto kernels) { each_row(typename decltype(kernels)::Evaluate{view(), gx, gw, energy, magnitude}); });
  }
  void forget_forces() {
    const int per_row = law_ == StiffnessLaw::anisotropic ? 3 : 1;
    force_.put(std::vector<double>(size_of_tiles(rows_, per_row, piece_.size()), 0));
  }

  void carry(Archive& archive) {
    std::vector<double> force(force_.size());
    force_.get(force);
    archive(force);
    if (archive.reads()) force_.put(force);
  }

  Index pieces() const { return static_cast<Index>(piece_.size()); }
  const PieceRoot* roots() const { return root_.data(); }
  // Numbers of pieces, [number][piece]:
  const double* energy() const { return energy_.data(); }  ///< energy, gained, pole margin of the last linearise()
  const double* motion() const { return motion_.data(); }  ///< turn2, move2, motion2 of the last step() of the rows themselves
  const double* measured() const { return measure_.data(); }
  const double* head() const { return head_.data(); }

 private:
  PiecesView view() const {
    return {.rows = {{rows_, pieces(), row_.data(), head_.data(), bent_.data(), constants_.data(), force_.data(), inverse_h_,
                      damped_},
                     piece_.data()},
            .tail = tail_.data(),
            .factored = factored_.data(),
            .rotation = rotation_,
            .always_bent = always_bent_,
            .moved = nullptr,
            .turned = nullptr};
  }
  /// With the forces of the residual, or of another right-hand side.
  TreeView tree(const Mirror<double>& forces) const {
    const auto joins = static_cast<Index>(join_.size());
    return {1 + pieces() + joins, joins,        pieces(),    node_stiffness_.data(), forces.data(),
            node_motion_.data(),  gain_.data(), join_.data()};
  }
  /// Finds the motion of all heads, and the forces on all ends.
  void close(const Mirror<double>& forces, const Vec3d* x) {
    const TreeView tree = this->tree(forces);
    each_level_up([&](Index first, Index count) { launch(where_, count, JoinForces{tree, first}); });
    launch(where_, static_cast<Index>(root_.size()),
           SolveRoots{tree, root_.data(), head_.data(), factored_.data(), piece_.data(), x});
    for (std::size_t level = levels_.size() - 1; level-- > 0;)
      launch(where_, levels_[level + 1] - levels_[level], SplitMotion{tree, levels_[level]});
  }
  template <class F>
  void each_level_up(const F& f) const {
    for (std::size_t level = 0; level + 1 < levels_.size(); ++level) f(levels_[level], levels_[level + 1] - levels_[level]);
  }
  template <class Kernel>
  void each_row(const Kernel& kernel) const {
    launch(where_, items_of_rows(rows_, pieces()), kernel);
  }
  template <class F>
  void by_law(const F& f) const {
    if (law_ == StiffnessLaw::anisotropic) {
      if (damped_) f(PieceKernels<AnisotropicLink, true>{});
      else f(PieceKernels<AnisotropicLink, false>{});
    } else {
      if (damped_) f(PieceKernels<IsotropicLink, true>{});
      else f(PieceKernels<IsotropicLink, false>{});
    }
  }

  Backend where_;
  StiffnessLaw law_;
  bool damped_, always_bent_ = true;
  Index rows_;
  std::vector<Index> levels_;
  double inverse_h_ = 0;
  const Quatd* rotation_ = nullptr;
  const double* rest_length_ = nullptr;
  Mirror<PieceOfChain> piece_{where_};
  Mirror<PieceJoin> join_{where_};
  Mirror<PieceRoot> root_{where_};
  Mirror<TailAnchor> tail_{where_};
  Mirror<double> constants_{where_}, row_{where_}, head_{where_}, factored_{where_}, force_{where_}, scratch_{where_};
  Mirror<double> energy_{where_}, motion_{where_}, measure_{where_};
  Mirror<double> node_stiffness_{where_}, residual_{where_}, load_{where_}, node_motion_{where_}, gain_{where_};
  Mirror<std::uint8_t> bent_{where_};
};

class DeviceChains {
 public:
  explicit DeviceChains(Backend where) : where_(where), vertex_held_(where), frame_held_(where) {}

  /// `held`: its vertex_fixed and frame_control. The forces of the last solve are forgotten. why_no_pieces() is empty.
  void bind(const Model& m, const Control& held) {
    chains_.clear();
    for (const PiecePlan& plan : plan_pieces(m, held)) chains_.emplace_back(where_, plan);
    std::vector<std::uint8_t> frames(static_cast<std::size_t>(m.segment_count()));
    for (Index s = 0; s < m.segment_count(); ++s)
      frames[static_cast<std::size_t>(s)] = held.frame_control[s] == FrameControl::fixed ? 1 : 0;
    vertex_held_.put(held.vertex_fixed), frame_held_.put(frames);
  }
  void begin(const StepOrders& orders, Index step) {
    for (LawChains& c : chains_) c.begin(orders, step);
  }
  void guess(Vec3d* u, Quatd* q) const {
    for (const LawChains& c : chains_) c.guess(u, q);
  }
  /// `blocks`: six numbers for each vertex, lower triangles; or null. They have to last until the next linearise().
  void linearise(const Vec3d* u, const Quatd* q, const double* blocks) {
    blocks_ = blocks;
    for (LawChains& c : chains_) {
      c.place(u, q);
      c.linearise(blocks, true);
    }
  }
  /// Once after linearise(). The forces through links are those of this solve from now on.
  void step(Vec3d* dx, Vec3d* dw) {
    for (LawChains& c : chains_) c.step(dx, dw);
    keep_free(dx, dw);
  }
  void solve(const Vec3d* rx, const Vec3d* rw, Vec3d* zx, Vec3d* zw) {
    for (LawChains& c : chains_) c.solve(rx, rw, zx, zw);
    keep_free(zx, zw);
  }
  void product(const Vec3d* px, const Vec3d* pw, Vec3d* Hx, Vec3d* Hw) const {
    for (const LawChains& c : chains_) c.product(px, pw, Hx, Hw, blocks_);
    keep_free(Hx, Hw);
  }
  /// At the unknowns of the last linearise() or place(); without the blocks.
  void gradient(Vec3d* gx, Vec3d* gw) const {
    for (const LawChains& c : chains_) c.evaluate(gx, gw, nullptr, nullptr);
    keep_free(gx, gw);
  }
  /// Other unknowns, for energies() and gradient() alone: the factor is that of the last linearise().
  void place(const Vec3d* u, const Quatd* q) {
    for (LawChains& c : chains_) c.place(u, q);
  }
  /// At the unknowns of the last linearise() or place(), one number for each vertex, whose sum is the energy of all chains in the
  /// step (elastic, inertia, loads), and the magnitude of its terms.
  void energies(double* energy, double* magnitude) const {
    for (const LawChains& c : chains_) c.evaluate(nullptr, nullptr, energy, magnitude);
  }
  void forget_forces() {
    for (LawChains& c : chains_) c.forget_forces();
  }

 private:
  void keep_free(Vec3d* x, Vec3d* w) const {
    const auto vertices = static_cast<Index>(vertex_held_.size()), frames = static_cast<Index>(frame_held_.size());
    launch(where_, vertices > frames ? vertices : frames,
           KeepFree{vertex_held_.data(), frame_held_.data(), x, w, vertices, frames});
  }

  Backend where_;
  std::vector<LawChains> chains_;
  Mirror<std::uint8_t> vertex_held_, frame_held_;
  const double* blocks_ = nullptr;
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::systems

// The linear system of chains of any length on a device or its twin, in double: chains are cut into pieces of 32 segments, a
// thread for each (chain_pieces.hpp); every piece is factored with six columns for the force on its end
// (systems/chains/chain_factor.hpp), and pieces are joined two by two (piece_tree.hpp). Kernels are queued one after the other,
// and nothing waits for them here.
//
//   bind        which vertices and frames are held, on the host
//   begin       the start of a step: strains, masses, loads, and where held parts go
//   guess       the first guess of the step
//   linearise   H at the unknowns at hand, with extra stiffness on vertices, factored
//   step        H d = -g, in the form that rounds least (with the forces through links of the last solve), without the forces of
//   others solve       H z = r for any r, any number of times product     H p gradient    g of what H is the positive part of
//   energies    of every vertex with its segment and its joint
//
// Arrays are in memory of the backend: u and x per vertex, q and w per frame of the model. u is the displacement since the start
// of the step, q the rotation at hand, w a turn or a couple in world axes. Entries of what is held are 0 in every result, and
// have to be 0 in p.
#pragma once

#include "core/archive.hpp"
#include "solvers/systems/device/device_state.hpp"
#include "solvers/systems/device/piece_rows.hpp"
#include "solvers/systems/device/piece_tree.hpp"
#include "solvers/systems/device/strand_watch.hpp"

namespace osier::systems {

template <template <class> class Law, bool kDamped>
struct PieceKernels {
  using Rows = PieceRows<double, Law>;
  using Row = ChainLinkRow<double, Law>;
  using Head = StrandHead<double>;
  using Factor = ChainFactor<Rows>;
  using Factored = FactoredHead<double>;

  using Base = RowKernels<double, Law, kDamped, true>;
  OSIER_FN static double* row_at(const PiecesView& v, Index i, Index k) { return Base::row_at(v.rows, i, k); }
  OSIER_FN static bool row_of(const PiecesView& v, Index n, Index& i, Index& k) { return Base::row_of(v.rows, n, i, k); }

  OSIER_FN static void load_factored(Factor& factor, const PiecesView& v, Index k) {
    factor.factored_head() = load_numbers<Factored, double>(v.factored + k, v.rows.group.width);
  }
  /// The guess that the rows have, into arrays of the model.
  struct ReadGuess {
    PiecesView v;
    Vec3d* u;
    Quatd* q;
    OSIER_FN void operator()(Index n) const {
      Index i, k;
      if (!row_of(v, n, i, k)) return;
      const HangingStrand& s = v.rows.piece[k].strand;
      const Row r = load_numbers<Row, double>(row_at(v, i, k), kTile);
      u[s.first_vertex + i + 1] = r.u;
      const Index f = s.first_segment + i;
      q[f] = strain_since_start::turned(r.turn, v.rotation[f]);
      if (i == 0 && !s.continues) u[s.first_vertex] = load_numbers<Head, double>(v.rows.group.head + k, v.rows.group.width).u;
    }
  };

  /// The unknowns at hand into the rows.
  struct PlaceRows {
    PiecesView v;
    const Vec3d* u;
    const Quatd* q;
    OSIER_FN void operator()(Index n) const {
      Index i, k;
      if (!row_of(v, n, i, k)) return;
      const HangingStrand& s = v.rows.piece[k].strand;
      const Index f = s.first_segment + i;
      Row r;
      r.u = u[s.first_vertex + i + 1];
      r.turn = turn_between(v.rotation[f], q[f]);
      Rows(v, k).store_motion(i, r);
      if (i > 0 || s.continues) return;
      store_numbers<double>(u[s.first_vertex], v.rows.group.head + k, v.rows.group.width);
    }
  };

  struct Linearise {
    PiecesView v;
    TreeView tree;
    const double* blocks;
    double* energy;  ///< of the piece, without the first vertex of the chain; [energy, gained, pole margin][piece]
    OSIER_FN void operator()(Index k) const {
      Factor factor(v, k);
      load_factored(factor, v, k);
      factor.template linearise<true, kDamped>(ModelBlocks{blocks, factor.rows.strand()});
      const Factored& h = factor.factored_head();
      store_numbers<double>(h, v.factored + k, v.rows.group.width);
      NodeStiffness s;
      NodeForces f;
      for (int a = 0; a < 21; ++a) s.S[a] = h.S[a], s.D[a] = h.tail.D[a];
      for (int a = 0; a < 6; ++a) {
        for (int c = 0; c < 6; ++c) s.B[c][a] = h.tail.B[c][a];
        f.f[a] = h.f[a], f.d[a] = h.tail.d[a], f.known[a] = h.lambda[a];
      }
      tree.store(s, tree.stiffness, 1 + k);
      tree.store(f, tree.forces, 1 + k);
      energy[k] = factor.totals.energy;
      energy[v.rows.group.width + k] = factor.totals.gained;
      energy[2 * v.rows.group.width + k] = factor.totals.pole_margin;
    }
  };

  /// Moves the rows by the motion of heads and tails, or writes how far nodes move.
  struct Advance {
    PiecesView v;
    TreeView tree;
    double* motion;  ///< [largest turn^2, move^2, motion^2][piece]; or null
    OSIER_FN void operator()(Index k) const {
      Factor factor(v, k);
      load_factored(factor, v, k);
      const auto m = tree.template load<NodeMotion>(tree.motion, 1 + k);
      factor.take_solution({m.z[0], m.z[1], m.z[2]}, {m.z[3], m.z[4], m.z[5]}, m.lambda);
      factor.template advance<true>();
      if (v.moved == nullptr) factor.rows.store_head();
      const Factored& h = factor.factored_head();
      for (int a = 0; a < 6; ++a) v.factored[static_cast<std::ptrdiff_t>(kLambda + a) * v.rows.group.width + k] = h.lambda[a];
      if (motion == nullptr) return;
      motion[k] = factor.motion.turn2;
      motion[v.rows.group.width + k] = factor.motion.move2;
      motion[2 * v.rows.group.width + k] = factor.motion.motion2;
    }
    static constexpr int kLambda = 21 + 6 + 6;  ///< its place in FactoredHead
  };

  /// Forces on the nodes of a piece to its head, and the motion of its last node if the head stays.
  struct PassUp {
    PiecesView v;
    TreeView tree;
    const Vec3d *x, *w;
    double* scratch;  ///< [row][6][piece]
    OSIER_FN void operator()(Index k) const {
      Factor factor(v, k);
      load_factored(factor, v, k);
      const ChainField<double> own{scratch + k, nullptr, v.rows.group.width};
      const ModelField<const Vec3d> forces{x, w, factor.rows.strand()};
      const auto up = factor.template pass_up<true>(forces, own, nullptr);
      const double none[6] = {};
      factor.template pass_down<true>({0, 0, 0}, {0, 0, 0}, up, none, OwnField{own, nullptr, nullptr, factor.rows.strand()});
      NodeForces f{};
      for (int a = 0; a < 6; ++a) f.f[a] = up.passed[a];
      own.load(factor.rows.count() - 1, f.d);
      tree.store(f, tree.forces, 1 + k);
    }
  };
  /// Displacements of all nodes of a piece by the motion of its head and the force on its end.
  struct PassDown {
    PiecesView v;
    TreeView tree;
    const Vec3d *x, *w;
    double* scratch;
    Vec3d *zx, *zw;
    OSIER_FN void operator()(Index k) const {
      Factor factor(v, k);
      load_factored(factor, v, k);
      const auto m = tree.template load<NodeMotion>(tree.motion, 1 + k);
      const ChainField<double> own{scratch + k, nullptr, v.rows.group.width};
      const ModelField<const Vec3d> forces{x, w, factor.rows.strand()};
      const auto up = factor.template pass_up<true>(forces, own, m.lambda);
      const double none[6] = {};
      factor.template pass_down<true>({m.z[0], m.z[1], m.z[2]}, {m.z[3], m.z[4], m.z[5]}, up, none,
                                      OwnField{own, zx, zw, factor.rows.strand()});
    }
  };
  /// Reads what pass_up() left, and writes in the place of it, or into arrays of the model.
  struct OwnField {
    const ChainField<double>& own;
    Vec3d *x, *w;
    const HangingStrand& strand;
    OSIER_FN void load(Index i, double (&z)[6]) const { own.load(i, z); }
    OSIER_FN void store(Index i, const double (&z)[6]) const {
      if (x == nullptr) own.store(i, z);
      else ModelField<Vec3d>{x, w, strand}.store(i, z);
    }
    OSIER_FN void store_head(const Vec3d& z) const {
      if (x != nullptr) ModelField<Vec3d>{x, w, strand}.store_head(z);
    }
  };

  /// The link of row i by displacements, or by its own strain.
  struct LinkAt {
    double F[6], on_parent[6];
  };
  /// What follows row i of piece k: the next row, or the first one of the next piece. False at the end of the chain.
  OSIER_FN static bool next_row(const PiecesView& v, Index& i, Index& k) {
    if (i + 1 < v.rows.piece[k].segments) {
      ++i;
      return true;
    }
    ++k, i = 0;
    return k < v.rows.group.width && v.rows.piece[k].strand.continues;
  }

  struct Product {
    PiecesView v;
    const double* blocks;
    const Vec3d *px, *pw;
    Vec3d *Hx, *Hw;
    OSIER_FN LinkAt link(const Factor& factor, const HangingStrand& s, Index i, const Row& r) const {
      const ModelField<const Vec3d> p{px, pw, s};
      double here[6], near[6] = {};
      p.load(i, here);
      if (i > 0) {
        p.load(i - 1, near);
      } else {
        const Vec3d x = p.load_head(), w = s.continues ? pw[s.head] : Vec3d{};
        near[0] = x.x, near[1] = x.y, near[2] = x.z, near[3] = w.x, near[4] = w.y, near[5] = w.z;
      }
      LinkAt at;
      factor.link_force(i, r, Factor::axes_of(r), arm_now(r), here, near, at.F, at.on_parent);
      return at;
    }
    OSIER_FN void operator()(Index n) const {
      Index i, k;
      if (!row_of(v, n, i, k)) return;
      const Factor factor(v, k);
      const HangingStrand& s = factor.rows.strand();
      const Row r = factor.rows.load(i);
      const LinkAt own = link(factor, s, i, r);
      double here[6], sum[6];
      ModelField<const Vec3d>{px, pw, s}.load(i, here);
      for (int a = 0; a < 6; ++a) sum[a] = own.F[a];
      const ModelBlocks extra{blocks, s};
      factor.add_node_product(i, r, Factor::axes_of(r), arm_now(r), extra, here, sum);
      if (Index j = i, after = k; next_row(v, j, after)) {
        const Factor next(v, after);
        const LinkAt link_after = link(next, next.rows.strand(), j, next.rows.load(j));
        for (int a = 0; a < 6; ++a) sum[a] -= link_after.on_parent[a];
      }
      ModelField<Vec3d>{Hx, Hw, s}.store(i, sum);
      if (i > 0 || s.continues) return;
      const Vec3d root = px[s.first_vertex];
      double block[6] = {};
      extra.add_head(block);
      const double x[3] = {root.x, root.y, root.z};
      double y[3];
      for (int a = 0; a < 3; ++a) {
        y[a] = factor.rows.head.weight * x[a] - own.on_parent[a];
        for (int b = 0; b < 3; ++b) y[a] += block[triangle(a, b)] * x[b];
      }
      Hx[s.first_vertex] = {y[0], y[1], y[2]};
    }
  };

  /// Gradient and energy, by the strains of rows and links.
  struct Evaluate {
    PiecesView v;
    Vec3d *gx, *gw;              ///< or null
    double *energy, *magnitude;  ///< per vertex, or null
    struct Terms {
      double f[6], F[6], on_parent[6];
      double energy, gained;
    };
    OSIER_FN Terms terms(Index i, Index k) const {
      Rows rows(v, k);
      rows.join_pieces();
      Row r = rows.load(i);
      const Row before = rows.load(i > 0 ? i - 1 : 0);
      [[maybe_unused]] Quatd frame{}, frame_near{};
      const Vec3d& near_u = i > 0 ? before.u : rows.head.u;
      const Quatd& near_turn = i > 0 ? before.turn : rows.head.turn;
      Quatd frame0_near = rows.head.frame0, own0{};
      if constexpr (Law<double>::kOwnAxes) {
        if (i > 0) frame0_near = before.frame0;
        own0 = r.frame0;
        frame = r.turn * own0, frame_near = near_turn * frame0_near;
      }
      Terms t{};
      double S[21] = {};
      Vec3d e_x, e_w;
      typename Law<double>::Axes axes;
      RowTotals<double> totals{0, 0, 0};
      rows.add_tail_anchors(i, S, t.f, totals.energy);
      const Vec3d arm = add_node<kDamped>(
          r, rows.springs(i), NearEnd<double>{near_u, {near_turn, frame0_near, frame_near}}, OwnFrame<double>{own0, frame},
          [&](const auto&) { return rows.force(i); }, false, rows.drive(i), totals, S, t.f, e_x, e_w, axes);
      const double e[6] = {e_x.x, e_x.y, e_x.z, e_w.x, e_w.y, e_w.z};
      for (int a = 0; a < 6; ++a) {
        const double c = r.compliance(a);
        t.F[a] = c > 0 ? e[a] / c : 0;
        t.on_parent[a] = t.F[a];
      }
      if constexpr (Law<double>::kOwnAxes) {
        turn_six(axes.x, axes.w, t.F);
        turn_six(axes.x, axes.w, t.on_parent);
      }
      const Vec3d couple = minus_cross({t.F[3], t.F[4], t.F[5]}, arm, {t.F[0], t.F[1], t.F[2]});
      t.F[3] = couple.x, t.F[4] = couple.y, t.F[5] = couple.z;
      t.energy = totals.energy, t.gained = totals.gained;
      return t;
    }
    OSIER_FN void operator()(Index n) const {
      Index i, k;
      if (!row_of(v, n, i, k)) return;
      const HangingStrand& s = v.rows.piece[k].strand;
      const Terms own = terms(i, k);
      const bool first = i == 0 && !s.continues;
      const Head head = load_numbers<Head, double>(v.rows.group.head + k, v.rows.group.width);
      if (energy != nullptr) {
        const Index vertex = s.first_vertex + i + 1;
        energy[vertex] = own.energy;
        magnitude[vertex] = own.energy + 2 * own.gained;
        if (first) {
          // The first vertex is not the far vertex of any row.
          const double inertia = head.held > 0 ? 0 : 0.5 * head.weight * norm2(head.u),
                       done = head.held > 0 ? 0 : dot(head.rhs, head.u);
          energy[s.first_vertex] = inertia - done;
          magnitude[s.first_vertex] = inertia + (done < 0 ? -done : done);
        }
      }
      if (gx == nullptr) return;
      double g[6];
      for (int a = 0; a < 6; ++a) g[a] = own.F[a] - own.f[a];
      if (Index j = i, after = k; next_row(v, j, after)) {
        const Terms next = terms(j, after);
        for (int a = 0; a < 6; ++a) g[a] -= next.on_parent[a];
      }
      ModelField<Vec3d>{gx, gw, s}.store(i, g);
      if (first)
        gx[s.first_vertex] = head.weight * head.u - head.rhs - Vec3d{own.on_parent[0], own.on_parent[1], own.on_parent[2]};
    }
  };
};

/// The displacement of the first vertex of every chain.
struct SolveRoots {
  TreeView tree;
  const PieceRoot* root;
  const double *head, *factored;  ///< of pieces, [number][piece]
  const PieceOfChain* piece;
  const Vec3d* x;  ///< forces on vertices; null: the residual
  OSIER_FN void operator()(Index i) const {
    const PieceRoot at = root[i];
    NodeMotion motion{};
    const auto h = load_numbers<StrandHead<double>, double>(head + at.piece, tree.pieces);
    if (!(h.held > 0)) {
      const auto factor = load_numbers<FactoredHead<double>, double>(factored + at.piece, tree.pieces);
      const auto stiffness = tree.load<NodeStiffness>(tree.stiffness, at.node);
      const auto forces = tree.load<NodeForces>(tree.forces, at.node);
      double a[6];
      for (int c = 0; c < 6; ++c) a[c] = stiffness.S[c] + factor.block[c];
      a[0] += h.weight, a[2] += h.weight, a[5] += h.weight;
      const Vec3d own = x == nullptr ? h.rhs - h.weight * h.u : x[piece[at.piece].strand.first_vertex];
      double y[3] = {forces.f[0] + own.x, forces.f[1] + own.y, forces.f[2] + own.z};
      Ldl<3, double>(a).solve(y);
      for (int c = 0; c < 3; ++c) motion.z[c] = y[c];
    }
    tree.store(motion, tree.motion, at.node);
  }
};

/// Sets what is held to 0.
struct KeepFree {
  const std::uint8_t *vertex_held, *frame_held;
  Vec3d *x, *w;
  Index vertices, frames;
  OSIER_FN void operator()(Index i) const {
    if (i < vertices && vertex_held[i]) x[i] = {0, 0, 0};
    if (i < frames && frame_held[i]) w[i] = {0, 0, 0};
  }
};

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

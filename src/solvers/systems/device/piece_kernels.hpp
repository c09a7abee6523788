// The kernels of the linear system of chains in pieces (device_chains.hpp): a thread for every piece where its recursion runs,
// and one for every row where rows do not depend on each other.
#pragma once

#include "solvers/systems/device/piece_rows.hpp"
#include "solvers/systems/device/piece_tree.hpp"

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

}  // namespace osier::systems

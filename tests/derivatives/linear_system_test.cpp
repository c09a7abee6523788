// The interface that every kind of linear algebra has: solving for any right-hand side, products, and the blocks that contact
// adds.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "model/chains.hpp"
#include "solvers/systems/blocks/block_system.hpp"
#include "solvers/systems/chains/chain_system.hpp"
#include "solvers/systems/device/device_chains.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "solvers/systems/tree/compliance_tree.hpp"
#include "solvers/systems/tree/tree_system.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

using systems::Curvature;
using systems::Field;
using systems::LinearSystem;
using systems::VertexBlock;

struct Step {
  StepProblem p;
  Subset whole;
  StepPotential potential;
  Unknowns z;
};

void begin(Step& s, int i) {
  s.p = random_problem(7100 + static_cast<std::uint64_t>(i),
                       {.damping = static_cast<Damping>(i % 4), .held = i % 2 == 0, .broken = i % 5 == 0, .strain = 0.1});
  Random random(7200 + static_cast<std::uint64_t>(i));
  if (i % 3 == 0) make_anisotropic(s.p, 5, random);
  s.whole = whole_of(s.p.model);
  s.potential.begin(s.p.model, s.p.control, s.p.state, s.p.h);
  s.z = {std::vector<Vec3d>(static_cast<std::size_t>(s.p.model.vertex_count())), s.p.state.frame_rotation};
}

Field zero(const Model& m) {
  return {std::vector<Vec3d>(static_cast<std::size_t>(m.vertex_count())),
          std::vector<Vec3d>(static_cast<std::size_t>(m.frame_count()))};
}

/// On whatever is free.
Field random_field(const Step& s, Random& random) {
  Field f = zero(s.p.model);
  for (Vec3d& x : f.x) x = random.in_cube();
  for (Vec3d& w : f.w) w = 0.01 * random.in_cube();
  systems::StepHessian hessian;
  hessian.assemble(s.potential, s.z);
  hessian.keep_free(f);
  return f;
}

/// Some blocks on vertices, and on the two ends of some segments: stiff normals, as of contacts.
std::vector<VertexBlock> random_blocks(const Step& s, Random& random) {
  const Model& m = s.p.model;
  std::vector<VertexBlock> blocks;
  for (int k = 0; k < 4; ++k) {
    const Index segment = static_cast<Index>(random.below(m.segment_count()));
    if (!m.segment_alive[segment]) continue;
    const double stiffness = 10 * s.potential.position_stiffness(segment).largest();
    const Vec3d n = normalized(random.in_cube());
    const Mat3<double> nn = stiffness * outer(n, n);
    const double t = random.range(0, 1);
    const Index a = m.segment_vertices[segment][0];
    if (k % 2 == 0) blocks.push_back({-1, a, nn, {}, {}});
    else blocks.push_back({segment, a, ((1 - t) * (1 - t)) * nn, (t * (1 - t)) * nn, (t * t) * nn});
  }
  return blocks;
}

/// r - B z
Field less_blocks(const Step& s, const std::vector<VertexBlock>& blocks, Field r, const Field& z) {
  for (const VertexBlock& block : blocks) {
    r.x[block.a] -= block.aa * z.x[block.a];
    if (block.segment < 0) continue;
    const Index b = s.p.model.segment_vertices[block.segment][1];
    r.x[block.a] -= block.ab * z.x[b];
    r.x[b] -= transposed_times(block.ab, z.x[block.a]) + block.bb * z.x[b];
  }
  return r;
}

double distance(const Field& a, const Field& b) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    most = std::max(most, norm(a.x[i] - b.x[i]));
    size = std::max(size, norm(b.x[i]));
  }
  return most / size;
}

double dot_of(const Field& a, const Field& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) sum += dot(a.x[i], b.x[i]);
  for (std::size_t i = 0; i < a.w.size(); ++i) sum += dot(a.w[i], b.w[i]);
  return sum;
}

TEST(LinearSystem, ExactOnesUndoTheirProductWithBlocksOfContact) {
  for (int i = 0; i < 30; ++i) {
    Step s;
    begin(s, i);
    Random random(7300 + static_cast<std::uint64_t>(i));
    const std::vector<VertexBlock> blocks = i % 2 == 0 ? random_blocks(s, random) : std::vector<VertexBlock>{};
    const Field x = random_field(s, random);
    systems::TreeSystem tree;
    systems::SparseSystem sparse;
    for (LinearSystem* system : {static_cast<LinearSystem*>(&tree), static_cast<LinearSystem*>(&sparse)}) {
      system->bind(s.p.model, s.p.control, s.whole, s.p.h);
      if (!system->linearise(s.potential, s.z, {.curvature = Curvature::exact, .blocks = blocks}).definite) continue;
      Field image, back;
      system->product(x, image);
      ASSERT_TRUE(system->solve(image, back)) << i;
      EXPECT_LT(distance(back, x), 1e-6) << i;
    }
  }
}

/// (M + B)^-1 r = M^-1 (r - B (M + B)^-1 r), whatever M is.
TEST(LinearSystem, PreconditionersTakeBlocksOfContactAndAnyRightHandSide) {
  for (int i = 0; i < 24; ++i) {
    Step s;
    begin(s, i);
    Random random(7400 + static_cast<std::uint64_t>(i));
    const std::vector<VertexBlock> blocks = random_blocks(s, random);
    const Field r = random_field(s, random);
    systems::ComplianceTree<double> tree;
    systems::BlockSystem<double> conjugate(Simd::automatic, 1);
    for (LinearSystem* system : {static_cast<LinearSystem*>(&tree), static_cast<LinearSystem*>(&conjugate)}) {
      system->bind(s.p.model, s.p.control, s.whole, s.p.h);
      Field with, again;
      system->linearise(s.potential, s.z, {.blocks = blocks});
      ASSERT_TRUE(system->solve(r, with)) << i;
      system->linearise(s.potential, s.z, {});
      ASSERT_TRUE(system->solve(less_blocks(s, blocks, r, with), again)) << i;
      EXPECT_LT(distance(again, with), system == &tree ? 1e-7 : 1e-3) << i << (system == &tree ? ", tree" : ", blocks");
      // Symmetric and positive, which is what conjugate gradients ask of a preconditioner.
      Field other;
      const Field q = random_field(s, random);
      ASSERT_TRUE(system->solve(q, other)) << i;
      Field first;
      ASSERT_TRUE(system->solve(r, first)) << i;
      EXPECT_GT(dot_of(r, first), 0) << i;
      if (system != &tree) continue;
      const double size = std::sqrt(dot_of(r, first) * dot_of(q, other));
      EXPECT_NEAR(dot_of(q, first), dot_of(r, other), 1e-7 * size) << i;
    }
  }
}

/// Strands of many lengths, some of them long enough to be cut: clamped at the start, at both ends, at the end, held by position
/// alone, held by a frame, and free.
void begin_strands(Step& s, int i, bool isotropic) {
  Random random(7500 + static_cast<std::uint64_t>(i));
  StepProblem& p = s.p;
  p.h = 0.004;
  std::vector<std::vector<Index>> strands;
  for (int n : {9, 30, 31, 7, 28, 12, 33, 17, 16, 8, 25, 11, 29, 30, 10, 21, 5, i % 2 == 0 ? 300 : 40}) {
    const Vec3d from{static_cast<double>(strands.size()), 0, 0};
    std::vector<Index> path{p.graph.add_vertex(from)};
    for (Index v : random_walk(p.graph, from, n - 1, 0.2, random)) path.push_back(v);
    add_twisted_chain(p.graph, path, random_section(random, static_cast<Damping>(i % 4)), false, 0.5, random);
    strands.push_back(path);
  }
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  const auto clamp = [&](Index v) { p.state.frame_rotation.push_back(add_clamp(p.model, p.graph, p.state, v).rotation); };
  for (std::size_t k = 0; k < strands.size(); ++k) {
    if (k % 6 < 2) clamp(strands[k].front());
    if (k % 6 == 1 || k % 6 == 2) clamp(strands[k].back());
  }
  update_topology(p.model);
  if (!isotropic) make_anisotropic(p, 2, random);
  p.control = still_control(p.model, p.state);
  const std::vector<Chain> chains = find_chains(p.model);
  for (std::size_t k = 0; k < strands.size(); ++k) {
    if (k % 6 < 2 || k % 6 == 3) p.control.vertex_fixed[strands[k].front()] = 1;
    if (k % 6 == 1 || k % 6 == 2 || k % 6 == 3) p.control.vertex_fixed[strands[k].back()] = 1;
    if (k % 6 == 4) p.control.frame_control[chains[k].first_segment] = FrameControl::fixed;
  }
  const std::vector<Vec3d> rest = p.state.vertex_position;
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    p.control.vertex_force[v] = 2.0 * random.in_cube();
    p.control.vertex_damping[v] = random.range(0, 0.5);
    p.state.vertex_velocity[v] = random.in_cube();
    if (!p.control.vertex_fixed[v]) p.state.vertex_position[v] += 0.01 * random.in_cube();
  }
  p.state.vertex_velocity_previous = p.state.vertex_velocity;
  turn_frames(p, 0.1, random);
  if (!isotropic && i % 2 == 0) add_torques(p, 0.05, Loose::turned, random);
  p.control.frame_target = p.state.frame_rotation;
  s.whole = whole_of(p.model);
  s.potential.begin(p.model, p.control, p.state, p.h);
  // Not at the start of the step.
  const Place place = random_place(p, 0.05, random);
  s.z = {place.x, place.q};
  for (std::size_t v = 0; v < s.z.u.size(); ++v) s.z.u[v] -= p.state.vertex_position[v];
}

/// The step of a system as a field.
Field step_of(const Step& s, LinearSystem& system) {
  Field f = zero(s.p.model);
  EXPECT_TRUE(system.step({}));
  for (std::size_t v = 0; v < f.x.size(); ++v) f.x[v] = system.displacement(static_cast<Index>(v));
  for (std::size_t k = 0; k < f.w.size(); ++k)
    if (static_cast<Index>(k) < s.p.model.segment_count()) f.w[k] = system.turn(static_cast<Index>(k));
  return f;
}

/// Whether the tree makes the same of a strand: it hangs the strand from the same end, and has springs along the same axes. Of a
/// first frame that nothing keeps from spinning both are regular, by different shares of a millionth: `spins`.
struct Likeness {
  bool same = false, spins = false;
};
std::vector<Likeness> likenesses(const Step& s, const std::vector<Chain>& chains) {
  const Model& m = s.p.model;
  const std::vector<Index> roots = systems::build_tree(m, s.p.control, s.whole).roots;
  std::vector<Likeness> out;
  for (const Chain& c : chains) {
    Likeness like;
    like.same = std::find(roots.begin(), roots.end(), c.first_vertex) != roots.end();
    like.spins = c.head_joint < 0 && s.p.control.frame_control[c.first_segment] == FrameControl::free;
    const auto look = [&](Index j) {
      if (j < 0) return;
      const JointSpring spring = s.potential.joint_spring(j);
      const auto [a, b] = m.joint_frames[j];
      Vec3d k = spring.k;
      if (spring.damped()) k += times(spring.k, spring.alpha);
      if (!spring.isotropic() &&
          systems::angle_stiffening(k, half_rotation(conj(s.z.q[a]) * s.z.q[b])) >= systems::kAngleStiffening)
        like.same = false;
    };
    look(c.head_joint), look(c.tail_joint);
    for (Index k = 0; k + 1 < c.segments(); ++k) look(c.first_joint + k);
    out.push_back(like);
  }
  return out;
}

/// The field on the vertices of one strand alone.
Field on_strand(const Field& f, const Chain& c) {
  const auto from = f.x.begin() + c.first_vertex;
  return {{from, from + c.vertices}, {}};
}

/// Stiff normals on every third vertex, whatever holds it.
std::vector<VertexBlock> blocks_on_vertices(const Step& s, Random& random) {
  std::vector<VertexBlock> blocks;
  for (Index v = 0; v < s.p.model.vertex_count(); v += 3) {
    const Vec3d n = normalized(random.in_cube());
    const Index segment = s.p.model.vertex_segments.of(v).front() / 2;
    blocks.push_back({-1, v, (10 * s.potential.position_stiffness(segment).largest()) * outer(n, n), {}, {}});
  }
  return blocks;
}

template <class F>
void each_set_of_lanes(const F& f) {
  for (Simd simd : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512}) {
    if (!simd_available(simd)) continue;
    SCOPED_TRACE(simd_name(simd));
    f(simd);
  }
}

/// Lanes and the tree linearise alike, strand by strand, and solve alike for whatever is on the right-hand side.
TEST(LinearSystem, ChainsInLanesAreThoseOfTheTree) {
  int same_strands = 0;
  for (int i = 0; i < 8; ++i) {
    Step s;
    begin_strands(s, i, i % 4 < 2);
    Random random(7600 + static_cast<std::uint64_t>(i));
    const std::vector<VertexBlock> on_vertices = blocks_on_vertices(s, random);
    const std::vector<Field> loads{random_field(s, random), random_field(s, random), random_field(s, random)};
    const std::vector<Chain> strands = find_chains(s.p.model);
    const std::vector<Likeness> like = likenesses(s, strands);
    systems::ComplianceTree<double> tree;
    tree.bind(s.p.model, s.p.control, s.whole, s.p.h);
    for (const bool frames_move : {true, false})
      for (const std::vector<VertexBlock>& blocks : {std::vector<VertexBlock>{}, on_vertices}) {
        tree.forget_forces();
        const systems::Linearisation how{.frames_move = frames_move, .blocks = blocks};
        ASSERT_TRUE(tree.linearise(s.potential, s.z, how).definite);
        const Field step = step_of(s, tree);
        std::vector<Field> solved(loads.size());
        for (std::size_t k = 0; k < loads.size(); ++k) ASSERT_TRUE(tree.solve(loads[k], solved[k]));
        const auto check = [&]<class T>(T, double allowed) {
          SCOPED_TRACE(std::to_string(i) + (frames_move ? "" : " positions") + (blocks.empty() ? "" : " blocks") +
                       (sizeof(T) == 4 ? " float" : " double"));
          const auto compare = [&](const Field& a, const Field& b) {
            for (std::size_t k = 0; k < strands.size(); ++k) {
              if (frames_move && !like[k].same) continue;
              ++same_strands;
              const double spin = frames_move && like[k].spins ? 1e-5 : 0;
              EXPECT_LT(distance(on_strand(a, strands[k]), on_strand(b, strands[k])), std::max(allowed, spin)) << "strand " << k;
            }
          };
          each_set_of_lanes([&](Simd simd) {
            systems::ChainSystem<T> chains(simd);
            ASSERT_TRUE(chains.suits(s.p.model, s.p.control, s.whole, s.p.h));
            chains.bind(s.p.model, s.p.control, s.whole, s.p.h);
            // Solves before and after the step, and after another linearisation.
            ASSERT_TRUE(chains.linearise(s.potential, s.z, how).definite);
            Field z;
            ASSERT_TRUE(chains.solve(loads[0], z));
            compare(z, solved[0]);
            compare(step_of(s, chains), step);
            for (std::size_t k = 1; k < loads.size(); ++k) {
              ASSERT_TRUE(chains.solve(loads[k], z));
              compare(z, solved[k]);
            }
            chains.forget_forces();
            ASSERT_TRUE(chains.linearise(s.potential, s.z, how).definite);
            compare(step_of(s, chains), step);
          });
        };
        check(double{}, 1e-8);
        check(float{}, 1e-3);
      }
  }
  EXPECT_GT(same_strands, 10000);
}

/// Also strands that the tree hangs from their other end: (M + B)^-1 r = M^-1 (r - B (M + B)^-1 r), and M is symmetric.
TEST(LinearSystem, ChainsInLanesTakeBlocksOnVertices) {
  for (int i = 0; i < 8; ++i) {
    Step s;
    begin_strands(s, i, i % 4 < 2);
    Random random(7700 + static_cast<std::uint64_t>(i));
    const std::vector<VertexBlock> blocks = blocks_on_vertices(s, random);
    const Field r = random_field(s, random), q = random_field(s, random);
    each_set_of_lanes([&](Simd simd) {
      systems::ChainSystem<double> chains(simd, 2);
      chains.bind(s.p.model, s.p.control, s.whole, s.p.h);
      Field with, again, first, other;
      ASSERT_TRUE(chains.linearise(s.potential, s.z, {.blocks = blocks}).definite);
      ASSERT_TRUE(chains.solve(r, with));
      ASSERT_TRUE(chains.linearise(s.potential, s.z, {}).definite);
      ASSERT_TRUE(chains.solve(less_blocks(s, blocks, r, with), again));
      EXPECT_LT(distance(again, with), 1e-7) << i;
      ASSERT_TRUE(chains.solve(r, first));
      ASSERT_TRUE(chains.solve(q, other));
      EXPECT_GT(dot_of(r, first), 0) << i;
      EXPECT_NEAR(dot_of(q, first), dot_of(r, other), 1e-7 * std::sqrt(dot_of(r, first) * dot_of(q, other))) << i;
      // Blocks on the ends of segments and exact curvature are for others.
      const std::vector<VertexBlock> ends{{0, s.p.model.segment_vertices[0][0], {}, {}, {}}};
      EXPECT_FALSE(chains.linearise(s.potential, s.z, {.blocks = ends}).definite);
      EXPECT_FALSE(chains.linearise(s.potential, s.z, {.curvature = Curvature::exact}).definite);
      EXPECT_FALSE(chains.step({}));
    });
  }
}

/// Steps of lanes alone end where the gradient is nothing, however strands are held.
TEST(LinearSystem, StepsOfChainsInLanesConverge) {
  for (int i = 0; i < 8; ++i) {
    Step s;
    begin_strands(s, i, i % 4 < 2);
    const Unknowns start = s.z;
    each_set_of_lanes([&](Simd simd) {
      s.z = start;
      systems::ChainSystem<double> chains(simd);
      chains.bind(s.p.model, s.p.control, s.whole, s.p.h);
      std::vector<Vec3d> gx, gw;
      const auto residual = [&] {
        s.potential.gradient(s.z, gx, gw);
        return s.potential.residual(gx, gw).value;
      };
      const double before = residual();
      for (int k = 0; k < 40; ++k) {
        ASSERT_TRUE(chains.linearise(s.potential, s.z, {}).definite) << i << " " << k;
        const Field d = step_of(s, chains);
        for (std::size_t v = 0; v < d.x.size(); ++v) s.z.u[v] += d.x[v];
        for (std::size_t f = 0; f < d.w.size(); ++f) {
          const Vec3d half = 0.5 * d.w[f];
          s.z.q[f] = normalized(Quatd{half.x, half.y, half.z, 1} * s.z.q[f]);
        }
      }
      EXPECT_LT(residual(), 1e-7 * before) << i;
    });
  }
}

/// Chains as kernels see them, by the twin of the device.
class Pieces {
 public:
  explicit Pieces(const Step& s) : s_(s), state_(Backend::host), chains_(Backend::host) {
    EXPECT_EQ(systems::why_no_pieces(s.p.model, s.p.control), "");
    state_.bind(s.p.model);
    state_.put(s.p.state), state_.put(s.p.control);
    chains_.bind(s.p.model, s.p.control);
    chains_.begin(systems::OrdersOfScript::of_control(state_, s.p.h), 0);
  }
  void linearise(const std::vector<VertexBlock>& blocks) {
    chains_.forget_forces();
    blocks_.assign(6 * s_.z.u.size(), 0);
    for (const VertexBlock& block : blocks)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b <= a; ++b) blocks_[static_cast<std::size_t>(6 * block.a + triangle(a, b))] += block.aa.m[a][b];
    chains_.linearise(s_.z.u.data(), s_.z.q.data(), blocks.empty() ? nullptr : blocks_.data());
  }
  Field step() {
    Field f = zero(s_.p.model);
    chains_.step(f.x.data(), f.w.data());
    return f;
  }
  Field solve(const Field& r) {
    Field f = zero(s_.p.model);
    chains_.solve(r.x.data(), r.w.data(), f.x.data(), f.w.data());
    return f;
  }
  Field product(const Field& p) {
    Field f = zero(s_.p.model);
    chains_.product(p.x.data(), p.w.data(), f.x.data(), f.w.data());
    return f;
  }
  Field gradient() {
    Field f = zero(s_.p.model);
    chains_.gradient(f.x.data(), f.w.data());
    return f;
  }
  double energy() {
    std::vector<double> energy(s_.z.u.size()), magnitude(s_.z.u.size());
    chains_.energies(energy.data(), magnitude.data());
    double sum = 0;
    for (const double e : energy) sum += e;
    return sum;
  }

 private:
  const Step& s_;
  systems::DeviceState state_;
  systems::DeviceChains chains_;
  std::vector<double> blocks_;
};

double turning_distance(const Field& a, const Field& b) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < b.w.size(); ++i) {
    most = std::max(most, norm(a.w[i] - b.w[i]));
    size = std::max(size, norm(b.w[i]));
  }
  return most / size;
}

/// Pieces make the same of a chain as lanes do, and their product undoes their solve.
TEST(LinearSystem, ChainsInPiecesAreThoseInLanes) {
  for (int i = 0; i < 8; ++i) {
    if (i % 4 >= 2 && i % 2 == 0) continue;  // torques
    SCOPED_TRACE(i);
    Step s;
    begin_strands(s, i, i % 4 < 2);
    Random random(7800 + static_cast<std::uint64_t>(i));
    const std::vector<VertexBlock> on_vertices = blocks_on_vertices(s, random);
    const Field r = random_field(s, random);
    Pieces pieces(s);
    systems::ChainSystem<double> lanes(Simd::off);
    lanes.bind(s.p.model, s.p.control, s.whole, s.p.h);
    for (const std::vector<VertexBlock>& blocks : {std::vector<VertexBlock>{}, on_vertices}) {
      lanes.forget_forces();
      ASSERT_TRUE(lanes.linearise(s.potential, s.z, {.blocks = blocks}).definite);
      pieces.linearise(blocks);
      Field z;
      ASSERT_TRUE(lanes.solve(r, z));
      const Field solved = pieces.solve(r);
      EXPECT_LT(distance(solved, z), 1e-9);
      EXPECT_LT(turning_distance(solved, z), 1e-9);
      const Field again = pieces.solve(pieces.product(solved));
      EXPECT_LT(distance(again, solved), 1e-8);
      EXPECT_LT(turning_distance(again, solved), 1e-8);
      if (!blocks.empty()) continue;  // the step has changed the forces through links
      Field gradient = zero(s.p.model);
      s.potential.gradient(s.z, gradient.x, gradient.w);
      systems::StepHessian hessian;
      hessian.assemble(s.potential, s.z);
      hessian.keep_free(gradient);
      const Field own = pieces.gradient();
      EXPECT_LT(distance(own, gradient), 1e-9);
      EXPECT_LT(turning_distance(own, gradient), i % 4 < 2 ? 1e-9 : 1.0) << "with the couples of the last force";
      const Field step = step_of(s, lanes), own_step = pieces.step();
      EXPECT_LT(distance(own_step, step), 1e-9);
      EXPECT_LT(turning_distance(own_step, step), 1e-9);
      EXPECT_LT(distance(pieces.solve(r), solved), 1e-12) << "a step leaves the factor as it is";
    }
  }
}

/// Long chains, whose pieces are joined in several levels, and chains that are held in many places inside: solve() undoes
/// product(), which goes from link to link and knows no pieces, and what is held stays.
TEST(LinearSystem, LongChainsAndHeldOnesAreSolvedByPieces) {
  for (const bool held : {false, true}) {
    SCOPED_TRACE(held);
    Step s;
    StepProblem& p = s.p;
    p.h = 0.004;
    Random random(7900);
    std::vector<std::vector<Index>> strands;
    for (int n : {4, 33, 34, 65, 100, 257, 1025, 5000}) {
      const Vec3d from{0, static_cast<double>(strands.size()), 0};
      std::vector<Index> path{p.graph.add_vertex(from)};
      for (Index v : random_walk(p.graph, from, n - 1, 0.2, random)) path.push_back(v);
      add_twisted_chain(p.graph, path, random_section(random, Damping::none), false, 0.5, random);
      strands.push_back(path);
    }
    p.model = compile_graph(p.graph);
    p.state = initial_state(p.graph, p.model);
    p.control = still_control(p.model, p.state);
    if (held)
      for (int i = 0; i < 60; ++i) {
        p.control.vertex_fixed[static_cast<Index>(random.below(p.model.vertex_count()))] = 1;
        p.control.frame_control[static_cast<Index>(random.below(p.model.segment_count()))] = FrameControl::fixed;
      }
    // The first and the last two vertices of a strand with the frame between them, as knitted borders are held.
    if (held)
      for (Index v : {strands[4][0], strands[4][1], strands[4][98], strands[4][99]}) p.control.vertex_fixed[v] = 1;
    turn_frames(p, 0.1, random);
    p.control.frame_target = p.state.frame_rotation;
    s.whole = whole_of(p.model);
    s.potential.begin(p.model, p.control, p.state, p.h);
    const Place place = random_place(p, 0.05, random);
    s.z = {place.x, place.q};
    for (std::size_t v = 0; v < s.z.u.size(); ++v) s.z.u[v] -= p.state.vertex_position[v];
    Pieces pieces(s);
    pieces.linearise({});
    const Field r = random_field(s, random), q = random_field(s, random), z = pieces.solve(r), other = pieces.solve(q);
    const Field back = pieces.product(z);
    EXPECT_LT(distance(back, r), 1e-8);
    EXPECT_LT(turning_distance(back, r), 1e-6);
    EXPECT_NEAR(dot_of(q, z), dot_of(r, other), 1e-9 * std::sqrt(dot_of(r, z) * dot_of(q, other)));
    for (Index v = 0; v < p.model.vertex_count(); ++v)
      if (p.control.vertex_fixed[v]) {
        ASSERT_EQ(norm(z.x[v]), 0);
      }
    if (held) continue;
    systems::ChainSystem<double> lanes(Simd::off);
    lanes.bind(p.model, p.control, s.whole, p.h);
    ASSERT_TRUE(lanes.linearise(s.potential, s.z, {}).definite);
    Field by_lanes;
    ASSERT_TRUE(lanes.solve(r, by_lanes));
    EXPECT_LT(distance(z, by_lanes), 1e-9);
    EXPECT_LT(turning_distance(z, by_lanes), 1e-9);
    EXPECT_LT(distance(pieces.step(), step_of(s, lanes)), 1e-9);
  }
}

}  // namespace
}  // namespace osier::test

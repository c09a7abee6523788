// The interface that every kind of linear algebra has: solving for any right-hand side, products, and the blocks that contact
// adds.
#include <gtest/gtest.h>
#include <memory>

#include "solvers/systems/blocks/block_system.hpp"
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

}  // namespace
}  // namespace osier::test

// Contact by kernels: those of the twin against the host's own contact, and whole scenes of both.
#include "solvers/systems/device/device_contact.hpp"

#include <gtest/gtest.h>

#include "certificate/segment_distance.hpp"
#include "contact/contact_step.hpp"
#include "exec/cuda_device.hpp"
#include "support/obstacles.hpp"
#include "support/random_contact_scene.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

using contact::ContactStep;
using contact::Pair;

/// A scene's step with contact, on the twin.
struct TwinStep {
  systems::DeviceState state{Backend::host};
  systems::DeviceContact contact{Backend::host};
  std::vector<Vec3d> u;

  TwinStep(ContactScene& scene, double h) {
    state.bind(scene.model);
    state.put(scene.state);
    state.put(scene.control);
    contact.bind(scene.model, state, scene.contacts);
    contact.put(scene.state);
    contact.begin(state.view(h));
    const auto& m = scene.model;
    for (Index v = 0; v < m.vertex_count(); ++v)
      u.push_back(scene.control.vertex_fixed[v] ? scene.control.vertex_target[v] - scene.state.vertex_position[v]
                                                : h * scene.state.vertex_velocity[v]);
  }
};

StressOptions slow() {
  StressOptions options;
  options.fastest = 5;
  return options;
}

TEST(DeviceContact, TheListOfPairsIsTheHosts) {
  std::size_t all = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomContactScene random(seed, {});
    SCOPED_TRACE(random.what);
    ContactScene& scene = random.scene;
    Random more(seed);
    if (seed % 2 == 0) {
      scene.obstacles.push_back(made(plane_of({0, 0, -0.2}, {0, 0.1, 1})));
      scene.obstacles.push_back(made(cylinder_of({-0.1, 0, 0}, {0.1, 0.1, 0}, 0.05)));
      scene.obstacles.push_back(made(box_of({0.1, 0.1, 0.1}, {0.1, 0.2, 0.05}, more.rotation())));
    }
    random.begin(1);
    const auto& x = scene.state.vertex_position;
    for (const double size : {0.0, 1.0, 8.0}) {
      std::vector<double> ball;
      for (const double r : scene.model.vertex_radius) ball.push_back(size * r * more.unit());
      if (size > 1) ball[0] *= 30;  // one long box
      std::vector<Pair> brute, grid;
      contact::Candidates::find_by_brute_force(scene.contacts, scene.model, x, ball, brute);
      contact::Candidates().find(scene.contacts, scene.model, x, ball, Executor(1), grid);
      TwinStep step(scene, random.h);
      systems::PairFinder finder(Backend::host);
      const Index count = finder.find(step.contact.tables(), x.data(), ball.data());
      const std::vector<Pair> found = finder.get(count);
      ASSERT_EQ(found.size(), brute.size());
      ASSERT_EQ(found.size(), grid.size());
      for (std::size_t p = 0; p < found.size(); ++p) {
        ASSERT_TRUE(found[p] == brute[p] && found[p] == grid[p]);
        ASSERT_EQ(found[p].pushes, brute[p].pushes);
        ASSERT_EQ(found[p].core, brute[p].core);
      }
      all += found.size();
    }
  }
  EXPECT_GT(all, 10000u);
}

/// Forces, and blocks for single vertices, with anchors of the steps before.
TEST(DeviceContact, ForcesAndBlocksAreTheHosts) {
  std::size_t touched = 0;
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    RandomContactScene random(seed, slow());
    SCOPED_TRACE(random.what);
    ContactScene& scene = random.scene;
    scene.friction = 0.4;
    if (seed % 2 == 0) scene.obstacles.push_back(made(sphere_of({0, 0, 0}, 0.02)));
    random.begin(1);
    for (int n = 0; n < 6; ++n) random.step();
    const Model& m = scene.model;
    const auto nv = static_cast<std::size_t>(m.vertex_count());
    ContactStep host;
    host.begin(scene.contacts, m, scene.control, scene.state, random.h);
    TwinStep twin(scene, random.h);
    std::vector<Vec3d> u(nv), small(nv);
    Random more(seed);
    for (Vec3d& d : small) d = 1e-3 * m.vertex_radius[0] * more.in_cube();
    twin.u = small;
    std::vector<Vec3d> guarded = small;
    host.guard(u, guarded);
    while (twin.contact.expect(twin.u.data()), !twin.contact.holds()) twin.u = small;
    host.linearise(twin.u);
    twin.contact.linearise();
    std::vector<Vec3d> gradient(nv);
    std::vector<Mat3<double>> block(nv);
    host.add_gradient(gradient);
    host.add_diagonal(block);
    double force = 0, stiffness = 0;
    for (std::size_t v = 0; v < nv; ++v)
      force = std::max(force, norm(gradient[v])), stiffness = std::max(stiffness, std::abs(block[v].m[0][0] + block[v].m[1][1]));
    for (Index v = 0; v < m.vertex_count(); ++v) {
      Vec3d g;
      Sym3<double> half{};
      if (twin.contact.view().add_contacts(v, g, half)) ++touched;
      const Mat3<double> b = full(half);
      ASSERT_LE(norm(g - gradient[v]), 1e-9 * force) << v;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) ASSERT_NEAR(b.m[i][j], block[v].m[i][j], 1e-9 * stiffness) << v;
    }
  }
  EXPECT_GT(touched, 100u);
}

/// Nothing passes its core on the way, whatever the motion; and motions that do not matter stay whole.
TEST(DeviceContact, TheGuardKeepsPairsApartOnTheirWay) {
  int cut = 0, whole = 0;
  for (std::uint64_t seed = 200; seed < 240; ++seed) {
    RandomContactScene random(seed, {});
    SCOPED_TRACE(random.what);
    ContactScene& scene = random.scene;
    random.begin(1);
    const Model& m = scene.model;
    TwinStep twin(scene, random.h);
    Random more(seed);
    const double size = m.vertex_radius[0] * more.log_range(0.1, 100);
    for (Vec3d& d : twin.u) d = size * more.in_cube() + (seed % 3 == 0 ? 20.0 * size : 0.0) * Vec3d{1, 0, 0};
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (scene.control.vertex_fixed[v]) twin.u[v] = scene.control.vertex_target[v] - scene.state.vertex_position[v];
    const std::vector<Vec3d> wanted = twin.u;
    while (twin.contact.expect(twin.u.data()), !twin.contact.holds()) twin.u = wanted;
    const auto& x = scene.state.vertex_position;
    for (std::size_t v = 0; v < x.size(); ++v) norm(twin.u[v] - wanted[v]) > 1e-12 ? ++cut : ++whole;
    for (Index a = 0; a < m.segment_count(); ++a)
      for (Index b = a + 1; b < m.segment_count(); ++b) {
        const contact::Neighbour* neighbour = scene.contacts.neighbour(a, b);
        if (neighbour && neighbour->core < 0) continue;
        const auto [a0, a1] = m.segment_vertices[a];
        const auto [b0, b1] = m.segment_vertices[b];
        const auto distance = [&](double t) {
          const auto at = [&](Index v) { return x[v] + t * twin.u[v]; };
          return certificate::segment_distance(at(a0), at(a1), at(b0), at(b1));
        };
        const double start = distance(0), core = neighbour ? neighbour->core : scene.contacts.core(a, b);
        const double least = std::min(0.999 * core, 0.49 * start);
        for (int i = 1; i <= 16; ++i) ASSERT_GE(distance(i / 16.0), least) << a << " " << b << " " << i;
      }
  }
  EXPECT_GT(cut, 200);
  EXPECT_GT(whole, 200);
}

/// A knot that flies and turns keeps its list, and nothing comes within reach that is not on it.
TEST(DeviceContact, TheListDriftsAlongWithWhatMovesTogether) {
  constexpr double kStep = 1e-3, kSpeed = 20, kSpin = 25;
  ContactScene scene;
  std::vector<Vec3d> points;
  for (int i = 0; i < 120; ++i) {
    const double a = 2 * std::numbers::pi * i / 120;
    points.push_back(0.03 * Vec3d{std::sin(a) + 2 * std::sin(2 * a), std::cos(a) - 2 * std::cos(2 * a), -0.5 * std::sin(3 * a)});
  }
  scene.add_rod(points, {}, true);
  scene.build();
  scene.begin();
  TwinStep twin(scene, kStep);
  Vec3d* x = twin.state.view(kStep).position;
  const auto nv = static_cast<std::size_t>(scene.model.vertex_count());
  std::size_t near = 0;
  for (int n = 0; n < 60; ++n) {
    const Vec3d center{kSpeed * kStep * n, 0, 0};
    const Quatd turn = rotation_exp(Vec3d{0, kSpin * kStep, 0});
    std::vector<Vec3d> wanted(nv);
    for (std::size_t v = 0; v < nv; ++v) wanted[v] = rotate(turn, x[v] - center) + center + Vec3d{kSpeed * kStep, 0, 0} - x[v];
    twin.contact.begin(twin.state.view(kStep));
    do {
      twin.u = wanted;
      twin.contact.expect(twin.u.data());
    } while (!twin.contact.finish());
    for (std::size_t v = 0; v < nv; ++v) {
      ASSERT_LE(norm(twin.u[v] - wanted[v]), 1e-12) << "nothing is in the way of what moves as one";
      x[v] += twin.u[v];
    }
    twin.contact.accept();
    const std::vector<Vec3d> now(x, x + nv);
    std::vector<Pair> touching;
    contact::Candidates::find_by_brute_force(scene.contacts, scene.model, now, std::vector<double>(nv, 0), touching);
    const std::vector<Pair> listed = twin.contact.get_pairs();
    for (const Pair& pair : touching)
      ASSERT_TRUE(std::binary_search(listed.begin(), listed.end(), pair)) << pair.a << " " << pair.b;
    near += touching.size();
  }
  EXPECT_GT(near, 60u);
  EXPECT_LE(twin.contact.lists_made(), 8);  // 300 radii of flight, and a turn by 86 degrees
}

Scene contact_scene(const std::string& name, const std::string& device, const std::vector<std::string>& more) {
  LoadOptions options;
  options.overrides = {R"(/solver={"name": "stable_cosserat", "iterations": 8})", "/execution/device=\"" + device + "\""};
  options.overrides.insert(options.overrides.end(), more.begin(), more.end());
  return Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options);
}

struct SmallScene {
  const char* name;
  std::vector<std::string> changes;
  int steps;
  double allowed;  ///< of the scene's size
};

/// Until contacts amplify roundings: by how much, the tolerances say.
TEST(DeviceContact, ScenesMoveAsTheProcessorsDo) {
  const std::vector<SmallScene> scenes{
      {"incline", {}, 60, 1e-12},
      {"rope_pile",
       {"/rods/0/shape/from=[0, 0.2, 0]", "/rods/0/segments=24",
        "/constraints/0/motion/translate/keys=[[0, [0, 0, 0]], [2, [0, -0.15, 0]]]"},
       60,
       1e-11},
      {"knot_tighten", {}, 60, 1e-9},
      // In one step the guard cuts pairs that share vertices: the host one after the other, kernels all at once.
      {"knit_twist", {"/structures/0/rows=3", "/structures/0/stitches=3"}, 30, 1e-3},
      {"braid", {}, 40, 1e-9},
  };
  for (const SmallScene& s : scenes) {
    SCOPED_TRACE(s.name);
    const Scene here = contact_scene(s.name, "cpu", s.changes), there = contact_scene(s.name, "cuda_twin", s.changes);
    Simulation a(here), b(there), c(there);
    EXPECT_EQ(b.why_no_run_ahead(), "");
    for (int i = 0; i < s.steps; ++i) a.step(), c.step();
    EXPECT_EQ(b.run_ahead(s.steps), s.steps);
    const double size = extent(a.state());
    const double apart = farthest(a.state().vertex_position, b.state().vertex_position) / size;
    EXPECT_LE(apart, s.allowed);
    EXPECT_LE(farthest(b.state().vertex_position, c.state().vertex_position) / size, s.allowed);
    EXPECT_GT(farthest(a.state().vertex_position, here.initial_state().vertex_position), 1e-3 * size) << "something must happen";
  }
}

/// By a path of its own: motions, linking, energy and momentum.
TEST(DeviceContact, TheCertificateHolds) {
  const std::vector<SmallScene> scenes{
      {"incline", {}, 30, 0},
      {"knit_twist", {"/structures/0/rows=3", "/structures/0/stitches=3"}, 40, 0},
      {"knit_twist", {"/structures/0/rows=3", "/structures/0/stitches=3", "/execution/precision=\"float\""}, 20, 0},
  };
  for (const SmallScene& s : scenes) {
    SCOPED_TRACE(s.name);
    Simulation simulation(contact_scene(s.name, "cuda_twin", s.changes));
    simulation.certify();
    for (int i = 0; i < s.steps; ++i) ASSERT_NO_THROW(simulation.step());
    EXPECT_EQ(simulation.certificate().steps, s.steps);
  }
}

TEST(DeviceContact, TheDeviceMovesAsItsTwinDoesAndRepeatsItself) {
  if (!cuda_device().is_there) GTEST_SKIP() << "no CUDA device";
  for (const char* name : {"incline", "knot_tighten", "braid"}) {
    SCOPED_TRACE(name);
    const Scene there = contact_scene(name, "cuda", {});
    Simulation a(contact_scene(name, "cuda_twin", {})), b(there), c(there);
    a.run_ahead(40), b.run_ahead(40), c.run_ahead(40);
    EXPECT_LE(farthest(a.state().vertex_position, b.state().vertex_position), 1e-9 * extent(a.state()));
    EXPECT_TRUE(identical(b.state(), c.state()));
  }
}

}  // namespace
}  // namespace osier::test

// Motion from files: tables, prims and animated curves.
#include "io/motion_file.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "forces/file_motion.hpp"
#include "math/vec3.hpp"
#include "osier/osier.hpp"
#include "support/files.hpp"

namespace osier::test {
namespace {

std::string what_is_wrong(const std::string& name, const std::string& text, const MotionRequest& request = {}) {
  const TemporaryFolder folder;
  try {
    read_motion(folder.write(name, text), request);
  } catch (const InputError& e) {
    return e.problems()[0].where.substr(e.problems()[0].where.rfind('/') + 1) + ": " + e.problems()[0].what;
  }
  return "";
}

TEST(MotionTable, IsReadWithAndWithoutAHeader) {
  const TemporaryFolder folder;
  const RecordedMotion plain = read_motion(folder.write("a.csv", "# a gripper\n0 1 2 3\n0.5,2,3,4\n\n"), {});
  EXPECT_EQ(plain.times, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(plain.position[1].z, 4);
  EXPECT_FALSE(plain.has_rotation);
  const RecordedMotion named = read_motion(
      folder.write("b.csv", "z [m];y;x;time [s];qw;qx;qy;qz\n3;2;1;0;1;0;0;0\n3;2;1;1;-0.6;0;0;-0.8\n"), {.scale = 0.1});
  EXPECT_DOUBLE_EQ(named.position[0].x, 0.1);
  EXPECT_DOUBLE_EQ(named.position[0].z, 0.3);
  EXPECT_NEAR(named.rotation[1].w, 0.6, 1e-15) << "on the side of the one before";
  const RecordedMotion turned = read_motion(folder.write("c.csv", "0 1 2 3\n"), {.up = UpAxis::z});
  EXPECT_EQ(turned.position[0].y, 3);
  EXPECT_EQ(turned.position[0].z, -2);
}

TEST(MotionTable, NamesTheLineThatIsWrong) {
  EXPECT_EQ(what_is_wrong("a.csv", "0 1 2 3\n1 2 x 4\n").substr(0, 12), "a.csv, line ");
  EXPECT_NE(what_is_wrong("a.csv", "0 1 2 3\n0 1 2 3\n").find("line 2: the time 0 does not increase"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "0 1 2\n").find("line 1: has 3 numbers"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "time x y z\n0 1 2\n").find("line 2: has 3 columns"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "time x y\n0 1 2\n").find("the header has no `z`"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "time x y z qx\n0 1 2 3 4\n").find("part of a quaternion"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "0 1 2 3 0 0 0 2\n").find("not of length 1"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "0 0 0 0 0 0 0 1\n1 0 0 0 0 0 1 0\n").find("turns by 180 degrees"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "0 1 nan 3\n").find("not finite"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "").find("has no rows"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.csv", "0 1 2 3\n", {.prim = "/A"}).find("has no prims"), std::string::npos);
  EXPECT_NE(what_is_wrong("a.bvh", "0 1 2 3\n").find("not a file of motions"), std::string::npos);
}

constexpr const char* kGripper = R"(#usda 1.0
(
  metersPerUnit = 0.01
  upAxis = "Z"
  timeCodesPerSecond = 10
)
def Xform "World" {
  double3 xformOp:translate = (0, 0, 100)
  uniform token[] xformOpOrder = ["xformOp:translate"]
  def Xform "Gripper" {
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 10: (50, 0, 0) }
    float xformOp:rotateZ.timeSamples = { 0: 0, 5: 45, 10: 90 }
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
  }
}
)";

TEST(MotionOfAPrim, IsThatOfItsSpaceInMetresWithYUp) {
  const TemporaryFolder folder;
  const RecordedMotion m = read_motion(folder.write("g.usda", kGripper), {.prim = "/World/Gripper"});
  EXPECT_EQ(m.times, (std::vector<double>{0, 0.5, 1}));
  EXPECT_NEAR(norm(m.position[0] - Vec3d{0, 1, 0}), 0, 1e-15);
  EXPECT_NEAR(norm(m.position[2] - Vec3d{0.5, 1, 0}), 0, 1e-15);
  const Quatd turn = m.rotation[2] * conj(m.rotation[0]);  // about the file's z, which is y here
  EXPECT_NEAR(norm(rotate(turn, Vec3d{0, 0, 1}) - Vec3d{1, 0, 0}), 0, 1e-7);
  EXPECT_NE(what_is_wrong("g.usda", kGripper, {.prim = "Griper"}).find("has no prim"), std::string::npos);
  EXPECT_NE(what_is_wrong("g.usda", kGripper, {.prim = "World"}).find("does not move"), std::string::npos);
}

TEST(Samples, CubicsMeetThemAndFollowAParabolaExactly) {
  const std::vector<double> times{0, 0.3, 1, 1.2, 2};
  const auto at = [&](double t, SampleInterpolation how) {
    const SampleWeights w = sample_weights(times, t, how);
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += w.weight[k] * (3 + times[w.at[k]] - 2 * times[w.at[k]] * times[w.at[k]]);
    return sum;
  };
  for (double t : {0.3, 1.0, 1.2}) EXPECT_NEAR(at(t, SampleInterpolation::cubic), 3 + t - 2 * t * t, 1e-14);
  for (double t : {0.4, 0.99, 1.1}) EXPECT_NEAR(at(t, SampleInterpolation::cubic), 3 + t - 2 * t * t, 1e-13);
  EXPECT_EQ(at(-1, SampleInterpolation::cubic), 3);
  EXPECT_EQ(at(9, SampleInterpolation::cubic), -3);
  EXPECT_NEAR(at(0.65, SampleInterpolation::linear),
              0.5 * (at(0.3, SampleInterpolation::linear) + at(1, SampleInterpolation::linear)), 1e-14);
}

std::string scene(const std::string& constraints) {
  return R"({"rods": [{"name": "a", "shape": {"type": "line", "from": [1, 0, 0], "to": [1, -1, 0]}, "segments": 4,
    "material": {"young": 1e6, "density": 1000, "radius": 0.01}}, {"name": "b", "shape": {"type": "line", "from": [2, 0, 0], "to": [2, -1, 0]},
    "segments": 4, "material": {"young": 1e6, "density": 1000, "radius": 0.01}}], "constraints": [)" +
         constraints + R"(], "analysis": {"type": "dynamic", "step": 0.01, "duration": 1}})";
}

TEST(MotionFromAFile, LeadsWhatIsHeldAsABody) {
  const TemporaryFolder folder;
  const double s = std::sqrt(0.5);
  folder.write("m.csv", "0 1 0 0 0 0 0 1\n0.5 1 0 1 0 0 " + std::to_string(s) + " " + std::to_string(s) + "\n");
  Simulation simulation(
      Scene::parse(scene(R"({"type": "clamp", "vertices": ["a:0", "b:0"], "motion": {"file": "m.csv"}})"), "m", folder.path()));
  const Quatd before = simulation.state().frame_rotation.at(8);
  while (simulation.state().time < 0.5 - 1e-9) simulation.step();
  // A quarter turn about z around (1, 0, 0), and 1 m along z.
  EXPECT_NEAR(norm(simulation.state().vertex_position[0] - Vec3d{1, 0, 1}), 0, 1e-6);
  EXPECT_NEAR(norm(simulation.state().vertex_position[5] - Vec3d{1, 1, 1}), 0, 1e-6);
  const Vec3d d3 = director3(simulation.state().frame_rotation.at(8));
  EXPECT_NEAR(norm(d3 - rotate(axis_angle(Vec3d{0, 0, 1}, std::numbers::pi / 2), director3(before))), 0, 1e-6);
}

TEST(MotionFromAFile, IsTheSameWhateverTheStep) {
  const TemporaryFolder folder;
  folder.write("m.csv", "0 0 0 0\n0.31 0.2 0 0\n0.5 0.3 0.1 0\n0.77 0.1 0 0.4\n1 0 0 0\n");
  std::vector<Vec3d> places;
  for (const char* step : {"/analysis/step=0.01", "/analysis/step=0.0333"}) {
    LoadOptions options;
    options.overrides = {step};
    Simulation s(Scene::parse(scene(R"({"type": "pin", "vertices": ["a:0", "b:0"], "motion": {"file": "m.csv"}})"), "m",
                              folder.path(), options));
    while (s.state().time < 0.6 - 1e-9) s.step();
    places.push_back(s.state().vertex_position[5]);
  }
  EXPECT_NEAR(norm(places[0] - places[1]), 0, 1e-12);
}

constexpr const char* kScalp = R"(#usda 1.0
(
  metersPerUnit = 1
  upAxis = "Y"
  timeCodesPerSecond = 10
)
def BasisCurves "Hair" {
  uniform token type = "linear"
  int[] curveVertexCounts = [2, 2]
  point3f[] points.timeSamples = {
    0: [(1, 0, 0), (1, -1, 0), (2, 0, 0), (2, -1, 0)],
    5: [(1, 0.5, 0), (1, -0.5, 0), (2, 0, 3), (3, 0, 3)],
  }
}
)";

TEST(MotionFromAFile, LeadsEachVertexByThePointOfTheCurvesAtItsPlace) {
  const TemporaryFolder folder;
  folder.write("hair.usda", kScalp);
  Simulation s(Scene::parse(scene(R"({"type": "pin", "vertices": ["a:0", "b:0"], "motion": {"file": "hair.usda"}},
    {"type": "fix", "segments": ["a:0", "b:0"], "motion": {"file": {"file": "hair.usda", "interpolation": "linear"}}})"),
                            "m", folder.path()));
  while (s.state().time < 0.5 - 1e-9) s.step();
  EXPECT_NEAR(norm(s.state().vertex_position[0] - Vec3d{1, 0.5, 0}), 0, 1e-12);
  EXPECT_NEAR(norm(s.state().vertex_position[5] - Vec3d{2, 0, 3}), 0, 1e-12);
  EXPECT_NEAR(norm(director3(s.state().frame_rotation[0]) - Vec3d{0, -1, 0}), 0, 1e-12);
  EXPECT_NEAR(norm(director3(s.state().frame_rotation[4]) - Vec3d{1, 0, 0}), 0, 1e-12) << "with its curve";
}

TEST(MotionFromAFile, SaysWhatDoesNotFit) {
  const TemporaryFolder folder;
  folder.write("hair.usda", kScalp);
  folder.write("m.csv", "0 0 0 0\n");
  const auto complaint = [&](const std::string& constraint) -> std::string {
    try {
      Scene::parse(scene(constraint), "m", folder.path());
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(complaint(R"({"type": "pin", "vertices": "a:1", "motion": {"file": "hair.usda"}})")
                .find("no point of the curves lies within"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"type": "fix", "segments": "a:0", "motion": {"file": "m.csv"}})").find("has no turns"),
            std::string::npos);
  EXPECT_NE(
      complaint(R"({"type": "pin", "vertices": "a:0", "motion": {"file": "m.csv", "translate": [0, 0, 1]}})").find("keep one"),
      std::string::npos);
  EXPECT_NE(complaint(R"({"type": "pin", "vertices": "a:0", "motion": {"file": "none.csv"}})").find("does not exist"),
            std::string::npos);
}

}  // namespace
}  // namespace osier::test

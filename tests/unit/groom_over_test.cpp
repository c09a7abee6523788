// A run laid over the groom it came from: the same prims, in their own space, unit and up axis; and binary USD by way of text.
#include "io/groom_over.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/usd_binary.hpp"
#include "math/vec3.hpp"
#include "osier/curves.hpp"
#include "osier/osier.hpp"
#include "support/files.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

/// In centimetres, z up, on a head that turns and is twice as large: polylines, of which one is left out, and splines.
constexpr const char* kGroom = R"(#usda 1.0
(
    metersPerUnit = 0.01
    timeCodesPerSecond = 48
    upAxis = "Z"
)
def Xform "World"
{
    def Xform "Head"
    {
        double3 xformOp:translate = (10, 20, 150)
        float xformOp:rotateZ.timeSamples = { 0: 30, 48: 90 }
        double3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ", "xformOp:scale"]
        def BasisCurves "Brows"
        {
            uniform token type = "linear"
            int[] curveVertexCounts = [4, 3, 4]
            point3f[] points = [(0,0,0), (2,0,0), (4,0,0), (6,0,0), (0,9,0), (2,9,0), (4,9,1), (0,3,0), (2,3,0.5), (4,3,0.5), (6,3,0)]
            float[] widths = [0.2] ( interpolation = "constant" )
            color3f[] primvars:displayColor = [(0.1, 0.05, 0.02)]
        }
        def BasisCurves "Hair"
        {
            uniform token type = "cubic"
            uniform token basis = "catmullRom"
            uniform token wrap = "pinned"
            int[] curveVertexCounts = [5, 4]
            point3f[] points = [(0,0,1), (1,0,2), (2,1,3), (3,1,3), (4,0,4), (0,5,1), (1,5,2), (2,6,3), (3,5,3)]
        }
    }
}
)";

class GroomOverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_over_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "groom.usda") << kGroom;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Trajectory run(const std::string& edits = {}) const {
    const std::string scene = R"({"materials": {"m": {"young": 1e7, "density": 1000, "radius": 0.002}},
      "structures": [{"type": "curves", "name": "h", "file": "groom.usda", "material": "m")" +
                              edits + R"(}], "forces": [{"type": "gravity"}],
      "constraints": [{"type": "pin", "vertices": "h.starts:*"}],
      "analysis": {"type": "dynamic", "duration": 0.2, "step": 0.01, "fps": 50}})";
    RunOptions options;
    options.folder = folder_ / "run";
    run_scene(Scene::parse(scene, "hair", folder_), options);
    return Trajectory::open(folder_ / "run");
  }
  GroomOverReport write(Trajectory& trajectory) const {
    return write_groom_over(trajectory,
                            {.groom = folder_ / "groom.usda", .out = folder_ / "sim.usda", .frames = {0, 10}, .version = "x"});
  }
  CurveSet layered(double time) const { return read_curves(folder_ / "sim.usda", {.frame = {}, .time = time}); }
  std::string text() const { return test::read_text(folder_ / "sim.usda"); }

  fs::path folder_;
};

double farthest(std::span<const Vec3d> a, std::span<const Vec3d> b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, norm(a[i] - b[i]));
  return most;
}

TEST_F(GroomOverTest, ThePrimsOfTheGroomMoveAsTheRodsDidWhateverSpaceTheyAreIn) {
  Trajectory trajectory = run(R"(, "select": "Brows_0,Brows_2,Hair*", "scale": 0.5, "move": [0.3, 0, -0.2])");
  const GroomOverReport report = write(trajectory);
  EXPECT_EQ(report.prims, 2U);
  EXPECT_EQ(report.curves, 4U);
  EXPECT_EQ(report.still, 1U);
  EXPECT_TRUE(report.resampled.empty());
  const std::string layer = text();
  EXPECT_NE(layer.find("upAxis = \"Z\""), std::string::npos);
  EXPECT_NE(layer.find("metersPerUnit = 0.01"), std::string::npos);
  EXPECT_NE(layer.find("@./groom.usda@"), std::string::npos);
  EXPECT_EQ(layer.find("def "), std::string::npos) << "it only adds to prims that are there";
  EXPECT_EQ(layer.find("curveVertexCounts"), std::string::npos);
  // Read back with everything that lies below: the edits of the scene bring its curves to where the rods were.
  CurveEdits edits;
  edits.scale = 0.5;
  for (const auto& [frame, code] : {std::pair{0, 0.0}, {10, 9.6}}) {
    CurveSet all = layered(code);
    ASSERT_EQ(all.size(), 5U);
    const CurveSet groom = read_curves(folder_ / "groom.usda", {.frame = {}, .time = code});
    EXPECT_LT(farthest(all.curve(1), groom.curve(1)), 1e-6) << "the curve that the scene left out stays on its head";
    const CurveSet now = edit_curves(all, edits);
    const std::span<const Vec3d> x = trajectory.positions(frame);
    const std::array<std::size_t, 4> curve{0, 2, 3, 4};
    double moved = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      std::vector<Vec3d> rod, there;
      for (const Index v : trajectory.model().rods[j].vertices)
        rod.push_back(x[static_cast<std::size_t>(v)] - Vec3d{0.3, 0, -0.2});
      for (const Vec3d& p : now.curve(curve[j])) there.push_back(p);
      // Polylines are exact to the float of the file; splines as near as splines of so few points can be.
      EXPECT_LT(farthest(there, rod), j < 2        ? 2e-6
                                      : frame == 0 ? 2e-6
                                                   : 1.2 * report.largest_error + 2e-6)
          << j << " at " << code;
      moved = std::max(moved, norm(rod.back() - Vec3d{}));
    }
    EXPECT_GT(moved, 0);
  }
  EXPECT_LT(report.largest_error, 0.01);
}

TEST_F(GroomOverTest, ResampledCurvesBecomePolylinesWithTheirOwnCountsAndWidths) {
  Trajectory trajectory = run(R"(, "segments": 12)");
  const GroomOverReport report = write(trajectory);
  EXPECT_EQ(report.resampled, (std::vector<std::string>{"/World/Head/Brows", "/World/Head/Hair"}));
  const CurveSet now = layered(9.6);
  const std::span<const Vec3d> x = trajectory.positions(10);
  for (std::size_t k = 0; k < 5; ++k) {
    std::vector<Vec3d> rod;
    for (const Index v : trajectory.model().rods[k].vertices) rod.push_back(x[static_cast<std::size_t>(v)]);
    EXPECT_LT(farthest(now.curve(k), rod), 3e-6) << k;
  }
  // 0.2 cm, twice as large: the width of the brows is the groom's.
  EXPECT_NEAR(now.widths.at(now.start[0]), 0.004, 1e-6);
}

TEST_F(GroomOverTest, AnotherFileOrAChangedOneIsRefused) {
  Trajectory trajectory = run();
  std::ofstream(folder_ / "other.usda") << kGroom;
  EXPECT_THROW(
      write_groom_over(trajectory, {.groom = folder_ / "other.usda", .out = folder_ / "x.usda", .frames = {0}, .version = {}}),
      InputError);
  std::string fewer = kGroom;
  fewer.replace(fewer.find("[4, 3, 4]"), 9, "[4, 7]   ");
  std::ofstream(folder_ / "groom.usda") << fewer;
  EXPECT_THROW(write(trajectory), InputError);
  EXPECT_FALSE(fs::exists(folder_ / "sim.usda"));
}

TEST_F(GroomOverTest, AUsdFileThatIsTextIsReadAsText) {
  fs::copy_file(folder_ / "groom.usda", folder_ / "groom.usd");
  EXPECT_EQ(read_curves(folder_ / "groom.usd").points.size(), read_curves(folder_ / "groom.usda").points.size());
}

}  // namespace
}  // namespace osier

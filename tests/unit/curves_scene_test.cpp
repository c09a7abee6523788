// Curve files as rods of a scene: the structure `curves` and the shape `polyline`.
#include <fstream>
#include <gtest/gtest.h>
#include <set>

#include "osier/scene.hpp"
#include "scene/setup.hpp"

namespace osier {
namespace {

class CurveScene : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / (std::string("osier_curves_") + test->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder / name, std::ios::binary) << text; }

  static std::string scene(const std::string& body) {
    return R"({"materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.01}}, )" + body + "}";
  }
  static std::string curves(const std::string& file, const std::string& more = "") {
    return scene(R"("structures": [{"type": "curves", "name": "c", "material": "m", "file": ")" + file + "\"" + more + "}]");
  }
  static std::string rod(const std::string& file, const std::string& more = "") {
    return scene(R"("rods": [{"name": "r", "material": "m", "shape": {"type": "polyline", "file": ")" + file + "\"" + more +
                 "}}]");
  }

  Scene load(const std::string& text) const { return Scene::parse(text, "test", folder); }

  /// "pointer: what", all of them.
  std::vector<std::string> complaints(const std::string& text) const {
    std::vector<std::string> list;
    try {
      load(text);
    } catch (const InputError& error) {
      for (const Problem& p : error.problems()) {
        list.push_back(p.where + ": " + p.what);
        EXPECT_FALSE(p.remedy.empty()) << p.what;
      }
    }
    return list;
  }
  void expect_complaint(const std::string& text, const std::string& where, const std::string& words) const {
    const auto list = complaints(text);
    ASSERT_EQ(list.size(), 1u) << (list.empty() ? "no complaint" : list[1]);
    EXPECT_TRUE(list[0].starts_with(where + ": ")) << list[0];
    EXPECT_NE(list[0].find(words), std::string::npos) << list[0];
  }

  static const RodInfo& piece(const Scene& s, const std::string& name) {
    for (const RodInfo& r : s.model().rods)
      if (r.name == name) return r;
    throw std::runtime_error("no rod " + name);
  }

  std::filesystem::path folder;
};

constexpr const char* kCross =
    "o warp\nv -1 0 0\nv 0 0 0\nv 1 0 0\no weft\nv 0 -2 0\nv 0 2 0\no warp\nl 1 2 3\no weft\nl 4 2 5\no loop\nv 5 0 0\nv 6 0 "
    "0\nv 6 1 0\nl 6 "
    "7\nl 7 8\nl 8 6\n";

TEST_F(CurveScene, EachCurveIsARodNamedAsInTheFile) {
  write("a.obj", kCross);
  const Scene s = load(curves("a.obj"));
  EXPECT_EQ(s.model().vertex_mass.size(), 8u);  // the crossing is one vertex
  EXPECT_EQ(piece(s, "c.warp").vertices[1], piece(s, "c.weft").vertices[1]);
  EXPECT_TRUE(piece(s, "c.loop").closed);
  EXPECT_EQ(piece(s, "c.loop").segments.size(), 3u);
  EXPECT_EQ(piece(s, "c.starts").vertices.size(), 2u);
  EXPECT_EQ(piece(s, "c.ends").vertices[0], piece(s, "c.warp").vertices[2]);
  // Mass: 1000 kg/m³ times the area times 2 m, half of each segment at each end.
  const double line = 1000 * 3.14159265358979 * 1e-4;
  EXPECT_NEAR(s.model().vertex_mass[static_cast<std::size_t>(piece(s, "c.warp").vertices[1])], line * (1 + 2), 1e-9);
  EXPECT_EQ(s.setup().materials[0].segments, 7);
}

TEST_F(CurveScene, SharedVerticesKeepTheirAnglesUnlessToldOtherwise) {
  write("a.obj", kCross);
  const auto joints = [&](const std::string& more) { return load(curves("a.obj", more)).model().joint_frames.size(); };
  // Along the rods 1 + 1 + 3; at the crossing each of two segments with each of two.
  EXPECT_EQ(joints(""), 5u + 4u);
  EXPECT_EQ(joints(R"(, "knots": false)"), 5u);
}

TEST_F(CurveScene, EditsAreMadeBeforeTheRods) {
  write("a.obj", kCross);
  const Scene s =
      load(curves("a.obj", R"(, "select": "w*", "up": "z", "scale": 0.1, "segment_length": 0.05, "move": [0, 1, 0])"));
  const RodInfo& weft = piece(s, "c.weft");
  EXPECT_EQ(weft.segments.size(), 8u);
  EXPECT_EQ(piece(s, "c.warp").segments.size(), 4u);
  EXPECT_EQ(weft.vertices[4], piece(s, "c.warp").vertices[2]);  // resampling keeps the crossing
  const Vec3d start = s.initial_state().vertex_position[static_cast<std::size_t>(weft.vertices[0])];
  EXPECT_NEAR(start.y, 1, 1e-15);
  EXPECT_NEAR(start.z, 0.2, 1e-15);
}

TEST_F(CurveScene, EndsNearEachOtherAreWelded) {
  write("a.csv", "x,y,z,name\n0,0,0,a\n1,0,0,a\n1.001,0,0,b\n2,0,0,b\n");
  const Scene s = load(curves("a.csv", R"(, "weld": 0.01)"));
  EXPECT_EQ(s.model().vertex_mass.size(), 3u);
  EXPECT_EQ(s.model().joint_frames.size(), 1u);
}

TEST_F(CurveScene, WidthsBecomeRadii) {
  write("a.csv", "0 0 0 0.02\n1 0 0 0.02\n2 0 0 0.06\n");
  const Scene s = load(curves("a.csv", R"(, "radius": "from_file")"));
  const auto& radius = s.model().vertex_radius;
  EXPECT_NEAR(radius[0], 0.01, 1e-15);
  EXPECT_NEAR(radius[2], 0.02, 1e-15);  // the mean of 0.01 and 0.03
  // EA goes with the square of the radius.
  EXPECT_NEAR(s.model().segment_stiffness[1].d3 / s.model().segment_stiffness[0].d3, 4, 1e-12);
  EXPECT_NEAR(s.setup().materials[0].thickest, 2, 1e-12);
  EXPECT_NEAR(load(curves("a.csv")).model().vertex_radius[2], 0.01, 1e-15);
}

TEST_F(CurveScene, NamesAreMadeUnique) {
  write("a.csv", "x,y,z,name\n0,0,0,a\n1,0,0,a\n\n0,1,0,a\n1,1,0,a\n\n0,2,0,starts\n1,2,0,starts\n");
  const Scene s = load(curves("a.csv"));
  EXPECT_EQ(piece(s, "c.a_0").vertices.size() + piece(s, "c.a_1").vertices.size(), 4u);
  EXPECT_EQ(piece(s, "c.starts_0").vertices.size(), 2u);
  write("b.csv", "0 0 0 1 7\n1 0 0 1 7\n0 1 0 1 9\n1 1 0 1 9\n");
  EXPECT_EQ(piece(load(curves("b.csv")), "c.9").vertices.size(), 2u);
  write("d.csv", "0 0 0\n1 0 0\n\n0 1 0\n1 1 0\n");
  EXPECT_EQ(piece(load(curves("d.csv")), "c.1").vertices.size(), 2u);
}

TEST_F(CurveScene, WhatIsWrongIsSaidAtItsKey) {
  write("a.csv", "0 0 0\n1 0 0\n\n5 5 5\n");
  expect_complaint(curves("nope.bcc"), "/structures/0/file", "does not exist");
  write("a.png", "PNG");
  expect_complaint(curves("a.png"), "/structures/0/file", "not a curve format");
  expect_complaint(curves("a.csv"), "/structures/0/file", "curve 1 has 1 points");
  expect_complaint(curves("a.csv", R"(, "select": "7")"), "/structures/0/select", "`7` is not a curve");
  expect_complaint(curves("a.csv", R"(, "select": "0", "radius": "from_file")"), "/structures/0/radius", "no widths");
  expect_complaint(curves("a.csv", R"(, "select": "0", "frame": 2)"), "/structures/0/file", "do not move");
  expect_complaint(curves("a.csv", R"(, "select": "0", "weld": 5)"), "/structures/0/weld", "both ends of curve 0");
  write("bad.csv", "0 0 0\n1 x 0\n");
  expect_complaint(curves("bad.csv"), "/structures/0/file", "line 2");
  write("double.csv", "0 0 0 1\n1 0 0 0\n1 0 0 0\n2 0 0 1\n");
  expect_complaint(curves("double.csv"), "/structures/0/file", "point 2 of curve 0 coincides");
  expect_complaint(curves("double.csv", R"(, "segments": 2, "radius": "from_file")"), "/structures/0/radius",
                   "point 1 of curve 0 has no width");
}

TEST_F(CurveScene, AllProblemsComeTogether) {
  write("a.csv", "0 0 0\n1 0 0\n");
  const auto list = complaints(scene(
      R"("structures": [{"type": "curves", "material": "mm", "file": "nope.obj"},
                        {"type": "curves", "name": "d", "material": "m", "file": "a.csv", "select": "3,x", "segments": 4, "segment_length": 1},
                        {"type": "curves", "name": "e", "material": "m", "file": "a.csv", "scale": -1, "fiel": 1}])"));
  std::set<std::string> where;
  for (const std::string& line : list) where.insert(line.substr(0, line.find(": ")));
  EXPECT_EQ(where, (std::set<std::string>{"/structures/0/material", "/structures/0/file", "/structures/1/segments",
                                          "/structures/1/select", "/structures/2/scale", "/structures/2/fiel"}));
}

TEST_F(CurveScene, AShapeIsOneCurveOfAnyFile) {
  write("a.obj", kCross);
  const Scene s = load(rod("a.obj", R"(, "select": "weft", "scale": 0.5)"));
  EXPECT_EQ(s.model().vertex_mass.size(), 3u);
  EXPECT_NEAR(s.initial_state().vertex_position[2].y, 1, 1e-15);
  EXPECT_TRUE(piece(load(rod("a.obj", R"(, "select": "loop")")), "r").closed);
  // Opened by hand, a loop keeps its length.
  EXPECT_EQ(piece(load(rod("a.obj", R"(, "select": "loop", "closed": false)")), "r").segments.size(), 3u);
  expect_complaint(rod("a.obj"), "/rods/0/shape/file", "has 3 curves");
  expect_complaint(rod("a.obj", R"(, "select": "w*")"), "/rods/0/shape/select", "has 2 curves");
  expect_complaint(rod("a.obj", R"(, "select": "wool")"), "/rods/0/shape/select", "`wool` is not a curve");
}

TEST_F(CurveScene, AShapeOfTextIsOneCurveWhateverItsExtension) {
  for (const char* name : {"a.txt", "a.points", "a"}) {
    write(name, "0 0 0\n1 0 0\n\n2 0 0\n");
    EXPECT_EQ(load(rod(name)).model().vertex_mass.size(), 3u) << name;
  }
  write("b.csv", "x,y,z,name\n0,0,0,a\n1,0,0,a\n0,1,0,b\n1,1,0,b\n2,1,0,b\n");
  EXPECT_EQ(load(rod("b.csv", R"(, "select": "b")")).model().vertex_mass.size(), 3u);
  expect_complaint(rod("b.csv"), "/rods/0/shape/file", "has 2 curves");
}

}  // namespace
}  // namespace osier

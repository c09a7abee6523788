// Rods as curves, tubes around them, yarn and strands: geometry that can be said in a sentence.
#include "io/curve_frame.hpp"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numbers>
#include <set>

#include "io/edit_frames.hpp"
#include "io/guides.hpp"
#include "io/tubes.hpp"
#include "io/yarn.hpp"
#include "math/quat.hpp"
#include "osier/error.hpp"
#include "osier/scene.hpp"

namespace osier {
namespace {

/// A ring of n points of radius R around y, and a line along x.
CurveFrame ring(int n, double radius) {
  CurveFrame f;
  for (int i = 0; i < n; ++i) {
    const double a = 2 * std::numbers::pi * i / n;
    f.curves.points.push_back({radius * std::cos(a), 0, radius * std::sin(a)});
    f.curves.widths.push_back(0.1);
    f.normals.push_back({0, 1, 0});
  }
  f.curves.start = {0, static_cast<std::size_t>(n)}, f.curves.closed = {1};
  return f;
}

CurveFrame line(int n, double twist = 0) {
  CurveFrame f;
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) / (n - 1);
    f.curves.points.push_back({x, 0, 0});
    f.curves.widths.push_back(0.1);
    f.normals.push_back({0, std::cos(twist * x), std::sin(twist * x)});
  }
  f.curves.start = {0, static_cast<std::size_t>(n)}, f.curves.closed = {0};
  return f;
}

/// By the divergence theorem.
double volume(const TubeMesh& mesh) {
  double v = 0;
  for (const auto& t : mesh.triangles) v += dot(mesh.positions[t[0]], cross(mesh.positions[t[1]], mesh.positions[t[2]])) / 6;
  return v;
}

/// Every edge is shared by two triangles that run through it in opposite ways, places counting and not numbers.
void expect_watertight(const TubeMesh& mesh) {
  std::map<std::array<long, 3>, int> place;
  const auto id = [&](std::uint32_t i) {
    const Vec3d& x = mesh.positions[i];
    return place
        .emplace(std::array{std::lround(x.x * 1e9), std::lround(x.y * 1e9), std::lround(x.z * 1e9)},
                 static_cast<int>(place.size()))
        .first->second;
  };
  std::map<std::pair<int, int>, int> edges;
  for (const auto& t : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) ++edges[{id(t[i]), id(t[(i + 1) % 3])}];
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1);
    const auto other = edges.find({edge.second, edge.first});
    ASSERT_NE(other, edges.end()) << "an open edge";
  }
}

TEST(TubesTest, AClosedTubeAndACappedOneAreWatertightWithTheVolumeOfTheirPrisms) {
  const int sides = 24;
  const double area = 0.5 * sides * std::sin(2 * std::numbers::pi / sides) * 0.05 * 0.05;  // of the polygon
  const TubeMesh open = tube_mesh(line(5), sides, 1);
  expect_watertight(open);
  EXPECT_NEAR(volume(open), area, 1e-12) << "length 1";
  const TubeMesh closed = tube_mesh(ring(400, 1), sides, 1);
  expect_watertight(closed);
  EXPECT_NEAR(volume(closed), area * 2 * std::numbers::pi, 1e-4 * area * 2 * std::numbers::pi) << "Pappus";
}

TEST(TubesTest, TheSeamFollowsTheTwistOfTheRod) {
  const int n = 9, sides = 12;
  const double twist = std::numbers::pi;
  const TubeMesh mesh = tube_mesh(line(n, twist), sides, 1);
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) / (n - 1);
    const auto v = static_cast<std::size_t>(i * (sides + 1));
    EXPECT_EQ(mesh.uvs[v][0], 0);
    EXPECT_NEAR(mesh.uvs[v][1], x / (std::numbers::pi * 0.1), 1e-12);
    EXPECT_NEAR(mesh.normals[v].y, std::cos(twist * x), 1e-12);
    EXPECT_NEAR(mesh.normals[v].z, std::sin(twist * x), 1e-12);
  }
}

TEST(TubesTest, NormalsPointOutwardsAndAreUnitVectors) {
  const TubeMesh mesh = tube_mesh(line(6, 2), 7, 1);
  for (const auto& t : mesh.triangles) {
    const Vec3d face = cross(mesh.positions[t[1]] - mesh.positions[t[0]], mesh.positions[t[2]] - mesh.positions[t[0]]);
    for (const std::uint32_t i : t) {
      EXPECT_GT(dot(face, mesh.normals[i]), 0);
      EXPECT_NEAR(norm(mesh.normals[i]), 1, 1e-12);
    }
  }
}

TEST(TubesTest, PointsThatCoincideAndCurvesOfOnePointMakeNoNonsense) {
  CurveFrame f;
  f.curves.points = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {5, 5, 5}};
  f.curves.start = {0, 4, 5, 5}, f.curves.closed = {0, 0, 0};
  const TubeMesh mesh = tube_mesh(f, 6, 0.1);
  EXPECT_EQ(mesh.triangles.size(), 3U * 6 * 2 + 2 * 6);
  for (std::size_t i = 0; i < mesh.positions.size(); ++i) EXPECT_TRUE(is_finite(mesh.positions[i]) && is_finite(mesh.normals[i]));
}

TEST(NormalsTest, AroundAClosedCurveTheyCloseUp) {
  CurveFrame f = ring(50, 1);
  for (std::size_t i = 0; i < 50; ++i) f.curves.points[i].y = 0.4 * std::sin(4 * std::numbers::pi * static_cast<double>(i) / 50);
  const std::vector<Vec3d> normal = untwisted_normals(f.curves), tangent = tangents(f.curves);
  double largest = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_NEAR(dot(normal[i], tangent[i]), 0, 1e-9);
    largest = std::max(largest, norm(normal[(i + 1) % 50] - normal[i]));
  }
  EXPECT_LT(largest, 0.25) << "a jump where the loop closes";
}

Model broken_rod() {
  Model m;
  m.vertex_mass.assign(5, 1), m.vertex_radius.assign(5, 0.01), m.vertex_alive.assign(5, 1);
  m.segment_vertices = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  m.segment_strain_limit.assign(4, std::numeric_limits<double>::infinity());
  m.segment_strain_limit[1] = 0.1;
  m.rods = {{.name = "rod", .vertices = {0, 1, 2, 3, 4}, .segments = {0, 1, 2, 3}, .joints = {}, .closed = false}};
  return m;
}

TEST(RodCurvesTest, ARodFallsIntoPiecesOrKeepsItsCurvesWithTheBrokenSegmentShrunk) {
  const Model m = broken_rod();
  const std::vector<Vec3d> x{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}}, v(5);
  const std::vector<Quatd> q(4);
  const std::vector<std::uint8_t> whole(4, 1), broken{1, 0, 1, 1};
  const RodCurves rods(m);
  const auto frame = [&](const std::vector<std::uint8_t>& alive) {
    return Frame{.index = 3, .time = 0.5, .vertex_position = x, .vertex_velocity = v, .segment_frame = q, .segment_alive = alive};
  };
  EXPECT_EQ(rods.split(frame(whole)).curves.start, (std::vector<std::size_t>{0, 5}));
  const CurveFrame pieces = rods.split(frame(broken));
  EXPECT_EQ(pieces.curves.start, (std::vector<std::size_t>{0, 2, 5}));
  EXPECT_EQ(pieces.curves.names, (std::vector<std::string>{"rod", "rod"}));
  EXPECT_EQ(pieces.index, 3);
  const CurveFrame before = rods.constant(frame(whole)), after = rods.constant(frame(broken));
  EXPECT_TRUE(same_topology(before.curves, after.curves));
  EXPECT_EQ(before.curves.start, (std::vector<std::size_t>{0, 2, 4, 7}));
  EXPECT_EQ(before.curves.points[3].x, 2);
  EXPECT_EQ(after.curves.points[3].x, 1) << "shrunk to its first end";
  EXPECT_EQ(after.curves.widths[3], 0);
}

TEST(RodCurvesTest, ARingThatBreaksBecomesOneOpenCurveAcrossItsSeam) {
  Model m = broken_rod();
  m.segment_vertices = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}};
  m.segment_strain_limit.assign(5, 0.1);
  m.rods[0].segments = {0, 1, 2, 3, 4}, m.rods[0].closed = true;
  const std::vector<Vec3d> x{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}};
  const std::vector<Quatd> q(5);
  const std::vector<std::uint8_t> broken{1, 1, 0, 1, 1};
  const CurveFrame f =
      RodCurves(m).split({.vertex_position = x, .vertex_velocity = x, .segment_frame = q, .segment_alive = broken});
  ASSERT_EQ(f.curves.size(), 1U);
  EXPECT_FALSE(f.curves.closed[0]);
  std::vector<double> order;
  for (const Vec3d& p : f.curves.points) order.push_back(p.x);
  EXPECT_EQ(order, (std::vector<double>{3, 4, 0, 1, 2}));
}

TEST(RodCurvesTest, EverySegmentOfAStructureIsDrawnOnceAndNothingElse) {
  for (const char* name : {"trees", "bridge", "net", "hair_wisp", "ring", "slingshot"}) {
    const Scene scene = Scene::load(std::string(OSIER_SOURCE_DIR "/scenes/") + name + ".json");
    const Model& m = scene.model();
    // Places that tell the vertex.
    std::vector<Vec3d> x(m.vertex_mass.size());
    for (std::size_t v = 0; v < x.size(); ++v) x[v].x = static_cast<double>(v);
    const std::vector<Quatd> q(m.segment_vertices.size());
    const std::vector<std::uint8_t> alive(q.size(), 1);
    const CurveFrame f =
        RodCurves(m).split({.vertex_position = x, .vertex_velocity = x, .segment_frame = q, .segment_alive = alive});
    std::multiset<std::pair<Index, Index>> drawn, there;
    for (const auto& [a, b] : m.segment_vertices) there.insert(std::minmax(a, b));
    std::map<std::string, std::vector<std::vector<Index>>> of_rod;
    for (std::size_t k = 0; k < f.curves.size(); ++k) {
      std::vector<Index> vertices;
      for (const Vec3d& p : f.curves.curve(k)) vertices.push_back(static_cast<Index>(p.x));
      of_rod[f.curves.names[k]].push_back(vertices);
      EXPECT_EQ(f.curves.names[k], m.rods[static_cast<std::size_t>(f.curves.ids[k])].name);
      if (f.curves.closed[k]) vertices.push_back(vertices.front());
      for (std::size_t i = 0; i + 1 < vertices.size(); ++i) drawn.insert(std::minmax(vertices[i], vertices[i + 1]));
    }
    EXPECT_EQ(drawn, there) << name;
    // A rod that is one curve runs as the scene has it.
    for (const RodInfo& rod : m.rods)
      if (of_rod[rod.name].size() == 1) {
        EXPECT_EQ(of_rod[rod.name].front(), rod.vertices) << name << ' ' << rod.name;
      }
  }
}

TEST(RodCurvesTest, RodsThatShareAVertexAreWeldedThereAndGroupsAreNoCurves) {
  Model m = broken_rod();
  m.vertex_mass.assign(7, 1), m.vertex_radius.assign(7, 0.01), m.vertex_alive.assign(7, 1);
  m.segment_vertices = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {5, 6}};
  m.segment_strain_limit.assign(6, std::numeric_limits<double>::infinity());
  m.rods.push_back({.name = "branch", .vertices = {2, 5, 6}, .segments = {4, 5}, .joints = {}, .closed = false});
  m.rods.push_back({.name = "starts", .vertices = {0, 2}, .segments = {0, 4}, .joints = {}, .closed = false});
  m.rods.push_back({.name = "roots", .vertices = {0}, .segments = {}, .joints = {}, .closed = false});
  m.rods.push_back({.name = "half", .vertices = {2, 3, 4}, .segments = {2, 3}, .joints = {}, .closed = false});
  const std::vector<Vec3d> x{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}, {2, 1, 0}, {2, 2, 0}};
  const std::vector<Quatd> q(6);
  const std::vector<std::uint8_t> alive(6, 1);
  const Frame frame{.vertex_position = x, .vertex_velocity = x, .segment_frame = q, .segment_alive = alive};
  const RodCurves rods(m);
  for (const CurveSet& set : {rods.split(frame).curves, rods.constant(frame).curves}) {
    EXPECT_EQ(set.names, (std::vector<std::string>{"rod", "branch"}));
    EXPECT_EQ(set.start, (std::vector<std::size_t>{0, 5, 8}));
    EXPECT_EQ(set.welds, (std::vector<std::array<std::size_t, 2>>{{2, 5}}));
  }
  // A segment that may break is a curve of its own, which must be free to shrink.
  m.segment_strain_limit[2] = 0.1;
  const CurveSet cut = RodCurves(m).constant(frame).curves;
  EXPECT_EQ(cut.start, (std::vector<std::size_t>{0, 3, 5, 7, 10}));
  EXPECT_EQ(cut.welds, (std::vector<std::array<std::size_t, 2>>{{2, 7}}));
}

TEST(FrameEditsTest, ResamplingKeepsWeldedPoints) {
  CurveFrame f;
  f.curves.points = {{0, 0, 0}, {0.1, 0, 0}, {0.3, 0, 0}, {1, 0, 0}, {0.3, 0, 0}, {0.3, 1, 0}};
  f.curves.start = {0, 4, 6}, f.curves.closed = {0, 0}, f.curves.welds = {{2, 4}};
  CurveEdits edits;
  edits.segment_length = 16, edits.scale = 100;
  const CurveFrame out = FrameEdits(f, edits).apply(f);
  EXPECT_EQ(out.curves.start, (std::vector<std::size_t>{0, 7, 14})) << "2 and 4 segments of 15 and 17.5, then 6";
  ASSERT_EQ(out.curves.welds, (std::vector<std::array<std::size_t, 2>>{{2, 7}}));
  EXPECT_NEAR(out.curves.points[2].x, 30, 1e-12);
  EXPECT_NEAR(out.curves.points[1].x, 15, 1e-12);
}

TEST(YarnTest, FibresStayInsideTheYarnAndTurnAsOftenAsTheyShould) {
  const CurveFrame f = line(21);
  YarnOptions o;
  o.plies = 3, o.fibres = 7, o.ply_twist = 5, o.fibre_twist = -11;
  const CurveFrame fibres = Yarn(f, o).fibres(f);
  ASSERT_EQ(fibres.curves.size(), 21U);
  for (std::size_t p = 0; p < fibres.curves.points.size(); ++p) {
    const Vec3d& x = fibres.curves.points[p];
    EXPECT_LE(std::hypot(x.y, x.z) + fibres.curves.widths[p] / 2, 0.05 * (1 + 1e-9));
  }
  // The mean of a ply's fibres winds around the axis.
  const std::size_t n = fibres.curves.curve(0).size();
  double turned = 0;
  Vec3d last{};
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d x = fibres.curves.curve(0)[i];  // of the first ply; the first fibre is the innermost
    if (i > 0) turned += std::atan2(last.y * x.z - last.z * x.y, last.y * x.y + last.z * x.z);
    last = x;
  }
  EXPECT_NEAR(turned, 2 * std::numbers::pi * 5, 0.5);
}

TEST(YarnTest, OnALoopTheFibresCloseUp) {
  const CurveFrame f = ring(60, 1);
  YarnOptions o;
  o.plies = 2, o.fibres = 5, o.ply_twist = 3.3, o.fibre_twist = 7.7;
  const CurveFrame fibres = Yarn(f, o).fibres(f);
  for (std::size_t k = 0; k < fibres.curves.size(); ++k) {
    EXPECT_TRUE(fibres.curves.closed[k]);
    const auto x = fibres.curves.curve(k);
    double longest = 0;
    for (std::size_t i = 0; i + 1 < x.size(); ++i) longest = std::max(longest, norm(x[i + 1] - x[i]));
    EXPECT_LT(norm(x.front() - x.back()), 1.2 * longest);
  }
}

CurveFrame lawn(int n) {
  CurveFrame f;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < 4; ++k) f.curves.points.push_back({0.1 * i, 0.1 * k, 0.1 * j});
      f.curves.start.push_back(f.curves.points.size());
      f.curves.closed.push_back(0);
      for (int k = 0; k < 4; ++k) f.curves.widths.push_back(0.001);
    }
  return f;
}

TEST(GuidesTest, StrandsFollowAnyAffineMotionOfTheirGuidesAndStayAmongThem) {
  const CurveFrame rest = lawn(6);
  const GuideStrands strands(rest, 10, 0);
  const auto moved = [](const Vec3d& x) { return Vec3d{x.x + 0.3 * x.y, 2 * x.y, x.z - x.x + 1}; };
  CurveFrame later = rest;
  for (Vec3d& x : later.curves.points) x = moved(x);
  const CurveFrame a = strands.strands(rest), b = strands.strands(later);
  ASSERT_EQ(a.curves.size(), 360U);
  double spread = 0;
  for (std::size_t p = 0; p < a.curves.points.size(); ++p) {
    EXPECT_LT(norm(moved(a.curves.points[p]) - b.curves.points[p]), 1e-12);
    const Vec3d& x = a.curves.points[p];
    EXPECT_TRUE(x.x >= -1e-12 && x.x <= 0.5 + 1e-12 && x.z >= -1e-12 && x.z <= 0.5 + 1e-12);
    EXPECT_NEAR(x.y, 0.1 * static_cast<double>(p % 4), 1e-12);
    const Vec3d& guide = rest.curves.points[p / 40 * 4];
    spread = std::max(spread, std::hypot(x.x - guide.x, x.z - guide.z));
  }
  EXPECT_GT(spread, 0.03) << "strands lie between guides, not on them";
  EXPECT_LT(spread, 0.15) << "and near their own";
}

TEST(GuidesTest, ReachKeepsPartings) {
  CurveFrame two = lawn(3);
  for (std::size_t p = two.curves.points.size() / 3; p < two.curves.points.size(); ++p) two.curves.points[p].x += 1;  // a gap
  const CurveFrame strands = GuideStrands(two, 20, 0.3).strands(two);
  for (const Vec3d& x : strands.curves.points) EXPECT_TRUE(x.x < 1e-9 || x.x > 1.1 - 1e-9) << x.x;
}

TEST(GuidesTest, TooFewGuidesAndClosedOnesAreRefused) {
  EXPECT_THROW(GuideStrands(line(4), 5, 0), InputError);
  CurveFrame f = lawn(2);
  f.curves.closed[1] = 1;
  EXPECT_THROW(GuideStrands(f, 5, 0), InputError);
}

TEST(FrameEditsTest, ResamplingAndSelectionFollowTheSameMaterialPointsInEveryFrame) {
  CurveFrame f = line(11);
  f.curves.names = {"beam"};
  CurveEdits edits;
  edits.segments = 4, edits.scale = 2, edits.up = UpAxis::z;
  const FrameEdits change(f, edits);
  CurveFrame stretched = f;
  for (Vec3d& x : stretched.curves.points) x = {x.x * x.x, 0.5, 0.25};
  const CurveFrame out = change.apply(stretched);
  ASSERT_EQ(out.curves.points.size(), 5U);
  // Material x = 0.25 lies halfway between points 2 and 3, whatever the rod does later.
  EXPECT_NEAR(out.curves.points[1].x, 2 * (0.04 + 0.09) / 2, 1e-12);
  EXPECT_NEAR(out.curves.points[1].y, 0.5, 1e-12) << "z was up";
  EXPECT_NEAR(out.curves.points[1].z, -1, 1e-12);
  EXPECT_NEAR(out.curves.widths[1], 0.2, 1e-12);
  edits.weld = 0.1;
  EXPECT_THROW(FrameEdits(f, edits), InputError);
}

}  // namespace
}  // namespace osier

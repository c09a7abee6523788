// Shapes and structures: counts, places, lengths and masses that can be worked out by hand.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numbers>

#include "core/fields.hpp"
#include "scene/generators/bridge.hpp"
#include "scene/generators/curve_shapes.hpp"
#include "scene/generators/grass.hpp"
#include "scene/generators/hair.hpp"
#include "scene/generators/knot_shape.hpp"
#include "scene/generators/net.hpp"
#include "scene/generators/point_shapes.hpp"
#include "scene/generators/slingshot.hpp"
#include "scene/generators/trees.hpp"

namespace osier {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<Problem> list_of(Problems& problems) {
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

/// Where the shape finds problems, as JSON pointers below "/s".
std::vector<std::string> complaints(Shape& shape, const std::string& folder = {}) {
  Problems problems;
  shape.where = "/s";
  shape.prepare(folder, problems);
  std::vector<std::string> pointers;
  for (const Problem& p : list_of(problems)) {
    pointers.push_back(p.where);
    EXPECT_FALSE(p.remedy.empty()) << p.what;
  }
  return pointers;
}

std::vector<std::string> complaints(const Structure& structure) {
  Problems problems;
  structure.check(problems);
  std::vector<std::string> pointers;
  for (const Problem& p : list_of(problems)) pointers.push_back(p.where);
  return pointers;
}

using Pointers = std::vector<std::string>;

RodGraph built(const Structure& structure, const std::string& prefix = "p") {
  RodGraph graph;
  structure.build(graph, prefix);
  return graph;
}

const RodInfo& piece(const RodGraph& graph, const std::string& name) {
  for (const RodInfo& rod : graph.rods)
    if (rod.name == name) return rod;
  throw std::runtime_error("no piece " + name);
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance = 1e-12) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

void expect_equal_chords(const std::vector<Vec3d>& points) {
  const double first = norm(points[1] - points[0]);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_NEAR(norm(points[i] - points[i - 1]), first, 1e-12 * (1 + first));
}

double total_mass(const RodGraph& graph) {
  double mass = 0;
  for (const GraphVertex& v : graph.vertices) mass += v.mass;
  return mass;
}

// ------------------------------------------------------------------------------------------------------------------ shapes

TEST(Resample, KeepsTheEndPointsAndSpacesEqually) {
  const std::vector<Vec3d> bent{{0, 0, 0}, {0.1, 0, 0}, {0.7, 0, 0}, {2.1, 0, 0}};
  const auto points = resample(bent, false, 7);
  ASSERT_EQ(points.size(), 8u);
  expect_near(points.front(), bent.front(), 0);
  expect_near(points.back(), bent.back(), 0);
  expect_equal_chords(points);
}

TEST(Resample, WalksAroundACornerByArcLength) {
  const auto points = resample({{0, 0, 0}, {1, 0, 0}, {1, 2, 0}}, false, 4);
  expect_near(points[1], {0.75, 0, 0});
  expect_near(points[2], {1, 0.5, 0});
  expect_near(points[3], {1, 1.25, 0});
}

TEST(Resample, ClosesALoopWithoutRepeatingTheFirstPoint) {
  const std::vector<Vec3d> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  EXPECT_DOUBLE_EQ(polyline_length(square, true), 4);
  EXPECT_DOUBLE_EQ(polyline_length(square, false), 3);
  const auto points = resample(square, true, 8);
  ASSERT_EQ(points.size(), 8u);
  expect_near(points[7], {0, 0.5, 0});
}

TEST(Line, HasExactEndPoints) {
  LineShape line;
  line.from = {0.1, 0.2, 0.3}, line.to = {-3.3, 7.7, 0.7};
  const auto points = line.sample(13);
  expect_near(points.front(), line.from, 0);
  expect_near(points.back(), line.to, 0);
  expect_equal_chords(points);
  EXPECT_TRUE(complaints(line).empty());
  line.to = line.from;
  EXPECT_EQ(complaints(line), Pointers{"/s/to"});
}

TEST(Arc, TurnsByItsAngleAboutItsNormal) {
  ArcShape arc;
  arc.center = {1, 2, 3}, arc.radius = 2, arc.angle = -90, arc.normal = {0, 0, 5}, arc.start = {3, 0, 7};
  EXPECT_NEAR(arc.length(), kPi, 1e-14);
  arc.keep = CurveKeep::points;
  const auto points = arc.sample(6);
  ASSERT_EQ(points.size(), 7u);
  expect_near(points.front(), {3, 2, 3});
  expect_near(points.back(), {1, 0, 3});  // clockwise
  expect_equal_chords(points);
}

TEST(Circle, HasItsCircumferenceAndClosesEvenly) {
  CircleShape circle;
  circle.radius = 0.5, circle.normal = {0, 1, 0};
  EXPECT_NEAR(circle.length(), kPi, 1e-14);
  EXPECT_TRUE(circle.closed());
  circle.keep = CurveKeep::points;
  auto points = circle.sample(12);
  ASSERT_EQ(points.size(), 12u);
  expect_near(points[3], {0, 0, -0.5});  // counterclockwise about y
  points.push_back(points.front());
  expect_equal_chords(points);
}

TEST(Helix, HasItsAnalyticLengthAndRise) {
  HelixShape helix;
  helix.radius = 0.3, helix.pitch = 0.2, helix.turns = 2.5;
  EXPECT_NEAR(helix.length(), 2.5 * std::sqrt(std::pow(2 * kPi * 0.3, 2) + 0.04), 1e-14);
  EXPECT_NEAR(polyline_length(helix.sample(20000), false), helix.length(), 1e-6);
  helix.keep = CurveKeep::points;
  const auto points = helix.sample(10);
  expect_near(points[1], {0, 0.3, 0.05});  // a quarter turn, right-handed
  expect_near(points.back(), {-0.3, 0, 0.5});
  expect_equal_chords(points);
}

TEST(CurvesThatKeepTheirLength, AreAsLongAsTheTrueCurveHoweverFewTheirSegments) {
  for (int n : {3, 7, 40}) {
    ArcShape arc;
    arc.radius = 2, arc.angle = 200;
    EXPECT_NEAR(polyline_length(arc.sample(n), false), arc.length(), 1e-13) << n;
    expect_equal_chords(arc.sample(n));
    CircleShape circle;
    circle.radius = 0.3;
    EXPECT_NEAR(polyline_length(circle.sample(n), true), 2 * kPi * 0.3, 1e-14) << n;
    HelixShape helix;
    helix.radius = 0.5, helix.pitch = -0.4, helix.turns = 0.4 * n;
    const auto points = helix.sample(n);
    EXPECT_NEAR(polyline_length(points, false), helix.length(), 1e-13) << n;
    EXPECT_NEAR(points.back().z, -0.4 * helix.turns, 1e-14) << "its pitch stays";
  }
}

TEST(CurvesThatKeepTheirLength, LieOutsideTheirCurveByTheSquareOfTheTurnOfASegment) {
  CircleShape circle;
  for (int n : {20, 40}) {
    const double turn = 2 * kPi / n;
    EXPECT_NEAR(norm(circle.sample(n)[1]) - 1, turn * turn / 24, 1e-3 * turn * turn / 24 * 10) << n;
  }
  HelixShape helix;  // one segment per turn has no such polygon
  helix.turns = 4;
  EXPECT_NEAR(norm(helix.sample(4)[0]), 1, 1e-14);
}

TEST(Helix, IsLeftHandedForANegativePitch) {
  HelixShape helix;
  helix.pitch = -1, helix.axis = {0, 0, -1}, helix.keep = CurveKeep::points;
  expect_near(helix.sample(4)[1], {0, -1, 0.25});  // climbs along +z while it turns clockwise about +z
}

TEST(TurningShapes, NameEachDegenerateInput) {
  ArcShape arc;
  arc.normal = {}, arc.radius = 0, arc.angle = 0;
  EXPECT_EQ(complaints(arc), (Pointers{"/s/normal", "/s/radius", "/s/angle"}));
  CircleShape circle;
  circle.start = {0, 0, -2};
  EXPECT_EQ(complaints(circle), Pointers{"/s/start"});
  HelixShape helix;
  helix.start = {}, helix.turns = 0;
  EXPECT_EQ(complaints(helix), (Pointers{"/s/start", "/s/turns"}));
  EXPECT_TRUE(complaints(*std::make_unique<HelixShape>()).empty());
}

TEST(KnotShape, IsAsLongAsAskedForOrRefused) {
  KnotShape knot;
  knot.size = 0.06;
  EXPECT_NEAR(knot.length(), 10 * knot.size, 1e-9);
  for (const double length : {9.2 * knot.size, 0.6, 2.0}) {
    knot.length_given = length;
    Problems problems;
    knot.prepare("", problems);
    EXPECT_TRUE(problems.empty()) << length;
    EXPECT_NEAR(knot.length(), length, 1e-9);
  }
  knot.length_given = 9.1 * knot.size;
  Problems problems;
  knot.prepare("", problems);
  EXPECT_TRUE(problems.mentions(knot.where + "/length"));
}

TEST(Points, AreKeptAsGivenAndNameCoincidentOnes) {
  PointsShape shape;
  shape.points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  EXPECT_EQ(shape.own_points()->size(), 5u);
  EXPECT_EQ(complaints(shape), Pointers{"/s/points/3"});
  shape.points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 0}};
  EXPECT_TRUE(complaints(shape).empty());
  shape.is_closed = true;
  EXPECT_EQ(complaints(shape), Pointers{"/s/points/3"});
  shape.points.resize(2);
  EXPECT_EQ(complaints(shape), Pointers{"/s/points"});
  shape.points.clear();
  EXPECT_EQ(complaints(shape), Pointers{"/s/points"});
}

class PolylineFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / (std::string("osier_polyline_") + test->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::vector<Problem> problems_with(const std::string& text) {
    std::ofstream(folder / "curve.txt", std::ios::binary) << text;
    Problems problems;
    shape.where = "/s", shape.file = "curve.txt";
    shape.prepare(folder.string(), problems);
    return list_of(problems);
  }
  std::filesystem::path folder;
  PolylineShape shape;
};

TEST_F(PolylineFile, ReadsBlanksCommasAndComments) {
  EXPECT_TRUE(problems_with("# a curve\n0 0 0\r\n+1.5, -2e-1,\t3 # here\n\n   \n4,5,6").empty());
  const auto points = *shape.own_points();
  ASSERT_EQ(points.size(), 3u);
  expect_near(points[1], {1.5, -0.2, 3}, 0);
  expect_near(points[2], {4, 5, 6}, 0);
}

TEST_F(PolylineFile, NamesTheLineThatIsWrong) {
  for (const char* text : {"0 0 0\n1 0\n", "0 0 0\n1 0 x\n", "0 0 0\n1 0 0 4\n", "0 0 0\n1 0 nan\n", "0 0 0\n1 0 1e999\n",
                           "0 0 0\n0 0 0\n", "0 0 0\n1 0 0x\n"}) {
    const auto found = problems_with(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].where, "/s/file");
    EXPECT_NE(found[0].what.find("line 2"), std::string::npos) << found[0].what;
  }
}

TEST_F(PolylineFile, ReportsFilesWithoutACurve) {
  EXPECT_EQ(problems_with("").size(), 1u);
  EXPECT_EQ(problems_with("1 2 3\n").size(), 1u);
  shape.is_closed = true;
  EXPECT_EQ(problems_with("1 2 3\n4 5 6\n").size(), 1u);
  shape.file = "missing.txt";
  EXPECT_EQ(complaints(shape, folder.string()), Pointers{"/s/file"});
  shape.file = ".";  // a folder opens, but does not read
  EXPECT_EQ(complaints(shape, folder.string()), Pointers{"/s/file"});
}

TEST(Coil, IsThePublishedSlinky) {
  const CoilShape coil;
  const auto points = *coil.own_points();
  ASSERT_EQ(points.size(), 2881u);
  EXPECT_EQ(coil.sample(2880).size(), 2881u);
  expect_near(points[0], {0, -0.14, 0});
  expect_near(points[43], {0, -0.14, 0.1});
  expect_near(points[2881 - 1], {0.015, -0.18, points.back().z});  // outline point 2880 mod 43 = 42, (3, 36)
  // The last piece of the outline, from (3, 36) to (0, 28), closes the turn; the first goes to (2, 21).
  EXPECT_NEAR((points[43].z - points[42].z) / std::sqrt(73.0), points[1].z / std::sqrt(53.0), 1e-14);
  EXPECT_NEAR(points[1440].z - points[1440 - 43].z, 0.1, 1e-12);
}

// -------------------------------------------------------------------------------------------------------------- structures

TEST(Slingshot, HasThePublishedCounts) {
  const RodGraph g = built(Slingshot());
  EXPECT_EQ(g.vertices.size(), 44u);
  EXPECT_EQ(g.segments.size(), 46u);
  EXPECT_EQ(g.joints.size(), 47u);
}

TEST(Slingshot, StandsWhereThePaperPutsIt) {
  const RodGraph g = built(Slingshot());
  expect_near(g.vertices[8].rest, {0, 2.4, 0});
  expect_near(g.vertices[13].rest, {std::sin(0.4 * kPi), 3.4 - std::cos(0.4 * kPi), 0});
  expect_near(g.vertices[17].rest, {-std::sin(0.32 * kPi), 3.4 - std::cos(0.32 * kPi), 0});
  EXPECT_EQ(g.segments[18].a, 19);
  EXPECT_EQ(g.segments[24].b, 13);
  EXPECT_EQ(g.segments[31].b, 12);
  EXPECT_EQ(g.segments[38].b, 18);
  EXPECT_EQ(g.segments[45].b, 17);
}

TEST(Slingshot, DrawsOnlyItsGrip) {
  const RodGraph g = built(Slingshot());
  EXPECT_EQ(piece(g, "p.grip").vertices, (std::vector<Index>{19, 20, 26, 32, 38}));
  expect_near(g.vertices[19].position, {0, 2.1, -5});
  for (Index v : {20, 26, 32, 38}) expect_near(g.vertices[v].position - g.vertices[v].rest, {0, -0.98 * 1.3, -0.98 * 5});
  expect_near(g.vertices[21].position, g.vertices[21].rest, 0);
}

TEST(Slingshot, ShortensTheRubberButKeepsItsStiffnessAndMass) {
  Slingshot straight;
  straight.jitter = 0;
  const RodGraph g = built(straight);
  const double l = 1.0 / 7;  // the tips lie at distance 1 from the middle
  EXPECT_NEAR(g.segments[20].rest_length, 0.94 * l, 1e-14);
  EXPECT_NEAR(g.segments[20].stretch_stiffness.d3, 400 * l, 1e-11);
  EXPECT_NEAR(g.vertices[22].mass, 0.2 * l, 1e-14);
  EXPECT_NEAR(g.joints[piece(g, "p.rubber0").joints[2]].stiffness.d3, 4 * 0.1 / l, 1e-12);
}

TEST(Slingshot, JoinsTheBandsStraightOnWithoutTwist) {
  Slingshot straight;
  straight.jitter = 0;
  const RodGraph g = built(straight);
  int found = 0;
  for (const GraphJoint& j : g.joints) {
    if (!((j.a == 18 && j.b == 39) || (j.a == 25 && j.b == 32))) continue;
    ++found;
    const Quatd assembled = conj(g.segments[j.a].rest_frame) * g.segments[j.b].rest_frame;
    EXPECT_NEAR((conj(j.rest_rotation) * assembled).z, 0, 1e-12);
    expect_near(director3(j.rest_rotation), {0, 0, -1});
  }
  EXPECT_EQ(found, 2);
}

TEST(Slingshot, DependsOnTheSeedAndNothingElse) {
  Slingshot a, b;
  b.seed = 2;
  const RodGraph first = built(a), again = built(a), other = built(b);
  expect_near(first.vertices[30].rest, again.vertices[30].rest, 0);
  EXPECT_GT(norm(first.vertices[30].rest - other.vertices[30].rest), 0);
}

TEST(Bridge, HasThePublishedCounts) {
  const RodGraph g = built(Bridge());
  EXPECT_EQ(g.vertices.size(), 2208u);
  EXPECT_EQ(g.segments.size(), 2298u);
  EXPECT_EQ(g.joints.size(), 347u);
  EXPECT_EQ(piece(g, "p.cables").segments.size(), 1964u);
  EXPECT_EQ(piece(g, "p.ties").joints.size(), 51u);
}

TEST(Bridge, StandsWhereThePaperPutsIt) {
  const RodGraph g = built(Bridge());
  expect_near(g.vertices[72].rest, {72, 2, 0});
  expect_near(g.vertices[73].rest, {36, 22.2 - std::cosh(3.78), -1.8});
  expect_near(g.vertices[73 + 42].rest, {36, 21.2, 0});
  expect_near(g.vertices[157].rest, {36, 22.2 - std::cosh(3.78), 1.8});
  const Vec3d side = g.vertices[158].rest;
  EXPECT_GT(side.y, 2);
  expect_near(g.vertices[229].rest, {72, side.y, side.z});
  expect_near(g.vertices[230].rest, {0, side.y, -side.z});
  const auto& across = piece(g, "p.side_deck0").vertices;
  expect_near(g.vertices[across[36]].rest, {36, side.y, side.z});
  EXPECT_GE(across[36], 73);
  EXPECT_LE(across[36], 157);
}

TEST(Bridge, CarriesTheMassOfItsMembers) {
  const RodGraph g = built(Bridge());
  EXPECT_DOUBLE_EQ(g.vertices[0].mass, 0.125);
  EXPECT_DOUBLE_EQ(g.vertices[1].mass, 0.25);
  EXPECT_DOUBLE_EQ(g.vertices[3].mass, 0.25);
  const Vec3d side = g.vertices[158].rest;  // vertex 4 has two ties on top
  EXPECT_NEAR(g.vertices[4].mass, 0.25 + 0.25 * std::hypot(side.y - 2, side.z), 1e-12);
  double expected = 0;
  for (const GraphSegment& s : g.segments) expected += s.section.line_density * s.rest_length;
  EXPECT_NEAR(total_mass(g), expected, 1e-9);
}

TEST(Bridge, HoldsEightVerticesAndTheFeetOfTheArch) {
  const RodGraph g = built(Bridge());
  EXPECT_EQ(piece(g, "p.supports").vertices, (std::vector<Index>{0, 72, 73, 157, 158, 229, 230, 301}));
  EXPECT_EQ(piece(g, "p.supports").segments, (std::vector<Index>{72, 155}));
}

TEST(Bridge, HasStiffTiesAndJointlessCables) {
  const RodGraph g = built(Bridge());
  const auto& ties = piece(g, "p.ties");
  const GraphJoint& j = g.joints[ties.joints[1]];
  EXPECT_EQ(j.a, 4);  // the deck segment ahead of deck vertex 4
  EXPECT_EQ(j.b, ties.segments[0]);
  EXPECT_NEAR(j.stiffness.d3, 4 * 4e4 / (0.5 * (1 + g.segments[j.b].rest_length)), 1e-7);
  for (const GraphJoint& joint : g.joints) {
    EXPECT_LT(joint.a, 334);
    EXPECT_LT(joint.b, 334);
  }
  for (Index s : piece(g, "p.cables").segments) EXPECT_LE(g.segments[s].rest_length, 0.7);
  for (const GraphSegment& s : g.segments) EXPECT_EQ(s.section.strain_limit, 0.005);
}

TEST(Structures, CanBeAppendedToAGraphThatIsNotEmpty) {
  RodGraph g;
  Slingshot().build(g, "s");
  Bridge().build(g, "b");
  EXPECT_EQ(piece(g, "b.supports").vertices.front(), 44);
  EXPECT_EQ(piece(g, "b.supports").segments.front(), 46 + 72);
  expect_near(g.vertices[44 + 72].rest, {72, 2, 0});
}

class TreesOfSeed : public testing::TestWithParam<int> {};

TEST_P(TreesOfSeed, ComeWithinFivePercentOfThePublishedCounts) {
  Trees trees;
  trees.seed = GetParam();
  const RodGraph g = built(trees);
  EXPECT_NEAR(static_cast<double>(g.vertices.size()), 9948, 0.05 * 9948);
  EXPECT_NEAR(static_cast<double>(g.joints.size()), 12254, 0.05 * 12254);
  EXPECT_EQ(g.segments.size(), g.vertices.size() - 3);
}

INSTANTIATE_TEST_SUITE_P(AnySeed, TreesOfSeed, testing::Values(Trees().seed, 2, 3, 4, 5));

TEST(Trees, DependOnTheSeedAndNothingElse) {
  Trees a, b;
  a.count = b.count = 1, b.seed = 7;
  const RodGraph first = built(a), again = built(a), other = built(b);
  ASSERT_EQ(first.vertices.size(), again.vertices.size());
  for (std::size_t v = 0; v < first.vertices.size(); ++v) expect_near(first.vertices[v].rest, again.vertices[v].rest, 0);
  EXPECT_TRUE(first.vertices.size() != other.vertices.size() || norm(first.vertices[100].rest - other.vertices[100].rest) > 0);
}

TEST(Trees, JoinEveryTwoSegmentsThatShareAVertex) {
  Trees one;
  one.count = 1;
  const RodGraph g = built(one);
  std::vector<std::size_t> degree(g.vertices.size(), 0);
  for (const GraphSegment& s : g.segments) ++degree[s.a], ++degree[s.b];
  std::size_t pairs = 0;
  for (std::size_t d : degree) pairs += d * (d - 1) / 2;
  EXPECT_EQ(g.joints.size(), pairs);
}

TEST(Trees, GrowABareTrunkOfThePublishedLength) {
  Trees stump;
  stump.count = 1, stump.growth.crown_center = {0, 100, 0};  // out of reach
  const RodGraph g = built(stump);
  ASSERT_EQ(g.vertices.size(), 16u);
  expect_near(g.vertices[15].rest, {0, 3, 0});
  // m(v): 0.2 at the tip, 0.2 more below it, plus 0.2 for the second edge: 0.2, 0.6, 1.0, ...
  const double D = 0.5 * (0.2 + 0.6) / 0.2;
  EXPECT_NEAR(g.segments[14].stretch_stiffness.d3, 1e4 * D * 0.2, 1e-8);
  EXPECT_NEAR(g.vertices[15].mass, 0.5 * 0.8796 * D * 0.2, 1e-12);
  EXPECT_NEAR(g.joints[13].stiffness.d3, 4 * 50 * std::pow(0.25 * (0.2 + 0.6 + 0.6 + 1.0), 1.8) / 0.2, 1e-8);
}

TEST(Trees, NameTheirRootsAndThemselves) {
  const RodGraph g = built(Trees());
  const auto& roots = piece(g, "p.roots");
  ASSERT_EQ(roots.vertices.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(roots.vertices[i], piece(g, "p" + std::to_string(i)).vertices.front());
    EXPECT_EQ(g.segments[roots.segments[i]].a, roots.vertices[i]);
    EXPECT_LE(norm(g.vertices[roots.vertices[i]].rest), 4.4 * std::sqrt(3.0));
    EXPECT_EQ(g.vertices[roots.vertices[i]].rest.y, 0);
  }
}

TEST(Trees, StopGrowingWhenTheLiftBeatsTheAttraction) {
  Trees windswept;
  windswept.count = 1, windswept.growth.lift = 5;
  EXPECT_LT(built(windswept).vertices.size(), 20000u);
}

TEST(Trees, RefuseMoreAttractorsThanSamples) {
  Trees trees;
  trees.where = "/s", trees.growth.attractors = 8000, trees.growth.kill = 0.6;
  EXPECT_EQ(complaints(trees), (Pointers{"/s/attractors", "/s/kill"}));
}

TEST(Net, HasOneJointPerCornerOfACell) {
  Net net;
  net.nx = 4, net.ny = 3, net.segments_per_cell = 2;
  const RodGraph g = built(net);
  EXPECT_EQ(g.vertices.size(), 5u * 4 + 4 * 4 + 3 * 5);
  EXPECT_EQ(g.segments.size(), 2u * (4 * 4 + 3 * 5));
  const std::size_t along_lines = 4 * 7 + 5 * 5;
  EXPECT_EQ(g.joints.size(), along_lines + 4 * 4 * 3);
  for (const GraphJoint& j : g.joints) {
    const GraphSegment &a = g.segments[j.a], &b = g.segments[j.b];
    EXPECT_TRUE(a.a == b.a || a.a == b.b || a.b == b.a || a.b == b.b);
  }
  net.knots = false;
  EXPECT_EQ(built(net).joints.size(), along_lines);
}

TEST(Net, NamesItsBorderAndCorners) {
  Net net;
  net.nx = 4, net.ny = 3;
  const RodGraph g = built(net);
  EXPECT_EQ(piece(g, "p.border").vertices.size(), 14u);
  EXPECT_EQ(piece(g, "p.border").segments.size(), 14u);
  expect_near(g.vertices[piece(g, "p.corners").vertices[3]].rest, {0.4, 0, 0.3});
  net.where = "/s", net.across = {-2, 0, 0};
  EXPECT_EQ(complaints(net), Pointers{"/s/across"});
}

Hair small_hair() {
  Hair hair;
  hair.where = "/s", hair.strands = 200;
  return hair;
}

TEST(Hair, HasTheAskedStrandsAndHoldsThemByTheirRoots) {
  const RodGraph g = built(small_hair());
  EXPECT_EQ(g.vertices.size(), 200u * 32);
  EXPECT_EQ(g.segments.size(), 200u * 31);
  EXPECT_EQ(g.joints.size(), 200u * 30);
  const RodInfo& roots = piece(g, "p.roots");
  ASSERT_EQ(roots.vertices.size(), 200u);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(roots.vertices[i], piece(g, "p" + std::to_string(i)).vertices.front());
    EXPECT_EQ(roots.segments[i], piece(g, "p" + std::to_string(i)).segments.front());
  }
}

TEST(Hair, GrowsOutOfTheScalpAndNeverIntoTheHead) {
  const Hair hair = small_hair();
  const RodGraph g = built(hair);
  const auto height = [&](const Vec3d& x) { return norm(Vec3d{x.x / hair.head.x, x.y / hair.head.y, x.z / hair.head.z}); };
  for (Index r : piece(g, "p.roots").vertices) {
    EXPECT_NEAR(height(g.vertices[r].rest), 1, 1e-12);
    for (int k = 1; k < hair.vertices; ++k) EXPECT_GT(height(g.vertices[r + k].rest), 0.999);
  }
}

TEST(Hair, RootsLieEvenlyApart) {
  Hair hair = small_hair();
  hair.head = {1, 1, 1}, hair.strands = 1000;
  const RodGraph g = built(hair);
  const auto& roots = piece(g, "p.roots").vertices;
  const double area = 2 * kPi * (1 - std::cos(hair.scalp * kPi / 180)), spacing = std::sqrt(area / 1000);
  for (Index a : roots) {
    double nearest = 10;
    for (Index b : roots)
      if (a != b) nearest = std::min(nearest, norm(g.vertices[a].rest - g.vertices[b].rest));
    EXPECT_GT(nearest, 0.7 * spacing);
    EXPECT_LT(nearest, 1.1 * spacing);
  }
}

TEST(Hair, StrandsHaveTheirLengthWithinItsVariation) {
  Hair hair = small_hair();
  hair.vertices = 200;
  const RodGraph g = built(hair);
  double shortest = 1, longest = 0;
  for (int i = 0; i < hair.strands; ++i) {
    double length = 0;
    for (Index s : piece(g, "p" + std::to_string(i)).segments) length += g.segments[s].rest_length;
    shortest = std::min(shortest, length), longest = std::max(longest, length);
  }
  EXPECT_GT(shortest, 0.998 * hair.length * (1 - hair.length_variation));
  EXPECT_LT(longest, hair.length * (1 + hair.length_variation));
  EXPECT_GT(longest - shortest, 1.5 * hair.length * hair.length_variation);
  // However coarse the curls are sampled, the rods are as long as the curves.
  hair.vertices = 32, hair.length_variation = 0;
  const RodGraph coarse = built(hair);
  double sum = 0;
  for (const GraphSegment& s : coarse.segments) sum += s.rest_length;
  EXPECT_NEAR(sum, hair.strands * hair.length, 1e-10);
  hair.vertices = 200;
  hair.curl_radius = 0;
  const RodGraph straight = built(hair);
  EXPECT_NEAR(norm(straight.vertices[hair.vertices - 1].rest - straight.vertices[0].rest), hair.length, 1e-12);
}

TEST(Hair, RefusesWhatCannotBeSampledOrHasNoHead) {
  Hair hair = small_hair();
  hair.vertices = 8, hair.head.y = 0, hair.crown = {};
  EXPECT_EQ(complaints(hair), (Pointers{"/s/head", "/s/crown", "/s/vertices"}));
  // Within the ranges of its fields, and too large all the same: for the compiler to say, before anything is built.
  hair = small_hair(), hair.strands = 1000000;
  EXPECT_GT(hair.size().segments, kMostSegments);
}

TEST(Grass, StandsOnItsPatchAndTapers) {
  Grass grass;
  grass.blades = 300, grass.center = {1, 2, 3};
  const RodGraph g = built(grass);
  EXPECT_EQ(g.vertices.size(), 300u * 16);
  for (int i = 0; i < grass.blades; ++i) {
    const RodInfo& blade = piece(g, "p" + std::to_string(i));
    const Vec3d root = g.vertices[blade.vertices.front()].rest;
    EXPECT_EQ(root.y, 2);
    EXPECT_LE(std::abs(root.x - 1), 0.5 * grass.width);
    EXPECT_LE(std::abs(root.z - 3), 0.5 * grass.depth);
    for (std::size_t k = 1; k < blade.vertices.size(); ++k) EXPECT_GT(g.vertices[blade.vertices[k]].rest.y, 2);
    const Section &thick = g.segments[blade.segments.front()].section, &thin = g.segments[blade.segments.back()].section;
    const double ratio = thin.radius / thick.radius;
    EXPECT_NEAR(thin.stretch_shear.d3 / thick.stretch_shear.d3, std::pow(ratio, 2), 1e-12);
    EXPECT_NEAR(thin.bend_twist.d1 / thick.bend_twist.d1, std::pow(ratio, 4), 1e-12);
    EXPECT_NEAR(thick.radius, grass.radius * (1 - 0.8 / 30), 1e-12);
  }
  EXPECT_EQ(piece(g, "p.roots").vertices.size(), 300u);
}

TEST(Grass, BladesAreAsLongAsTheirArcs) {
  Grass grass;
  grass.blades = 10, grass.vertices = 4, grass.curve = 150, grass.height_variation = 0;
  const RodGraph g = built(grass);
  double sum = 0;
  for (const GraphSegment& s : g.segments) sum += s.rest_length;
  EXPECT_NEAR(sum, 10 * grass.height, 1e-12);
}

// ---------------------------------------------------------------------------------------------------------------- registry

TEST(Registry, BuildsFromJsonAndRemembersWhere) {
  const Json json = Json::parse(R"({"type": "helix", "radius": 0.1, "pitch": -0.02, "turns": 3})");
  Problems problems;
  JsonReader reader(json, "", problems);
  std::unique_ptr<Shape> shape;
  reader.read(json, "/rods/0/shape", shape, {});
  ASSERT_TRUE(shape);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(shape->where, "/rods/0/shape");
  std::unique_ptr<Structure> structure;
  const Json net = Json::parse(R"({"type": "net", "name": "mesh", "nx": 2})");
  reader.read(net, "/structures/0", structure, {});
  ASSERT_TRUE(structure);
  EXPECT_EQ(structure->name, "mesh");
  EXPECT_TRUE(problems.empty());
}

TEST(Registry, DescribesEveryEntryOnce) {
  struct Root {
    std::unique_ptr<Shape> shape;
    std::unique_ptr<Structure> structure;
    static const char* kind() { return "root"; }
    static const char* help() { return ""; }
    void fields(SchemaBuilder& f) { f("shape", shape, ""), f("structure", structure, ""); }
  };
  SchemaBuilder builder;
  builder.object<Root>();
  std::size_t shapes = 0, structures = 0;  // beside them there is what they refer to, such as materials
  for (const ObjectDoc& object : builder.objects) {
    shapes += object.kind.starts_with("shape_") ? 1 : 0;
    structures += object.kind.starts_with("structure_") ? 1 : 0;
  }
  EXPECT_EQ(shapes, registry<Shape>().size());
  EXPECT_EQ(structures, registry<Structure>().size());
}

}  // namespace
}  // namespace osier

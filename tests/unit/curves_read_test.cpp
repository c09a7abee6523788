// Readers of curve files: what they make of sound files, worked out by hand, and what they say about broken ones.
#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

#include "io/curves/registry.hpp"
#include "support/curve_checks.hpp"

namespace osier {

void PrintTo(const Vec3d& p, std::ostream* out) { *out << '(' << p.x << ' ' << p.y << ' ' << p.z << ')'; }
static bool operator==(const Vec3d& a, const Vec3d& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

namespace {

using Points = std::vector<Vec3d>;
using Flags = std::vector<std::uint8_t>;
using Starts = std::vector<std::size_t>;
using Names = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Welds = std::vector<std::array<std::size_t, 2>>;

CurveSet parse(const std::string& bytes, const std::string& extension, const CurveReadOptions& options = {}) {
  const CurveSet set = parse_curves(std::as_bytes(std::span(bytes)), extension, "file" + extension, options);
  EXPECT_EQ(flaw_of(set), "");
  return set;
}

Points curve(const CurveSet& set, std::size_t k) { return {set.curve(k).begin(), set.curve(k).end()}; }

/// The one problem of a file; where it is said to be and what is wrong.
std::string complaint(const std::string& bytes, const std::string& extension, const CurveReadOptions& options = {}) {
  try {
    parse_curves(std::as_bytes(std::span(bytes)), extension, "file" + extension, options);
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().size(), 1u);
    EXPECT_FALSE(error.problems()[0].remedy.empty());
    EXPECT_TRUE(error.problems()[0].where.starts_with("file" + extension)) << error.problems()[0].where;
    return error.problems()[0].where + ": " + error.problems()[0].what;
  }
  return "read without complaint";
}

void expect_complaint(const std::string& bytes, const std::string& extension, const std::string& place, const std::string& words,
                      const CurveReadOptions& options = {}) {
  const std::string said = complaint(bytes, extension, options);
  EXPECT_EQ(said.substr(0, said.find(':')), "file" + extension + (place.empty() ? "" : ", " + place)) << said;
  EXPECT_NE(said.find(words), std::string::npos) << said;
}

template <class... T>
std::string pack(T... values) {
  std::string out;
  const auto add = [&out](auto value) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    out.append(bytes, sizeof(value));
  };
  (add(values), ...);
  return out;
}

/// Every way to cut a sound binary file short is refused.
void expect_every_cut_refused(const std::string& bytes, const std::string& extension) {
  ASSERT_EQ(complaint(bytes, extension), "read without complaint");
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_NE(complaint(bytes.substr(0, n), extension).find(", byte "), std::string::npos) << n << " bytes";
}

// -------------------------------------------------------------------------------------------------------------- the door

TEST(CurveFiles, AreKnownByTheirExtensionInEitherCase) {
  const std::string table = "0 0 0\n1 2 3\n";
  EXPECT_EQ(parse(table, ".CSV").points, (Points{{0, 0, 0}, {1, 2, 3}}));
  EXPECT_EQ(parse(table, ".Txt").size(), 1u);
  EXPECT_NE(complaint(table, ".abc").find("`.abc` is not a curve format"), std::string::npos);
  EXPECT_NE(complaint(table, "").find("no extension"), std::string::npos);
}

TEST(CurveFiles, ThatAreNotThereOrNoFilesAreRefusedByName) {
  for (const std::string file : {"/nowhere/yarn.bcc", "/tmp/.obj", "/proc/self.poly"}) try {
      read_curves(file);
      FAIL() << file;
    } catch (const InputError& error) {
      EXPECT_EQ(error.problems()[0].where, file);
    }
}

TEST(CurveFiles, ThatStandStillHaveNoFrames) {
  CurveReadOptions options;
  options.frame = 0;
  expect_complaint("v 0 0 0\nl 1\n", ".obj", "", "single moment", options);
  expect_complaint("0 0 0\n", ".csv", "", "do not move", options);
  options.time = 0;
  expect_complaint("0 0 0\n", ".csv", "", "both `frame` and `time`", options);
  options = {};
  options.cubic_samples = 0;
  expect_complaint("0 0 0\n", ".csv", "", "0 pieces", options);
}

// ------------------------------------------------------------------------------------------------------------------- bcc

std::string bcc(const std::string& type, char up, std::uint64_t curves, std::uint64_t points, const std::string& data) {
  return "BCC\x44" + type + '\3' + up + pack(curves, points) + std::string(40, ' ') + data;
}

TEST(Bcc, ReadsOpenClosedEmptyAndSinglePolylines) {
  const std::string file = bcc("PL", 1, 4, 6,
                               pack(2, 0.f, 0.f, 0.f, 1.f, 0.5f, 0.f) + pack(-3, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f) +
                                   pack(0) + pack(1, 7.f, 8.f, 9.f));
  const CurveSet set = parse(file, ".bcc");
  ASSERT_EQ(set.size(), 4u);
  EXPECT_EQ(set.closed, (Flags{0, 1, 0, 0}));
  EXPECT_EQ(set.start, (std::vector<std::size_t>{0, 2, 5, 5, 6}));
  EXPECT_EQ(curve(set, 0), (Points{{0, 0, 0}, {1, 0.5, 0}}));
  EXPECT_EQ(curve(set, 3), (Points{{7, 8, 9}}));
  expect_every_cut_refused(file, ".bcc");
}

TEST(Bcc, TurnsItsUpAxisToY) {
  const std::string data = pack(1, 1.f, 2.f, 3.f);
  EXPECT_EQ(parse(bcc("PL", 2, 1, 1, data), ".bcc").points, (Points{{1, 3, -2}}));
  EXPECT_EQ(parse(bcc("PL", 0, 1, 1, data), ".bcc").points, (Points{{-2, 1, 3}}));
  EXPECT_EQ(parse(bcc("PL", 1, 1, 1, data), ".bcc").points, (Points{{1, 2, 3}}));
  EXPECT_EQ(parse(bcc("PL", 2, 1, 1, data), ".bcc").up, UpAxis::z);
}

TEST(Bcc, SplinesPassThroughTheirControlPoints) {
  CurveReadOptions options;
  options.cubic_samples = 4;
  const std::string three = pack(0.f, 0.f, 0.f, 1.f, 2.f, 0.f, 4.f, 0.f, 1.f);
  const CurveSet open = parse(bcc("C0", 1, 1, 3, pack(3) + three), ".bcc", options);
  ASSERT_EQ(open.points.size(), 9u);  // two spans of four pieces
  EXPECT_EQ(open.points[0], (Vec3d{0, 0, 0}));
  EXPECT_EQ(open.points[4], (Vec3d{1, 2, 0}));
  EXPECT_EQ(open.points[8], (Vec3d{4, 0, 1}));
  // Middle of the second span, by hand: (-P0 + 9 P1 + 9 P2 - P3)/16 with P3 = 2 P2 - P1.
  EXPECT_DOUBLE_EQ(open.points[6].x, (-0 + 9 * 1 + 9 * 4 - 7) / 16.0);
  EXPECT_DOUBLE_EQ(open.points[6].y, (-0 + 9 * 2 + 9 * 0 + 2) / 16.0);
  const CurveSet loop = parse(bcc("C0", 1, 1, 3, pack(-3) + three), ".bcc", options);
  ASSERT_EQ(loop.points.size(), 12u);
  EXPECT_EQ(loop.points[8], (Vec3d{4, 0, 1}));
  EXPECT_DOUBLE_EQ(loop.points[10].x, (-1 + 9 * 4 + 9 * 0 - 1) / 16.0);  // between the third point and the first
}

TEST(Bcc, SplinesOfALineAreTheLine) {
  std::string data = pack(5);
  for (int i = 0; i < 5; ++i) data += pack(static_cast<float>(i), 0.f, 0.f);
  const CurveSet set = parse(bcc("C0", 1, 1, 5, data), ".bcc");
  ASSERT_EQ(set.points.size(), 33u);
  for (std::size_t i = 0; i < 33; ++i) EXPECT_NEAR(set.points[i].x, static_cast<double>(i) / 8, 1e-15);
}

TEST(Bcc, RefusesWhatItsHeaderGetsWrong) {
  const std::string data = pack(2, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f), good = bcc("PL", 1, 1, 2, data);
  const auto with = [&](std::size_t at, char c) {
    std::string file = good;
    file[at] = c;
    return file;
  };
  expect_complaint("BCD", ".bcc", "byte 0", "BCC");
  expect_complaint(with(3, 0x48), ".bcc", "byte 3", "4 bytes");
  expect_complaint(with(4, 'X'), ".bcc", "byte 4", "type of curve");
  expect_complaint(with(6, 2), ".bcc", "byte 6", "2 dimensions");
  expect_complaint(with(7, 5), ".bcc", "byte 7", "up axis 5");
  expect_complaint(with(7, -1), ".bcc", "byte 7", "up axis 255");
  expect_complaint(bcc("PL", 1, std::uint64_t{1} << 62, 2, data), ".bcc", "byte 8", "do not fill the 28 bytes");
  expect_complaint(bcc("PL", 1, 1, ~std::uint64_t{0}, data), ".bcc", "byte 8", "do not fill the 28 bytes");
  expect_complaint(good + "x", ".bcc", "byte 8", "do not fill");
}

TEST(Bcc, RefusesCountsThatDisagreeAndNumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_complaint(bcc("PL", 1, 1, 1, pack(2, 0.f, 0.f, 0.f)), ".bcc", "byte 64", "announces 2 points");
  expect_complaint(bcc("PL", 1, 1, 1, pack(std::numeric_limits<int>::min(), 0.f, 0.f, 0.f)), ".bcc", "byte 64",
                   "announces 2147483648 points");
  expect_complaint(bcc("PL", 1, 1, 1, pack(0, 0.f, 0.f, 0.f)), ".bcc", "byte 68", "12 bytes are left");
  expect_complaint(bcc("PL", 1, 1, 1, pack(1, 0.f, nan, 0.f)), ".bcc", "byte 72", "not finite");
}

// ------------------------------------------------------------------------------------------------------------------ hair

std::string hair(std::uint32_t strands, std::uint32_t points, std::uint32_t bits, std::uint32_t segments, float thickness,
                 const std::string& data) {
  return "HAIR" + pack(strands, points, bits, segments, thickness, 0.f, 1.f, 1.f, 1.f) + std::string(88, '\0') + data;
}
const std::string kFivePoints = pack(0.f, 0.f, 0.f, 1.f, 0.f, 0.f) + pack(0.f, 1.f, 0.f, 0.f, 2.f, 0.f, 0.f, 3.f, 0.f);

TEST(HairFile, ReadsStrandsWithTheirThickness) {
  const std::string file =
      hair(2, 5, 1 | 2 | 4, 9, 0.5f, pack(std::uint16_t{1}, std::uint16_t{2}) + kFivePoints + pack(.25f, .5f, 1.f, 2.f, 0.f));
  const CurveSet set = parse(file, ".hair");
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(curve(set, 0), (Points{{0, 0, 0}, {1, 0, 0}}));
  EXPECT_EQ(curve(set, 1), (Points{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}}));
  EXPECT_EQ(set.widths, (Numbers{.25, .5, 1, 2, 0}));
  EXPECT_EQ(set.closed, (Flags{0, 0}));
  expect_every_cut_refused(file, ".hair");
}

TEST(HairFile, FallsBackToItsDefaults) {
  const std::string points = pack(0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 2.f, 0.f);
  EXPECT_EQ(parse(hair(2, 4, 2, 1, 0.5f, points), ".hair").widths, (Numbers{.5, .5, .5, .5}));
  EXPECT_TRUE(parse(hair(2, 4, 2, 1, 0, points), ".hair").widths.empty());
  EXPECT_EQ(parse(hair(1, 4, 2, 3, 0, points), ".hair").size(), 1u);
  // Transparency and colours are stepped over.
  EXPECT_EQ(parse(hair(1, 4, 2 | 8 | 16, 3, 0, points + std::string(16 + 48, '\1')), ".hair").points.size(), 4u);
  EXPECT_EQ(parse(hair(0, 0, 0, 0, 0, ""), ".hair").size(), 0u);
}

TEST(HairFile, RefusesWhatDoesNotAddUp) {
  const std::string two = pack(0.f, 0.f, 0.f, 1.f, 0.f, 0.f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_complaint("HAIL", ".hair", "byte 0", "HAIR");
  expect_complaint(hair(1, 2, 64 | 2, 1, 0, two), ".hair", "byte 12", "unknown arrays");
  expect_complaint(hair(1, 2, 1, 1, 0, pack(std::uint16_t{1})), ".hair", "byte 12", "no array of points");
  expect_complaint(hair(1, 2, 2, 1, 0, two + "x"), ".hair", "byte 4", "25 follow");
  expect_complaint(hair(~0u, ~0u, 31, ~0u, 0, two), ".hair", "byte 4", "announces 4294967295 strands");
  expect_complaint(hair(~0u, 2, 2, 0, 0, two), ".hair", "byte 4", "do not have 2 points");
  expect_complaint(hair(1, 2, 3, 1, 0, pack(std::uint16_t{5}) + two), ".hair", "byte 128", "6 points in all");
  expect_complaint(hair(1, 2, 2, 1, 0, pack(0.f, 0.f, 0.f, 1.f, 0.f, nan)), ".hair", "byte 148", "not finite");
  expect_complaint(hair(1, 2, 2, 1, nan, two), ".hair", "byte 20", "not finite");
  expect_complaint(hair(1, 2, 2, 1, -1, two), ".hair", "byte 20", "negative");
  expect_complaint(hair(1, 2, 6, 1, 0, two + pack(1.f, -1.f)), ".hair", "byte 156", "negative");
}

// ------------------------------------------------------------------------------------------------------------------- obj

constexpr const char* kSquare = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST(Obj, ChainsLinesThatShareAnEnd) {
  const CurveSet set = parse(std::string(kSquare) + "l 2 3\nl 2 1\nl 4 3\n", ".obj");  // as an editor might write them
  ASSERT_EQ(set.size(), 1u);
  EXPECT_EQ(set.points, (Points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(set.closed, (Flags{0}));
  EXPECT_TRUE(set.welds.empty());
  EXPECT_TRUE(set.names.empty());
}

TEST(Obj, ClosesLoopsWithoutRepeatingTheirFirstPoint) {
  const Points square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  for (const char* lines : {"l 1 2\nl 2 3\nl 3 4\nl 4 1\n", "l 1 2 3 4 1\n", "l 1 2 3\nl 1 4 3\n"}) {
    const CurveSet set = parse(std::string(kSquare) + lines, ".obj");
    ASSERT_EQ(set.size(), 1u) << lines;
    EXPECT_EQ(set.closed, (Flags{1})) << lines;
    EXPECT_EQ(set.points, square) << lines;
  }
}

TEST(Obj, BranchesShareAWeldedPoint) {
  const CurveSet set = parse(std::string(kSquare) + "l 1 2\nl 3 2\nl 2 4\n", ".obj");
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.welds, (Welds{{1, 3}, {1, 4}}));
  EXPECT_EQ(curve(set, 2), (Points{{1, 0, 0}, {0, 1, 0}}));
  // A line that runs through the end of another is not cut.
  const CurveSet through = parse(std::string(kSquare) + "l 1 2 3\nl 2 4\n", ".obj");
  ASSERT_EQ(through.size(), 2u);
  EXPECT_EQ(through.welds, (Welds{{1, 3}}));
}

TEST(Obj, ObjectsAndGroupsNameTheirCurvesAndKeepThemApart) {
  const CurveSet set = parse(std::string("o warp\n") + kSquare + "l 1 2\ng weft wool\nl 2 3\nl 3 4\n", ".obj");
  EXPECT_EQ(set.names, (Names{"warp", "weft wool"}));
  EXPECT_EQ(set.welds, (Welds{{1, 2}}));
  EXPECT_EQ(curve(set, 1).size(), 3u);
}

TEST(Obj, CountsBackFromTheLastPoint) {
  EXPECT_EQ(parse("v 0 0 0\nv 1 0 0\nl -2 -1\nv 5 0 0\nl -1 -2\n", ".obj").points, (Points{{0, 0, 0}, {1, 0, 0}, {5, 0, 0}}));
}

TEST(Obj, LinesMayBeContinuedCommentedAndHaveTextures) {
  const CurveSet set =
      parse(std::string(kSquare) + "vt 0 0\nvn 0 0 1\nusemtl x\nf 1 2 3\nl 1/1 2/1 \\\r\n 3/1 # end\r\n", ".obj");
  EXPECT_EQ(set.points.size(), 3u);
}

TEST(Obj, DoubleLinesAndSinglePointsDoNoHarm) {
  EXPECT_EQ(parse(std::string(kSquare) + "l 1 2\nl 1 2\nl 3\n", ".obj").closed, (Flags{0, 0}));
}

TEST(Obj, SinglePointsAreCurvesOfOnePoint) {
  const CurveSet set = parse(std::string(kSquare) + "g dots\np 3 4\ng line\nl 1 2\np 1\n", ".obj");
  EXPECT_EQ(set.start, (Starts{0, 1, 2, 4}));
  EXPECT_EQ(set.names, (Names{"dots", "dots", "line"})) << "a point of a line is there already";
  EXPECT_TRUE(set.welds.empty());
  EXPECT_EQ(parse("v 1 2 3\np 1\n", ".obj").points, (Points{{1, 2, 3}}));
  expect_complaint("v 1 2 3\np 2\n", ".obj", "line 2", "point 2 does not exist");
  expect_complaint("v 1 2 3\np x\n", ".obj", "line 2", "`x` is not the number of a point");
}

TEST(Obj, AnotherNamePassesThroughACurveWithoutCuttingIt) {
  const CurveSet set = parse("v -1 0 0\nv 0 0 0\nv 1 0 0\nv 0 1 0\ng trunk\nl 1 2\nl 2 3\ng branch\nl 2 4\n", ".obj");
  EXPECT_EQ(set.names, (Names{"trunk", "branch"}));
  EXPECT_EQ(set.start, (Starts{0, 3, 5}));
  EXPECT_EQ(set.welds, (std::vector<std::array<std::size_t, 2>>{{1, 3}}));
}

TEST(Obj, NamesTheLineThatIsWrong) {
  expect_complaint("v 0 0\n", ".obj", "line 1", "fewer than three");
  expect_complaint("v 0 0 0\nv 0 nan 0\n", ".obj", "line 2", "not finite");
  expect_complaint("v 0 0 0\nv 0 1e999 0\n", ".obj", "line 2", "`1e999` is too large");
  expect_complaint("v 0 0 0\n\nl 1 x\n", ".obj", "line 3", "`x`");
  expect_complaint("v 0 0 0\nl 1 2\n", ".obj", "line 2", "point 2 does not exist");
  expect_complaint("v 0 0 0\nl 0 1\n", ".obj", "line 2", "point 0 does not exist");
  expect_complaint("v 0 0 0\nl -2 1\n", ".obj", "line 2", "point -2 does not exist");
  expect_complaint("v 0 0 0\nl 1 99999999999999999999\n", ".obj", "line 2", "not the number of a point");
  expect_complaint("v 0 0 0\nl\n", ".obj", "line 2", "without points");
  expect_complaint(std::string(kSquare) + "f 1 2 3 4\n", ".obj", "", "no lines");
}

// ------------------------------------------------------------------------------------------------------------------ poly

TEST(Poly, ChainsEdgesAndKeepsIds) {
  const CurveSet set =
      parse("POINTS\n1: 0 0 0\n2: 1 0 0\n3: 1 1 0\n4: 5 5 5\n5: 6 5 5\nPOLYS\n1: 1 2\n2: 2 3\n3: 3 1\n7: 4 5\nEND\n", ".poly");
  EXPECT_EQ(set.closed, (Flags{1, 0}));
  EXPECT_EQ(set.ids, (Ids{1, 7}));
  EXPECT_EQ(curve(set, 0), (Points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}));
}

TEST(Poly, LabelsNeedNotCountAndASignCloses) {
  const CurveSet set = parse("POINTS\n-3: 0 0 0\n10: 1 0 0\n5: 1 1 0\n\nPOLYS\n4: 5 10 -3 <\n9: 10\n11:\nEND\n\n", ".poly");
  EXPECT_EQ(set.ids, (Ids{4, 9, 11}));
  EXPECT_EQ(set.closed, (Flags{1, 0, 0}));
  EXPECT_EQ(curve(set, 0), (Points{{1, 1, 0}, {1, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(curve(set, 2).size(), 0u);
}

TEST(Poly, NamesTheLineThatIsWrong) {
  expect_complaint("1: 0 0 0\n", ".poly", "line 1", "before POINTS");
  expect_complaint("POINTS\n1 0 0 0\n", ".poly", "line 2", "number and a colon");
  expect_complaint("POINTS\n1: 0 0\n", ".poly", "line 2", "fewer than three");
  expect_complaint("POINTS\n1: 0 0 0 0\n", ".poly", "line 2", "more than a point");
  expect_complaint("POINTS\n1: 0 0 0\n1: 0 0 0\n", ".poly", "line 3", "twice");
  expect_complaint("POINTS\n1: 0 0 inf\n", ".poly", "line 2", "not finite");
  expect_complaint("POINTS\n1: 0 0 0\nPOLYS\n1: 1 2\nEND\n", ".poly", "line 4", "does not exist");
  expect_complaint("POINTS\n1: 0 0 0\nPOLYS\n1: < 1\nEND\n", ".poly", "line 4", "follows `<`");
  expect_complaint("POINTS\n1: 0 0 0\nPOLYS\n1: 1\n", ".poly", "line 5", "without END");
  expect_complaint("POINTS\nPOLYS\nEND\nmore\n", ".poly", "line 4", "follows END");
}

TEST(Poly, ReadsKnittedLetters) {
  const char* folder = std::getenv("OSIER_DATA");
  if (!folder) GTEST_SKIP() << "set OSIER_DATA to the folder with letters/*.poly";
  const CurveSet s = read_curves(std::filesystem::path(folder) / "letters" / "letter_S_v2.poly");
  EXPECT_EQ(s.points.size(), 54428u);
  EXPECT_EQ(s.closed, (Flags{1}));
  const CurveSet a = read_curves(std::filesystem::path(folder) / "letters" / "letter_A.poly");
  EXPECT_EQ(a.points.size(), 57567u);
  EXPECT_EQ(a.closed, (Flags{1, 1, 1, 1}));
  EXPECT_TRUE(a.welds.empty());
}

// ------------------------------------------------------------------------------------------------------------------- ply

std::string ply(const std::string& format, const std::string& vertices, const std::string& edges, const std::string& data) {
  return "ply\nformat " + format + " 1.0\ncomment made by hand\n" + vertices + edges + "end_header\n" + data;
}
constexpr const char* kVertices = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
constexpr const char* kEdges = "element edge 2\nproperty int vertex1\nproperty int vertex2\n";

TEST(Ply, ReadsTextAndBytesAlike) {
  const std::string text = ply("ascii", kVertices, kEdges, "0 0 0\n1 0 0\n1 0.5 0\n2 1\n0 1\n");
  const std::string bytes =
      ply("binary_little_endian", kVertices, kEdges, pack(0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 1.f, .5f, 0.f) + pack(2, 1, 0, 1));
  std::string data = bytes.substr(bytes.find("end_header\n") + 11);
  for (std::size_t i = 0; i < data.size(); i += 4)
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(i), data.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  for (const std::string& file : {text, bytes, ply("binary_big_endian", kVertices, kEdges, data)}) {
    const CurveSet set = parse(file, ".ply");
    ASSERT_EQ(set.size(), 1u);
    EXPECT_EQ(set.points, (Points{{1, .5, 0}, {1, 0, 0}, {0, 0, 0}}));
  }
  const std::size_t header = bytes.find("end_header\n") + 11;
  for (std::size_t n = header; n < bytes.size(); ++n)
    EXPECT_NE(complaint(bytes.substr(0, n), ".ply").find(", byte "), std::string::npos) << n;
  for (std::size_t n = 0; n < header - 1; ++n)
    EXPECT_NE(complaint(bytes.substr(0, n), ".ply").find(", line "), std::string::npos) << n;
}

TEST(Ply, StepsOverWhatIsNotACurveAndTakesWidths) {
  const std::string vertices =
      "element vertex 2\nproperty double z\nproperty uchar red\nproperty list uchar short extra\nproperty double x\nproperty "
      "double "
      "y\nproperty float radius\n";
  const std::string faces = "element face 1\nproperty list uchar uint vertex_indices\n";
  const std::string edges = "element edge 1\nproperty uchar vertex1\nproperty ushort vertex2\n";
  const std::string vertex = pack(3.0, std::uint8_t{9}, std::uint8_t{2}, std::int16_t{1}, std::int16_t{2}, 1.0, 2.0, 0.25f);
  const std::string data = vertex + vertex + pack(std::uint8_t{3}, 0u, 1u, 0u) + pack(std::uint8_t{1}, std::uint16_t{0});
  const CurveSet set = parse(ply("binary_little_endian", vertices, faces + edges, data), ".ply");
  EXPECT_EQ(set.points, (Points{{1, 2, 3}, {1, 2, 3}}));
  EXPECT_EQ(set.widths, (Numbers{.5, .5}));
}

TEST(Ply, EdgesMaySayWhichCurveTheyBelongTo) {
  const std::string vertices = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string edges = "element edge 3\nproperty int vertex1\nproperty int vertex2\nproperty int curve\n";
  const std::string points = "-1 0 0\n0 0 0\n1 0 0\n0 1 0\n";
  const CurveSet set = parse(ply("ascii", vertices, edges, points + "0 1 7\n1 2 7\n1 3 9\n"), ".ply");
  EXPECT_EQ(set.start, (Starts{0, 3, 5}));
  EXPECT_EQ(set.welds, (std::vector<std::array<std::size_t, 2>>{{1, 3}}));
  expect_complaint(ply("ascii", vertices, edges, points + "0 1 -7\n1 2 7\n1 3 9\n"), ".ply", "line 17", "belongs to curve -7");
}

TEST(Ply, RefusesHeadersThatLie) {
  const std::string huge = "element vertex 1000000000000\nproperty double x\nproperty double y\nproperty double z\n";
  const std::string cut = ply("binary_little_endian", huge, "", "");
  expect_complaint(cut, ".ply", "byte " + std::to_string(cut.size()), "ends inside");
  expect_complaint(ply("ascii", huge, "", "1 2 3\n"), ".ply", "line 10", "ends before its last number");
  const std::string nothing = "element air 1000000000000000000\n";  // no properties, no bytes: nothing to wait for
  EXPECT_EQ(parse(ply("ascii", nothing, "", ""), ".ply").size(), 0u);
  expect_complaint(ply("binary_middle_endian", kVertices, kEdges, ""), ".ply", "line 2", "is not a format");
  expect_complaint("ply\nelement vertex x\n", ".ply", "line 2", "without a number");
  expect_complaint("ply\nproperty float x\n", ".ply", "line 2", "before the first element");
  expect_complaint("ply\nelement vertex 1\nproperty complex x\n", ".ply", "line 3", "not a type");
  expect_complaint("ply\nelement vertex 1\nelement vertex 1\n", ".ply", "line 3", "twice");
  expect_complaint("ply\nelement vertex 0\nend_header\n", ".ply", "line 3", "no format");
  expect_complaint("ply\nwhat\n", ".ply", "line 2", "`what`");
  expect_complaint(ply("ascii", "element vertex 1\nproperty float x\nproperty float y\n", "", "0 0\n"), ".ply", "line 4", "`z`");
}

TEST(Ply, RefusesEdgesAndNumbersThatAreNone) {
  expect_complaint(ply("ascii", kVertices, kEdges, "0 0 0\n1 0 0\n1 1 0\n0 1\n0 3\n"), ".ply", "", "edge 1 ends at vertex 3");
  expect_complaint(ply("ascii", kVertices, kEdges, "0 0 0\n1 0 0\n1 1 0\n0 1\n0 -1\n"), ".ply", "line 16", "-1");
  expect_complaint(ply("ascii", kVertices, kEdges, "0 0 0\n1 0 0\n1 1 0\n0 1.5\n0 1\n"), ".ply", "line 15", "whole number");
  expect_complaint(ply("ascii", kVertices, kEdges, "0 0 0\n1 nan 0\n1 1 0\n0 1\n0 1\n"), ".ply", "line 13", "not finite");
  expect_complaint(ply("ascii", kVertices, "", "0 0 0\n1 0 0\n1 1 0\n"), ".ply", "", "no edges");
  const std::string list = "element face 1\nproperty list int int i\n";
  expect_complaint(ply("binary_little_endian", list, "", pack(-1)), ".ply", "byte 107", "negative length");
  expect_complaint(ply("binary_little_endian", list, "", pack(2000000000)), ".ply", "byte 107", "longer than the file");
}

// ------------------------------------------------------------------------------------------------------------------- csv

TEST(Csv, PlainPointsAreSplitByBlankLines) {
  const CurveSet set = parse("# two curves\n0 0 0\n1,\t0, 0 # here\r\n\n+2;0;1e-400\n# no gap\n3 0 0\n", ".csv");
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(curve(set, 0), (Points{{0, 0, 0}, {1, 0, 0}}));
  EXPECT_EQ(curve(set, 1), (Points{{2, 0, 0}, {3, 0, 0}}));
  EXPECT_TRUE(set.names.empty() && set.ids.empty() && set.widths.empty());
}

TEST(Csv, FurtherColumnsWithoutAHeaderAreWidthAndCurve) {
  const CurveSet set = parse("0 0 0 0.5 wool\n1 0 0 0.25 wool\n0 1 0 1 silk\n", ".csv");
  EXPECT_EQ(set.start, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(set.names, (Names{"wool", "silk"}));
  EXPECT_EQ(set.widths, (Numbers{.5, .25, 1}));
  EXPECT_EQ(parse("0 0 0 wool\n", ".csv").names, (Names{"wool"}));
  EXPECT_EQ(parse("0 0 0 0.5 12\n", ".csv").ids, (Ids{12}));
}

TEST(Csv, AHeaderNamesTheColumnsInAnyOrder) {
  const CurveSet set = parse(
      "id,Name,note,Z [m],x,y,radius,closed\n"
      "7,\"a, \"\"b\"\"\",n,3,1,2,0.5,1\n"
      "7,\"a, \"\"b\"\"\",,3,1,4,0.5,1\n"
      "-8,漢字,,0,0,0,0,false\n",
      ".csv");
  EXPECT_EQ(set.ids, (Ids{7, -8}));
  EXPECT_EQ(set.names, (Names{"a, \"b\"", "漢字"}));
  EXPECT_EQ(set.closed, (Flags{1, 0}));
  EXPECT_EQ(set.widths, (Numbers{1, 1, 0}));
  EXPECT_EQ(curve(set, 0), (Points{{1, 2, 3}, {1, 4, 3}}));
}

TEST(Csv, HeadersWorkWithAnySeparator) {
  for (const char* s : {",", ";", "\t", " "}) {
    const std::string sep(s);
    EXPECT_EQ(parse("x" + sep + "y" + sep + "z\n1" + sep + "2" + sep + "3\n", ".csv").points, (Points{{1, 2, 3}}));
  }
}

TEST(Csv, TimesAreChosenAndInterpolated) {
  const std::string table = "time,x,y,z\n0,0,0,0\n0,1,0,0\n2,0,0,4\n2,1,0,8\n";
  CurveReadOptions options;
  EXPECT_EQ(parse(table, ".csv").points, (Points{{0, 0, 0}, {1, 0, 0}}));
  options.frame = -1;
  EXPECT_EQ(parse(table, ".csv", options).points, (Points{{0, 0, 4}, {1, 0, 8}}));
  options.frame.reset();
  options.time = 0.5;
  EXPECT_EQ(parse(table, ".csv", options).points, (Points{{0, 0, 1}, {1, 0, 2}}));
  options.time = 3;
  expect_complaint(table, ".csv", "", "nothing at time 3", options);
  options.time.reset();
  options.frame = 2;
  expect_complaint(table, ".csv", "", "no frame 2", options);
}

TEST(Csv, NamesTheLineThatIsWrong) {
  expect_complaint("0 0 0\n1 0\n", ".csv", "line 2", "2 columns");
  expect_complaint("0 0 0\n1 0 x\n", ".csv", "line 2", "`x`");
  expect_complaint("0 0 0\n1 0 nan\n", ".csv", "line 2", "not finite");
  expect_complaint("0 0 0\n1 0 1e999\n", ".csv", "line 2", "`1e999` is too large");
  expect_complaint("0 0\n", ".csv", "line 1", "2 columns");
  expect_complaint("a b c\n", ".csv", "line 1", "neither a point nor a header");
  expect_complaint("x,y,z,width,radius\n", ".csv", "line 1", "both width and radius");
  expect_complaint("x,y,z,x\n", ".csv", "line 1", "already");
  expect_complaint("x,y,z\n1,2,\n", ".csv", "line 2", "not a number");
  expect_complaint("x,y,z,width\n1,2,3,-1\n", ".csv", "line 2", "negative width");
  expect_complaint("x,y,z,closed\n1,2,3,maybe\n", ".csv", "line 2", "`maybe`");
  expect_complaint("x,y,z,closed\n1,2,3,0\n1,2,4,1\n", ".csv", "line 3", "changes");
  expect_complaint("x,y,z,name\n1,2,3,\"a\n", ".csv", "line 2", "does not end");
  expect_complaint("x,y,z,id,name\n1,2,3,a,b\n", ".csv", "line 2", "whole number");
}

}  // namespace
}  // namespace osier

// Edits of sets of curves.
#include <gtest/gtest.h>
#include <random>

#include "math/polyline.hpp"
#include "osier/curves.hpp"
#include "support/curve_checks.hpp"

namespace osier {
namespace {

using Names = std::vector<std::string>;
using Welds = std::vector<std::array<std::size_t, 2>>;

CurveSet set_of(const std::vector<std::vector<Vec3d>>& curves, std::vector<std::uint8_t> closed = {}) {
  CurveSet set;
  for (const auto& c : curves) {
    set.points.insert(set.points.end(), c.begin(), c.end());
    set.start.push_back(set.points.size());
  }
  set.closed = closed.empty() ? std::vector<std::uint8_t>(curves.size(), 0) : std::move(closed);
  return set;
}

CurveSet edited(const CurveSet& set, const CurveEdits& edits) {
  EXPECT_EQ(flaw_of(set), "");
  CurveSet result = edit_curves(set, edits);
  EXPECT_EQ(flaw_of(result), "");
  return result;
}

Names complaints(const CurveSet& set, const CurveEdits& edits) {
  try {
    edit_curves(set, edits);
  } catch (const InputError& error) {
    Names where;
    for (const Problem& p : error.problems()) {
      where.push_back(p.where);
      EXPECT_FALSE(p.remedy.empty()) << p.what;
    }
    return where;
  }
  return {};
}

double length(const CurveSet& set, std::size_t k) {
  std::vector<Vec3d> points(set.curve(k).begin(), set.curve(k).end());
  if (set.closed[k]) points.push_back(points.front());
  return polyline_length(points);
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance = 1e-14) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

const std::vector<Vec3d> kSquare{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};

CurveSet named() {
  CurveSet set = set_of({{{0, 0, 0}}, {{1, 0, 0}, {1, 1, 0}}, {{2, 0, 0}}, {{3, 0, 0}}});
  set.names = {"wool1", "silk", "wool2", "7"};
  set.widths = {0, 1, 2, 3, 4};
  return set;
}

Names picked(CurveSet set, const std::string& select) {
  CurveEdits edits;
  edits.select = select;
  return edited(set, edits).names;
}

TEST(CurveSelect, TakesNumbersRangesAndNames) {
  EXPECT_EQ(picked(named(), "1"), (Names{"silk"}));
  EXPECT_EQ(picked(named(), "2-, 0"), (Names{"wool1", "wool2", "7"}));
  EXPECT_EQ(picked(named(), "0-1"), (Names{"wool1", "silk"}));
  EXPECT_EQ(picked(named(), "wool*"), (Names{"wool1", "wool2"}));
  EXPECT_EQ(picked(named(), "s?l*,3"), (Names{"silk", "7"}));
  EXPECT_EQ(picked(named(), "*2*"), (Names{"wool2"}));
}

TEST(CurveSelect, NumbersAreIdsWhereThereAreIds) {
  CurveSet set = named();
  set.ids = {10, 20, 30, -5};
  EXPECT_EQ(picked(set, "20-30"), (Names{"silk", "wool2"}));
  EXPECT_EQ(picked(set, "-5"), (Names{"7"}));
  EXPECT_EQ(picked(set, "-9--1,10"), (Names{"wool1", "7"}));
}

TEST(CurveSelect, KeepsWidthsAndTheWeldsThatAreLeft) {
  CurveSet set = set_of({{{0, 0, 0}, {1, 0, 0}}, {{1, 0, 0}, {2, 0, 0}}, {{1, 0, 0}, {3, 0, 0}}});
  set.widths = {1, 2, 3, 4, 5, 6};
  set.welds = {{1, 2}, {1, 4}};
  CurveEdits edits;
  edits.select = "1-2";  // without the curve at the middle of the star
  const CurveSet two = edited(set, edits);
  EXPECT_EQ(two.welds, (Welds{{0, 2}}));
  EXPECT_EQ(two.widths, (std::vector<double>{3, 4, 5, 6}));
  edits.select = "2";
  EXPECT_TRUE(edited(set, edits).welds.empty());
}

TEST(CurveSelect, SaysEverythingThatMatchesNothing) {
  CurveEdits edits;
  edits.select = "9,cotton,,0-99";
  try {
    edit_curves(named(), edits);
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 3u);
    EXPECT_EQ(to_string(error.problems()[0]), "/select: `9` is not a curve; there are 0 to 3");
    EXPECT_EQ(to_string(error.problems()[1]), "/select: `cotton` is not a curve; there are wool1, silk, wool2, 7");
    EXPECT_EQ(error.problems()[2].what, "has an empty item");
  }
}

TEST(CurveEdits, ReportAllProblemsAtOnce) {
  CurveEdits edits;
  edits.scale = -1;
  edits.segments = 0;
  edits.segment_length = 0;
  edits.weld = -1;
  edits.select = "cotton";
  EXPECT_EQ(complaints(named(), edits), (Names{"/scale", "/segment_length", "/segments", "/segments", "/weld", "/select"}));
}

TEST(CurveUp, ReplacesWhatTheFileSaid) {
  CurveSet set = set_of({{{1, 3, -2}}});  // (1, 2, 3) of a file with z up
  set.up = UpAxis::z;
  CurveEdits edits;
  edits.up = UpAxis::y;
  expect_near(edited(set, edits).points[0], {1, 2, 3}, 0);
  edits.up = UpAxis::z;
  expect_near(edited(set, edits).points[0], {1, 3, -2}, 0);
  edits.up = UpAxis::x;
  expect_near(edited(set, edits).points[0], {-2, 1, 3}, 0);
}

TEST(CurveScale, ActsOnPointsAndWidths) {
  CurveEdits edits;
  edits.scale = 0.01;
  const CurveSet set = edited(named(), edits);
  expect_near(set.points[2], {0.01, 0.01, 0});
  EXPECT_DOUBLE_EQ(set.widths[4], 0.04);
  edits.scale = 1e300;
  EXPECT_EQ(complaints(set_of({{{1e300, 0, 0}}}), edits), (Names{"/scale"}));
}

TEST(CurveSplit, OpensLoopsWithoutLosingLength) {
  CurveSet set = set_of({kSquare, {{5, 0, 0}, {6, 0, 0}}}, {1, 0});
  set.widths = {1, 2, 3, 4, 5, 6};
  CurveEdits edits;
  edits.split_closed = true;
  const CurveSet open = edited(set, edits);
  EXPECT_EQ(open.closed, (std::vector<std::uint8_t>{0, 0}));
  EXPECT_DOUBLE_EQ(length(open, 0), 4);
  EXPECT_EQ(open.widths, (std::vector<double>{1, 2, 3, 4, 1, 5, 6}));
  edits.weld = 0.5;  // does not close it again
  EXPECT_EQ(edited(set, edits).closed, (std::vector<std::uint8_t>{0, 0}));
}

TEST(CurveResample, SpacesByLengthOrByNumber) {
  CurveSet set = set_of({{{0, 0, 0}, {0.3, 0, 0}, {2, 0, 0}}, kSquare}, {0, 1});
  set.widths = {0, 0.3, 2, 1, 1, 1, 1};
  CurveEdits edits;
  edits.segment_length = 0.26;
  const CurveSet fine = edited(set, edits);
  ASSERT_EQ(fine.curve(0).size(), 9u);  // 2/0.26 = 7.7 becomes 8 segments
  ASSERT_EQ(fine.curve(1).size(), 15u);
  for (std::size_t i = 0; i < 9; ++i) {
    expect_near(fine.points[i], {0.25 * static_cast<double>(i), 0, 0});
    EXPECT_NEAR(fine.widths[i], 0.25 * static_cast<double>(i), 1e-14);
  }
  edits.segment_length.reset();
  edits.segments = 8;
  const CurveSet eight = edited(set, edits);
  EXPECT_EQ(eight.curve(0).size(), 9u);
  EXPECT_EQ(eight.curve(1).size(), 8u);
  expect_near(eight.curve(1)[1], {0.5, 0, 0});
  edits.segments = 1;
  EXPECT_EQ(edited(set, edits).curve(1).size(), 3u);  // a loop needs three
}

TEST(CurveResample, KeepsWeldedPointsInPlace) {
  CurveSet set = set_of({{{0, 0, 0}, {1, 0, 0}, {4, 0, 0}}, {{1, 0, 0}, {1, 2, 0}}});
  set.welds = {{1, 3}};
  CurveEdits edits;
  edits.segment_length = 0.5;
  const CurveSet fine = edited(set, edits);
  ASSERT_EQ(fine.welds, (Welds{{2, 9}}));
  expect_near(fine.points[2], {1, 0, 0}, 0);
  EXPECT_EQ(fine.curve(0).size(), 9u);
}

TEST(CurveResample, LeavesPointsAndNothingsAlone) {
  CurveEdits edits;
  edits.segments = 5;
  const CurveSet set = edited(set_of({{{1, 1, 1}}, {}, {{2, 2, 2}, {2, 2, 2}}}), edits);
  EXPECT_EQ(set.start, (std::vector<std::size_t>{0, 1, 1, 3}));
}

TEST(CurveResample, RefusesBillionsOfPoints) {
  CurveEdits edits;
  edits.segment_length = 1e-30;
  EXPECT_EQ(complaints(set_of({{{0, 0, 0}, {1, 0, 0}}}), edits), (Names{"/segment_length"}));
  edits.segment_length = 1;
  EXPECT_EQ(complaints(set_of({{{-1e308, 0, 0}, {1e308, 0, 0}}}), edits), (Names{"/segment_length"}));
}

TEST(CurveWeld, EndsMeetInTheirMiddle) {
  CurveEdits edits;
  edits.weld = 0.1;
  const CurveSet set = edited(
      set_of({{{0, 0, 0}, {1, 0, 0}}, {{1.08, 0, 0}, {2, 0, 0}}, {{1, 0.06, 0}, {1, 2, 0}}, {{1.3, 0, 0}, {5, 5, 5}}}), edits);
  EXPECT_EQ(set.welds, (Welds{{1, 2}, {1, 4}}));
  expect_near(set.points[1], {(1 + 1.08 + 1) / 3, 0.02, 0});
  expect_near(set.points[6], {1.3, 0, 0}, 0);
}

TEST(CurveWeld, ACurveWhoseEndsMeetIsClosed) {
  std::vector<Vec3d> almost = kSquare;
  almost.push_back({0, 0.01, 0});
  CurveEdits edits;
  edits.weld = 0.05;
  const CurveSet set = edited(set_of({almost, {{0, 0.005, 0}, {-1, 0, 0}}}), edits);
  EXPECT_EQ(set.closed, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(set.curve(0).size(), 4u);
  EXPECT_EQ(set.welds, (Welds{{0, 4}}));
  edits.weld = 3;
  EXPECT_EQ(complaints(set_of({{{0, 0, 0}, {1, 0, 0}}}), edits), (Names{"/weld"}));
}

TEST(CurveWeld, DistanceZeroJoinsOnlyWhatCoincides) {
  CurveEdits edits;
  edits.weld = 0;
  const CurveSet set = edited(
      set_of(
          {{{0, 0, 0}, {0.1, 0.2, 0.3}}, {{0.1, 0.2, 0.3}, {1, 0, 0}}, {{-0.0, 0, 0}, {5, 0, 0}}, {{1e-300, 0, 0}, {7, 0, 0}}}),
      edits);
  EXPECT_EQ(set.welds, (Welds{{0, 4}, {1, 2}}));
  expect_near(set.points[1], {0.1, 0.2, 0.3}, 0);
}

TEST(CurveWeld, AgreesWithComparingAllPairs) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-1, 1);
  std::vector<std::vector<Vec3d>> curves(300);
  for (auto& c : curves) c = {{place(random), place(random), 0}, {place(random), place(random), 10}};  // ends of two planes
  const CurveSet set = set_of(curves);
  CurveEdits edits;
  edits.weld = 0.05;
  // Groups by brute force: the lowest point that each can be reached from.
  const std::size_t n = set.points.size();
  std::vector<std::size_t> low(n);
  for (std::size_t i = 0; i < n; ++i) low[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (norm(set.points[i] - set.points[j]) <= 0.05 && low[j] < low[i]) low[i] = low[j], changed = true;
  }
  Welds expected;
  for (std::size_t i = 0; i < n; ++i)
    if (low[i] != i) expected.push_back({low[i], i});
  std::sort(expected.begin(), expected.end());
  ASSERT_GT(expected.size(), 100u);
  EXPECT_EQ(edited(set, edits).welds, expected);
}

TEST(CurveWeld, HugeCoordinatesStayApart) {
  CurveEdits edits;
  edits.weld = 0.1;
  EXPECT_TRUE(edited(set_of({{{1e308, 0, 0}, {0, 0, 0}}, {{1.5e308, 0, 0}, {5, 0, 0}}}), edits).welds.empty());
}

TEST(CurveWeld, ACrowdInOnePlaceIsQuick) {
  std::vector<std::vector<Vec3d>> strands;
  for (int i = 0; i < 20000; ++i) strands.push_back({{0, 0, 1e-6 * i}, {static_cast<double>(i), 1, 0}});
  CurveEdits edits;
  edits.weld = 0.1;
  EXPECT_EQ(edited(set_of(strands), edits).welds.size(), 19999u);
}

}  // namespace
}  // namespace osier

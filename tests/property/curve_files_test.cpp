// Curves that are written and read again are the same curves, as far as the format can hold them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

#include "io/curve_writer.hpp"
#include "osier/curves.hpp"
#include "osier/error.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

const char* const kReadAndWritten[] = {".bcc", ".hair", ".obj", ".poly", ".usda", ".ply", ".csv"};

struct Shape {
  int curves = 12, most_points = 9;
  bool names = true, ids = true, widths = true, closed = true, empty = true, lonely = true;
};

CurveSet random_curves(std::mt19937& dice, const Shape& shape) {
  const char* const words[] = {"wool", "Bögen", "糸", "a b", "αβγ", "\"q\"", "x,y", "naïve;1"};
  CurveSet set;
  std::uniform_real_distribution<double> place(-3, 3), width(1e-4, 1e-2);
  for (int k = 0; k < shape.curves; ++k) {
    int n = std::uniform_int_distribution<int>(3, shape.most_points)(dice);
    const bool closed = shape.closed && dice() % 3 == 0;
    if (!closed && shape.empty && dice() % 5 == 0) n = 0;
    if (!closed && shape.lonely && dice() % 5 == 0) n = 1;
    for (int i = 0; i < n; ++i) set.points.push_back({place(dice), place(dice), place(dice)});
    set.start.push_back(set.points.size());
    set.closed.push_back(closed ? 1 : 0);
    if (shape.names) set.names.push_back(std::string(words[dice() % 8]) + std::to_string(k));
    if (shape.ids) set.ids.push_back(100 + 7 * k);
  }
  if (shape.widths)
    for (std::size_t p = 0; p < set.points.size(); ++p) set.widths.push_back(width(dice));
  return set;
}

/// What of a curve a format keeps, in a form that can be compared.
struct Curve {
  std::vector<double> numbers;
  bool closed;
  std::string name;
  std::int64_t id;
  std::vector<double> widths;
  bool operator==(const Curve&) const = default;
};

std::vector<Curve> kept(const CurveSet& set, const CurveOutput& format, bool drop_lonely, bool of_file) {
  const auto number = [&](double v) { return format.single_precision ? static_cast<double>(static_cast<float>(v)) : v; };
  std::vector<Curve> curves;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const std::size_t n = set.curve(k).size();
    if ((n == 0 && !format.holds_empty) || (n == 1 && drop_lonely)) continue;
    Curve c{{}, set.closed[k] != 0, {}, 0, {}};
    if (format.holds_names && !set.names.empty()) c.name = set.names[k];
    if (format.holds_ids && !set.ids.empty()) c.id = set.ids[k];
    const auto add = [&](std::size_t p) {
      for (const double v : {set.points[p].x, set.points[p].y, set.points[p].z}) c.numbers.push_back(number(v));
      if (format.holds_widths && !set.widths.empty()) c.widths.push_back(number(set.widths[p]));
    };
    for (std::size_t p = set.start[k]; p < set.start[k + 1]; ++p) add(p);
    if (c.closed && !format.holds_closed && !of_file) add(set.start[k]), c.closed = false;
    curves.push_back(std::move(c));
  }
  // USD keeps closed curves in a prim of their own.
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) { return a.closed < b.closed; });
  return curves;
}

class CurveFiles : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_curves_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// PLY holds edges, and a point alone has none.
  bool drops_lonely() const { return std::string(GetParam()) == ".ply"; }

  void expect_round_trip(const CurveSet& set) {
    const fs::path file = folder_ / (std::string("curves") + GetParam());
    write_curves(file, set);
    const CurveSet back = read_curves(file);
    const CurveOutput& format = *find_curve_output(GetParam());
    const auto before = kept(set, format, drops_lonely(), false), after = kept(back, format, drops_lonely(), true);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(before[k].closed, after[k].closed) << k;
      EXPECT_EQ(before[k].numbers, after[k].numbers) << k;
      if (!set.names.empty()) {  // a curve without one may be called after its prim
        EXPECT_EQ(before[k].name, after[k].name) << k;
      }
      if (!set.ids.empty()) {
        EXPECT_EQ(before[k].id, after[k].id) << k;
      }
      if (!set.widths.empty()) {
        EXPECT_EQ(before[k].widths, after[k].widths) << k;
      }
    }
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path(), file) << "something was left behind";
  }

  fs::path folder_;
};

TEST_P(CurveFiles, RandomSetsComeBackTheSame) {
  std::mt19937 dice(7);
  for (int trial = 0; trial < 60; ++trial) {
    Shape shape;
    shape.curves = static_cast<int>(dice() % 20);
    shape.names = trial % 2 == 0, shape.ids = trial % 3 != 0, shape.widths = trial % 4 != 0;
    shape.closed = trial % 5 != 0, shape.empty = trial % 7 != 0, shape.lonely = trial % 3 == 0;
    SCOPED_TRACE(trial);
    const CurveSet set = random_curves(dice, shape);
    if (kept(set, *find_curve_output(GetParam()), drops_lonely(), false).empty()) continue;  // tested below
    expect_round_trip(set);
    if (HasFailure()) return;
  }
}

TEST_P(CurveFiles, AMillionPointsComeBackTheSame) {
  std::mt19937 dice(11);
  Shape shape;
  shape.curves = 30000, shape.most_points = 65, shape.empty = shape.lonely = false;
  const CurveSet set = random_curves(dice, shape);
  EXPECT_GT(set.points.size(), 1'000'000U);
  expect_round_trip(set);
}

TEST_P(CurveFiles, ASetWithoutCurvesIsAFile) {
  const fs::path file = folder_ / (std::string("none") + GetParam());
  write_curves(file, {});
  EXPECT_TRUE(fs::exists(file));
}

TEST_P(CurveFiles, AFolderInTheWayIsAnErrorThatNamesIt) {
  fs::create_directories(folder_ / (std::string("folder") + GetParam()));
  CurveSet set;
  set.points = {{0, 0, 0}, {1, 0, 0}}, set.start = {0, 2}, set.closed = {0};
  try {
    write_curves(folder_ / (std::string("folder") + GetParam()), set);
    FAIL();
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("folder"), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, CurveFiles, ::testing::ValuesIn(kReadAndWritten),
                         [](const auto& format) { return std::string(format.param).substr(1); });

TEST(CurveFilesTest, AStrandLongerThanTheHairFormatCountsIsRefusedAndNothingIsWritten) {
  CurveSet set;
  for (int i = 0; i < 70000; ++i) set.points.push_back({0.001 * i, 0, 0});
  set.start = {0, set.points.size()}, set.closed = {0};
  const fs::path file = fs::temp_directory_path() / ("osier_long_" + std::to_string(getpid()) + ".hair");
  EXPECT_THROW(write_curves(file, set), InputError);
  EXPECT_FALSE(fs::exists(file));
}

TEST(CurveFilesTest, AnUnknownExtensionIsRefusedWithTheKnownOnes) {
  try {
    write_curves("curves.abc", {});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(".usda"), std::string::npos);
  }
}

}  // namespace
}  // namespace osier

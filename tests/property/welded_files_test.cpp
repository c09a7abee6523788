// Curves that meet are written with the points they share, and come back as the same graph.
#include <algorithm>
#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <unistd.h>

#include "io/curve_writer.hpp"
#include "io/curves/point_groups.hpp"
#include "math/vec3.hpp"
#include "osier/curves.hpp"
#include "support/curve_checks.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

/// Curves over common vertices. No curve passes a vertex twice, but any number of them may meet in one.
CurveSet random_graph(std::mt19937& dice, bool names, bool widths) {
  std::uniform_real_distribution<double> place(-3, 3);
  const std::size_t vertices = 4 + dice() % 12;
  std::vector<Vec3d> at;
  for (std::size_t v = 0; v < vertices; ++v) at.push_back({place(dice), place(dice), place(dice)});
  CurveSet set;
  PointGroups groups;
  std::map<std::size_t, std::size_t> first;
  const std::size_t curves = 1 + dice() % 8;
  for (std::size_t k = 0; k < curves; ++k) {
    std::vector<std::size_t> order(vertices);
    for (std::size_t v = 0; v < vertices; ++v) order[v] = v;
    std::shuffle(order.begin(), order.end(), dice);
    const bool closed = dice() % 3 == 0;
    const std::size_t n = std::min(vertices, (closed ? 3 : 2) + dice() % 5);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t p = set.points.size(), v = order[i];
      set.points.push_back(at[v]);
      if (widths) set.widths.push_back(0.01 * static_cast<double>(v + 1));
      if (const auto [there, fresh] = first.try_emplace(v, p); !fresh) groups.join(there->second, p);
    }
    set.start.push_back(set.points.size());
    set.closed.push_back(closed ? 1 : 0);
    if (names) set.names.push_back("rod " + std::to_string(k));
  }
  set.welds = groups.welds();
  return set;
}

using Place = std::array<double, 3>;
using Edges = std::multiset<std::pair<Place, Place>>;

/// The edges between vertices. Distinct vertices lie at distinct places here, so a place with two numbers is a lost weld.
Edges edges_of(const CurveSet& set) {
  const SharedPoints shared = shared_points(set);
  std::set<Place> places;
  const auto place = [&](std::size_t p) {
    const Vec3d& x = set.points[shared.point[shared.number[p]]];
    return Place{x.x, x.y, x.z};
  };
  for (std::size_t p = 0; p < set.points.size(); ++p) places.insert(place(p));
  EXPECT_EQ(places.size(), shared.point.size()) << "points at one place are not one";
  Edges edges;
  for (std::size_t k = 0; k < set.size(); ++k)
    for (std::size_t i = 0, n = set.curve(k).size(); i + (set.closed[k] ? 0 : 1) < n; ++i) {
      const Place a = place(set.start[k] + i), b = place(set.start[k] + (i + 1) % n);
      edges.insert({std::min(a, b), std::max(a, b)});
    }
  return edges;
}

class WeldedFiles : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_welded_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  CurveSet back(const CurveSet& set) const {
    const fs::path file = folder_ / (std::string("graph") + GetParam());
    write_curves(file, set);
    CurveSet read = read_curves(file);
    EXPECT_EQ(flaw_of(read), "");
    return read;
  }
  fs::path folder_;
};

TEST_P(WeldedFiles, TheSameGraphComesBack) {
  std::mt19937 dice(5);
  for (int trial = 0; trial < 200 && !HasFailure(); ++trial) {
    SCOPED_TRACE(trial);
    const CurveSet set = random_graph(dice, trial % 2 == 0, trial % 3 == 0);
    ASSERT_EQ(flaw_of(set), "");
    EXPECT_EQ(edges_of(back(set)), edges_of(set));
    for (const std::string& lost : what_is_lost(*find_curve_output(GetParam()), {0, 0, set, {}, {}}))
      EXPECT_EQ(lost.find("welded"), std::string::npos) << lost;
  }
}

/// By names or numbers of curves; in .poly those that meet end to end, and nothing else there, become one.
class WeldedFilesThatTellCurvesApart : public WeldedFiles {};

TEST_P(WeldedFilesThatTellCurvesApart, CurvesComeBackOneByOne) {
  std::mt19937 dice(6);
  for (int trial = 0; trial < 100 && !HasFailure(); ++trial) {
    SCOPED_TRACE(trial);
    const CurveSet set = random_graph(dice, true, false), read = back(set);
    if (std::string(GetParam()) == ".ply" && set.welds.empty()) continue;  // names are lost, and with them nothing else
    ASSERT_EQ(read.start, set.start);
    EXPECT_EQ(read.closed, set.closed);
    EXPECT_EQ(read.welds, set.welds);
    for (std::size_t p = 0; p < set.points.size(); ++p) EXPECT_EQ(norm2(read.points[p] - set.points[p]), 0) << p;
  }
}

TEST_P(WeldedFiles, ASharedPointIsInTheFileOnce) {
  CurveSet cross;
  cross.points = {{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 0, 0}, {0, 1, 0}};
  cross.start = {0, 3, 6}, cross.closed = {0, 0}, cross.names = {"a", "b"}, cross.welds = {{1, 4}};
  const CurveSet read = back(cross);
  EXPECT_EQ(shared_points(read).point.size(), 5U);
  EXPECT_EQ(read.points.size(), 6U);
}

std::string extension(const ::testing::TestParamInfo<const char*>& format) { return std::string(format.param).substr(1); }
INSTANTIATE_TEST_SUITE_P(Formats, WeldedFiles, ::testing::Values(".obj", ".ply", ".poly"), extension);
INSTANTIATE_TEST_SUITE_P(Formats, WeldedFilesThatTellCurvesApart, ::testing::Values(".obj", ".ply"), extension);

}  // namespace
}  // namespace osier

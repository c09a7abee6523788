// Plots of `osier bench`: what is written into them can be read.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <regex>

#include "bench/plot.hpp"

namespace osier::bench {
namespace {

struct Words {
  double x, y;
  std::string text;
};

/// Everything of that pattern, whose groups are x, y and the text.
std::vector<Words> words_in(const std::string& svg, const std::string& pattern) {
  std::vector<Words> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(svg.begin(), svg.end(), regex), end; it != end; ++it)
    found.push_back({std::stod((*it)[1]), std::stod((*it)[2]), (*it)[3]});
  return found;
}

/// Both methods in both precisions; the errors lie between `low` and `high`.
Bench bench_with(double low, double high) {
  Bench bench;
  for (const char* precision : {"float", "double"})
    for (const char* method : {"sweep", "direct"})
      for (int i = 0; i < 8; ++i) {
        BenchRow r;
        r.suite = "scenes", r.table = "error_over_time", r.scene = "cantilever_stiff", r.method = method, r.precision = precision;
        r.iterations = 1 << i, r.ms_per_frame_min = 0.7 * (1 << i), r.error = low * std::pow(high / low, i / 7.0);
        bench.rows.push_back(r);
      }
  return bench;
}

constexpr double kLetter = 6.6, kHeight = 9;  ///< of a wide font of 11 px

constexpr const char* kLegend = R"rx(<text x="([0-9.]+)" y="([0-9.]+)" text-anchor="start">([^<]*)</text>)rx";
constexpr const char* kTitle = R"rx(class="title" x="([0-9.]+)" y="([0-9.]+)">([^<]*)<)rx";
constexpr const char* kNumber = R"rx(class="tiny" x="([0-9.]+)" y="([0-9.]+)" text-anchor="middle">([^<]*)<)rx";

/// Errors at the top of a decade, at its bottom, on it, in one decade, and clamped.
constexpr std::pair<double, double> kErrors[] = {{1e-6, 0.9}, {1.1e-6, 1.1}, {1e-6, 1.0}, {1e-3, 2.5e-3}, {1e-20, 1e9}};

double end_of(const Words& w) { return w.x + kLetter * static_cast<double>(w.text.size()); }

TEST(BenchPlot, LegendIsClearOfThePointsOfTheTitleAndOfItself) {
  for (const auto& [low, high] : kErrors) {
    const auto files = error_plots(bench_with(low, high));
    ASSERT_EQ(files.size(), 2U);
    const std::string& svg = files[1].second;
    const auto legend = words_in(svg, kLegend), title = words_in(svg, kTitle), numbers = words_in(svg, kNumber);
    ASSERT_EQ(legend.size(), 4U);
    ASSERT_EQ(title.size(), 1U);
    ASSERT_EQ(numbers.size(), 32U);
    for (const Words& a : legend) {
      EXPECT_LT(title[0].x + 8 * static_cast<double>(title[0].text.size()), a.x - 27) << "title on the line of " << a.text;
      EXPECT_LT(end_of(a), 500) << a.text << " leaves the picture";
      for (const Words& b : legend) {
        if (a.y == b.y && a.x < b.x) {
          EXPECT_LT(end_of(a), b.x - 27) << a.text << " on the line of " << b.text;
        }
      }
      for (const Words& n : numbers) EXPECT_GT(n.y - kHeight, a.y + 2) << "number " << n.text << " on " << a.text;
    }
  }
}

TEST(BenchPlot, EveryNumberStandsInsideTheAxes) {
  const std::regex line(R"rx(<line class="grid" x1="([0-9.]+)" y1="([0-9.]+)" x2="([0-9.]+)" y2="([0-9.]+)"/>)rx");
  for (const auto& [low, high] : kErrors) {
    const std::string svg = error_plots(bench_with(low, high))[1].second;
    double top = 1e9, bottom = 0;
    for (std::sregex_iterator it(svg.begin(), svg.end(), line), end; it != end; ++it)
      top = std::min(top, std::stod((*it)[2])), bottom = std::max(bottom, std::stod((*it)[4]));
    ASSERT_LT(top, bottom);
    for (const Words& n : words_in(svg, kNumber)) {
      EXPECT_GE(n.y - kHeight, top) << n.text;
      EXPECT_LE(n.y, bottom) << n.text;
    }
  }
}

}  // namespace
}  // namespace osier::bench

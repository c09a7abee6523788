// The few elements of SVG that plots are made of. Colours come from a style: the class c0, c1, ... of a series.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace osier::svg {

constexpr int kColors = 8;

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double v) { low = std::min(low, v), high = std::max(high, v); }
  double size() const { return high - low; }
};

/// Data to pixels, on a rectangle that has its origin at the top left.
struct Frame {
  double left, top, width, height;
  Range x, y;
  double px(double v) const { return left + width * (v - x.low) / x.size(); }
  double py(double v) const { return top + height * (1 - (v - y.low) / y.size()); }
};

std::string escape(const std::string& text);

/// "c3" for the fourth series, and again for the twelfth.
std::string color_class(std::size_t series);

std::string path(const std::vector<std::pair<double, double>>& pixels, const std::string& classes);
std::string words(double x, double y, const char* anchor, const std::string& text);
std::string grid_line(double x1, double y1, double x2, double y2);
/// Circles, then squares, then triangles, as the colours repeat.
std::string marker(std::size_t series, double x, double y, const std::string& classes);

}  // namespace osier::svg

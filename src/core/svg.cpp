#include "core/svg.hpp"

#include <fmt/format.h>

namespace osier::svg {

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string color_class(std::size_t series) { return fmt::format("c{}", series % kColors); }

std::string path(const std::vector<std::pair<double, double>>& pixels, const std::string& classes) {
  std::string d;
  for (const auto& [x, y] : pixels) d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", x, y);
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", classes, d);
}

std::string words(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, escape(text));
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x1, y1, x2, y2);
}

std::string marker(std::size_t series, double x, double y, const std::string& classes) {
  switch (series / kColors % 3) {
    case 0:
      return fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", classes, x, y);
    case 1:
      return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"5.4\" height=\"5.4\"/>", classes, x - 2.7,
                         y - 2.7);
    default:
      return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}l3.4 6h-6.8z\"/>", classes, x, y - 3.7);
  }
}

}  // namespace osier::svg

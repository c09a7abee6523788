#include "bench/plot.hpp"

#include <fmt/format.h>

#include "bench/subject.hpp"
#include "core/svg.hpp"

namespace osier::bench {

namespace {

using svg::Frame;
using svg::Range;

constexpr double kWidth = 500, kHeight = 340;
/// The legend stands beside the title, two to a line; fonts differ, so its columns have room for wide ones.
constexpr double kLegendLeft = 212, kLegendColumn = 140, kLegendLine = 16;
/// What the number at a point takes above or below it.
constexpr double kNumberRoom = 18;
/// Errors below rounding are drawn on the edge.
constexpr double kSmallest = 1e-13;

// Plain rules without variables: not every viewer of SVG knows those.
constexpr const char* kStyle = R"css(<style>
.paper { fill: #fbfaf6; } text { font: 11px system-ui, sans-serif; fill: #5c646b; } .title { font-size: 13px; font-weight: 600; fill: #23282d; }
.tiny { font-size: 9px; } path, line { fill: none; } .grid { stroke: #ddd9cf; stroke-width: 1; }
.line { stroke-width: 1.8; } .line.c0 { stroke: #1f6fb2; } .line.c1 { stroke: #c2501f; } .line.c2 { stroke: #3f7d35; } .float { stroke-dasharray: 5 3; }
.dot.c0 { fill: #1f6fb2; } .dot.c1 { fill: #c2501f; } .dot.c2 { fill: #3f7d35; }
.hollow { fill: #fbfaf6; stroke-width: 1.4; } .hollow.c0 { stroke: #1f6fb2; } .hollow.c1 { stroke: #c2501f; } .hollow.c2 { stroke: #3f7d35; }
@media (prefers-color-scheme: dark) {
.paper { fill: #14181c; } text { fill: #a3adb6; } .title { fill: #e3e6e8; } .grid { stroke: #333b43; }
.line.c0 { stroke: #78b4e0; } .line.c1 { stroke: #f0925f; } .line.c2 { stroke: #8fc77f; }
.dot.c0 { fill: #78b4e0; } .dot.c1 { fill: #f0925f; } .dot.c2 { fill: #8fc77f; }
.hollow { fill: #14181c; } .hollow.c0 { stroke: #78b4e0; } .hollow.c1 { stroke: #f0925f; } .hollow.c2 { stroke: #8fc77f; }
}
</style>
)css";

struct Series {
  std::string method, precision;
  std::vector<const BenchRow*> points;
  bool converges() const { return method == method_name(SolverRole::converging); }
  bool sweeps() const { return method == method_name(SolverRole::sweeps); }
  std::size_t color() const { return converges() ? 0 : sweeps() ? 1 : 2; }
  bool in_float() const { return precision == "float"; }
  std::string label() const { return (converges() ? "direct" : sweeps() ? "sweeps" : method) + (", " + precision); }
};

struct Panel {
  std::string scene;
  std::vector<Series> series;
};

std::vector<Panel> panels_of(const Bench& bench) {
  std::vector<Panel> panels;
  for (const BenchRow& r : bench.rows) {
    if (r.table != "error_over_time" || !r.error || !r.ms_per_frame_min) continue;
    if (panels.empty() || panels.back().scene != r.scene) panels.push_back({r.scene, {}});
    auto& series = panels.back().series;
    auto it = std::find_if(series.begin(), series.end(),
                           [&](const Series& s) { return s.method == r.method && s.precision == r.precision; });
    if (it == series.end()) it = series.insert(series.end(), {r.method, r.precision, {}});
    it->points.push_back(&r);
  }
  return panels;
}

double log_ms(const BenchRow& r) { return std::log10(*r.ms_per_frame_min); }
double log_error(const BenchRow& r) { return std::log10(std::clamp(*r.error, kSmallest, 1e3)); }

std::size_t legend_lines(const Panel& p) { return (p.series.size() + 1) / 2; }

Frame frame_of(const Panel& p, double left, double top) {
  const double head = 20 + kLegendLine * static_cast<double>(legend_lines(p));
  Frame f{.left = left + 52, .top = top + head, .width = kWidth - 80, .height = kHeight - head - 46, .x = {}, .y = {}};
  for (const Series& s : p.series)
    for (const BenchRow* r : s.points) f.x.add(log_ms(*r)), f.y.add(log_error(*r));
  const Range points = f.y;
  f.x = {std::floor(f.x.low - 0.05), std::ceil(f.x.high + 0.05)};
  f.y = {std::floor(points.low - 0.1), std::ceil(points.high + 0.1)};
  if (f.py(points.high) - f.top < kNumberRoom) ++f.y.high;
  if (f.top + f.height - f.py(points.low) < kNumberRoom) --f.y.low;
  return f;
}

std::string axes(const Frame& f) {
  std::string out;
  for (int e = static_cast<int>(f.x.low); e <= static_cast<int>(f.x.high); ++e) {
    out += svg::grid_line(f.px(e), f.top, f.px(e), f.top + f.height);
    out += svg::words(f.px(e), f.top + f.height + 15, "middle", fmt::format("{:g}", std::pow(10, e)));
  }
  const int every = f.y.size() > 7 ? 2 : 1;
  for (int e = static_cast<int>(f.y.low); e <= static_cast<int>(f.y.high); ++e) {
    out += svg::grid_line(f.left, f.py(e), f.left + f.width, f.py(e));
    if ((e - static_cast<int>(f.y.low)) % every == 0) out += svg::words(f.left - 5, f.py(e) + 4, "end", fmt::format("1e{}", e));
  }
  out += svg::words(f.left + f.width / 2, f.top + f.height + 32, "middle", "ms per frame");
  const double middle = f.top + f.height / 2, x = f.left - 40;
  return out + fmt::format("<g transform=\"rotate(-90 {:.1f} {:.1f})\">{}</g>", x, middle,
                           svg::words(x, middle, "middle", "error / motion"));
}

std::string draw(const Frame& f, const Series& s) {
  const std::string color = svg::color_class(s.color());
  std::vector<std::pair<double, double>> pixels;
  for (const BenchRow* r : s.points) pixels.emplace_back(f.px(log_ms(*r)), f.py(log_error(*r)));
  std::string out = svg::path(pixels, "line " + color + (s.in_float() ? " float" : ""));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto [x, y] = pixels[i];
    out += svg::marker(0, x, y, (s.in_float() ? "hollow " : "dot ") + color);
    // Iterations per step, where there is room: below the line in float, above it in double.
    out += fmt::format("<text class=\"tiny\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>", x,
                       s.in_float() ? y + 13 : y - 6, *s.points[i]->iterations);
  }
  return out;
}

std::string legend(const Panel& p, double left, double top) {
  std::string out;
  for (std::size_t i = 0; i < p.series.size(); ++i) {
    const Series& s = p.series[i];
    const std::size_t column = i % 2, row = i / 2;
    const double x = left + kLegendLeft + kLegendColumn * static_cast<double>(column);
    const double y = top + 14 + kLegendLine * static_cast<double>(row);
    const std::string color = svg::color_class(s.color());
    out += svg::path({{x, y}, {x + 22, y}}, "line " + color + (s.in_float() ? " float" : ""));
    out += svg::marker(0, x + 11, y, (s.in_float() ? "hollow " : "dot ") + color);
    out += svg::words(x + 27, y + 4, "start", s.label());
  }
  return out;
}

std::string draw(const Panel& p, double left, double top) {
  const Frame f = frame_of(p, left, top);
  std::string out =
      fmt::format("<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left + 52, top + 18, svg::escape(p.scene));
  out += legend(p, left, top) + "\n" + axes(f) + "\n";
  for (const Series& s : p.series) out += draw(f, s) + "\n";
  return out;
}

std::string picture(const std::vector<Panel>& panels, std::size_t columns) {
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double width = kWidth * static_cast<double>(columns), height = kHeight * static_cast<double>(rows);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\" "
      "aria-label=\"error over time per frame, for sweeps and direct steps; numbers are iterations per step\">\n{2}"
      "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"8\"/>\n",
      width, height, kStyle);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t column = i % columns, row = i / columns;
    out += draw(panels[i], kWidth * static_cast<double>(column), kHeight * static_cast<double>(row));
  }
  return out + "</svg>\n";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> error_plots(const Bench& bench) {
  const std::vector<Panel> panels = panels_of(bench);
  std::vector<std::pair<std::string, std::string>> files;
  if (panels.empty()) return files;
  files.emplace_back("error_over_time.svg", picture(panels, std::min<std::size_t>(2, panels.size())));
  for (const Panel& p : panels) files.emplace_back("error_over_time_" + p.scene + ".svg", picture({p}, 1));
  return files;
}

}  // namespace osier::bench

#include "validate/report/plot.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace osier::validate {

namespace {

using namespace svg;

std::string open_svg(double width, double height, const std::string& label) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">", width, height, escape(label));
}

constexpr double kWidth = 380, kHeight = 270;
/// Errors beyond these are drawn on the edge.
constexpr double kLargest = 10, kSmallest = 1e-12;

double log_error(double v) { return std::log10(std::clamp(std::abs(v), kSmallest, kLargest)); }

Frame error_frame(const std::vector<ErrorSeries>& series) {
  Frame f{.left = 46, .top = 8, .width = kWidth - 56, .height = kHeight - 46, .x = {}, .y = {}};
  for (const ErrorSeries& s : series)
    for (const auto* points : {&s.error, &s.allowed, &s.sweeps})
      for (const PlotPoint& p : *points) f.x.add(std::log10(p.x)), f.y.add(log_error(p.y));
  const double margin = 0.07 * std::max(f.x.size(), 0.3);
  f.x = {f.x.low - margin, f.x.high + margin};
  f.y = {std::floor(f.y.low - 0.1), std::ceil(f.y.high + 0.1)};
  return f;
}

std::string error_axes(const Frame& f, const std::string& resolution_name, const std::vector<ErrorSeries>& series) {
  std::string svg;
  const int every = f.y.size() > 7 ? 2 : 1;
  for (int e = static_cast<int>(f.y.low); e <= static_cast<int>(f.y.high); ++e) {
    svg += grid_line(f.left, f.py(e), f.left + f.width, f.py(e));
    if ((e - static_cast<int>(f.y.low)) % every == 0) svg += words(f.left - 5, f.py(e) + 4, "end", fmt::format("1e{}", e));
  }
  std::vector<double> ticks;
  for (const ErrorSeries& s : series)
    for (const PlotPoint& p : s.error) ticks.push_back(p.x);
  std::sort(ticks.begin(), ticks.end());
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  double last = -INFINITY;
  for (double t : ticks) {
    const double x = f.px(std::log10(t));
    svg += grid_line(x, f.top, x, f.top + f.height);
    if (x - last < 26) continue;  // no room for its number
    svg += words(x, f.top + f.height + 15, "middle", fmt::format("{:g}", t));
    last = x;
  }
  return svg + words(f.left + f.width / 2, kHeight - 6, "middle", resolution_name);
}

/// Through the middle of the errors at the coarsest resolution.
std::string second_order(const Frame& f, const std::vector<ErrorSeries>& series) {
  double from = INFINITY, to = -INFINITY;
  for (const ErrorSeries& s : series)
    for (const PlotPoint& p : s.error) from = std::min(from, p.x), to = std::max(to, p.x);
  double sum = 0;
  int n = 0;
  for (const ErrorSeries& s : series)
    for (const PlotPoint& p : s.error)
      if (p.x == from) sum += log_error(p.y), ++n;
  const double x0 = std::log10(from), y0 = sum / n, y1 = std::max(f.y.low, y0 - 2 * (std::log10(to) - x0));
  const double x1 = x0 + (y0 - y1) / 2;
  return path({{f.px(x0), f.py(y0)}, {f.px(x1), f.py(y1)}}, "second-order");
}

std::string draw_series(const Frame& f, std::size_t index, const ErrorSeries& s) {
  const auto pixels = [&](const std::vector<PlotPoint>& points) {
    std::vector<std::pair<double, double>> out;
    for (const PlotPoint& p : points) out.emplace_back(f.px(std::log10(p.x)), f.py(log_error(p.y)));
    return out;
  };
  const std::string color = color_class(index);
  std::string svg;
  if (s.allowed.size() > 1) {
    svg += path(pixels(s.allowed), "allowed " + color);
  } else {  // a bound at a single resolution
    for (const auto& [x, y] : pixels(s.allowed)) svg += path({{x - 9, y}, {x + 9, y}}, "allowed " + color);
  }
  svg += path(pixels(s.error), "line " + color);
  for (const auto& [x, y] : pixels(s.sweeps)) svg += marker(index, x, y, "hollow " + color);
  for (const PlotPoint& p : s.error)
    svg += marker(index, f.px(std::log10(p.x)), f.py(log_error(p.y)), p.failed ? "dot failed" : "dot " + color);
  return svg;
}

/// 1, 2 or 5 times a power of ten, near `size`/`count`.
double nice_step(double size, int count) {
  const double raw = size / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (double m : {1.0, 2.0, 5.0})
    if (raw <= m * power) return m * power;
  return 10 * power;
}

std::string shape_axes(const Frame& f, const std::string& axes) {
  std::string svg;
  const double step = nice_step(std::max(f.x.size() / f.width, f.y.size() / f.height) * 300, 4);
  const auto number = [](double v, double s) { return fmt::format("{:g}", std::round(v / s) * s + 0.0); };
  for (double v = std::ceil(f.x.low / step) * step; v <= f.x.high; v += step) {
    svg += grid_line(f.px(v), f.top, f.px(v), f.top + f.height);
    svg += words(f.px(v), f.top + f.height + 14, "middle", number(v, step));
  }
  for (double v = std::ceil(f.y.low / step) * step; v <= f.y.high; v += step) {
    svg += grid_line(f.left, f.py(v), f.left + f.width, f.py(v));
    svg += words(f.left - 5, f.py(v) + 4, "end", number(v, step));
  }
  svg += words(f.left + f.width / 2, f.top + f.height + 28, "middle", fmt::format("{} [m]", axes[0]));
  const double middle = f.top + f.height / 2;
  return svg + fmt::format("<g transform=\"rotate(-90 10 {:.1f})\">{}</g>", middle,
                           words(10, middle, "middle", fmt::format("{} [m]", axes[1])));
}

}  // namespace

std::string error_plot(const std::string& resolution_name, const std::vector<ErrorSeries>& series) {
  const Frame f = error_frame(series);
  std::string svg = open_svg(kWidth, kHeight, "error over " + resolution_name) + error_axes(f, resolution_name, series);
  svg += second_order(f, series);
  for (std::size_t i = 0; i < series.size(); ++i) svg += draw_series(f, i, series[i]);
  return svg + "</svg>";
}

std::string shape_plot(const ValidationFigure& figure) {
  Range x, y;
  for (const ValidationCurve& c : figure.curves)
    for (const auto* points : {&c.computed, &c.reference})
      for (const auto& p : *points)
        if (std::isfinite(p[0]) && std::isfinite(p[1])) x.add(p[0]), y.add(p[1]);
  if (!(x.size() + y.size() > 0)) return {};
  const double pad = 0.05 * std::max(x.size(), y.size());
  x = {x.low - pad, x.high + pad}, y = {y.low - pad, y.high + pad};
  constexpr double kMost = 360;  // the same scale on both axes
  const double scale = std::min((kWidth - 58) / x.size(), kMost / y.size());
  const double width = x.size() * scale, height = y.size() * scale;
  const Frame f{.left = 48 + (kWidth - 58 - width) / 2, .top = 8, .width = width, .height = height, .x = x, .y = y};
  std::string svg = open_svg(kWidth, height + 42, "computed shape on the reference curve") + shape_axes(f, figure.axes);
  const auto pixels = [&](const std::vector<std::array<double, 2>>& points) {
    std::vector<std::pair<double, double>> out;
    for (const auto& p : points)
      if (std::isfinite(p[0]) && std::isfinite(p[1])) out.emplace_back(f.px(p[0]), f.py(p[1]));
    return out;
  };
  for (std::size_t i = 0; i < figure.curves.size(); ++i)
    svg += path(pixels(figure.curves[i].reference), "curve " + color_class(i));
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    const auto computed = pixels(figure.curves[i].computed);
    svg += path(computed, "rod " + color_class(i));
    for (const auto& [px, py] : computed)
      svg += fmt::format("<circle class=\"vertex {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.3\"/>", color_class(i), px, py);
  }
  return svg + "</svg>";
}

}  // namespace osier::validate

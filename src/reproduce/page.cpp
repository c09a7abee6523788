// The report: for every figure its claim, what is found, numbers and plots, on one page.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/svg.hpp"
#include "osier/reproduce.hpp"
#include "validate/report/style.hpp"

namespace osier {

namespace {

using namespace svg;

constexpr double kWidth = 380, kHeight = 270;

double scaled(double v, bool logarithmic) { return logarithmic ? std::log10(std::max(std::abs(v), 1e-300)) : v; }

/// 1, 2 or 5 times a power of ten, near `size`/`count`.
double nice_step(double size, int count) {
  const double raw = size / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (raw <= m * power) return m * power;
  return 10 * power;
}

std::vector<double> ticks(const Range& r, bool logarithmic) {
  constexpr double kFewDecades = 2.5;
  if (logarithmic && r.size() < kFewDecades) {  // powers of ten alone would be one or two
    std::vector<double> out;
    for (double power = std::floor(r.low); power <= r.high; ++power)
      for (const double m : {1.0, 2.0, 5.0})
        if (const double v = power + std::log10(m); v >= r.low && v <= r.high) out.push_back(v);
    return out;
  }
  double step = nice_step(r.size(), 5);
  if (logarithmic) step = std::max(1.0, std::ceil(step));
  std::vector<double> out;
  for (double v = std::ceil(r.low / step) * step; v <= r.high + 1e-9 * step; v += step)
    out.push_back(std::abs(v) < 1e-9 * step ? 0 : v);
  return out;
}

std::string tick_text(double v, bool logarithmic) {
  if (!logarithmic) return fmt::format("{:.4g}", v);
  const double value = std::pow(10, v);
  return value >= 0.99 && value < 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
}

std::string plot_svg(const ReproducedPlot& plot) {
  Frame f{.left = 56, .top = 8, .width = kWidth - 66, .height = kHeight - 50, .x = {}, .y = {}};
  for (const ReproducedCurve& c : plot.curves)
    for (const auto& [x, y] : c.points)
      if (std::isfinite(x) && std::isfinite(y)) f.x.add(scaled(x, plot.log_x)), f.y.add(scaled(y, plot.log_y));
  if (!(f.x.size() >= 0)) return {};
  const auto pad = [](Range& r) {
    const double more = std::max(0.05 * r.size(), 1e-9 + 1e-3 * std::abs(r.low));
    r = {r.low - more, r.high + more};
  };
  pad(f.x), pad(f.y);
  if (plot.equal) {
    const double scale = std::min(f.width / f.x.size(), f.height / f.y.size());
    const double more_x = 0.5 * (f.width / scale - f.x.size()), more_y = 0.5 * (f.height / scale - f.y.size());
    f.x = {f.x.low - more_x, f.x.high + more_x}, f.y = {f.y.low - more_y, f.y.high + more_y};
  }
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">", kWidth, kHeight, escape(plot.title));
  for (const double v : ticks(f.x, plot.log_x))
    out += grid_line(f.px(v), f.top, f.px(v), f.top + f.height) +
           words(f.px(v), f.top + f.height + 14, "middle", tick_text(v, plot.log_x));
  for (const double v : ticks(f.y, plot.log_y))
    out +=
        grid_line(f.left, f.py(v), f.left + f.width, f.py(v)) + words(f.left - 5, f.py(v) + 4, "end", tick_text(v, plot.log_y));
  out += words(f.left + f.width / 2, kHeight - 8, "middle", plot.x);
  const double middle = f.top + f.height / 2;
  out += fmt::format("<g transform=\"rotate(-90 10 {:.1f})\">{}</g>", middle, words(10, middle, "middle", plot.y));
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    std::vector<std::pair<double, double>> pixels;
    for (const auto& [x, y] : plot.curves[i].points)
      if (std::isfinite(x) && std::isfinite(y)) pixels.emplace_back(f.px(scaled(x, plot.log_x)), f.py(scaled(y, plot.log_y)));
    if (!plot.curves[i].marked) out += path(pixels, "line " + color_class(i));
    if (!plot.curves[i].marked && pixels.size() >= 12) continue;
    constexpr std::size_t kMarks = 24;  // more would hide the curve below
    const std::size_t each = plot.curves[i].all ? 1 : (pixels.size() + kMarks - 1) / kMarks;
    for (std::size_t k = 0; k < pixels.size(); ++k)
      if (k % each == 0 || k + 1 == pixels.size()) out += marker(i, pixels[k].first, pixels[k].second, "dot " + color_class(i));
  }
  return out + "</svg>";
}

}  // namespace

std::string plot_html(const ReproducedPlot& plot) {
  std::string keys;
  static constexpr const char* kShapes[] = {"", " square", " triangle"};
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    keys += fmt::format("<span class=\"key {}{}\"><i></i>{}</span>", color_class(i), kShapes[i / kColors % 3],
                        escape(plot.curves[i].label));
  return "<figure>" + plot_svg(plot) + "<figcaption><b>" + escape(plot.title) + "</b>" + keys + "</figcaption></figure>\n";
}

namespace {

std::string numbers_html(const ReproducedFigure& f) {
  if (f.numbers.empty()) return {};
  std::string html =
      "<div "
      "class=\"scroll\"><table><tr><th>number</th><th>expected</th><th>computed</th><th>distance</th><th>allowed</th><th></th></"
      "tr>\n";
  for (const Reproduced& n : f.numbers) {
    const char* verdict = !n.judged() ? "shown" : !n.passed() ? "failed" : n.differs ? "claim does not hold" : "passed";
    const char* style = !n.judged() ? "" : !n.passed() ? "fail" : n.differs ? "needs" : "pass";
    html += fmt::format(
        "<tr{}><td class=\"wrap\">{}</td><td>{:.6g}</td><td>{:.6g}</td><td>{:.2g}</td><td>{}</td><td class=\"{}\">{}</td></tr>\n",
        n.passed() ? "" : " class=\"failed\"", escape(n.what), n.expected, n.computed, n.computed - n.expected,
        n.judged() ? fmt::format("{}{:.2g}", n.differs ? "more than " : "", n.allowed) : "", style, verdict);
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string reproduction_html(const Reproduction& result) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
      "<title>Osier: " +
      escape(result.paper) + "</title><style>" + validate::kReportStyle + "</style>\n<main>\n";
  html += "<h1>" + escape(result.citation) + "</h1>\n";
  int held = 0, refuted = 0;
  for (const ReproducedFigure& f : result.figures)
    for (const Reproduced& n : f.numbers)
      if (n.judged() && n.passed()) ++(n.differs ? refuted : held);
  const int failed = result.failed();
  html += fmt::format(
      "<p class=\"soft\">Its figures, run again by Osier {}.</p>\n<ul class=\"tiles\"><li><b class=\"pass\">{}</b>numbers as "
      "expected</li>"
      "<li><b class=\"needs\">{}</b>show that a claim does not hold</li><li><b class=\"{}\">{}</b>not as expected</li></ul>\n",
      escape(result.version), held, refuted, failed > 0 ? "fail" : "", failed);
  for (const ReproducedFigure& f : result.figures) {
    html += fmt::format("<h2 id=\"figure{}\">Figure {}: {}<span class=\"chip {}\">{}</span></h2>\n", f.number, f.number,
                        escape(f.title), f.failed() > 0 ? "fail" : "pass",
                        f.failed() > 0 ? fmt::format("{} failed", f.failed()) : "as expected");
    html += "<p><b>The paper:</b> " + escape(f.claim) + "</p>\n<p><b>Found:</b> " + escape(f.finding) + "</p>\n";
    html += numbers_html(f) + "<div class=\"plots\">";
    for (const ReproducedPlot& p : f.plots) html += plot_html(p);
    html += fmt::format("</div>\n<p class=\"soft\">{:.1f} s</p>\n", f.seconds);
  }
  return html + "</main></html>\n";
}

}  // namespace osier

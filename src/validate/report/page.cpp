// The report as one page: a summary, then the table and the plots of every case.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "osier/validate.hpp"
#include "validate/report/plot.hpp"
#include "validate/report/style.hpp"
#include "validate/table.hpp"

namespace osier {

using namespace validate;

namespace {

struct Tally {
  int passed = 0, failed = 0, shown = 0, waiting = 0;
};

Tally tally(const ValidationCase& c) {
  Tally t;
  for (const ValidationRow& r : c.rows) {
    t.passed += r.verdict == Verdict::passed;
    t.failed += r.verdict == Verdict::failed;
    t.shown += r.verdict == Verdict::shown;
    t.waiting += r.verdict == Verdict::waiting;
  }
  return t;
}

std::string status_chip(const ValidationCase& c) {
  const Tally t = tally(c);
  if (t.failed > 0) return fmt::format("<span class=\"chip fail\">{} failed</span>", t.failed);
  if (t.passed > 0) return fmt::format("<span class=\"chip pass\">{} passed</span>", t.passed);
  if (t.waiting > 0)
    return fmt::format("<span class=\"chip needs\">needs {}</span>", svg::escape(c.needs.empty() ? "more" : c.needs));
  return {};
}

std::string tile(const std::string& number, const std::string& word, const char* style = "") {
  return fmt::format("<li><b class=\"{}\">{}</b>{}</li>", style, svg::escape(number), svg::escape(word));
}

std::string header(const Validation& v) {
  std::string html = "<h1>Osier validation</h1>\n";
  html += fmt::format("<p class=\"soft\">Osier {}; solver: {}{}</p>\n<ul class=\"tiles\">", svg::escape(v.version),
                      v.solver.empty() ? "each case's own" : svg::escape(v.solver), v.fast ? "; coarse resolutions only" : "");
  html += tile(std::to_string(v.count(Verdict::passed)), "passed", "pass");
  html += tile(std::to_string(v.count(Verdict::failed)), "failed", v.passed() ? "" : "fail");
  std::map<std::string, int> needs;
  for (const ValidationCase& c : v.cases)
    for (const ValidationRow& r : c.rows)
      if (r.verdict == Verdict::waiting) ++needs[r.note];
  for (const auto& [what, n] : needs) html += tile(std::to_string(n), what, "needs");
  if (const int n = v.count(Verdict::shown)) html += tile(std::to_string(n), "shown, nothing required");
  html += tile(fmt::format("{:.0f} s", v.seconds), "wall time") + "</ul>\n";
  for (std::size_t from = 0; from < v.protocol.size();) {
    const std::size_t end = std::min(v.protocol.find('\n', from), v.protocol.size());
    html += "<p class=\"soft\">" + svg::escape(v.protocol.substr(from, end - from)) + "</p>\n";
    from = end + 1;
  }
  return html;
}

std::string overview(const Validation& v) {
  std::string html =
      "<div class=\"scroll\"><table class=\"overview\"><tr><th>case</th><th></th><th>passed</th><th>failed</th>"
      "<th>worst error / allowed</th></tr>\n";
  for (const ValidationCase* each : by_group(v)) {
    const ValidationCase& c = *each;
    const Tally t = tally(c);
    double worst = -1;
    for (const ValidationRow& r : c.rows)
      if (r.error && r.allowed && *r.allowed > 0) worst = std::max(worst, std::abs(*r.error) / *r.allowed);
    html += fmt::format("<tr{}><td><a href=\"#{}\">{}</a></td><td class=\"wrap\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        t.failed > 0 ? " class=\"failed\"" : "", svg::escape(c.name), svg::escape(c.name), svg::escape(c.title),
                        t.waiting > 0 && t.passed + t.failed == 0 ? "needs " + svg::escape(c.needs) : std::to_string(t.passed),
                        t.failed > 0 ? std::to_string(t.failed) : "", worst < 0 ? "" : fmt::format("{:.2f}", worst));
  }
  return html + "</table></div>\n";
}

std::string row_html(const ValidationCase& c, const std::vector<std::string>& cells, const ValidationRow& r, bool first) {
  std::string classes = first ? "first" : "";
  if (r.verdict == Verdict::failed) classes += classes.empty() ? "failed" : " failed";
  std::string html = classes.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", classes);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = i == 0 && !first ? "" : svg::escape(cells[i]);
    const bool verdict = i + 1 == cells.size();
    const char* color = r.verdict == Verdict::passed ? "pass" : r.verdict == Verdict::failed ? "fail" : "needs";
    html +=
        verdict && r.verdict != Verdict::shown ? fmt::format("<td class=\"{}\">{}</td>", color, text) : "<td>" + text + "</td>";
  }
  html += "</tr>\n";
  if (!r.note.empty() && c.needs.empty())
    html += fmt::format("<tr class=\"note{}\"><td colspan=\"{}\">{}</td></tr>\n", r.verdict == Verdict::failed ? " failed" : "",
                        cells.size(), svg::escape(r.note));
  return html;
}

std::string table_html(const ValidationCase& c) {
  constexpr std::size_t kLong = 40;
  const bool folded = c.rows.size() > kLong && tally(c).failed == 0;
  std::string html =
      fmt::format("<details{}><summary>{} rows</summary><div class=\"scroll\"><table><tr>", folded ? "" : " open", c.rows.size());
  for (const std::string& head : report_heads(c.resolution_name)) html += "<th>" + svg::escape(head) + "</th>";
  html += "</tr>\n";
  std::string before;
  for (const ValidationRow& r : c.rows) {
    const std::vector<std::string> cells = report_cells(r);
    html += row_html(c, cells, r, cells[0] != before);
    before = cells[0];
  }
  return html + "</table></div></details>\n";
}

std::string key(std::size_t i, const std::string& label) {
  static constexpr const char* kShapes[] = {"", " square", " triangle"};
  return fmt::format("<span class=\"key {}{}\"><i></i>{}</span>", svg::color_class(i), kShapes[i / svg::kColors % 3],
                     svg::escape(label));
}

/// One plot for each quantity, one series for each run.
std::map<std::string, std::vector<ErrorSeries>> series_of(const ValidationCase& c, std::vector<std::string>& quantities) {
  std::map<std::string, std::vector<ErrorSeries>> plots;
  for (const ValidationRow& r : c.rows) {
    if (!r.resolution) continue;
    auto [plot, fresh] = plots.try_emplace(r.quantity);
    if (fresh) quantities.push_back(r.quantity);
    std::vector<ErrorSeries>& series = plot->second;
    if (series.empty() || series.back().label != r.run)
      series.push_back({.label = r.run, .error = {}, .allowed = {}, .sweeps = {}});
    const auto put = [&](std::vector<PlotPoint>& to, const std::optional<double>& v) {
      if (v && std::isfinite(*v) && *v != 0)
        to.push_back({static_cast<double>(*r.resolution), std::abs(*v), r.verdict == Verdict::failed});
    };
    put(series.back().error, r.error);
    put(series.back().allowed, r.allowed);
    put(series.back().sweeps, r.sweeps_error);
  }
  return plots;
}

std::string error_figures(const ValidationCase& c) {
  std::vector<std::string> quantities;
  std::map<std::string, std::vector<ErrorSeries>> plots = series_of(c, quantities);
  std::string html;
  for (const std::string& quantity : quantities) {
    std::vector<ErrorSeries>& series = plots[quantity];
    std::erase_if(series, [](const ErrorSeries& s) { return s.error.size() < 2; });
    if (series.empty()) continue;
    html += "<figure>" + error_plot(c.resolution_name, series) + "<figcaption><b>Error of " + svg::escape(quantity) + "</b>";
    for (std::size_t i = 0; i < series.size(); ++i)
      if (!series[i].label.empty()) html += key(i, series[i].label);
    html += "</figcaption></figure>\n";
  }
  return html;
}

std::string shape_figures(const ValidationCase& c) {
  std::string html;
  for (const ValidationFigure& f : c.figures) {
    std::string title = "Shape" + (f.title.empty() ? "" : ", " + f.title);
    if (f.resolution) title += fmt::format(", {} = {}", c.resolution_name, *f.resolution);
    html += "<figure>" + shape_plot(f) + "<figcaption><b>" + svg::escape(title) + "</b>";
    for (std::size_t i = 0; i < f.curves.size(); ++i) {
      const std::string &run = f.curves[i].run, common = f.title + ", ";
      if (!run.empty()) html += key(i, run.starts_with(common) ? run.substr(common.size()) : run);
    }
    html += "</figcaption></figure>\n";
  }
  return html;
}

std::string case_html(const ValidationCase& c) {
  std::string html = fmt::format("<h3 id=\"{}\">{} {} {}</h3>\n<p class=\"soft\">{}</p>\n", svg::escape(c.name),
                                 svg::escape(c.name), svg::escape(c.title), status_chip(c), svg::escape(c.source));
  if (!c.note.empty()) html += "<p>" + svg::escape(c.note) + "</p>\n";
  const std::string plots = shape_figures(c) + error_figures(c);
  if (!plots.empty()) html += "<div class=\"plots\">\n" + plots + "</div>\n";
  return html + table_html(c);
}

}  // namespace

std::string validation_html(const Validation& v) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Osier validation</title>\n<style>";
  html += kReportStyle;
  html += "</style></head>\n<body><main>\n" + header(v) + overview(v);
  html +=
      "<p class=\"soft\">Plots of errors: full dots and lines are what was computed (red: failed), dashes what is allowed, the "
      "dotted "
      "line second order, hollow marks four sweeps per step. Plots of shapes: the broad pale line is the reference, the thin one "
      "with dots the computed rod.</p>\n";
  std::string group;
  for (const ValidationCase* c : by_group(v)) {
    if (c->group != group) html += "<h2>" + svg::escape(c->group) + "</h2>\n";
    group = c->group;
    html += "<section>" + case_html(*c) + "</section>\n";
  }
  return html + "</main></body></html>\n";
}

}  // namespace osier

// The page of a sweep: which values matter for which results, and how.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "core/svg.hpp"
#include "osier/reproduce.hpp"
#include "osier/simulation.hpp"
#include "sweep/sweep.hpp"
#include "validate/report/style.hpp"

namespace osier {

namespace {

using Numbers = std::vector<double>;

bool varies(const Numbers& list) {
  double low = INFINITY, high = -INFINITY;
  for (const double x : list)
    if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  return high > low && high - low > 1e-12 * std::max(std::abs(low), std::abs(high));
}

/// Places in ascending order, the middle one of those that are equal.
Numbers ranks(const Numbers& list) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return list[a] < list[b]; });
  Numbers rank(list.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && list[order[end]] == list[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) rank[order[k]] = 0.5 * static_cast<double>(i + end - 1);
    i = end;
  }
  return rank;
}

/// Spearman's: 1 where one always grows with the other, 0 where they have nothing to do with each other.
double rank_correlation(const Numbers& x, const Numbers& y) {
  Numbers a, b;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i]) && std::isfinite(y[i])) a.push_back(x[i]), b.push_back(y[i]);
  if (a.size() < 3) return NAN;
  a = ranks(a), b = ranks(b);
  const double middle = 0.5 * static_cast<double>(a.size() - 1);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : NAN;
}

/// A response: over one value a line, for every combination of the others, where those are few; otherwise a scatter.
ReproducedPlot plot_of(const SweepTable& table, std::size_t parameter, const Numbers& x, const std::string& name,
                       const Numbers& y) {
  constexpr std::size_t kMostLines = 8;
  const Design& design = table.design;
  std::map<std::string, ReproducedCurve> lines;
  for (std::size_t r = 0; r < table.rows.size() && lines.size() <= kMostLines; ++r) {
    std::string key;
    for (std::size_t p = 0; p < design.pointers.size(); ++p)
      if (p != parameter)
        key += (key.empty() ? "" : ", ") + design.pointers[p].substr(design.pointers[p].rfind('/') + 1) + " = " +
               design.rows[table.rows[r].run][p];
    ReproducedCurve& line = lines[key];
    line.label = key;
    line.points.emplace_back(x[r], y[r]);
  }
  ReproducedPlot plot{.title = name, .x = design.pointers[parameter], .y = "", .curves = {}};
  const bool positive = std::all_of(x.begin(), x.end(), [](double v) { return v > 0; });
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  plot.log_x = positive && *high >= 100 * *low;
  if (lines.size() <= kMostLines) {
    for (auto& [key, line] : lines) {
      std::sort(line.points.begin(), line.points.end());
      plot.curves.push_back(std::move(line));
    }
  } else {
    ReproducedCurve all{.label = "runs", .points = {}, .marked = true, .all = true};
    for (std::size_t r = 0; r < x.size(); ++r) all.points.emplace_back(x[r], y[r]);
    plot.curves.push_back(std::move(all));
  }
  return plot;
}

std::string failures_html(const SweepTable& table) {
  constexpr std::size_t kShown = 20;
  std::string rows;
  std::size_t shown = 0;
  for (const SweepRow& row : table.rows) {
    if (row.error.empty() || ++shown > kShown) continue;
    std::string values;
    for (std::size_t p = 0; p < table.design.pointers.size(); ++p)
      values += (p > 0 ? ", " : "") + table.design.pointers[p] + "=" + table.design.rows[row.run][p];
    rows += fmt::format("<tr class=\"failed\"><td>{}</td><td class=\"wrap\">{}</td><td class=\"wrap\">{}</td></tr>\n", row.run,
                        svg::escape(values), svg::escape(row.error));
  }
  if (rows.empty()) return {};
  return "<h2>Runs that failed</h2>\n<div class=\"scroll\"><table><tr><th>run</th><th>values</th><th>reason</th></tr>\n" + rows +
         "</table></div>\n" +
         (shown > kShown ? fmt::format("<p class=\"soft\">and {} more in sweep.csv</p>\n", shown - kShown) : "");
}

}  // namespace

std::string sweep_html(const SweepTable& table) {
  constexpr std::size_t kMostParameters = 6, kMostResults = 24;
  std::vector<std::pair<std::size_t, Numbers>> parameters, results;
  for (std::size_t p = 0; p < table.design.pointers.size(); ++p)
    if (Numbers x = parameter_of(table, p); varies(x) && parameters.size() < kMostParameters)
      parameters.emplace_back(p, std::move(x));
  std::size_t varying = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (Numbers y = result_of(table, c); varies(y) && ++varying <= kMostResults) results.emplace_back(c, std::move(y));
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
      "<title>Osier: sweep of " +
      svg::escape(table.scene_name) + "</title><style>" + validate::kReportStyle + "</style>\n<main>\n";
  html += fmt::format(
      "<h1>Sweep of {}</h1>\n<p class=\"soft\">Osier {}; all numbers are in sweep.csv and sweep.h5.</p>\n<ul "
      "class=\"tiles\"><li><b>{}</b>runs "
      "of {}</li><li><b class=\"{}\">{}</b>failed</li><li><b>{}</b>values vary</li><li><b>{}</b>results vary</li></ul>\n",
      svg::escape(table.scene_name), version(), table.rows.size(), table.design.rows.size(), table.failed() > 0 ? "fail" : "",
      table.failed(), table.design.pointers.size(), varying);
  if (!parameters.empty() && !results.empty()) {
    html +=
        "<h2>What matters</h2>\n<p>Rank correlation: 1 where a result always grows with a value, -1 where it always falls, near "
        "0 "
        "where it does neither.</p>\n<div class=\"scroll\"><table><tr><th>result</th>";
    for (const auto& [p, x] : parameters) html += "<th>" + svg::escape(table.design.pointers[p]) + "</th>";
    html += "</tr>\n";
    for (const auto& [c, y] : results) {
      html += "<tr><td>" + svg::escape(table.columns[c]) + "</td>";
      for (const auto& [p, x] : parameters) {
        const double r = rank_correlation(x, y);
        html += std::isfinite(r) ? fmt::format("<td{}>{:.2f}</td>", std::abs(r) > 0.7 ? " class=\"pass\"" : "", r) : "<td></td>";
      }
      html += "</tr>\n";
    }
    html += "</table></div>\n";
    for (const auto& [p, x] : parameters) {
      html += "<h2>" + svg::escape(table.design.pointers[p]) + "</h2>\n<div class=\"plots\">";
      for (const auto& [c, y] : results) html += plot_html(plot_of(table, p, x, table.columns[c], y));
      html += "</div>\n";
    }
    if (varying > results.size())
      html += fmt::format("<p class=\"soft\">{} more results are in the tables.</p>\n", varying - results.size());
  }
  return html + failures_html(table) + "</main></html>\n";
}

}  // namespace osier

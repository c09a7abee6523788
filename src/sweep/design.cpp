// The runs of a sweep: which values of a scene change, and to what.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <random>

#include "core/text.hpp"
#include "osier/sweep.hpp"
#include "sweep/csv_line.hpp"

namespace osier {

namespace {

constexpr std::size_t kMostRuns = 10'000'000;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == at && depth == 0) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

}  // namespace

SweepAxis parse_axis(const std::string& text, Problems& problems) {
  const std::string where = "--vary " + shorten(text);
  const std::size_t equals = text.find('=');
  if (text.empty() || text[0] != '/' || equals == std::string::npos || equals + 1 == text.size()) {
    problems.add(where, "is not pointer=values",
                 "write e.g. --vary /materials/m/young=1e6:1e9:5 or --vary /solver/name=direct,newton");
    return {};
  }
  SweepAxis axis;
  axis.pointer = text.substr(0, equals);
  const std::string values = text.substr(equals + 1);
  std::vector<std::string> range = split(values, ':');
  if (range.size() > 2 && range.back() == "log") axis.logarithmic = true, range.pop_back();
  if (range.size() != 2 && range.size() != 3) {
    axis.values = split(values, ',');
    return axis;
  }
  const std::optional<double> low = number(range[0]), high = number(range[1]);
  const std::optional<double> count = range.size() == 3 ? number(range[2]) : std::optional(0.0);
  if (!low || !high || !count || *count != std::floor(*count) || *count < 0 || *count > kMostRuns ||
      (range.size() == 3 && *count < 1)) {
    problems.add(where, "is not a range", "write from:to:count, or from:to with --sample lhs");
    return {};
  }
  if (axis.logarithmic && !(*low > 0 && *high > 0)) {
    problems.add(where, "has equal ratios, and an end that is not positive", "use positive ends, or leave :log out");
    return {};
  }
  axis.low = *low, axis.high = *high;
  const int n = static_cast<int>(*count);
  for (int i = 0; i < n; ++i)
    axis.values.push_back(fmt::format("{:.17g}", axis.at(n > 1 ? static_cast<double>(i) / (n - 1) : 0)));
  return axis;
}

double SweepAxis::at(double share) const {
  if (share == 0 || share == 1) return share == 0 ? low : high;
  return logarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
}

std::vector<std::string> Design::changes(std::size_t row) const {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < pointers.size(); ++i) list.push_back(pointers[i] + "=" + rows[row][i]);
  return list;
}

Design grid_design(const std::vector<SweepAxis>& axes, Problems& problems) {
  Design design;
  std::size_t runs = 1;
  for (const SweepAxis& axis : axes) {
    if (axis.values.empty() && !axis.pointer.empty())
      problems.add("--vary " + axis.pointer, "has no number of values", "write from:to:count, or use --sample lhs");
    design.pointers.push_back(axis.pointer);
    runs *= std::max<std::size_t>(axis.values.size(), 1);
    if (runs > kMostRuns) {
      problems.add("--vary", fmt::format("makes more than {} runs", kMostRuns), "use fewer values, or --sample lhs");
      return design;
    }
  }
  if (!problems.empty()) return design;
  for (std::size_t i = 0; i < runs; ++i) {
    std::vector<std::string> row(axes.size());
    std::size_t rest = i;
    for (std::size_t a = axes.size(); a-- > 0;) {
      row[a] = axes[a].values[rest % axes[a].values.size()];
      rest /= axes[a].values.size();
    }
    design.rows.push_back(std::move(row));
  }
  return design;
}

Design latin_design(const std::vector<SweepAxis>& axes, int samples, std::uint64_t seed, Problems& problems) {
  Design design;
  if (samples < 1) problems.add("--samples", "is not given", "say how many runs there are to be");
  for (const SweepAxis& axis : axes) design.pointers.push_back(axis.pointer);
  if (!problems.empty()) return design;
  // Distributions of the standard library differ between its makers; these are the same everywhere.
  std::mt19937_64 random(seed);
  const auto n = static_cast<std::size_t>(samples);
  const auto below = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  design.rows.assign(n, {});
  for (const SweepAxis& axis : axes) {
    std::vector<std::size_t> piece(n);
    for (std::size_t i = 0; i < n; ++i) piece[i] = i;
    for (std::size_t i = n; i > 1; --i) std::swap(piece[i - 1], piece[below(i)]);
    const bool by_list = axis.low == 0 && axis.high == 0 && !axis.values.empty();
    for (std::size_t i = 0; i < n; ++i) {
      const double at = (static_cast<double>(piece[i]) + share()) / static_cast<double>(n);
      design.rows[i].push_back(by_list
                                   ? axis.values[std::min(static_cast<std::size_t>(at * static_cast<double>(axis.values.size())),
                                                          axis.values.size() - 1)]
                                   : fmt::format("{:.17g}", axis.at(at)));
    }
  }
  return design;
}

Design read_design(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw InputError({{file.string(), "cannot be opened", "name a table whose first line has the places of the scene"}});
  Design design;
  Problems problems;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line == "\r") continue;
    std::vector<std::string> fields = csv_fields(line);
    const std::string where = fmt::format("{}:{}", file.string(), number);
    if (design.pointers.empty()) {
      for (const std::string& pointer : fields)
        if (!pointer.starts_with("/"))
          problems.add(where, shorten(pointer) + " is not a JSON pointer", "write pointers such as /analysis/step");
      design.pointers = std::move(fields);
    } else if (fields.size() != design.pointers.size()) {
      problems.add(where, fmt::format("has {} values for {} places", fields.size(), design.pointers.size()),
                   "write one for each");
    } else {
      design.rows.push_back(std::move(fields));
    }
  }
  if (design.rows.empty()) problems.add(file.string(), "has no runs", "write a line of values for each");
  problems.throw_if_any();
  return design;
}

Design design_of(const DesignWords& o) {
  Problems problems;
  if (o.sample == "csv") {
    if (!o.vary.empty()) problems.add("--vary", "has no effect on a table of runs", "leave it out, or leave --sample csv out");
    if (o.from.empty()) problems.add("--from", "is not given", "name the table of runs");
    problems.throw_if_any();
    return read_design(o.from);
  }
  if (!o.from.empty()) problems.add("--from", "goes with --sample csv", "add that, or leave it out");
  if (o.vary.empty()) problems.add("--vary", "is not given", "say what is to change, e.g. --vary /materials/m/young=1e6:1e9:5");
  std::vector<SweepAxis> axes;
  for (const std::string& text : o.vary) axes.push_back(parse_axis(text, problems));
  if (o.sample == "grid" && o.samples > 0) problems.add("--samples", "goes with --sample lhs", "add that, or leave it out");
  problems.throw_if_any();
  Design design = o.sample == "lhs" ? latin_design(axes, o.samples, o.seed, problems) : grid_design(axes, problems);
  problems.throw_if_any();
  return design;
}

}  // namespace osier

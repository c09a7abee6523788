// Results as text and as JSON.
#include "validate/table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "osier/validate.hpp"

namespace osier {

namespace validate {

const char* verdict_word(Verdict v) {
  switch (v) {
    case Verdict::passed:
      return "pass";
    case Verdict::failed:
      return "FAIL";
    case Verdict::waiting:
      return "needs";
    case Verdict::shown:
      break;
  }
  return "-";
}

std::string value_text(const std::optional<double>& v) { return v ? fmt::format("{:.7g}", *v) : "-"; }
std::string error_text(const std::optional<double>& v) { return v ? fmt::format("{:.2e}", *v) : "-"; }
std::string order_text(const std::optional<double>& v) { return v ? fmt::format("{:.2f}", *v) : "-"; }

std::vector<std::string> row_cells(const ValidationRow& r) {
  return {r.run.empty() ? r.quantity : r.run + ": " + r.quantity,
          r.resolution ? std::to_string(*r.resolution) : "-",
          value_text(r.reference),
          value_text(r.computed),
          error_text(r.error),
          error_text(r.allowed),
          order_text(r.order),
          error_text(r.sweeps_error),
          verdict_word(r.verdict)};
}

std::vector<std::string> report_heads(const std::string& resolution_name) {
  std::vector<std::string> heads = column_heads(resolution_name);
  heads.insert(heads.end() - 1, {"iterations", "residual"});
  return heads;
}

std::vector<std::string> report_cells(const ValidationRow& r) {
  std::vector<std::string> cells = row_cells(r);
  cells.insert(cells.end() - 1, {r.iterations > 0 ? std::to_string(r.iterations) : "-", error_text(r.residual)});
  return cells;
}

std::vector<const ValidationCase*> by_group(const Validation& v) {
  std::vector<std::string> groups;
  for (const ValidationCase& c : v.cases)
    if (std::find(groups.begin(), groups.end(), c.group) == groups.end()) groups.push_back(c.group);
  std::vector<const ValidationCase*> out;
  for (const std::string& g : groups)
    for (const ValidationCase& c : v.cases)
      if (c.group == g) out.push_back(&c);
  return out;
}

std::string summary_text(const Validation& v) {
  std::string text = fmt::format("{} passed, {} failed", v.count(Verdict::passed), v.count(Verdict::failed));
  if (const int n = v.count(Verdict::shown)) text += fmt::format(", {} shown without a requirement", n);
  if (const int n = v.count(Verdict::waiting))
    text += fmt::format(", {} waiting for what the engine{} lacks", n, v.solver.empty() ? "" : " or the solver");
  return text;
}

}  // namespace validate

using namespace validate;

namespace {

/// Characters, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad(const std::string& text, std::size_t to, bool left) {
  const std::string blanks(to > width(text) ? to - width(text) : 0, ' ');
  return left ? text + blanks : blanks + text;
}

using Cells = std::vector<std::string>;

std::vector<std::size_t> column_widths(const Validation& v) {
  std::vector<std::size_t> widths(column_heads("").size(), 0);
  const auto widen = [&](const Cells& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  };
  for (const ValidationCase& c : v.cases) {
    widen(column_heads(c.resolution_name));
    for (const ValidationRow& r : c.rows) widen(row_cells(r));
  }
  return widths;
}

std::string line(const Cells& cells, const std::vector<std::size_t>& widths) {
  std::string text = " ";
  for (std::size_t i = 0; i < cells.size(); ++i) text += " " + pad(cells[i], widths[i], i == 0 || i + 1 == cells.size());
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

nlohmann::ordered_json number(const std::optional<double>& v) {
  if (!v || !std::isfinite(*v)) return nullptr;
  return *v;
}

}  // namespace

std::string validation_table(const Validation& v) {
  const std::vector<std::size_t> widths = column_widths(v);
  std::string text;
  for (const ValidationCase& c : v.cases) {
    text += fmt::format("{}  {}{}\n{}\n", c.name, c.title, c.needs.empty() ? "" : " (needs " + c.needs + ")",
                        line(column_heads(c.resolution_name), widths));
    for (const ValidationRow& r : c.rows) {
      text += line(row_cells(r), widths);
      if (!r.note.empty() && c.needs.empty()) text += "  " + r.note;
      text += '\n';
    }
    text += '\n';
  }
  return text + v.protocol + fmt::format("{}; {:.1f} s\n", summary_text(v), v.seconds);
}

std::string validation_json(const Validation& v) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ValidationCase& c : v.cases)
    for (const ValidationRow& r : c.rows) {
      nlohmann::ordered_json row{
          {"case", c.part_of.empty() ? c.name : c.part_of}, {"part", c.name}, {"run", r.run}, {"quantity", r.quantity}};
      if (r.resolution) row["resolution"] = *r.resolution;
      else row["resolution"] = nullptr;
      row["reference"] = number(r.reference);
      row["computed"] = number(r.computed);
      row["error"] = number(r.error);
      row["allowed"] = number(r.allowed);
      row["order"] = number(r.order);
      row["sweeps_error"] = number(r.sweeps_error);
      if (r.verdict == Verdict::passed || r.verdict == Verdict::failed) row["pass"] = r.verdict == Verdict::passed;
      else row["pass"] = nullptr;
      row["solver"] = r.solver;
      row["iterations"] = r.iterations;
      row["residual"] = number(r.residual);
      row["seconds"] = r.seconds;
      row["note"] = r.note;
      rows.push_back(std::move(row));
    }
  return rows.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace osier

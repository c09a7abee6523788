// The report's tables as Markdown, and the files of a report.
#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "osier/validate.hpp"
#include "validate/table.hpp"

namespace osier {

using namespace validate;

static std::string cell(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

static std::string line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& c : cells) text += " " + cell(c) + " |";
  return text + "\n";
}

std::string validation_markdown(const Validation& v) {
  std::string text = fmt::format("# Osier validation\n\nOsier {}; solver: {}{}. {}; {:.0f} s.\n\n{}", v.version,
                                 v.solver.empty() ? "each case's own" : v.solver, v.fast ? "; coarse resolutions only" : "",
                                 summary_text(v), v.seconds, v.protocol);
  std::string group;
  for (const ValidationCase* each : by_group(v)) {
    const ValidationCase& c = *each;
    if (c.group != group) text += fmt::format("\n## {}\n", c.group);
    group = c.group;
    text += fmt::format("\n### {} {}{}\n\n{}\n\n", c.name, c.title, c.needs.empty() ? "" : " (needs " + c.needs + ")", c.source);
    if (!c.note.empty()) text += c.note + "\n\n";
    std::vector<std::string> heads = report_heads(c.resolution_name), rule(heads.size(), "--:");
    rule.front() = rule.back() = "---";
    text += line(heads) + line(rule);
    std::string notes;
    for (const ValidationRow& r : c.rows) {
      text += line(report_cells(r));
      if (!r.note.empty() && c.needs.empty())
        notes +=
            fmt::format("- {}{}: {}\n", report_cells(r)[0], r.resolution ? fmt::format(" at {}", *r.resolution) : "", r.note);
    }
    if (!notes.empty()) text += "\n" + notes;
  }
  return text;
}

void write_validation_report(const Validation& v, const std::filesystem::path& folder) {
  make_folder(folder);
  write_file_atomically(folder / "validation.md", validation_markdown(v));
  write_file_atomically(folder / "index.html", validation_html(v));
}

}  // namespace osier

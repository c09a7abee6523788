// Results as text, Markdown, JSON, CSV, and as files in a folder.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/plot.hpp"
#include "bench/tables.hpp"
#include "core/json.hpp"
#include "io/atomic_file.hpp"

namespace osier {

namespace {

OrderedJson number_json(const std::optional<double>& v) {
  return v && std::isfinite(*v) ? OrderedJson(*v) : OrderedJson(nullptr);
}

OrderedJson row_json(const BenchRow& r) {
  return {{"suite", r.suite},
          {"table", r.table},
          {"scene", r.scene},
          {"method", r.method},
          {"lambda", r.lambda.empty() ? OrderedJson(nullptr) : OrderedJson(r.lambda)},
          {"precision", r.precision},
          {"simd", r.simd},
          {"device", r.device.empty() ? OrderedJson(nullptr) : OrderedJson(r.device)},
          {"threads", r.threads},
          {"vertices", r.vertices},
          {"step", r.step},
          {"stiffness_ratio_R", number_json(r.stiffness_ratio)},
          {"ms_per_frame_min", number_json(r.ms_per_frame_min)},
          {"ms_per_frame_median", number_json(r.ms_per_frame_median)},
          {"ns_per_vertex_iteration", number_json(r.ns_per_vertex_iteration)},
          {"ns_per_further_iteration", number_json(r.ns_per_further_iteration)},
          {"error", number_json(r.error)},
          {"error_m", number_json(r.error_m)},
          {"iterations", number_json(r.iterations)},
          {"goal", number_json(r.goal)},
          {"reached", r.reached},
          {"paper_ms_per_frame", number_json(r.paper_ms)},
          {"slope", number_json(r.slope)},
          {"speedup", number_json(r.speedup)},
          {"steps_per_frame", r.steps_per_frame > 0 ? OrderedJson(r.steps_per_frame) : OrderedJson(nullptr)},
          {"error_fine", number_json(r.error_fine)},
          {"broad_phase", number_json(r.broad_phase)},
          {"overhead", number_json(r.overhead)},
          {"explicit_ns", number_json(r.explicit_ns)},
          {"explicit_step", number_json(r.explicit_step)}};
}

/// What a reader must know before comparing.
std::string preamble(const Bench& b) {
  return bench::machine_text(b.machine) + (b.quick ? "; quick run: sizes and times mean nothing" : "");
}

}  // namespace

std::string bench_text(const Bench& b) {
  std::string text = preamble(b) + "\n";
  for (const bench::Table& t : bench::tables(b)) {
    std::vector<std::size_t> width;
    for (std::size_t i = 0; i < t.heads.size(); ++i) {
      width.push_back(t.heads[i].size());
      for (const auto& row : t.rows) width[i] = std::max(width[i], row[i].size());
    }
    const auto line = [&](const std::vector<std::string>& cells) {
      std::string out;
      for (std::size_t i = 0; i < cells.size(); ++i)
        out += i == 0 ? fmt::format("{:<{}}", cells[i], width[i]) : fmt::format("  {:>{}}", cells[i], width[i]);
      return out + "\n";
    };
    text += "\n" + t.title + "\n" + line(t.heads);
    for (const auto& row : t.rows) text += line(row);
  }
  return text;
}

std::string bench_markdown(const Bench& b) {
  std::string text = preamble(b) + "\n";
  for (const bench::Table& t : bench::tables(b)) {
    const auto line = [](const std::vector<std::string>& cells) {
      std::string out = "|";
      for (const std::string& cell : cells) out += " " + cell + " |";
      return out + "\n";
    };
    text += "\n**" + t.title + "**\n\n" + line(t.heads) + "|---|";
    for (std::size_t i = 1; i < t.heads.size(); ++i) text += "---:|";
    text += "\n";
    for (const auto& row : t.rows) text += line(row);
  }
  return text;
}

std::string bench_json(const Bench& b) {
  OrderedJson rows = OrderedJson::array();
  for (const BenchRow& r : b.rows) rows.push_back(row_json(r));
  const OrderedJson json = {
      {"version", b.machine.version},
      {"machine",
       {{"cpu", b.machine.cpu}, {"cores", b.machine.cores}, {"simd", b.machine.simd}, {"compiler", b.machine.compiler}}},
      {"quick", b.quick},
      {"rows", rows}};
  return json.dump(2) + "\n";
}

std::string bench_csv(const Bench& b) {
  std::string text;
  const OrderedJson heads = row_json({});
  for (const auto& [key, value] : heads.items()) text += key + ",";
  text += "machine\n";
  for (const BenchRow& r : b.rows) {
    std::string line;
    const OrderedJson cells = row_json(r);
    for (const auto& [key, value] : cells.items())
      line += (value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump()) + ",";
    text += line + bench::machine_slug(b.machine) + "\n";
  }
  return text;
}

std::filesystem::path write_bench_results(const Bench& b, const std::filesystem::path& folder) {
  const std::string kind = b.quick ? "-quick" : b.whole ? "" : b.suite.empty() ? "-part" : "-" + b.suite;
  std::filesystem::path place = folder / (bench::machine_slug(b.machine) + kind);
  make_folder(place);
  write_file_atomically(place / "results.csv", bench_csv(b));
  write_file_atomically(place / "tables.md", bench_markdown(b));
  for (const auto& [name, svg] : bench::error_plots(b)) write_file_atomically(place / name, svg);
  return place;
}

}  // namespace osier

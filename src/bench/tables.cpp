#include "bench/tables.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

#include "bench/subject.hpp"

namespace osier::bench {

namespace {

using Cells = std::vector<std::string>;
using Rows = std::vector<const BenchRow*>;

Rows rows_of(const Bench& bench, const std::string& table) {
  Rows rows;
  for (const BenchRow& r : bench.rows)
    if (r.table == table) rows.push_back(&r);
  return rows;
}

/// Three digits, as many as a timing deserves.
std::string number(const std::optional<double>& v) {
  if (!v) return "-";
  if (!std::isfinite(*v)) return "inf";
  const double size = std::abs(*v);
  if (size >= 99.95 || size == 0) return fmt::format("{:.0f}", *v);
  return size >= 9.995 ? fmt::format("{:.1f}", *v) : size >= 0.01 ? fmt::format("{:.2f}", *v) : fmt::format("{:.2g}", *v);
}
std::string small(const std::optional<double>& v) { return v ? fmt::format("{:.1e}", *v) : "-"; }
std::string counted(double n) {
  std::string text = fmt::format("{:.0f}", n);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(static_cast<std::size_t>(i), ",");
  return text;
}
std::string per_step(const std::optional<double>& n) {
  return !n ? "-" : *n == std::round(*n) ? fmt::format("{:.0f}", *n) : fmt::format("{:.1f}", *n);
}

void add_if_any(std::vector<Table>& list, Table table) {
  if (!table.rows.empty()) list.push_back(std::move(table));
}

Table paper_table(const Bench& b) {
  Table t{"Scenes of the paper, ms per frame (30 fps)",
          {"scene", "vertices", "paper", "method", "precision", "simd", "threads", "iterations/step", "ms/frame min", "median",
           "ns/vertex/iteration", "error/motion", "error [mm]"},
          {}};
  for (const BenchRow* r : rows_of(b, "paper"))
    t.rows.push_back({r->scene, counted(r->vertices), number(r->paper_ms), r->method, r->precision, r->simd,
                      std::to_string(r->threads), per_step(r->iterations), number(r->ms_per_frame_min),
                      number(r->ms_per_frame_median), number(r->ns_per_vertex_iteration), small(r->error),
                      r->error_m ? number(1e3 * *r->error_m) : "-"});
  return t;
}

Table device_table(const Bench& b) {
  Table t{"Whole frames on a device (30 fps), medians of 60 after 10 to warm up",
          {"scene", "vertices", "method", "precision", "device", "steps x iterations", "ms/frame median", "min",
           "ns/vertex/iteration", "error/motion", "error [mm]"},
          {}};
  for (const BenchRow* r : rows_of(b, "device"))
    t.rows.push_back({r->scene, counted(r->vertices), r->method, r->precision, r->device,
                      fmt::format("{} x {:g}", r->steps_per_frame, r->iterations.value_or(0)), number(r->ms_per_frame_median),
                      number(r->ms_per_frame_min), number(r->ns_per_vertex_iteration), small(r->error),
                      r->error_m ? number(1e3 * *r->error_m) : "-"});
  return t;
}

Table error_table(const Bench& b) {
  Table t{"Error over time", {"scene", "method", "precision", "iterations/step", "ms/frame min", "error/motion"}, {}};
  for (const BenchRow* r : rows_of(b, "error_over_time"))
    t.rows.push_back({r->scene, r->method, r->precision, per_step(r->iterations), number(r->ms_per_frame_min), small(r->error)});
  return t;
}

Table kernel_table(const Bench& b) {
  Table t{"One step, one thread",
          {"scene", "vertices", "method", "lambda", "precision", "simd", "iterations", "ns/vertex/iteration",
           "of one iteration more", "ms/frame"},
          {}};
  for (const BenchRow* r : rows_of(b, "kernels"))
    t.rows.push_back({r->scene, counted(r->vertices), r->method, r->lambda.empty() ? "-" : r->lambda, r->precision, r->simd,
                      per_step(r->iterations), number(r->ns_per_vertex_iteration), number(r->ns_per_further_iteration),
                      number(r->ms_per_frame_min)});
  return t;
}

/// One line for a scene and a step: iterations to 1e-3 / 1e-6 for each method.
Table convergence_table(const Bench& b) {
  Table t{"Iterations of one step to a position error of 1e-3 / 1e-6 of the first guess",
          {"scene", "step", "R", method_name(SolverRole::sweeps), method_name(SolverRole::converging)},
          {}};
  const BenchRow* last = nullptr;
  for (const BenchRow* r : rows_of(b, "convergence")) {
    if (!last || last->scene != r->scene || last->step != r->step)
      t.rows.push_back({r->scene, fmt::format("{:.3g} ms", 1e3 * r->step), fmt::format("{:.2g}", *r->stiffness_ratio), "", ""});
    std::string& cell = t.rows.back()[r->method == method_name(SolverRole::sweeps) ? 3 : 4];
    cell += fmt::format("{}{}{:.0f}", cell.empty() ? "" : " / ", r->reached ? "" : ">", *r->iterations);
    last = r;
  }
  return t;
}

Table vertices_table(const Bench& b) {
  Table t{"Time over size", {"scene", "method", "precision", "vertices", "ms/frame", "ns/vertex/iteration", "exponent"}, {}};
  for (const BenchRow* r : rows_of(b, "vertices"))
    t.rows.push_back({r->scene, r->method, r->precision, counted(r->vertices), number(r->ms_per_frame_min),
                      number(r->ns_per_vertex_iteration), r->slope ? fmt::format("{:.2f}", *r->slope) : ""});
  return t;
}

Table threads_table(const Bench& b) {
  Table t{"Time over threads", {"scene", "method", "threads", "ms/frame", "speed-up"}, {}};
  for (const BenchRow* r : rows_of(b, "threads"))
    t.rows.push_back({r->scene, r->method, std::to_string(r->threads), number(r->ms_per_frame_min), number(r->speedup)});
  return t;
}

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; }

Table contact_frame_table(const Bench& b) {
  Table t{"One frame of a knit that is being twisted",
          {"scene", "vertices", "method", "precision", "simd", "steps/frame", "iterations/step", "ms/frame", "error/motion",
           "from fine steps", "broad phase"},
          {}};
  for (const BenchRow* r : rows_of(b, "contact_frame"))
    t.rows.push_back({r->scene, counted(r->vertices), r->method, r->precision, r->simd, std::to_string(r->steps_per_frame),
                      per_step(r->iterations), number(r->ms_per_frame_min), small(r->error), small(r->error_fine),
                      percent(r->broad_phase)});
  return t;
}

Table contact_size_table(const Bench& b) {
  Table t{"A knit over its size",
          {"scene", "method", "precision", "vertices", "steps/frame", "iterations/step", "ms/frame", "ns/vertex/iteration",
           "broad phase", "exponent"},
          {}};
  for (const BenchRow* r : rows_of(b, "contact_size"))
    t.rows.push_back({r->scene, r->method, r->precision, counted(r->vertices), std::to_string(r->steps_per_frame),
                      per_step(r->iterations), number(r->ms_per_frame_min), number(r->ns_per_vertex_iteration),
                      percent(r->broad_phase), r->slope ? fmt::format("{:.2f}", *r->slope) : ""});
  return t;
}

Table contact_apart_table(const Bench& b) {
  Table t{"Contact where nothing touches",
          {"scene", "vertices", "method", "precision", "simd", "ms/frame min", "median", "more", "difference/motion"},
          {}};
  for (const BenchRow* r : rows_of(b, "contact_apart"))
    t.rows.push_back({r->scene, counted(r->vertices), r->method, r->precision, r->simd, number(r->ms_per_frame_min),
                      number(r->ms_per_frame_median), percent(r->overhead), small(r->error)});
  return t;
}

/// A step pays where it is this many times as long as the longest explicit one.
Table fibres_table(const Bench& b) {
  Table t{"A step of fibres, against an explicit step of the same network on one thread",
          {"scene", "sections", "method", "simd", "threads", "ms/step min", "median", "ns/section", "explicit", "pays from",
           "step/explicit limit"},
          {}};
  for (const BenchRow* r : rows_of(b, "fibres"))
    t.rows.push_back({r->scene, counted(r->vertices), r->method, r->simd, std::to_string(r->threads), number(r->ms_per_frame_min),
                      number(r->ms_per_frame_median), number(r->ns_per_vertex_iteration), number(r->explicit_ns),
                      number(*r->ns_per_vertex_iteration / *r->explicit_ns), number(r->step / *r->explicit_step)});
  return t;
}

}  // namespace

std::vector<Table> tables(const Bench& bench) {
  std::vector<Table> list;
  for (const auto& make : {paper_table, error_table, kernel_table, convergence_table, vertices_table, threads_table,
                           contact_frame_table, contact_size_table, contact_apart_table, fibres_table, device_table})
    add_if_any(list, make(bench));
  return list;
}

std::string machine_text(const BenchMachine& m) {
  return fmt::format("{}, {} core{}, {}; {}; Osier {}", m.cpu, m.cores, m.cores == 1 ? "" : "s", m.simd, m.compiler, m.version);
}

std::string machine_slug(const BenchMachine& m) {
  std::string slug;
  for (char c : fmt::format("{} {} cores {}", m.cpu, m.cores, m.simd)) {
    if (std::isalnum(static_cast<unsigned char>(c))) slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-') slug += '-';
  }
  return slug;
}

}  // namespace osier::bench

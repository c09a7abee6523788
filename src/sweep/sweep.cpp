#include "sweep/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "exec/parallel.hpp"
#include "io/atomic_file.hpp"
#include "io/run_folder.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"
#include "sim/probes.hpp"
#include "sweep/csv_line.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kSummary[] = {"time",     "steps",    "iterations",       "energy",           "max_stretch",
                                    "max_bend", "residual", "steps_not_solved", "instability_time", "segments_alive"};

double number(const std::string& text) {
  double value = kNone;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : kNone;
}

/// A probe at the end of the run, and where things move its smallest and largest value over frames.
std::vector<std::string> columns_of(const Setup& setup) {
  std::vector<std::string> list;
  for (const std::string& probe : probe_columns(setup)) {
    list.push_back(probe);
    if (!setup.spec.dynamic()) continue;
    list.push_back(probe + ".min");
    list.push_back(probe + ".max");
  }
  list.insert(list.end(), std::begin(kSummary), std::end(kSummary));
  return list;
}

class ProbeRange {
 public:
  void take(const Setup& setup, const Simulation& simulation) {
    probe_values(setup, simulation, last_);
    low_.resize(last_.size(), kNone), high_.resize(last_.size(), kNone);
    for (std::size_t i = 0; i < last_.size(); ++i)
      low_[i] = std::fmin(low_[i], last_[i]), high_[i] = std::fmax(high_[i], last_[i]);
  }
  void put(bool moves, std::vector<double>& values) const {
    for (std::size_t i = 0; i < last_.size(); ++i) {
      values.push_back(last_[i]);
      if (moves) values.push_back(low_[i]), values.push_back(high_[i]);
    }
  }

 private:
  std::vector<double> last_, low_, high_;
};

std::string first_problem(const InputError& e) { return e.problems().empty() ? e.what() : to_string(e.problems().front()); }

/// A scene and the results of its run.
class Trials {
 public:
  Trials(const fs::path& scene, const Design& design, LoadOptions load) : design_(design), load_(std::move(load)) {
    std::ifstream in(scene, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) Scene::load(scene, load_);  // tells what is wrong with the file
    text_ = text.str();
    name_ = scene.stem().string(), source_ = scene.string();
    folder_ = scene.has_parent_path() ? scene.parent_path() : ".";
    load_.threads = 1;  // runs share the cores, and not each of them
  }

  Scene scene(std::size_t run) const {
    LoadOptions load = load_;
    for (std::string& change : design_.changes(run)) load.overrides.push_back(std::move(change));
    return Scene::parse(text_, name_, folder_, load, source_);
  }
  /// As it is without changes by the design, which may not be a whole scene.
  const std::string& text() const { return text_; }

  SweepRow run(std::size_t index, const std::vector<std::string>& columns, const std::atomic<bool>* interrupt) const {
    SweepRow row{.run = index, .error = {}, .values = {}};
    try {
      const Scene changed = scene(index);
      const Setup& setup = changed.setup();
      if (columns_of(setup) != columns) throw RunError("has other probes than the other runs, or another kind of analysis");
      ProbeRange probes;
      RunOptions options;
      options.interrupt = interrupt;
      options.frame_done = [&](const Simulation& s) { probes.take(setup, s); };
      const RunStats stats = run_scene(changed, options);
      if (!stats.error.empty()) throw RunError(stats.error);
      probes.put(setup.spec.dynamic() != nullptr, row.values);
      for (const double x :
           {stats.simulated_seconds, static_cast<double>(stats.steps), static_cast<double>(stats.iterations), stats.energy_total,
            stats.max_stretch, stats.max_bend, stats.residual,
            static_cast<double>(stats.steps_not_converged + stats.steps_not_solved),
            stats.instability_time < 0 ? kNone : stats.instability_time, static_cast<double>(stats.segments_alive)})
        row.values.push_back(x);
    } catch (const InputError& e) {
      row.error = first_problem(e);
    } catch (const std::exception& e) {
      row.error = e.what();
    }
    if (!row.error.empty()) row.values.clear();
    return row;
  }

 private:
  const Design& design_;
  LoadOptions load_;
  std::string text_, name_, source_;
  fs::path folder_;
};

std::vector<std::string> header_of(const SweepTable& table) {
  std::vector<std::string> fields{"run", "status"};
  fields.insert(fields.end(), table.design.pointers.begin(), table.design.pointers.end());
  fields.insert(fields.end(), table.columns.begin(), table.columns.end());
  fields.push_back("error");
  return fields;
}

std::string line_of(const SweepTable& table, const SweepRow& row) {
  std::vector<std::string> fields{fmt::format("{}", row.run), row.error.empty() ? "done" : "failed"};
  const std::vector<std::string>& design = table.design.rows[row.run];
  fields.insert(fields.end(), design.begin(), design.end());
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    fields.push_back(row.values.empty() || std::isnan(row.values[i]) ? "" : fmt::format("{:.17g}", row.values[i]));
  fields.push_back(row.error);
  return csv_line(fields);
}

/// Of this sweep and complete, or nothing.
std::optional<SweepRow> row_of(const SweepTable& table, const std::vector<std::string>& fields) {
  const std::size_t first = 2 + table.design.pointers.size();
  if (fields.size() != first + table.columns.size() + 1) return {};
  const double run = number(fields[0]);
  if (!(run >= 0) || !(run < static_cast<double>(table.design.rows.size()))) return {};
  SweepRow row{.run = static_cast<std::size_t>(run), .error = fields.back(), .values = {}};
  if (!std::equal(table.design.rows[row.run].begin(), table.design.rows[row.run].end(), fields.begin() + 2)) return {};
  if (fields[1] == "failed" && !row.error.empty()) return row;
  if (fields[1] != "done") return {};
  row.error.clear();
  for (std::size_t i = 0; i < table.columns.size(); ++i) row.values.push_back(number(fields[first + i]));
  return row;
}

/// Whole lines alone: a killed process may have left half a line, which is cut off.
std::vector<std::string> whole_lines(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (end < text.size()) fs::resize_file(file, end);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < end;) {
    const std::size_t next = text.find('\n', at);
    lines.push_back(text.substr(at, next - at));
    at = next + 1;
  }
  return lines;
}

/// What makes two sweeps the same one.
OrderedJson identity_of(const SweepTable& table) {
  Digest digest;
  for (const auto& row : table.design.rows)
    for (const std::string& value : row) digest.add(value);
  return {{"osier", version()},
          {"scene", Json::parse(table.scene_json)},
          {"runs", table.design.rows.size()},
          {"places", table.design.pointers},
          {"columns", table.columns},
          {"values", fmt::format("{:016x}", digest.value())}};
}

void expect_same_sweep(const fs::path& file, const OrderedJson& mine) {
  std::ifstream in(file);
  if (!in) return;
  const OrderedJson there = OrderedJson::parse(in, nullptr, false);
  if (there == mine) return;
  std::string what;
  for (const auto& [key, value] : mine.items())
    if (!there.is_object() || !there.contains(key) || there[key] != value) what += (what.empty() ? "`" : ", `") + key + "`";
  throw InputError({{file.parent_path().string(), fmt::format("holds another sweep: {} differ", what),
                     "choose another folder with -o, or remove this one"}});
}

void read_rows(const fs::path& file, SweepTable& table, std::vector<std::uint8_t>& known) {
  std::error_code error;
  if (!fs::exists(file, error)) return;
  for (const std::string& line : whole_lines(file))
    if (std::optional<SweepRow> row = row_of(table, csv_fields(line)); row && !known[row->run]) {
      known[row->run] = 1;
      table.rows.push_back(std::move(*row));
    }
}

/// Those of the first run that is a scene. The problems of the first one, where none is.
std::vector<std::string> find_columns(const Trials& trials, const SweepOptions& options, std::size_t runs, SweepTable& table) {
  constexpr std::size_t kTries = 100;
  std::optional<InputError> first;
  for (std::size_t i = 0, tries = 0; i < runs && tries < kTries; ++i) {
    if (i % options.parts != options.part) continue;
    ++tries;
    try {
      const Scene scene = trials.scene(i);
      table.scene_name = scene.name();
      return columns_of(scene.setup());
    } catch (const InputError& e) {
      if (!first) first = e;
    }
  }
  if (first) throw *first;
  return {};
}

void sort_rows(SweepTable& table) {
  std::sort(table.rows.begin(), table.rows.end(), [](const SweepRow& a, const SweepRow& b) { return a.run < b.run; });
}

}  // namespace

std::size_t SweepTable::failed() const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const SweepRow& r) { return !r.error.empty(); }));
}

SweepResult run_sweep(const fs::path& scene, const Design& design, const SweepOptions& options) {
  const Clock::time_point start = Clock::now();
  const Trials trials(scene, design, options.load);
  SweepResult result;
  SweepTable& table = result.table;
  table.design = design;
  table.columns = find_columns(trials, options, design.rows.size(), table);
  Json written = Json::parse(trials.text(), nullptr, false, true);
  written["--set"] = options.load.overrides;
  if (!options.load.solver.empty()) written["--solver"] = options.load.solver;
  table.scene_json = written.dump();

  RunFolder folder(options.folder);
  folder.started();
  const OrderedJson identity = identity_of(table);
  expect_same_sweep(options.folder / "sweep.json", identity);
  write_file_atomically(options.folder / "sweep.json", identity.dump(1));
  std::vector<std::uint8_t> known(design.rows.size(), 0);
  const fs::path log = options.folder / "rows.csv";
  read_rows(options.folder / "sweep.csv", table, known);
  read_rows(log, table, known);
  result.known = table.rows.size();
  std::vector<std::size_t> todo;
  for (std::size_t i = 0; i < design.rows.size(); ++i)
    if (design.is_mine(i, options.part, options.parts) && !known[i]) todo.push_back(i);

  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> out(std::fopen(log.c_str(), "a"), close);
  if (!out) throw RunError(log.string() + ": cannot be written");
  std::mutex one_at_a_time;
  const auto stops = [&] { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); };
  std::string failure;
  Executor(options.threads).for_each_job(todo.size(), [&](std::size_t i) {
    if (stops()) return;
    SweepRow row = trials.run(todo[i], table.columns, options.interrupt);
    if (stops()) return;  // it may have been cut short
    const std::lock_guard lock(one_at_a_time);
    const std::string line = line_of(table, row);
    if (std::fwrite(line.data(), 1, line.size(), out.get()) != line.size() || std::fflush(out.get()) != 0)
      failure = log.string() + ": cannot be written";
    table.rows.push_back(std::move(row));
    if (options.progress) options.progress(table.rows.size() - result.known, todo.size());
  });
  if (!failure.empty()) throw RunError(failure);
  result.interrupted = stops();
  sort_rows(table);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (result.interrupted) return result;
  write_sweep(table, options.folder);
  std::error_code ignored;  // rows that are there twice do no harm
  fs::remove(log, ignored);
  return result;
}

void write_sweep(const SweepTable& table, const fs::path& folder) {
  std::string text = csv_line(header_of(table));
  for (const SweepRow& row : table.rows) text += line_of(table, row);
  write_file_atomically(folder / "sweep.csv", text);
  write_sweep_table(table, folder / "sweep.h5");
  write_file_atomically(folder / "index.html", sweep_html(table));
}

/// The design of a sweep is known from its rows: every part has those that it ran.
SweepTable merge_sweeps(const std::vector<fs::path>& folders, const fs::path& into) {
  Problems problems;
  SweepTable table;
  OrderedJson identity;
  struct Line {
    std::vector<std::string> fields;
  };
  std::vector<Line> lines;
  for (const fs::path& folder : folders) {
    std::ifstream in(folder / "sweep.json");
    const OrderedJson there = in ? OrderedJson::parse(in, nullptr, false) : OrderedJson();
    if (!there.is_object()) {
      problems.add(folder.string(), "holds no sweep", "name folders of `osier sweep`");
      continue;
    }
    if (identity.is_null()) identity = there;
    else if (there != identity) problems.add(folder.string(), "holds a part of another sweep", "leave it out");
    for (const char* name : {"sweep.csv", "rows.csv"}) {
      std::error_code error;
      if (!fs::exists(folder / name, error)) continue;
      for (const std::string& line : whole_lines(folder / name)) lines.push_back({csv_fields(line)});
    }
  }
  problems.throw_if_any();
  table.scene_json = identity["scene"].dump();
  table.scene_name = identity["scene"].value("name", into.filename().string());
  table.design.pointers = identity["places"].get<std::vector<std::string>>();
  table.columns = identity["columns"].get<std::vector<std::string>>();
  table.design.rows.assign(identity["runs"].get<std::size_t>(), std::vector<std::string>(table.design.pointers.size()));
  std::vector<std::uint8_t> known(table.design.rows.size(), 0);
  for (const Line& line : lines) {
    const double run = line.fields.empty() ? kNone : number(line.fields[0]);
    if (!(run >= 0) || !(run < static_cast<double>(known.size())) || line.fields.size() < 2 + table.design.pointers.size())
      continue;
    const auto index = static_cast<std::size_t>(run);
    if (known[index]) continue;
    std::copy_n(line.fields.begin() + 2, table.design.pointers.size(), table.design.rows[index].begin());
    if (std::optional<SweepRow> row = row_of(table, line.fields)) {
      known[index] = 1;
      table.rows.push_back(std::move(*row));
    }
  }
  sort_rows(table);
  make_folder(into);
  write_file_atomically(into / "sweep.json", identity.dump(1));
  write_sweep(table, into);
  return table;
}

std::vector<double> parameter_of(const SweepTable& table, std::size_t parameter) {
  std::vector<double> list;
  for (const SweepRow& row : table.rows) list.push_back(number(table.design.rows[row.run][parameter]));
  return list;
}

std::vector<double> result_of(const SweepTable& table, std::size_t column) {
  std::vector<double> list;
  for (const SweepRow& row : table.rows) list.push_back(row.values.empty() ? kNone : row.values[column]);
  return list;
}

}  // namespace osier

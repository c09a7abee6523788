// The paper's Table 1: time per frame at the paper's steps, and how far the result is from the converged one. Then the same at
// other numbers of iterations, so that methods can be compared at equal time.
#include <fmt/format.h>

#include "bench/run_timed.hpp"
#include "bench/suites.hpp"

namespace osier::bench {

namespace {

struct PaperScene {
  const char* name;
  int iterations;              ///< the paper's
  double paper_ms;             ///< per frame; 0: not in the paper
  int frames;                  ///< into the motion, and cheap
  bool papers_own = true;      ///< a file of scenes/paper, with the paper's steps
  const char* part = nullptr;  ///< override that makes a scene for the error: cheaper, or less chaotic
  int timed_frames = frames;
};

constexpr const char* kUnbreakable = "/structures/0/strain_limit=1";

constexpr Precision kFloat = Precision::single_precision, kDouble = Precision::double_precision;

// Slingshot: past its release at 0.5 s. Bridge: what breaks, and when, is chaotic; its error is that of a bridge that holds.
// Afro: strands do not touch each other, so that a hundredth of them tells the error.
constexpr PaperScene kTable[] = {
    {"slingshot", 4, 0.2, 18},
    {"bridge", 4, 2.0, 5, true, kUnbreakable},
    {"slinky", 8, 22.8, 3},
    {"trees", 4, 7.3, 5},
    {"hair_afro", 8, 7.0, 5, true, "/structures/0/strands=458", 2},
    {"hair_wisp", 8, 0, 5, false},
};

Subject subject_of(const PaperScene& s) {
  return {.name = s.name, .text = {}, .file = s.papers_own ? std::string("paper/") + s.name : "", .overrides = {}};
}

/// As few strands as a test can do with.
Subject shrunk(const Subject& subject, bool quick) {
  if (!quick || !subject.name.starts_with("hair")) return subject;
  return subject.with("/structures/0/strands=64");
}

/// The scene solved to the end at every step: directly where that converges, else by Newton.
TimedRun reference_run(const Subject& subject, int frames, const std::filesystem::path& folder) {
  try {
    TimedRun run = run_timed(load(subject, converged(), folder), frames, false, 0);
    if (run.converged) return run;
  } catch (const std::runtime_error&) {  // a graph that it does not take
  }
  return run_timed(load(subject, reference(1e-10), folder), frames, false, 0);
}

/// Times on the whole scene, error on what stands for it; one run does for both when they are the same.
BenchRow table_row(const PaperScene& s, const Subject& whole, const Subject& part, const TimedRun& exact, const Variant& v,
                   Context& c) {
  const bool quick = c.options.quick, same = whole.overrides == part.overrides;
  const int frames = quick ? 1 : s.frames;
  const Scene scene = load(whole, v, c.options.folder);
  BenchRow row = row_for("scenes", "paper", s.name, scene, v);
  const TimedRun run = run_timed(scene, same ? frames : s.timed_frames, !quick, 2);
  put_times(run, row);
  put_error(same ? run : run_timed(load(part, v, c.options.folder), frames, false, 0), exact, row);
  if (s.paper_ms > 0) row.paper_ms = s.paper_ms;
  return row;
}

void table_rows(Context& c, const PaperScene& s) {
  const Subject whole = shrunk(subject_of(s), c.options.quick);
  const Subject part = s.part && !c.options.quick ? subject_of(s).with(s.part) : whole;
  c.say(fmt::format("scenes: {}, reference", s.name));
  const TimedRun exact = reference_run(part, c.options.quick ? 1 : s.frames, c.options.folder);
  const int threads = c.options.threads.value_or(1);
  for (const Variant& v : {sweeps(s.iterations, kFloat, threads), automatic(kFloat, threads), direct(0, kFloat, threads),
                           direct(0, kDouble, threads)}) {
    c.say(fmt::format("scenes: {}, {} in {}", s.name, v.name(), v.execution().precision_name()));
    try {
      c.rows.push_back(table_row(s, whole, part, exact, v, c));
    } catch (const RunError& e) {  // a graph that it does not take, for one
      c.say(fmt::format("scenes: {}, {}: left out, {}", s.name, v.name(), e.what()));
    }
  }
}

// ------------------------------------------------------------------------------------------------------ error at equal time

struct TimeScene {
  Subject subject;
  int frames;
};

std::vector<TimeScene> time_scenes() {
  const auto file = [](const char* name) { return Subject{.name = name, .text = {}, .file = {}, .overrides = {}}; };
  return {{cantilever("cantilever_stiff", 100, 1e9), 10},
          {file("slinky"), 3},
          {file("trees"), 3},
          {file("hair_wisp"), 3},
          {file("bridge").with(kUnbreakable), 5}};
}

void error_over_time(Context& c, const TimeScene& s) {
  const bool quick = c.options.quick;
  const Subject subject = shrunk(s.subject, quick);
  const int frames = quick ? 1 : s.frames, most = quick ? 8 : 1024;
  const double longest = quick ? 1 : 3;  // seconds of a run
  c.say(fmt::format("scenes: {}, reference for error over time", subject.name));
  const TimedRun exact = reference_run(subject, frames, c.options.folder);
  const auto measure = [&](const Variant& v) {
    const Scene scene = load(subject, v, c.options.folder);
    BenchRow row = row_for("scenes", "error_over_time", subject.name, scene, v);
    c.say(fmt::format("scenes: {}, {} {} x {}", subject.name, v.name(), v.execution().precision_name(), v.iterations));
    const TimedRun run = run_timed(scene, frames, !quick, 0.5);
    put_times(run, row);
    put_error(run, exact, row);
    c.rows.push_back(row);
    return run.ms.front() * frames / 1e3;
  };
  for (const Precision precision : {kFloat, kDouble}) {
    if (quick && precision == kFloat) continue;
    for (int n = 1; n <= most; n *= 2)
      if (2 * measure(sweeps(n, precision)) > longest) break;
    for (int n = 1; n <= most; n *= 4)
      if (2 * measure(projective(n, precision)) > longest) break;
    for (int n = 1; n <= 3; ++n) {
      try {
        measure(direct(n, precision));
      } catch (const RunError& e) {
        c.say(fmt::format("scenes: {}, direct: left out, {}", subject.name, e.what()));
      }
    }
  }
}

}  // namespace

std::vector<std::string> scenes_of_scenes() {
  std::vector<std::string> names;
  for (const PaperScene& s : kTable) names.emplace_back(s.name);
  names.push_back(time_scenes().front().subject.name);
  return names;
}

void run_scenes(Context& c) {
  for (const PaperScene& s : kTable)
    if (c.wants(s.name)) table_rows(c, s);
  for (const TimeScene& s : time_scenes())
    if (c.wants(s.subject.name)) error_over_time(c, s);
}

}  // namespace osier::bench

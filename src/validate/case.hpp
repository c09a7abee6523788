// A case of the validation catalogue as its file says it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "osier/types.hpp"
#include "validate/expression.hpp"

namespace osier::validate {

/// JSON that is filled in and read later.
struct RawJson {
  Json value;
  std::string where;
  static constexpr bool only_short = true;
  static const char* kind() { return "json"; }
  bool read_short(const Json& j, const std::string& at, Problems&) {
    value = j, where = at;
    return true;
  }
  static OrderedJson short_schema(FieldDoc& doc);
};

/// One formula for every resolution, or {"20": ..., "50": ...}.
struct Allowance {
  Formula everywhere;
  std::map<int, Formula> at;
  static constexpr bool only_short = true;
  static const char* kind() { return "allowance"; }
  bool read_short(const Json& j, const std::string& at_pointer, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  bool given() const { return everywhere.given() || !at.empty(); }
  /// Null when nothing is said about this resolution.
  const Formula* find(std::optional<int> resolution) const;
};

enum class ErrorKind : std::uint8_t { relative, absolute };

}  // namespace osier::validate

namespace osier {
template <>
struct Choices<validate::ErrorKind> {
  static constexpr std::array<const char*, 2> names{"relative", "absolute"};
};
}  // namespace osier

namespace osier::validate {

struct OrderSpec {
  std::vector<int> between;
  double at_least = 1.8;
  static const char* kind() { return "case_order"; }
  static const char* help() { return "Least observed order of convergence."; }
  template <class F>
  void fields(F& f) {
    f("between", between, "Coarser and finer resolution", {.required = true});
    f("at_least", at_least, "Least order");
  }
};

struct ExpectSpec {
  std::string quantity;
  Formula value, reference;
  ErrorKind error = ErrorKind::relative;
  Allowance table, within;
  std::optional<OrderSpec> order;
  std::string where;
  static const char* kind() { return "case_expect"; }
  static const char* help() { return "A measured quantity, what it should be, and how near is near enough."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("quantity", quantity, "What the table calls it", {.required = true});
    f("value", value, "Expression of parameters and measured names", {.required = true});
    f("reference", reference, "The true value; an expression of parameters", {.required = true});
    f("error", error, "How the error is counted");
    f("table", table,
      "Error of the exact minimiser of the discrete energy; 1.5 times that passes, and the order between 50 and 200 must be 1.8");
    f("within", within, "Largest error as it is, where there is no table");
    f("order", order, "Required order of convergence, instead of the table's");
    if (f.has("table") && f.has("within")) f.problem("both `table` and `within` are given", "keep one of them");
  }
};

struct ResolutionSpec {
  std::string name = "N";
  std::vector<int> values, fast;
  std::string where;
  static const char* kind() { return "case_resolution"; }
  static const char* help() { return "What is refined."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Its name in expressions");
    f("values", values, "Whole numbers, ascending", {.min = 1, .required = true});
    f("fast", fast, "Those that `--fast` runs; without any the case is not part of it", {.min = 1});
  }
};

/// A picture of the rod beside the curve it should lie on.
struct ShapeSpec {
  std::string rod, axes = "xy", figure;
  std::optional<int> resolution;
  Formula x, y, z, to;
  std::vector<Vec3d> points;
  static const char* kind() { return "case_shape"; }
  static const char* help() { return "A rod at the end of a run and the curve it should lie on, for the report."; }
  template <class F>
  void fields(F& f) {
    f("rod", rod, "Which rod; the first when left out");
    f("axes", axes, "Two of x, y, z: to the right and up");
    f("figure", figure, "Runs with the same word share a figure");
    f("resolution", resolution, "Which resolution is drawn");
    f("x", x, "Curve: expression of the parameters and of s, which runs from 0 to `to`; 0 when left out");
    f("y", y, "Likewise");
    f("z", z, "Likewise");
    f("to", to, "Last value of s; 1 when left out");
    f("points", points, "The curve as points instead");
    const std::string all = "xyz";
    if (axes.size() != 2 || axes[0] == axes[1] || all.find(axes[0]) == std::string::npos ||
        all.find(axes[1]) == std::string::npos)
      f.problem("`axes` is not two of x, y, z", R"(write "xy")");
    if (f.has("points") && (f.has("x") || f.has("y") || f.has("z")))
      f.problem("the curve is given both by points and by expressions", "keep one of them");
  }
};

struct RunSpec {
  std::string name, needs, of_solver;
  bool unstable = false;
  std::map<std::string, Formula> parameters;
  RawJson scene, instruments, experiment, shape;
  std::vector<int> resolutions;
  std::vector<ExpectSpec> expect;
  std::string where;
  static const char* kind() { return "case_run"; }
  static const char* help() { return "One variant of the case."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Short name, unique in the case");
    f("needs", needs, "What the engine lacks to run it; then it is listed but not run");
    f("of_solver", of_solver, "The solver whose own property this is; with another `--solver` it is listed but not run");
    f("unstable", unstable,
      "The equilibrium does not last in motion, so that statics are needed to find it and no relaxation takes their place");
    f("parameters", parameters, "Parameters of this run, over those of the case");
    f("scene", scene, "JSON merge patch on the case's scene");
    f("instruments", instruments, "Instead of the case's");
    f("experiment", experiment, "Instead of the case's");
    f("shape", shape, "JSON merge patch on the case's shape");
    f("resolutions", resolutions, "Some of the case's resolutions, where not all make sense", {.min = 1});
    f("expect", expect, "Expectations besides those of the case");
  }
};

struct CaseSpec {
  std::string name, part_of, title, group, source, note, needs, of_solver;
  std::map<std::string, Formula> parameters;
  std::optional<ResolutionSpec> resolution;
  RawJson scene, instruments, experiment, shape;
  bool sweeps = true, fast = false;
  std::vector<ExpectSpec> expect;
  std::vector<RunSpec> runs;
  std::filesystem::path file;
  static const char* kind() { return "case"; }
  static const char* help() { return "A problem with a known answer."; }
  template <class F>
  void fields(F& f) {
    f("case", name, "Name, as on the command line", {.required = true});
    f("part_of", part_of, "The case of the catalogue that this is a part of; `case` in JSON");
    f("title", title, "What it is about", {.required = true});
    f("group", group, "Heading in tables and reports", {.required = true});
    f("source", source, "Where the reference comes from", {.required = true});
    f("note", note, "What a reader of the results should know");
    f("needs", needs, "What the engine lacks to run it; then it is listed but not run");
    f("of_solver", of_solver, "The solver whose own property this is; with another `--solver` it is listed but not run");
    f("parameters", parameters, "Names for expressions; they may refer to each other");
    f("resolution", resolution, "What is refined");
    f("scene", scene, "The scene; any text `=...` is an expression, `{...}` in other texts a whole number");
    f("instruments", instruments, "What looks on during the run, besides the scene's probes");
    f("experiment", experiment, "What is done with the scene, if not simply run to its end");
    f("shape", shape, "Curve that the rod should lie on, for the report's pictures");
    f("fast", fast, "Whether `--fast` runs it, for a case without resolutions");
    f("sweeps", sweeps, "Whether the run with four sweeps per step means anything here");
    f("expect", expect, "Expectations of every run");
    f("runs", runs, "Variants; one without name when left out");
  }

  /// Resolutions of a run; a single empty one when the case has none.
  std::vector<std::optional<int>> resolutions(const RunSpec& run, bool only_fast) const;
  std::vector<const ExpectSpec*> expectations(const RunSpec& run) const;
};

/// All case files of a folder, by name. Problems carry file name and pointer. `names` selects; an unknown one is a problem.
std::vector<CaseSpec> read_cases(const std::filesystem::path& folder, const std::vector<std::string>& names, Problems& problems);

}  // namespace osier::validate

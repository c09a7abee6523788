// The validation catalogue: problems with known answers, run and judged. A case is one JSON file (docs/validation_cases.md).
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "osier/error.hpp"

namespace osier {

enum class Verdict : std::uint8_t {
  passed,
  failed,
  shown,   ///< nothing is required of this number
  waiting  ///< the engine lacks something that the case needs
};

/// One quantity at one resolution. What does not apply is left out.
struct ValidationRow {
  std::string run, quantity;
  std::optional<int> resolution;
  std::optional<double> reference, computed, error;
  std::optional<double> allowed;         ///< largest |error| that passes
  std::optional<double> order;           ///< observed between two resolutions; told at the finer one
  std::optional<double> order_required;  ///< least order that passes
  std::optional<double> sweeps_error;    ///< error with the four sweeps per step of the Stable Cosserat Rods paper
  std::string solver;
  long iterations = 0;
  std::optional<double> residual;  ///< largest relative residual met on the way
  double seconds = 0;
  Verdict verdict = Verdict::shown;
  std::string note;  ///< why it failed, or what it waits for
};

/// A rod at the end of a run and the curve it should lie on, seen along one axis [m].
struct ValidationCurve {
  std::string run;
  std::vector<std::array<double, 2>> computed, reference;
};

struct ValidationFigure {
  std::string title;  ///< or empty
  std::string axes;   ///< "xy": x to the right, y up
  std::optional<int> resolution;
  std::vector<ValidationCurve> curves;
};

struct ValidationCase {
  std::string name;
  std::string part_of;  ///< case of the catalogue that it is a part of, or empty
  std::string title, group, source, note;
  std::string needs;            ///< what is missing, or empty
  std::string resolution_name;  ///< "N", or empty
  std::vector<ValidationRow> rows;
  std::vector<ValidationFigure> figures;
};

struct Validation {
  std::string version;
  std::string solver;    ///< the one asked for, or empty: each case's own
  std::string protocol;  ///< how statics were done where a solver has none; lines of text
  bool fast = false;
  double seconds = 0;
  std::vector<ValidationCase> cases;

  int count(Verdict verdict) const;
  bool passed() const { return count(Verdict::failed) == 0; }
};

struct ValidateOptions {
  std::filesystem::path cases;                                  ///< folder of the case files
  std::vector<std::string> names;                               ///< empty: all
  std::string solver;                                           ///< empty: each case's own
  int threads = 0;                                              ///< 0: all cores
  bool fast = false;                                            ///< only the resolutions a case marks as fast
  bool sweeps = true;                                           ///< whether to run the four-sweeps column
  std::function<void(int done, int jobs, double ms)> progress;  ///< `ms`: of the job just done
};

/// Names and titles without running anything. Throws InputError with every problem of every file.
std::vector<ValidationCase> list_validation_cases(const ValidateOptions& options);
/// Throws InputError with every problem of the chosen files before anything runs. A run that fails is a failed row.
Validation run_validation(const ValidateOptions& options);

std::string validation_table(const Validation& result);
std::string validation_json(const Validation& result);
std::string validation_markdown(const Validation& result);
/// One page that needs nothing else.
std::string validation_html(const Validation& result);
/// `index.html` and `validation.md`. Throws RunError when they cannot be written.
void write_validation_report(const Validation& result, const std::filesystem::path& folder);

/// `scenes/validation` above the program or above the current folder, or the installed copy. Empty when there is none.
std::filesystem::path find_validation_cases();

}  // namespace osier

// osier diff: where two recorded runs begin to differ.
#include <fmt/format.h>
#include <memory>

#include "commands.hpp"
#include "sim/compare_runs.hpp"

namespace osier::cli {

namespace {

struct DiffArguments {
  std::string first, second;
  double tolerance = 0;
  bool quiet = false;
};

void tell(const Difference& d, const char* what) {
  fmt::print("{} frame {}, t = {:.9g} s, {}{}{}: {} and {}", what, d.frame, d.time, d.quantity, d.element.empty() ? "" : " of ",
             d.element, d.first, d.second);
  if (d.quantity == "state_hash") fmt::print(", the fingerprints of all that the next steps depend on");
  else fmt::print(", apart by {:.3g}", d.size);
  fmt::print("\n");
}

int diff(const DiffArguments& o) {
  Trajectory first = Trajectory::open(o.first), second = Trajectory::open(o.second);
  const RunComparison result = compare_runs(first, second, o.tolerance);
  if (!result.unlike.empty()) {
    if (!o.quiet) fmt::print("the runs are of different rods: {}\n", result.unlike);
    return kRunFailed;
  }
  if (!o.quiet) {
    const char* what = "first difference:";
    for (const Difference& d : result.first) tell(d, std::exchange(what, "                 "));
    what = "largest:         ";
    if (!result.first.empty())
      for (const Difference& d : result.largest) tell(d, std::exchange(what, "                 "));
    if (result.frames_first != result.frames_second)
      fmt::print("the first run has {} frames, the second {}\n", result.frames_first, result.frames_second);
    if (result.same())
      fmt::print(
          "the same: {} frames{}\n", result.frames,
          o.tolerance > 0 ? fmt::format(", to {:g} of each quantity's largest magnitude", o.tolerance) : ", every bit of them");
  }
  return result.same() ? kDone : kRunFailed;
}

}  // namespace

Command add_diff(CLI::App& app) {
  auto o = std::make_shared<DiffArguments>();
  CLI::App* sub = app.add_subcommand("diff", "Tell where two recorded runs begin to differ");
  sub->add_option("RUN", o->first, "Folder of a run, or its trajectory.h5")->required();
  sub->add_option("OTHER", o->second, "The same of another run")->required();
  sub->add_option("--tolerance", o->tolerance,
                  "Share of a quantity's largest magnitude in a frame that is no difference (default: every bit counts)")
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--quiet", o->quiet, "The exit code alone");
  sub->footer("Exit codes: 0 the runs are the same, 1 they differ, 2 bad input. Times of the clock do not count.");
  return {sub, [o] { return diff(*o); }};
}

}  // namespace osier::cli

#include "io/curves/moment.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace osier {

Moment moment_at(const std::vector<double>& times, double time) {
  const auto next = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin());
  if (next == 0) return {0, 0, 0};
  if (next == times.size() || times[next - 1] == time) return {next - 1, next - 1, 0};
  return {next - 1, next, (time - times[next - 1]) / (times[next] - times[next - 1])};
}

double chosen_time(const std::vector<double>& times, const CurveReadOptions& options, const CurveSource& source) {
  if (times.empty()) {
    if (options.frame || options.time) source.fail("the curves of this file do not move", "leave out `frame` and `time`");
    return 0;
  }
  if (options.frame) {
    const auto n = static_cast<std::int64_t>(times.size());
    const std::int64_t i = *options.frame < 0 ? n + *options.frame : *options.frame;
    if (i < 0 || i >= n) source.fail(fmt::format("there is no frame {}", *options.frame), fmt::format("it has 0 to {}", n - 1));
    return times[static_cast<std::size_t>(i)];
  }
  if (!options.time) return times.front();
  if (!(*options.time >= times.front() && *options.time <= times.back()))
    source.fail(fmt::format("there is nothing at time {}", *options.time),
                fmt::format("its times run from {} to {}", times.front(), times.back()));
  return *options.time;
}

}  // namespace osier

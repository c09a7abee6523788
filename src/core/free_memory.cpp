#include "core/free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace osier {

namespace {

/// The first number of a file of the kernel's; nothing where there is no such file, or a word ("max") in it.
std::optional<std::uint64_t> number_in(const char* file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

/// Without what the kernel would have to write to disk first.
std::optional<std::uint64_t> free_on_machine() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && in >> kilobytes) return 1024 * kilobytes;
  }
  return {};
}

std::uint64_t difference(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

std::uint64_t free_memory() {
  std::uint64_t least = free_on_machine().value_or(std::uint64_t{1} << 62);
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    if (const auto pages = number_in("/proc/self/statm"))
      least = std::min(least, difference(limit.rlim_cur, *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))));
  const auto group_limit = number_in("/sys/fs/cgroup/memory.max"), group_use = number_in("/sys/fs/cgroup/memory.current");
  if (group_limit && group_use) least = std::min(least, difference(*group_limit, *group_use));
  return least;
}

}  // namespace osier

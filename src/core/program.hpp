// Other programs: where they are, and running one to its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace osier {

/// On PATH; empty when it is not there.
std::filesystem::path find_program(const std::string& name);

struct ProgramResult {
  int status = -1;   ///< of its exit; 127 where it could not be started, 128 and more where a signal ended it
  std::string said;  ///< the last of what it wrote to either stream
};
/// `words`: the program and its arguments; no shell in between.
ProgramResult run_program(const std::vector<std::string>& words);

}  // namespace osier

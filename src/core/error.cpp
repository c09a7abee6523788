#include "osier/error.hpp"

namespace osier {

std::string to_string(const Problem& problem) {
  std::string text = problem.where.empty() ? problem.what : problem.where + ": " + problem.what;
  if (!problem.remedy.empty()) text += "; " + problem.remedy;
  return text;
}

static std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& p : problems) {
    if (!text.empty()) text += '\n';
    text += to_string(p);
  }
  return text;
}

InputError::InputError(std::vector<Problem> problems) : std::runtime_error(join(problems)), problems_(std::move(problems)) {}

}  // namespace osier

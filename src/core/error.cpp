#include "osier/error.hpp"

#include "core/text.hpp"

namespace osier {

std::string to_string(const Problem& problem) {
  std::string text = problem.where.empty() ? problem.what : problem.where + ": " + problem.what;
  if (!problem.remedy.empty()) text += "; " + problem.remedy;
  return printable(text);
}

void Problems::add(std::string where, std::string what, std::string remedy) {
  if (!said_.insert(key_of(where, what)).second) return;
  list_.push_back({std::move(where), std::move(what), std::move(remedy)});
}

bool Problems::mentions(const std::string& where) const {
  for (const char next : {'\0', '/'}) {
    const std::string start = where + next;
    const auto found = said_.lower_bound(start);
    if (found != said_.end() && found->starts_with(start)) return true;
  }
  return false;
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

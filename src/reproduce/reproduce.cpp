#include "osier/reproduce.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "core/text.hpp"
#include "osier/osier.hpp"

namespace osier {

bool Reproduced::passed() const {
  if (!judged()) return true;
  const double error = std::abs(computed - expected);
  return differs ? error > allowed : error <= allowed;
}

int ReproducedFigure::failed() const {
  return static_cast<int>(std::count_if(numbers.begin(), numbers.end(), [](const Reproduced& n) { return !n.passed(); }));
}

int Reproduction::failed() const {
  int sum = 0;
  for (const ReproducedFigure& f : figures) sum += f.failed();
  return sum;
}

Reproduction reproduce(const std::string& name, const ReproduceOptions& options) {
  const auto all = papers();
  const auto paper = std::find_if(all.begin(), all.end(), [&](const Paper& p) { return name == p.name; });
  Problems problems;
  if (paper == all.end()) {
    std::vector<std::string> names;
    for (const Paper& p : all) names.emplace_back(p.name);
    problems.add("PAPER", "there is no paper `" + printable(shorten(name)) + "`", "use " + join(names, " or "));
  } else {
    std::vector<std::string> numbers;
    for (const PaperFigure& f : paper->figures) numbers.push_back(std::to_string(f.number));
    for (const int n : options.figures)
      if (std::none_of(paper->figures.begin(), paper->figures.end(), [&](const PaperFigure& f) { return f.number == n; }))
        problems.add("--figure", fmt::format("figure {} is none of those that are run again", n), "use " + join(numbers, ", "));
  }
  problems.throw_if_any();
  Reproduction result{.paper = paper->name, .citation = paper->citation, .version = version(), .figures = {}};
  for (const PaperFigure& f : paper->figures) {
    const std::vector<int>& wanted = options.figures;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), f.number) == wanted.end()) continue;
    ReproducedFigure figure;
    figure.number = f.number;
    figure.title = f.title;
    if (options.started) options.started(fmt::format("figure {}: {}", f.number, f.title));
    const auto begin = std::chrono::steady_clock::now();
    f.run(options.scenes / paper->name, figure);
    figure.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.figures.push_back(std::move(figure));
  }
  return result;
}

std::string reproduction_table(const Reproduction& result) {
  std::string text = result.citation + "\n";
  for (const ReproducedFigure& f : result.figures) {
    text += fmt::format("\nFigure {}: {} ({:.1f} s)\n", f.number, f.title, f.seconds);
    for (const Reproduced& n : f.numbers)
      text += fmt::format("  {:<66} {:>13.6g} {:>13.6g}  {}\n", n.what, n.expected, n.computed,
                          !n.judged()  ? "shown"
                          : n.passed() ? n.differs ? "does not hold, as found before" : "ok"
                                       : fmt::format("FAILED, allowed {:g}", n.allowed));
  }
  const int failed = result.failed();
  return text +
         fmt::format("\n{}\n", failed == 0 ? "all numbers as expected" : fmt::format("{} numbers are not as expected", failed));
}

}  // namespace osier

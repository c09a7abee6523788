#include "view/probes.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace osier::view {

namespace {

constexpr std::size_t kMostLines = 20'000;

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; std::getline(text, word, ',');) words.push_back(word);
  return words;
}

/// Drops lines evenly; the last one stays.
void thin(ProbeTable& table) {
  const std::size_t lines = table.times.size(), stride = (lines + kMostLines - 1) / kMostLines;
  if (stride < 2) return;
  const auto keep = [&](auto& list) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < lines; ++i)
      if ((lines - 1 - i) % stride == 0) list[kept++] = list[i];
    list.resize(kept);
  };
  for (auto& column : table.values) keep(column);
  keep(table.times);
}

}  // namespace

ProbeTable read_probes(const std::filesystem::path& run_folder) {
  ProbeTable table;
  std::ifstream file(run_folder / "probes.csv");
  std::string line;
  if (!std::getline(file, line)) return table;
  const std::vector<std::string> head = words_of(line);
  // The first columns, time and perhaps the load factor, are no probes: those have the probe's name and a dot.
  std::size_t first = 0;
  while (first < head.size() && head[first].find('.') == std::string::npos) ++first;
  if (first == 0 || first == head.size()) return table;
  table.columns.assign(head.begin() + static_cast<std::ptrdiff_t>(first), head.end());
  table.values.resize(table.columns.size());
  while (std::getline(file, line)) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() != head.size()) break;  // a run that was killed may end in the middle of a line
    table.times.push_back(std::strtod(words[0].c_str(), nullptr));
    for (std::size_t c = first; c < words.size(); ++c)
      table.values[c - first].push_back(static_cast<float>(std::strtod(words[c].c_str(), nullptr)));
  }
  thin(table);
  return table;
}

}  // namespace osier::view

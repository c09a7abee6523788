// Figures of papers, run again and judged: `osier reproduce`. A paper is one entry of the registry in src/reproduce/registry.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace osier {

/// A number that a figure stands for.
struct Reproduced {
  std::string what;
  double expected = 0, computed = 0;
  double allowed = 0;    ///< largest |computed - expected| that passes; negative: shown, nothing is required
  bool differs = false;  ///< the paper's claim does not hold: the distance has to be larger than `allowed`
  bool judged() const { return allowed >= 0; }
  bool passed() const;
};

struct ReproducedCurve {
  std::string label;
  std::vector<std::pair<double, double>> points;
  bool marked = false;  ///< as single marks instead of a line
  bool all = false;     ///< with a mark for each point, however many there are
};

struct ReproducedPlot {
  std::string title, x, y;
  bool log_x = false, log_y = false;
  bool equal = false;  ///< both axes at the same scale
  std::vector<ReproducedCurve> curves;
};

struct ReproducedFigure {
  int number = 0;
  std::string title;
  std::string claim;    ///< what the paper shows
  std::string finding;  ///< what is found here
  std::vector<Reproduced> numbers;
  std::vector<ReproducedPlot> plots;
  double seconds = 0;
  int failed() const;
};

/// Where a figure finds its scenes, and what it may take.
struct ReproduceOptions {
  std::filesystem::path scenes;                     ///< folder with one folder of scenes for each paper
  std::vector<int> figures;                         ///< empty: all
  std::function<void(const std::string&)> started;  ///< a figure begins
};

/// One figure of a paper.
struct PaperFigure {
  int number;
  const char* title;
  void (*run)(const std::filesystem::path& scenes, ReproducedFigure& figure);
};
struct Paper {
  const char* name;  ///< also that of its folder of scenes
  const char* citation;
  std::span<const PaperFigure> figures;
};
std::span<const Paper> papers();

struct Reproduction {
  std::string paper, citation, version;
  std::vector<ReproducedFigure> figures;
  int failed() const;
};

/// Throws InputError for a paper or a figure that is not there.
Reproduction reproduce(const std::string& paper, const ReproduceOptions& options);
/// A figure with its caption, in the style of the reports.
std::string plot_html(const ReproducedPlot& plot);
std::string reproduction_table(const Reproduction& result);
/// One page that needs nothing else.
std::string reproduction_html(const Reproduction& result);
/// `scenes/paper` above the program or above the current folder, or the installed copy. Empty when there is none.
std::filesystem::path find_paper_scenes();

}  // namespace osier

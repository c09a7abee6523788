// Plots of the report as SVG fragments. Colours come from the page's style: the class c0, c1, ... of a series.
#pragma once

#include <string>
#include <vector>

#include "osier/validate.hpp"

namespace osier::validate {

struct PlotPoint {
  double x = 0, y = 0;
  bool failed = false;
};

/// One quantity of one run over the resolutions.
struct ErrorSeries {
  std::string label;
  std::vector<PlotPoint> error, allowed, sweeps;
};

constexpr int kColors = 8;

std::string escape_html(const std::string& text);

/// "c3" for the fourth series, and again for the twelfth.
std::string color_class(std::size_t series);

/// |error| over the resolution, both logarithmic, with what is allowed and a line of second order.
std::string error_plot(const std::string& resolution_name, const std::vector<ErrorSeries>& series);

/// Rods on the curves they should lie on, both axes at the same scale.
std::string shape_plot(const ValidationFigure& figure);

}  // namespace osier::validate

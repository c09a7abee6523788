// Plots of the report as SVG fragments.
#pragma once

#include <string>
#include <vector>

#include "core/svg.hpp"
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

/// |error| over the resolution, both logarithmic, with what is allowed and a line of second order.
std::string error_plot(const std::string& resolution_name, const std::vector<ErrorSeries>& series);

/// Rods on the curves they should lie on, both axes at the same scale.
std::string shape_plot(const ValidationFigure& figure);

}  // namespace osier::validate

// The rod at the end of a run beside the curve it should lie on.
#pragma once

#include "validate/trial.hpp"

namespace osier::validate {

/// What the case and the run say about their picture, when they give a curve and this is the resolution to draw.
std::optional<ShapeSpec> shape_of(const Trial& trial, Problems& problems);

/// The curve as points.
std::vector<Vec3d> curve_of(const ShapeSpec& shape, const Values& parameters, Problems& problems);

/// Vertices of the rod; the first one once more where it is closed.
std::vector<Vec3d> rod_of(const ShapeSpec& shape, const Scene& scene, const State& state);

/// Puts the run's two curves into the figure they belong to.
void add_to_figures(const Trial& trial, const Outcome& outcome, std::vector<ValidationFigure>& figures);

}  // namespace osier::validate

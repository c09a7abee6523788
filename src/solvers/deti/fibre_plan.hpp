// From the rods of a model to fibres, and between the state and their sections.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/deti/deti.hpp"
#include "solvers/deti/fibre.hpp"

namespace osier::deti {

/// A chain of the model: vertices are sections, segments cuboids.
struct Chain {
  std::vector<Index> vertices, segments;
  std::vector<Index> anchor;  ///< per section: the frame that clamps it, or -1
  Fibre fibre;
  Shape rest;
  Elasticity weakest;    ///< the least of its stiffnesses
  double length = 0;     ///< at rest [m]
  double curvature = 0;  ///< largest, of the rest shape, times the side
  double shear = 0;      ///< 3 EI/(GA L^2) of the material: what shear would add to its bending
};

struct FibrePlan {
  std::vector<Chain> chains;
  std::vector<Index> loose_vertices;
  /// Why the model cannot be made of fibres, and what to do: pairs of sentences.
  std::vector<std::pair<std::string, std::string>> problems;
  /// Whether all springs are damped with the same time, and which.
  bool has_one_tau() const;
  double tau() const { return chains.empty() ? 0 : chains.front().fibre.cuboids.front().tau; }
};

/// `before`: a plan of the same model with other stiffnesses, whose cuboids are as wide, wherever springs allow it.
FibrePlan plan_fibres(const Model& model, const Settings& settings, const FibrePlan* before = nullptr);

/// Frames of the sections of a chain by those of its segments and anchors: means of neighbours, continued at free ends.
std::vector<Quatd> section_frames(const Model& model, const Chain& chain, std::span<const Quatd> frames);
/// The frame of a segment: its axis joins the centres of its sections, whose mean it follows in turning about that axis.
Quatd segment_frame(const Vec3d& from, const Vec3d& to, const Quatd& first, const Quatd& second);

}  // namespace osier::deti

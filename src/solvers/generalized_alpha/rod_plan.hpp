// Rods of a model as the solver `generalized_alpha` sees them: rows of segments between two ends, each of which is free, held or
// clamped, or rings of segments. A clamp inside of a row divides it, and opens a ring.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/generalized_alpha/rod.hpp"

namespace osier::generalized_alpha {

struct Rod {
  std::vector<Index> vertices, segments;
  std::array<Index, 2> anchor{-1, -1};        ///< frames of clamps
  std::array<double, 2> end_share{1, 1};      ///< of the loads on the vertex at an end, which two rods may have in common
  std::vector<double> density;                ///< per vertex inside: 1/(length around it), so that its load is spread [1/m]
  std::vector<Quatd> to_segment, to_station;  ///< per cell at rest: from its left station, and on to its right one
  std::vector<double> joint_length;           ///< per station: length that the joint there stands for; 0: there is none [m]
  std::vector<Index> joint;                   ///< per station; -1: none
  RodModel model;
};

/// Masses of segments, which lie half on either end; nothing where vertices are heavier than that.
std::optional<std::vector<double>> segment_masses(const Model& model);

/// In the order of their first segments. `kirchhoff`: neither stretch nor shear.
std::vector<Rod> find_rods(const Model& model, bool kirchhoff);

/// Solver memory of all rods.
class RodMemory {
 public:
  static void declare(const Model& model, State& state);
  RodMemory(const Model& model, State& state);

  /// What is stored of a rod; false where there is nothing, or the state does not follow from it (somebody else changed it).
  bool load(const Rod& rod, const State& state, RodState& to) const;
  /// Which of its ends were held.
  int holds(const Rod& rod) const;
  void store(const Rod& rod, const RodState& from, int holds);

 private:
  std::span<double> velocity_, change_, force_, rate_, rate_before_, frame_, strain_, strain_rate_, strain_rate_before_,
      strain_second_, lead_, place_rate_, clock_;
};

/// Stations from places, velocities and frames, which tell no rates.
void start_from(const Rod& rod, const Model& model, const State& state, bool from_last, RodState& to);

/// Places, frames and velocities of the engine's state.
void store_state(const Rod& rod, const Model& model, const RodState& from, State& state);

}  // namespace osier::generalized_alpha

// Fibre-level yarn: plies twisted around a centre line, and fibres twisted inside each ply.
#pragma once

#include <vector>

#include "io/curve_frame.hpp"

namespace osier {

struct YarnOptions {
  int plies = 3;
  int fibres = 12;         ///< in each ply
  double ply_twist = 0;    ///< turns per metre of plies around the centre line; 0: one turn for every eight yarn widths
  double fibre_twist = 0;  ///< turns per metre of fibres around their ply; 0: as many as the ply, the other way
  int samples_per_turn = 16;
};

/// Every frame of a run becomes fibres in the same way: twist is counted from the material axis d1 along the lengths of the
/// first frame, so fibres turn with the rod and are stretched with it. On closed curves the turns are rounded to whole ones.
class Yarn {
 public:
  /// Throws InputError when the options make no yarn of these curves.
  Yarn(const CurveFrame& first, const YarnOptions& options);
  /// The curves must be those of the first frame, moved.
  CurveFrame fibres(const CurveFrame& frame) const;

 private:
  struct Place {
    std::size_t segment;  ///< of the curve
    double t, s;          ///< along the segment; along the curve, of the first frame [m]
  };
  struct Strand {
    std::vector<Place> places;
    double ply_turns, fibre_turns;  ///< per metre
  };
  YarnOptions options_;
  std::vector<Strand> strands_;  ///< one per curve
  double width_;                 ///< for curves without
};

}  // namespace osier

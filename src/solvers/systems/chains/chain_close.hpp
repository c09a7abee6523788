// The forces between the pieces of a chain, and at ends that are held: six per piece, found in double (see chain_factor.hpp).
#pragma once

namespace osier::systems {

/// The energy of a piece by its two ends: with z the displacement (position, rotation) of its head and lambda a force on its last
/// node, the energy is 1/2 z.S z - (f + B lambda).z - 1/2 lambda.D lambda - d.lambda. Lower triangles of S and D,
/// row by row; B[c][a]: component a of column c. `known` is the part of that force that f and d
/// contain already, and lambda is the rest.
struct ChainPiece {
  double S[21], f[6], B[6][6], D[21], d[6], known[6];
};

struct ChainEnds {
  bool root_held;        ///< whether the first vertex is held
  double root_weight;    ///< its mass/h^2 and drag/h
  double root_force[3];  ///< its own loads at the present displacement
  double root_block[6];  ///< extra stiffness on it, lower triangle
  bool tail_held[2];     ///< whether position and rotation of the last node are held
};

/// Finds the displacement z of each piece's head and the force lambda on its last node beyond the known one.
void close_pieces(const ChainPiece* pieces, int count, const ChainEnds& ends, double (*z)[6], double (*lambda)[6]);

}  // namespace osier::systems

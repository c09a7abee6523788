// Where pieces of a chain meet, and where its end is held: six forces per piece, found in double (see chain_factor.hpp).
#pragma once

namespace osier::systems {

/// What a piece looks like from its two ends: with z the displacement (position, rotation) of what it hangs on and lambda a force
/// on its last node, the energy is 1/2 z.S z - (f + B lambda).z - 1/2 lambda.D lambda - d.lambda. Lower triangles of S and D,
/// row by row; B[c][a]: component a of column c. Of the force there, `known` is among f and d already, and lambda the rest.
struct ChainPiece {
  double S[21], f[6], B[6][6], D[21], d[6], known[6];
};

struct ChainEnds {
  bool root_held;        ///< the first vertex
  double root_weight;    ///< its mass/h^2 and drag/h
  double root_force[3];  ///< its own loads at the present displacement
  double root_block[6];  ///< extra stiffness on it, lower triangle
  bool tail_held[2];     ///< position, rotation of the last node
};

/// Displacements z of what each piece hangs on and forces lambda on its last node, beyond those that are known.
void close_pieces(const ChainPiece* pieces, int count, const ChainEnds& ends, double (*z)[6], double (*lambda)[6]);

}  // namespace osier::systems

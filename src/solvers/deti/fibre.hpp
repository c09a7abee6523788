// A fibre as a chain of cuboids of particles: the network of DETI (Michels, Mueller, Sobottka 2015), repaired.
//
// Section k is a square of four particles around the centreline. With the signs s1, s2 of a particle it is at
//
//   p = c + s1 a1 + s2 a2 + s1 s2 a3
//
// so that c is the centroid, a1 and a2 span the section and a3 is its warp. The four vectors are the unknowns of a section: the
// particles have equal masses, hence the mass matrix is the mass of the section times the identity, and a pinned section is one
// whose c is held.
//
// Springs 1/2 k (l - l0)^2, l0 from the rest shape, which may be curved:
//   k_1 longitudinal (4 per cuboid), k_f diagonals of its side faces (8), k_d of its body (4), k_c between centroids (1),
//   k_2 edges of a section (4), k_x its diagonals (2).
#pragma once

#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier::deti {

constexpr int kCorners = 4, kModes = 4, kUnknowns = 12;  ///< of a section
constexpr int kSectionSprings = 6;                       ///< edges 0-1, 1-2, 2-3, 3-0, then diagonals 0-2, 1-3
constexpr int kCuboidSprings = 17;                       ///< from corner i to corner j: 4 i + j; then that of centroids

/// Signs of the corners in the modes c, a1, a2, a3: the product of two modes' signs is that of mode m1 xor m2.
constexpr int kSign[kCorners][kModes] = {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, -1, -1, 1}, {1, 1, -1, -1}};
constexpr int kSectionEnds[kSectionSprings][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}};

/// Stiffnesses of a cuboid [N/m].
struct CuboidStiffness {
  double k1 = 0, kf = 0, kd = 0, kc = 0;
  double k2 = 0, kx = 0;  ///< that its sections need
};

/// What a piece of fibre resists with.
struct Elasticity {
  double EI = 0;  ///< [N m^2]
  double GJ = 0;  ///< [N m^2]
  double EA = 0;  ///< [N]
};

struct Scaffold {
  CuboidStiffness k;
  double EA_net = 0;  ///< of the springs other than k_c [N]
};

/// The springs by which a cuboid of length h and side a bends, twists and stretches like the rod: derived from sections that stay
/// rigid, with GA* = 12 EI/h^2, which cancels the error that shear makes in a chain of cuboids, and with EA by k_c unless
/// `soft`. `sec` is the stiffness of sections over the largest of a cuboid's. Springs may come out negative.
///
/// `give`: what the sections at both ends of the cuboid give way, over what sections do between two cuboids, which pull at them
/// alike; their mean. A section that is held gives nothing, and one at a free end half of it, since one cuboid pulls at it.
/// Without this the cuboids at the ends are too stiff, which is an error of first order in h.
Scaffold scaffold(const Elasticity& rod, double h, double a, double sec, bool soft, double give = 1);
/// The 16 springs of the paper's Appendix A for a homogeneous material, with k_d = G (l1^2 + l2^2 + l3^2)^2/(12 l1 l2 l3), whose
/// printed factor has another dimension. They stretch like the material but neither bend nor twist like it.
CuboidStiffness paper_cuboid(double E, double G, double l1, double l2, double l3);

struct Cuboid {
  CuboidStiffness k;
  double tau = 0, tau_c = 0;  ///< damping over stiffness, of the cuboid and of k_c [s]
  double rest[kCuboidSprings]{};
};
struct SectionSprings {
  double k2 = 0, kx = 0;
  double tau = 0;
  double rest[kSectionSprings]{};
};

struct Fibre {
  double side = 0;           ///< a [m]
  std::vector<double> mass;  ///< of sections [kg]
  std::vector<Cuboid> cuboids;
  std::vector<SectionSprings> sections;
  Index size() const { return static_cast<Index>(mass.size()); }
};

/// Positions and frames of sections.
struct Shape {
  std::vector<Vec3d> position;
  std::vector<Quatd> frame;
};

/// The unknowns (c, a1, a2, a3) of a section of side a that is an undistorted square.
void put_section(const Vec3d& position, const Quatd& frame, double side, double* unknowns);
/// The frame of a section that may be distorted: a1 and a2 are treated alike, and the normal is that of their plane.
Quatd section_frame(const double* unknowns);

/// A fibre at rest in this shape. `paper`: an inner section has the springs of both of its cuboids, otherwise the stiffer ones.
Fibre make_fibre(const Shape& rest, const std::vector<CuboidStiffness>& stiffness, const std::vector<double>& mass, double side,
                 bool paper);

}  // namespace osier::deti

#include "solvers/deti/fibre.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "math/quat.hpp"

namespace osier::deti {

Scaffold scaffold(const Elasticity& rod, double h, double a, double sec, bool soft, double give) {
  const double aa = a * a, df2 = h * h + aa, D2 = h * h + 2 * aa;
  Scaffold s;
  CuboidStiffness& k = s.k;
  k.kf = rod.GJ * df2 / (2 * h * aa * aa);
  const double GA = 12 * rod.EI / (h * h);
  k.kd = D2 * (GA - 2 * rod.GJ / aa) / (4 * h * aa);
  k.k2 = k.kx = sec * std::max({k.kf, k.kd, rod.EI / (h * aa)});
  const double chi = 1 - give * (1 - 1 / (1 + 2 * k.kf * aa / (k.k2 * df2)));
  k.k1 = rod.EI / (h * aa) - chi * k.kf * h * h / df2;
  // Along the fibre, and with sections that give: energy 1/2 (A e^2 - 2 B e n + C n^2) of stretch e and contraction n.
  const double A = 4 * k.k1 * h * h + 8 * k.kf * h * h * h * h / df2 + 4 * k.kd * h * h * h * h / D2;
  const double B = 8 * h * h * aa * (k.kf / df2 + k.kd / D2);
  const double C = 8 * k.kf * aa * aa / df2 + 16 * k.kd * aa * aa / D2 + 4 * (k.k2 + k.kx) * aa;
  s.EA_net = (A - give * B * B / C) / h;
  k.kc = soft ? 0 : (rod.EA - s.EA_net) / h;
  return s;
}

CuboidStiffness paper_cuboid(double E, double G, double l1, double l2, double l3) {
  const double sum = l1 * l1 + l2 * l2 + l3 * l3, volume = l1 * l2 * l3;
  const auto edge = [&](double l, double other1, double other2) {
    // The stress of a bar of stiffness E that may contract sideways, less what the body diagonals carry of it.
    const double kd = G * sum * sum / (12 * volume);
    const double nu = E / (2 * G) - 1;
    const double diagonals = 4 * kd * l * l * (l * l - nu * (other1 * other1 + other2 * other2)) / (sum * volume);
    return (E - diagonals) * other1 * other2 / (4 * l);
  };
  CuboidStiffness k;
  k.kd = G * sum * sum / (12 * volume);
  k.k1 = edge(l1, l2, l3);
  k.k2 = edge(l2, l3, l1);
  return k;
}

void put_section(const Vec3d& position, const Quatd& frame, double side, double* unknowns) {
  const Mat3<double> r = rotation_matrix(frame);
  for (int i = 0; i < 3; ++i) {
    unknowns[3 + i] = 0.5 * side * r.m[i][0];
    unknowns[6 + i] = 0.5 * side * r.m[i][1];
    unknowns[9 + i] = 0;
  }
  unknowns[0] = position.x;
  unknowns[1] = position.y;
  unknowns[2] = position.z;
}

Quatd section_frame(const double* u) {
  const Vec3d e1 = normalized(Vec3d{u[3], u[4], u[5]}), e2 = normalized(Vec3d{u[6], u[7], u[8]});
  const Vec3d along = normalized(e1 + e2), across = normalized(e1 - e2);
  const double half = std::sqrt(0.5);
  const Vec3d d1 = half * (along + across), d2 = half * (along - across);
  return quat_from_frame(d1, d2, cross(d1, d2));
}

Fibre make_fibre(const Shape& rest, const std::vector<CuboidStiffness>& stiffness, const std::vector<double>& mass, double side,
                 bool paper) {
  Fibre f;
  f.side = side;
  f.mass = mass;
  const std::size_t n = rest.position.size();
  std::vector<std::array<Vec3d, kCorners>> corner(n);
  for (std::size_t k = 0; k < n; ++k) {
    double u[kUnknowns];
    put_section(rest.position[k], rest.frame[k], side, u);
    for (int i = 0; i < kCorners; ++i) {
      const double s1 = kSign[i][1], s2 = kSign[i][2];
      corner[k][i] = {u[0] + s1 * u[3] + s2 * u[6], u[1] + s1 * u[4] + s2 * u[7], u[2] + s1 * u[5] + s2 * u[8]};
    }
  }
  for (std::size_t k = 0; k + 1 < n; ++k) {
    Cuboid c;
    c.k = stiffness[k];
    for (int i = 0; i < kCorners; ++i)
      for (int j = 0; j < kCorners; ++j) c.rest[kCorners * i + j] = norm(corner[k + 1][j] - corner[k][i]);
    c.rest[kCuboidSprings - 1] = norm(rest.position[k + 1] - rest.position[k]);
    f.cuboids.push_back(c);
  }
  for (std::size_t k = 0; k < n; ++k) {
    SectionSprings s;
    for (const std::size_t c : {k - 1, k}) {
      if (c >= stiffness.size()) continue;
      s.k2 = paper ? s.k2 + stiffness[c].k2 : std::max(s.k2, stiffness[c].k2);
      s.kx = paper ? s.kx + stiffness[c].kx : std::max(s.kx, stiffness[c].kx);
    }
    for (int e = 0; e < kSectionSprings; ++e) s.rest[e] = norm(corner[k][kSectionEnds[e][1]] - corner[k][kSectionEnds[e][0]]);
    f.sections.push_back(s);
  }
  return f;
}

}  // namespace osier::deti

// A quarter turn that brings one axis to y. Only signs and places change, so turning back gives the same bits.
#pragma once

#include "osier/curves.hpp"

namespace osier {

/// x up: about z. z up: about x.
inline Vec3d turned_to_y(const Vec3d& p, UpAxis up) {
  switch (up) {
    case UpAxis::x:
      return {-p.y, p.x, p.z};
    case UpAxis::z:
      return {p.x, p.z, -p.y};
    case UpAxis::y:
      break;
  }
  return p;
}

inline Vec3d turned_back_from_y(const Vec3d& p, UpAxis up) {
  switch (up) {
    case UpAxis::x:
      return {p.y, -p.x, p.z};
    case UpAxis::z:
      return {p.x, -p.z, p.y};
    case UpAxis::y:
      break;
  }
  return p;
}

}  // namespace osier

#include "model/held_axes.hpp"

#include <algorithm>
#include <cmath>

namespace osier {

namespace {

/// Directions that differ by less are the same.
constexpr double kSame = 1e-6;

bool holds(const HeldAxes& h, const Vec3d& axis) { return norm(across(h, axis)) < kSame; }

/// Adds the directions of one entry to those of another of the same vertex. Returns whether all three are held then.
bool merge(HeldAxes& into, const HeldAxes& from, Vec3d& place) {
  for (int i = 0; i < from.count; ++i) {
    const Vec3d axis = from.axis[static_cast<std::size_t>(i)];
    if (holds(into, axis)) continue;
    const Vec3d fresh = normalized(across(into, axis));
    const Vec3d target = into.target + (dot(axis, from.target - into.target) / dot(axis, fresh)) * fresh;
    if (into.count == 2) {
      place = target;
      return true;
    }
    into.target = target;
    into.axis[static_cast<std::size_t>(into.count++)] = fresh;
  }
  return false;
}

}  // namespace

std::array<Vec3d, 2> free_axes(const HeldAxes& h) {
  const Vec3d& n = h.axis[0];
  if (h.count == 2) return {normalized(cross(n, h.axis[1])), Vec3d{}};
  const Vec3d other = std::abs(n.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d first = normalized(cross(n, other));
  return {first, normalized(cross(n, first))};
}

void hold_along(Control& control, Index vertex, const Vec3d& axis, const Vec3d& target) {
  control.held_axes.push_back({vertex, 1, {axis, Vec3d{}}, target});
}

void settle_held_axes(Control& control) {
  std::vector<HeldAxes>& list = control.held_axes;
  if (list.empty()) return;
  std::stable_sort(list.begin(), list.end(), [](const HeldAxes& a, const HeldAxes& b) { return a.vertex < b.vertex; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size();) {
    HeldAxes sum = list[i];
    Vec3d place;
    bool all = false;
    for (++i; i < list.size() && list[i].vertex == sum.vertex; ++i) all = all || merge(sum, list[i], place);
    if (control.vertex_fixed[sum.vertex]) continue;
    if (all) {
      control.vertex_fixed[sum.vertex] = 1;
      control.vertex_target[sum.vertex] = place;
    } else {
      list[kept++] = sum;
    }
  }
  list.resize(kept);
}

const HeldAxes* held_axes_of(const Control& control, Index vertex) {
  const auto found = std::lower_bound(control.held_axes.begin(), control.held_axes.end(), vertex,
                                      [](const HeldAxes& h, Index v) { return h.vertex < v; });
  return found != control.held_axes.end() && found->vertex == vertex ? &*found : nullptr;
}

}  // namespace osier

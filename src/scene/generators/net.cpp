#include "scene/generators/net.hpp"

namespace osier {

GraphSize Net::size() const {
  const double x = nx, y = ny, segments = ((x + 1) * y + x * (y + 1)) * segments_per_cell;
  return {.segments = segments, .joints = segments + (knots && bend_twist > 0 ? 4 * x * y : 0), .rods = x + y};
}

void Net::check(Problems& problems) const {
  if (norm2(along) == 0) problems.add(where + "/along", "is a zero vector", "give a direction");
  if (norm2(across) == 0) problems.add(where + "/across", "is a zero vector", "give a direction");
  else if (norm2(along) > 0 && norm(cross(normalized(along), normalized(across))) < 1e-6)
    problems.add(where + "/across", "is parallel to `along`", "choose another direction");
}

void Net::build(RodGraph& graph, const std::string& prefix) const {
  const Section section{.stretch_shear = stretch_shear,
                        .bend_twist = bend_twist,
                        .line_density = line_density,
                        .radius = radius,
                        .tau_stretch = tau,
                        .tau_bend = tau};
  const Vec3d ex = cell * normalized(along), ey = cell * normalized(across);
  const auto place = [&](double i, double j) { return corner + i * ex + j * ey; };

  std::vector<std::vector<Index>> knot(ny + 1);  // knot[j][i]
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) knot[j].push_back(graph.add_vertex(place(i, j)));

  // One line of the net: knots with the inner vertices of the cells' sides between them.
  const auto line = [&](const std::string& piece, int cells, auto knot_at, auto place_at) {
    std::vector<Index> path{knot_at(0)};
    for (int c = 0; c < cells; ++c) {
      for (int k = 1; k < segments_per_cell; ++k)
        path.push_back(graph.add_vertex(place_at(c + static_cast<double>(k) / segments_per_cell)));
      path.push_back(knot_at(c + 1));
    }
    return graph.rods[graph.add_chain(piece, path, section)];
  };
  std::vector<RodInfo> row, column;
  for (int j = 0; j <= ny; ++j)
    row.push_back(line(
        prefix + ".row" + std::to_string(j), nx, [&](int i) { return knot[j][i]; }, [&](double i) { return place(i, j); }));
  for (int i = 0; i <= nx; ++i)
    column.push_back(line(
        prefix + ".column" + std::to_string(i), ny, [&](int j) { return knot[j][i]; }, [&](double j) { return place(i, j); }));

  // A joint at each of the four corners of each cell: every pair of a row's and a column's segment that meet. Joining the two
  // lines by a single pair would be enough to fix the angle, but would make the net stiffer on one side of a knot.
  if (knots && bend_twist > 0) {
    const auto inner = segments_per_cell - 1;
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        for (int top : {0, 1})
          for (int right : {0, 1})
            graph.add_joint(row[j + top].segments[i * segments_per_cell + right * inner],
                            column[i + right].segments[j * segments_per_cell + top * inner]);
  }

  RodInfo border{.name = prefix + ".border", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  for (const RodInfo* side : {&row.front(), &row.back()})
    border.vertices.insert(border.vertices.end(), side->vertices.begin(), side->vertices.end());
  for (const RodInfo* side : {&column.front(), &column.back()})  // their ends are in the rows already
    border.vertices.insert(border.vertices.end(), side->vertices.begin() + 1, side->vertices.end() - 1);
  for (const RodInfo* side : {&row.front(), &row.back(), &column.front(), &column.back()})
    border.segments.insert(border.segments.end(), side->segments.begin(), side->segments.end());
  graph.rods.push_back(std::move(border));
  graph.rods.push_back({.name = prefix + ".corners",
                        .vertices = {knot[0][0], knot[0][nx], knot[ny][0], knot[ny][nx]},
                        .segments = {},
                        .joints = {},
                        .closed = false});
}

}  // namespace osier

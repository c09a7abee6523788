// A GraphPlan during a step as kernels see it: bare arrays, like StepView.
#pragma once

#include "solvers/lanes/step_view.hpp"
#include "solvers/stable_cosserat/graph_plan.hpp"

namespace osier::stable_cosserat {

template <class T>
struct GraphView {
  const GraphTile *vertex_tile, *segment_tile;
  const GraphWindow* window;  ///< by region
  T *vertex_number, *segment_number;
  const void *vertex_index, *segment_index;  ///< indices of the type that the layout has chosen
  const Index *vertex_id, *frame_id;
  T *u, *q, *force, *joint, *margin, *joint_margin;
  std::ptrdiff_t force_plane, joint_plane;  ///< number of numbers in a plane
  std::uint16_t *vertex_held, *frame_held, *frame_hinged;
  double most_tau;
  Index segments = 0;  ///< segments of the model; frames with higher numbers are anchors
  int segment_rows;
  int gamma_row;  ///< -1 without gamma
  bool damped;
};

template <class T>
GraphView<T> view_of(GraphPlan<T>& p) {
  return {.vertex_tile = p.layout.vertex_tiles.data(),
          .segment_tile = p.layout.segment_tiles.data(),
          .window = p.layout.windows.data(),
          .vertex_number = p.vertex_number.data(),
          .segment_number = p.segment_number.data(),
          .vertex_index = p.vertex_index.data(),
          .segment_index = p.segment_index.data(),
          .vertex_id = p.layout.vertex_id.data(),
          .frame_id = p.layout.frame_id.data(),
          .u = p.u.data(),
          .q = p.q.data(),
          .force = p.force.data(),
          .joint = p.joint.data(),
          .margin = p.margin.data(),
          .joint_margin = p.joint_margin.data(),
          .force_plane = static_cast<std::ptrdiff_t>(4 * p.layout.frame_id.size()),
          .joint_plane = static_cast<std::ptrdiff_t>(4 * p.layout.joint_places),
          .vertex_held = p.vertex_held.data(),
          .frame_held = p.frame_held.data(),
          .frame_hinged = p.frame_hinged.data(),
          .most_tau = p.layout.most_tau,
          .segment_rows = p.layout.segment_rows(),
          .gamma_row = p.layout.gamma ? p.layout.gamma_row() : -1,
          .damped = p.layout.damped};
}

}  // namespace osier::stable_cosserat

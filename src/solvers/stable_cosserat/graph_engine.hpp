// Coloured sweeps over a graph in tiles, on threads.
#pragma once

#include <algorithm>
#include <atomic>

#include "exec/parallel.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class T>
class GraphEngine {
 public:
  /// All that is alive, but for the vertices `taken` and their segments.
  void bind(const Model& model, std::span<const std::uint8_t> taken, Simd simd, bool gamma) {
    const Kernels<T>& table = kernels<T>(simd);
    kernel_ = &table.graph;
    plan_ = plan_graph<T>(model, taken, table.lanes, gamma);
    graph_ = stable_cosserat::view_of(plan_);
  }
  bool empty() const { return plan_.layout.empty(); }

  void load(const StepView& view, const Executor& executor) {
    const GraphLayout& l = plan_.layout;
    put_anchors(view, false);
    run(executor, 0, segments(), [&](Index b, Index e) { kernel_->load_frames(graph_, view, b, e); });
    run(executor, 0, segments(), [&](Index b, Index e) { kernel_->load_segments(graph_, view, b, e); });
    kernel_->hold_frames(graph_, view, 0, segments());  // few, not worth a loop of the threads
    put_anchors(view, true);
    run(executor, 0, static_cast<Index>(l.vertex_tiles.size()),
        [&](Index b, Index e) { kernel_->load_vertices(graph_, view, b, e); });
  }

  void sweep(const StepView& view, Lambda lambda, const Executor& executor) {
    const GraphLayout& l = plan_.layout;
    for (std::size_t color = 0; color + 1 < l.vertex_colors.size(); ++color)
      run(executor, l.vertex_colors[color], l.vertex_colors[color + 1],
          [&](Index b, Index e) { kernel_->move_vertices(graph_, view, b, e); });
    for (std::size_t color = 0; color + 1 < l.segment_colors.size(); ++color)
      run(executor, l.segment_colors[color], l.segment_colors[color + 1],
          [&](Index b, Index e) { kernel_->turn_segments(graph_, view, lambda, b, e); });
  }

  /// False when something is no longer finite.
  bool store(const StepView& view, const Executor& executor) {
    std::atomic<bool> finite = true;
    const auto note = [&](bool ok) {
      if (!ok) finite.store(false, std::memory_order_relaxed);
    };
    // Both in one loop, in the same proportions.
    const auto vertices = static_cast<Index>(plan_.layout.vertex_tiles.size()), all = std::max({vertices, segments(), Index(1)});
    const auto part = [&](Index n, Index i) { return static_cast<Index>(static_cast<std::int64_t>(n) * i / all); };
    run(executor, 0, all, [&](Index b, Index e) {
      note(kernel_->store_vertices(graph_, view, part(vertices, b), part(vertices, e)));
      note(kernel_->store_segments(graph_, view, part(segments(), b), part(segments(), e)));
    });
    return finite;
  }

  /// Places of vertices, the displacement at one so far, and the same less what the velocity of the step's start makes of it;
  /// both are zero where a lane has no vertex.
  std::size_t places() const { return plan_.layout.vertex_id.size(); }
  Vec3<T> displacement(std::size_t place) const {
    const T* u = plan_.u.data() + 4 * place;
    return is_empty(place) ? Vec3<T>{} : Vec3<T>{u[0], u[1], u[2]};
  }
  Vec3d change(const StepView& view, std::size_t place) const {
    if (is_empty(place)) return {};
    return cast<double>(displacement(place)) - view.h * view.velocity[plan_.layout.vertex_id[place]];
  }

  /// Displacements and frames of the sweeps so far, in the model's order.
  void copy_out(std::span<Vec3<T>> u, std::span<Quat<T>> q) const {
    const GraphLayout& l = plan_.layout;  // lanes without an element stand for one that comes first
    for (std::size_t i = l.vertex_id.size(); i-- > 0;) {
      const T* from = plan_.u.data() + 4 * i;
      u[l.vertex_id[i]] = {from[0], from[1], from[2]};
    }
    for (std::size_t i = l.frame_id.size(); i-- > 0;) {
      const T* from = plan_.q.data() + 4 * i;
      q[l.frame_id[i]] = {from[0], from[1], from[2], from[3]};
    }
  }

 private:
  Index segments() const { return static_cast<Index>(plan_.layout.segment_tiles.size()); }
  bool is_empty(std::size_t place) const {
    const std::size_t first = place & ~static_cast<std::size_t>(plan_.layout.lanes - 1);  // as many lanes as a power of two
    return place != first && plan_.layout.vertex_id[place] == plan_.layout.vertex_id[first];
  }
  template <class F>
  void run(const Executor& executor, Index begin, Index end, const F& f) const {
    executor.for_each_range(
        static_cast<std::size_t>(end - begin),
        [&](std::size_t b, std::size_t e) { f(begin + static_cast<Index>(b), begin + static_cast<Index>(e)); },
        static_cast<std::size_t>(plan_.layout.lanes));
  }
  /// Frames without segments: nothing turns them but the control, at the end of the step.
  void put_anchors(const StepView& view, bool at_end) {
    const GraphLayout& l = plan_.layout;
    for (std::size_t i = l.segment_tiles.size() * static_cast<std::size_t>(l.lanes); i < l.frame_id.size(); ++i) {
      const Index f = l.frame_id[i];
      const Quatd& q = at_end && view.frame_control[f] == FrameControl::fixed ? view.frame_target[f] : view.rotation[f];
      T* to = plan_.q.data() + 4 * i;
      to[0] = static_cast<T>(q.x), to[1] = static_cast<T>(q.y), to[2] = static_cast<T>(q.z), to[3] = static_cast<T>(q.w);
    }
  }

  const GraphKernel<T>* kernel_ = nullptr;
  GraphPlan<T> plan_;
  GraphView<T> graph_{};
};

}  // namespace osier::stable_cosserat

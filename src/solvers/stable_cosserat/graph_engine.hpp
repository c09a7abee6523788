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
  /// Binds all living elements, but for the vertices `taken` and their segments.
  void bind(const Model& model, std::span<const std::uint8_t> taken, Simd simd, bool gamma) {
    const Kernels<T>& table = kernels<T>(simd);
    plan_ = plan_graph<T>(model, taken, table.lanes, gamma);
    kernel_ = &table.graph[plan_.layout.axes()].by_index[plan_.layout.narrow];
    graph_ = view_of(plan_);
  }
  bool empty() const { return plan_.layout.empty(); }

  void load(const Model& model, const StepView& view, const Executor& executor) {
    if (empty()) return;
    graph_.segments = model.segment_count();
    put_anchors(view, false);
    shared_as_swept(executor, 3, [&](std::size_t i, const auto& each_segments, const auto& each_vertices) {
      if (i == 0) each_segments([&](Index b, Index e) { kernel_->load_frames(graph_, view, b, e); });
      if (i == 1) each_segments([&](Index b, Index e) { kernel_->load_segments(graph_, view, b, e); });
      if (i < 2) return;
      each_segments([&](Index b, Index e) { kernel_->load_margins(graph_, view, b, e); });
      each_vertices([&](Index b, Index e) { kernel_->load_vertices(graph_, view, b, e); });
    });
    kernel_->hold_frames(graph_, view, 0, segments());  // few elements, which one thread does
    put_anchors(view, true);
  }

  void sweep(const StepView& view, Lambda lambda, int count, const Executor& executor) {
    if (empty()) return;
    const std::vector<Index>&v = plan_.layout.vertex_colors, &s = plan_.layout.segment_colors;
    const std::size_t moves = v.size() - 1, turns = s.size() - 1, all = moves + turns;
    executor.in_turn(
        static_cast<std::size_t>(count) * all,
        [&](std::size_t i) {
          const std::size_t color = i % all;
          return loop_over(color < moves ? v[color + 1] - v[color] : s[color - moves + 1] - s[color - moves]);
        },
        [&](std::size_t i, std::size_t begin, std::size_t end) {
          const std::size_t color = i % all;
          const Index first = color < moves ? v[color] : s[color - moves];
          const Index b = first + static_cast<Index>(begin), e = first + static_cast<Index>(end);
          if (color < moves) kernel_->move_vertices(graph_, view, b, e);
          else kernel_->turn_segments(graph_, view, lambda, b, e);
        });
  }

  /// Stores the state. Returns false when a number is not finite.
  bool store(const StepView& view, const Executor& executor) {
    if (empty()) return true;
    std::atomic<bool> finite = true;
    const auto note = [&](bool ok) {
      if (!ok) finite.store(false, std::memory_order_relaxed);
    };
    shared_as_swept(executor, 1, [&](std::size_t, const auto& each_segments, const auto& each_vertices) {
      each_vertices([&](Index b, Index e) { note(kernel_->store_vertices(graph_, view, b, e)); });
      each_segments([&](Index b, Index e) { note(kernel_->store_segments(graph_, view, b, e)); });
    });
    return finite;
  }

  /// Copies displacements and frames of the sweeps so far into the model's order.
  void copy_out(std::span<Vec3<T>> u, std::span<Quat<T>> q) const {
    const GraphLayout& l = plan_.layout;
    const auto put_frame = [&](Index at) {
      const T* from = plan_.q.data() + 4 * static_cast<std::ptrdiff_t>(at);
      q[l.frame_id[at]] = {from[0], from[1], from[2], from[3]};
    };
    // Goes backwards, because an empty place of a tile has the number of its first element.
    for (const GraphTile& tile : l.vertex_tiles)
      for (Index i = tile.place + kTile; i-- > tile.place;) {
        const T* from = plan_.u.data() + 4 * static_cast<std::ptrdiff_t>(i);
        u[l.vertex_id[i]] = {from[0], from[1], from[2]};
      }
    for (const GraphTile& tile : l.segment_tiles)
      for (Index i = tile.place + kTile; i-- > tile.place;) put_frame(i);
    for (Index at : l.anchors) put_frame(at);
  }

 private:
  Index segments() const { return static_cast<Index>(plan_.layout.segment_tiles.size()); }
  Executor::Loop loop_over(Index tiles) const { return {static_cast<std::size_t>(tiles), kTile}; }
  /// Loops over all tiles in which every thread has its share of every colour, as in sweeps. These shares are equal work (the
  /// tile list begins with simple ones), and their data are in the cache of the same thread. f(loop, each_segments,
  /// each_vertices), which call a function for ranges of tiles.
  template <class F>
  void shared_as_swept(const Executor& executor, std::size_t loops, const F& f) const {
    const auto parts = static_cast<std::size_t>(executor.threads());
    const Executor::Loop loop{parts, static_cast<std::size_t>(segments() * kTile) / parts + 1};
    executor.in_turn(
        loops, [&](std::size_t) { return loop; },
        [&](std::size_t i, std::size_t begin, std::size_t end) {
          const auto ranges = [&](const std::vector<Index>& colors) {
            return [&](const auto& call) {
              for (std::size_t c = 0; c + 1 < colors.size(); ++c) {
                const auto n = static_cast<std::size_t>(colors[c + 1] - colors[c]);
                const auto b = static_cast<Index>(n * begin / parts), e = static_cast<Index>(n * end / parts);
                if (b < e) call(colors[c] + b, colors[c] + e);
              }
            };
          };
          f(i, ranges(plan_.layout.segment_colors), ranges(plan_.layout.vertex_colors));
        });
  }
  /// Sets frames without segments, which only the control turns, at the end of the step.
  void put_anchors(const StepView& view, bool at_end) {
    const GraphLayout& l = plan_.layout;
    for (Index at : l.anchors) {
      const Index f = l.frame_id[at];
      const Quatd& q = at_end && view.frame_control[f] == FrameControl::fixed ? view.frame_target[f] : view.rotation[f];
      T* to = plan_.q.data() + 4 * static_cast<std::ptrdiff_t>(at);
      to[0] = static_cast<T>(q.x), to[1] = static_cast<T>(q.y), to[2] = static_cast<T>(q.z), to[3] = static_cast<T>(q.w);
    }
  }

  const GraphKernel<T>* kernel_ = nullptr;
  GraphPlan<T> plan_;
  GraphView<T> graph_{};
};

}  // namespace osier::stable_cosserat

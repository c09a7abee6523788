// The arrays of a RodView: where they lie, and how the numbers of the model and of a step come into them and out again.
// Everything is worked out in double and cast once.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/inertia.hpp"
#include "model/edge.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/projective/rod_plan.hpp"
#include "solvers/projective/rod_view.hpp"

namespace osier::projective {

/// What a step asks of all rods.
struct StepNeeds {
  double h = 0;
  bool damped = false, torques = false, hinges = false, isotropic = false, contact = false, paper = false;
  Index terms = 0;  ///< most direction terms of a frame
  int history = 0;  ///< 0: no acceleration
};

/// Direction terms by frame.
struct FrameTerms {
  std::vector<DirectionTerm> terms;
  std::vector<Index> start;  ///< per segment, size n + 1; empty: none
  Index most = 0;
  void find(const Model& m, const Control& c, const State& state, double h);
};

/// Calls f(pointer, numbers per lane) for the arrays of the model.
template <class T, class F>
void each_model_array(const RodShape& s, RodView<T>& v, const F& f) {
  f(v.stiffness, 3 * s.segments), f(v.tau, 3 * s.segments), f(v.inverse_length, s.segments), f(v.inertia, 3 * s.segments);
  f(v.bend, 4 * s.joints()), f(v.bend_viscous, 4 * s.joints()), f(v.bend_rest, 4 * s.joints());
}

/// The same for the arrays of a step; those that it does not need have no numbers.
template <class T, class F>
void each_step_array(const RodShape& s, const StepNeeds& n, RodView<T>& v, const F& f) {
  const Index nv = s.vertices, ns = s.segments, nf = s.frames(), nj = s.joints();
  const auto where = [](bool needed, Index count) { return needed ? count : 0; };
  f(v.u, 3 * nv), f(v.load, 3 * nv), f(v.weight, nv), f(v.vertex_free, nv);
  f(v.edge, 3 * ns), f(v.start, 4 * nf), f(v.rotation, 4 * nf), f(v.turn, where(sizeof(T) == 4, 4 * nf)), f(v.frame_free, ns),
      f(v.follows, ns);
  f(v.hinge, where(n.hinges, 3 * ns)), f(v.hinge_curvature, where(n.hinges, ns));
  f(v.torque, where(n.torques, 3 * ns)), f(v.torque_material, where(n.torques, 3 * ns));
  f(v.term, n.terms * kTermNumbers * ns);
  f(v.contact_weight, where(n.contact, nv)), f(v.contact_gradient, where(n.contact, 3 * nv));
  f(v.spring, 3 * ns), f(v.offset, 3 * ns), f(v.stretch2, ns);
  f(v.viscous, where(n.damped, 4 * nj)), f(v.previous, where(n.damped, 4 * nj)), f(v.difference, where(sizeof(T) == 4, 4 * nj));
  f(v.position_pivot, nv), f(v.position_entry, s.positions.entries()), f(v.position_scale, nv);
  f(v.turn_pivot, 3 * ns), f(v.turn_entry, 3 * s.turns.entries()), f(v.turn_scale, ns);
  f(v.gx, 3 * nv), f(v.gw, 3 * ns);
  f(v.target, where(n.paper, 4 * ns)), f(v.predicted, where(n.paper, 4 * ns));
  const Index iterate = where(n.history > 0, 4 * ns + 3 * nv);
  f(v.before, iterate), f(v.last, iterate), f(v.last_residual, iterate);
  f(v.residual_change, n.history * iterate), f(v.result_change, n.history * iterate);
}

/// How many numbers the arrays of a step have, all lanes together.
template <class T>
std::size_t step_numbers(const RodShape& shape, int lanes, const StepNeeds& needs) {
  std::size_t sum = 0;
  RodView<T> view;
  each_step_array(shape, needs, view, [&](auto&, Index count) { sum += static_cast<std::size_t>(count * lanes); });
  return sum;
}
template <class T>
std::size_t model_numbers(const RodShape& shape, int lanes) {
  std::size_t sum = 0;
  RodView<T> view;
  each_model_array(shape, view, [&](auto&, Index count) { sum += static_cast<std::size_t>(count * lanes); });
  return sum;
}

/// A view of a group's arrays: those of the model in `constants`, those of the step in `memory`.
template <class T>
RodView<T> view_of(const RodShape& s, int lanes, const StepNeeds& n, T* constants, T* memory) {
  RodView<T> v{};
  v.vertices = s.vertices, v.segments = s.segments, v.frames = s.frames(), v.joints = s.joints();
  v.terms = n.terms;
  v.damped = n.damped, v.torques = n.torques, v.hinges = n.hinges, v.isotropic = n.isotropic, v.touches = n.contact;
  v.positions = view_of(s.positions), v.turns = view_of(s.turns);
  v.segment_vertices = s.segment_vertices.data(), v.joint_frames = s.joint_frames.data(), v.joint_entry = s.joint_entry.data();
  v.h = static_cast<T>(n.h);
  v.history = n.history;
  const auto take = [&](T*& from) {
    return [&](auto& array, Index count) {
      array = from;
      from += static_cast<std::size_t>(count * lanes);
    };
  };
  each_model_array(s, v, take(constants));
  each_step_array(s, n, v, take(memory));
  return v;
}

/// A place in an array of `Components` numbers per element.
template <class T>
struct Lane {
  int lanes, k;
  void put(T* array, Index i, double x) const { array[i * lanes + k] = static_cast<T>(x); }
  void put(T* array, Index i, const Vec3d& x) const {
    T* to = array + 3 * i * lanes + k;
    to[0] = static_cast<T>(x.x), to[lanes] = static_cast<T>(x.y), to[2 * lanes] = static_cast<T>(x.z);
  }
  void put(T* array, Index i, const Quatd& q) const {
    T* to = array + 4 * i * lanes + k;
    to[0] = static_cast<T>(q.x), to[lanes] = static_cast<T>(q.y);
    to[2 * lanes] = static_cast<T>(q.z), to[3 * lanes] = static_cast<T>(q.w);
  }
  Vec3d vector(const T* array, Index i) const {
    const T* from = array + 3 * i * lanes + k;
    return {static_cast<double>(from[0]), static_cast<double>(from[lanes]), static_cast<double>(from[2 * lanes])};
  }
  Quatd quaternion(const T* array, Index i) const {
    const T* from = array + 4 * i * lanes + k;
    return {static_cast<double>(from[0]), static_cast<double>(from[lanes]), static_cast<double>(from[2 * lanes]),
            static_cast<double>(from[3 * lanes])};
  }
};

template <class T>
void load_model(const Model& m, const RodShape& shape, const RodGroup& g, T* constants) {
  const StepNeeds none;
  const RodView<T> v = view_of<T>(shape, g.lanes, none, constants, nullptr);
  const auto writable = [](const T* a) { return const_cast<T*>(a); };
  for (int k = 0; k < g.lanes; ++k) {
    const Lane<T> lane{g.lanes, k};
    for (Index i = 0; i < shape.segments; ++i) {
      const Index s = g.frame_in(i, k);
      lane.put(writable(v.stiffness), i, cast<double>(m.segment_stiffness[s]));
      lane.put(writable(v.tau), i, cast<double>(m.segment_tau[s]));
      lane.put(writable(v.inverse_length), i, 1 / m.segment_rest_length[s]);
      lane.put(writable(v.inertia), i, cast<double>(m.segment_inertia[s]));
    }
    for (Index i = 0; i < shape.joints(); ++i) {
      const Index j = g.joint_in(i, k);
      const Vec3d stiffness = cast<double>(m.joint_stiffness[j]);
      lane.put(writable(v.bend), i, bend_twist::stiffness4(stiffness));
      lane.put(writable(v.bend_viscous), i, bend_twist::viscous4(stiffness, cast<double>(m.joint_tau[j])));
      lane.put(writable(v.bend_rest), i, m.joint_rest_rotation[j]);
    }
  }
}

/// The paper's prediction of a frame: s_u = u + (h/2) u (0, w_s), w_s = w + h J^-1 (- w x J w), in the axes of the frame.
Quatd paper_prediction(const Model& m, const State& state, double h, Index s);

/// Everything of a step in one lane. `state` is at its start.
template <class T>
void load_step(const Model& m, const Control& c, const State& state, const StepNeeds& n, const FrameTerms& terms,
               const RodShape& shape, const RodGroup& g, int k, RodView<T>& v) {
  const Lane<T> lane{g.lanes, k};
  const double h = n.h;
  for (Index i = 0; i < shape.vertices; ++i) {
    const Index vertex = g.vertex_in(i, k);
    const bool held = c.vertex_fixed[vertex] != 0;
    const double weight = inertia::weight(m.vertex_mass[vertex], c.vertex_damping[vertex], h);
    const Vec3d load = inertia::force(c.vertex_force[vertex], m.vertex_mass[vertex], state.vertex_velocity[vertex], h);
    // The inertial prediction of the frames' guess is x + h v; the first global step replaces it.
    const Vec3d u = held ? c.vertex_target[vertex] - state.vertex_position[vertex] : h * state.vertex_velocity[vertex];
    lane.put(v.u, i, u);
    lane.put(v.load, i, load);
    lane.put(v.weight, i, weight);
    lane.put(v.vertex_free, i, held ? 0 : 1);
  }
  for (Index i = 0; i < shape.frames(); ++i) {
    const Index f = g.frame_in(i, k);
    const Quatd& start = state.frame_rotation[f];
    const FrameControl control = c.frame_control[f];
    Quatd q = start;
    const bool free = control == FrameControl::free, anchor = m.is_anchor(f);
    const bool spins = !anchor && m.segment_inertia[f].any();
    if (spins && control != FrameControl::fixed)
      q = n.paper ? paper_prediction(m, state, h, f) : guessed_frame(m, c, state, h, f);
    if (control == FrameControl::fixed) q = c.frame_target[f];
    if (control == FrameControl::hinged) q = nearest_on_hinge(q, c.frame_target[f], c.frame_hinge_axis[f]);
    lane.put(v.start, i, start);
    lane.put(v.rotation, i, q);
    if constexpr (sizeof(T) == 4) {
      const Quatd turn = q * conj(start);
      lane.put(v.turn, i, turn.w < 0 ? -turn : turn);
    }
    if (anchor) continue;
    const Vec3d p = edge_over_length(m, state.vertex_position, f);
    lane.put(v.edge, i, sizeof(T) == 4 ? p - director3(start) : p);
    lane.put(v.frame_free, i, free ? 1 : 0);
    lane.put(v.follows, i, free && !spins && !n.paper ? 1 : 0);
    if (n.paper) lane.put(v.predicted, i, q);
    if (n.hinges) lane.put(v.hinge, i, control == FrameControl::hinged ? rotate(conj(q), c.frame_hinge_axis[f]) : Vec3d{});
    if (n.torques) {
      lane.put(v.torque, i, c.frame_torque[f]);
      lane.put(v.torque_material, i, c.frame_torque_material[f]);
    }
    for (Index t = 0; t < n.terms; ++t) {
      const Index own = terms.start[f + 1] - terms.start[f];
      const DirectionTerm none{f, 0, {}, {}, 0};
      const DirectionTerm& term = t < own ? terms.terms[terms.start[f] + t] : none;
      const double numbers[kTermNumbers] = {term.k, term.y.x, term.y.y, term.y.z, term.a.x, term.a.y, term.a.z};
      for (Index a = 0; a < kTermNumbers; ++a) lane.put(v.term, (i * n.terms + t) * kTermNumbers + a, numbers[a]);
    }
  }
  if constexpr (sizeof(T) == 4)
    for (Index i = 0; i < shape.joints(); ++i) {
      const Index j = g.joint_in(i, k);
      const auto [a, b] = m.joint_frames[j];
      lane.put(v.difference, i,
               bend_twist::difference(bend_twist::stiffness4(cast<double>(m.joint_stiffness[j])),
                                      conj(state.frame_rotation[a]) * state.frame_rotation[b], m.joint_rest_rotation[j]));
    }
}

}  // namespace osier::projective

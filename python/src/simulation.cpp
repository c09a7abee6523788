// Simulations, step by step.
#include <chrono>
#include <cmath>

#include "arrays.hpp"
#include "held.hpp"

namespace osier::python {

namespace {

/// So many steps without the interpreter, which is asked for Ctrl-C twenty times a second.
StepReport step(Held& held, long count, bool measure) {
  using Clock = std::chrono::steady_clock;
  if (count < 1) throw nb::value_error("step() takes at least one step");
  const Running running(held.running);
  StepReport report;
  bool interrupted = false;
  {
    const nb::gil_scoped_release free;
    Clock::time_point asked = Clock::now();
    for (long i = 0; i < count && !held.simulation.finished(); ++i) {
      report = held.simulation.step(measure && i + 1 == count);
      if (Clock::now() - asked < std::chrono::milliseconds(50)) continue;
      asked = Clock::now();
      const nb::gil_scoped_acquire taken;
      interrupted = PyErr_CheckSignals() != 0;
      if (interrupted) break;
    }
    held.measure_reactions();
  }
  if (interrupted) throw nb::python_error();
  return report;
}

/// Fills an array of the state. Whatever is not finite is refused before anything is changed.
template <class Array, class T>
void fill(const std::optional<Array>& from, std::vector<T>& to, const char* name, bool apply) {
  if (!from) return;
  constexpr std::size_t n = sizeof(T) / sizeof(double);
  if (from->shape(0) != to.size())
    throw InputError(
        {{name, "has " + std::to_string(from->shape(0)) + " rows, and the simulation has " + std::to_string(to.size()),
          "give one for each"}});
  const double* const data = from->data();
  for (std::size_t i = 0; i < n * to.size(); ++i)
    if (!std::isfinite(data[i])) throw InputError({{name, "has numbers that are not finite", "use finite ones"}});
  if (apply) std::copy(data, data + n * to.size(), reinterpret_cast<double*>(to.data()));
}

using Frames = nb::ndarray<const double, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;

void set_state(Held& held, const std::optional<Points>& positions, const std::optional<Points>& velocities,
               const std::optional<Frames>& frames) {
  State& s = held.idle().mutable_state();
  for (const bool apply : {false, true}) {
    fill(positions, s.vertex_position, "positions", apply);
    fill(velocities, s.vertex_velocity, "velocities", apply);
    fill(frames, s.frame_rotation, "frames", apply);
  }
  if (velocities) s.vertex_velocity_previous = s.vertex_velocity;
}

nb::dict diagnostics(const Held& held) {
  const Diagnostics d = held.simulation.diagnostics();
  nb::dict out;
  out["time"] = d.time, out["step"] = d.step;
  out["kinetic"] = d.kinetic, out["stretch_shear"] = d.stretch_shear, out["bend_twist"] = d.bend_twist;
  out["external"] = d.external, out["total"] = d.total();
  out["residual"] = d.residual, out["residual_relative"] = d.residual_relative;
  out["max_stretch"] = d.max_stretch, out["max_bend"] = d.max_bend;
  out["momentum"] = to_tuple(d.momentum), out["angular_momentum"] = to_tuple(d.angular_momentum);
  out["iterations"] = d.iterations, out["load_factor"] = d.load_factor, out["unstable_modes"] = d.unstable_modes;
  out["vertices_alive"] = d.vertices_alive, out["segments_alive"] = d.segments_alive;
  return out;
}

/// What touched in the last step, column by column.
nb::dict contacts(Held& held) {
  held.simulation.show_contacts(true);
  const Frame frame = held.simulation.frame(0);
  std::vector<Vec3d> position, normal, friction;
  std::vector<double> gap;
  std::vector<std::array<Index, 2>> pairs;
  for (const ContactPoint& c : frame.contacts) {
    position.push_back(c.position), normal.push_back(c.normal_force), friction.push_back(c.friction_force);
    gap.push_back(c.gap), pairs.push_back({c.a, c.b});
  }
  nb::dict out;
  out["segments"] = own(pairs), out["position"] = own(position), out["gap"] = own(gap);
  out["normal_force"] = own(normal), out["friction_force"] = own(friction);
  return out;
}

/// Measured into memory that arrays of earlier calls look at, too.
nb::dict sections(nb::handle self) {
  Held& held = nb::cast<Held&>(self);
  held.simulation.show_sections(true);
  const Frame frame = held.simulation.frame(0);
  held.simulation.show_sections(false);
  const std::array<std::span<const Vec3d>, Held::kSections> measured = {frame.segment_force,  frame.segment_strain,
                                                                        frame.segment_moment, frame.segment_curvature,
                                                                        frame.joint_moment,   frame.joint_curvature};
  constexpr std::array names = {"force", "strain", "moment", "curvature", "joint_moment", "joint_curvature"};
  nb::dict out;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    held.sections[i].assign(measured[i].begin(), measured[i].end());
    out[names[i]] = view(held.sections[i], self);
  }
  return out;
}

View reactions(nb::handle self) {
  static_assert(sizeof(Wrench) == 6 * sizeof(double));
  Held& held = nb::cast<Held&>(self);
  return View(reinterpret_cast<const double*>(held.reactions.data()), {held.reactions.size(), 2, 3}, self);
}

void measure_reactions(Held& held, std::size_t constraints) {
  held.idle().measure_reactions();
  held.reactions.resize(constraints);
  held.measure_reactions();
}

void restore_bytes(Held& held, const nb::bytes& saved) {
  held.idle().restore(std::string(saved.c_str(), saved.size()));
  held.measure_reactions();
}

nb::tuple to_python(const Pose& pose) { return nb::make_tuple(to_tuple(pose.center), to_tuple(pose.turn)); }
nb::tuple to_python(const Wrench& wrench) { return nb::make_tuple(to_tuple(wrench.force), to_tuple(wrench.moment)); }

}  // namespace

void bind_simulation(nb::module_& m) {
  nb::class_<StepReport>(m, "StepReport", "Trouble and effort of one step.")
      .def_ro("not_converged", &StepReport::not_converged)
      .def_ro("held_back", &StepReport::held_back, "Prescribed motion did not arrive: it would have torn rods through something.")
      .def_ro("iterations", &StepReport::iterations)
      .def_ro("seconds", &StepReport::seconds, "Wall time of the step [s].")
      .def_ro("residual", &StepReport::residual, "Force left over [N]; negative when it was not measured.")
      .def_ro("residual_relative", &StepReport::residual_relative)
      .def_ro("unstable_modes", &StepReport::unstable_modes)
      .def("__repr__", [](const StepReport& r) {
        return std::string("<StepReport ") + (r.not_converged ? "not converged" : "converged") +
               (r.held_back ? ", held back" : "") + ", " + std::to_string(r.iterations) + " iterations>";
      });

  const auto state = [](nb::handle self) -> const State& { return nb::cast<const Held&>(self).simulation.state(); };
  nb::class_<Held>(m, "Simulation", nb::is_weak_referenceable())
      .def(nb::init<const Scene&>(), nb::arg("scene"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "__init__", [](Held* self, Held& other) { new (self) Held(other.idle().copy()); }, nb::arg("other"),
          "A copy that goes on by itself.")
      .def(
          "step", &step, nb::arg("count") = 1, nb::arg("measure") = false,
          "Steps, with the interpreter's lock released; one load step each in statics. Returns the report of the last one; with\n"
          "`measure` it tells the residual. Raises RunError where a step fails, with the state before it kept.")
      .def(
          "certify", [](Held& h) { h.idle().certify(); }, "Watches every step from now on, see the command line's --certify.")
      .def_prop_ro(
          "time", [](const Held& h) { return h.simulation.state().time; }, "[s]")
      .def_prop_ro("step_index", [](const Held& h) { return h.simulation.state().step_index; })
      .def_prop_ro(
          "time_step", [](const Held& h) { return h.simulation.time_step(); }, "[s]; 0 in statics.")
      .def_prop_ro("steps_per_frame", [](const Held& h) { return h.simulation.steps_per_frame(); })
      .def_prop_ro("frame_count", [](const Held& h) { return h.simulation.frame_count(); })
      .def_prop_ro("is_static", [](const Held& h) { return h.simulation.is_static(); })
      .def_prop_ro("finished", [](const Held& h) { return h.simulation.finished(); })
      .def_prop_ro("last_report", [](const Held& h) { return h.simulation.last_report(); })
      .def_prop_ro(
          "positions", [state](nb::handle self) { return view(state(self).vertex_position, self); },
          "Positions of vertices [m], (V, 3). A read-only view: it follows the simulation.")
      .def_prop_ro(
          "velocities", [state](nb::handle self) { return view(state(self).vertex_velocity, self); },
          "Velocities of vertices [m/s], (V, 3). A view, likewise.")
      .def_prop_ro(
          "frames", [state](nb::handle self) { return view(state(self).frame_rotation, self); },
          "Material frames as unit quaternions x, y, z, w, (S + clamps, 4): segments first. A view, likewise.")
      .def_prop_ro(
          "angular_velocities", [state](nb::handle self) { return view(state(self).frame_velocity, self); },
          "Of frames with inertia, world axes [rad/s]. A view, likewise.")
      .def_prop_ro(
          "segment_alive",
          [](const Held& h) {
            const std::vector<std::uint8_t>& alive = h.simulation.model().segment_alive;
            const std::size_t n = alive.size();
            auto [data, owner] = keep(alive);
            return Mask(data, {n}, owner);
          },
          "0 for segments that have broken.")
      .def("_set_state", &set_state, nb::arg("positions") = nb::none(), nb::arg("velocities") = nb::none(),
           nb::arg("frames") = nb::none())
      .def("diagnostics", &diagnostics, "Energies [J], momenta, residual, extremes: docs/output.md, diagnostics.csv.")
      .def_prop_ro("contacts", &contacts,
                   "What touched in the last step, as arrays, made anew at each call: `segments` (a, b; an obstacle is -1 - its "
                   "number), `position` [m],\n"
                   "`gap` [m], `normal_force` and `friction_force` [N] on segment a.")
      .def_prop_ro(
          "sections", &sections,
          "Section forces and the like in material axes, as arrays: `force` [N], `strain`, `moment` [N m] and\n"
          "`curvature` [1/m] of segments, `joint_moment` and `joint_curvature`. Axes and signs: docs/output.md.\n"
          "They are measured when `sections` is read, into the same memory every time: views of before show the new values.")
      .def("_measure_reactions", &measure_reactions)
      .def_prop_ro("_reactions", &reactions)
      .def("_reaction", [](const Held& h, std::size_t i, bool material) { return to_python(h.simulation.reaction(i, material)); })
      .def("_load_on", [](const Held& h, std::size_t i) { return to_python(h.simulation.load_on_obstacle(i)); })
      .def("_constraint_pose", [](const Held& h, std::size_t i) { return to_python(h.simulation.constraint_pose(i)); })
      .def("_obstacle_pose", [](const Held& h, std::size_t i) { return to_python(h.simulation.obstacle_pose(i)); })
      .def("_lead_constraint",
           [](Held& h, std::size_t i, const Triple& x, const Quadruple& q, double seconds) {
             h.idle().lead_constraint(i, {to_vec(x), to_quat(q)}, seconds);
           })
      .def("_lead_obstacle",
           [](Held& h, std::size_t i, const Triple& x, const Quadruple& q, double seconds) {
             h.idle().lead_obstacle(i, {to_vec(x), to_quat(q)}, seconds);
           })
      .def("_drive_motor", [](Held& h, std::size_t i, double value) { h.idle().drive_motor(i, value); })
      .def("_release", [](Held& h, std::size_t i) { h.idle().release_constraint(i); })
      .def("_enable_force", [](Held& h, std::size_t i, bool on) { h.idle().enable_force(i, on); })
      .def("_set", [](Held& h, const std::string& pointer, const std::string& json) { h.idle().set(pointer, json); })
      .def(
          "pull", [](Held& h, Index vertex, const Triple& target, double k) { h.idle().pull(vertex, to_vec(target), k); },
          nb::arg("vertex"), nb::arg("target"), nb::arg("stiffness") = 0.0,
          "Pulls a vertex towards a point with a damped spring, until stop_pulling(). Any stiffness [N/m] is stable; 0 takes "
          "one\n"
          "that suits the rod.")
      .def("stop_pulling", [](Held& h) { h.idle().stop_pulling(); })
      .def_prop_ro(
          "scene_json", [](const Held& h) { return h.simulation.scene_json(); },
          "The scene with everything that was set, as text.")
      .def_prop_ro(
          "state_hash", [](const Held& h) { return h.simulation.state_hash(); },
          "A fingerprint of the state and of all that the solver keeps in it: equal where the next steps are.")
      .def("_save_bytes",
           [](Held& h) {
             const std::string saved = h.idle().save();
             return nb::bytes(saved.data(), saved.size());
           })
      .def("_restore_bytes", &restore_bytes)
      .def("_restore", [](Held& h, Held& saved) {
        h.idle().assign(saved.idle().copy());
        h.measure_reactions();
      });
}

}  // namespace osier::python

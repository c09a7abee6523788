// Compiled scenes, and the builder of scenes from arrays.
#include <nanobind/stl/filesystem.h>

#include "arrays.hpp"

namespace osier::python {

namespace {

LoadOptions options_of(const std::string& solver, const std::vector<std::string>& overrides, std::optional<int> threads,
                       const std::string& precision, const std::string& simd) {
  return {.solver = solver, .overrides = overrides, .precision = precision, .threads = threads, .simd = simd};
}

nb::dict rods_of(const Model& model) {
  nb::dict rods;
  for (const RodInfo& rod : model.rods) rods[rod.name.c_str()] = own(rod.vertices);
  return rods;
}

void add_rod(ModelBuilder& builder, const std::string& name, const Points& points, const std::string& material, bool closed,
             const std::optional<Points>& pose, const std::optional<Doubles>& scale, const std::optional<Triple>& up,
             const std::optional<Triple>& velocity) {
  RodArrays rod{.name = name, .material = material, .points = to_span(points), .closed = closed};
  if (pose) rod.pose = to_span(*pose);
  if (scale) rod.scale = {scale->data(), scale->shape(0)};
  if (up) rod.up = to_vec(*up);
  if (velocity) rod.velocity = to_vec(*velocity);
  builder.rod(rod);
}

}  // namespace

void bind_scene(nb::module_& m) {
  nb::class_<Scene>(m, "CompiledScene", "A scene that has been checked and compiled. It does not change.")
      .def_static(
          "load",
          [](const std::filesystem::path& file, const std::string& solver, const std::vector<std::string>& overrides,
             std::optional<int> threads, const std::string& precision,
             const std::string& simd) { return Scene::load(file, options_of(solver, overrides, threads, precision, simd)); },
          nb::arg("file"), nb::arg("solver") = "", nb::arg("overrides") = std::vector<std::string>{},
          nb::arg("threads") = nb::none(), nb::arg("precision") = "", nb::arg("simd") = "",
          nb::call_guard<nb::gil_scoped_release>(), "Reads a scene file. Raises InputError with every problem found.")
      .def_static(
          "parse",
          [](const std::string& text, const std::string& name, const std::filesystem::path& folder, const std::string& solver,
             const std::vector<std::string>& overrides, std::optional<int> threads, const std::string& precision,
             const std::string& simd) {
            return Scene::parse(text, name, folder, options_of(solver, overrides, threads, precision, simd));
          },
          nb::arg("text"), nb::arg("name") = "scene", nb::arg("folder") = ".", nb::arg("solver") = "",
          nb::arg("overrides") = std::vector<std::string>{}, nb::arg("threads") = nb::none(), nb::arg("precision") = "",
          nb::arg("simd") = "", nb::call_guard<nb::gil_scoped_release>(), "The same from the text of a scene.")
      .def_prop_ro("name", &Scene::name)
      .def_prop_ro("json", &Scene::json, "The scene as it runs, overrides included, as text.")
      .def_prop_ro("warnings", &Scene::warnings)
      .def_prop_ro("constraint_names", &Scene::constraint_names)
      .def_prop_ro("obstacle_names", &Scene::obstacle_names)
      .def_prop_ro("vertex_count", [](const Scene& s) { return s.model().vertex_count(); })
      .def_prop_ro("segment_count", [](const Scene& s) { return s.model().segment_count(); })
      .def_prop_ro(
          "masses", [](nb::handle_t<Scene> self) { return view(nb::cast<const Scene&>(self).model().vertex_mass, self); },
          "Masses of vertices [kg].")
      .def_prop_ro(
          "rest_lengths",
          [](nb::handle_t<Scene> self) { return view(nb::cast<const Scene&>(self).model().segment_rest_length, self); },
          "Rest lengths of segments [m].")
      .def_prop_ro(
          "segments", [](const Scene& s) { return own(s.model().segment_vertices); }, "The two vertices of every segment.")
      .def_prop_ro(
          "rods", [](const Scene& s) { return rods_of(s.model()); }, "The vertices of every rod, in order, by its name.")
      .def_prop_ro(
          "positions",
          [](nb::handle_t<Scene> self) { return view(nb::cast<const Scene&>(self).initial_state().vertex_position, self); },
          "Where vertices are at the start [m].")
      .def("__repr__", [](const Scene& s) {
        return "<osier.CompiledScene \"" + s.name() + "\": " + std::to_string(s.model().vertex_count()) + " vertices, " +
               std::to_string(s.model().segment_count()) + " segments>";
      });

  nb::class_<ModelBuilder>(m, "ModelBuilder", "Puts a scene together: rods from arrays, and what most scenes need.")
      .def(nb::init<const std::string&>(), nb::arg("scene") = "")
      .def("_add_rod", &add_rod, nb::arg("name"), nb::arg("points"), nb::arg("material"), nb::arg("closed"),
           nb::arg("pose") = nb::none(), nb::arg("scale") = nb::none(), nb::arg("up") = nb::none(),
           nb::arg("velocity") = nb::none())
      .def("_add", [](ModelBuilder& b, const std::string& list, const std::string& json) { b.add(list, json); })
      .def("_set", [](ModelBuilder& b, const std::string& pointer, const std::string& json) { b.set(pointer, json); })
      .def_prop_ro("json", &ModelBuilder::json, "The scene so far, as text.")
      .def(
          "_build",
          [](const ModelBuilder& b, const std::string& name, const std::string& solver, const std::vector<std::string>& overrides,
             std::optional<int> threads, const std::string& precision,
             const std::string& simd) { return b.build(name, options_of(solver, overrides, threads, precision, simd)); },
          nb::arg("name"), nb::arg("solver") = "", nb::arg("overrides") = std::vector<std::string>{},
          nb::arg("threads") = nb::none(), nb::arg("precision") = "", nb::arg("simd") = "",
          nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace osier::python

// The module: exceptions, and what needs no object.
#include "arrays.hpp"

namespace osier::python {

namespace {

/// The class of that name in the module.
nb::object exception(const char* name) {
  static const nb::object& module =
      *new nb::object(nb::module_::import_("osier._errors"));  // never destroyed: Python may be gone
  return module.attr(name);
}

void raise_input_error(const InputError& error) {
  nb::list problems;
  for (const Problem& p : error.problems()) problems.append(nb::make_tuple(p.where, p.what, p.remedy));
  PyErr_SetObject(exception("InputError").ptr(), nb::make_tuple(error.what(), problems).ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const InputError& e) {
    raise_input_error(e);
  } catch (const NonFiniteError& e) {
    PyErr_SetString(exception("NonFiniteError").ptr(), e.what());
  } catch (const CertificateError& e) {
    PyErr_SetString(exception("CertificateError").ptr(), e.what());
  } catch (const RunError& e) {
    PyErr_SetString(exception("RunError").ptr(), e.what());
  }
}

}  // namespace

}  // namespace osier::python

NB_MODULE(_core, m) {
  using namespace osier;
  m.doc() = "The compiled part of Osier. Import `osier` instead.";
  nb::register_exception_translator(python::translate);
  m.attr("__version__") = version();
  m.def("scene_schema", &scene_schema, "The JSON Schema of the scene language, as text.");
  m.def("scene_reference", &scene_reference, "The reference page of the scene language, in Markdown.");
  python::bind_scene(m);
  python::bind_simulation(m);
  python::bind_recording(m);
  python::bind_sweep(m);
}

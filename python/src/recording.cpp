// Runs with results on disk, and recordings of simulations that are stepped by hand.
#include <atomic>
#include <filesystem>
#include <nanobind/stl/filesystem.h>

#include "arrays.hpp"
#include "held.hpp"

namespace osier::python {

namespace {

/// Frames of a simulation, in any format that its extension names, or as a page that plays them.
class Recorder {
 public:
  Recorder(const Scene& scene, const Held& held, const std::filesystem::path& file) : scene_(scene) {
    const std::string extension = file.extension().string();
    if (extension == ".html") {
      writer_ = make_html_writer(file);
    } else {
      for (const FormatEntry& format : formats())
        if (extension == format.extension && !writer_) writer_ = format.make(WriteTarget::at(file));
      if (!writer_)
        throw InputError(
            {{file.string(), "\"" + extension + "\" is no format to write", "use .html, or see `osier list formats`"}});
    }
    writer_->begin(held.simulation.model(), run_info(scene_));
  }
  void write(Held& held) { writer_->write(held.idle().frame(frames_++)); }
  void end() { writer_->end(); }

 private:
  Scene scene_;
  std::unique_ptr<Writer> writer_;
  int frames_ = 0;
};

/// Runs and records without the interpreter, which is asked for Ctrl-C, and told the progress, after every frame.
std::string run(const Scene& scene, const std::filesystem::path& folder, int frames, bool certify,
                const std::optional<std::filesystem::path>& html, nb::object progress) {
  std::atomic<bool> interrupt = false;
  bool failed = false;
  nb::python_error* raised = nullptr;
  RunOptions options{.folder = folder, .certify = certify, .frames = frames, .interrupt = &interrupt};
  if (html) options.writers.push_back(make_html_writer(*html, folder));
  options.progress = [&](int frame, int of, double ms) {
    const nb::gil_scoped_acquire taken;
    if (interrupt) return;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(frame, of, ms);
    } catch (nb::python_error& error) {
      raised = new nb::python_error(std::move(error));
      interrupt = failed = true;
    }
  };
  RunStats stats;
  {
    const nb::gil_scoped_release free;
    stats = run_scene(scene, options);
  }
  if (failed) {
    nb::python_error error(std::move(*raised));
    delete raised;
    throw error;
  }
  return stats.to_json();
}

}  // namespace

void bind_recording(nb::module_& m) {
  nb::class_<Recorder>(m, "Recorder")
      .def(nb::init<const Scene&, const Held&, const std::filesystem::path&>(), nb::arg("scene"), nb::arg("simulation"),
           nb::arg("file"))
      .def("write", &Recorder::write, nb::arg("simulation"))
      .def("end", &Recorder::end);
  m.def("_run", &run, nb::arg("scene"), nb::arg("folder"), nb::arg("frames") = -1, nb::arg("certify") = false,
        nb::arg("html") = nb::none(), nb::arg("progress") = nb::none());
  m.def(
      "_write_html",
      [](const std::filesystem::path& run, const std::filesystem::path& file) {
        Trajectory trajectory = Trajectory::open(run);
        write_html(trajectory, file);
      },
      nb::arg("run"), nb::arg("file"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace osier::python

// Parameter studies in this process.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <nanobind/stl/filesystem.h>

#include "arrays.hpp"
#include "osier/sweep.hpp"

namespace osier::python {

namespace {

using Path = std::filesystem::path;

/// In a thread of its own, so that this one can ask for Ctrl-C meanwhile, which ends the study after the runs at hand.
void sweep(const Path& scene, const DesignWords& words, SweepOptions options) {
  std::atomic<bool> interrupt = false;
  options.interrupt = &interrupt;
  bool interrupted = false;
  {
    const nb::gil_scoped_release free;
    auto done = std::async(std::launch::async, [&] { run_sweep(scene, design_of(words), options); });
    while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      const nb::gil_scoped_acquire taken;
      if (!interrupted) interrupted = interrupt = PyErr_CheckSignals() != 0;
    }
    done.get();
  }
  if (interrupted) throw nb::python_error();
}

}  // namespace

void bind_sweep(nb::module_& m) {
  m.def(
      "_sweep",
      [](const Path& scene, std::vector<std::string> vary, const std::string& sample, const std::string& from, int samples,
         std::uint64_t seed, const Path& out, std::vector<std::string> overrides, int jobs, std::size_t part, std::size_t parts) {
        SweepOptions options;
        options.folder = out, options.threads = jobs, options.part = part, options.parts = parts;
        options.load.overrides = std::move(overrides);
        sweep(scene, {.vary = std::move(vary), .sample = sample, .from = from, .samples = samples, .seed = seed},
              std::move(options));
      },
      nb::arg("scene"), nb::arg("vary"), nb::arg("sample"), nb::arg("from_"), nb::arg("samples"), nb::arg("seed"), nb::arg("out"),
      nb::arg("overrides"), nb::arg("jobs"), nb::arg("part") = 0, nb::arg("parts") = 1);
  m.def(
      "_merge_sweeps",
      [](const std::vector<Path>& folders, const Path& into) {
        const nb::gil_scoped_release free;
        merge_sweeps(folders, into);
      },
      nb::arg("folders"), nb::arg("into"));
}

}  // namespace osier::python

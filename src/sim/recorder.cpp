#include "sim/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "io/journal.hpp"
#include "osier/trajectory.hpp"
#include "sim/probes.hpp"

namespace osier {

namespace fs = std::filesystem;

/// A table of an earlier process, cut back to its first `size` bytes.
static std::FILE* reopen_csv(const fs::path& path, std::uint64_t size) {
  std::error_code error;
  if (fs::file_size(path, error) < size || error)
    throw RunError(fmt::format("{}: is shorter than when the run was saved", path.string()));
  fs::resize_file(path, size, error);
  std::FILE* file = error ? nullptr : std::fopen(path.c_str(), "a");
  if (!file)
    throw RunError(fmt::format("{}: cannot be written: {}", path.string(), error ? error.message() : std::strerror(errno)));
  return file;
}

static std::FILE* open_csv(const fs::path& path, const std::string& header) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) throw RunError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  fmt::print(file, "{}\n", header);
  return file;
}

/// A full disk shows up here and not as a silently short file.
static void flush(std::FILE* file, const char* name) {
  if (std::fflush(file) != 0 || std::ferror(file)) throw RunError(fmt::format("{}: {}", name, std::strerror(errno)));
}

static std::string probe_header(const Setup& setup) {
  std::string header = setup.spec.statics() ? "time,load_factor" : "time";
  for (const std::string& column : probe_columns(setup)) header += "," + column;
  return header;
}

/// EA, GA1, GA2, EI1, EI2, GJ of a section.
static std::array<double, 6> stiffness_of(const Section& s) {
  return {s.stretch_shear.d3, s.stretch_shear.d1, s.stretch_shear.d2, s.bend_twist.d1, s.bend_twist.d2, s.bend_twist.d3};
}

/// Of the segments that a structure made; without joints its bending stiffness is zero.
static MaterialStiffness stiffness_of(const Model& m, const StructureUse& structure) {
  MaterialStiffness range;
  range.low.fill(std::numeric_limits<double>::infinity());
  const auto add = [&](std::size_t at, const PerAxis& k, std::array<int, 3> order) {
    const double of[] = {k.d1, k.d2, k.d3};
    for (std::size_t i = 0; i < 3; ++i) {
      const double value = of[order[i]];
      range.low[at + i] = std::min(range.low[at + i], value), range.high[at + i] = std::max(range.high[at + i], value);
    }
  };
  const auto mine = [&](Index s) { return s >= structure.first && s < structure.first + structure.count; };
  for (Index s = structure.first; s < structure.first + structure.count; ++s)
    add(0, (1 / m.segment_rest_length[s]) * m.segment_stiffness[s], {2, 0, 1});
  for (Index j = 0; j < m.joint_count(); ++j)
    if (mine(m.joint_frames[j][0]) && mine(m.joint_frames[j][1]))
      add(3, (m.joint_length[j] / 4) * m.joint_stiffness[j], {0, 1, 2});
  for (double& low : range.low)
    if (!std::isfinite(low)) low = 0;
  return range;
}

RunInfo run_info(const Setup& setup) {
  RunInfo info{.scene_name = setup.name,
               .scene_json = setup.json,
               .version = version(),
               .double_precision = !setup.spec.execution.in_float(),
               .sections = setup.spec.output.sections,
               .materials = {},
               .segment_material = setup.segment_material,
               .material_stiffness = {},
               .reports = true,
               .is_static = setup.spec.statics() != nullptr,
               .clamp_frames = setup.model.anchor_count > 0,
               .spins = setup.model.has_inertia(),
               .contacts = setup.spec.output.contacts};
  info.obstacles = obstacle_surfaces(setup);
  for (const MaterialUse& m : setup.materials) {
    info.materials.push_back(m.name);
    info.material_stiffness.push_back({stiffness_of(scaled(m.section, m.thinnest)), stiffness_of(scaled(m.section, m.thickest))});
  }
  for (const StructureUse& s : setup.structures) {
    std::fill_n(info.segment_material.begin() + s.first, s.count, static_cast<Index>(info.materials.size()));
    info.materials.push_back(s.name);
    info.material_stiffness.push_back(stiffness_of(setup.model, s));
  }
  return info;
}

std::vector<Surface> obstacle_surfaces(const Setup& setup) {
  std::vector<Surface> list;
  for (const auto& obstacle : setup.spec.obstacles) {
    list.push_back(obstacle->surface());
    list.back().name = obstacle->name;
    list.back().moves = obstacle->moves();
  }
  return list;
}

FrameReport frame_report(const Diagnostics& d, int iterations, double seconds) {
  return {.kinetic = d.kinetic,
          .stretch_shear = d.stretch_shear,
          .bend_twist = d.bend_twist,
          .external = d.external,
          .residual_relative = d.residual_relative,
          .iterations = iterations,
          .compute_ms = 1e3 * seconds,
          .load_factor = d.load_factor};
}

Recorder::Recorder(const fs::path& folder, const Setup& setup, const Simulation& simulation) : setup_(setup), folder_(folder) {
  try {
    open(folder, simulation);
  } catch (const RunError& e) {  // nothing has been computed yet: it is the folder that is wrong
    throw InputError({{folder.string(), e.what(), "choose another folder with -o"}});
  }
}

void Recorder::open(const fs::path& folder, const Simulation& simulation) {
  const Setup& setup = setup_;
  folder_.set_earlier_aside();
  const RunInfo info = run_info(setup);
  for (const FormatName& format : setup.spec.output.formats) {
    writers_.push_back(find_format(format.name)->make(folder));
    writers_.back()->begin(simulation.model(), info);
  }
  each_table(simulation,
             [&](CsvFile& file, const char* name, const std::string& header) { file.reset(open_csv(folder / name, header)); });
}

template <class F>
void Recorder::each_table(const Simulation& simulation, const F& use) {
  if (setup_.spec.output.diagnostics != Rate::none) {
    std::string header =
        "time,step,kinetic,stretch_shear,bend_twist,external,total,residual,residual_relative,max_stretch,max_bend,"
        "px,py,pz,lx,ly,lz,iterations,vertices_alive,segments_alive,unstable_modes";
    if (simulation.is_static()) header += ",load_factor";
    if (simulation.is_certified())
      header +=
          ",gap,gap_a,gap_b,contacts,penetration,contact_energy,work_loads,work_driven,work_stiffening,work_broken,"
          "work_iterations,lost_friction,lost_damping,lost_step,energy_error,momentum_error,angular_momentum_error";
    use(diagnostics_, "diagnostics.csv", header);
  }
  if (setup_.spec.output.probes != Rate::none && !setup_.probes.empty()) use(probes_, "probes.csv", probe_header(setup_));
}

Recorder::Recorder(const fs::path& folder, const Setup& setup, const Simulation& simulation, const Checkpoint& from,
                   std::span<const std::shared_ptr<Writer>> also)
    : setup_(setup), folder_(folder) {
  folder_.started();  // what is there stays, whatever happens
  try {
    reopen(simulation, from, also);
  } catch (const RunError& e) {
    throw InputError({{folder.string(), e.what(), "run the scene anew"}});
  }
}

/// Writers that cannot go on behind what they have written get all frames again, from the trajectory. In single precision that
/// has fewer digits than they were given.
void Recorder::reopen(const Simulation& simulation, const Checkpoint& from, std::span<const std::shared_ptr<Writer>> also) {
  const RunInfo info = run_info(setup_);
  const fs::path& folder = folder_.path();
  std::vector<Writer*> again;
  for (const FormatName& format : setup_.spec.output.formats) {
    writers_.push_back(find_format(format.name)->make(folder));
    if (!writers_.back()->resumes()) again.push_back(writers_.back().get());
  }
  const bool has_trajectory = again.size() < writers_.size();
  for (const auto& w : also) again.push_back(w.get());
  if (!again.empty() && !has_trajectory)
    throw RunError("files of other formats than `hdf5` can only be made again from trajectory.h5, which this run does not write");
  if (!again.empty() && !info.double_precision)
    throw RunError(
        "files of other formats than `hdf5` cannot be continued in single precision: trajectory.h5 has too few digits");
  if (!again.empty()) {
    Trajectory trajectory = Trajectory::open(folder);
    for (Writer* w : again) w->begin(simulation.model(), info);
    for (int f = 0; f <= from.frame; ++f) {
      const Frame frame = trajectory.read(f);
      for (Writer* w : again) w->write(frame);
    }
  }
  for (const auto& w : writers_)
    if (w->resumes()) w->resume(simulation.model(), info, from.frame + 1);
  each_table(simulation, [&](CsvFile& file, const std::string& name, const std::string&) {
    for (const auto& [known, size] : from.sizes)
      if (known == name) file.reset(reopen_csv(folder / name, size));
    if (!file) throw RunError(name + " was not written by the run that is to be resumed");
  });
}

void Recorder::save(Checkpoint& checkpoint, bool wait) {
  try {
    write_checkpoint(checkpoint, wait);
  } catch (const std::exception& e) {
    folder_.expect_there();  // which says more than that some file cannot be written
    throw RunError(e.what());
  }
}

void Recorder::write_checkpoint(Checkpoint& checkpoint, bool wait) {
  checkpoint.sizes.clear();
  const auto add = [&](const CsvFile& file, const char* name) {
    if (!file) return;
    flush(file.get(), name);
    checkpoint.sizes.emplace_back(name, fs::file_size(folder_.path() / name));
  };
  add(diagnostics_, "diagnostics.csv");
  add(probes_, "probes.csv");
  if (wait) {  // what the checkpoint relies on reaches the disk before it
    for (const auto& [name, size] : checkpoint.sizes) sync_file(folder_.path() / name);
    sync_file(folder_.path() / "trajectory.h5");
  }
  if (!checkpoints_) checkpoints_ = std::make_unique<CheckpointFiles>(folder_.path(), checkpoint.slot);
  checkpoints_->write(checkpoint, wait);
}

void Recorder::FileCloser::operator()(std::FILE* file) const { std::fclose(file); }

bool Recorder::wants_every_step() const {
  return wants_residual_every_step() || (probes_ && setup_.spec.output.probes == Rate::step);
}
bool Recorder::wants_residual_every_step() const { return diagnostics_ && setup_.spec.output.diagnostics == Rate::step; }

void Recorder::diagnostics_line(const Simulation& simulation, const Diagnostics& d) {
  fmt::print(diagnostics_.get(), "{:.9g},{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.9g},{:.9g},{:.9g},{:.9g},", d.time, d.step,
             d.kinetic, d.stretch_shear, d.bend_twist, d.external, d.total(), d.residual, d.residual_relative, d.max_stretch,
             d.max_bend);
  fmt::print(diagnostics_.get(), "{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{}", d.momentum.x, d.momentum.y,
             d.momentum.z, d.angular_momentum.x, d.angular_momentum.y, d.angular_momentum.z, d.iterations, d.vertices_alive,
             d.segments_alive, d.unstable_modes);
  if (simulation.is_static()) fmt::print(diagnostics_.get(), ",{:.17g}", d.load_factor);
  if (simulation.is_certified()) {
    const CertificateReport& c = simulation.certificate();
    const EnergyBudget& e = c.energy;
    fmt::print(diagnostics_.get(), ",{:.9g},{},{},{},{:.9g},{:.17g}", c.gap, c.gap_a, c.gap_b, c.contacts, c.penetration,
               c.contact_energy);
    for (const double work : {e.loads, e.driven, e.stiffening, e.broken, e.left, e.friction, e.damping, e.step})
      fmt::print(diagnostics_.get(), ",{:.17g}", work);
    fmt::print(diagnostics_.get(), ",{:.3g},{:.3g},{:.3g}", c.energy_error, c.momentum_error, c.angular_momentum_error);
  }
  fmt::print(diagnostics_.get(), "\n");
}

void Recorder::probe_line(const Simulation& simulation) {
  fmt::print(probes_.get(), "{:.9g}", simulation.state().time);
  if (simulation.is_static()) fmt::print(probes_.get(), ",{:.17g}", simulation.diagnostics().load_factor);
  probe_values(setup_, simulation, probe_values_);
  for (double v : probe_values_) fmt::print(probes_.get(), ",{:.17g}", v);
  fmt::print(probes_.get(), "\n");
}

void Recorder::frame(const Simulation& simulation, const Frame& frame, const Diagnostics& d) {
  folder_.expect_there();
  for (auto& w : writers_) w->write(frame);
  const bool first = frame.index == 0;  // the initial state is a line at either rate
  if (diagnostics_ && (first || setup_.spec.output.diagnostics == Rate::frame)) diagnostics_line(simulation, d);
  if (probes_ && (first || setup_.spec.output.probes == Rate::frame)) probe_line(simulation);
  if (diagnostics_) flush(diagnostics_.get(), "diagnostics.csv");
  if (probes_) flush(probes_.get(), "probes.csv");
  if (first) folder_.started();
  else folder_.drop_earlier();
}

void Recorder::step(const Simulation& simulation) {
  if (diagnostics_ && setup_.spec.output.diagnostics == Rate::step) diagnostics_line(simulation, simulation.diagnostics());
  if (probes_ && setup_.spec.output.probes == Rate::step) probe_line(simulation);
}

void Recorder::end(bool success, bool complete) {
  folder_.expect_there();
  for (auto& w : writers_) w->end();
  if (success) folder_.drop_earlier();
  if (complete) CheckpointFiles(folder_.path(), 0).remove();
}

}  // namespace osier

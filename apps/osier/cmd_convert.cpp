// osier convert: runs and curve files into other formats.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include "commands.hpp"
#include "core/text.hpp"
#include "field_options.hpp"
#include "frame_option.hpp"
#include "interrupt.hpp"
#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "io/curves/settings.hpp"
#include "io/edit_frames.hpp"
#include "io/groom_over.hpp"
#include "io/guides.hpp"
#include "io/usd_binary.hpp"
#include "io/yarn.hpp"
#include "osier/osier.hpp"
#include "osier/trajectory.hpp"
#include "output_check.hpp"
#include "progress.hpp"
#include "sim/recorder.hpp"

namespace osier::cli {

namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  std::string in, out, frame, frames, over;
  CurveEdits edits;
  std::optional<double> time;
  int cubic_samples = 8;
  bool per_frame = false, tubes = false, physics = false, quiet = false;
  std::optional<int> sides, plies, fibres, strands;
  std::optional<double> ply_twist, fibre_twist, reach;
  double split_mb = 500;

  bool edited() const {
    return !edits.select.empty() || edits.up || edits.scale != 1 || !edits.transform.empty() || edits.split_closed ||
           edits.segments || edits.segment_length || edits.weld || plies || strands || tubes || physics;
  }
};

/// Which frames of `count`: one, `a:b:step` (b included), or all.
std::vector<int> chosen_frames(const ConvertArguments& o, int count, Problems& problems) {
  std::vector<int> list;
  const auto place = [&](int n) { return n < 0 ? n + count : n; };
  if (count == 0) {
    problems.add(o.in, "has no frames", "run the scene again");
  } else if (!o.frame.empty()) {
    if (const auto frame = choose_frame("--frame", o.frame, count, problems)) list = {*frame};
  } else if (!o.frames.empty()) {
    std::vector<std::optional<int>> part;
    for (std::size_t at = 0; at <= o.frames.size();) {
      const std::size_t colon = std::min(o.frames.find(':', at), o.frames.size());
      const std::string word = o.frames.substr(at, colon - at);
      part.push_back(word.empty() ? std::optional<int>(part.empty() ? 0 : part.size() == 1 ? -1 : 1) : whole_number(word));
      at = colon + 1;
    }
    const bool read = part.size() >= 2 && part.size() <= 3 && part[0] && part[1] && (part.size() == 2 || part[2]);
    if (!read) {
      problems.add("--frames", fmt::format("`{}` is not a range", shorten(o.frames)), "write first:last or first:last:step");
      return list;
    }
    const int first = place(*part[0]), last = place(*part[1]), step = part.size() == 3 ? *part[2] : 1;
    if (step < 1) problems.add("--frames", fmt::format("a step of {}", step), "use 1 or more");
    else if (first < 0 || last >= count || first > last)
      problems.add("--frames", fmt::format("`{}` is not there", shorten(o.frames)), there_are_frames(count));
    else
      for (int i = first; i <= last; i += step) list.push_back(i);
  } else {
    for (int i = 0; i < count; ++i) list.push_back(i);
  }
  return list;
}

/// The mistakes that need no file to be opened.
const CurveOutput* check(const ConvertArguments& o, bool recorded, Problems& problems) {
  const fs::path out(o.out);
  const std::string extension = out.extension().string();
  const CurveOutput* format = find_curve_output(extension);
  if (extension == ".h5") {
    if (!recorded) problems.add(o.out, "a trajectory holds a run; this file holds curves", "name another format");
    if (o.edited())
      problems.add(o.out, "a trajectory is copied as it is", "leave the options for curves out, or name another format");
  } else if (!format) {
    std::vector<std::string> known;
    for (const CurveOutput* f : curve_outputs()) known.emplace_back(f->extension);
    std::string lower = extension;  // `.OBJ` is .obj
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string near = closest(lower, known);
    problems.add(
        o.out, extension.empty() ? "has no extension to tell the format" : fmt::format("nothing writes `{}`", shorten(extension)),
        near.empty() ? "use .h5, " + join(known, ", ") : fmt::format("did you mean {}?", near));
  }
  check_output_file("OUT", o.out, problems);
  if (format && is_usd_extension(extension)) try {
      require_usd_tool(out);
    } catch (const InputError& e) {
      for (const Problem& p : e.problems()) problems.add(p.where, p.what, p.remedy);
    }
  std::error_code ignored;
  if (fs::equivalent(o.in, o.out, ignored)) problems.add(o.out, "is the input", "name another file");
  const bool meshes = extension == ".gltf" || extension == ".glb", lines = extension == ".obj" || extension == ".pc2";
  if (o.tubes && !lines && !meshes)
    problems.add("--tubes", fmt::format("`{}` holds curves, which have widths", extension),
                 "leave it out, or write .obj or .glb");
  if (o.sides && !o.tubes && !meshes) problems.add("--sides", "there are no tubes", "add --tubes");
  if (o.physics && extension != ".usda" && !is_usd_extension(extension))
    problems.add("--physics", "only USD has a place for it", "write .usda");
  if (o.physics && (o.plies || o.strands))
    problems.add("--physics", "fibres and strands are not the rods of the scene", "leave it out, or write the rods");
  if (o.physics && o.edits.scale != 1) problems.add("--physics", "stiffnesses are not scaled", "leave --scale out");
  if (o.physics && !recorded) problems.add("--physics", "a curve file stores no stiffnesses", "convert a run");
  if (!o.over.empty()) {
    if (extension != ".usda") problems.add("--over", "only .usda layers over a groom", "name OUT.usda");
    if (!recorded) problems.add("--over", "a curve file has no motion", "convert a run");
    if (o.edited() || o.per_frame)
      problems.add("--over", "writes the curves of the groom as they moved", "leave the other options out");
    if (!fs::is_regular_file(o.over, ignored))
      problems.add("--over", o.over + " is not a file", "name the .usda that the scene reads");
    if (fs::equivalent(o.over, o.out, ignored)) problems.add(o.out, "is the groom itself", "name another file");
  }
  if (!recorded && !o.frames.empty()) problems.add("--frames", "a curve file is read at one time", "use --frame");
  if (!recorded && o.per_frame) problems.add("--per-frame", "a curve file is read at one time", "leave it out");
  if (recorded && o.time) problems.add("--time", "runs are counted in frames", "use --frame");
  if (!o.frame.empty() && !o.frames.empty()) problems.add("--frame", "comes together with --frames", "keep one of them");
  if (!o.frame.empty() && o.time) problems.add("--frame", "comes together with --time", "keep one of them");
  if (!o.frame.empty() && o.per_frame) problems.add("--per-frame", "there is only one frame", "leave it out");
  for (const auto& [option, there] : {std::pair{"--fibres", o.fibres.has_value()},
                                      {"--ply-twist", o.ply_twist.has_value()},
                                      {"--fibre-twist", o.fibre_twist.has_value()}})
    if (there && !o.plies) problems.add(option, "there is no yarn", "add --plies");
  if (o.reach && !o.strands) problems.add("--reach", "there are no strands", "add --strands-per-guide");
  return format;
}

/// What happens to every frame on its way.
class Pipeline {
 public:
  Pipeline(const ConvertArguments& o) : o_(o) {}

  CurveFrame operator()(CurveFrame frame, bool edit) {
    if (edit) {
      if (!edits_) edits_.emplace(frame, o_.edits);
      frame = edits_->apply(frame);
    }
    if (o_.strands) {
      if (!strands_) strands_.emplace(frame, *o_.strands, o_.reach.value_or(0));
      frame = strands_->strands(frame);
    }
    if (o_.plies) {
      if (!yarn_) {
        YarnOptions options;
        options.plies = *o_.plies, options.fibres = o_.fibres.value_or(options.fibres);
        options.ply_twist = o_.ply_twist.value_or(0), options.fibre_twist = o_.fibre_twist.value_or(0);
        yarn_.emplace(frame, options);
      }
      frame = yarn_->fibres(frame);
    }
    return frame;
  }

 private:
  const ConvertArguments& o_;
  std::optional<FrameEdits> edits_;
  std::optional<GuideStrands> strands_;
  std::optional<Yarn> yarn_;
};

CurveWriteOptions write_options(const ConvertArguments& o, CurveWriteOptions base) {
  base.sides = o.sides.value_or(base.sides);
  base.tubes = o.tubes, base.per_frame = o.per_frame;
  base.live = false;  // a conversion that does not come to its end leaves nothing
  base.split_bytes = static_cast<std::uint64_t>(1e6 * o.split_mb);
  base.chunk_bytes = std::min(base.chunk_bytes, base.split_bytes / 8);
  if (o.edits.up) base.up = 'y';
  base.version = version();
  return base;
}

void warn_of_losses(const ConvertArguments& o, const CurveOutput& format, const CurveFrame& frame) {
  if (o.quiet) return;
  for (const std::string& lost : what_is_lost(format, frame))
    if (!o.tubes || lost != "widths")  // tubes show them
      fmt::print(stderr, "warning: {} does not hold {}\n", fs::path(o.out).filename().string(), lost);
}

void stop_if_interrupted() {
  if (interrupted.load(std::memory_order_relaxed)) throw RunError("interrupted; nothing was kept");
}

/// Calls write(frame number) for all, with progress.
template <class Write>
void each_frame(const ConvertArguments& o, const std::vector<int>& frames, Write write) {
  Progress progress(fs::path(o.out).filename().string(), o.quiet || frames.size() < 2);
  using Clock = std::chrono::steady_clock;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Clock::time_point start = Clock::now();
    stop_if_interrupted();
    write(frames[i]);
    progress.update(static_cast<int>(i) + 1, static_cast<int>(frames.size()),
                    std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  progress.finish();
}

/// `a.usda`, `a_00000.bcc … a_00010.bcc (11 files)`: those that are there, numbered ones by the first and the last.
std::string names_of(const std::vector<fs::path>& files) {
  struct Row {
    std::string like;  ///< the name without its number
    std::vector<fs::path> files;
  };
  std::vector<Row> rows;
  std::error_code ignored;  // what cannot be looked at was not written
  for (const fs::path& file : files) {
    if (!fs::exists(file, ignored)) continue;
    std::string stem = file.stem().string();
    stem.resize(stem.find_last_not_of("0123456789") + 1);  // npos + 1 is 0
    const std::string like = (file.parent_path() / stem).string() + file.extension().string();
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.like == like; });
    if (row == rows.end()) row = rows.insert(row, {like, {}});
    if (std::find(row->files.begin(), row->files.end(), file) == row->files.end()) row->files.push_back(file);
  }
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.files.size() > 2)
      names.push_back(fmt::format("{} … {} ({} files)", row.files.front().string(), row.files.back().string(), row.files.size()));
    else
      for (const fs::path& file : row.files) names.push_back(file.string() + (fs::is_directory(file, ignored) ? "/" : ""));
  }
  return join(names, ", ");
}

/// Segment by segment, with all that is known of them: no curves are made. Returns what it wrote.
std::vector<fs::path> copy_run(const ConvertArguments& o, Trajectory& run, const std::vector<int>& frames) {
  const fs::path out(o.out);
  const std::string extension = out.extension().string();
  const FormatEntry* format = find_format(extension == ".h5" ? "hdf5" : extension == ".obj" ? "obj" : "vtp");
  const bool single = frames.size() == 1 && extension != ".pvd" && !o.per_frame;
  // A trajectory takes its name when it is whole.
  const fs::path part = extension == ".h5" ? temporary_for(out, ".part.h5") : fs::path();
  const WriteTarget target = extension == ".h5" ? WriteTarget::at(part) : WriteTarget::at(out, single);
  const auto writer = format->make(target);
  try {
    RunInfo info = run.info();
    info.version = version();
    writer->begin(run.model(), info);
    each_frame(o, frames, [&](int f) { writer->write(run.read(f)); });
    writer->end();
    if (extension == ".h5") put_in_place(part, out);
    if (extension == ".h5" || single) return {extension == ".h5" ? out : target.frame(frames.front(), format->extension)};
    std::vector<fs::path> files;
    for (const int f : frames) files.push_back(target.frame(f, format->extension));
    files.push_back(target.file(".pvd"));
    return files;
  } catch (...) {
    std::error_code ignored;
    if (extension == ".h5") fs::remove(part, ignored);
    else if (!single) target.prepare_frames(format->extension), fs::remove(target.file(".pvd"), ignored);
    throw;
  }
}

/// A trajectory does not hold stiffnesses: its scene is compiled again. Files that the scene names are looked for beside the run,
/// then in the current folder.
CurveMaterials materials_of(const Trajectory& run) {
  std::string why;
  for (const fs::path& folder : {run.path().parent_path(), fs::path(".")}) try {
      const Scene scene = Scene::parse(run.scene_json(), run.name(), folder);
      const RunInfo info = run_info(scene.setup());
      if (scene.model().segment_vertices != run.model().segment_vertices)
        throw InputError({{"--physics", "the files that the scene names have changed since the run", "run it again"}});
      return rod_materials(scene.model(), info.materials, info.segment_material);
    } catch (const InputError& e) {
      if (why.empty()) why = e.what();
    }
  throw InputError({{"--physics", fmt::format("the scene of the run cannot be compiled again: {}", why),
                     "call osier from the folder of the scene"}});
}

/// Returns what it wrote.
std::vector<fs::path> convert_frames(const ConvertArguments& o, const CurveOutput* format, Trajectory& run,
                                     const std::vector<int>& frames) {
  const std::string extension = fs::path(o.out).extension().string();
  const bool as_segments = !o.edited() && (extension == ".h5" || extension == ".vtp" || extension == ".pvd" ||
                                           (extension == ".obj" && (o.per_frame || frames.size() == 1)));
  if (as_segments) return copy_run(o, run, frames);
  CurveWriteOptions options = write_options(o, options_of({.scene_name = run.name(),
                                                           .scene_json = run.scene_json(),
                                                           .version = {},
                                                           .contacts = run.info().contacts,
                                                           .obstacles = run.info().obstacles}));
  if (o.edited()) options.obstacles.clear(), options.contacts = false;  // edits move curves alone
  if (o.physics) options.materials = materials_of(run);
  // Segments that are gone at the end may break on the way; formats that cannot change their curves need to know.
  Model model = run.model();
  const Frame last = run.read(frames.back());
  bool breaks = false;
  for (std::size_t s = 0; s < last.segment_alive.size(); ++s)
    if (!last.segment_alive[s]) model.segment_strain_limit[s] = 0, breaks = true;
  if (breaks && o.strands) throw InputError({{"--strands-per-guide", "guides break in this run", "choose frames before that"}});
  const RodCurves rods(model);
  if (!o.plies && !o.strands) options.colors = rod_colors(rods, run.info());  // those number their curves anew
  const bool single = frames.size() == 1 && !o.per_frame && extension != ".pvd" && extension != ".pc2";
  const bool constant = (format->time == CurveOutput::Time::constant_topology && !single && !o.per_frame) || o.edited();
  Pipeline pipeline(o);
  const auto frame_of = [&](int f) {
    const Frame frame = run.read(f);
    return pipeline(constant ? rods.constant(frame) : rods.split(frame), o.edited());
  };
  // What cannot be converted is refused before a file is touched.
  warn_of_losses(o, *format, frame_of(frames.front()));
  const auto writer = format->make(WriteTarget::at(o.out, single), options);
  try {
    each_frame(o, frames, [&](int f) {
      const CurveFrame frame = frame_of(f);
      check_range(*format, frame);
      writer->write(frame);
    });
    writer->end();
  } catch (...) {
    writer->discard();
    throw;
  }
  return writer->written();
}

void convert_over(const ConvertArguments& o, Trajectory& run, const std::vector<int>& frames) {
  Progress progress(fs::path(o.out).filename().string(), o.quiet);
  const auto start = std::chrono::steady_clock::now();
  const auto tell = [&](int done, int all) {
    stop_if_interrupted();
    progress.update(done, all,
                    std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / done);
  };
  const GroomOverReport report =
      write_groom_over(run, {.groom = o.over, .out = o.out, .frames = frames, .version = version(), .progress = tell});
  progress.finish();
  if (o.quiet) return;
  for (const std::string& prim : report.resampled)
    fmt::print(stderr, "warning: curves of {} have other points than in {}: what it says point by point no longer fits\n", prim,
               o.over);
  std::string more;
  if (report.still > 0) more += fmt::format(", {} curves beside them as they were", report.still);
  if (report.largest_error > 0) more += fmt::format("; cubic curves follow their rods within {:.2g} m", report.largest_error);
  fmt::print("{} frame{} of {} curves in {} prim{}{} -> {}\n", frames.size(), frames.size() == 1 ? "" : "s", report.curves,
             report.prims, report.prims == 1 ? "" : "s", more, o.out);
}

void convert_run(const ConvertArguments& o, const CurveOutput* format) {
  Trajectory run = Trajectory::open(o.in);
  Problems problems;
  const std::vector<int> frames = chosen_frames(o, run.frame_count(), problems);
  problems.throw_if_any();
  if (!o.over.empty()) return convert_over(o, run, frames);
  const std::vector<fs::path> files = convert_frames(o, format, run, frames);
  if (!o.quiet) fmt::print("{} frame{} -> {}\n", frames.size(), frames.size() == 1 ? "" : "s", names_of(files));
}

void convert_curves(const ConvertArguments& o, const CurveOutput& format) {
  CurveReadOptions read;
  read.time = o.time, read.cubic_samples = o.cubic_samples;
  if (!o.frame.empty()) {
    Problems problems;
    read.frame = frame_number("--frame", o.frame, problems);
    problems.throw_if_any();
  }
  CurveFrame frame;
  frame.curves = edit_curves(read_curves(o.in, read), o.edits);
  Pipeline pipeline(o);
  frame = pipeline(std::move(frame), false);
  if (frame.curves.size() == 0) throw InputError({{o.in, "has no curves", "check its extension, and that curves were exported"}});
  check_range(format, frame);
  warn_of_losses(o, format, frame);
  CurveWriteOptions options;
  options.title = fs::path(o.in).stem().string();
  const std::string extension = fs::path(o.out).extension().string();
  const auto writer = format.make(WriteTarget::at(o.out, extension != ".pvd" && extension != ".pc2"), write_options(o, options));
  try {
    stop_if_interrupted();
    writer->write(frame);
    writer->end();
  } catch (...) {
    writer->discard();
    throw;
  }
  if (!o.quiet)
    fmt::print("{} curves, {} points -> {}\n", frame.curves.size(), frame.curves.points.size(), names_of(writer->written()));
}

/// Edits are JSON settings elsewhere and options here: `/segment_length` is --segment-length.
std::vector<Problem> named_as_options(std::vector<Problem> problems) {
  for (Problem& p : problems) {
    const bool setting = p.where.starts_with("/") && p.where.find_first_of("/.", 1) == std::string::npos;
    if (!setting) continue;
    p.where = "--" + p.where.substr(1);
    std::replace(p.where.begin(), p.where.end(), '_', '-');
  }
  return problems;
}

int convert(const ConvertArguments& o) {
  Problems problems;
  const bool recorded = Trajectory::is_meant(o.in);
  const CurveOutput* format = check(o, recorded, problems);
  problems.throw_if_any();
  catch_interrupts();
  try {
    if (recorded) convert_run(o, format);
    else convert_curves(o, *format);
  } catch (const InputError& e) {
    throw InputError(named_as_options(e.problems()));
  }
  return kDone;
}

}  // namespace

Command add_convert(CLI::App& app) {
  auto o = std::make_shared<ConvertArguments>();
  CLI::App* sub = app.add_subcommand("convert", "Convert runs and curve files to other formats");
  sub->add_option("IN", o->in, "Folder of a run, trajectory.h5, or a curve file")->required();
  sub->add_option("OUT", o->out, "File to write; the extension is the format (docs/formats.md)")->required();
  sub->add_option("--frame", o->frame, std::string("One frame: ") + kFrameHelp);
  sub->add_option("--frames", o->frames, "Several frames of a run: first:last or first:last:step, the last one included");
  sub->add_flag("--per-frame", o->per_frame, "A numbered file for each frame, also where one file could hold all");
  sub->add_option("--time", o->time, "The moment of an animated curve file, in the file's own unit");
  sub->add_option("--cubic-samples", o->cubic_samples, "Straight pieces for each span of a cubic curve")
      ->check(CLI::Range(1, 1000));
  FieldOptions fields(*sub, "Curves");
  o->edits.fields(fields);
  const char* meshes = "Tubes, yarn and hair";
  sub->add_flag("--tubes", o->tubes, "OBJ: surfaces instead of lines, with texture coordinates that follow the twist")
      ->group(meshes);
  sub->add_option("--sides", o->sides, "Faces around a tube (default 8)")->check(CLI::Range(3, 256))->group(meshes);
  sub->add_option("--plies", o->plies, "Yarn: this many plies twisted around each curve, made of fibres")
      ->check(CLI::Range(1, 64))
      ->group(meshes);
  sub->add_option("--fibres", o->fibres, "Fibres in each ply (default 12)")->check(CLI::Range(1, 10000))->group(meshes);
  sub->add_option("--ply-twist", o->ply_twist, "Turns per metre of the plies (default: one in eight widths of the yarn)")
      ->group(meshes);
  sub->add_option("--fibre-twist", o->fibre_twist, "Turns per metre of the fibres (default: as the plies, the other way)")
      ->group(meshes);
  sub->add_option("--strands-per-guide", o->strands,
                  "Hair: this many strands around each curve, blended from it and its neighbours")
      ->check(CLI::Range(1, 100000))
      ->group(meshes);
  sub->add_option("--reach", o->reach, "Hair: neighbours farther away than this take no part [m]")
      ->check(CLI::PositiveNumber)
      ->group(meshes);
  sub->add_option("--over", o->over,
                  "USD: a layer over this groom, from which the scene took its curves: they move on their own prims, in its unit "
                  "and with its up axis");
  sub->add_flag("--physics", o->physics, "USD: stiffnesses of the scene as attributes for deformable curves");
  sub->add_option("--split", o->split_mb, "USD: from this size on, value clips instead of one file [MB]")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  sub->add_flag("--quiet", o->quiet, "Only errors");
  return {sub, [o] { return convert(*o); }};
}

}  // namespace osier::cli

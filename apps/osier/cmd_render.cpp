// osier render: pictures and films of a run, without display or graphics card.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "commands.hpp"
#include "core/program.hpp"
#include "core/text.hpp"
#include "frame_option.hpp"
#include "interrupt.hpp"
#include "io/atomic_file.hpp"
#include "osier/osier.hpp"
#include "osier/trajectory.hpp"
#include "output_check.hpp"
#include "progress.hpp"
#include "recording.hpp"
#include "render/film.hpp"
#include "render/stage.hpp"
#include "render/tracer.hpp"
#include "scene_option.hpp"

namespace osier::cli {

namespace {

namespace fs = std::filesystem;
using namespace osier::render;

struct RenderArguments {
  SceneOption scene;  ///< its file may also be a trajectory
  std::string output, frame, mp4, png_folder, size = "1280x720", camera, style = "tubes", color = "auto", legend = "auto",
                                              background = "light", palette, ground;
  std::optional<double> fps;
  double orbit = 0, thickness = 1, range = 0, force_scale = 0;
  bool contacts = false;
  int samples = 16, plies = 3;
  bool quiet = false;

  bool is_film() const { return !mp4.empty() || !png_folder.empty(); }
};

/// Stopped by Ctrl-C; nothing was written that is not whole.
struct Interrupted {};

// ---------------------------------------------------------------------------------------------------------------- options

void read_size(const std::string& text, StageOptions& stage, Problems& problems) {
  const char *at = text.data(), *end = at + text.size();
  const auto [x, bad] = std::from_chars(at, end, stage.width);
  const auto [done, bad_too] =
      x < end && *x == 'x' ? std::from_chars(x + 1, end, stage.height) : std::from_chars_result{x, std::errc::invalid_argument};
  const bool good = bad == std::errc{} && bad_too == std::errc{} && done == end;
  if (!good || std::min(stage.width, stage.height) < 16 || std::max(stage.width, stage.height) > 16384)
    problems.add("--size", fmt::format("`{}`", text), "write width and height in pixels, 16 to 16384 each: 1280x720");
}

template <class Enum>
Enum read_choice(const char* option, const std::string& text, Problems& problems) {
  const auto& names = Choices<Enum>::names;
  const std::vector<std::string> words(names.begin(), names.end());
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == text) return static_cast<Enum>(i);
  const std::string near = closest(text, words);
  problems.add(option, fmt::format("there is no `{}`", text),
               near.empty() ? "use " + join(words, ", ") : fmt::format("did you mean `{}`?", near));
  return {};
}

Rgb read_color(const char* option, const std::string& text, Problems& problems) {
  if (const auto color = parse_hex(text)) return *color;
  problems.add(option, fmt::format("`{}` is not a colour", text), "write it as #rrggbb");
  return {};
}

Rgb read_background(const std::string& text, Problems& problems) {
  if (text == "light") return *parse_hex("#efece6");
  if (text == "white") return *parse_hex("#ffffff");
  if (text == "dark") return *parse_hex("#23272d");
  if (const auto color = parse_hex(text)) return *color;
  problems.add("--background", fmt::format("`{}` is not a colour", text), "use light, white, dark or #rrggbb");
  return {};
}

void read_ground(const std::string& text, StageOptions& stage, Problems& problems) {
  if (text.empty()) return;
  stage.floor = text != "none";
  if (!stage.floor) return;
  double height = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), height);
  if (bad != std::errc{} || end != text.data() + text.size() || !std::isfinite(height))
    problems.add("--ground", fmt::format("`{}`", text), "give its height in metres, or none");
  stage.floor_height = height;
}

/// A number that must lie in a range; CLI11 has read it already.
void check_range(const char* option, double value, double low, double high, Problems& problems) {
  if (!(value >= low && value <= high)) problems.add(option, fmt::format("{}", value), fmt::format("use {} to {}", low, high));
}

StageOptions read_options(const RenderArguments& o, Problems& problems) {
  StageOptions stage;
  read_size(o.size, stage, problems);
  stage.view = parse_view(o.camera, "--camera", problems);
  stage.geometry.style = read_choice<Style>("--style", o.style, problems);
  stage.color = read_choice<ColorBy>("--color", o.color, problems);
  stage.legend = read_choice<LegendUse>("--legend", o.legend, problems);
  stage.background = read_background(o.background, problems);
  read_ground(o.ground, stage, problems);
  std::istringstream colors(o.palette);
  for (std::string text; std::getline(colors, text, ',');) stage.palette.push_back(read_color("--palette", text, problems));
  check_range("--samples", o.samples, 1, 4096, problems);
  check_range("--thickness", o.thickness, 0.01, 1000, problems);
  check_range("--plies", o.plies, 1, 12, problems);
  check_range("--orbit", o.orbit, -3600, 3600, problems);
  check_range("--range", o.range, 0, 1e12, problems);
  check_range("--force-scale", o.force_scale, 0, 1e12, problems);
  if (o.fps) check_range("--fps", *o.fps, 0.1, 1000, problems);
  if (o.scene.threads) check_range("--threads", *o.scene.threads, 1, 1024, problems);
  stage.samples = o.samples, stage.geometry.thickness = o.thickness, stage.geometry.plies = o.plies;
  stage.orbit = o.orbit, stage.range = o.range;
  stage.contacts = o.contacts, stage.force_scale = o.force_scale;
  if (o.force_scale != 0 && !o.contacts) problems.add("--force-scale", "no forces are drawn", "add --contacts");
  // A value that is accepted is one that is used.
  if (stage.legend == LegendUse::on && (stage.color == ColorBy::rod || stage.color == ColorBy::automatic))
    problems.add("--legend", "colours by rod have no meaning beyond telling the rods apart", "choose another --color");
  else if (stage.legend == LegendUse::on && !legend_fits(stage.width, stage.height))
    problems.add("--legend", fmt::format("a picture of {}x{} has no room for it", stage.width, stage.height),
                 fmt::format("use --size {}x{} or more", kLegendLeastWidth, kLegendLeastHeight));
  if (o.plies != 3 && o.style != "yarn") problems.add("--plies", "only a yarn has plies", "add --style yarn");
  if (o.range != 0 && !is_measured(stage.color)) problems.add("--range", "these colours have no scale", "choose another --color");
  if (!o.palette.empty() && is_measured(stage.color))
    problems.add("--palette", "these colours show a number", "use it with --color rod or material");
  return stage;
}

void check_outputs(const RenderArguments& o, const StageOptions& stage, Problems& problems) {
  if (o.is_film()) {
    const char* film = o.mp4.empty() ? "--png" : "--mp4";
    if (!o.frame.empty()) problems.add("--frame", fmt::format("a film ({}) has all frames", film), "leave out one of them");
    if (!o.output.empty()) problems.add("-o", fmt::format("{} already names what to write", film), "leave out one of them");
  } else {
    if (o.orbit != 0) problems.add("--orbit", "a single picture does not turn", "add --mp4 or --png");
  }
  if (o.fps && o.mp4.empty()) problems.add("--fps", "is the speed of a film", "add --mp4");
  if (!o.mp4.empty() && !o.png_folder.empty())
    problems.add("--png", "--mp4 is asked for as well", "make them one after the other");
  check_output_file("-o", o.output, problems);
  if (!o.output.empty() && !can_encode(o.output)) problems.add("-o", o.output + " is neither .png nor .jpg", "end its name so");
  check_output_file("--mp4", o.mp4, problems);
  check_future_folder("--png", o.png_folder, problems);
  if (o.mp4.empty()) return;
  if (fs::path(o.mp4).extension() != ".mp4") problems.add("--mp4", o.mp4 + " does not end in .mp4", "end its name so");
  if (stage.width % 2 != 0 || stage.height % 2 != 0) problems.add("--size", "a film needs even numbers", "add a pixel");
  if (find_program("ffmpeg").empty())
    problems.add("--mp4", "films need ffmpeg, which is not on PATH", "install it (apt-get install ffmpeg), or use --png FOLDER");
}

// ----------------------------------------------------------------------------------------------------------------- source

/// Runs a scene as far as it is needed. A trajectory is the one form that is drawn, so that a scene and its recording give the
/// same picture.
void simulate(const Scene& scene, const RenderArguments& o, std::optional<int> last_frame, const fs::path& folder) {
  if (!o.quiet) print_warnings(scene);
  Progress progress("simulating " + scene.name(), o.quiet);
  RunOptions run;
  run.folder = folder;
  run.frames = last_frame.value_or(-1);
  run.interrupt = &interrupted;
  run.progress = [&](int frame, int frames, double ms) { progress.update(frame, frames, ms); };
  const RunStats stats = run_scene(scene, run);
  progress.finish();
  if (!stats.error.empty()) throw RunError(stats.error);
  if (stats.interrupted) throw Interrupted{};
}

/// What cannot be changed any more in a recording.
void refuse_changes(const SceneOption& o, Problems& problems) {
  const auto refuse = [&](const char* option, bool given) {
    if (given) problems.add(option, "a recorded run cannot be changed", "name the scene instead");
  };
  refuse("--solver", !o.solver.empty()), refuse("--set", !o.sets.empty()), refuse("--precision", !o.precision.empty());
  refuse("--simd", !o.simd.empty());
}

/// Opens the recording, or loads and checks the scene, with everything that is wrong collected.
struct Source {
  std::optional<Trajectory> trajectory;
  std::optional<Scene> scene;
  std::optional<int> frame;  ///< of the picture; else the last

  Source(const RenderArguments& o, Problems& problems) {
    try {
      if (is_recording(o.scene.file)) {
        refuse_changes(o.scene, problems);
        trajectory.emplace(open_recording(o.scene.file));
        choose(o, trajectory->frame_count(), problems);
      } else {
        SceneOption source = o.scene;
        if (o.contacts) source.sets.emplace_back("/output/contacts=true");
        scene.emplace(source.load());
        // Before it runs: a frame that is not there must not cost minutes.
        if (!o.frame.empty()) choose(o, Simulation(*scene).frame_count() + 1, problems);
      }
    } catch (const InputError& e) {
      for (const Problem& p : e.problems()) problems.add(p.where, p.what, p.remedy);
    }
  }
  void choose(const RenderArguments& o, int count, Problems& problems) {
    if (!o.frame.empty()) frame = choose_frame("--frame", o.frame, count, problems);
  }
};

/// Early recordings tell neither materials nor the rest shape.
void check_recording(const Trajectory& run, ColorBy color) {
  const bool known = color == ColorBy::material ? !run.info().materials.empty() : !needs_rest_shape(color) || run.has_rest();
  if (known) return;
  throw InputError({{"--color",
                     fmt::format("{} does not hold {}", run.path().string(),
                                 color == ColorBy::material ? "the materials of its rods" : "their rest shape"),
                     "run the scene again: this file was written by an earlier version"}});
}

void expect_contacts(const Trajectory& run) {
  if (run.info().contacts) return;
  throw InputError({{"--contacts", run.path().string() + " does not hold contacts",
                     "run the scene again with --set /output/contacts=true"}});
}

// ---------------------------------------------------------------------------------------------------------------- drawing

bool stop() { return interrupted.load(std::memory_order_relaxed); }

Image draw(const Stage& stage, const Frame& frame, const Executor& executor, PictureOptions options) {
  options.stop = stop;
  Image image = stage.draw(frame, executor, options);
  if (stop()) throw Interrupted{};
  return image;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void tell(const RenderArguments& o, const StageOptions& stage_options, const Stage& stage, const std::string& what,
          double seconds) {
  if (o.quiet) return;
  std::string text = fmt::format("{} in {:.1f} s; grid {:.4g} m", what, seconds, stage.grid());
  if (is_measured(stage_options.color))
    text += fmt::format("; {} up to {:.4g} {}", name_of(stage_options.color), stage.range(), unit_of(stage_options.color));
  if (stage_options.contacts && stage.force_scale() > 0) text += fmt::format("; arrows {:.4g} m per newton", stage.force_scale());
  while (text.ends_with(' ')) text.pop_back();
  fmt::print("{} -> {}\n", text, o.mp4.empty() ? o.png_folder.empty() ? o.output : o.png_folder : o.mp4);
}

void make_picture(Trajectory& run, std::optional<int> chosen, RenderArguments o, const StageOptions& options,
                  const Executor& executor) {
  const auto start = std::chrono::steady_clock::now();
  if (o.output.empty()) o.output = run.name() + ".png";
  const int number = chosen.value_or(run.frame_count() - 1);
  const Frame frame = run.read(number);
  const Stage stage(run.model(), run.info(), options, [&](const auto& look) { look(frame); });
  Progress progress(run.name(), o.quiet, "tile");
  PictureOptions picture;
  const auto begin = std::chrono::steady_clock::now();
  int all = 1;
  picture.progress = [&](int done, int tiles) {
    all = tiles;
    if (done < tiles) progress.update(done, tiles, 1000 * seconds_since(begin) / done);
  };
  const Image image = draw(stage, frame, executor, picture);
  progress.update(all, all, 1000 * seconds_since(begin) / all);  // the last tile may be another thread's
  progress.finish();
  write_file_atomically(o.output, encode(image, o.output));
  tell(o, options, stage, fmt::format("frame {} at {:.4g} s", number, frame.time), seconds_since(start));
}

/// The film plays as fast as things happened, unless told otherwise.
double film_speed(const Trajectory& run, const RenderArguments& o) {
  if (o.fps) return *o.fps;
  const int frames = run.frame_count();
  const double duration = frames > 1 ? run.time(frames - 1) - run.time(0) : 0;
  return duration > 0 ? std::clamp((frames - 1) / duration, 1.0, 1000.0) : 30;
}

void make_film(Trajectory& run, const RenderArguments& o, const StageOptions& options, const Executor& executor) {
  const auto start = std::chrono::steady_clock::now();
  const int frames = run.frame_count();
  const Stage stage(run.model(), run.info(), options, [&](const auto& look) {
    for (int i = 0; i < frames && !stop(); ++i) look(run.read(i));
  });
  std::optional<Film> film;
  if (!o.mp4.empty()) film.emplace(o.mp4, options.width, options.height, film_speed(run, o));
  else prepare_frame_folder(o.png_folder, ".png");
  Progress progress("drawing " + run.name(), o.quiet);
  for (int i = 0; i < frames; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Image image = draw(stage, run.read(i), executor, {});
    const fs::path name = frame_file_name(i, ".png");
    if (film) film->add(image);
    else write_file_atomically(fs::path(o.png_folder) / name, encode(image, name));
    progress.update(i + 1, frames, 1000 * seconds_since(begin));
  }
  if (film) film->finish();
  progress.finish();
  tell(o, options, stage, fmt::format("{} frames", frames), seconds_since(start));
}

int render(const RenderArguments& o) {
  if (!can_trace()) throw RunError(kCannotTrace);
  Problems problems;
  const StageOptions stage = read_options(o, problems);
  check_outputs(o, stage, problems);
  Source source(o, problems);
  problems.throw_if_any();
  catch_interrupts();
  std::optional<TemporaryFolder> folder;
  try {
    if (source.scene) {
      folder.emplace();
      simulate(*source.scene, o, source.frame, folder->path());
      source.trajectory.emplace(Trajectory::open(folder->path()));
      source.choose(o, source.trajectory->frame_count(), problems);  // it may have ended early
      problems.throw_if_any();
    }
    Trajectory& run = *source.trajectory;
    check_recording(run, stage.color);
    if (stage.contacts) expect_contacts(run);
    const Executor executor(o.scene.threads.value_or(all_cores()));
    if (o.is_film()) make_film(run, o, stage, executor);
    else make_picture(run, source.frame, o, stage, executor);
  } catch (const Interrupted&) {
    fmt::print(stderr, "\ninterrupted; nothing half-finished was kept\n");
    return kRunFailed;
  }
  return kDone;
}

}  // namespace

Command add_render(CLI::App& app) {
  auto o = std::make_shared<RenderArguments>();
  CLI::App* sub = app.add_subcommand("render", "Draw a picture or a film of a run, a curve file or a scene");
  sub->add_option("TRAJECTORY|CURVES|SCENE", o->scene.file,
                  "Folder of a run, its trajectory.h5, a curve file, or a scene to simulate first")
      ->required();
  sub->add_option("--frame", o->frame, std::string("Frame of the picture: ") + kFrameHelp + " (default: the last)");
  sub->add_option("-o,--output", o->output, "Picture to write, .png or .jpg (default: <name>.png)");
  sub->add_option("--mp4", o->mp4, "Write a film of all frames, with ffmpeg");
  sub->add_option("--png", o->png_folder, "Write every frame as a PNG into this folder");
  sub->add_option("--size", o->size, "Width and height in pixels")->capture_default_str();
  sub->add_option(
      "--camera", o->camera,
      "Words and values: \"from x,y,z at x,y,z\", or \"azimuth d elevation d\" with the distance that shows everything; "
      "\"fov d\" and \"zoom f\" with both (default: the scene's broad side)");
  sub->add_option("--orbit", o->orbit, "Degrees per second that the camera of a film goes around");
  sub->add_option("--style", o->style, "tubes, yarn (plies that twist with the rod) or hair")->capture_default_str();
  sub->add_option("--samples", o->samples, "Rays per pixel: 4 for a look, 64 for print")->capture_default_str();
  sub->add_option("--color", o->color,
                  "By rod, material, stretch, curvature, twist, speed, or curvature_change or twist_change against the rest "
                  "shape; auto: by "
                  "material where the scene gives colours, else by rod")
      ->capture_default_str();
  sub->add_option("--range", o->range, "Value at the end of the colour scale (default: the largest there is)");
  sub->add_option("--legend", o->legend,
                  "What the colours mean, in the corner: on, off, or auto: where they mean something and there is room")
      ->capture_default_str();
  sub->add_flag("--contacts", o->contacts,
                "Mark what touches: a yellow ball at each contact, red arrows for normal forces, green ones for friction");
  sub->add_option("--force-scale", o->force_scale,
                  "Length of these arrows in metres per newton (default: the longest is well seen)");
  sub->add_option("--palette", o->palette, "Colours for rods or materials: '#2f6f9f,#d2642c'");
  sub->add_option("--background", o->background, "light, white, dark or #rrggbb")->capture_default_str();
  sub->add_option(
      "--ground", o->ground,
      "Height of the ground in metres, or none (default: what the scene says, a level plane, or under the lowest point)");
  sub->add_option("--thickness", o->thickness, "Factor on the radii")->capture_default_str();
  sub->add_option("--plies", o->plies, "Plies of a yarn")->capture_default_str();
  sub->add_option("--fps", o->fps, "Frames per second of a film (default: as fast as it happened)");
  sub->add_flag("--quiet", o->quiet, "Only errors");
  o->scene.add_changes_to(*sub);
  return {sub, [o] { return render(*o); }};
}

}  // namespace osier::cli

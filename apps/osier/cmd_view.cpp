// osier view: a scene that runs, or recorded runs, in the browser.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <spawn.h>
#include <unistd.h>

#include "commands.hpp"
#include "osier/osier.hpp"
#include "osier/trajectory.hpp"
#include "output_check.hpp"
#include "recording.hpp"
#include "scene_option.hpp"
#include "view/live_session.hpp"
#include "view/page.hpp"
#include "view/playback_session.hpp"
#include "view/recording.hpp"
#include "view/server.hpp"

extern char** environ;

namespace osier::cli {

namespace {

struct ViewArguments {
  SceneOption scene;
  std::string second, html;
  int port = 0;
  bool no_browser = false, paused = false;
};

/// Without a shell in between, and without its chatter. Whether it worked is for the user to see.
void open_browser(const std::string& url) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  std::string program = "xdg-open", address = url;
  char* arguments[] = {program.data(), address.data(), nullptr};
  std::signal(SIGCHLD, SIG_IGN);  // nobody waits for it
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&quiet);
}

std::vector<Trajectory> open_slots(const ViewArguments& o) {
  if (o.scene.changes_something())
    throw InputError({{o.scene.file, "is a recorded run, which --solver, --set and the like cannot change", "leave them out"}});
  std::vector<Trajectory> slots;
  slots.push_back(open_recording(o.scene.file));
  if (!o.second.empty()) slots.push_back(open_recording(o.second));
  for (const Trajectory& t : slots)
    if (t.frame_count() == 0) throw InputError({{t.path().string(), "has no frames", "run the scene again"}});
  return slots;
}

int write_page(const ViewArguments& o) {
  if (!is_recording(o.scene.file))
    throw InputError({{"--html", "is for recorded runs", "run the scene: osier run SCENE --html FILE"}});
  if (view::viewer_page().empty())
    throw InputError({{"--html", "this osier was built without the viewer's page", view::viewer_page_remedy()}});
  Problems problems;
  check_output_file("--html", o.html, problems);
  problems.throw_if_any();
  std::vector<Trajectory> slots = open_slots(o);
  view::write_html(slots, o.html, view::viewer_page());
  fmt::print("to look at in a browser: {}\n", o.html);
  return kDone;
}

std::unique_ptr<view::Session> open_session(const ViewArguments& o) {
  const std::filesystem::path file = o.scene.file;
  if (!is_recording(file)) {
    if (!o.second.empty())
      throw InputError(
          {{o.second, "a running scene cannot be compared with a second one", "compare two recorded runs: osier view TRAJECTORY TRAJECTORY"}});
    const Scene scene = o.scene.load();
    print_warnings(scene);
    return std::make_unique<view::LiveSession>(scene, file.has_parent_path() ? file.parent_path() : ".", !o.paused,
                                               o.scene.load_options().default_threads);
  }
  return std::make_unique<view::PlaybackSession>(open_slots(o));
}

int view_in_browser(const ViewArguments& o) {
  const std::unique_ptr<view::Session> session = open_session(o);
  view::Server server(*session, o.port);
  if (view::viewer_page().empty())
    fmt::print(stderr, "warning: this osier was built without the viewer's page; {}\n", view::viewer_page_remedy());
  fmt::print("{}\nCtrl-C ends it\n", server.url());
  std::fflush(stdout);
  if (!o.no_browser) open_browser(server.url());
  server.run();
  return kDone;
}

}  // namespace

Command add_view(CLI::App& app) {
  auto o = std::make_shared<ViewArguments>();
  CLI::App* sub = app.add_subcommand("view", "Look at a running scene or at recorded runs in the browser");
  sub->add_option("SCENE_OR_TRAJECTORY", o->scene.file, "Scene file (JSON), folder of a run, its trajectory.h5, or a curve file")
      ->required();
  sub->add_option("TRAJECTORY", o->second, "A second recorded run or curve file, shown beside the first");
  sub->add_option("--port", o->port, "Port on 127.0.0.1 (default: a free one)")->check(CLI::Range(0, 65535));
  sub->add_flag("--no-browser", o->no_browser, "Print the address and do not open it");
  sub->add_option("--html", o->html, "Write the recorded runs as one page, complete in itself, to this file and end");
  sub->add_flag("--paused", o->paused, "A scene waits for play");
  o->scene.add_changes_to(*sub);
  return {sub, [o] { return o->html.empty() ? view_in_browser(*o) : write_page(*o); }};
}

}  // namespace osier::cli

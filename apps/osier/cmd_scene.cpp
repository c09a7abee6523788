// osier check, info, schema, reference, version: what can be said without running.
#include <fmt/format.h>

#include "commands.hpp"
#include "osier/osier.hpp"
#include "scene_option.hpp"

namespace osier::cli {

Command add_check(CLI::App& app) {
  auto scene = std::make_shared<SceneOption>();
  CLI::App* sub = app.add_subcommand("check", "Check a scene and report every problem");
  scene->add_to(*sub);
  return {sub, [scene] {
            const Scene s = scene->load();
            for (const std::string& w : s.warnings()) fmt::print(stderr, "warning: {}\n", w);
            fmt::print("{}: good ({} vertices, {} segments)\n", scene->file, s.model().vertex_count(), s.model().segment_count());
            return kDone;
          }};
}

Command add_info(CLI::App& app) {
  struct Options {
    SceneOption scene;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("info", "Counts, stiffness and mass ranges, memory of a scene");
  o->scene.add_to(*sub);
  sub->add_flag("--json", o->json, "As JSON");
  return {sub, [o] {
            const Scene s = o->scene.load();
            fmt::print("{}", o->json ? scene_info_json(s) : scene_info_text(s));
            return kDone;
          }};
}

Command add_schema(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("schema", "Print the JSON Schema of scenes");
  return {sub, [] {
            fmt::print("{}", scene_schema());
            return kDone;
          }};
}

Command add_reference(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("reference", "Print the reference of the scene language (Markdown)");
  return {sub, [] {
            fmt::print("{}", scene_reference());
            return kDone;
          }};
}

Command add_version(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("version", "Print the version");
  return {sub, [] {
            fmt::print("osier {}\n", version());
            return kDone;
          }};
}

}  // namespace osier::cli

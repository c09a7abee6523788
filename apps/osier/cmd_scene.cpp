// osier check, schema, reference, version, help: what can be said without running.
#include <fmt/format.h>

#include "commands.hpp"
#include "exec/cuda_device.hpp"
#include "osier/osier.hpp"
#include "scene_option.hpp"

namespace osier::cli {

Command add_check(CLI::App& app) {
  auto scene = std::make_shared<SceneOption>();
  CLI::App* sub = app.add_subcommand("check", "Check a scene and report every problem");
  scene->add_to(*sub);
  return {sub, [scene] {
            const Scene s = scene->load();
            print_warnings(s);
            fmt::print("{}: good ({} vertices, {} segments)\n", scene->file, s.model().vertex_count(), s.model().segment_count());
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

std::string version_text() {
  const CudaDevice& cuda = cuda_device();
  const std::string device = !cuda.is_built  ? "not built in"
                             : cuda.is_there ? fmt::format("{}, {:.0f} GiB", cuda.name, cuda.memory_gib)
                                             : fmt::format("built in, no CUDA device ({})", cuda.why_not);
  return fmt::format("osier {}\nCUDA: {}", version(), device);
}

Command add_version(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("version", "Print the version");
  return {sub, [] {
            fmt::print("{}\n", version_text());
            return kDone;
          }};
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands({}))
    if (sub->get_name() == name) return sub;
  return nullptr;
}

std::string known_commands(const CLI::App& app, const std::string& wrong) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
  const std::string guess = closest(wrong, known);
  return guess.empty() ? "use " + join(known, ", ") : "did you mean `" + guess + "`?";
}

Command add_help(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("help", "Print what a command does and takes");
  sub->add_option("COMMAND", *what, "A command; all of them in short when left out");
  return {sub, [what, &app] {
            const CLI::App* chosen = what->empty() ? &app : find_command(app, *what);
            if (!chosen)
              throw InputError({{"help", fmt::format("there is no command `{}`", shorten(*what)), known_commands(app, *what)}});
            // Not App::help, which tells of the command at hand, and that is this one.
            const std::string name = what->empty() ? "osier" : "osier " + *what;
            fmt::print("{}", app.get_formatter()->make_help(chosen, name, CLI::AppFormatMode::Normal));
            return kDone;
          }};
}

}  // namespace osier::cli

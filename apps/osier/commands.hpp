// The subcommands. Each adds itself to the command line and returns what to do when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace osier::cli {

/// Exit codes.
constexpr int kDone = 0, kRunFailed = 1, kBadInput = 2;

/// Null when there is no such command.
const CLI::App* find_command(const CLI::App& app, const std::string& name);
/// "did you mean `run`?", or all there are.
std::string known_commands(const CLI::App& app, const std::string& wrong);

using Action = std::function<int()>;
struct Command {
  CLI::App* app;
  Action action;
};

/// The version, and which CUDA device there is.
std::string version_text();
Command add_run(CLI::App& app);
Command add_diff(CLI::App& app);
Command add_completion(CLI::App& app);
Command add_man(CLI::App& app);
Command add_modes(CLI::App& app);
Command add_sweep(CLI::App& app);
Command add_view(CLI::App& app);
Command add_check(CLI::App& app);
Command add_info(CLI::App& app);
Command add_list(CLI::App& app);
Command add_validate(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_render(CLI::App& app);
Command add_convert(CLI::App& app);
Command add_version(CLI::App& app);
Command add_help(CLI::App& app);
Command add_schema(CLI::App& app);
Command add_reference(CLI::App& app);
Command add_reproduce(CLI::App& app);

}  // namespace osier::cli

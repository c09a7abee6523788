// osier: simulate rods from the command line.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "core/text.hpp"
#include "osier/error.hpp"
#include "osier/osier.hpp"

namespace osier::cli {

/// A word that names no command: the parser would only say that it did not expect it.
static bool tells_unknown_command(const CLI::App& app, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (argc < 2 || word.starts_with("-") || find_command(app, word)) return false;
  fmt::print(stderr, "error: there is no command `{}`; {}\n", printable(shorten(word)), known_commands(app, word));
  return true;
}

/// Options and further arguments that a command does not have.
static bool tells_unknown_options(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty() || chosen.front()->remaining().empty()) return false;
  std::vector<std::string> known;
  for (const CLI::Option* option : chosen.front()->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : chosen.front()->remaining()) {
    const std::string guess = word.starts_with("--") ? closest(word.substr(0, word.find('=')), known) : "";
    fmt::print(stderr, "error: `osier {}` does not take `{}`; {}\n", chosen.front()->get_name(), printable(shorten(word)),
               guess.empty() ? "see osier " + chosen.front()->get_name() + " --help" : "did you mean `" + guess + "`?");
  }
  return true;
}

/// Line by line: a message may have several.
static std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += (at > 0 ? "\n" : "") + printable(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace osier::cli

int main(int argc, char** argv) {
  using namespace osier::cli;
  CLI::App app{"Osier simulates slender things: hair, yarn, cables, ropes, trees, springs, bridges.", "osier"};
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", [] { return version_text(); }, "Print the version, and the CUDA device");
  app.footer("Exit codes: 0 done, 1 the run failed, 2 bad input. Scene language: docs/scene.md.");
  const std::vector<Command> commands{add_run(app),        add_view(app),      add_render(app),    add_convert(app),
                                      add_diff(app),       add_sweep(app),     add_check(app),     add_info(app),
                                      add_modes(app),      add_list(app),      add_validate(app),  add_bench(app),
                                      add_schema(app),     add_reference(app), add_reproduce(app), add_version(app),
                                      add_completion(app), add_man(app),       add_help(app)};
  if (tells_unknown_command(app, argc, argv)) return kBadInput;
  if (argc < 2) {
    fmt::print(stderr,
               "error: no command is given; `osier --help` lists them, and `osier view SCENE` shows a scene while it runs\n");
    return kBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& e) {
    return tells_unknown_options(app) ? kBadInput : (app.exit(e), kBadInput);
  } catch (const CLI::RequiredError& e) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    fmt::print(stderr, "error: {}; see osier {} --help\n", osier::printable(e.what()),
               chosen.empty() ? "" : chosen.front()->get_name());
    return kBadInput;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kBadInput;
  }
  try {
    for (const Command& c : commands) {
      if (!c.app->parsed()) continue;
      const int code = c.action();
      if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
      fmt::print(stderr, "error: standard output cannot be written\n");
      return kRunFailed;
    }
  } catch (const osier::InputError& e) {
    for (const osier::Problem& p : e.problems()) fmt::print(stderr, "error: {}\n", to_string(p));
    if (e.problems().size() > 1) fmt::print(stderr, "{} problems\n", e.problems().size());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: not enough memory for this scene; `osier info` estimates what a smaller one needs\n");
    return kRunFailed;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", printable_lines(e.what()));
    return kRunFailed;
  }
  return kDone;
}

// osier: simulate rods from the command line.
#include <cstdio>
#include <fmt/format.h>
#include <new>
#include <vector>

#include "commands.hpp"
#include "osier/error.hpp"

int main(int argc, char** argv) {
  using namespace osier::cli;
  CLI::App app{"Osier simulates slender things: hair, yarn, cables, ropes, trees, springs, bridges."};
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 the run failed, 2 bad input. Scene language: docs/scene.md.");
  const std::vector<Command> commands{add_run(app),   add_view(app),   add_render(app),    add_convert(app),
                                      add_check(app), add_info(app),   add_list(app),      add_validate(app),
                                      add_bench(app), add_schema(app), add_reference(app), add_version(app)};
  try {
    app.parse(argc, argv);
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
    fmt::print(stderr, "error: {}\n", e.what());
    return kRunFailed;
  }
  return kDone;
}

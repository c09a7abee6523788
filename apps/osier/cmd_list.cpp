// osier list: what can be named in a scene, straight from the registries.
#include <fmt/format.h>

#include "commands.hpp"
#include "forces/attachment.hpp"
#include "forces/force.hpp"
#include "osier/io.hpp"
#include "scene/shape.hpp"
#include "scene/structure.hpp"
#include "solvers/solver.hpp"

namespace osier::cli {

template <class Range>
static void print_all(const Range& entries) {
  for (const auto& e : entries) fmt::print("{:<16} {}\n", e.name, e.help);
}

Command add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("list", "List solvers, generators, forces, constraints or formats");
  sub->add_option("WHAT", *what, "solvers | generators | forces | constraints | formats")
      ->required()
      ->check(CLI::IsMember({"solvers", "generators", "forces", "constraints", "formats"}));
  return {sub, [what] {
            if (*what == "solvers") print_all(registry<SolverSettings>());
            if (*what == "forces") print_all(registry<Force>());
            if (*what == "constraints") print_all(registry<Attachment>());
            if (*what == "formats") print_all(formats());
            if (*what == "generators") {
              fmt::print("curves, for /rods/*/shape and pose:\n");
              print_all(registry<Shape>());
              fmt::print("graphs, for /structures:\n");
              print_all(registry<Structure>());
            }
            return kDone;
          }};
}

}  // namespace osier::cli

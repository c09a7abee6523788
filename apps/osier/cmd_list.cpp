// osier list: what can be named in a scene, straight from the registries.
#include <fmt/format.h>

#include "commands.hpp"
#include "forces/attachment.hpp"
#include "forces/force.hpp"
#include "io/curves/registry.hpp"
#include "materials/preset.hpp"
#include "materials/section_shape.hpp"
#include "osier/io.hpp"
#include "scene/shape.hpp"
#include "scene/structure.hpp"
#include "solvers/solver.hpp"

namespace osier::cli {

template <class Range>
static void print_all(const Range& entries) {
  for (const auto& e : entries) fmt::print("{:<16} {}\n", e.name, e.help);
}

static void print_presets() {
  for (const Preset& p : presets()) {
    fmt::print("{:<16} {}: E {:.4g} Pa, G {:.4g} Pa, density {:.4g} kg/m^3", p.name, p.help, p.young, p.shear_modulus, p.density);
    if (p.radius) fmt::print(", radius {:.4g} m", *p.radius);
    fmt::print("\n{:<16} source: {}\n", "", p.source);
  }
}

static const char* const kKinds[] = {"solvers", "generators", "forces",    "constraints", "obstacles",
                                     "formats", "curves",     "materials", "sections"};

static void print_kind(const std::string& what) {
  if (what == "solvers") print_all(registry<SolverSettings>());
  if (what == "forces") print_all(registry<Force>());
  if (what == "constraints") print_all(registry<Attachment>());
  if (what == "obstacles") print_all(registry<ObstacleSpec>());
  if (what == "formats") print_all(formats());
  if (what == "curves")
    for (const CurveFormat& f : curve_formats())
      if (f.read) fmt::print("{:<16} {} ({}{}{})\n", f.name, f.help, f.extension, *f.also ? " " : "", f.also);
  if (what == "sections") print_all(registry<SectionShape>());
  if (what == "materials") print_presets();
  if (what == "generators") {
    fmt::print("curves, for /rods/*/shape and pose:\n");
    print_all(registry<Shape>());
    fmt::print("graphs, for /structures:\n");
    print_all(registry<Structure>());
  }
}

Command add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("list",
                                     "List solvers, generators, forces, constraints, obstacles, formats of results, readable "
                                     "curve files, materials or sections");
  sub->add_option("WHAT", *what,
                  "solvers | generators | forces | constraints | obstacles | formats | curves | materials | sections; all of "
                  "them when left out")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kKinds), std::end(kKinds))));
  return {sub, [what] {
            if (!what->empty()) {
              print_kind(*what);
              return kDone;
            }
            for (std::size_t i = 0; i < std::size(kKinds); ++i) {
              fmt::print("{}{}\n", i > 0 ? "\n" : "", kKinds[i]);
              print_kind(kKinds[i]);
            }
            return kDone;
          }};
}

}  // namespace osier::cli

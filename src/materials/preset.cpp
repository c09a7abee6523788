#include "materials/preset.hpp"

#include <numbers>

#include "core/fields.hpp"

namespace osier {

std::span<const Preset> presets() {
  static constexpr double hair_radius = 0.03e-3, hair_line_density = 3.13e-6;
  static const Preset list[] = {
      {"hair", "human hair of 0.06 mm diameter, 3.13e-6 kg/m", 3.58e9, 1.07e9,
       hair_line_density / (std::numbers::pi * hair_radius * hair_radius), hair_radius,
       "Michels, Mueller, Sobottka, A Physically Based Approach to the Accurate Simulation of Stiff Fibers and Stiff Fiber "
       "Meshes: E, G, diameter and line density as printed; density derived from the last two"},
      {"steel_wire",
       "unalloyed spring steel wire",
       206e9,
       81.5e9,
       7850,
       {},
       "EN 13906-1 (calculation of springs) for wire to EN 10270-1"},
      {"nylon",
       "polyamide, bulk and dry",
       2.9e9,
       2.9e9 / (2 * 1.35),
       1130,
       {},
       "Ashby, Materials Selection in Mechanical Design, ranges 2.62-3.20 GPa and 1120-1140 kg/m^3: middle of each; G derived "
       "with Poisson ratio 0.35. Moist nylon is softer, drawn fibre stiffer"},
      {"rubber",
       "natural rubber, unfilled",
       2e6,
       2e6 / 3,
       925,
       {},
       "Ashby, Materials Selection in Mechanical Design, ranges 1.5-2.5 MPa and 920-930 kg/m^3: middle of each; G = E/3 since "
       "rubber keeps its volume. Good for small strain"},
      {"wood",
       "Sitka spruce along the grain, 12 % moisture",
       1.1 * 10.8e9,
       0.0625 * 1.1 * 10.8e9,
       448,
       {},
       "USDA Wood Handbook (FPL-GTR-113, 1999), chapter 4: E_L = 1.1 x 10.8 GPa, the bending modulus freed of shear; "
       "G = 0.0625 E_L, the mean of G_LR and G_LT; density from specific gravity 0.40 and the moisture"},
      {"cotton_yarn",
       "ring-spun cotton yarn as a solid",
       0.6 * 5.0 * 1.52e9,
       0.6 * 5.0 * 1.52e9 / (2 * 1.3),
       0.6 * 1520,
       {},
       "Morton and Hearle, Physical Properties of Textile Fibres, table 13.1: fibre modulus 5.0 N/tex (Uppers) at 1520 kg/m^3; "
       "times 0.6, an assumed packing; G assumed with Poisson ratio 0.3. Fibres slip: bending and twisting of a yarn are much "
       "softer, so measure and give `bend` and `twist`"},
  };
  return list;
}

static std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Preset& p : presets()) list.emplace_back(p.name);
  return list;
}

bool PresetName::read_short(const Json& j, const std::string& at, Problems& problems) {
  if (!j.is_string()) {
    problems.add(at, shorten(j) + " is not a preset", "use one of " + join(names(), ", "));
    return true;
  }
  const std::string name = j.get<std::string>();
  for (const Preset& p : presets())
    if (name == p.name) value = &p;
  if (value) return true;
  const std::string guess = closest(name, names());
  problems.add(at, "there is no preset \"" + shorten(name) + "\"",
               guess.empty() ? "use one of " + join(names(), ", ") : "did you mean `" + guess + "`?");
  return true;
}

OrderedJson PresetName::short_schema(FieldDoc& doc) {
  doc.type = "`" + join(names(), "` \\| `") + "`";
  return {{"enum", names()}};
}

}  // namespace osier

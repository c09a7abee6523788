#include "scene/compile_contact.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "contact/candidates.hpp"
#include "contact/segment_gap.hpp"
#include "core/text.hpp"

namespace osier {

namespace {

/// Where a material has its friction.
std::string place_of_friction(const std::string& material) {
  return (material.starts_with('/') ? material : "/materials/" + escape_pointer(material)) + "/friction";
}

/// Every pair has the larger coefficient of its two materials, unless the scene gives one for the pair.
contact::FrictionTable friction_table(const Setup& setup, Problems& problems) {
  const contact::Settings& settings = *setup.spec.contact;
  const std::size_t n = setup.materials.size() + 1;  // the last one is that of segments without a material
  const auto own = [&](std::size_t i) {
    return i + 1 < n ? setup.materials[i].friction.value_or(settings.friction) : settings.friction;
  };
  contact::FrictionTable table{n, std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) table.value[i * n + j] = std::max(own(i), own(j));
  const auto place = [&](const std::string& name, const std::string& where) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i + 1 < n; ++i)
      if (setup.materials[i].name == name) return i;
    if (setup.spec.materials.contains(name)) return {};  // no rod is made of it
    std::vector<std::string> known;
    for (const auto& [material, m] : setup.spec.materials) known.push_back(material);
    const std::string guess = closest(name, known);
    problems.add(where, fmt::format("there is no material \"{}\"", shorten(name)),
                 !guess.empty()  ? "did you mean `" + guess + "`?"
                 : known.empty() ? "define it in /materials"
                                 : "known: " + shorten(join(known, ", "), 300));
    return {};
  };
  for (const contact::FrictionPair& pair : settings.friction_pairs) {
    const auto i = place(pair.first, pair.where + "/first"), j = place(pair.second, pair.where + "/second");
    if (!i || !j) continue;
    table.value[*i * n + *j] = table.value[*j * n + *i] = pair.friction;
  }
  return table;
}

/// Rods whose centrelines cross have no inside and outside: nobody can tell on which side of the other one each of them belongs.
/// Those that merely overlap start thinner.
void check_start(Setup& setup, const std::function<std::string(Index)>& name_of, Problems& problems) {
  constexpr double kCrossing = 1e-6;  // of the sum of radii
  constexpr std::size_t kMostNamed = 10;
  const Model& m = setup.model;
  const auto& x = setup.initial.vertex_position;
  std::vector<contact::Pair> pairs;
  contact::Candidates().find(setup.contacts, m, x, std::vector<double>(x.size(), 0.0), Executor(1), pairs);
  std::size_t crossing = 0, overlapping = 0;
  double worst = 1;
  const contact::Pair* deepest = nullptr;
  for (const contact::Pair& pair : pairs) {
    if (pair.with_obstacle() || !pair.pushes) continue;
    const auto ends = [&](Index s) { return std::array{x[m.segment_vertices[s][0]], x[m.segment_vertices[s][1]]}; };
    const double radii = setup.contacts.radius(pair.a) + setup.contacts.radius(pair.b);
    const double share = contact::nearest_points({ends(pair.a), ends(pair.b)}, 0, 0).distance / radii;
    if (share < kCrossing) {
      if (crossing++ < kMostNamed)
        problems.add(setup.spec.contact->where,
                     fmt::format("{} and {} cross each other at the start", name_of(pair.a), name_of(pair.b)),
                     "move one of them aside, or weld them");
    } else if (share < contact::kCore) {
      ++overlapping;
      if (share < worst) worst = share, deepest = &pair;
    }
  }
  if (crossing > kMostNamed)
    problems.add(setup.spec.contact->where,
                 fmt::format("{} more pairs of segments cross each other at the start", crossing - kMostNamed));
  if (deepest)
    setup.warnings.push_back(fmt::format(
        "{} of segments overlap at the start, most of all {} and {}, whose centrelines are {:.2g} of the sum of their radii "
        "apart; they start as thin as that and grow back as they part",
        overlapping == 1 ? "one pair" : fmt::format("{} pairs", overlapping), name_of(deepest->a), name_of(deepest->b), worst));
}

}  // namespace

void compile_contact(Setup& setup, const std::function<std::string(Index)>& name_of, Problems& problems) {
  if (!setup.spec.contact) {
    for (const auto& [name, material] : setup.spec.materials)
      if (material.friction)
        problems.add(place_of_friction(name), "has no effect without `contact`", "add `contact` to the scene, or leave it out");
    return;
  }
  std::vector<Index> material = setup.segment_material;
  material.resize(static_cast<std::size_t>(setup.model.segment_count()), -1);
  for (Index& i : material)
    if (i < 0) i = static_cast<Index>(setup.materials.size());
  setup.contacts =
      Contacts(setup.model, setup.initial, *setup.spec.contact, friction_table(setup, problems), std::move(material));
  if (setup.spec.contact->rods) check_start(setup, name_of, problems);
}

}  // namespace osier

#include "scene/compile_contact.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "contact/candidates.hpp"
#include "contact/segment_gap.hpp"
#include "core/text.hpp"

namespace osier {

namespace {

void report_unknown(const Setup& setup, const std::string& material, const std::string& where, Problems& problems) {
  std::vector<std::string> known;
  for (const auto& [name, m] : setup.spec.materials) known.push_back(name);
  const std::string guess = closest(material, known);
  problems.add(where, fmt::format("there is no material \"{}\"", shorten(material)),
               !guess.empty()  ? "did you mean `" + guess + "`?"
               : known.empty() ? "define it in /materials"
                               : "known: " + shorten(join(known, ", "), 300));
}

/// Where a material has its friction.
std::string place_of_friction(const std::string& material) {
  return (material.starts_with('/') ? material : "/materials/" + escape_pointer(material)) + "/friction";
}

/// `names`: of its materials but the last one. Every pair has the larger coefficient of its two materials, unless the scene gives
/// one for the pair.
contact::FrictionTable friction_table(const Setup& setup, std::vector<std::string>& names, Problems& problems) {
  const contact::Settings& settings = *setup.spec.contact;
  // Those of rods, then those of obstacles; the last one is what has no material.
  std::vector<std::pair<std::string, std::optional<double>>> list;
  for (const MaterialUse& use : setup.materials) list.emplace_back(use.name, use.friction);
  for (const auto& obstacle : setup.spec.obstacles) {
    if (!obstacle) continue;
    const auto known = std::find_if(list.begin(), list.end(), [&](const auto& m) { return m.first == obstacle->material; });
    if (known != list.end()) continue;
    if (const auto m = setup.spec.materials.find(obstacle->material); m != setup.spec.materials.end())
      list.emplace_back(obstacle->material, m->second.friction);
  }
  names.clear();
  for (const auto& [name, value] : list) names.push_back(name);
  const std::size_t n = list.size() + 1;
  const auto own = [&](std::size_t i) { return i + 1 < n ? list[i].second.value_or(settings.friction) : settings.friction; };
  contact::FrictionTable table{n, std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) table.value[i * n + j] = std::max(own(i), own(j));
  const auto place = [&](const std::string& name, const std::string& where) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i + 1 < n; ++i)
      if (names[i] == name) return i;
    if (!setup.spec.materials.contains(name)) report_unknown(setup, name, where, problems);
    return {};  // nothing is made of it
  };
  std::map<std::pair<std::size_t, std::size_t>, std::string> given;  // where
  for (const contact::FrictionPair& pair : settings.friction_pairs) {
    const auto i = place(pair.first, pair.where + "/first"), j = place(pair.second, pair.where + "/second");
    if (!i || !j) continue;
    const auto [known, is_new] = given.try_emplace(std::minmax(*i, *j), pair.where);
    if (!is_new)
      problems.add(pair.where,
                   fmt::format("gives the friction of {} and {} again, after {}", pair.first, pair.second, known->second),
                   "keep one of the two");
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
  const auto& obstacles = setup.contacts.obstacles();
  std::vector<std::vector<Index>> inside(obstacles.size());  // segments
  std::vector<std::size_t> thin(obstacles.size(), 0);
  for (const contact::Pair& pair : pairs) {
    if (!pair.pushes) continue;
    if (pair.with_obstacle()) {
      const auto& obstacle = *setup.contacts.obstacles()[pair.obstacle()];
      const auto [a, b] = m.segment_vertices[pair.a];
      const double distance = contact::distance_of(obstacle, pair.feature, x[a], x[b], 0), radius = setup.contacts.radius(pair.a);
      if (distance < kCrossing * radius) inside[pair.obstacle()].push_back(pair.a);
      else if (distance < contact::kCore * radius) ++thin[pair.obstacle()];
      continue;
    }
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
  for (std::size_t o = 0; o < obstacles.size(); ++o) {
    std::vector<Index>& list = inside[o];
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (!list.empty()) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 3); ++i) names.push_back(name_of(list[i]));
      problems.add(setup.spec.obstacles[o]->where,
                   fmt::format("{} {} within it at the start: {}{}", list.size(),
                               list.size() == 1 ? "segment has its centreline" : "segments have their centrelines",
                               join(names, ", "), list.size() > names.size() ? ", …" : ""),
                   "move the obstacle or the rods apart; what is fastened to it may begin in its surface, see `with`");
    } else if (thin[o] > 0) {
      setup.warnings.push_back(
          fmt::format("{} of segments and {} overlap at the start; the segments are thinner there and grow back as they part",
                      thin[o] == 1 ? "one pair" : fmt::format("{} pairs", thin[o]), obstacles[o]->name));
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

void add_obstacles(Setup& setup, const std::vector<std::string>& names, Problems& problems) {
  for (const auto& spec : setup.spec.obstacles) {
    if (!spec) continue;
    std::size_t material = names.size();
    if (!spec->material.empty()) {
      if (!setup.spec.materials.contains(spec->material))
        report_unknown(setup, spec->material, spec->where + "/material", problems);
      else material = static_cast<std::size_t>(std::find(names.begin(), names.end(), spec->material) - names.begin());
    }
    if (problems.mentions(spec->where)) continue;
    std::shared_ptr<contact::Obstacle> made = spec->make();
    made->name = spec->name;
    made->material = spec->material;
    made->friction = spec->friction.value_or(-1);
    setup.contacts.add(std::move(made), material);
  }
  if (!problems.empty()) return;
  // What is fastened to an obstacle and begins in its surface cannot be kept out of it.
  const Model& m = setup.model;
  for (const auto& constraint : setup.spec.constraints) {
    if (!constraint || !constraint->motion.with) continue;
    const auto& obstacles = setup.contacts.obstacles();
    const auto found =
        std::find_if(obstacles.begin(), obstacles.end(), [&](const auto& o) { return o->name == *constraint->motion.with; });
    if (found == obstacles.end()) continue;
    std::vector<Index> vertices, frames, features;
    constraint->list_held(vertices, frames);
    for (const Index v : vertices)
      for (const Index e : m.vertex_segments.of(v)) {
        const auto [a, b] = m.segment_vertices[e / 2];
        const Vec3d &p = setup.initial.vertex_position[a], &q = setup.initial.vertex_position[b];
        const double core = setup.contacts.core(e / 2);
        features.clear();
        (*found)->features_near({{std::min(p.x, q.x) - core, std::min(p.y, q.y) - core, std::min(p.z, q.z) - core},
                                 {std::max(p.x, q.x) + core, std::max(p.y, q.y) + core, std::max(p.z, q.z) + core}},
                                features);
        const bool inside = std::any_of(features.begin(), features.end(),
                                        [&](Index f) { return contact::distance_of(**found, f, p, q, 0) < core; });
        if (inside) setup.contacts.attach(e / 2, static_cast<std::size_t>(found - obstacles.begin()));
      }
  }
}

}  // namespace

void compile_contact(Setup& setup, const std::function<std::string(Index)>& name_of, Problems& problems) {
  if (!setup.spec.contact) {
    if (problems.mentions("/contact")) return;  // it is there, but wrong
    for (const auto& [name, material] : setup.spec.materials)
      if (material.friction)
        problems.add(place_of_friction(name), "has no effect without `contact`", "add `contact` to the scene, or leave it out");
    if (!setup.spec.obstacles.empty())
      problems.add("/obstacles", "have no effect without `contact`", "add \"contact\": {} to the scene, or leave them out");
    return;
  }
  std::vector<Index> material = setup.segment_material;
  material.resize(static_cast<std::size_t>(setup.model.segment_count()), -1);
  std::vector<std::string> names;
  contact::FrictionTable table = friction_table(setup, names, problems);
  for (Index& i : material)
    if (i < 0) i = static_cast<Index>(names.size());
  setup.contacts = Contacts(setup.model, setup.initial, *setup.spec.contact, std::move(table), std::move(material));
  std::size_t bad = 0;
  for (Index s = 0; s < setup.model.segment_count(); ++s)
    if (!(setup.contacts.radius(s) > 0) && bad++ == 0)
      problems.add(setup.spec.contact->where, fmt::format("{} has no thickness", name_of(s)),
                   "give its material a `radius` or `section`");
  add_obstacles(setup, names, problems);
  if (problems.empty()) check_start(setup, name_of, problems);
}

}  // namespace osier

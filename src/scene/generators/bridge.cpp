// x runs along the deck, y up, z across. Elements come in the published order: deck, arch, side decks, ties, cables.
#include "scene/generators/bridge.hpp"

namespace osier {

namespace {

constexpr int kDeckSegments = 72;
constexpr int kArchSegments = 84;
constexpr int kMiddle = kDeckSegments / 2;  // the arch stands over deck vertex 36
constexpr double kDeckHeight = 2;

struct Builder {
  RodGraph& graph;
  const std::string& prefix;
  std::vector<Index> deck{}, arch{};
  std::vector<Index> deck_segments{}, arch_segments{};
  std::array<std::vector<Index>, 2> side{};

  void add_deck(const Section& section) {
    for (int i = 0; i <= kDeckSegments; ++i) deck.push_back(graph.add_vertex({1.0 * i, kDeckHeight, 0}));
    deck_segments = graph.rods[graph.add_chain(prefix + ".deck", deck, section)].segments;
  }

  /// y = 22.2 - cosh(a z). The vertices are uniform in the arc length of the catenary cosh(a z)/a rather than of this
  /// taller curve, so segments grow from the apex to the feet; kept, because it is the published shape.
  void add_arch(const Section& section) {
    const double a = 2.1, length = 2 * std::sinh(3.78) / a;
    for (int k = 0; k <= kArchSegments; ++k) {
      const double s = length * k / kArchSegments - length / 2;
      const double z = std::asinh(a * s) / a;
      arch.push_back(graph.add_vertex({1.0 * kMiddle, 22.2 - std::cosh(a * z), z}));
    }
    arch_segments = graph.rods[graph.add_chain(prefix + ".arch", arch, section)].segments;
  }

  /// At the height of the first arch vertex above the deck, on both sides; there the arch itself is the deck's vertex.
  void add_side_decks(const Section& section) {
    std::size_t k = 0;
    while (graph.vertices[arch[k]].rest.y <= kDeckHeight) ++k;
    const std::array<Index, 2> meeting{arch[k], arch[kArchSegments - k]};
    const Vec3d at = graph.vertices[arch[k]].rest;
    for (std::size_t n = 0; n < 2; ++n) {
      const double z = n == 0 ? at.z : -at.z;
      for (int i = 0; i <= kDeckSegments; ++i)
        side[n].push_back(i == kMiddle ? meeting[n] : graph.add_vertex({1.0 * i, at.y, z}));
      graph.add_chain(prefix + ".side_deck" + std::to_string(n), side[n], section);
    }
  }

  /// From every fourth deck vertex to both sides; the pair and the deck segment ahead of it are joined with each other.
  void add_ties(const Section& section) {
    RodInfo ties{.name = prefix + ".ties", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
    for (int i = 4; i <= 68; i += 4) {
      const Index first = graph.add_segment(deck[i], side[0][i], section),
                  second = graph.add_segment(deck[i], side[1][i], section);
      ties.joints.push_back(graph.add_joint(first, second, section.bend_twist));
      ties.joints.push_back(graph.add_joint(deck_segments[i], first, section.bend_twist));
      ties.joints.push_back(graph.add_joint(deck_segments[i], second, section.bend_twist));
      ties.vertices.insert(ties.vertices.end(), {deck[i], side[0][i], side[1][i]});
      ties.segments.insert(ties.segments.end(), {first, second});
    }
    graph.rods.push_back(std::move(ties));
  }

  void add_cable(int deck_vertex, int arch_vertex, const Section& section, double longest, RodInfo& all) {
    const Index a = deck[deck_vertex], b = arch[arch_vertex];
    const Vec3d from = graph.vertices[a].rest, to = graph.vertices[b].rest;
    const int n = static_cast<int>(std::ceil(norm(to - from) / longest));
    std::vector<Index> path{a};
    for (int i = 1; i < n; ++i) {
      const double s = static_cast<double>(i) / n;
      path.push_back(graph.add_vertex((1 - s) * from + s * to));
    }
    path.push_back(b);
    const std::string name = prefix + ".cable" + std::to_string(cables++);
    const RodInfo& cable = graph.rods[graph.add_chain(name, path, section)];
    all.segments.insert(all.segments.end(), cable.segments.begin(), cable.segments.end());
    all.vertices.insert(all.vertices.end(), path.begin() + 1, path.end() - 1);
  }

  /// Two families that cross: each reaches one half of the arch from both halves of the deck.
  void add_cables(const Section& section, double longest) {
    const int apex = kArchSegments / 2;
    RodInfo all{.name = prefix + ".cables", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
    for (int i = 0; i < 14; ++i)
      for (int d : {34 - 2 * i, 39 + 2 * i}) add_cable(d, apex - i - 1, section, longest, all);
    for (int d : {35, 37}) add_cable(d, apex, section, longest, all);
    for (int i = 0; i < 14; ++i)
      for (int d : {33 - 2 * i, 38 + 2 * i}) add_cable(d, apex + i + 1, section, longest, all);
    graph.rods.push_back(std::move(all));
  }

  void add_supports() {
    graph.rods.push_back({.name = prefix + ".supports",
                          .vertices = {deck.front(), deck.back(), arch.front(), arch.back(), side[0].front(), side[0].back(),
                                       side[1].front(), side[1].back()},
                          .segments = {arch_segments.front(), arch_segments.back()},
                          .joints = {},
                          .closed = false});
  }

  int cables = 0;
};

}  // namespace

GraphSize Bridge::size() const {
  constexpr double kCables = 58, kLongestCable = 45, kOthers = 400;  // deck, arch, side decks and ties
  const double segments = kOthers + kCables * (1 + kLongestCable / cable_segment_length);
  return {.segments = segments, .joints = segments, .rods = kCables};
}

void Bridge::build(RodGraph& graph, const std::string& prefix) const {
  const auto section = [&](double stretch_shear, double bend_twist, double line_density, double radius) {
    return Section{.stretch_shear = stretch_shear,
                   .bend_twist = bend_twist,
                   .line_density = line_density,
                   .radius = radius,
                   .tau_stretch = tau,
                   .tau_bend = tau,
                   .strain_limit = strain_limit};
  };
  const Section deck = section(deck_stretch_shear, deck_bend_twist, deck_density, deck_radius);
  Builder builder{.graph = graph, .prefix = prefix};
  builder.add_deck(deck);
  builder.add_arch(section(arch_stretch_shear, arch_bend_twist, arch_density, arch_radius));
  builder.add_side_decks(deck);
  builder.add_ties(section(deck_stretch_shear, tie_bend_twist, deck_density, deck_radius));
  builder.add_cables(section(cable_stretch_shear, 0, cable_density, cable_radius), cable_segment_length);
  builder.add_supports();
}

}  // namespace osier

#include "solvers/deti/fibre_plan.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "math/quat.hpp"

namespace osier::deti {

namespace {

constexpr double kAspect = 1.5;
constexpr double kOfLargest = 0.9;  ///< of the aspect at which longitudinal springs vanish, sqrt(2 EI/GJ)

Quatd aligned(const Quatd& q, const Quatd& with) { return dot(q, with) < 0 ? -q : q; }

/// The joint between two frames, or -1.
Index joint_between(const Model& m, Index a, Index b) {
  for (const Index e : m.frame_joints.of(a)) {
    const auto& frames = m.joint_frames[e / 2];
    if (frames[1 - e % 2] == b) return e / 2;
  }
  return -1;
}

class Planner {
 public:
  Planner(const Model& m, const Settings& s, const FibrePlan* before, FibrePlan& plan)
      : m_(m), s_(s), before_(before), plan_(plan) {}

  void run() {
    std::vector<std::uint8_t> done(static_cast<std::size_t>(m_.segment_count()), 0);
    std::vector<std::uint8_t> in_chain(static_cast<std::size_t>(m_.vertex_count()), 0);
    for (Index v = 0; v < m_.vertex_count(); ++v) {
      const auto at = m_.vertex_segments.of(v);
      if (at.empty()) plan_.loose_vertices.push_back(v);
      if (at.size() > 2)
        return refuse(fmt::format("vertex {} belongs to {} segments", v, at.size()), "use another solver for welds");
      if (at.size() != 1 || in_chain[v]) continue;
      Chain chain;
      if (!walk(v, chain, done)) return;
      for (const Index w : chain.vertices) in_chain[w] = 1;
      if (!describe(chain)) return;
      plan_.chains.push_back(std::move(chain));
    }
    for (Index s = 0; s < m_.segment_count(); ++s)
      if (m_.segment_alive[s] && !done[s]) return refuse("a rod is closed to a ring", "use another solver for rings");
  }

 private:
  void refuse(std::string what, std::string remedy) { plan_.problems.emplace_back(std::move(what), std::move(remedy)); }

  bool walk(Index start, Chain& chain, std::vector<std::uint8_t>& done) {
    for (Index v = start;;) {
      chain.vertices.push_back(v);
      Index next = -1;
      for (const Index e : m_.vertex_segments.of(v))
        if (!done[e / 2]) next = e;
      if (next < 0) return true;
      const Index s = next / 2;
      if (next % 2 != 0) {
        // Rods are walked in their own direction: from this end they run against it, and from the other end they do not.
        if (chain.segments.empty()) return walk_from_other_end(v, chain, done);
        refuse(fmt::format("segments {} and {} run against each other", chain.segments.back(), s), "turn one of the rods round");
        return false;
      }
      if (!chain.segments.empty() && joint_between(m_, chain.segments.back(), s) < 0) {
        refuse(fmt::format("segments {} and {} share a vertex without a joint", chain.segments.back(), s),
               "use another solver for hinges between segments");
        return false;
      }
      done[s] = 1;
      chain.segments.push_back(s);
      v = m_.segment_vertices[s][1];
    }
  }
  bool walk_from_other_end(Index v, Chain& chain, std::vector<std::uint8_t>& done) {
    Index last = -1;
    for (;;) {
      Index next = -1;
      for (const Index e : m_.vertex_segments.of(v))
        if (e / 2 != last) next = e;
      if (next < 0) break;
      last = next / 2;
      v = m_.segment_vertices[last][1 - next % 2];
    }
    chain = {};
    const auto at = m_.vertex_segments.of(v);
    if (at.size() != 1 || at[0] % 2 != 0) {
      refuse(fmt::format("the segments of the rod at vertex {} run against each other", v), "turn one of the rods round");
      return false;
    }
    return walk(v, chain, done);
  }

  bool describe(Chain& c) {
    c.anchor.assign(c.vertices.size(), -1);
    for (std::size_t i = 0; i < c.segments.size(); ++i)
      for (const Index e : m_.frame_joints.of(c.segments[i])) {
        const Index other = m_.joint_frames[e / 2][1 - e % 2];
        if (!m_.is_anchor(other)) continue;
        const Index at = m_.anchor_vertex[other - m_.segment_count()];
        c.anchor[c.vertices[i] == at ? i : i + 1] = other;
      }
    place_rest(c);
    return s_.network == Network::paper ? stiffen_as_printed(c) : stiffen(c);
  }

  /// The rest shape, from its first segment on, which lies along the third axis.
  void place_rest(Chain& c) {
    std::vector<Quatd> frames(static_cast<std::size_t>(m_.frame_count()));
    Vec3d x{};
    Quatd q{};
    c.rest.position.push_back(x);
    for (std::size_t i = 0; i < c.segments.size(); ++i) {
      const Index s = c.segments[i];
      if (i > 0) {
        const Index j = joint_between(m_, c.segments[i - 1], s);
        const Quatd& q0 = m_.joint_rest_rotation[j];
        q = normalized(q * (m_.joint_frames[j][0] == c.segments[i - 1] ? q0 : conj(q0)));
      }
      frames[s] = q;
      for (const Index e : m_.frame_joints.of(s)) {
        const Index other = m_.joint_frames[e / 2][1 - e % 2];
        const Quatd& q0 = m_.joint_rest_rotation[e / 2];
        if (m_.is_anchor(other)) frames[other] = normalized(q * (e % 2 == 0 ? q0 : conj(q0)));
      }
      c.length += m_.segment_rest_length[s];
      x += m_.segment_rest_length[s] * director3(q);
      c.rest.position.push_back(x);
    }
    c.rest.frame = section_frames(m_, c, frames);
  }

  /// What segment s of the chain resists with; the joints at its ends know its bending. False: none does, or not alike about both
  /// axes.
  bool elasticity_of(Index s, Elasticity& e, double& tau) {
    double weight = 0;
    e = {};
    tau = 0;
    for (const Index entry : m_.frame_joints.of(s)) {
      const Index j = entry / 2;
      const PerAxis& k = m_.joint_stiffness[j];
      const double share = m_.joint_length[j] / 4;
      if (std::abs(k.d1 - k.d2) > 1e-9 * std::max(k.d1, k.d2)) {
        refuse(fmt::format("joint {} bends about its axes with different stiffnesses", j),
               "use another solver for flat sections");
        return false;
      }
      const PerAxis& t = m_.joint_tau[j];
      if (t.largest() - t.smallest() > 1e-9 * t.largest()) {
        refuse(fmt::format("joint {} damps bending and twisting with different times", j), "use the same for both");
        return false;
      }
      e.EI += k.d1 * share;
      e.GJ += k.d3 * share;
      tau += m_.joint_tau[j].d3;
      weight += 1;
    }
    if (!(weight > 0)) {
      refuse(fmt::format("segment {} is a rod alone, which has no bending", s), "use more segments");
      return false;
    }
    e.EI /= weight, e.GJ /= weight, tau /= weight;
    e.EA = m_.segment_stiffness[s].d3 / m_.segment_rest_length[s];
    if (e.EI > 0 && e.GJ > 0 && e.EA > 0) return true;
    refuse(fmt::format("segment {} has no stiffness in bending, twisting or stretching", s), "give its material all three");
    return false;
  }

  void finish(Chain& c, const std::vector<CuboidStiffness>& k, double side, const std::vector<double>& tau) {
    std::vector<double> mass;
    for (const Index v : c.vertices) mass.push_back(m_.vertex_mass[v]);
    c.fibre = make_fibre(c.rest, k, mass, side, s_.network == Network::paper);
    for (std::size_t i = 0; i < k.size(); ++i) {
      Cuboid& cuboid = c.fibre.cuboids[i];
      cuboid.tau = s_.alpha1 + tau[i];
      cuboid.tau_c = s_.alpha1 + m_.segment_tau[c.segments[i]].d3;
      for (const std::size_t at : {i, i + 1}) c.fibre.sections[at].tau = std::max(c.fibre.sections[at].tau, cuboid.tau);
    }
    for (std::size_t i = 0; i + 1 < c.segments.size(); ++i) {
      const Quatd& q0 = m_.joint_rest_rotation[joint_between(m_, c.segments[i], c.segments[i + 1])];
      const double length = 0.5 * (m_.segment_rest_length[c.segments[i]] + m_.segment_rest_length[c.segments[i + 1]]);
      c.curvature = std::max(c.curvature, side * norm(rotation_log(q0)) / length);
    }
  }

  CuboidStiffness cuboid_of(const Chain& c, std::size_t i, const Elasticity& rod, double side, bool soft) const {
    const auto give = [&](std::size_t section) {
      const bool at_end = section == 0 || section + 1 == c.vertices.size();
      return c.anchor[section] >= 0 ? 0.0 : at_end ? 0.5 : 1.0;
    };
    return scaffold(rod, m_.segment_rest_length[c.segments[i]], side, s_.section_stiffness, soft, 0.5 * (give(i) + give(i + 1))).k;
  }

  bool stiffen(Chain& c) {
    std::vector<Elasticity> rod(c.segments.size());
    std::vector<double> tau(c.segments.size());
    double longest = 0, twist = 0, least = 0;
    for (std::size_t i = 0; i < rod.size(); ++i) {
      const Index s = c.segments[i];
      if (!elasticity_of(s, rod[i], tau[i])) return false;
      longest = std::max(longest, m_.segment_rest_length[s]);
      twist = std::max(twist, rod[i].GJ / rod[i].EI);
      least = std::max(least, 4 * std::sqrt(rod[i].EI / rod[i].EA));
      const double GA = std::min(m_.segment_stiffness[s].d1, m_.segment_stiffness[s].d2) / m_.segment_rest_length[s];
      c.shear = std::max(c.shear, 3 * rod[i].EI / (GA * c.length * c.length));
      if (i == 0) c.weakest = rod[i];
      c.weakest.EI = std::min(c.weakest.EI, rod[i].EI);
    }
    const bool soft = s_.stretch == Stretch::soft;
    // What has a width keeps it while its springs stay positive.
    const std::size_t own = plan_.chains.size();
    if (before_ && own < before_->chains.size() && before_->chains[own].vertices == c.vertices &&
        stiffen_as_wide_as(c, rod, before_->chains[own].fibre.side, soft, tau))
      return true;
    double side = longest / s_.aspect.value_or(std::min(kAspect, kOfLargest * std::sqrt(2 / twist)));
    if (!soft && !s_.aspect) side = std::max(side, least);
    std::vector<CuboidStiffness> k(rod.size());
    constexpr int kMostGrowths = 60;
    for (int attempt = 0; attempt < kMostGrowths; ++attempt) {
      bool enough = true;
      for (std::size_t i = 0; i < rod.size(); ++i) {
        k[i] = cuboid_of(c, i, rod[i], side, soft);
        enough = enough && k[i].kc >= 0;
      }
      if (enough || s_.aspect) break;
      side *= 1.02;
    }
    for (std::size_t i = 0; i < k.size(); ++i) {
      const double h = m_.segment_rest_length[c.segments[i]];
      if (k[i].k1 > 0 && k[i].kd >= 0 && k[i].kc >= 0) continue;
      const char* which = k[i].kc < 0 ? "stretching" : k[i].k1 <= 0 ? "bending" : "shearing";
      refuse(fmt::format(
                 "at segment {} the springs of {} would be negative: its cuboid is {:.3g} m long and {:.3g} m wide, GJ/EI is "
                 "{:.3g}, EA a^2/EI is {:.3g}",
                 c.segments[i], which, h, side, rod[i].GJ / rod[i].EI, rod[i].EA * side * side / rod[i].EI),
             k[i].kc < 0 ? "use a smaller `aspect`, or longer segments, or `stretch` soft" : "use a smaller `aspect`");
      return false;
    }
    finish(c, k, side, tau);
    return true;
  }

  bool stiffen_as_wide_as(Chain& c, const std::vector<Elasticity>& rod, double side, bool soft, const std::vector<double>& tau) {
    std::vector<CuboidStiffness> k;
    for (std::size_t i = 0; i < rod.size(); ++i) {
      k.push_back(cuboid_of(c, i, rod[i], side, soft));
      if (!(k.back().k1 > 0 && k.back().kd >= 0 && k.back().kc >= 0)) return false;
    }
    finish(c, k, side, tau);
    return true;
  }

  /// A square section of the same area as the round one.
  bool stiffen_as_printed(Chain& c) {
    std::vector<CuboidStiffness> k(c.segments.size());
    std::vector<double> tau(c.segments.size());
    double side = 0;
    for (std::size_t i = 0; i < k.size(); ++i) {
      Elasticity rod;
      if (!elasticity_of(c.segments[i], rod, tau[i])) return false;
      const double d = 4 * std::sqrt(rod.EI / rod.EA);
      const double a = 0.5 * std::sqrt(std::numbers::pi) * d;
      const double E = rod.EA / (a * a), G = 32 * rod.GJ / (std::numbers::pi * d * d * d * d);
      const double h = m_.segment_rest_length[c.segments[i]];
      k[i] = paper_cuboid(E, G, h, a, a);
      if (i > 0 && std::abs(a - side) > 1e-9 * a) {
        refuse(fmt::format("segment {} is not as thick as those before it", c.segments[i]), "use `network` scaffold");
        return false;
      }
      side = a;
      c.weakest = rod;
      if (k[i].k1 > 0 && k[i].k2 > 0) continue;
      refuse(fmt::format(
                 "the paper's springs would be negative at segment {}: {:.4g} N/m along the rod and {:.4g} N/m across it, with "
                 "E/G = {:.4g} and cuboids {:.4g} times as long as wide",
                 c.segments[i], k[i].k1, k[i].k2, E / G, h / a),
             "use `network` scaffold, or shorter segments");
      return false;
    }
    finish(c, k, side, tau);
    return true;
  }

  const Model& m_;
  const Settings& s_;
  const FibrePlan* before_;
  FibrePlan& plan_;
};

}  // namespace

FibrePlan plan_fibres(const Model& model, const Settings& settings, const FibrePlan* before) {
  FibrePlan plan;
  Planner(model, settings, before, plan).run();
  return plan;
}

bool FibrePlan::has_one_tau() const {
  for (const Chain& chain : chains)
    for (const Cuboid& c : chain.fibre.cuboids)
      if (std::abs(c.tau - tau()) > 1e-9 * tau() || std::abs(c.tau_c - tau()) > 1e-9 * tau()) return false;
  return true;
}

std::vector<Quatd> section_frames(const Model& m, const Chain& c, std::span<const Quatd> frames) {
  (void)m;
  std::vector<Quatd> q(c.vertices.size());
  const std::size_t n = c.segments.size();
  const auto of = [&](std::size_t i) { return frames[static_cast<std::size_t>(c.segments[i])]; };
  for (std::size_t k = 0; k <= n; ++k) {
    if (c.anchor[k] >= 0) {
      q[k] = frames[static_cast<std::size_t>(c.anchor[k])];
    } else if (k > 0 && k < n) {
      q[k] = normalized(of(k - 1) + aligned(of(k), of(k - 1)));
    } else if (n == 1) {
      q[k] = of(0);
    } else if (k == 0) {
      q[k] = normalized(of(0) * conj(half_rotation(conj(of(0)) * of(1))));
    } else {
      q[k] = normalized(of(n - 1) * half_rotation(conj(of(n - 2)) * of(n - 1)));
    }
  }
  return q;
}

Quatd segment_frame(const Vec3d& from, const Vec3d& to, const Quatd& first, const Quatd& second) {
  const Quatd mean = normalized(first + aligned(second, first));
  return normalized(rotation_between(director3(mean), normalized(to - from)) * mean);
}

}  // namespace osier::deti

// Friction of the contacts at hand: Coulomb limits, and anchors that come from the step before.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "contact/contact_terms.hpp"
#include "math/quat.hpp"

namespace osier::contact {

Vec3d ContactStep::slip_of(const Contact& c, const std::vector<Vec3d>& u) const {
  Vec3d z = c.anchor;
  for (std::size_t j = 0; j < 4; ++j)
    if (c.vertex[j] >= 0) z += c.rub[j] * u[c.vertex[j]];
  return across_normal(z, c.unit);
}

/// The memory of this pair, or, for one that has none, of the neighbouring pair that carried most: a contact that moves on along
/// a rod keeps its anchor.
const RememberedPair* ContactStep::inherited(const Contact& c) const {
  const auto find = [&](const Pair& pair) -> const RememberedPair* {
    const auto found =
        std::lower_bound(memory_.begin(), memory_.end(), pair, [](const RememberedPair& m, const Pair& p) { return m.pair < p; });
    return found != memory_.end() && found->pair == pair && found->force > 0 ? &*found : nullptr;
  };
  if (const RememberedPair* own = find(c.pair)) return own;
  const RememberedPair* best = nullptr;
  const auto around = [&](Index s, const auto& f) {
    f(s);
    for (const Index v : m_->segment_vertices[s])
      for (const Index e : m_->vertex_segments.of(v))
        if (e / 2 != s) f(e / 2);
  };
  each_pair_around(c.pair, around, [&](const Pair& pair) {
    if (const RememberedPair* other = find(pair); other && (!best || other->force > best->force)) best = other;
  });
  return best;
}

/// The same contact at the linearise() before.
const Contact* ContactStep::earlier(const Contact& c) const {
  auto found =
      std::lower_bound(earlier_.begin(), earlier_.end(), c.pair, [](const Contact& e, const Pair& p) { return e.pair < p; });
  const bool two = c.pair.with_obstacle() && contacts_->obstacles()[c.pair.obstacle()]->kind() == Obstacle::Kind::hollow;
  for (; found != earlier_.end() && found->pair == c.pair; ++found)
    if (!two || found->weight[0] == c.weight[0]) return &*found;
  return nullptr;
}

void ContactStep::set_friction(Contact& c, const std::vector<Vec3d>& u, double freshness) const {
  if (!contacts_->has_friction()) return;
  const Index a = c.pair.a, b = c.pair.b;
  const double mu = c.pair.with_obstacle() ? contacts_->friction_with(a, c.pair.obstacle()) : contacts_->friction(a, b);
  c.unit = normalized(c.n);
  // Oblique pushes of neighbouring segments cancel, but not at the end of a rod that points at the other one, nor against an
  // obstacle.
  const auto across = [&](std::size_t first) {
    const Index v0 = c.vertex[first], v1 = c.vertex[first + 1];
    const Index nearest = c.weight[first] == 0 ? v1 : c.weight[first + 1] == 0 ? v0 : -1;
    if (nearest >= 0 && m_->vertex_segments.of(nearest).size() == 1) return 1.0;
    return share_across(c.unit, at(u, v1) - at(u, v0));
  };
  c.limit = mu * c.force * (c.pair.with_obstacle() ? 1 : across(0) * across(2));
  c.rub = c.weight;
  const Contact* before = freshness < 1 ? earlier(c) : nullptr;
  if (freshness < 1) c.limit = freshness * c.limit + (1 - freshness) * (before ? before->limit : 0);
  if (!(c.limit > 0)) return;
  if (before && before->limit > 0) {
    for (std::size_t j = 0; j < 4; ++j) c.rub[j] = freshness * c.weight[j] + (1 - freshness) * before->rub[j];
    c.unit = normalized(freshness * c.unit + (1 - freshness) * before->unit);
  }
  c.slip = c.pair.with_obstacle() ? contacts_->slip(a) : 0.5 * (contacts_->slip(a) + contacts_->slip(b));
  if (const RememberedPair* known = inherited(c)) c.anchor = turned_anchor(known->anchor, known->normal, c.unit);
  if (c.pair.with_obstacle()) {
    const std::size_t o = c.pair.obstacle();
    c.anchor -= contacts_->obstacles()[o]->moved(c.pair.feature, c.surface, obstacle_share_[o]);
  }
  c.z = slip_of(c, u);
  c.friction = friction(c.limit, c.slip, norm(c.z));
}

}  // namespace osier::contact

// The gradient of the contacts at hand, products with their exact Hessian, and positive blocks that bound it. Everything is
// gathered vertex by vertex, so that sums do not depend on the number of threads.
#include <algorithm>
#include <cmath>

#include "contact/contact_step.hpp"
#include "contact/contact_terms.hpp"

namespace osier::contact {

/// Sorts the sides of all contacts by segment, and lists the vertices of these: what belongs to a vertex is gathered from there.
void ContactStep::list_touches() {
  const auto segments = static_cast<std::size_t>(m_->segment_count());
  touch_start_.assign(segments + 1, 0);
  const auto each_side = [&](const auto& f) {
    for (std::size_t c = 0; c < contacts_at_hand_.size(); ++c) {
      const Pair& pair = contacts_at_hand_[c].pair;
      f(static_cast<std::size_t>(pair.a), 2 * c);
      if (!pair.with_obstacle()) f(static_cast<std::size_t>(pair.b), 2 * c + 1);
    }
  };
  each_side([&](std::size_t s, std::size_t) { ++touch_start_[s + 1]; });
  for (std::size_t s = 0; s < segments; ++s) touch_start_[s + 1] += touch_start_[s];
  touch_.resize(touch_start_[segments]);
  // Filling moves every start to the one after it; afterwards they are moved back.
  each_side([&](std::size_t s, std::size_t side) { touch_[touch_start_[s]++] = side; });
  for (std::size_t s = segments; s > 0; --s) touch_start_[s] = touch_start_[s - 1];
  touch_start_[0] = 0;
  touched_.clear();
  for (Index v = 0; v < m_->vertex_count() && !touch_.empty(); ++v)
    for (const Index e : m_->vertex_segments.of(v))
      if (touch_start_[e / 2] < touch_start_[e / 2 + 1]) {
        touched_.push_back(v);
        break;
      }
}

/// Calls f(c, j) for every contact c of a vertex, of whose vertices it is number j.
template <class F>
void ContactStep::each_touch(Index v, const F& f) const {
  for (const Index e : m_->vertex_segments.of(v))
    for (std::size_t k = touch_start_[e / 2]; k < touch_start_[e / 2 + 1]; ++k)
      f(touch_[k] / 2, 2 * (touch_[k] % 2) + static_cast<std::size_t>(e % 2));
}

/// Calls f(v) for every vertex that touches something, on all threads.
template <class F>
void ContactStep::each_touched(const F& f) const {
  executor_.for_each(
      touched_.size(), [&](std::size_t i) { f(touched_[i]); }, 4);
}

void ContactStep::add_gradient(std::vector<Vec3d>& gx) const {
  each_touched([&](Index v) {
    Vec3d sum;
    each_touch(v, [&](std::size_t i, std::size_t j) {
      const Contact& c = contacts_at_hand_[i];
      sum += c.rub[j] * c.friction_force() - (c.weight[j] * c.force) * c.n;
    });
    gx[v] += sum;
  });
}

/// A block over the two ends of a segment is at most its rows' sums on the diagonal.
void ContactStep::list_blocks(std::vector<systems::VertexBlock>& blocks) const {
  blocks.clear();
  for (const Index v : touched_)
    if (!c_->vertex_fixed[v]) blocks.push_back({.segment = -1, .a = v, .aa = {}, .ab = {}, .bb = {}});
  executor_.for_each(
      blocks.size(),
      [&](std::size_t i) {
        Mat3<double> sum{};
        each_touch(blocks[i].a, [&](std::size_t contact, std::size_t j) {
          const Contact& c = contacts_at_hand_[contact];
          const std::size_t other = j ^ 1;  // end of the same segment
          sum = sum + (c.weight[j] * (c.weight[j] + c.weight[other]) * c.stiffness) * outer(c.n, c.n);
          if (c.limit > 0) sum = sum + (c.rub[j] * (c.rub[j] + c.rub[other])) * friction_block(c.friction, c.unit, c.z);
          if (!c.pair.with_obstacle() || c.sliding.count == 0) return;
          const auto& y = c.sliding.y[0];
          sum = sum + c.force * outer(y[j], y[j] + y[other]);
        });
        blocks[i].aa = sum;
      },
      8);
}

void ContactStep::add_diagonal(std::vector<Mat3<double>>& blocks) const {
  each_touched([&](Index v) {
    Mat3<double> sum = blocks[v];
    each_touch(v, [&](std::size_t i, std::size_t j) {
      const Contact& c = contacts_at_hand_[i];
      const auto add = [&](const std::array<double, 4>& weight, const Mat3<double>& block) {
        sum = sum + majorised(weight, j) * block;
      };
      add(c.weight, c.stiffness * outer(c.n, c.n));
      if (c.limit > 0) add(c.rub, friction_block(c.friction, c.unit, c.z));
      if (c.pair.with_obstacle() && c.sliding.count > 0) sum = sum + 2 * c.force * outer(c.sliding.y[0][j], c.sliding.y[0][j]);
    });
    blocks[v] = sum;
  });
}

/// The product with the Hessian of one contact, for its vertices.
std::array<Vec3d, 4> ContactStep::product_of(const Contact& c, const std::vector<Vec3d>& p, Part part) const {
  std::array<Vec3d, 4> moved{}, image{};
  const std::size_t ends = c.pair.with_obstacle() ? 2 : 4;
  for (std::size_t j = 0; j < ends; ++j) moved[j] = p[c.vertex[j]];
  const auto sum = [&](const std::array<double, 4>& weight) {
    Vec3d q;
    for (std::size_t j = 0; j < ends; ++j) q += weight[j] * moved[j];
    return q;
  };
  const Vec3d q = sum(c.weight);
  const double along_n = dot(c.n, q);
  Vec3d y = (c.stiffness * along_n) * c.n;
  const bool whole = part == Part::whole;
  double g = c.force;
  if (whole && c.pair.with_obstacle()) {
    y -= g * (c.curvature * q);
  } else if (whole) {
    g = c.distance > 0 ? c.force / c.distance : 0;
    y += (g * along_n) * c.n - g * q;
  }
  for (int k = 0; whole && k < c.sliding.count; ++k) {
    const std::array<Vec3d, 4>& row = c.sliding.y[static_cast<std::size_t>(k)];
    double along = 0;
    for (std::size_t j = 0; j < ends; ++j) along += dot(row[j], moved[j]);
    for (std::size_t j = 0; j < ends; ++j) image[j] += (g * along) * row[j];
  }
  for (std::size_t j = 0; j < ends; ++j) image[j] += c.weight[j] * y;
  if (!(c.limit > 0)) return image;
  const Vec3d slide = sum(c.rub);
  const double size2 = norm2(c.z);
  Vec3d drag = c.friction.across * (slide - dot(c.unit, slide) * c.unit);
  if (size2 > 0) drag += ((c.friction.along - c.friction.across) * dot(c.z, slide) / size2) * c.z;
  for (std::size_t j = 0; j < ends; ++j) image[j] += c.rub[j] * drag;
  return image;
}

void ContactStep::add_product(const std::vector<Vec3d>& p, std::vector<Vec3d>& image, Part part) const {
  product_.resize(contacts_at_hand_.size());
  executor_.for_each(
      product_.size(), [&](std::size_t i) { product_[i] = product_of(contacts_at_hand_[i], p, part); }, 4);
  each_touched([&](Index v) { each_touch(v, [&](std::size_t c, std::size_t j) { image[v] += product_[c][j]; }); });
}

}  // namespace osier::contact

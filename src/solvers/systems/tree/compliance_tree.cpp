#include "solvers/systems/tree/compliance_tree.hpp"

#include <algorithm>

#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::systems {

namespace {

constexpr Index kNowhere = std::numeric_limits<Index>::min();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

template <class T>
void ComplianceTree<T>::bind(const Model& m, const Control& c, const Subset& subset, double) {
  m_ = &m;
  c_ = &c;
  subset_ = &subset;
  tree_ = next_tree_ ? std::move(*next_tree_) : build_tree(m, c, subset);
  next_tree_.reset();
  link_force_.resize(at(m.segment_count()));
  roots_.resize(tree_.roots.size());
  vertex_place_.assign(at(m.vertex_count()), kNowhere);
  segment_node_.assign(at(m.segment_count()), kNowhere);
  for (std::size_t i = 0; i < nodes().size(); ++i) {
    segment_node_[at(nodes()[i].segment)] = static_cast<Index>(i);
    if (nodes()[i].far_vertex >= 0) vertex_place_[at(nodes()[i].far_vertex)] = static_cast<Index>(i);
  }
  for (std::size_t r = 0; r < tree_.roots.size(); ++r) vertex_place_[at(tree_.roots[r])] = ~static_cast<Index>(r);
  extra_rows_.clear();
  plan_factor(extra_rows_);
}

/// All constraint rows: those of the tree, then those of blocks on the ends of segments.
template <class T>
void ComplianceTree<T>::plan_factor(const std::vector<ConstraintRow<T>>& extra) {
  std::vector<AxisSets> axes;
  for (const TreeNode& n : nodes()) axes.push_back(axis_sets(*m_, n));
  std::vector<RowEnds> ends = tree_.row_ends();
  const auto node_count = static_cast<int>(nodes().size());
  for (const ConstraintRow<T>& row : extra) {
    RowEnds e;
    for (int k = 0; k < 2; ++k) e.place[k] = row.end[k].root >= 0 ? node_count + row.end[k].root : row.end[k].node;
    ends.push_back(e);
  }
  factor_.plan(tree_.parents(), static_cast<int>(tree_.roots.size()), ends, axes);
  planned_extra_ = extra.size();
}

/// Splits blocks [[aa, ab], [ab', bb]] into constraint rows of rank one.
template <class T>
std::vector<ConstraintRow<T>> ComplianceTree<T>::rows_of_blocks(std::span<const VertexBlock> blocks) const {
  std::vector<ConstraintRow<T>> rows;
  for (const VertexBlock& block : blocks) {
    if (block.segment < 0) continue;
    typename ConstraintRow<T>::End ends[2];
    const Index vertex[2] = {block.a, m_->segment_vertices[block.segment][1]};
    for (int k = 0; k < 2; ++k) {
      const Index place = vertex_place_[at(vertex[k])];
      if (place >= 0) ends[k].node = place;
      else if (place != kNowhere) ends[k].root = ~place;
    }
    add_block_rows(rows, ends[0], ends[1], cast3<T>(block.aa), cast3<T>(block.ab), cast3<T>(block.bb));
  }
  return rows;
}

template <class T>
bool ComplianceTree<T>::is_positive() {
  for (std::size_t i = 0; i < nodes().size(); ++i)
    if (!factor_.is_positive(static_cast<int>(i))) return false;
  return factor_.are_others_positive();
}

template <class T>
Signature ComplianceTree<T>::linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) {
  if (how.shift.size != 0) return {};  // shifts are for exact systems
  hessian_.set(potential, z, how.blocks);
  frames_move_ = how.frames_move;
  extra_rows_ = rows_of_blocks(how.blocks);
  if (extra_rows_.size() != planned_extra_ || !extra_rows_.empty()) plan_factor(extra_rows_);
  extra_.clear();
  for (const VertexBlock& block : how.blocks) {
    if (block.segment >= 0) continue;
    extra_.resize(at(m_->vertex_count()));
    extra_[at(block.a)] = extra_[at(block.a)] + block.aa;
  }
  const auto add_extra = [&](Mat3<T>& to, Index v) {
    if (!extra_.empty() && v >= 0) to = to + cast3<T>(extra_[at(v)]);
  };
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    roots_[r] = assemble_root<T>(potential, z, tree_.roots[r]);
    add_extra(roots_[r].stiffness, tree_.roots[r]);
  }
  const bool exact = how.curvature == Curvature::exact;
  factor_.allow_either_sign(exact);
  const auto link = [&](std::size_t i) {
    const Vec3d force = how.frames_move ? cast<double>(link_force_[at(nodes()[i].segment)]) : Vec3d{};
    Link<T> l = assemble_link<T>(potential, z, tree_, i, force, how.curvature, how.couples);
    const Index far = nodes()[i].far_vertex;
    if (far >= 0 && potential.is_free(far)) add_extra(l.load_stiffness.xx, far);
    return how.frames_move ? l : with_still_frame(l);
  };
  const std::size_t own = tree_.rows.size();
  const auto rows = [&](std::size_t begin, std::size_t end, const auto& put) {
    assemble_rows<T>(potential, z, tree_, std::min(begin, own), std::min(end, own),
                     [&](std::size_t i, const ConstraintRow<T>& row) { put(i, how.frames_move ? row : with_still_frames(row)); });
    for (std::size_t i = std::max(begin, own); i < end; ++i) put(i, extra_rows_[i - own]);
  };
  factor_.factor_made(link, roots_, rows, &executor_);
  return {.negative = 0, .definite = !exact || is_positive()};
}

template <class T>
bool ComplianceTree<T>::step(const Accuracy&) {
  factor_.solve(&executor_, [&](int i, const Vec6<T>& F, const Vec3<T>&) {
    if (frames_move_) link_force_[at(nodes()[at(i)].segment)] = F.x;
  });
  return true;
}

/// The corrections of vertices and frames that are held are 0 but for rounding.
template <class T>
Vec3d ComplianceTree<T>::displacement(Index v) const {
  const Index place = vertex_place_[at(v)];
  if (place == kNowhere) return {};
  if (place < 0) return cast<double>(factor_.root_displacement()[at(~place)]);
  return c_->vertex_fixed[v] ? Vec3d{} : cast<double>(factor_.displacement()[at(place)].x);
}
template <class T>
Vec3d ComplianceTree<T>::turn(Index s) const {
  const Index node = segment_node_[at(s)];
  if (node < 0 || c_->frame_control[s] == FrameControl::fixed) return {};
  return cast<double>(factor_.displacement()[at(node)].w);
}

template <class T>
bool ComplianceTree<T>::solve(const Field& r, Field& z) {
  const auto force = [&](std::size_t i) {
    const TreeNode& n = nodes()[i];
    return Vec6<T>{n.far_vertex >= 0 ? cast<T>(r.x[n.far_vertex]) : Vec3<T>{}, cast<T>(r.w[n.segment])};
  };
  factor_.load_made(
      force, [&](std::size_t root) { return cast<T>(r.x[tree_.roots[root]]); }, executor_);
  factor_.solve(&executor_, [](int, const Vec6<T>&, const Vec3<T>&) {});
  return gather(*m_, *subset_, executor_, z);
}

template <class T>
bool ComplianceTree<T>::has_couples() const {
  return std::any_of(nodes().begin(), nodes().end(), [&](const TreeNode& n) { return !is_isotropic_segment(*m_, n.segment); });
}

template <class T>
std::size_t ComplianceTree<T>::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return tree_.bytes() + factor_.bytes() + of(link_force_) + of(roots_) + of(vertex_place_) + of(segment_node_);
}

template <class T>
std::size_t ComplianceTree<T>::bytes(const Model& m, const Tree& tree) {
  std::size_t axes = 0;
  for (const TreeNode& n : tree.nodes) axes += static_cast<std::size_t>(axis_sets(m, n));
  return tree.bytes() + TreeFactor<T>::bytes(tree.plan(), tree.rows.size(), axes) + tree.roots.size() * sizeof(RootVertex<T>) +
         at(m.segment_count()) * (sizeof(Vec3<T>) + sizeof(Index)) + at(m.vertex_count()) * sizeof(Index);
}

template class ComplianceTree<float>;
template class ComplianceTree<double>;

}  // namespace osier::systems

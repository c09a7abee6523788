// Some of a model's segments with whatever belongs to them, as lists of indices: what is stepped apart from the rest.
#pragma once

#include <vector>

#include "osier/model.hpp"

namespace osier {

/// Elements of one kind: all of them, or those of a list.
class IndexList {
 public:
  IndexList() = default;
  explicit IndexList(Index count) : count_(count) {}
  explicit IndexList(std::vector<Index> list) : list_(std::move(list)), count_(static_cast<Index>(list_.size())), whole_(false) {}
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  Index operator[](std::size_t i) const { return whole_ ? static_cast<Index>(i) : list_[i]; }
  std::size_t bytes() const { return list_.capacity() * sizeof(Index); }

 private:
  std::vector<Index> list_;
  Index count_ = 0;
  bool whole_ = true;
};

struct Subset {
  IndexList vertices, segments, joints;  ///< ascending; of a whole model dead ones as well
  IndexList frames;                      ///< segments, and all anchors

  /// Empty: every living segment belongs to it.
  std::vector<std::uint8_t> segment_in;

  bool is_whole() const { return segment_in.empty(); }
  bool has_segment(const Model& m, Index s) const {
    return m.segment_alive[s] && (is_whole() || segment_in[static_cast<std::size_t>(s)]);
  }
  /// Of a joint: all frames that are not anchors are in it.
  bool has_joint(const Model& m, Index j) const;
  /// Whether some segment of it ends at the vertex.
  bool has_vertex(const Model& m, Index v) const;
  std::size_t bytes() const {
    return vertices.bytes() + segments.bytes() + joints.bytes() + frames.bytes() + segment_in.capacity();
  }
};

Subset whole_of(const Model& model);
/// `wanted` per segment; dead ones do not count.
Subset subset_of(const Model& model, std::vector<std::uint8_t> wanted);

}  // namespace osier

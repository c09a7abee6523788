// A cursor over bytes, little-endian unless told, that never reads past their end.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "io/curves/source.hpp"
#include "osier/types.hpp"

namespace osier {

static_assert(std::endian::native == std::endian::little, "the binary curve formats are read as they lie in memory");

class BinaryCursor {
 public:
  explicit BinaryCursor(const CurveSource& source, std::size_t at = 0, std::endian order = std::endian::little)
      : source_(&source), at_(at), order_(order) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return source_->bytes.size() - at_; }

  template <class T>
  T take(const char* what) {
    need(sizeof(T), what);
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), source_->bytes.data() + at_, sizeof(T));
    if (order_ == std::endian::big) std::reverse(bytes.begin(), bytes.end());
    at_ += sizeof(T);
    return std::bit_cast<T>(bytes);
  }

  /// A number that is finite.
  double take_float(const char* what) {
    const std::size_t before = at_;
    const auto value = static_cast<double>(take<float>(what));
    if (!std::isfinite(value)) source_->fail_at_byte(before, fmt::format("{} is not finite", what), "write the file anew");
    return value;
  }
  Vec3d take_point() {
    const double x = take_float("a coordinate"), y = take_float("a coordinate"), z = take_float("a coordinate");
    return {x, y, z};
  }

  void need(std::size_t bytes, const char* what) const {
    if (left() < bytes)
      source_->fail_at_byte(at_, fmt::format("the file ends inside {} ({} bytes left)", what, left()),
                            "it is cut off: copy it again");
  }
  void skip(std::size_t bytes, const char* what) {
    need(bytes, what);
    at_ += bytes;
  }

 private:
  const CurveSource* source_;
  std::size_t at_;
  std::endian order_;
};

}  // namespace osier

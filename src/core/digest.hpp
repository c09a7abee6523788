// A 64-bit fingerprint of numbers, bit by bit: two states have the same one when they are the same, and otherwise as good as
// never. Not for secrets.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace osier {

class Digest {
 public:
  /// Four independent streams of multiplications, so that memory and not latency limits the speed.
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    mix(size_ += size, 0);
    std::size_t at = 0;
    for (; at + 32 <= size; at += 32)
      for (std::size_t lane = 0; lane < 4; ++lane) {
        std::uint64_t word;
        std::memcpy(&word, bytes + at + 8 * lane, 8);
        mix(word, lane);
      }
    for (std::size_t lane = 0; at < size; at += 8, ++lane) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
      mix(word, lane);
    }
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void add(const std::vector<T>& values) {
    add(values.data(), values.size() * sizeof(T));
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add(double value) { add(&value, sizeof value); }

  std::uint64_t value() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t s : stream_) sum = finish(sum ^ s);
    return sum;
  }

 private:
  void mix(std::uint64_t word, std::size_t lane) {
    std::uint64_t& s = stream_[lane];
    s = (s ^ word) * 0x9e3779b97f4a7c15u;
    s ^= s >> 29;
  }
  static std::uint64_t finish(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
  }
  std::uint64_t stream_[4] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
  std::uint64_t size_ = 0;
};

}  // namespace osier

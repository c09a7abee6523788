// Values as bytes and back, by one function for both ways: what writes a checkpoint is what reads it.
//
// A type that is more than its bytes says what it consists of:   void carry(Archive& a) { a(position_, count_); }
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "osier/error.hpp"

namespace osier {

class Archive {
 public:
  /// Collects bytes.
  Archive() = default;
  /// Reads those that another has collected.
  explicit Archive(std::string bytes) : bytes_(std::move(bytes)), reads_(true) {}

  bool reads() const { return reads_; }
  const std::string& bytes() const { return bytes_; }
  bool at_end() const { return at_ == bytes_.size(); }

  template <class... T>
  void operator()(T&... values) {
    (carry(values), ...);
  }

 private:
  template <class T>
  void carry(T& value) {
    if constexpr (requires { value.carry(*this); }) value.carry(*this);
    else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "say what the type consists of");
      raw(&value, sizeof(T));
    }
  }
  template <class A, class B>
  void carry(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T>
  void carry(std::optional<T>& value) {
    bool there = value.has_value();
    carry(there);
    if (reads_ && there) value.emplace();
    if (reads_ && !there) value.reset();
    if (there) carry(*value);
  }
  void carry(std::string& text) { list(text); }
  template <class T, class A>
  void carry(std::vector<T, A>& values) {
    list(values);
  }

  template <class List>
  void list(List& values) {
    using T = typename List::value_type;
    std::uint64_t count = values.size();
    carry(count);
    constexpr bool flat = std::is_trivially_copyable_v<T> && !requires(T& t, Archive& a) { t.carry(a); };
    if (reads_ && count > (bytes_.size() - at_) / (flat ? sizeof(T) : 1)) fail();
    if (reads_) values.resize(static_cast<std::size_t>(count));
    if constexpr (flat) raw(values.data(), values.size() * sizeof(T));
    else
      for (T& value : values) carry(value);
  }
  void raw(void* data, std::size_t size) {
    if (size == 0) return;
    if (!reads_) {
      bytes_.append(static_cast<const char*>(data), size);
      return;
    }
    if (size > bytes_.size() - at_) fail();
    std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }
  [[noreturn]] static void fail() { throw RunError("the saved state is damaged: it is too short"); }

  std::string bytes_;
  std::size_t at_ = 0;
  bool reads_ = false;
};

/// What `carry` puts into an archive, on its own: for something that does not exist yet when the rest is read.
template <class Carry>
std::string carried(const Carry& carry) {
  Archive archive;
  carry(archive);
  return archive.bytes();
}

}  // namespace osier

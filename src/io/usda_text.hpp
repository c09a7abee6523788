// Values as USD writes them in its text form.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

#include "math/vec3.hpp"

namespace osier::usda {

class Text {
 public:
  fmt::appender out() { return fmt::appender(buffer_); }
  std::string str() const { return {buffer_.data(), buffer_.size()}; }

 private:
  fmt::memory_buffer buffer_;
};

/// "[a, b, c]".
template <class Range, class Print>
std::string list(const Range& values, Print print) {
  Text text;
  fmt::format_to(text.out(), "[");
  bool first = true;
  for (const auto& value : values) {
    if (!first) fmt::format_to(text.out(), ", ");
    print(text.out(), value);
    first = false;
  }
  fmt::format_to(text.out(), "]");
  return text.str();
}

inline void print_vector(fmt::appender out, const Vec3d& v) {
  fmt::format_to(out, "({}, {}, {})", static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z));
}

inline std::string usd_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) < 32) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out + '"';
}

}  // namespace osier::usda

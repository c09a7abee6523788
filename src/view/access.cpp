#include "view/access.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <random>

namespace osier::view {

std::string make_token() {
  std::random_device random;  // the system's, not a generator with a seed
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return token;
}

bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::string_view token_of(std::string_view target) {
  std::size_t at = target.find('?');
  while (at != std::string_view::npos) {
    target.remove_prefix(at + 1);
    at = target.find('&');
    std::string_view pair = target.substr(0, at);
    if (pair.starts_with("token=")) return pair.substr(6);
  }
  return {};
}

bool is_own_host(std::string_view host, int port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

bool is_own_origin(std::string_view origin, int port) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_own_host(origin.substr(kScheme.size()), port);
}

}  // namespace osier::view

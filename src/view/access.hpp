// Who may come in: the token in the address, the name under which we are called, the page that calls.
#pragma once

#include <string>
#include <string_view>

namespace osier::view {

/// 128 random bits in hexadecimal.
std::string make_token();

/// In a time that does not tell how much of it was right.
bool same_token(std::string_view a, std::string_view b);

/// The value of `token` in "/path?token=value".
std::string_view token_of(std::string_view target);
std::string_view path_of(std::string_view target);

/// "127.0.0.1:port" or "localhost:port": a page elsewhere that had its name resolve to this machine has another one.
bool is_own_host(std::string_view host, int port);
/// "http://" and one of these.
bool is_own_origin(std::string_view origin, int port);

}  // namespace osier::view

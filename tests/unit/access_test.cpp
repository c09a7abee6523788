// Who may talk to the viewer's server.
#include "view/access.hpp"

#include <gtest/gtest.h>
#include <set>

namespace osier::view {
namespace {

TEST(Access, TokensHave128BitsAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string token = make_token();
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(token);
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST(Access, OnlyTheWholeTokenIsTheToken) {
  const std::string token = make_token();
  EXPECT_TRUE(same_token(token, token));
  EXPECT_FALSE(same_token(token, token.substr(1)));
  EXPECT_FALSE(same_token("", token));
  std::string wrong = token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_FALSE(same_token(wrong, token));
}

TEST(Access, TheTokenIsFoundInTheAddress) {
  EXPECT_EQ(token_of("/?token=abc"), "abc");
  EXPECT_EQ(token_of("/ws?x=1&token=abc&y=2"), "abc");
  EXPECT_EQ(token_of("/?mytoken=abc"), "");
  EXPECT_EQ(token_of("/token=abc"), "");
  EXPECT_EQ(path_of("/ws?token=abc"), "/ws");
  EXPECT_EQ(path_of("/"), "/");
}

TEST(Access, OtherNamesAndOriginsAreNotOurs) {
  EXPECT_TRUE(is_own_host("127.0.0.1:8000", 8000));
  EXPECT_TRUE(is_own_host("localhost:8000", 8000));
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:80", "evil.example:8000", "127.0.0.1:8000.evil.example", "localhost.:8000"})
    EXPECT_FALSE(is_own_host(host, 8000)) << host;
  EXPECT_TRUE(is_own_origin("http://127.0.0.1:8000", 8000));
  for (const char* origin : {"null", "https://127.0.0.1:8000", "http://evil.example", "http://127.0.0.1:8000/", "file://"})
    EXPECT_FALSE(is_own_origin(origin, 8000)) << origin;
}

}  // namespace
}  // namespace osier::view

// Text for messages, and the list of problems that it is made for.
#include "core/text.hpp"

#include <gtest/gtest.h>

#include "osier/error.hpp"

namespace osier {
namespace {

TEST(Text, ControlCharactersAreWrittenOutAndNothingElseIsChanged) {
  EXPECT_EQ(printable("plain, grün ✓"), "plain, grün ✓");
  EXPECT_EQ(printable("a\x1b[31m\r\n\tb\x7f"), "a\\x1b[31m\\x0d\\n\\tb\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xC2\x9b"
                      "2J \xC2\xA0"),
            "\\x9b"
            "2J \xC2\xA0");  // U+009B begins a terminal's command, U+00A0 is a space
  EXPECT_EQ(printable("\xC2"), "\xC2");
}

TEST(Problems, TheSameThingSaidTwiceCountsOnce) {
  Problems problems;
  problems.add("/a", "is wrong", "mend it");
  problems.add("/a", "is wrong", "or leave it");
  problems.add("/a", "is long");
  problems.add("/b", "is wrong");
  EXPECT_EQ(problems.size(), 3U);
  try {
    problems.throw_if_any();
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(to_string(e.problems().front()), "/a: is wrong; mend it");
  }
}

TEST(Problems, APlaceIsMentionedByItselfAndByWhatIsInside) {
  Problems problems;
  problems.add("/rods/1/name", "is wrong");
  for (const char* inside : {"/rods/1/name", "/rods/1", "/rods"}) EXPECT_TRUE(problems.mentions(inside)) << inside;
  for (const char* outside : {"/rods/1/nam", "/rods/1/name/x", "/rods/10", "/rod", "/rods/1/names"})
    EXPECT_FALSE(problems.mentions(outside)) << outside;
  problems.tell_at([](const std::string&) { return "/elsewhere"; });
  EXPECT_TRUE(problems.mentions("/elsewhere"));
  EXPECT_FALSE(problems.mentions("/rods"));
}

}  // namespace
}  // namespace osier

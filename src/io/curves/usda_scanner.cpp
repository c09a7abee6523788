#include "io/curves/usda_scanner.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "io/curves/scan.hpp"

namespace osier {

namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '.' ||
         c == '[' || c == ']' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_number_character(char c) {
  return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

void UsdaScanner::fail_at(std::size_t at, const std::string& what, const std::string& remedy) const {
  const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at, text_.size()));
  source_.fail_at_line(static_cast<std::size_t>(std::count(text_.begin(), end, '\n')) + 1, what, remedy);
}

bool UsdaScanner::at_end() { return peek() == 0 && at_ >= text_.size(); }

char UsdaScanner::peek() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#' || (c == '/' && text_.substr(at_, 2) == "//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) fail("a comment that does not end", "close it with */");
      at_ = end + 2;
    } else if (is_blank(c) || c == '\n') {
      ++at_;
    } else {
      return c;
    }
  }
  return 0;
}

bool UsdaScanner::accept(char c) {
  if (at_end() || peek() != c) return false;
  ++at_;
  return true;
}

void UsdaScanner::expect(char c, const char* what) {
  if (accept(c)) return;
  if (at_end()) fail(fmt::format("the file ends inside {}", what), "it is cut off: copy it again");
  fail(fmt::format("{} where {} needs `{}`", in_quotes(text_.substr(at_, 12)), what, c), "is this USD text?");
}

std::string_view UsdaScanner::word() {
  peek();
  const std::size_t first = at_;
  while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
  return text_.substr(first, at_ - first);
}

std::vector<std::string_view> UsdaScanner::words_of_line() {
  std::vector<std::string_view> words;
  peek();
  for (;;) {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ >= text_.size() || !is_word_character(text_[at_])) return words;
    words.push_back(word());
  }
}

/// Steps over a string; at_ is at its first quote.
void UsdaScanner::skip_quoted() {
  const std::size_t first = at_;
  const char quote = text_[at_];
  const std::string three(3, quote);
  const bool triple = text_.substr(at_, 3) == three;
  for (at_ += triple ? 3 : 1; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (triple ? text_.substr(at_, 3) == three : text_[at_] == quote) {
      at_ += triple ? 3 : 1;
      return;
    } else if (!triple && text_[at_] == '\n') {
      break;
    }
  }
  fail_at(first, "a string that does not end", "close it on the same line");
}

std::string UsdaScanner::string() {
  const char quote = peek();
  if (quote != '"' && quote != '\'')
    fail(fmt::format("{} is not a string", in_quotes(text_.substr(at_, 12))), "write it in quotes");
  const std::size_t first = at_;
  skip_quoted();
  std::string_view inner = text_.substr(first, at_ - first);
  const std::size_t quotes = inner.size() >= 6 && inner.substr(0, 3) == std::string(3, quote) ? 3 : 1;
  inner = inner.substr(quotes, inner.size() - 2 * quotes);
  std::string result;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\' || i + 1 == inner.size()) {
      result += inner[i];
      continue;
    }
    const char c = inner[++i];
    if (c == 'n') result += '\n';
    else if (c == 't') result += '\t';
    else if (c == 'r') result += '\r';
    else if (unsigned byte = 0;
             c == 'x' &&
             std::from_chars(inner.data() + i + 1, inner.data() + std::min(i + 3, inner.size()), byte, 16).ec == std::errc())
      result += static_cast<char>(byte), i += std::min<std::size_t>(2, inner.size() - i - 1);
    else result += c;
  }
  return result;
}

std::string UsdaScanner::asset() {
  if (peek() != '@') fail(fmt::format("{} is not the name of a file", in_quotes(text_.substr(at_, 12))), "write it as @name@");
  const std::string_view mark = text_.substr(at_, 3) == "@@@" ? "@@@" : "@";
  const std::size_t first = at_ + mark.size(), end = text_.find(mark, first);
  if (end == std::string_view::npos) fail("a path that does not end", "close it");
  at_ = end + mark.size();
  return std::string(text_.substr(first, end - first));
}

double UsdaScanner::number() {
  peek();
  const std::size_t first = at_;
  while (at_ < text_.size() && is_number_character(text_[at_])) ++at_;
  const std::string_view text = text_.substr(first, at_ - first);
  const std::optional<double> value = number_of(text);
  if (!value) {
    if (first >= text_.size()) fail("the file ends inside a value", "it is cut off: copy it again");
    fail_at(first, in_quotes(text.empty() ? text_.substr(first, 1) : text) + " is not a number", "write one");
  }
  return *value;
}

void UsdaScanner::skip_value() {
  const std::size_t first = at_;
  std::string open;  // brackets that wait for their partner
  do {
    const char c = peek();
    if (c == 0 && at_ >= text_.size())
      fail_at(first, "the file ends inside a value that begins here", "it is cut off: copy it again");
    if (c == '"' || c == '\'') {
      skip_quoted();
    } else if (c == '@' || c == '<') {
      const std::string_view end = c == '<' ? ">" : text_.substr(at_, 3) == "@@@" ? "@@@" : "@";
      const std::size_t found = text_.find(end, at_ + end.size());
      if (found == std::string_view::npos) fail("a path that does not end", "close it");
      at_ = found + end.size();
    } else if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
      ++at_;
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) fail(fmt::format("`{}` closes nothing", c), "remove it");
      open.pop_back();
      ++at_;
    } else if (is_number_character(c) || is_word_character(c)) {
      while (at_ < text_.size() &&
             (is_number_character(text_[at_]) || (is_word_character(text_[at_]) && text_[at_] != ']' && text_[at_] != '[')))
        ++at_;
      // In a dictionary a type may be followed by brackets: `int[] a = [1]`.
    } else if (open.empty()) {
      fail(fmt::format("{} is not a value", in_quotes(text_.substr(at_, 1))), "write one");
    } else {
      ++at_;  // commas, colons, semicolons, equal signs
    }
  } while (!open.empty());
}

/// `(1, 2, 3)`; a matrix has tuples in its tuple.
void UsdaScanner::take_tuple(std::size_t arity, std::vector<double>& out) {
  const std::size_t first = at_, before = out.size();
  int depth = 0;
  do {
    if (accept('(')) ++depth;
    else if (accept(')')) --depth;
    else if (!accept(',')) out.push_back(number());
    if (depth > 2 || out.size() - before > arity) break;
  } while (depth > 0);
  if (depth != 0 || out.size() - before != arity)
    fail_at(first, fmt::format("is not a tuple of {} numbers", arity), "write as many as the type says");
}

std::vector<double> UsdaScanner::numbers(std::size_t arity) {
  std::vector<double> out;
  const auto take = [&] {
    if (arity == 1) out.push_back(number());
    else take_tuple(arity, out);
  };
  if (peek() == 'N') {
    word();
    return out;
  }
  if (!accept('[')) {
    take();
    return out;
  }
  while (!accept(']')) {
    take();
    if (peek() != ']') expect(',', "a list");
  }
  return out;
}

std::vector<std::string> UsdaScanner::strings() {
  std::vector<std::string> out;
  if (!accept('[')) return {string()};
  while (!accept(']')) {
    out.push_back(string());
    if (peek() != ']') expect(',', "a list");
  }
  return out;
}

}  // namespace osier

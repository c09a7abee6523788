// Lines, words and numbers of text files.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/curves/source.hpp"
#include "osier/types.hpp"

namespace osier {

/// The whole word as a number; "nan" and "inf" count, words that are too large do not. std::from_chars ignores the locale.
inline std::optional<double> number_of(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || word.empty()) return {};
  if (error == std::errc()) return value;
  // Out of range: too small is nothing, too large is refused.
  const std::size_t exponent = word.find_first_of("eE");
  const bool small = exponent == std::string_view::npos ? word.find_first_of("123456789") > word.find('.')
                                                        : exponent + 1 < word.size() && word[exponent + 1] == '-';
  if (error == std::errc::result_out_of_range && small) return 0.0;
  return {};
}

inline std::optional<std::int64_t> whole_number_of(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || word.empty()) return {};
  return value;
}

/// Takes a text apart line by line, without the line ends.
class LineScanner {
 public:
  explicit LineScanner(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // a byte order mark
  }
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    ++number_;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return true;
  }
  std::size_t number() const { return number_; }  ///< of the line last given, from 1

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Takes the next word off the front of a line; empty at its end.
inline std::string_view next_word(std::string_view& line) {
  std::size_t first = 0;
  while (first < line.size() && is_blank(line[first])) ++first;
  std::size_t last = first;
  while (last < line.size() && !is_blank(line[last])) ++last;
  const std::string_view word = line.substr(first, last - first);
  line.remove_prefix(last);
  return word;
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// A word of a file for a message: short, printable.
std::string in_quotes(std::string_view word, std::size_t longest = 40);

/// Why a word is not a number, and what to do: `1,5` has a comma, `1e400` is too large, `x` is something else.
struct NumberProblem {
  std::string what, remedy;
};
NumberProblem number_problem(std::string_view word, const char* remedy);

/// Three finite numbers at the front of a line.
Vec3d take_point(std::string_view& line, const CurveSource& source, std::size_t number);

}  // namespace osier

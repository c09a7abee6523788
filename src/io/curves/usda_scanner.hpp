// Words and values of USD's text format. Values that nobody asks for are stepped over without being stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/curves/source.hpp"

namespace osier {

class UsdaScanner {
 public:
  explicit UsdaScanner(const CurveSource& source, std::size_t at = 0) : source_(source), text_(source.text()), at_(at) {}

  std::size_t at() const { return at_; }
  bool at_end();

  /// Steps over blanks, line ends and comments; gives the next character without taking it, 0 at the end.
  char peek();
  bool accept(char c);
  void expect(char c, const char* what);

  /// Letters, digits, `_`, `:`, `.`, `[]` and everything beyond ASCII. Empty when something else comes.
  std::string_view word();
  /// The words up to `=`, `(`, `{`, a quote or the end of the line.
  std::vector<std::string_view> words_of_line();
  std::string string();
  /// The name of a file, `@name@` or `@@@name@@@`.
  std::string asset();
  double number();

  /// Any value: number, word, string, asset, path, tuple, list, dictionary.
  void skip_value();

  /// `[(1, 2, 3), ...]` or `(1, 2, 3)`, flat, with `arity` numbers in each tuple; `None` is an empty list.
  std::vector<double> numbers(std::size_t arity);
  std::vector<std::string> strings();

  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const { fail_at(at_, what, remedy); }
  [[noreturn]] void fail_at(std::size_t at, const std::string& what, const std::string& remedy) const;

 private:
  void skip_quoted();
  void take_tuple(std::size_t arity, std::vector<double>& out);

  const CurveSource& source_;
  std::string_view text_;
  std::size_t at_;
};

}  // namespace osier

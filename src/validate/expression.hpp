// Arithmetic in case files: parameters, measured names with dots, the usual functions.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "osier/error.hpp"

namespace osier::validate {

/// Numbers by name: parameters, then what a run measured ("tip.x").
using Values = std::map<std::string, double, std::less<>>;

/// Says what is wrong with an expression and what to do about it.
struct ExpressionError : std::runtime_error {
  ExpressionError(const std::string& what, std::string remedy_text) : std::runtime_error(what), remedy(std::move(remedy_text)) {}
  std::string remedy;
};

/// Besides + - * / ^ and comparisons: sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp ln log10 sqrt
/// abs min max round floor, norm(x, y, z) of any number of components, elliptic_k(k) (complete, modulus k), and the constant pi.
double evaluate(const std::string& text, const Values& values);

/// Names that occur in an expression, known or not.
std::set<std::string> names_in(const std::string& text);

/// A number, or an expression as text; a leading "=" is allowed.
struct Formula {
  std::string text;
  std::string where;

  static constexpr bool only_short = true;
  static const char* kind() { return "formula"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  bool given() const { return !text.empty(); }
  /// Adds a problem and returns NaN when it cannot be evaluated.
  double value(const Values& values, Problems& problems) const;
};

/// Evaluates formulas that may refer to each other, in whatever order works. Adds a problem for what cannot be resolved.
void resolve(const std::map<std::string, Formula>& formulas, Values& values, Problems& problems);

/// A copy in which every text "=..." is the number it evaluates to, and "{...}" inside other texts the whole number.
Json fill(const Json& json, const Values& values, const std::string& at, Problems& problems);

}  // namespace osier::validate

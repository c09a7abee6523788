#include "validate/expression.hpp"

#include <cmath>
#include <fmt/format.h>
#include <muParser.h>
#include <numbers>

#include "core/fields.hpp"

namespace osier::validate {

namespace {

double norm_of(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}
double round_to_even(double x) { return std::nearbyint(x); }
double floor_of(double x) { return std::floor(x); }
double elliptic_k(double k) { return std::comp_ellint_1(k); }

mu::Parser make_parser(const std::string& text) {
  mu::Parser parser;
  parser.DefineNameChars("0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  parser.DefineConst("pi", std::numbers::pi);
  parser.DefineFun("norm", norm_of);
  parser.DefineFun("round", round_to_even);
  parser.DefineFun("floor", floor_of);
  parser.DefineFun("elliptic_k", elliptic_k);
  parser.SetExpr(text);
  return parser;
}

/// muParser ends its sentences with a full stop; our messages go on after them.
ExpressionError translate(const mu::ParserError& error) {
  std::string what = error.GetMsg();
  while (!what.empty() && (what.back() == '.' || what.back() == '\n')) what.pop_back();
  return {what, "check brackets, operators and function names"};
}

std::string number_text(const Json& j) { return fmt::format("{}", j.get<double>()); }

}  // namespace

std::set<std::string> names_in(const std::string& text) {
  try {
    mu::Parser parser = make_parser(text);
    std::set<std::string> names;
    for (const auto& [name, unused] : parser.GetUsedVar()) names.insert(name);
    return names;
  } catch (const mu::ParserError& e) {
    throw translate(e);
  }
}

double evaluate(const std::string& text, const Values& values) {
  Values used;  // muParser wants addresses it may write to
  for (const std::string& name : names_in(text)) {
    const auto known = values.find(name);
    if (known == values.end()) {
      std::vector<std::string> names;
      for (const auto& [key, unused] : values) names.push_back(key);
      const std::string guess = closest(name, names);
      throw ExpressionError(fmt::format("`{}` is unknown", name),
                            guess.empty() ? "known here: " + shorten(join(names, ", "), 300) : "did you mean `" + guess + "`?");
    }
    used[name] = known->second;
  }
  try {
    mu::Parser parser = make_parser(text);
    for (auto& [name, value] : used) parser.DefineVar(name, &value);
    return parser.Eval();
  } catch (const mu::ParserError& e) {
    throw translate(e);
  }
}

bool Formula::read_short(const Json& j, const std::string& at, Problems& problems) {
  where = at;
  if (j.is_number()) text = number_text(j);
  else if (j.is_string()) text = j.get<std::string>();
  else problems.add(at, shorten(j) + " is not a number or an expression", R"(write 0.5 or "=pi*R^2")");
  if (text.starts_with("=")) text.erase(0, 1);
  return true;
}

OrderedJson Formula::short_schema(FieldDoc& doc) {
  doc.type = "number or expression";
  return {{"type", {"number", "string"}}};
}

double Formula::value(const Values& values, Problems& problems) const {
  try {
    return evaluate(text, values);
  } catch (const ExpressionError& e) {
    problems.add(where, fmt::format("\"{}\": {}", shorten(text), e.what()), e.remedy);
    return std::nan("");
  }
}

void resolve(const std::map<std::string, Formula>& formulas, Values& values, Problems& problems) {
  std::map<std::string, const Formula*> open;
  for (const auto& [name, formula] : formulas) open[name] = &formula;
  for (bool progress = true; progress;) {
    progress = false;
    for (auto it = open.begin(); it != open.end();) {
      bool ready = true;
      try {
        for (const std::string& name : names_in(it->second->text)) ready = ready && !open.contains(name);
      } catch (const ExpressionError&) {
        ready = true;  // value() says what is wrong
      }
      if (ready) {
        values[it->first] = it->second->value(values, problems);
        it = open.erase(it);
        progress = true;
      } else {
        ++it;
      }
    }
  }
  for (const auto& [name, formula] : open) {
    values[name] = std::nan("");
    problems.add(formula->where, fmt::format("\"{}\" depends on itself", shorten(formula->text)), "break the circle");
  }
}

namespace {

/// Whole numbers as such, so that they can be counts and indices.
Json number_json(double v) {
  if (v == std::nearbyint(v) && std::abs(v) < 1e15) return static_cast<std::int64_t>(v);
  return v;
}

std::string fill_braces(const std::string& text, const Values& values, const std::string& at, Problems& problems) {
  std::string out;
  std::size_t start = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', start)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    const Formula inner{text.substr(open + 1, close - open - 1), at};
    out += text.substr(start, open - start) + number_json(inner.value(values, problems)).dump();
    start = close + 1;
  }
  return out + text.substr(start);
}

}  // namespace

Json fill(const Json& json, const Values& values, const std::string& at, Problems& problems) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (!text.starts_with("=")) return fill_braces(text, values, at, problems);
    const double v = Formula{text.substr(1), at}.value(values, problems);
    if (std::isfinite(v)) return number_json(v);
    if (!problems.mentions(at)) problems.add(at, fmt::format("\"{}\" is not a finite number", shorten(text)), "check its values");
    return 1;  // whatever: the problem is on record
  }
  if (json.is_array()) {
    Json out = Json::array();
    for (std::size_t i = 0; i < json.size(); ++i) out.push_back(fill(json[i], values, at + "/" + std::to_string(i), problems));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [key, item] : json.items()) out[key] = fill(item, values, at + "/" + escape_pointer(key), problems);
  return out;
}

}  // namespace osier::validate

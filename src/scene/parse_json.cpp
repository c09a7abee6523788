#include "scene/parse_json.hpp"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "core/json_reader.hpp"

namespace osier {

namespace {

/// Deeper than any scene, shallow enough for recursive code.
constexpr int kDeepest = 64;

std::string place(const std::string& text, std::size_t offset, const std::string& source) {
  offset = std::min(offset, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  const std::size_t start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  return fmt::format("{}:{}:{}", source, line, offset - start + 1);
}

/// Builds the value from the parser's events and knows where it is. The parser's own callbacks look through a whole list at the
/// end of each of its items, which takes a minute for a hundred thousand of them.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const std::string& source) : source_(source) {}

  Problems problems;
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in text

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.value->contains(name)) problems.add(pointer(), "the key appears twice in one object", "keep one");
    return true;
  }
  bool start_object(std::size_t) override { return begin(Json::object()); }
  bool start_array(std::size_t) override { return begin(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    if (const auto* syntax = dynamic_cast<const Json::parse_error*>(&e)) throw *syntax;
    if (const auto* range = dynamic_cast<const Json::out_of_range*>(&e)) throw *range;
    return false;
  }

 private:
  struct Level {
    Json* value;
    std::string key;  ///< of an object: the present one
  };

  Json& place() {
    if (levels_.empty()) return root_;
    Level& level = levels_.back();
    return level.value->is_array() ? level.value->emplace_back() : (*level.value)[level.key];
  }
  template <class T>
  bool add(T&& value) {
    place() = std::forward<T>(value);
    return true;
  }
  bool begin(Json empty) {
    if (static_cast<int>(levels_.size()) > kDeepest)
      throw InputError({{source_ + pointer(), "is nested too deeply", "a scene needs far fewer levels"}});
    Json& value = place() = std::move(empty);
    levels_.push_back({&value, {}});
    return true;
  }
  bool end() {
    levels_.pop_back();
    return true;
  }
  std::string pointer() const {
    std::string text;
    for (const Level& l : levels_)
      text += "/" + shorten(l.value->is_array() ? std::to_string(std::max<std::size_t>(l.value->size(), 1) - 1)
                                                : escape_pointer(l.key));
    return shorten(text, 200);
  }

  const std::string& source_;
  Json root_;
  std::vector<Level> levels_;  ///< what is open, from the outside in: none of it moves until it is closed
};

/// What most likely is wrong where the parser stumbled, in the words of somebody who writes the file by hand.
std::string remedy_for(std::string_view why) {
  const auto says = [&](std::string_view part) { return why.find(part) != std::string_view::npos; };
  if (says("unexpected end of input")) return "the file ends too early: close what is open with } or ]";
  const bool closes = says("unexpected '}'") || says("unexpected ']'"),
             is_open = says("; expected '}'") || says("; expected ']'");
  if (closes && is_open) return "close { with } and [ with ]";
  if (is_open) return "put a comma between this and what stands before it";
  if (closes) return "leave out the comma after the last item";
  return "JSON has no NaN or Infinity, needs double quotes, and has no comma after the last item; // comments are fine";
}

}  // namespace

Json parse_json(const std::string& text, const std::string& source) {
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos)
    throw InputError({{place(text, zero, source), "has a zero byte", "save it as plain UTF-8 text"}});
  Builder builder(source);
  try {
    Json::sax_parse(text, &builder, Json::input_format_t::json, true, true);
  } catch (const Json::parse_error& e) {
    std::string why = e.what();
    if (const std::size_t at = why.find(": "); at != std::string::npos) why = why.substr(at + 2);
    throw InputError(
        {{place(text, e.byte > 0 ? e.byte - 1 : 0, source), "not valid JSON: " + shorten(why, 160), remedy_for(why)}});
  } catch (const Json::out_of_range& e) {
    // The message ends with the number in quotes.
    const std::string why = e.what();
    const std::size_t open = why.find('\'');
    const std::string number = open == std::string::npos ? "" : why.substr(open + 1, why.rfind('\'') - open - 1);
    throw InputError({{place(text, number.empty() ? 0 : text.find(number), source),
                       "the number " + shorten(number) + " is too large", "use a finite number"}});
  }
  builder.problems.throw_if_any();
  return builder.take();
}

void apply_override(Json& json, const std::string& text, Problems& problems) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text[0] != '/') {
    problems.add("--set " + shorten(text), "is not pointer=value", "write e.g. --set /analysis/step=0.001");
    return;
  }
  const std::string pointer = text.substr(0, equals), value_text = text.substr(equals + 1);
  const std::string where = "--set " + shorten(pointer);
  Json value;
  try {
    value = parse_json(value_text, where);
  } catch (const InputError& e) {
    const bool structured = value_text.find_first_of("{[") == 0;
    if (structured) {
      for (const Problem& p : e.problems()) problems.add(p.where, p.what, p.remedy);
      return;
    }
    value = value_text;  // a bare word
  }
  Json* at = &json;
  std::size_t start = 1;
  while (true) {
    const std::size_t slash = pointer.find('/', start);
    std::string token = pointer.substr(start, slash == std::string::npos ? std::string::npos : slash - start);
    for (std::size_t i = token.find('~'); i != std::string::npos; i = token.find('~', i + 1))
      if (i + 1 == token.size() || (token[i + 1] != '0' && token[i + 1] != '1')) {
        problems.add(where, "is not a place in this scene: ~ stands only in ~0 and ~1",
                     "write a JSON pointer such as /analysis/step");
        return;
      }
    for (const auto& [from, to] : {std::pair{"~1", "/"}, {"~0", "~"}})
      for (std::size_t i = token.find(from); i != std::string::npos; i = token.find(from, i + 1)) token.replace(i, 2, to);
    if (at->is_array()) {
      const bool number = !token.empty() && token.size() < 9 && token.find_first_not_of("0123456789") == std::string::npos;
      const std::size_t index = number ? std::stoul(token) : at->size() + 1;
      if (index > at->size()) {
        problems.add(where, fmt::format("is not a place in this scene: \"{}\" in a list of {}", shorten(token), at->size()),
                     fmt::format("use 0 to {}", at->size()));
        return;
      }
      if (index == at->size()) at->push_back(Json());
      at = &(*at)[index];
    } else if (at->is_object() || at->is_null()) {
      at = &(*at)[token];
    } else {
      problems.add(where, "is not a place in this scene: it leads into a value without parts",
                   "write a JSON pointer such as /analysis/step");
      return;
    }
    if (slash == std::string::npos) break;
    start = slash + 1;
  }
  *at = std::move(value);
}

}  // namespace osier

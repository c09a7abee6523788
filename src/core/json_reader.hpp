// Reads self-describing parameters (core/describe.hpp) from JSON and reports every problem with its pointer.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "core/track.hpp"
#include "math/quat.hpp"
#include "osier/error.hpp"

namespace osier {

class JsonReader {
 public:
  JsonReader(const Json& json, std::string pointer, Problems& problems)
      : json_(json), pointer_(std::move(pointer)), problems_(problems) {}

  template <class T>
  void operator()(const char* name, T& value, const char* /*help*/, const FieldInfo& info = {}) {
    known_.emplace_back(name);
    if (!json_.is_object()) return;
    const auto it = json_.find(name);
    if (it == json_.end()) {
      if (info.required) problems_.add(pointer_, std::string("`") + name + "` is missing", "add it");
      return;
    }
    read(*it, pointer_ + "/" + escape_pointer(name), value, info);
  }

  /// Remembers where this object stands, for checks that come later.
  void where(std::string& pointer) { pointer = pointer_; }
  const std::string& pointer() const { return pointer_; }
  const Json& json() const { return json_; }
  Problems& problems() { return problems_; }
  bool has(const char* name) const { return json_.is_object() && json_.contains(name); }
  void know(const char* name) { known_.emplace_back(name); }

  void problem(const std::string& what, const std::string& remedy = {}) { problems_.add(pointer_, what, remedy); }

  /// Of these keys one, and only one, must be there.
  void exactly_one(const std::vector<std::string>& keys) {
    int given = 0;
    for (const std::string& key : keys) given += has(key.c_str()) ? 1 : 0;
    if (given != 1) problem("needs exactly one of " + join(keys, ", "), "keep one");
  }

  /// Of these keys one or more.
  void at_least_one(const std::vector<std::string>& keys) {
    const auto is_there = [&](const std::string& key) { return has(key.c_str()); };
    if (std::none_of(keys.begin(), keys.end(), is_there)) problem("has none of " + join(keys, ", "), "give one of them");
  }

  /// Reports keys that nothing asked for. Call after all fields.
  void finish() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const std::string guess = closest(key, known_);
      problems_.add(pointer_ + "/" + shorten(escape_pointer(key)), "unknown key",
                    guess.empty() ? "known here: " + join(known_, ", ") : "did you mean `" + guess + "`?");
    }
  }

  void read(const Json& j, const std::string& at, double& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, int& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, bool& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, std::string& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, AxisPair& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, Vec3d& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, Quatd& v, const FieldInfo& info);

  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(const Json& j, const std::string& at, Enum& v, const FieldInfo&) {
    const auto& names = Choices<Enum>::names;
    std::vector<std::string> list(names.begin(), names.end());
    if (!j.is_string()) {
      wrong_type(j, at, "one of " + join(list, ", "));
      return;
    }
    for (std::size_t i = 0; i < list.size(); ++i)
      if (j.get<std::string>() == list[i]) {
        v = static_cast<Enum>(i);
        return;
      }
    const std::string guess = closest(j.get<std::string>(), list);
    problems_.add(at, shorten(j) + " is not a choice",
                  guess.empty() ? "use one of " + join(list, ", ") : "did you mean `" + guess + "`?");
  }

  template <class T>
  void read(const Json& j, const std::string& at, std::optional<T>& v, const FieldInfo& info) {
    T value{};
    if (v) value = *v;
    const std::size_t before = problems_.size();
    read(j, at, value, info);
    if (problems_.size() == before) v = std::move(value);
  }

  template <class T>
  void read(const Json& j, const std::string& at, std::vector<T>& v, const FieldInfo& info) {
    if (!j.is_array()) {
      wrong_type(j, at, "a list");
      return;
    }
    v.clear();
    for (std::size_t i = 0; i < j.size(); ++i) {
      T item{};
      read(j[i], at + "/" + std::to_string(i), item, info);
      v.push_back(std::move(item));
    }
  }

  template <class T>
  void read(const Json& j, const std::string& at, std::map<std::string, T>& v, const FieldInfo& info) {
    if (!j.is_object()) {
      wrong_type(j, at, "an object");
      return;
    }
    for (const auto& [key, item] : j.items()) read(item, at + "/" + escape_pointer(key), v[key], info);
  }

  /// A value, or {"keys": [[time, value], ...], "interpolation": "linear"}; instead of time it may be a fraction of a length.
  template <class T>
  void read(const Json& j, const std::string& at, Track<T>& v, const FieldInfo& info) {
    if (!j.is_object()) {
      T constant{};
      read(j, at, constant, info);
      v = Track<T>(constant);
      return;
    }
    v.keys.clear();
    JsonReader inner(j, at, problems_);
    inner("interpolation", v.interpolation, "");
    inner.know("keys");
    inner.finish();
    const auto keys = j.find("keys");
    if (keys == j.end() || !keys->is_array() || keys->empty()) {
      problems_.add(at, "keyframes need a list `keys`", std::string(R"(write {"keys": [[)") + info.over + ", value], ...]}");
      return;
    }
    for (std::size_t i = 0; i < keys->size(); ++i) {
      const std::string here = at + "/keys/" + std::to_string(i);
      const Json& key = (*keys)[i];
      if (!key.is_array() || key.size() != 2) {
        wrong_type(key, here, std::string("a pair [") + info.over + ", value]");
        continue;
      }
      typename Track<T>::Key k{};
      read(key[0], here + "/0", k.time, info.over_fraction() ? FieldInfo{.min = 0, .max = 1} : FieldInfo{.unit = "s"});
      read(key[1], here + "/1", k.value, info);
      if (!v.keys.empty() && k.time <= v.keys.back().time)
        problems_.add(here + "/0", std::string(info.over) + " does not increase", std::string("sort the keys by ") + info.over);
      v.keys.push_back(k);
    }
  }

  /// A nested settings struct.
  template <HasFields T>
  void read(const Json& j, const std::string& at, T& v, const FieldInfo&) {
    if constexpr (requires { T::only_short; }) {
      v.read_short(j, at, problems_);
    } else {
      if constexpr (requires { v.read_short(j, at, problems_); }) {
        if (v.read_short(j, at, problems_)) return;  // a short spelling, like a material's name
      }
      if (!j.is_object()) {
        const bool has_short = requires { v.read_short(j, at, problems_); };
        wrong_type(
            j, at,
            has_short ? std::string("a name or an object (") + v.kind() + ")" : std::string("an object (") + v.kind() + ")");
        return;
      }
      JsonReader inner(j, at, problems_);
      v.fields(inner);
      inner.finish();
    }
  }

  /// One of a registry's types, chosen by its tag.
  template <class Base>
  void read(const Json& j, const std::string& at, std::unique_ptr<Base>& v, const FieldInfo&) {
    constexpr const char* tag = RegistryTraits<Base>::tag;
    if (!j.is_object()) {
      wrong_type(j, at, std::string("an object with `") + tag + "`");
      return;
    }
    std::vector<std::string> names;
    for (const auto& entry : registry<Base>()) names.emplace_back(entry.name);
    const auto it = j.find(tag);
    if (it == j.end() || !it->is_string()) {
      problems_.add(at, std::string("`") + tag + "` is missing or not a word", "use one of " + join(names, ", "));
      return;
    }
    for (const auto& entry : registry<Base>()) {
      if (*it != entry.name) continue;
      JsonReader inner(j, at, problems_);
      inner.know(tag);
      v = entry.read(inner);
      inner.finish();
      return;
    }
    const std::string guess = closest(it->get<std::string>(), names);
    problems_.add(at + "/" + tag, shorten(*it) + " is unknown",
                  guess.empty() ? "use one of " + join(names, ", ") : "did you mean `" + guess + "`?");
  }

 private:
  void wrong_type(const Json& j, const std::string& at, const std::string& expected);
  void check_range(const Json& j, const std::string& at, double v, const FieldInfo& info);

  const Json& json_;
  std::string pointer_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace osier

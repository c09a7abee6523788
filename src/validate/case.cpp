#include "validate/case.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "core/fields.hpp"
#include "scene/parse_json.hpp"

namespace osier::validate {

namespace fs = std::filesystem;

static std::optional<int> whole_number(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return n;
}

OrderedJson RawJson::short_schema(FieldDoc& doc) {
  doc.type = "JSON with expressions";
  return OrderedJson::object();
}

bool Allowance::read_short(const Json& j, const std::string& pointer, Problems& problems) {
  if (!j.is_object()) {
    everywhere.read_short(j, pointer, problems);
    return true;
  }
  for (const auto& [key, item] : j.items()) {
    const std::string here = pointer + "/" + escape_pointer(key);
    const std::optional<int> n = whole_number(key);
    if (!n) problems.add(here, "is not a resolution", R"(write {"20": 3e-3, "50": 5e-4})");
    else at[*n].read_short(item, here, problems);
  }
  return true;
}

OrderedJson Allowance::short_schema(FieldDoc& doc) {
  doc.type = "number, expression, or one for each resolution";
  return {{"type", {"number", "string", "object"}}};
}

const Formula* Allowance::find(std::optional<int> resolution) const {
  if (everywhere.given()) return &everywhere;
  if (!resolution) return nullptr;
  const auto it = at.find(*resolution);
  return it == at.end() ? nullptr : &it->second;
}

std::vector<std::optional<int>> CaseSpec::resolutions(const RunSpec& run, bool only_fast) const {
  if (!resolution) return {std::nullopt};
  std::vector<std::optional<int>> out;
  for (int n : run.resolutions.empty() ? resolution->values : run.resolutions)
    if (!only_fast || std::find(resolution->fast.begin(), resolution->fast.end(), n) != resolution->fast.end())
      out.emplace_back(n);
  return out;
}

std::vector<const ExpectSpec*> CaseSpec::expectations(const RunSpec& run) const {
  std::vector<const ExpectSpec*> out;
  for (const ExpectSpec& e : expect) out.push_back(&e);
  for (const ExpectSpec& e : run.expect) out.push_back(&e);
  return out;
}

namespace {

bool contains(const std::vector<int>& list, int n) { return std::find(list.begin(), list.end(), n) != list.end(); }

void check_resolutions(const CaseSpec& c, const std::string& at, Problems& problems) {
  const std::vector<int> none;
  const std::vector<int>& values = c.resolution ? c.resolution->values : none;
  if (c.resolution) {
    if (values.empty()) problems.add(c.resolution->where + "/values", "is empty", "give at least one resolution");
    if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>{}) != values.end())
      problems.add(c.resolution->where + "/values", "does not ascend", "sort it and leave out doubles");
    for (int n : c.resolution->fast)
      if (!contains(values, n)) problems.add(c.resolution->where + "/fast", fmt::format("{} is not among the values", n));
  }
  const auto check = [&](const std::string& where, int n) {
    if (!contains(values, n)) problems.add(where, fmt::format("{} is not a resolution of this case", n), "add it to /resolution");
  };
  const auto check_expect = [&](const ExpectSpec& e) {
    for (const auto& [n, unused] : e.table.at) check(e.where + "/table", n);
    for (const auto& [n, unused] : e.within.at) check(e.where + "/within", n);
    if (!e.order) return;
    if (e.order->between.size() != 2 || e.order->between[0] >= e.order->between[1])
      problems.add(e.where + "/order/between", "is not two ascending resolutions", "write [50, 200]");
    for (int n : e.order->between) check(e.where + "/order/between", n);
  };
  for (const ExpectSpec& e : c.expect) check_expect(e);
  for (const RunSpec& r : c.runs) {
    for (int n : r.resolutions) check(r.where + "/resolutions", n);
    for (const ExpectSpec& e : r.expect) check_expect(e);
  }
  if (c.runs.empty() && c.expect.empty()) problems.add(at, "expects nothing", "add `expect` or `runs`");
}

void check_case(CaseSpec& c, const std::string& at, Problems& problems) {
  if (c.name != c.file.stem().string())
    problems.add(at + "/case", fmt::format("\"{}\" in a file called {}", shorten(c.name), c.file.filename().string()),
                 "give both the same name");
  if (c.needs.empty() && !c.scene.value.is_object()) problems.add(at, "`scene` is missing or not an object", "add it");
  check_resolutions(c, at, problems);
  for (std::size_t i = 0; i < c.runs.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (c.runs[i].name == c.runs[k].name)
        problems.add(c.runs[i].where + "/name", fmt::format("\"{}\" is used twice", shorten(c.runs[i].name)), "rename one");
  if (c.runs.empty()) {
    c.runs.emplace_back();
    c.runs.back().where = at;
  }
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError({{file.string(), "cannot be opened", "check its permissions"}});
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void read_case(const fs::path& file, std::vector<CaseSpec>& cases, Problems& problems) {
  const std::string at = file.filename().string();
  try {
    const Json json = parse_json(read_text(file), at);
    if (!json.is_object()) {
      problems.add(at, "is not an object", "start with {");
      return;
    }
    CaseSpec c;
    c.file = file;
    JsonReader reader(json, at, problems);
    c.fields(reader);
    reader.finish();
    check_case(c, at, problems);
    cases.push_back(std::move(c));
  } catch (const InputError& e) {
    for (const Problem& p : e.problems()) problems.add(p.where, p.what, p.remedy);
  }
}

/// V3 before V11, V29 before V29b.
bool natural_less(const fs::path& a, const fs::path& b) {
  const auto key = [](const fs::path& p) {
    const std::string s = p.stem().string();
    const std::size_t digit = s.find_first_of("0123456789");
    if (digit == std::string::npos) return std::tuple{s, 0, std::string{}};
    const std::size_t end = std::min(s.find_first_not_of("0123456789", digit), s.size());
    return std::tuple{s.substr(0, digit), whole_number(s.substr(digit, end - digit)).value_or(0), s.substr(end)};
  };
  return key(a) < key(b);
}

std::vector<fs::path> case_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (error)
    throw InputError({{folder.string(), "cannot be read: " + error.message(), "name a folder of case files with --cases"}});
  if (files.empty()) throw InputError({{folder.string(), "has no case files", "name a folder of case files with --cases"}});
  std::sort(files.begin(), files.end(), natural_less);
  return files;
}

}  // namespace

std::vector<CaseSpec> read_cases(const fs::path& folder, const std::vector<std::string>& names, Problems& problems) {
  std::vector<fs::path> files = case_files(folder);
  std::vector<std::string> known;
  for (const fs::path& f : files) known.push_back(f.stem().string());
  // "V26" stands for all its parts, V26a to V26j.
  const auto stands_for = [](const std::string& name, const std::string& stem) {
    return stem == name || (stem.size() == name.size() + 1 && stem.starts_with(name) && stem.back() >= 'a' && stem.back() <= 'z');
  };
  for (const std::string& name : names) {
    if (std::any_of(known.begin(), known.end(), [&](const std::string& stem) { return stands_for(name, stem); })) continue;
    const std::string guess = closest(name, known);
    problems.add(name, "is not a case",
                 guess.empty() ? "use some of " + join(known, " ") : fmt::format("did you mean `{}`? `--list` shows all", guess));
  }
  std::vector<CaseSpec> cases;
  for (const fs::path& f : files)
    if (names.empty() ||
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return stands_for(name, f.stem().string()); }))
      read_case(f, cases, problems);
  return cases;
}

}  // namespace osier::validate

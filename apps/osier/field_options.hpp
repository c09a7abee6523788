// Command-line options from the same descriptions that read JSON: `segment_length` becomes --segment-length.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>

#include "core/describe.hpp"

namespace osier::cli {

/// A visitor for fields(); the settings must outlive the parsing.
class FieldOptions {
 public:
  explicit FieldOptions(CLI::App& app, std::string group = {}) : app_(app), group_(std::move(group)) {}

  template <class T>
  void operator()(const char* name, T& value, const char* help, const FieldInfo& info = {}) {
    std::string flag = std::string("--") + name, text = help;
    for (char& c : flag)
      if (c == '_') c = '-';
    if (*info.unit) text += std::string(" [") + info.unit + "]";
    CLI::Option* option = add(flag, value, text);
    if (!group_.empty()) option->group(group_);
  }

  // What other visitors of fields() need.
  void where(std::string&) {}
  void exactly_one(const std::vector<std::string>&) {}

 private:
  CLI::Option* add(const std::string& flag, bool& value, const std::string& help) { return app_.add_flag(flag, value, help); }

  template <class T>
  CLI::Option* add(const std::string& flag, T& value, const std::string& help) {
    return app_.add_option(flag, value, help);
  }

  template <class Enum>
  requires std::is_enum_v<Enum> CLI::Option* add(const std::string& flag, std::optional<Enum>& value, const std::string& help) {
    const std::vector<std::string> words(Choices<Enum>::names.begin(), Choices<Enum>::names.end());
    return app_
        .add_option_function<std::string>(
            flag,
            [&value, words](const std::string& word) {
              value = static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
            },
            help)
        ->check(CLI::IsMember(words));
  }

  /// A matrix, row after row.
  CLI::Option* add(const std::string& flag, std::vector<std::vector<double>>& value, const std::string& help) {
    return app_
        .add_option_function<std::vector<double>>(
            flag,
            [&value](const std::vector<double>& numbers) {
              value.clear();
              for (std::size_t i = 0; i < numbers.size(); ++i) {
                if (i % 4 == 0) value.emplace_back();
                value.back().push_back(numbers[i]);
              }
            },
            help + "; twelve numbers with commas")
        ->delimiter(',')
        ->expected(12);
  }

  CLI::App& app_;
  std::string group_;
};

}  // namespace osier::cli

// Frames of a run as options name them: `first`, `last` or a number; negative ones count from the end.
#pragma once

#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "core/text.hpp"
#include "osier/error.hpp"

namespace osier::cli {

inline constexpr const char* kFrameHelp = "a number, `first` or `last`; negative numbers count from the end";

inline std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// As it stands, -1 for the last; nothing, and a problem, when the text is no frame.
inline std::optional<int> frame_number(const char* option, const std::string& text, Problems& problems) {
  if (text == "first") return 0;
  if (text == "last") return -1;
  const std::optional<int> number = whole_number(text);
  if (!number) problems.add(option, fmt::format("`{}` is not a frame", shorten(text)), "write a number, `first` or `last`");
  return number;
}

inline std::string there_are_frames(int count) {
  return count == 1 ? "there is frame 0 alone" : fmt::format("there are frames 0 to {}", count - 1);
}

/// Which of `count` frames it is.
inline std::optional<int> choose_frame(const char* option, const std::string& text, int count, Problems& problems) {
  const std::optional<int> number = frame_number(option, text, problems);
  if (!number) return {};
  const int frame = *number < 0 ? *number + count : *number;
  if (frame >= 0 && frame < count) return frame;
  problems.add(option, fmt::format("{} is not there", *number), there_are_frames(count));
  return {};
}

}  // namespace osier::cli

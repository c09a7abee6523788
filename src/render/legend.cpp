#include "render/legend.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "render/font.hpp"

namespace osier::render {

namespace {

// Everything in heights of a capital letter.
constexpr double kLegendMargin = 1.4, kPadding = 1, kLine = 1.9, kBarWidth = 20, kBarHeight = 0.9, kLongestName = 24;

/// Part of the picture's height that names may take.
constexpr double kMostOfHeight = 0.6;

/// As many names as there is room for; the last line says how many are left out.
std::vector<Legend::Entry> shown_names(const Legend& legend, double text, int height) {
  const auto room = static_cast<std::size_t>(std::max(2.0, (kMostOfHeight * height / text - 2 * kPadding - kLine) / kLine));
  std::vector<Legend::Entry> list = legend.names;
  if (list.size() > room) {
    const std::size_t left_out = list.size() - (room - 1);
    list.resize(room - 1);
    list.push_back({fmt::format("and {} more", left_out), {-1, 0, 0}});
  }
  return list;
}

/// Shortened at the end until it is at most that wide.
std::string fitting(const std::string& text, double size, double width) {
  std::string name = text;
  while (!name.empty() && text_width(name == text ? name : name + "…", size) > width) {
    do name.pop_back();
    while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0xc0U) == 0x80U);
    if (!name.empty() && static_cast<unsigned char>(name.back()) >= 0xc0U) name.pop_back();  // a letter cut in two
  }
  return name == text ? name : name + "…";
}

void fill(Image& image, double left, double top, double right, double bottom, float strength, const auto& color_at) {
  for (int y = std::max(0, static_cast<int>(std::lround(top))); y < std::min<long>(image.height, std::lround(bottom)); ++y)
    for (int x = std::max(0, static_cast<int>(std::lround(left))); x < std::min<long>(image.width, std::lround(right)); ++x)
      image.cover(x, y, color_at(x), strength);
}

/// A line of a pixel around it.
void outline(Image& image, const LegendBox& b, const Rgb& color, float strength) {
  const auto same = [&](int) { return color; };
  fill(image, b.bar_left - 1, b.bar_top - 1, b.bar_right + 1, b.bar_top, strength, same);
  fill(image, b.bar_left - 1, b.bar_bottom, b.bar_right + 1, b.bar_bottom + 1, strength, same);
  fill(image, b.bar_left - 1, b.bar_top, b.bar_left, b.bar_bottom, strength, same);
  fill(image, b.bar_right, b.bar_top, b.bar_right + 1, b.bar_bottom, strength, same);
}

}  // namespace

LegendBox place_legend(const Legend& legend, int width, int height) {
  LegendBox box;
  box.text = std::max(6.5, std::min(height / 52.0, width / 60.0));
  const double text = box.text;
  double inner_width = text_width(legend.title, text), inner_height = text;
  if (!legend.scale.empty()) {
    inner_width = std::max(inner_width, kBarWidth * text), inner_height += (kLine - 1 + kBarHeight + kLine) * text;
  } else {
    const auto names = shown_names(legend, text, height);
    for (const Legend::Entry& entry : names)
      inner_width = std::max(inner_width, kLine * text + std::min(kLongestName * text, text_width(entry.name, text)));
    inner_height += static_cast<double>(names.size()) * kLine * text;
  }
  // In the lower left corner, on whole pixels.
  box.left = std::round(kLegendMargin * text), box.bottom = std::round(height - kLegendMargin * text);
  box.right = std::round(box.left + inner_width + 2 * kPadding * text);
  box.top = std::round(box.bottom - inner_height - 2 * kPadding * text);
  box.bar_left = std::round(box.left + kPadding * text);
  box.bar_top = std::round(box.top + (kPadding + kLine) * text);
  box.bar_bottom = std::round(box.bar_top + kBarHeight * text);
  box.bar_right = std::round(box.bar_left + (legend.scale.empty() ? kBarHeight : kBarWidth) * text);
  return box;
}

void draw_legend(Image& image, const Legend& legend, const Rgb& background) {
  if (legend.empty()) return;
  LegendBox box = place_legend(legend, image.width, image.height);
  const double text = box.text, left = box.bar_left;
  // The ink with the better contrast; at this light of the background both have the same.
  const bool dark = 0.2126F * background.x + 0.7152F * background.y + 0.0722F * background.z < 0.18F;
  const Rgb ink = *parse_hex(dark ? "#f6f4f0" : "#121518");
  // What is behind must not disturb the letters.
  fill(image, box.left, box.top, box.right, box.bottom, 0.92F, [&](int) { return background; });
  double line = box.top + (kPadding + 1) * text;
  draw_text(image, left, line, text, ink, legend.title);
  if (!legend.scale.empty()) {
    const double last = static_cast<double>(legend.scale.size() - 1);
    fill(image, box.bar_left, box.bar_top, box.bar_right, box.bar_bottom, 1, [&](int x) {
      const double place = last * (x + 0.5 - box.bar_left) / (box.bar_right - box.bar_left);
      const auto i = std::min(static_cast<std::size_t>(place), legend.scale.size() - 2);
      return mix(legend.scale[i], legend.scale[i + 1], static_cast<float>(place - static_cast<double>(i)));
    });
    outline(image, box, ink, 0.5F);
    line = box.bar_bottom + kLine * text;
    for (std::size_t i = 0; i < 3; ++i) {
      const double share = 0.5 * static_cast<double>(i), width = text_width(legend.labels[i], text);
      draw_text(image, left + share * (box.bar_right - box.bar_left - width), line, text, ink, legend.labels[i]);
    }
    return;
  }
  for (const Legend::Entry& entry : shown_names(legend, text, image.height)) {
    line += kLine * text;
    box.bar_bottom = std::round(line), box.bar_top = box.bar_bottom - std::round(kBarHeight * text);
    if (entry.color.x >= 0) {
      fill(image, box.bar_left, box.bar_top, box.bar_right, box.bar_bottom, 1, [&](int) { return entry.color; });
      outline(image, box, ink, 0.5F);
    }
    draw_text(image, left + kLine * text, line, text, ink, fitting(entry.name, text, kLongestName * text));
  }
}

}  // namespace osier::render

// Legends: letters can be told apart, scales show the colours and the numbers of the picture, on any background.
#include "render/legend.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "osier/osier.hpp"
#include "render/coloring.hpp"
#include "render/font.hpp"
#include "render/stage.hpp"
#include "render/tracer.hpp"
#include "sim/recorder.hpp"

namespace osier::render {
namespace {

using Pixels = std::vector<std::uint8_t>;

constexpr Rgb kWhite{1, 1, 1}, kBlack{0, 0, 0};

Image blank(int width, int height, const Rgb& shown) {
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image.cover(x, y, shown, 1);
  return image;
}

/// Black letters on white: 1 where there is ink.
struct Ink {
  int width, height;
  std::vector<int> at;
};
Ink write(const std::string& text, double size = 48) {
  const int w = static_cast<int>(text_width(text, size)) + 40, h = static_cast<int>(2 * size) + 40;
  Image image = blank(w, h, kWhite);
  draw_text(image, 20, 20 + 1.3 * size, size, kBlack, text);
  Ink ink{w, h, {}};
  for (const Rgb& c : image.light) ink.at.push_back(c.x < 0.3F ? 1 : 0);
  return ink;
}

/// Connected regions of a value, by four neighbours.
int regions(Ink ink, int value) {
  int count = 0;
  for (std::size_t i = 0; i < ink.at.size(); ++i) {
    if (ink.at[i] != value) continue;
    ++count;
    std::vector<std::size_t> todo{i};
    ink.at[i] = -1;
    while (!todo.empty()) {
      const auto p = static_cast<int>(todo.back());
      todo.pop_back();
      for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        const int x = p % ink.width + dx, y = p / ink.width + dy;
        if (x < 0 || y < 0 || x >= ink.width || y >= ink.height) continue;
        const auto q = static_cast<std::size_t>(y * ink.width + x);
        if (ink.at[q] == value) ink.at[q] = -1, todo.push_back(q);
      }
    }
  }
  return count;
}

TEST(Letters, HaveTheHolesAndPartsOfTheirShape) {
  for (const auto& [letters, holes] :
       {std::pair{"0469ADOPQRabdegopq", 1}, {"8B", 2}, {"12357CEFGHIJKLMNSTUVWXYZcfhklmnrstuvwxyz", 0}})
    for (const char* c = letters; *c; ++c) {
      const Ink ink = write(std::string(1, *c));
      EXPECT_EQ(regions(ink, 0), holes + 1) << *c;
      EXPECT_EQ(regions(ink, 1), 1) << *c;
    }
  for (const char* two : {"i", "j", ":", "=", "!", "?"}) EXPECT_EQ(regions(write(two), 1), 2) << two;
  EXPECT_EQ(regions(write("…"), 1), 3);
  EXPECT_EQ(regions(write("≤ 1"), 1), 3);
}

TEST(Letters, NoTwoOfThemLookAlike) {
  std::set<std::pair<int, std::vector<int>>> seen;
  for (char c = '!'; c <= '~'; ++c) {
    const Ink ink = write(std::string(1, c));
    EXPECT_TRUE(seen.emplace(ink.width, ink.at).second) << c;
  }
  // What nobody drew, and bytes that are no letters at all, are one box each.
  for (const char* unknown : {"漢", "\xff", "\x01"}) {
    EXPECT_EQ(regions(write(unknown), 0), 2);
    EXPECT_EQ(text_width(unknown, 10), text_width("□", 10));
  }
}

TEST(Letters, AreAsLargeAsAskedForAndStayInTheirWidth) {
  for (const double size : {12.0, 30.0, 60.0}) {
    Image image = blank(400, 200, kWhite);
    draw_text(image, 50, 120, size, kBlack, "HEM0");
    int left = 400, right = 0, top = 200, bottom = 0;
    for (int y = 0; y < 200; ++y)
      for (int x = 0; x < 400; ++x)
        if (image.at(x, y).x < 0.5F)
          left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y);
    const double pen = 0.16 * size;
    EXPECT_NEAR(bottom - top + 1, size + 0.5 * pen, 0.5 * pen + 1.5);
    EXPECT_NEAR(right - left + 1, text_width("HEM0", size), pen + 1.5);
    EXPECT_NEAR(left, 50, pen);
  }
}

Pixels pixel(const Image& image, double x, double y) {
  const Pixels all = screen_bytes(image);
  const auto at = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at) + 3};
}
Pixels bytes_of(const Rgb& shown) { return pixel(blank(1, 1, shown), 0, 0); }
void expect_near(const Pixels& a, const Pixels& b, int most, const std::string& what) {
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(a[c], b[c], most) << what << ", channel " << c;
}

/// The contrast ratio of WCAG: 1 for the same, 21 for black on white.
double contrast(const Rgb& a, const Rgb& b) {
  const auto light = [](const Rgb& c) { return 0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z + 0.05; };
  return std::max(light(a), light(b)) / std::min(light(a), light(b));
}

TEST(Legends, TheBarRunsThroughTheColoursOfTheValues) {
  for (const ColorBy by : {ColorBy::stretch, ColorBy::curvature, ColorBy::twist_change, ColorBy::speed}) {
    const Legend legend = legend_of_values(by, 2.5, 2.5);
    Image image = blank(1280, 720, kWhite);
    draw_legend(image, legend, kWhite);
    const LegendBox b = place_legend(legend, 1280, 720);
    const double y = 0.5 * (b.bar_top + b.bar_bottom), low = has_sign(by) ? -2.5 : 0;
    for (const double t : {0.002, 0.25, 0.5, 0.75, 0.998})
      expect_near(pixel(image, b.bar_left + t * (b.bar_right - b.bar_left), y),
                  bytes_of(color_of_value(low + t * (2.5 - low), by, 2.5)), 3, name_of(by));
    EXPECT_EQ(legend.labels[0], has_sign(by) ? "−2.5" : "0");
    EXPECT_EQ(legend.labels[1], has_sign(by) ? "0" : "1.25");
    EXPECT_EQ(legend.labels[2], "2.5");
  }
  EXPECT_EQ(legend_of_values(ColorBy::curvature_change, 1, 1).title, "change of curvature [1/m]");
  EXPECT_EQ(legend_of_values(ColorBy::stretch, 1, 1).title, "stretch");
  EXPECT_EQ(legend_of_values(ColorBy::stretch, 1, 2).labels[0], "≤ −1");
  EXPECT_EQ(legend_of_values(ColorBy::speed, 1, 2).labels[2], "≥ 1");
  EXPECT_EQ(legend_of_values(ColorBy::twist, 0, 0).labels[1], "0 everywhere");
}

TEST(Legends, CanBeReadOnEveryBackground) {
  const Legend legend = legend_of_values(ColorBy::speed, 3, 3);
  for (const char* hex : {"#ffffff", "#efece6", "#808080", "#6b6b6b", "#23272d", "#000000", "#d01010", "#1010d0", "#10d010"}) {
    const Rgb background = *parse_hex(hex);
    // Something in the way behind it: stripes of black and white.
    Image image(1280, 720);
    for (int y = 0; y < 720; ++y)
      for (int x = 0; x < 1280; ++x) image.cover(x, y, x / 3 % 2 ? kWhite : kBlack, 1);
    Image plain = image;
    draw_legend(image, legend, background);
    const LegendBox b = place_legend(legend, 1280, 720);
    // The title's row: its most extreme pixels are ink, the left edge of the panel is what is behind the ink.
    double best = 0;
    const auto row = static_cast<int>(b.top + 1.5 * b.text), column = static_cast<int>(b.left + 2);
    const auto shown = [&](int x, int y) {
      const Rgb& c = image.at(x, y);
      return Rgb{tone(c.x), tone(c.y), tone(c.z)};
    };
    for (int x = static_cast<int>(b.left); x < b.right; ++x)
      best =
          std::max(best, std::min(contrast(shown(x, row), shown(column, row)), contrast(shown(x, row), shown(column + 3, row))));
    EXPECT_GT(best, 3.5) << hex;
    // Nothing outside the panel changes.
    for (int y = 0; y < 720; ++y)
      for (int x = 0; x < 1280; ++x)
        if (x < b.left || x >= b.right || y < b.top || y >= b.bottom) {
          ASSERT_EQ(norm(image.at(x, y) - plain.at(x, y)), 0) << x << ' ' << y;
        }
  }
}

TEST(Legends, NamesComeWithTheirColoursAndLeaveOutWhatHasNoRoom) {
  ColorGroups groups;
  for (int i = 0; i < 40; ++i)
    groups.names.push_back("material number " + std::to_string(i) + std::string(static_cast<std::size_t>(2 * i), 'x'));
  const std::vector<Rgb>& palette = default_palette();
  const Legend legend = legend_of_groups("material", groups, palette);
  Image image = blank(640, 360, kWhite);
  draw_legend(image, legend, kWhite);
  const LegendBox b = place_legend(legend, 640, 360);
  EXPECT_GE(b.top, 0.3 * 360);
  EXPECT_LE(b.right, 320);
  // The swatches from above, as they differ from the panel.
  std::vector<Pixels> swatches;
  Pixels last = bytes_of(kWhite);
  for (int y = static_cast<int>(b.bar_top) - 3; y < b.bottom; ++y) {
    const Pixels here = pixel(image, b.bar_left + 2, y);
    const bool colored = std::abs(here[0] - here[1]) + std::abs(here[1] - here[2]) > 20;
    if (colored && here != last) swatches.push_back(here), last = here;
  }
  ASSERT_GE(swatches.size(), 8U);
  for (std::size_t i = 0; i < swatches.size(); ++i)
    expect_near(swatches[i], bytes_of(palette[i % palette.size()]), 2, "swatch " + std::to_string(i));
}

TEST(Legends, StandInPicturesWhoseColoursMeanSomethingAndHaveRoom) {
  if (!can_trace()) GTEST_SKIP() << kCannotTrace;
  const Scene scene = Scene::parse(
      R"({"materials": {"birch": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.05},
                        "steel": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.05}},
          "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4, "material": "birch"},
                   {"name": "b", "shape": {"type": "line", "from": [0, 1, 0], "to": [1, 1, 0]}, "segments": 4, "material": "steel"}],
          "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1}})");
  const Simulation simulation(scene);
  const auto stage = [&](ColorBy by, LegendUse use, int width) {
    StageOptions options;
    options.width = width, options.height = width * 9 / 16, options.samples = 1, options.color = by, options.legend = use;
    return Stage(scene.model(), run_info(scene.setup()), options, [&](const auto& look) { look(simulation.frame(0)); });
  };
  EXPECT_TRUE(stage(ColorBy::rod, LegendUse::automatic, 640).legend().empty());
  EXPECT_TRUE(stage(ColorBy::speed, LegendUse::automatic, 160).legend().empty());
  EXPECT_TRUE(stage(ColorBy::speed, LegendUse::off, 640).legend().empty());
  const Legend names = stage(ColorBy::material, LegendUse::automatic, 640).legend();
  ASSERT_EQ(names.names.size(), 2U);
  EXPECT_EQ(names.names[0].name, "birch");
  EXPECT_EQ(names.names[1].name, "steel");

  const Image with = stage(ColorBy::curvature, LegendUse::on, 640).draw(simulation.frame(0), Executor(1));
  const Image without = stage(ColorBy::curvature, LegendUse::off, 640).draw(simulation.frame(0), Executor(1));
  const LegendBox b = place_legend(stage(ColorBy::curvature, LegendUse::on, 640).legend(), 640, 360);
  int inside = 0;
  for (int y = 0; y < 360; ++y)
    for (int x = 0; x < 640; ++x) {
      const bool same = norm(with.at(x, y) - without.at(x, y)) == 0,
                 in = x >= b.left && x < b.right && y >= b.top && y < b.bottom;
      EXPECT_TRUE(same || in) << x << ' ' << y;
      inside += same ? 0 : 1;
    }
  EXPECT_GT(inside, 500);
}

TEST(Coloring, ChangesOfCurvatureAndTwistAreAgainstTheRestShape) {
  const std::string material = R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.01}},
       "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1}, "rods": [)";
  const auto values = [&](const std::string& rod, ColorBy by) {
    const Scene scene = Scene::parse(material + rod + "]}");
    const Simulation simulation(scene);
    return measured(scene.model(), simulation.frame(0), by);
  };
  // A circle at rest has its curvature, and it has not changed.
  const std::string circle = R"({"name": "a", "shape": {"type": "circle", "radius": 2}, "segments": 64, "material": "m")";
  for (const double k : values(circle + "}", ColorBy::curvature)) EXPECT_NEAR(k, 0.5, 1e-3);
  for (const double k : values(circle + "}", ColorBy::curvature_change)) EXPECT_NEAR(k, 0, 1e-9);
  // Frames turn by 90 degrees beyond what the helix does at rest.
  const std::string helix =
      R"({"name": "a", "shape": {"type": "helix", "radius": 0.4, "pitch": 0.5, "turns": 2}, "segments": 400, "material": "m")";
  const double turn = 0.5 * 3.14159265358979, length = 2 * std::hypot(2 * 3.14159265358979 * 0.4, 0.5);
  const auto twisted = values(helix + R"(, "pose_twist": {"keys": [[0, 0], [1, 90]]}})", ColorBy::twist_change);
  for (const double k : values(helix + "}", ColorBy::twist_change)) EXPECT_NEAR(k, 0, 1e-9);
  for (const double k : twisted) EXPECT_NEAR(k, turn / length, 2e-3);
  // An arc drawn straight has lost all its curvature.
  const std::string straightened =
      R"({"name": "a", "shape": {"type": "arc", "radius": 1, "angle": 90}, "segments": 64, "material": "m",
          "pose": {"type": "line", "from": [0, 0, 0], "to": [1.5707963, 0, 0]}})";
  for (const double k : values(straightened, ColorBy::curvature)) EXPECT_NEAR(k, 0, 1e-9);
  for (const double k : values(straightened, ColorBy::curvature_change)) EXPECT_NEAR(k, 1, 1e-3);
}

}  // namespace
}  // namespace osier::render

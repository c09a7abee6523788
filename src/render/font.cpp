#include "render/font.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace osier::render {

namespace {

/// A letter on a grid: capitals and digits stand on line 2 and reach line 8, small letters line 6, their tails line 0. Strokes
/// are lists of places, two digits each. A stroke of its own is straight from place to place; after `(` it is rounded between
/// its two ends, after `o` it is a rounded loop. A single place twice is a dot.
struct Glyph {
  char32_t code;
  int width;
  std::string_view strokes;
};

constexpr Glyph kGlyphs[] = {
    {U' ', 2, ""},
    {U'!', 0, "0804 0202"},
    {U'"', 2, "0806 2826"},
    {U'#', 4, "1218 3238 0444 0646"},
    {U'$', 4, "(4748080545420203 2129"},
    {U'%', 5, "0258 o06082826 o32345452"},
    {U'&', 4, "(420608383604023244"},
    {U'\'', 0, "0806"},
    {U'(', 1, "(19070311"},
    {U')', 1, "(09171301"},
    {U'*', 4, "2428 0547 0745"},
    {U'+', 4, "0545 2327"},
    {U',', 1, "1201"},
    {U'-', 3, "0535"},
    {U'.', 0, "0202"},
    {U'/', 3, "0139"},
    {U'0', 4, "o02084842"},
    {U'1', 2, "072822"},
    {U'2', 4, "(0708484602 0242"},
    {U'3', 4, "(070848452515 (152545420203"},
    {U'4', 4, "32380444"},
    {U'5', 4, "480805 (051646420203"},
    {U'6', 4, "o02064642 (380804"},
    {U'7', 4, "084812"},
    {U'8', 4, "o05084845 o02054542"},
    {U'9', 4, "o04084844 (464212"},
    {U':', 0, "0202 0505"},
    {U';', 1, "1515 1201"},
    {U'<', 4, "470543"},
    {U'=', 4, "0646 0444"},
    {U'>', 4, "074503"},
    {U'?', 4, "(070848462524 2222"},
    {U'@', 6, "o24264644 (46446468080252"},
    {U'A', 4, "022842 1434"},
    {U'B', 4, "0208 (082848452505 (052545422202"},
    {U'C', 4, "(473808023243"},
    {U'D', 4, "0208 (082848422202"},
    {U'E', 3, "38080232 0525"},
    {U'F', 3, "380802 0525"},
    {U'G', 4, "(473808024245 4525"},
    {U'H', 4, "0208 4248 0545"},
    {U'I', 0, "0208"},
    {U'J', 3, "(3834320204"},
    {U'K', 4, "0208 4804 1542"},
    {U'L', 3, "080232"},
    {U'M', 4, "0208244842"},
    {U'N', 4, "02084248"},
    {U'O', 5, "o02085852"},
    {U'P', 4, "0208 (082848452505"},
    {U'Q', 5, "o02085852 3452"},
    {U'R', 4, "0208 (082848452505 2542"},
    {U'S', 4, "(4748080545420203"},
    {U'T', 4, "0848 2822"},
    {U'U', 4, "(080402424448"},
    {U'V', 4, "082248"},
    {U'W', 6, "0812365268"},
    {U'X', 4, "0248 0842"},
    {U'Y', 4, "082548 2522"},
    {U'Z', 4, "08480242"},
    {U'[', 1, "19090111"},
    {U'\\', 3, "0931"},
    {U']', 1, "09191101"},
    {U'^', 4, "062846"},
    {U'_', 4, "0141"},
    {U'`', 1, "0817"},
    {U'a', 4, "o02064642 4642"},
    {U'b', 4, "0208 o02064642"},
    {U'c', 4, "(453606023243"},
    {U'd', 4, "4842 o02064642"},
    {U'e', 4, "0444 (444606023243"},
    {U'f', 3, "(38181512 0626"},
    {U'g', 4, "o02064642 (4642400001"},
    {U'h', 4, "0208 (0406464442"},
    {U'i', 0, "0206 0808"},
    {U'j', 1, "(16121000 1818"},
    {U'k', 3, "0208 3603 1432"},
    {U'l', 1, "(08030212"},
    {U'm', 6, "0206 (0406363432 (3436666462"},
    {U'n', 4, "0206 (0406464442"},
    {U'o', 4, "o02064642"},
    {U'p', 4, "0006 o02064642"},
    {U'q', 4, "4640 o02064642"},
    {U'r', 3, "0206 (040636"},
    {U's', 3, "(3536060434320203"},
    {U't', 3, "(18141232 0626"},
    {U'u', 4, "(0604024244 4642"},
    {U'v', 4, "062246"},
    {U'w', 6, "0622354266"},
    {U'x', 4, "0246 0642"},
    {U'y', 4, "0622 4610"},
    {U'z', 4, "06460242"},
    {U'{', 2, "(29191505 (05151121"},
    {U'|', 0, "0109"},
    {U'}', 2, "(09191525 (25151101"},
    {U'~', 4, "(04163446"},
    {U'·', 0, "0505"},
    {U'−', 4, "0545"},
    {U'…', 4, "0202 2222 4242"},
    {U'≤', 4, "480644 0242"},
    {U'≥', 4, "084604 0242"},
};
constexpr Glyph kUnknown{0, 4, "0208484202"};

constexpr double kCapital = 6, kBaseline = 2;          ///< lines of the grid
constexpr double kNarrow = 0.86;                       ///< width of a cell over its height
constexpr double kGap = 2.1, kPen = 0.42;              ///< between letters; half the width of a stroke [cells]
constexpr double kTop = 9 + kPen, kBottom = 0 - kPen;  ///< of the tallest and the deepest letters

const Glyph& glyph_of(char32_t code) {
  const auto* const found = std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& g) { return g.code == code; });
  return found == std::end(kGlyphs) ? kUnknown : *found;
}

/// Letters of a text in UTF-8; a byte that is no part of one counts as a letter nobody knows.
std::u32string letters(const std::string& text) {
  std::u32string list;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i++]);
    const int more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1;
    char32_t code = more <= 0 ? lead : lead & (0x3fU >> more);
    for (int k = 0; k < more && i < text.size() && (static_cast<std::uint8_t>(text[i]) & 0xc0U) == 0x80U; ++k)
      code = code << 6U | (static_cast<std::uint8_t>(text[i++]) & 0x3fU);
    list.push_back(more < 0 ? 0 : code);
  }
  return list;
}

struct Place {
  double x, y;
};
struct Line {
  Place a, b;
};

Place between(const Place& a, const Place& b, double t) { return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}; }

/// A rounded stroke: parabolas from the middle of one side of its polygon to the middle of the next, so that a corner rounds
/// what is around it and places on one line stay straight.
std::vector<Place> rounded(const std::vector<Place>& corner, bool loop) {
  const std::size_t n = corner.size();
  std::vector<Place> line;
  const auto parabola = [&](const Place& from, const Place& corner_between, const Place& to) {
    constexpr int kPieces = 6;
    for (int k = line.empty() ? 0 : 1; k <= kPieces; ++k) {
      const double t = static_cast<double>(k) / kPieces;
      line.push_back(between(between(from, corner_between, t), between(corner_between, to, t), t));
    }
  };
  const auto middle = [&](std::size_t i) { return between(corner[i % n], corner[(i + 1) % n], 0.5); };
  if (loop) {
    for (std::size_t i = 0; i < n; ++i) parabola(middle(i), corner[(i + 1) % n], middle(i + 1));
  } else {
    for (std::size_t i = 1; i + 1 < n; ++i)
      parabola(i == 1 ? corner[0] : middle(i - 1), corner[i], i + 2 == n ? corner[n - 1] : middle(i));
  }
  return line;
}

std::vector<Line> lines_of(const Glyph& glyph) {
  std::vector<Line> lines;
  for (std::string_view rest = glyph.strokes; !rest.empty();) {
    std::string_view stroke = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), stroke.size() + 1));
    const char kind = stroke.front();
    if (kind == '(' || kind == 'o') stroke.remove_prefix(1);
    std::vector<Place> places;
    for (std::size_t i = 0; i + 1 < stroke.size(); i += 2)
      places.push_back({static_cast<double>(stroke[i] - '0'), static_cast<double>(stroke[i + 1] - '0')});
    if (kind == '(' || kind == 'o') places = rounded(places, kind == 'o');
    for (std::size_t i = 0; i + 1 < places.size(); ++i) lines.push_back({places[i], places[i + 1]});
  }
  return lines;
}

double distance(const Place& p, const Line& line) {
  const double x = line.b.x - line.a.x, y = line.b.y - line.a.y, length2 = x * x + y * y;
  const double t = length2 > 0 ? std::clamp(((p.x - line.a.x) * x + (p.y - line.a.y) * y) / length2, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - line.a.x - t * x, p.y - line.a.y - t * y);
}

}  // namespace

double text_width(const std::string& text, double size) {
  double cells = 0;
  for (const char32_t code : letters(text)) cells += glyph_of(code).width + kGap;
  return std::max(0.0, cells - kGap) * kNarrow * size / kCapital;
}

void draw_text(Image& image, double x, double baseline, double size, const Rgb& shown, const std::string& text) {
  const double cell = size / kCapital, pen = std::max(kPen * cell, 0.5);
  for (const char32_t code : letters(text)) {
    const Glyph& glyph = glyph_of(code);
    std::vector<Line> lines = lines_of(glyph);
    const auto on_image = [&](Place& p) { p = {x + p.x * kNarrow * cell, baseline - (p.y - kBaseline) * cell}; };
    for (Line& line : lines) on_image(line.a), on_image(line.b);
    const double width = glyph.width * kNarrow * cell;
    const int left = std::max(0, static_cast<int>(x - pen - 1)),
              right = std::min(image.width, static_cast<int>(x + width + pen + 2));
    const int top = std::max(0, static_cast<int>(baseline - (kTop - kBaseline) * cell - 1));
    const int bottom = std::min(image.height, static_cast<int>(baseline - (kBottom - kBaseline) * cell + 2));
    for (int row = top; row < bottom; ++row)
      for (int column = left; column < right; ++column) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const Line& line : lines) nearest = std::min(nearest, distance({column + 0.5, row + 0.5}, line));
        const auto cover = static_cast<float>(std::clamp(0.5 + pen - nearest, 0.0, 1.0));
        if (cover > 0) image.cover(column, row, shown, cover);
      }
    x += width + kGap * kNarrow * cell;
  }
}

}  // namespace osier::render

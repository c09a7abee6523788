#include "core/text.hpp"

#include <algorithm>
namespace osier {

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += separator;
    text += words[i];
  }
  return text;
}

/// Levenshtein distance with adjacent swaps counted as one.
static std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string closest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& k : known) {
    std::size_t d = edit_distance(word, k);
    // A word cut short or spelt out ("tau" for "tau_bend") is a near miss as well.
    if (word.size() >= 3 && (k.starts_with(word) || word.starts_with(k))) d = std::min<std::size_t>(d, 2);
    if (d < least) {
      least = d;
      best = k;
    }
  }
  return best;
}

std::string escape_pointer(const std::string& token) {
  std::string text;
  for (char c : token) {
    if (c == '~') text += "~0";
    else if (c == '/') text += "~1";
    else text += c;
  }
  return text;
}

std::string shorten(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return text.substr(0, end) + "...";
}

std::string printable(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  const auto escape = [&](unsigned char c) { ((out += "\\x") += kDigits[c >> 4]) += kDigits[c & 15]; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c < 0x20 || c == 0x7f) escape(c);
    else if (c == 0xC2 && next >= 0x80 && next < 0xA0) escape(static_cast<unsigned char>(text[++i]));  // U+0080 to U+009F
    else out += text[i];
  }
  return out;
}

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace osier

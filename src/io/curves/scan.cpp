#include "io/curves/scan.hpp"

#include "core/text.hpp"

namespace osier {

std::string in_quotes(std::string_view word, std::size_t longest) {
  std::string text = shorten(std::string(word.substr(0, 5 * longest)), longest);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return "`" + text + "`";
}

Vec3d take_point(std::string_view& line, const CurveSource& source, std::size_t number) {
  double xyz[3];
  for (double& value : xyz) {
    const std::string_view word = next_word(line);
    const std::optional<double> v = number_of(word);
    if (!v)
      source.fail_at_line(number, word.empty() ? "a point has fewer than three numbers" : in_quotes(word) + " is not a number",
                          "write x y z");
    if (!std::isfinite(*v)) source.fail_at_line(number, in_quotes(word) + " is not finite", "use finite numbers");
    value = *v;
  }
  return {xyz[0], xyz[1], xyz[2]};
}

}  // namespace osier

#include "io/curves/scan.hpp"

#include "core/text.hpp"

namespace osier {

std::string in_quotes(std::string_view word, std::size_t longest) {
  std::string text = shorten(std::string(word.substr(0, 5 * longest)), longest);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return "`" + text + "`";
}

NumberProblem number_problem(std::string_view word, const char* remedy) {
  std::string dotted(word.substr(0, 100));
  const std::size_t comma = dotted.find(',');
  if (comma != std::string::npos) dotted[comma] = '.';
  if (comma != std::string::npos && number_of(dotted))
    return {in_quotes(word) + " is not a number", "write decimals with a point: " + dotted};
  double value = 0;
  if (const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      error == std::errc::result_out_of_range && end == word.data() + word.size())
    return {in_quotes(word) + " is too large", "use numbers below 1e308"};
  return {in_quotes(word) + " is not a number", remedy};
}

Vec3d take_point(std::string_view& line, const CurveSource& source, std::size_t number) {
  double xyz[3];
  for (double& value : xyz) {
    const std::string_view word = next_word(line);
    const std::optional<double> v = number_of(word);
    if (word.empty()) source.fail_at_line(number, "a point has fewer than three numbers", "write x y z");
    if (!v) {
      const NumberProblem problem = number_problem(word, "write x y z");
      source.fail_at_line(number, problem.what, problem.remedy);
    }
    if (!std::isfinite(*v)) source.fail_at_line(number, in_quotes(word) + " is not finite", "use finite numbers");
    value = *v;
  }
  return {xyz[0], xyz[1], xyz[2]};
}

}  // namespace osier

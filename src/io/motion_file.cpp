#include "io/motion_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <numbers>

#include "io/curves/registry.hpp"
#include "io/curves/scan.hpp"
#include "io/curves/turn.hpp"
#include "io/curves/usda_motion.hpp"
#include "io/usd_binary.hpp"
#include "math/vec3.hpp"

namespace osier {

namespace {

/// Further than this between two samples, and nobody knows which way it went.
constexpr double kFarthestTurn = 2 * std::numbers::pi / 3;

enum MotionColumn : std::size_t { kTime, kX, kY, kZ, kQx, kQy, kQz, kQw, kColumns };
constexpr std::array<const char*, kColumns> kMotionColumns{"time", "x", "y", "z", "qx", "qy", "qz", "qw"};

/// The words of a line, separated by commas, semicolons or blanks; what follows `#` is a comment.
std::vector<std::string_view> motion_words(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  const auto ends_word = [](char c) { return is_blank(c) || c == ',' || c == ';'; };
  for (std::size_t i = 0; i < line.size();) {
    if (ends_word(line[i])) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    while (i < line.size() && !ends_word(line[i])) ++i;
    words.push_back(line.substr(first, i - first));
  }
  return words;
}

/// Time, position and, in all rows or in none, a quaternion. With a header, its words say what the columns are.
class MotionTable {
 public:
  explicit MotionTable(const CurveSource& source) : source_(source) {}

  RecordedMotion read() {
    LineScanner lines(source_.text());
    for (std::string_view line; lines.next(line);) {
      const auto words = motion_words(line);
      if (words.empty()) continue;
      line_ = lines.number();
      if (places_.empty() && find_columns(words)) continue;
      add_row(words);
    }
    if (motion_.times.empty()) source_.fail("has no rows", "write time x y z, or time x y z qx qy qz qw, in every line");
    return std::move(motion_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const { source_.fail_at_line(line_, what, remedy); }

  /// False where the first line has numbers already.
  bool find_columns(const std::vector<std::string_view>& words) {
    if (number_of(words[0])) {
      if (words.size() != 4 && words.size() != kColumns)
        fail(fmt::format("has {} numbers", words.size()), "write time x y z, or time x y z qx qy qz qw, or a header");
      for (std::size_t i = 0; i < words.size(); ++i) places_.push_back(i);
      count_ = words.size();
      return false;
    }
    places_.assign(kColumns, words.size());
    std::size_t columns = 0;
    for (const std::string_view word : words) {
      if (word[0] == '[' || word[0] == '(') continue;  // a unit that stands apart
      std::string name(word.substr(0, word.find_first_of("[(")));
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (name == "t") name = "time";
      const auto found = std::find(kMotionColumns.begin(), kMotionColumns.end(), name);
      if (found != kMotionColumns.end()) places_[static_cast<std::size_t>(found - kMotionColumns.begin())] = columns;
      ++columns;
    }
    count_ = columns;
    std::size_t turning = 0;
    for (std::size_t c = 0; c < kColumns; ++c) {
      const bool there = places_[c] < words.size();
      if (c < kQx && !there)
        fail(fmt::format("the header has no `{}`", kMotionColumns[c]), "name the columns time, x, y, z, qx, qy, qz, qw");
      turning += c >= kQx && there ? 1 : 0;
    }
    if (turning != 0 && turning != 4) fail("the header has a part of a quaternion", "name all of qx, qy, qz, qw, or none");
    if (turning == 0) places_.resize(kQx);
    return true;
  }

  void add_row(const std::vector<std::string_view>& words) {
    if (words.size() != count_) fail(fmt::format("has {} columns instead of {}", words.size(), count_), "fill every column");
    std::array<double, kColumns> v{};
    for (std::size_t c = 0; c < places_.size(); ++c) {
      const std::string_view word = words[places_[c]];
      const std::optional<double> number = number_of(word);
      if (!number) {
        const NumberProblem problem = number_problem(word, "write a number");
        fail(problem.what, problem.remedy);
      }
      if (!std::isfinite(*number)) fail(in_quotes(word) + " is not finite", "use finite numbers");
      v[c] = *number;
    }
    if (!motion_.times.empty() && v[kTime] <= motion_.times.back())
      fail(fmt::format("the time {} does not increase", v[kTime]), "sort the rows by time");
    motion_.times.push_back(v[kTime]);
    motion_.position.push_back({v[kX], v[kY], v[kZ]});
    motion_.has_rotation = places_.size() == kColumns;
    Quatd q{};
    if (motion_.has_rotation) {
      constexpr double kRounding = 0.01;  // a file of three digits
      q = {v[kQx], v[kQy], v[kQz], v[kQw]};
      if (!(std::abs(norm2(q) - 1) < kRounding))
        fail("the quaternion is not of length 1", "write qx, qy, qz, qw, the last cos(angle/2)");
      q = normalized(q);
    }
    motion_.rotation.push_back(q);
  }

  const CurveSource& source_;
  RecordedMotion motion_;
  std::vector<std::size_t> places_;  ///< of the columns, those that there are
  std::size_t count_ = 0, line_ = 0;
};

RecordedMotion motion_of_prim(const CurveSource& source, const MotionRequest& request, UpAxis& up) {
  constexpr double kSkew = 1e-3;
  PrimMotion prim = read_usda_prim(source, request.prim);
  up = prim.up;
  RecordedMotion motion;
  motion.times = std::move(prim.times);
  motion.has_rotation = true;
  for (std::size_t i = 0; i < motion.times.size(); ++i) {
    const Affine& m = prim.to_world[i];
    const Vec3d x = normalized(m.rows[0]), y = normalized(m.rows[1]), z = normalized(m.rows[2]);
    if (!(std::abs(dot(x, y)) + std::abs(dot(y, z)) + std::abs(dot(z, x)) < kSkew) || !(dot(cross(x, y), z) > 0))
      source.fail(fmt::format("the prim {} is sheared, mirrored or flat at {} s", in_quotes(request.prim), motion.times[i]),
                  "a body turns and moves; leave other transforms out");
    motion.position.push_back(m.translation);
    motion.rotation.push_back(quat_from_frame(x, y, z));
  }
  return motion;
}

RecordedMotion motion_of_curves(const CurveSource& source, UpAxis& up) {
  CurveAnimation all = read_usda_animation(source);
  for (std::size_t i = 1; i < all.curves.size(); ++i)
    if (all.curves[i].start != all.curves[0].start || all.curves[i].closed != all.curves[0].closed)
      source.fail(fmt::format("has other curves at {} s than at {} s", all.times[i], all.times[0]),
                  "write the same curves at all times");
  up = all.curves[0].up;
  RecordedMotion motion;
  motion.times = std::move(all.times);
  motion.curves = std::move(all.curves);
  return motion;
}

/// Onto the side of the one before, so that they can be interpolated.
void align_turns(RecordedMotion& motion, const CurveSource& source) {
  for (std::size_t i = 1; i < motion.rotation.size(); ++i) {
    const Quatd& before = motion.rotation[i - 1];
    Quatd& q = motion.rotation[i];
    double cosine = q.x * before.x + q.y * before.y + q.z * before.z + q.w * before.w;
    if (cosine < 0) q = {-q.x, -q.y, -q.z, -q.w}, cosine = -cosine;
    if (const double turn = 2 * std::acos(std::min(1.0, cosine)); turn > kFarthestTurn)
      source.fail(fmt::format("turns by {:.0f} degrees between {} s and {} s", turn * 180 / std::numbers::pi, motion.times[i - 1],
                              motion.times[i]),
                  "record more samples, so that it is clear which way it turns");
  }
}

}  // namespace

RecordedMotion read_motion(const std::filesystem::path& file, const MotionRequest& request) {
  const std::vector<std::byte> bytes = usd_text(file);
  const CurveSource source{bytes, file.string(), [&](const std::string& name) { return read_beside(file, name); }};
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  UpAxis up = UpAxis::y;
  RecordedMotion motion;
  if (extension == ".usda" || is_usd_extension(extension)) {
    motion = request.prim.empty() ? motion_of_curves(source, up) : motion_of_prim(source, request, up);
  } else if (extension == ".csv" || extension == ".txt") {
    if (!request.prim.empty()) source.fail("has no prims", "leave `prim` out");
    motion = MotionTable(source).read();
  } else {
    source.fail(fmt::format("`{}` is not a file of motions that can be read", extension),
                "use .csv with time, x, y, z, qx, qy, qz, qw, or .usda or .usdc");
  }
  up = request.up.value_or(up);
  const auto placed = [&](const Vec3d& p) { return request.scale * turned_to_y(p, up); };
  const Quatd turn = quat_from_frame(turned_to_y({1, 0, 0}, up), turned_to_y({0, 1, 0}, up), turned_to_y({0, 0, 1}, up));
  for (Vec3d& p : motion.position) p = placed(p);
  for (Quatd& q : motion.rotation) q = normalized(turn * q);
  for (CurveSet& set : motion.curves)
    for (Vec3d& p : set.points) p = placed(p);
  align_turns(motion, source);
  return motion;
}

}  // namespace osier

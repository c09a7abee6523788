// Tables of points. With a header, its words say what the columns are; without, they are x y z [width [curve]], separated by any
// mixture of blanks, tabs, commas and semicolons. `#` starts a comment. A blank line, or a change in the column `curve` (or `id`)
// or `name`, starts a new curve.
#include "io/curves/csv.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "io/curves/moment.hpp"
#include "io/curves/scan.hpp"

namespace osier {

namespace {

enum Column : std::size_t { kX, kY, kZ, kWidth, kRadius, kCurve, kName, kClosed, kTime, kFrame, kColumns };
struct ColumnName {
  const char* name;
  Column column;
};
constexpr ColumnName kNames[] = {{"x", kX},           {"y", kY},         {"z", kZ},      {"width", kWidth}, {"diameter", kWidth},
                                 {"radius", kRadius}, {"curve", kCurve}, {"id", kCurve}, {"name", kName},   {"closed", kClosed},
                                 {"time", kTime},     {"frame", kFrame}};

/// `X [m]` is `x`.
std::string column_word(std::string_view field) {
  std::string word;
  for (char c : trimmed(field)) {
    if (c == ' ' || c == '[' || c == '(') break;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

class CsvReader {
 public:
  explicit CsvReader(const CurveSource& source) : source_(source) { find_columns(); }

  /// Ascending; none when the table has neither `time` nor `frame`.
  std::vector<double> times() {
    std::set<double> found;
    if (clock_) each_row([&](bool) { found.insert(number(*clock_)); });
    return {found.begin(), found.end()};
  }

  /// The rows of one time, or all.
  CurveSet read(std::optional<double> time, std::vector<std::size_t>& line_of_point);

 private:
  bool has(Column c) const { return place_[c].has_value(); }
  const std::string& field(Column c) const { return fields_[*place_[c]]; }

  void find_columns();
  void name_columns();
  void split(std::string_view line);
  template <class Visit>
  void each_row(Visit visit);

  double number(Column c) const {
    const std::optional<double> v = number_of(field(c));
    if (!v) {
      const NumberProblem problem = number_problem(field(c), "write x y z");
      source_.fail_at_line(line_, problem.what, problem.remedy);
    }
    if (!std::isfinite(*v)) source_.fail_at_line(line_, in_quotes(field(c)) + " is not finite", "use finite numbers");
    return *v;
  }
  double width() const {
    const double w = has(kWidth) ? number(kWidth) : 2 * number(kRadius);
    if (w < 0) source_.fail_at_line(line_, "a negative width", "use 0 or more");
    return w;
  }
  bool closed() const {
    const std::string& word = field(kClosed);
    if (word == "1" || word == "true") return true;
    if (word != "0" && word != "false")
      source_.fail_at_line(line_, in_quotes(word) + " does not say whether the curve is closed", "write 0 or 1");
    return false;
  }
  void label(CurveSet& set, const std::vector<std::string>& words, const std::vector<std::size_t>& lines) const;

  const CurveSource& source_;
  bool header_ = false;
  char separator_ = 0;  ///< 0: any mixture
  std::size_t header_line_ = 0, columns_ = 0, line_ = 0;
  std::array<std::optional<std::size_t>, kColumns> place_;
  std::optional<Column> clock_;
  std::vector<std::string> fields_;
};

/// Into fields_, quotes taken off; nothing for a comment or a blank line.
void CsvReader::split(std::string_view line) {
  fields_.clear();
  if (const std::string_view content = trimmed(line); content.empty() || content[0] == '#') return;
  const bool merge = separator_ == 0 || separator_ == ' ';  // several separators in a row count as one
  const auto is_separator = [&](char c) {
    return separator_ == 0 ? is_blank(c) || c == ',' || c == ';' : separator_ == ' ' ? is_blank(c) : c == separator_;
  };
  std::string field;
  bool in_quotation = false;  // the field was written in quotes: blanks inside count, blanks around it do not
  const auto end_field = [&] {
    const std::string_view bare = trimmed(field);
    if (in_quotation) fields_.push_back(field);
    else if (!merge || !bare.empty()) fields_.emplace_back(bare);
    field.clear();
    in_quotation = false;
  };
  for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    if (is_separator(line[i])) {
      end_field();
    } else if (line[i] == '"' && trimmed(field).empty() && !in_quotation) {
      field.clear();
      in_quotation = true;
      for (++i; i >= line.size() || line[i] != '"' || line.substr(i, 2) == "\"\""; ++i) {
        if (i >= line.size()) source_.fail_at_line(line_, "a quote that does not end", "close it on the same line");
        if (line[i] == '"') ++i;  // two of them stand for one
        field += line[i];
      }
    } else if (!in_quotation || !is_blank(line[i])) {
      field += line[i];
    }
  }
  end_field();
}

/// Calls visit(after a blank line) for every row.
template <class Visit>
void CsvReader::each_row(Visit visit) {
  LineScanner lines(source_.text());
  bool gap = false;
  for (std::string_view line; lines.next(line);) {
    line_ = lines.number();
    if (header_ && line_ <= header_line_) continue;
    if (trimmed(line).empty()) gap = true;
    split(line);
    if (fields_.empty()) continue;
    if (fields_.size() != columns_)
      source_.fail_at_line(line_, fmt::format("has {} columns, the first row has {}", fields_.size(), columns_),
                           "give every point the same columns, x y z first");
    visit(gap);
    gap = false;
  }
}

void CsvReader::find_columns() {
  LineScanner lines(source_.text());
  for (std::string_view line; lines.next(line) && fields_.empty();) {
    line_ = lines.number();
    split(line);
    if (fields_.empty()) continue;
    header_ = std::none_of(fields_.begin(), fields_.end(), [](const std::string& f) { return number_of(f).has_value(); });
    if (header_) {
      header_line_ = line_;
      for (char c : {',', ';', '\t', ' '})
        if (separator_ == 0 && line.find(c) != std::string_view::npos) separator_ = c;
      split(line);
    }
    columns_ = fields_.size();
    name_columns();
  }
}

void CsvReader::name_columns() {
  if (header_) {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      for (const auto& [name, column] : kNames)
        if (column_word(fields_[i]) == name) {
          if (place_[column])
            source_.fail_at_line(line_, in_quotes(fields_[i]) + " names a column that is there already", "keep one");
          place_[column] = i;
        }
    if (!has(kX) || !has(kY) || !has(kZ))
      source_.fail_at_line(line_, "is neither a point nor a header with x, y and z", "write x y z, or name the columns");
    if (has(kWidth) && has(kRadius)) source_.fail_at_line(line_, "has both width and radius", "keep one");
    if (has(kTime)) clock_ = kTime;
    else if (has(kFrame)) clock_ = kFrame;
    return;
  }
  if (columns_ < 3 || columns_ > 5)
    source_.fail_at_line(line_, fmt::format("has {} columns", columns_), "write x y z [width [curve]], or begin with a header");
  place_[kX] = 0, place_[kY] = 1, place_[kZ] = 2;
  if (columns_ == 4) place_[number_of(fields_[3]) ? kWidth : kCurve] = 3;
  if (columns_ == 5) place_[kWidth] = 3, place_[kCurve] = 4;
}

CurveSet CsvReader::read(std::optional<double> time, std::vector<std::size_t>& line_of_point) {
  CurveSet set;
  std::vector<std::string> words;  // of the column `curve`, per curve
  std::vector<std::size_t> lines;  // where each curve begins
  bool gap = false;
  each_row([&](bool after_blank) {
    gap = gap || after_blank;
    if (time && number(*clock_) != *time) return;
    const bool fresh = words.empty() || gap || (has(kCurve) && field(kCurve) != words.back()) ||
                       (has(kName) && field(kName) != set.names.back());
    gap = false;
    if (fresh) {
      if (!words.empty()) set.start.push_back(set.points.size());
      words.push_back(has(kCurve) ? field(kCurve) : "");
      if (has(kName)) set.names.push_back(field(kName));
      set.closed.push_back(has(kClosed) && closed());
      lines.push_back(line_);
    } else if (has(kClosed) && closed() != (set.closed.back() != 0)) {
      source_.fail_at_line(line_, "`closed` changes within a curve", "write the same in all its rows");
    }
    set.points.push_back({number(kX), number(kY), number(kZ)});
    if (has(kWidth) || has(kRadius)) set.widths.push_back(width());
    line_of_point.push_back(line_);
  });
  if (!words.empty()) set.start.push_back(set.points.size());
  if (has(kCurve)) label(set, words, lines);
  return set;
}

/// Whole numbers are ids; other words are names.
void CsvReader::label(CurveSet& set, const std::vector<std::string>& words, const std::vector<std::size_t>& lines) const {
  std::vector<std::int64_t> ids;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const auto id = whole_number_of(words[k]);
    if (!id && has(kName))
      source_.fail_at_line(lines[k], in_quotes(words[k]) + " is not a whole number",
                           "let `curve` be a number where `name` is there");
    if (!id) {
      set.names = words;
      return;
    }
    ids.push_back(*id);
  }
  set.ids = std::move(ids);
}

/// Points and widths of one curve set on the way to another of the same shape.
void move_towards(CurveSet& set, const CurveSet& after, double t) {
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    const Vec3d a = set.points[i], b = after.points[i];
    set.points[i] = {(1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z};
  }
  for (std::size_t i = 0; i < set.widths.size(); ++i) set.widths[i] = (1 - t) * set.widths[i] + t * after.widths[i];
}

}  // namespace

CurveSet read_csv_lines(const CurveSource& source, const CurveReadOptions& options, std::vector<std::size_t>& line_of_point) {
  CsvReader reader(source);
  const std::vector<double> times = reader.times();
  const double time = chosen_time(times, options, source);
  if (times.empty()) return reader.read({}, line_of_point);
  const auto [before, after, t] = moment_at(times, time);
  CurveSet set = reader.read(times[before], line_of_point);
  if (after == before) return set;
  std::vector<std::size_t> ignored;
  const CurveSet next = reader.read(times[after], ignored);
  if (next.start != set.start)
    source.fail(fmt::format("the curves at times {} and {} have different points", times[before], times[after]),
                "ask for a time that is in the table");
  move_towards(set, next, t);
  return set;
}

CurveSet read_csv(const CurveSource& source, const CurveReadOptions& options) {
  std::vector<std::size_t> line_of_point;
  return read_csv_lines(source, options, line_of_point);
}

}  // namespace osier

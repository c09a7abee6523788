// A line for each point: spreadsheets, R, pandas. Frames follow one another in one file.
#include <algorithm>
#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"

namespace osier {

namespace {

/// On one line: a quoted line break is beyond many readers.
std::string csv_text(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string header(const CurveFrame& frame, bool timed) {
  return fmt::format("{}curve,{}closed,x,y,z{}{}\n", timed ? "frame,time," : "", frame.curves.names.empty() ? "" : "name,",
                     frame.curves.widths.empty() ? "" : ",width", frame.velocities.empty() ? "" : ",vx,vy,vz");
}

/// Ids tell curves apart only where no two are the same; the pieces of a broken rod share theirs.
bool has_own_ids(const CurveSet& c) {
  std::vector<std::int64_t> ids = c.ids;
  std::sort(ids.begin(), ids.end());
  return !ids.empty() && std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

void append_lines(fmt::memory_buffer& text, const CurveFrame& frame, bool timed) {
  const CurveSet& c = frame.curves;
  auto out = fmt::appender(text);
  const bool own_ids = has_own_ids(c);
  for (std::size_t k = 0; k < c.size(); ++k) {
    std::string start = timed ? fmt::format("{},{},", frame.index, frame.time) : "";
    start += fmt::format("{},", own_ids ? c.ids[k] : static_cast<std::int64_t>(k));
    if (!c.names.empty()) start += csv_text(c.names[k]) + ',';
    start += c.closed[k] ? '1' : '0';
    for (std::size_t p = c.start[k]; p < c.start[k + 1]; ++p) {
      fmt::format_to(out, "{},{},{},{}", start, c.points[p].x, c.points[p].y, c.points[p].z);
      if (!c.widths.empty()) fmt::format_to(out, ",{}", c.widths[p]);
      if (!frame.velocities.empty())
        fmt::format_to(out, ",{},{},{}", frame.velocities[p].x, frame.velocities[p].y, frame.velocities[p].z);
      text.push_back('\n');
    }
  }
}

std::string encode_csv(const CurveFrame& frame, const CurveWriteOptions&) {
  fmt::memory_buffer text;
  append_lines(text, frame, false);
  return header(frame, false) + std::string(text.data(), text.size());
}

class Table final : public CurveWriter {
 public:
  explicit Table(const std::filesystem::path& path) {
    if (path.has_parent_path()) make_folder(path.parent_path());
    file_ = std::make_unique<OutputFile>(path, OutputFile::Mode::growing);
    wrote(path);
  }
  void write(const CurveFrame& frame) override {
    if (file_->size() == 0) file_->append(header(frame, true));
    fmt::memory_buffer text;
    append_lines(text, frame, true);
    file_->append({text.data(), text.size()});
  }

 private:
  std::unique_ptr<OutputFile> file_;
};

std::unique_ptr<CurveWriter> make_csv(const WriteTarget& target, const CurveWriteOptions& options) {
  if (options.per_frame || !target.numbered()) return std::make_unique<FrameFiles>(target, options, ".csv", encode_csv);
  return std::make_unique<Table>(target.file(".csv"));
}

}  // namespace

const CurveOutput kCsvFormat{.extension = ".csv",
                             .help = "a line for each point: curve, x, y, z, width; frame and time where there are several",
                             .holds_closed = true,
                             .holds_names = true,
                             .holds_ids = true,
                             .holds_widths = true,
                             .holds_empty = false,
                             .holds_welds = false,
                             .single_precision = false,
                             .time = CurveOutput::Time::any_topology,
                             .make = make_csv};

}  // namespace osier

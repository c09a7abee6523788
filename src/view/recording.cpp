#include "view/recording.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <zlib.h>

#include "io/atomic_file.hpp"
#include "math/vec3.hpp"
#include "view/landmarks.hpp"
#include "view/packet.hpp"

namespace osier::view {

namespace fs = std::filesystem;

namespace {

/// A file that is removed unless it is kept; what goes wrong becomes a RunError naming it.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w+b")) {
    if (!file_) fail("open for writing");
  }
  ~TemporaryFile() {
    if (file_) std::fclose(file_);
    std::error_code ignored;
    if (!kept_) fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const void* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail("write");
  }
  template <class T>
  void write(std::span<const T> values) {
    write(values.data(), values.size_bytes());
  }
  template <class T>
  void read(std::vector<T>& values) {
    if (!values.empty() && std::fread(values.data(), sizeof(T), values.size(), file_) != values.size()) fail("read back");
  }
  void rewind() {
    if (std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0) fail("read back");
  }
  void keep_as(const fs::path& name) {
    std::FILE* file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0) fail("write");
    put_in_place(path_, name);
    kept_ = true;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw RunError(fmt::format("{}: cannot {}: {}", path_.string(), what, std::strerror(errno)));
  }
  fs::path path_;
  std::FILE* file_;
  bool kept_ = false;
};

/// Bytes in, gzip and base64 out.
class Compressor {
 public:
  explicit Compressor(TemporaryFile& out) : out_(out) {
    constexpr int kGzip = 16;
    if (deflateInit2(&stream_, 6, Z_DEFLATED, 15 + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  ~Compressor() { deflateEnd(&stream_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void packet(const std::string& bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    put({reinterpret_cast<const char*>(&size), sizeof size}, Z_NO_FLUSH);
    put(bytes, Z_NO_FLUSH);
  }
  void finish() {
    put({}, Z_FINISH);
    base64(true);
  }

 private:
  void put(std::string_view bytes, int flush) {
    // zlib counts in 32 bits; a packet may be longer one day
    do {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), 1U << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(piece);
      bytes.remove_prefix(piece);
      do {
        std::array<char, 1 << 16> room;
        stream_.next_out = reinterpret_cast<Bytef*>(room.data());
        stream_.avail_out = static_cast<uInt>(room.size());
        deflate(&stream_, flush);
        waiting_.append(room.data(), room.size() - stream_.avail_out);
        base64(false);
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
  }

  /// Whole triples; at the end what is left, padded.
  void base64(bool last) {
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    const std::size_t whole = waiting_.size() / 3 * 3, end = last ? waiting_.size() : whole;
    for (std::size_t i = 0; i < end; i += 3) {
      const auto byte = [&](std::size_t k) { return k < end ? static_cast<unsigned char>(waiting_[k]) : 0U; };
      const unsigned bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
      for (unsigned digit = 0; digit < 4; ++digit) text += i + digit > end ? '=' : kDigits[bits >> (18 - 6 * digit) & 63];
    }
    out_.write(text.data(), text.size());
    waiting_.erase(0, end);
  }

  TemporaryFile& out_;
  z_stream stream_{};
  std::string waiting_;
};

std::int16_t quantised(double x) { return static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0, 1.0) * 32767)); }

/// One recorded run inside the recording.
struct Slot {
  Model model;
  ModelText text;
  fs::path folder;
  std::vector<Index> joints;
  std::vector<std::uint16_t> position_before;
  std::vector<std::int16_t> frame_before;
  Landmarks landmarks;
};

struct Entry {
  int slot, index;
  double time;
  bool has_moments;
  std::size_t obstacle_numbers;
  std::size_t contacts;
};

/// Frames in a file of their own until the extent of everything is known.
class Recording {
 public:
  Recording(fs::path file, std::string_view page) : file_(std::move(file)), page_(page) {
    constexpr std::string_view kElement = "<script id=\"osier-recording\"";
    const std::size_t element = page_.find(kElement);
    const std::size_t close = element == std::string_view::npos ? element : page_.find('>', element);
    if (close == std::string_view::npos)
      throw InputError({{file_.string(), "the viewer's page has no place for a recording", "build the viewer again"}});
    place_ = close + 1;
  }

  /// `folder`: of the run, where the record of its probes lies once it has ended.
  void add_slot(const Model& model, ModelText text, const fs::path& folder) {
    if (!spool_) spool_.emplace(temporary_for(file_, ".frames.tmp"));
    text.slot = static_cast<int>(slots_.size());
    slots_.push_back({model, std::move(text), folder, joints_between_segments(model), {}, {}, {}});
  }

  void add(int slot, const Frame& frame) {
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    for (const Vec3d& x : frame.vertex_position) {
      low_ = {std::min(low_.x, x.x), std::min(low_.y, x.y), std::min(low_.z, x.z)};
      high_ = {std::max(high_.x, x.x), std::max(high_.y, x.y), std::max(high_.z, x.z)};
    }
    spool_->write(frame.vertex_position);
    std::vector<std::int16_t> turned;
    turned.reserve(4 * frame.segment_frame.size());
    for (const Quatd& q : frame.segment_frame)
      for (const double c : {q.x, q.y, q.z, q.w}) turned.push_back(quantised(c));
    spool_->write(std::span<const std::int16_t>(turned));
    spool_->write(frame.segment_alive);
    std::vector<float> obstacles;
    for (const Vec3d& x : frame.obstacle_points)
      for (const double c : {x.x, x.y, x.z}) obstacles.push_back(static_cast<float>(c));
    spool_->write(std::span<const float>(obstacles));
    const bool moments = !frame.joint_moment.empty();
    for (std::size_t i = 0; moments && i < s.joints.size(); ++i) {
      const Vec3d& m = frame.joint_moment[static_cast<std::size_t>(s.joints[i])];
      const std::array<float, 3> single{static_cast<float>(m.x), static_cast<float>(m.y), static_cast<float>(m.z)};
      spool_->write(single.data(), sizeof single);
    }
    spool_->write(frame.contacts);
    entries_.push_back({slot, frame.index, frame.time, moments, obstacles.size(), frame.contacts.size()});
    s.text.times.push_back(frame.time);
    if (frame.report) s.text.reports.push_back(*frame.report);
    s.landmarks.add(frame.vertex_position);
  }

  void finish() {
    TemporaryFile out(temporary_for(file_));
    out.write(page_.data(), place_);
    Compressor compressor(out);
    for (Slot& s : slots_) {
      if (!s.folder.empty()) s.text.probes = read_probes(s.folder);
      if (s.text.reports.size() != s.text.times.size()) s.text.reports.clear();
      s.text.landmarks = s.landmarks.points();
      compressor.packet(model_packet(s.model, s.text));
    }
    const double extent = std::max({high_.x - low_.x, high_.y - low_.y, high_.z - low_.z});
    scale_ = extent > 0 ? extent / 65535 : 1;
    spool_->rewind();
    for (const Entry& e : entries_) compressor.packet(next_packet(e));
    compressor.finish();
    out.write(page_.data() + place_, page_.size() - place_);
    spool_.reset();
    out.keep_as(file_);
  }

 private:
  /// Keeps what it has read for the next frame and gives the difference. Unsigned numbers wrap, as the reader's do.
  template <class T>
  static std::vector<T> difference(std::vector<T>& before, std::vector<T> now) {
    std::vector<T> change = now;
    if (before.size() == now.size())
      for (std::size_t i = 0; i < now.size(); ++i)
        change[i] = static_cast<T>(static_cast<std::uint16_t>(now[i]) - static_cast<std::uint16_t>(before[i]));
    before = std::move(now);
    return change;
  }

  std::string next_packet(const Entry& e) {
    Slot& s = slots_[static_cast<std::size_t>(e.slot)];
    const bool delta = !s.position_before.empty();
    std::vector<Vec3d> position(static_cast<std::size_t>(s.model.vertex_count()));
    std::vector<std::int16_t> turned(4 * static_cast<std::size_t>(s.model.segment_count()));
    std::vector<std::uint8_t> alive(static_cast<std::size_t>(s.model.segment_count()));
    std::vector<float> moment(e.has_moments ? 3 * s.joints.size() : 0);
    spool_->read(position), spool_->read(turned), spool_->read(alive);
    std::vector<float> obstacles(e.obstacle_numbers);
    spool_->read(obstacles), spool_->read(moment);
    std::vector<ContactPoint> contacts(e.contacts);
    spool_->read(contacts);
    const ContactArrays touching(contacts);
    std::vector<std::uint16_t> q;
    q.reserve(3 * position.size());
    const auto put = [&](double x, double low) {
      q.push_back(static_cast<std::uint16_t>(std::lround(std::clamp((x - low) / scale_, 0.0, 65535.0))));
    };
    for (const Vec3d& x : position) put(x.x, low_.x), put(x.y, low_.y), put(x.z, low_.z);
    const std::vector<std::uint16_t> position_change = difference(s.position_before, std::move(q));
    const std::vector<std::int16_t> frame_change = difference(s.frame_before, std::move(turned));
    Packet packet({{"type", "frame"},
                   {"slot", e.slot},
                   {"index", e.index},
                   {"time", e.time},
                   {"origin", {low_.x, low_.y, low_.z}},
                   {"scale", scale_},
                   {"delta", delta}});
    packet.add("position", position_change);
    packet.add("frame", frame_change);
    packet.add("alive", alive);
    if (!obstacles.empty()) packet.add("obstacle_points", obstacles);
    if (e.has_moments) packet.add("joint_moment", moment);
    if (s.text.contacts) touching.add_to(packet);
    return packet.bytes();
  }

  static constexpr double kFar = std::numeric_limits<double>::infinity();
  fs::path file_;
  std::string_view page_;
  std::size_t place_ = 0;  ///< in the page, where the recording goes
  std::optional<TemporaryFile> spool_;
  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  Vec3d low_{kFar, kFar, kFar}, high_{-kFar, -kFar, -kFar};
  double scale_ = 1;
};

}  // namespace

struct HtmlWriter::Impl {
  Impl(fs::path file, std::string_view page, fs::path run) : recording(std::move(file), page), folder(std::move(run)) {}
  Recording recording;
  fs::path folder;
};

HtmlWriter::HtmlWriter(fs::path file, std::string_view page, fs::path folder)
    : impl_(std::make_unique<Impl>(std::move(file), page, std::move(folder))) {}
HtmlWriter::~HtmlWriter() = default;

void HtmlWriter::begin(const Model& model, const RunInfo& info) {
  impl_->recording.add_slot(model, model_text(info, false), impl_->folder);
}
void HtmlWriter::write(const Frame& frame) { impl_->recording.add(0, frame); }
void HtmlWriter::end() { impl_->recording.finish(); }

void write_html(std::vector<Trajectory>& slots, const fs::path& file, std::string_view page) {
  Recording recording(file, page);
  const std::vector<std::string> names = run_names(slots);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    ModelText text = model_text(slots[s]);
    text.name = names[s];
    recording.add_slot(slots[s].model(), text, slots[s].path().parent_path());
  }
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (int f = 0; f < slots[s].frame_count(); ++f) recording.add(static_cast<int>(s), slots[s].read(f));
  recording.finish();
}

}  // namespace osier::view

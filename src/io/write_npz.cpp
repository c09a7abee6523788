// NumPy's .npz: a zip of .npy arrays, stored and not compressed, so that writing is a copy. The zip comes last: until then each
// array is a .npy file of its own in NAME.npz.parts, complete after every frame, and numpy.load reads it.
// The zip is written by hand: forty lines beside a library that would do nothing but count bytes.
#include <array>
#include <fmt/format.h>
#include <fstream>

#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

namespace fs = std::filesystem;

/// 128 bytes, so that a growing array rewrites it in place.
std::string npy_header(const std::string& type, const std::vector<std::size_t>& shape) {
  std::string sides;
  for (const std::size_t n : shape) sides += fmt::format("{},", n);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, sides);
  dict.resize(128 - 10 - 1, ' ');
  std::string header("\x93NUMPY\x01\x00", 8);
  append_binary(header, static_cast<std::uint16_t>(dict.size() + 1));
  return header + dict + '\n';
}

std::u32string utf32(const std::string& text) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
    char32_t value = more == 0 ? c : c & (0x3FU >> more);
    for (std::size_t k = 1; k <= more && i + k < text.size(); ++k)
      value = value << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    out += value;
    i += more + 1;
  }
  return out;
}

/// The checksum of zip files (CRC-32, reflected polynomial EDB88320).
class Checksum {
 public:
  void add(std::string_view bytes) {
    static const std::array<std::uint32_t, 256> table = [] {
      std::array<std::uint32_t, 256> t{};
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c & 1) ? 0xEDB88320U ^ (c >> 1) : c >> 1;
        t[i] = c;
      }
      return t;
    }();
    for (const char b : bytes) value_ = table[(value_ ^ static_cast<unsigned char>(b)) & 255] ^ (value_ >> 8);
  }
  std::uint32_t value() const { return ~value_; }

 private:
  std::uint32_t value_ = 0xFFFFFFFFU;
};

/// Entries are stored; sizes and places beyond 4 GB go into zip64 fields, which every entry has.
class Zip {
 public:
  explicit Zip(const fs::path& path) : file_(path, OutputFile::Mode::atomic) {}

  void add(const std::string& name, const fs::path& from) {
    const std::uint64_t at = file_.size(), size = fs::file_size(from);
    file_.append(local_header(name, 0, size));
    Checksum sum;
    std::ifstream in(from, std::ios::binary);
    std::string block(1 << 20, '\0');
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
      const std::string_view piece(block.data(), static_cast<std::size_t>(in.gcount()));
      sum.add(piece);
      file_.append(piece);
    }
    const std::string header = local_header(name, sum.value(), size);
    if (file_.size() != at + header.size() + size) throw RunError(fmt::format("{}: cannot be read again", from.string()));
    file_.overwrite(at, header);
    central_ += "PK\x01\x02";
    put<std::uint16_t>(central_, 45);
    common(central_, sum.value());
    put<std::uint16_t>(central_, name.size());
    put<std::uint16_t>(central_, 28);
    for (int i = 0; i < 3; ++i) put<std::uint16_t>(central_, 0);  // comment, disk, attributes
    put<std::uint32_t>(central_, 0);
    put<std::uint32_t>(central_, 0xFFFFFFFFU);
    central_ += name;
    put<std::uint16_t>(central_, 1);
    put<std::uint16_t>(central_, 24);
    for (const std::uint64_t value : {size, size, at}) put<std::uint64_t>(central_, value);
    ++entries_;
  }

  void finish() {
    const std::uint64_t at = file_.size();
    std::string tail = central_ + "PK\x06\x06";
    put<std::uint64_t>(tail, 44);
    put<std::uint16_t>(tail, 45);
    put<std::uint16_t>(tail, 45);
    put<std::uint32_t>(tail, 0);
    put<std::uint32_t>(tail, 0);
    for (const std::uint64_t value : {entries_, entries_, std::uint64_t{central_.size()}, at}) put<std::uint64_t>(tail, value);
    tail += "PK\x06\x07";
    put<std::uint32_t>(tail, 0);
    put<std::uint64_t>(tail, at + central_.size());
    put<std::uint32_t>(tail, 1);
    tail += "PK\x05\x06";
    put<std::uint32_t>(tail, 0);
    put<std::uint16_t>(tail, entries_);
    put<std::uint16_t>(tail, entries_);
    put<std::uint32_t>(tail, 0xFFFFFFFFU);
    put<std::uint32_t>(tail, 0xFFFFFFFFU);
    put<std::uint16_t>(tail, 0);
    file_.append(tail);
    file_.commit();
  }

 private:
  template <class T, class V>
  static void put(std::string& bytes, V value) {
    append_binary(bytes, static_cast<T>(value));
  }
  /// Version needed, flags (UTF-8 names), method, date, checksum, sizes (see the zip64 field).
  static void common(std::string& bytes, std::uint32_t checksum) {
    put<std::uint16_t>(bytes, 45);
    put<std::uint16_t>(bytes, 0x0800);
    put<std::uint16_t>(bytes, 0);
    put<std::uint16_t>(bytes, 0);
    put<std::uint16_t>(bytes, 0x0021);  // the first of January 1980: the same frames give the same bytes
    put<std::uint32_t>(bytes, checksum);
    put<std::uint32_t>(bytes, 0xFFFFFFFFU);
    put<std::uint32_t>(bytes, 0xFFFFFFFFU);
  }
  static std::string local_header(const std::string& name, std::uint32_t checksum, std::uint64_t size) {
    std::string bytes = "PK\x03\x04";
    common(bytes, checksum);
    put<std::uint16_t>(bytes, name.size());
    put<std::uint16_t>(bytes, 20);
    bytes += name;
    put<std::uint16_t>(bytes, 1);
    put<std::uint16_t>(bytes, 16);
    put<std::uint64_t>(bytes, size);
    put<std::uint64_t>(bytes, size);
    return bytes;
  }

  OutputFile file_;
  std::string central_;
  std::uint64_t entries_ = 0;
};

class NpzWriter final : public CurveWriter {
 public:
  explicit NpzWriter(fs::path path) : path_(std::move(path)), parts_(path_.string() + ".parts") {
    make_folder(parts_);
    wrote(parts_);
  }

  void write(const CurveFrame& frame) override {
    if (frames_ == 0) begin(frame);
    if (!same_topology(frame.curves, first_))
      throw RunError(fmt::format("{}: frame {} has other curves than the first", path_.string(), frame.index));
    append("position", frame.curves.points, 3);
    if (!frame.normals.empty()) append("normal", frame.normals, 3);
    if (!frame.velocities.empty()) append("velocity", frame.velocities, 3);
    append("time", std::vector<double>{frame.time}, 0);  // last: says how many frames are whole
    ++frames_;
  }

  void end() override {
    Zip zip(path_);
    for (const std::string& name : names_) zip.add(name + ".npy", part(name));
    zip.finish();
    wrote(path_);
    growing_.clear();
    std::error_code ignored;  // the parts say the same as the zip
    fs::remove_all(parts_, ignored);
  }

 private:
  fs::path part(const std::string& name) const { return parts_ / (name + ".npy"); }

  template <class T>
  void whole(const std::string& name, const std::string& type, const std::vector<std::size_t>& shape,
             const std::vector<T>& values) {
    std::string bytes = npy_header(type, shape);
    append_binary(bytes, values);
    write_file_atomically(part(name), bytes);
    names_.push_back(name);
  }

  /// One more entry of a growing array; `width` 0: of plain numbers.
  template <class T>
  void append(const std::string& name, const std::vector<T>& values, std::size_t width) {
    const auto header = [&](std::size_t frames) {
      return npy_header("<f8",
                        width == 0 ? std::vector<std::size_t>{frames} : std::vector<std::size_t>{frames, values.size(), width});
    };
    if (frames_ == 0) {
      growing_.emplace_back(name, std::make_unique<OutputFile>(part(name), OutputFile::Mode::growing));
      growing_.back().second->append(header(0));
      names_.push_back(name);
    }
    for (auto& [other, file] : growing_) {
      if (other != name) continue;
      file->append({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
      file->overwrite(0, header(frames_ + 1));
    }
  }

  void begin(const CurveFrame& frame) {
    first_ = frame.curves;
    const CurveSet& c = first_;
    whole("start", "<i8", {c.start.size()}, std::vector<std::int64_t>(c.start.begin(), c.start.end()));
    whole("closed", "|u1", {c.size()}, c.closed);
    if (!c.ids.empty()) whole("id", "<i8", {c.size()}, c.ids);
    if (!c.widths.empty()) whole("width", "<f8", {c.points.size()}, c.widths);
    std::vector<std::int64_t> segments;
    for (std::size_t k = 0; k < c.size(); ++k) {
      const auto first = static_cast<std::int64_t>(c.start[k]), end = static_cast<std::int64_t>(c.start[k + 1]);
      for (std::int64_t p = first; p + 1 < end; ++p) segments.insert(segments.end(), {p, p + 1});
      if (c.closed[k] && end - first > 2) segments.insert(segments.end(), {end - 1, first});
    }
    whole("segments", "<i8", {segments.size() / 2, 2}, segments);
    const std::vector<std::size_t> number = shared_points(c).number;
    whole("vertex", "<i8", {number.size()}, std::vector<std::int64_t>(number.begin(), number.end()));
    if (c.names.empty()) return;
    std::vector<std::u32string> names;
    std::size_t longest = 1;
    for (const std::string& name : c.names) names.push_back(utf32(name)), longest = std::max(longest, names.back().size());
    std::vector<char32_t> letters;
    for (std::u32string& name : names) {
      name.resize(longest, U'\0');
      letters.insert(letters.end(), name.begin(), name.end());
    }
    whole("name", fmt::format("<U{}", longest), {names.size()}, letters);
  }

  fs::path path_, parts_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::unique_ptr<OutputFile>>> growing_;
  CurveSet first_;
  std::size_t frames_ = 0;
};

/// Each frame as an archive of its own.
class NpzFrames final : public CurveWriter {
 public:
  explicit NpzFrames(const WriteTarget& target) : target_(target) { target_.prepare_frames(".npz"); }
  void write(const CurveFrame& frame) override {
    const fs::path file = target_.frame(frame.index, ".npz");
    NpzWriter one(file);
    try {
      one.write(frame);
      one.end();
    } catch (...) {
      one.discard();
      throw;
    }
    wrote(file);
  }

 private:
  WriteTarget target_;
};

std::unique_ptr<CurveWriter> make_npz(const WriteTarget& target, const CurveWriteOptions& options) {
  if (options.per_frame || !target.numbered()) return std::make_unique<NpzFrames>(target);
  return std::make_unique<NpzWriter>(target.file(".npz"));
}

}  // namespace

const CurveOutput kNpzFormat{
    .extension = ".npz",
    .help = "arrays for numpy: time, position, normal, velocity, width, start, closed, segments, vertex, id, name",
    .holds_closed = true,
    .holds_names = true,
    .holds_ids = true,
    .holds_widths = true,
    .holds_empty = true,
    .holds_welds = true,
    .single_precision = false,
    .time = CurveOutput::Time::constant_topology,
    .make = make_npz};

}  // namespace osier

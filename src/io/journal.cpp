#include "io/journal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "core/archive.hpp"
#include "core/digest.hpp"
#include "osier/error.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "osier-journal 1\n";

fs::path journal_of(const fs::path& file) { return fs::path(file) += ".journal"; }

/// Bytes and where they belong.
struct Piece {
  std::uint64_t at = 0;
  std::string bytes;
  void carry(Archive& archive) { archive(at, bytes); }
};

bool write_all(int file, const char* data, std::size_t size, std::uint64_t at) {
  while (size > 0) {
    const ssize_t n = ::pwrite(file, data, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n, at += static_cast<std::uint64_t>(n), size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_pieces(int file, const std::vector<Piece>& pieces) {
  for (const Piece& p : pieces)
    if (!write_all(file, p.bytes.data(), p.bytes.size(), p.at)) return false;
  return true;
}

std::uint64_t digest_of(const std::string& bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

/// All of it or nothing: the name is given to a complete file.
bool write_journal(const fs::path& file, std::vector<Piece>& pieces) {
  std::string body = carried([&](Archive& a) { a(pieces); });
  std::uint64_t digest = digest_of(body);
  const std::string text = std::string(kMagic) + carried([&](Archive& a) { a(digest, body); });
  const std::string name = journal_of(file).string(), temporary = name + ".tmp";
  const int out = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) return false;
  const bool written = write_all(out, text.data(), text.size(), 0);
  if (::close(out) == 0 && written && std::rename(temporary.c_str(), name.c_str()) == 0) return true;
  const int reason = errno;
  ::unlink(temporary.c_str());
  errno = reason;
  return false;
}

/// The driver's view of an open file. The library knows the first member alone.
struct JournalledFile {
  H5FD_t known_to_library{};
  int file = -1;
  fs::path path;
  haddr_t allocated = 0, end = 0;
  haddr_t flushed = 0;      ///< the end of the file at the last flush
  std::vector<Piece> held;  ///< back, since then, in order
  dev_t device = 0;
  ino_t inode = 0;
};

JournalledFile& of(H5FD_t* file) { return *reinterpret_cast<JournalledFile*>(file); }
const JournalledFile& of(const H5FD_t* file) { return *reinterpret_cast<const JournalledFile*>(file); }

H5FD_t* open_file(const char* name, unsigned flags, hid_t, haddr_t) {
  int how = flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY;
  if (flags & H5F_ACC_TRUNC) how |= O_TRUNC;
  if (flags & H5F_ACC_CREAT) how |= O_CREAT;
  if (flags & H5F_ACC_EXCL) how |= O_EXCL;
  const int file = ::open(name, how | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  if (flags & H5F_ACC_TRUNC) ::unlink(journal_of(name).c_str());  // of a file that is no more
  struct stat about {};
  if (::fstat(file, &about) != 0) {
    ::close(file);
    return nullptr;
  }
  auto* f = new JournalledFile;
  f->file = file;
  f->path = name;
  f->end = f->flushed = static_cast<haddr_t>(about.st_size);
  f->device = about.st_dev, f->inode = about.st_ino;
  return &f->known_to_library;
}

herr_t commit(JournalledFile& f) {
  if (!f.held.empty()) {
    if (!write_journal(f.path, f.held) || !write_pieces(f.file, f.held)) return -1;
    if (::unlink(journal_of(f.path).c_str()) != 0) return -1;
    f.held.clear();
  }
  f.flushed = f.end;
  return 0;
}

herr_t flush_file(H5FD_t* file, hid_t, hbool_t) { return commit(of(file)); }

herr_t close_file(H5FD_t* file) {
  JournalledFile& f = of(file);
  const herr_t committed = commit(f);
  const bool shortened = committed != 0 || f.allocated >= f.end || ::ftruncate(f.file, static_cast<off_t>(f.allocated)) == 0;
  const bool closed = ::close(f.file) == 0 && shortened;
  delete &f;
  return committed == 0 && closed ? 0 : -1;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  const auto key = [](const JournalledFile& f) { return std::pair(f.device, f.inode); };
  return key(of(a)) < key(of(b)) ? -1 : key(of(b)) < key(of(a)) ? 1 : 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated; }
herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t at) { return of(file).allocated = at, 0; }
haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return of(file).end; }
herr_t get_handle(H5FD_t* file, hid_t, void** handle) { return *handle = &of(file).file, 0; }

/// What was never written reads as zeros.
herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* data) {
  const JournalledFile& f = of(file);
  auto* bytes = static_cast<char*>(data);
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = ::pread(f.file, bytes + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) {
      std::memset(bytes + done, 0, size - done);
      break;
    }
    done += static_cast<std::size_t>(n);
  }
  for (const Piece& p : f.held) {
    const std::uint64_t first = std::max<std::uint64_t>(p.at, at), last = std::min(p.at + p.bytes.size(), at + size);
    if (first < last) std::memcpy(bytes + (first - at), p.bytes.data() + (first - p.at), last - first);
  }
  return 0;
}

herr_t write_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* data) {
  JournalledFile& f = of(file);
  const auto* bytes = static_cast<const char*>(data);
  f.end = std::max<haddr_t>(f.end, at + size);
  if (at < f.flushed) {
    const std::size_t old = std::min<std::size_t>(size, f.flushed - at);
    f.held.push_back({at, std::string(bytes, old)});
    bytes += old, at += old, size -= old;
  }
  return size == 0 || write_all(f.file, bytes, size, at) ? 0 : -1;
}

/// Lengthens the file to what is allocated. Only closing shortens it: the library writes down how long the file is to be when
/// that grows and when the file is closed, and takes a file that is shorter for a damaged one.
herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) {
  JournalledFile& f = of(file);
  if (f.allocated <= f.end) return 0;
  if (::ftruncate(f.file, static_cast<off_t>(f.allocated)) != 0) return -1;
  f.end = f.allocated;
  return 0;
}

herr_t lock_file(H5FD_t* file, hbool_t for_writing) {
  return ::flock(of(file).file, (for_writing ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno == ENOSYS ? 0 : -1;
}
herr_t unlock_file(H5FD_t* file) { return ::flock(of(file).file, LOCK_UN) == 0 || errno == ENOSYS ? 0 : -1; }

H5FD_class_t driver_class() {
  H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 2)
  c.version = H5FD_CLASS_VERSION;
  c.value = static_cast<H5FD_class_value_t>(600);  // a number that no registered driver has
#endif
  c.name = "osier_journal";
  c.maxaddr = static_cast<haddr_t>(INT64_MAX);
  c.fc_degree = H5F_CLOSE_WEAK;
  c.open = open_file, c.close = close_file, c.cmp = compare, c.query = query;
  c.get_eoa = get_eoa, c.set_eoa = set_eoa, c.get_eof = get_eof, c.get_handle = get_handle;
  c.read = read_file, c.write = write_file, c.flush = flush_file, c.truncate = truncate_file;
  c.lock = lock_file, c.unlock = unlock_file;
  const H5FD_mem_t kinds[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kinds), std::end(kinds), c.fl_map);
  return c;
}

}  // namespace

hid_t journalled_access() {
  static const H5FD_class_t known = driver_class();
  static const hid_t driver = H5FDregister(&known);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (driver < 0 || access < 0 || H5Pset_driver(access, driver, nullptr) < 0) return H5I_INVALID_HID;
  return access;
}

void finish_journal(const fs::path& file) {
  const fs::path journal = journal_of(file);
  std::error_code ignored;  // what cannot be looked at is not there
  if (!fs::exists(journal, ignored)) return;
  const int out = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (out < 0)
    throw RunError(
        fmt::format("{}: cannot be opened to finish what a killed run began: {}", file.string(), std::strerror(errno)));
  // The lock goes with the descriptor.
  if (::flock(out, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(out);
    return;
  }
  bool done = true;
  try {
    std::ifstream in(journal, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    std::string all = text.str();
    std::vector<Piece> pieces;
    if (!all.starts_with(kMagic)) throw RunError("not a journal");
    Archive archive(all.substr(kMagic.size()));
    std::uint64_t digest = 0;
    std::string body;
    archive(digest, body);
    if (digest != digest_of(body)) throw RunError("damaged");
    Archive inner(body);
    inner(pieces);
    done = write_pieces(out, pieces) && ::fsync(out) == 0;
  } catch (const RunError&) {
    // A journal that is not whole was never begun: its file is that of the flush before.
  }
  ::close(out);
  if (!done) throw RunError(fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  fs::remove(journal, ignored);
}

void sync_file(const fs::path& file) {
  const int in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return;
  ::fsync(in);
  ::close(in);
}

}  // namespace osier

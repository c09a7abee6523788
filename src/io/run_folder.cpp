#include "io/run_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "io/atomic_file.hpp"
#include "osier/error.hpp"
#include "osier/io.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEarlier = "earlier_run";
/// Holds a run that had only just started, while `earlier_run` still holds a better one.
constexpr const char* kOnlyStarted = ".earlier_start";

std::string without_tmp(std::string name) {
  if (name.ends_with(".tmp")) name.resize(name.size() - 4);
  return name;
}

/// Extensions of all formats, with those of the files that some of them write beside their own.
std::vector<std::string> extensions() {
  std::vector<std::string> list{".pvd"};
  for (const FormatEntry& format : formats()) list.emplace_back(format.extension);
  return list;
}

/// Everything in a folder that a run could have written, relative to it: names that are ours, and nothing else.
std::vector<fs::path> results_in(const fs::path& folder) {
  std::vector<fs::path> list;
  std::error_code ignored;  // what cannot be listed cannot be moved either, and is reported then
  const std::vector<std::string> known = extensions();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path name = without_tmp(entry.path().filename().string());
    const bool trajectory =
        name.stem() == "trajectory" && std::find(known.begin(), known.end(), name.extension().string()) != known.end();
    const bool ours = entry.is_directory(ignored)
                          ? name == "trajectory_clips" || name == "trajectory.npz.parts"
                          : trajectory || name == "diagnostics.csv" || name == "probes.csv" || name == "checkpoint.osier" ||
                                name == "checkpoint2.osier" || name == "trajectory.h5.journal";
    if (ours) list.push_back(entry.path().filename());
  }
  for (const char* part : {"frames", "paraview"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / part, ignored))
      if (std::any_of(known.begin(), known.end(),
                      [&](const std::string& e) { return is_frame_file(entry.path().filename().string(), e, "frame_"); }))
        list.push_back(part / entry.path().filename());
  return list;
}

/// Folders of ours that have become empty.
void remove_empty(const fs::path& folder) {
  std::error_code ignored;  // those that are not empty stay
  for (const char* part : {"frames", "paraview"})
    if (fs::is_directory(folder / part, ignored)) fs::remove(folder / part, ignored);
}

void move_results(const fs::path& from, const fs::path& to) {
  for (const fs::path& name : results_in(from)) {
    fs::create_directories((to / name).parent_path());
    fs::rename(from / name, to / name);
  }
  remove_empty(from);
}

/// What is not a result of a run stays.
void remove_results(const fs::path& folder) {
  std::error_code ignored;  // what cannot be removed stays
  for (const fs::path& name : results_in(folder)) fs::remove_all(folder / name, ignored);
  remove_empty(folder);
}

void remove_results_and_folder(const fs::path& folder) {
  std::error_code ignored;  // it may hold more than results
  remove_results(folder);
  fs::remove(folder, ignored);
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& what) {
  throw InputError({{folder.string(), what, "choose another folder with -o"}});
}

}  // namespace

RunFolder::RunFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  made_ = fs::create_directories(folder_, error);
  if (error) refuse_folder(folder_, "cannot be written to: " + error.message());
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0 || ::access(folder_.c_str(), W_OK) != 0) {
    const int reason = errno;
    if (lock_ >= 0) ::close(lock_);
    refuse_folder(folder_, fmt::format("cannot be written to: {}", std::strerror(reason)));
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(lock_);
  throw InputError({{folder_.string(), "another run is writing into this folder", "wait for it, or choose another with -o"}});
}

RunFolder::~RunFolder() {
  if (!started_) restore();
  ::close(lock_);
}

/// No exceptions: an earlier reason to give up is on its way.
void RunFolder::restore() {
  std::error_code ignored;
  if (cleared_) remove_results(folder_);
  if (!aside_.empty()) {
    for (const fs::path& name : results_in(aside_)) {
      fs::create_directories((folder_ / name).parent_path(), ignored);
      fs::rename(aside_ / name, folder_ / name, ignored);
    }
    remove_empty(aside_);
    fs::remove(aside_, ignored);
  }
  if (made_) fs::remove(folder_, ignored);  // where nothing else has been put into it
}

void RunFolder::set_earlier_aside() {
  remove_results_and_folder(folder_ / kOnlyStarted);
  if (results_in(folder_).empty()) {
    cleared_ = true;
    return;
  }
  const bool better_one_kept = !results_in(folder_ / kEarlier).empty();
  aside_ = folder_ / (better_one_kept ? kOnlyStarted : kEarlier);
  try {
    move_results(folder_, aside_);
    cleared_ = true;
  } catch (const fs::filesystem_error& e) {
    refuse_folder(folder_, fmt::format("the results of an earlier run cannot be moved: {}", e.code().message()));
  }
}

void RunFolder::drop_earlier() {
  if (dropped_) return;
  started_ = dropped_ = true;
  for (const char* name : {kOnlyStarted, kEarlier}) remove_results_and_folder(folder_ / name);
}

fs::path RunFolder::earlier() const {
  const fs::path kept = folder_ / kEarlier;
  return results_in(kept).empty() ? fs::path() : kept;
}

void RunFolder::expect_there() const {
  struct stat held = {}, named = {};
  const bool there = ::fstat(lock_, &held) == 0 && ::stat(folder_.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
                     held.st_ino == named.st_ino;
  if (!there)
    throw RunError(
        fmt::format("{}: the folder has been removed, moved or replaced while the run was writing into it", folder_.string()));
}

}  // namespace osier

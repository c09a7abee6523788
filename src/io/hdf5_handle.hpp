// Owned HDF5 ids, and HDF5's failures as RunError.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>
#include <string>
#include <string_view>
#include <utility>

#include "osier/error.hpp"

namespace osier {

/// An id together with the call that gives it back (H5Fclose, H5Dclose, ...: HDF5 has one per kind).
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close give_back) : id_(id), close_(give_back) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() { close(); }

  operator hid_t() const { return id_; }

  /// For the one place that must know whether closing worked; everywhere else the destructor does it.
  herr_t close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id >= 0 ? close_(id) : 0;
  }

  /// Leaks the id, for when closing is the greater evil.
  void abandon() { id_ = H5I_INVALID_HID; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Failures become exceptions, so HDF5 need not print them too. The setting is per thread, and we do not choose the thread
/// that calls us: every entry point of a writer says it again.
inline void hdf5_be_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// The innermost entry of HDF5's error stack, cut down to the system's own words where it quotes them.
inline std::string hdf5_reason() {
  std::string reason = "no reason given";
  const auto take_first = [](unsigned, const H5E_error2_t* entry, void* text) -> herr_t {
    *static_cast<std::string*>(text) = entry->desc;
    return 1;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  constexpr std::string_view kQuote = "error message = '";
  if (const auto at = reason.find(kQuote); at != std::string::npos) {
    const auto first = at + kQuote.size();
    reason = reason.substr(first, reason.find('\'', first) - first);
  }
  return reason;
}

/// Passes `result` on (an id or a status) unless it is HDF5's sign of failure.
template <class Result>
Result hdf5_check(Result result, std::string_view path, std::string_view what) {
  if (result < 0) throw RunError(fmt::format("{}: cannot write {}: {}", path, what, hdf5_reason()));
  return result;
}

}  // namespace osier

// The fuzz target of every curve reader: CMake compiles it once per format, with OSIER_FUZZ_READER = read_<format>.
// Whatever the bytes are, there is either a sound set of curves or an InputError; and what was read can be edited.
// A file that names others finds them in the same input: `#####` ends one, and the last digit of a name says which is meant.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "io/curves/registry.hpp"
#include "support/curve_checks.hpp"

namespace osier {

constexpr bool kNamesFiles = OSIER_FUZZ_READER == read_usda;

static void demand_sound(const CurveSet& curves) {
  const std::string flaw = flaw_of(curves);
  if (flaw.empty()) return;
  std::fprintf(stderr, "%s\n", flaw.c_str());
  std::abort();
}

static void try_one(std::span<const std::byte> bytes, const CurveReadOptions& options, const CurveEdits& edits) try {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::span<const std::byte>> files;
  for (std::size_t at = 0; files.empty() || at < text.size();) {
    const std::size_t end = kNamesFiles ? std::min(text.find("#####", at), text.size()) : text.size();
    files.push_back(bytes.subspan(at, end - at));
    at = end + 5;
  }
  const auto beside = [&](const std::string& name) -> FileBeside {
    const std::size_t which = name.empty() ? 0 : static_cast<std::size_t>(name.back() - '0');
    if (which >= files.size()) throw InputError({{"fuzz", "names a file that is not there", "-"}});
    return {name, {files[which].begin(), files[which].end()}};
  };
  const CurveSet curves = OSIER_FUZZ_READER({files[0], "fuzz", beside}, options);
  demand_sound(curves);
  demand_sound(edit_curves(curves, edits));
} catch (const InputError&) {  // the one way to refuse a file
}

}  // namespace osier

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  osier::CurveReadOptions first, later;
  first.cubic_samples = later.cubic_samples = 2;
  later.time = 0.5;
  osier::CurveEdits coarse, loose;
  coarse.segments = 3;
  coarse.weld = 0.1;
  coarse.up = osier::UpAxis::z;
  loose.scale = 0.5;
  loose.split_closed = true;
  loose.select = "0-3,a*";
  osier::try_one(bytes, first, coarse);
  osier::try_one(bytes, later, loose);
  return 0;
}

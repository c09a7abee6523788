// The corpus of the fuzz targets, replayed without a fuzzer: every file is read soundly or refused, and so is every beginning.
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "io/curves/registry.hpp"
#include "support/curve_checks.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

TEST(CurveCorpus, EveryFormatThatCanBeReadHasOne) {
  for (const CurveFormat& format : curve_formats()) {
    if (!format.read) continue;
    EXPECT_TRUE(fs::is_directory(fs::path(OSIER_SOURCE_DIR "/tests/fuzz/corpus") / format.name)) << format.name;
  }
}

TEST(CurveCorpus, FilesAndTheirBeginningsAreReadSoundlyOrRefused) {
  int read = 0, refused = 0;
  for (const auto& entry : fs::recursive_directory_iterator(OSIER_SOURCE_DIR "/tests/fuzz/corpus")) {
    if (!entry.is_regular_file()) continue;
    const std::string extension = "." + entry.path().parent_path().filename().string();
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t n = 0; n <= bytes.size(); ++n) try {
        const CurveSet set = parse_curves(std::as_bytes(std::span(bytes)).first(n), extension, "corpus");
        EXPECT_EQ(flaw_of(set), "") << entry.path() << ", " << n << " bytes";
        ++read;
      } catch (const InputError& error) {
        EXPECT_EQ(error.problems().size(), 1u);
        EXPECT_TRUE(error.problems()[0].where.starts_with("corpus"));
        ++refused;
      }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace osier

#include "io/usd_binary.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <unistd.h>

#include "core/program.hpp"
#include "io/atomic_file.hpp"
#include "io/curves/registry.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

/// Opening a stage composes it; a layer is one file as it is. Usd is imported for Sdf, too: the wheel's plugin of file formats
/// finds its libraries only once they are loaded.
constexpr const char* kFlatten =
    "import sys; from pxr import Usd; Usd.Stage.Open(sys.argv[1]).Export(sys.argv[2], addSourceFileComment=False)";
constexpr const char* kCopy =
    "import sys; from pxr import Sdf, Usd; sys.exit(not Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2]))";
constexpr const char* kRemedy =
    "install usd-core for the python3 on PATH (pip install usd-core), or let OSIER_PYTHON name a Python that has it, or put "
    "usdcat on PATH";

enum class Work { flatten, copy };

/// The program and its arguments but for the two files; empty where nothing can do it. Looked for once: starting Python takes
/// a moment.
std::vector<std::string> tool(Work work) {
  static const auto python = []() -> std::optional<std::string> {
    const char* named = std::getenv("OSIER_PYTHON");
    const std::string program = named ? named : find_program("python3").string();
    if (program.empty() || run_program({program, "-c", "import pxr.Usd"}).status != 0) return {};
    return program;
  };
  static const std::optional<std::string> found = python();
  if (found) return {*found, "-c", work == Work::flatten ? kFlatten : kCopy};
  const std::string usdcat = find_program("usdcat").string();
  if (usdcat.empty()) return {};
  return work == Work::flatten ? std::vector<std::string>{usdcat, "--flatten"} : std::vector<std::string>{usdcat};
}

ProgramResult convert(Work work, const fs::path& from, const fs::path& to) {
  std::vector<std::string> words = tool(work);
  const bool is_usdcat = words.size() < 3;
  words.push_back(from.string());
  if (is_usdcat) words.emplace_back("-o");
  words.push_back(to.string());
  return run_program(words);
}

/// The last line of what a program said, where the reason stands.
std::string last_line(const std::string& said) {
  const std::size_t end = said.find_last_of('\n');
  return said.empty() ? "it does not say why" : said.substr(end == std::string::npos ? 0 : end + 1);
}

/// A file that is gone with its name.
struct Temporary {
  fs::path path;
  explicit Temporary(const fs::path& folder, const char* extension) {
    static std::atomic<int> count{0};
    path = folder / fmt::format("osier-{}-{}{}", ::getpid(), count++, extension);
  }
  ~Temporary() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
};

}  // namespace

bool is_usd_extension(std::string_view extension) {
  std::string lower(extension);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == ".usd" || lower == ".usdc" || lower == ".usdz";
}

void require_usd_tool(const fs::path& file) {
  if (!tool(Work::copy).empty()) return;
  throw InputError(
      {{file.string(), "is binary USD, which needs Pixar's USD library or its usdcat, and neither was found", kRemedy}});
}

std::vector<std::byte> usd_text(const fs::path& file) {
  constexpr std::string_view kText = "#usda";
  std::vector<std::byte> bytes = read_bytes(file);
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kText.size()));
  if (begin == kText || !is_usd_extension(file.extension().string())) return bytes;
  require_usd_tool(file);
  const Temporary text(fs::temp_directory_path(), ".usda");
  const ProgramResult result = convert(Work::flatten, fs::absolute(file), text.path);
  if (result.status != 0)
    throw InputError({{file.string(), "cannot be read as USD: " + last_line(result.said), "check it with usdcat or usdview"}});
  return read_bytes(text.path);
}

void write_usd_binary(const fs::path& text, const fs::path& out) {
  // Beside the target, so that it can take its place; with its extension, which tells the form.
  const Temporary part(out.has_parent_path() ? out.parent_path() : fs::path("."), out.extension().c_str());
  const ProgramResult result = convert(Work::copy, fs::absolute(text), fs::absolute(part.path));
  if (result.status != 0) throw RunError(fmt::format("{}: cannot be written: {}", out.string(), last_line(result.said)));
  put_in_place(part.path, out);
}

}  // namespace osier

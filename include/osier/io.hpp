// Writers of results. One file per format in src/io/, one line in src/io/registry.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "osier/frame.hpp"
#include "osier/model.hpp"

namespace osier {

/// What a writer may want to know about the run it records.
struct RunInfo {
  std::string scene_name;
  std::string scene_json;  ///< the scene as it was run, overrides included
  std::string version;
  bool double_precision = true;         ///< the number type the solver worked in
  bool sections = false;                ///< frames carry section forces, strains, moments and curvatures
  std::vector<std::string> materials;   ///< names
  std::vector<Index> segment_material;  ///< one of these for each segment
};

/// begin, write for each frame in order, end. Whatever has been written is a complete, readable file even when end() is
/// never reached. Throws RunError when the disk refuses.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void begin(const Model& model, const RunInfo& info) = 0;
  virtual void write(const Frame& frame) = 0;
  virtual void end() = 0;
};

struct FormatEntry {
  const char* name;       ///< as in /output/formats
  const char* extension;  ///< ".h5"
  const char* help;
  std::unique_ptr<Writer> (*make)(const std::filesystem::path& folder);
  bool holds_sections;  ///< writes what RunInfo::sections announces
};

std::span<const FormatEntry> formats();
const FormatEntry* find_format(std::string_view name);

}  // namespace osier

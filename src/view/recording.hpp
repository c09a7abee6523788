// A run as one HTML file that needs nothing else: the viewer's page with the frames inside.
//
// Positions are 16-bit multiples of one length for the whole recording, frames 16-bit numbers, both as differences from frame
// to frame; the packets of packet.hpp with their lengths in front, gzip, base64. The scale is known when the run is over, so
// frames wait in a temporary file beside the result, and the result appears complete or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "osier/io.hpp"
#include "osier/trajectory.hpp"

namespace osier::view {

class HtmlWriter final : public Writer {
 public:
  /// `page`: the HTML with the empty script element `osier-recording`. Throws InputError when it has none.
  /// `folder`: of the run, whose probes are taken in; none when empty.
  HtmlWriter(std::filesystem::path file, std::string_view page, std::filesystem::path folder = {});
  ~HtmlWriter() override;
  HtmlWriter(const HtmlWriter&) = delete;
  HtmlWriter& operator=(const HtmlWriter&) = delete;

  void begin(const Model& model, const RunInfo& info) override;
  void write(const Frame& frame) override;
  void end() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Recorded runs, one or two, as such a page.
void write_html(std::vector<Trajectory>& slots, const std::filesystem::path& file, std::string_view page);

}  // namespace osier::view

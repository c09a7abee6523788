// Wavefront OBJ: one file per frame, a line element per living segment.
#include <fmt/format.h>
#include <string>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/writers.hpp"

namespace osier {

namespace {

class ObjWriter final : public Writer {
 public:
  explicit ObjWriter(const WriteTarget& target) : target_(target) {}

  void begin(const Model& model, const RunInfo& info) override {
    segment_vertices_ = model.segment_vertices;
    version_ = info.version;
    digits_ = info.double_precision ? 17 : 9;
    target_.prepare_frames(".obj");
  }

  void write(const Frame& frame) override {
    fmt::memory_buffer text;
    auto out = fmt::appender(text);
    fmt::format_to(out, "# osier {}, frame {}, time {} s, lengths in m\n", version_, frame.index, frame.time);
    for (const Vec3d& x : frame.vertex_position)
      fmt::format_to(out, "v {:.{}g} {:.{}g} {:.{}g}\n", x.x, digits_, x.y, digits_, x.z, digits_);
    // Vertices of broken segments stay, so that vertex i is the same vertex in every frame. OBJ counts from one.
    for (std::size_t s = 0; s < segment_vertices_.size(); ++s)
      if (frame.segment_alive[s]) fmt::format_to(out, "l {} {}\n", segment_vertices_[s][0] + 1, segment_vertices_[s][1] + 1);
    write_file_atomically(target_.frame(frame.index, ".obj"), {text.data(), text.size()});
  }

  void end() override {}

 private:
  WriteTarget target_;
  std::vector<std::array<Index, 2>> segment_vertices_;
  std::string version_;
  int digits_ = 17;  ///< enough to read back the very number the solver had
};

}  // namespace

std::unique_ptr<Writer> make_obj_writer(const WriteTarget& target) { return std::make_unique<ObjWriter>(target); }

}  // namespace osier

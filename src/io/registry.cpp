// The formats a scene can name in /output/formats. A plain table: nothing registers itself, so nothing gets lost in linking.
#include <string_view>

#include "io/writers.hpp"
#include "osier/io.hpp"

namespace osier {

static constexpr FormatEntry kFormats[] = {
    {"hdf5", ".h5", "every frame in one file, trajectory.h5 (h5py, MATLAB, Julia)", make_hdf5_writer, true},
    {"obj", ".obj", "frames/frame_00000.obj, one polyline mesh per frame (Blender, Houdini)", make_obj_writer, false},
    {"vtp", ".vtp", "paraview/frame_00000.vtp and trajectory.pvd with true times (ParaView)", make_vtp_writer, true},
};

std::span<const FormatEntry> formats() { return kFormats; }

const FormatEntry* find_format(std::string_view name) {
  for (const FormatEntry& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

}  // namespace osier

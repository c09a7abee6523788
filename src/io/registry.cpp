// The formats a scene can name in /output/formats. A plain table: nothing registers itself, so nothing gets lost in linking.
#include <string_view>

#include "io/curve_writer.hpp"
#include "io/writers.hpp"
#include "osier/io.hpp"

namespace osier {

static constexpr FormatEntry kFormats[] = {
    {"hdf5", ".h5", "every frame in one file, trajectory.h5 (h5py, MATLAB, Julia)", make_hdf5_writer, nullptr, true, true},
    {"obj", ".obj", "frames/frame_00000.obj, one polyline mesh per frame (Blender, Houdini)", make_obj_writer, nullptr, false,
     false},
    {"vtp", ".vtp", "paraview/frame_00000.vtp and trajectory.pvd with true times (ParaView)", make_vtp_writer, nullptr, true,
     false},
    {"usda", ".usda", "trajectory.usda, curves with time samples, widths and normals (USD)", nullptr, &kUsdaFormat, false, true},
    {"pc2", ".pc2", "trajectory.obj and trajectory.pc2, a mesh of lines with its point cache (Blender)", nullptr, &kPc2Format,
     false, false},
    {"npz", ".npz", "trajectory.npz, arrays of all frames (numpy)", nullptr, &kNpzFormat, false, false},
    {"csv", ".csv", "trajectory.csv, a line for each point of each frame (spreadsheets)", nullptr, &kCsvFormat, false, false},
    {"gltf", ".glb", "frames/frame_00000.glb, tube meshes (web, viewers, game engines)", nullptr, &kGlbFramesFormat, false, true},
    {"bcc", ".bcc", "frames/frame_00000.bcc, binary curves (yarn tools)", nullptr, &kBccFormat, false, false},
    {"hair", ".hair", "frames/frame_00000.hair, strands with thickness (hair tools)", nullptr, &kHairFormat, false, false},
    {"poly", ".poly", "frames/frame_00000.poly, text polygons (Houdini)", nullptr, &kPolyFormat, false, false},
    {"ply", ".ply", "frames/frame_00000.ply, vertices and edges (MeshLab)", nullptr, &kPlyFormat, false, false},
};

std::unique_ptr<Writer> FormatEntry::make(const WriteTarget& target) const {
  return curves ? make_rod_writer(*curves, target) : maker(target);
}

std::span<const FormatEntry> formats() { return kFormats; }

const FormatEntry* find_format(std::string_view name) {
  for (const FormatEntry& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

}  // namespace osier

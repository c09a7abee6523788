// Reads trajectory.h5 back. hdf5.cpp writes it, docs/output.md describes it.
#include "osier/trajectory.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "io/guarded.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_text.hpp"
#include "io/journal.hpp"
#include "osier/error.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

using Shape = std::vector<hsize_t>;

/// A file that cannot be what it says it is: told with its path, and remedied by the person who chose it.
[[noreturn]] void refuse(const fs::path& path, const std::string& what, const std::string& remedy = {}) {
  throw InputError({{path.string(), what, remedy.empty() ? "run the scene again" : remedy}});
}

/// What a compressed chunk may unpack to at most: deflate cannot do better than this, whatever a damaged header claims.
constexpr hsize_t kMostUnpacking = 1100;

/// The HDF5 library trusts what a file says of itself: it takes any room, follows any reference and loads any filter. So
/// everything is compared with the size of the file before the library reads it.
class File {
 public:
  explicit File(const fs::path& path) : path_(path), text_(path) {
    hdf5_be_quiet();
    H5PLset_loading_state(0);  // a file does not name programs to run
    std::error_code error;
    if (!fs::exists(path, error)) refuse(path, "there is no such file", "name the folder of a run or its trajectory.h5");
    if (H5Fis_hdf5(path.c_str()) <= 0) refuse(path, "is not an HDF5 file", "name the folder of a run or its trajectory.h5");
    id_ = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    if (id_ < 0)
      refuse(path, "cannot be opened: " + hdf5_reason(),
             "while the run still goes on, set HDF5_USE_FILE_LOCKING=FALSE or copy the file");
    const Hdf5Handle creation(H5Fget_create_plist(id_), H5Pclose);
    std::size_t address_bytes = 0, length_bytes = 0;
    hsize_t user_block = 0;
    if (H5Pget_sizes(creation, &address_bytes, &length_bytes) < 0 || H5Pget_userblock(creation, &user_block) < 0 ||
        address_bytes != 8 || length_bytes != 8 || user_block != 0)
      refuse(path, "is laid out in another way than Osier writes", "use a trajectory.h5 that Osier wrote");
  }

  bool has(const std::string& name) const { return H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0; }

  Hdf5Handle open(const std::string& name) const {
    hdf5_be_quiet();
    Hdf5Handle dataset(has(name) ? H5Dopen2(id_, name.c_str(), H5P_DEFAULT) : H5I_INVALID_HID, H5Dclose);
    if (dataset < 0) refuse(path_, "has no " + name, "use a trajectory.h5 that Osier wrote");
    return dataset;
  }

  Shape shape(hid_t dataset) const {
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
    Shape shape(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
    if (!shape.empty()) H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    return shape;
  }

  /// Numbers of a plain kind, stored in the file itself, no more of them than it can hold.
  void expect_numbers(const std::string& name, hid_t dataset) const {
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
    const hid_t plain[] = {H5T_STD_I32LE, H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_U8LE,  H5T_STD_I8LE,
                           H5T_STD_I16LE, H5T_STD_I64LE,  H5T_STD_U16LE,  H5T_STD_U32LE, H5T_STD_U64LE,
                           H5T_STD_I32BE, H5T_STD_I64BE,  H5T_IEEE_F64BE, H5T_IEEE_F32BE};
    if (std::none_of(std::begin(plain), std::end(plain), [&](hid_t known) { return H5Tequal(type, known) > 0; }))
      refuse(path_, name + " does not hold plain numbers");
    expect_storage(name, dataset, H5Tget_size(type));
  }

  /// The whole dataset, which must have the given width (1: a plain list).
  template <class T>
  std::vector<T> read(const std::string& name, hsize_t width, hid_t type) const {
    const Hdf5Handle dataset = open(name);
    const Shape s = shape(dataset);
    if (s.size() != (width == 1 ? 1U : 2U) || (s.size() == 2 && s[1] != width))
      refuse(path_, fmt::format("{} does not have the shape it should", name));
    expect_numbers(name, dataset);
    expect_whole_chunks(name, dataset);
    std::vector<T> values(static_cast<std::size_t>(s[0] * width));
    read_all(name, dataset, type, values.data(), values.size());
    return values;
  }

  void read_all(const std::string& name, hid_t dataset, hid_t type, void* values, std::size_t count) const {
    if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
      refuse(path_, fmt::format("{} cannot be read: {}", name, hdf5_reason()));
  }

  /// Text of fixed length, or of variable length as earlier versions wrote it.
  std::vector<std::string> strings(const std::string& name) {
    const Hdf5Handle dataset = open(name);
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
    const hssize_t found = H5Sget_simple_extent_npoints(space);
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
    if (found < 0 || static_cast<std::uint64_t>(found) > text_.file_size() || H5Tget_class(type) != H5T_STRING)
      refuse(path_, name + " does not hold text");
    const auto count = static_cast<std::size_t>(found);
    if (count == 0) return {};
    const bool variable = H5Tis_variable_str(type) > 0;
    const std::size_t each = variable ? Hdf5Text::kReferenceBytes : H5Tget_size(type);
    if (each == 0) refuse(path_, name + " does not hold text");
    expect_storage(name, dataset, each);
    if (variable) {
      const haddr_t offset = H5Dget_offset(dataset);
      auto texts = offset == HADDR_UNDEF ? std::nullopt : text_.variable_strings(offset, count);
      if (!texts) refuse(path_, name + " is damaged");
      return std::move(*texts);
    }
    expect_whole_chunks(name, dataset);
    std::string all(count * each, '\0');
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory, each), H5Tset_strpad(memory, H5T_STR_NULLPAD), H5Tset_cset(memory, H5Tget_cset(type));
    read_all(name, dataset, memory, all.data(), count);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i)
      texts.push_back(all.substr(i * each, std::min(each, all.find('\0', i * each) - i * each)));
    return texts;
  }

  std::string attribute(const char* name) {
    H5O_info_t root{};
    if (H5Oget_info2(id_, &root, H5O_INFO_BASIC) < 0) return {};
    return text_.attribute(root.addr, name).value_or("");
  }

  /// Sides of a chunk; empty for a dataset that is stored in one piece.
  Shape chunk(hid_t dataset) const {
    const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Pget_layout(creation) != H5D_CHUNKED) return {};
    Shape sides(shape(dataset).size(), 0);
    H5Pget_chunk(creation, static_cast<int>(sides.size()), sides.data());
    return sides;
  }

  /// Whether all chunks of a block lie within the file. `chunk` has no empty side.
  bool are_chunks_sound(hid_t dataset, const Shape& chunk, const Shape& first, const Shape& count) const {
    if (chunk.empty() || std::find(count.begin(), count.end(), 0) != count.end()) return true;
    Shape start;
    for (std::size_t side = 0; side < chunk.size(); ++side) start.push_back(first[side] / chunk[side] * chunk[side]);
    Shape at = start;
    // A chunk takes room in the file: there are no more of them than bytes.
    for (hsize_t seen = 0; seen <= text_.file_size(); ++seen) {
      unsigned left_out = 0;
      haddr_t offset = HADDR_UNDEF;
      hsize_t bytes = 0;
      if (H5Dget_chunk_info_by_coord(dataset, at.data(), &left_out, &offset, &bytes) < 0 || offset == HADDR_UNDEF ||
          offset > text_.file_size() || bytes > text_.file_size() - offset)
        return false;
      std::size_t side = chunk.size();
      while (side > 0 && (at[side - 1] += chunk[side - 1]) >= first[side - 1] + count[side - 1]) {
        at[side - 1] = start[side - 1];
        --side;
      }
      if (side == 0) return true;
    }
    return false;
  }

  void expect_whole_chunks(const std::string& name, hid_t dataset) const {
    const Shape all = shape(dataset);
    if (!are_chunks_sound(dataset, chunk(dataset), Shape(all.size(), 0), all)) refuse(path_, name + " is damaged");
  }

 private:
  /// Room is taken only for what the file's storage backs, since a damaged header may claim any size.
  void expect_storage(const std::string& name, hid_t dataset, std::size_t bytes_each) const {
    const auto too_large = [&] { refuse(path_, fmt::format("{} claims more than the file can hold", name)); };
    const hsize_t size = text_.file_size();
    hsize_t bytes = bytes_each;
    for (const hsize_t n : shape(dataset)) {
      if (n > 0 && bytes > size * kMostUnpacking / n) too_large();
      bytes *= n;
    }
    const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_CHUNKED) return expect_chunks(name, dataset, creation, bytes_each);
    const bool here = layout == H5D_COMPACT || (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) == 0);
    if (!here) refuse(path_, name + " is not stored in the file itself");
    const haddr_t offset = layout == H5D_COMPACT ? 0 : H5Dget_offset(dataset);
    if (bytes > 0 && (bytes > size || offset == HADDR_UNDEF || offset > size - bytes)) too_large();
  }

  void expect_chunks(const std::string& name, hid_t dataset, hid_t creation, std::size_t bytes_each) const {
    const int filters = H5Pget_nfilters(creation);
    for (int i = 0; i < filters; ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
      if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_FLETCHER32)
        refuse(path_, fmt::format("{} is compressed in a way that Osier does not write", name));
    }
    hsize_t bytes = bytes_each;
    for (const hsize_t n : chunk(dataset)) {
      if (n == 0 || bytes > text_.file_size() * kMostUnpacking / n)
        refuse(path_, fmt::format("{} claims more than the file can hold", name));
      bytes *= n;
    }
  }

  fs::path path_;
  Hdf5Text text_;
  Hdf5Handle id_;
};

/// One growing dataset: `shape` is that of a frame.
struct StoredSeries {
  std::string name;
  Shape shape;
  hid_t memory_type = H5I_INVALID_HID;
  Hdf5Handle dataset;
  Shape chunk;  ///< empty when the series is stored in one piece
};

}  // namespace

struct Trajectory::Impl {
  explicit Impl(const fs::path& p) : path(p), file(p) {
    if (file.attribute("format") != "osier-trajectory")
      refuse(path, "is an HDF5 file, but not a trajectory of Osier", "name the folder of a run or its trajectory.h5");
    info.scene_name = file.attribute("name");
    info.version = file.attribute("version");
    const auto texts = file.strings("/scene");
    if (!texts.empty()) info.scene_json = texts.front();
    read_model();
    read_elasticity();
    read_materials();
    read_obstacles();
    open_series();
  }

  void read_model() {
    const auto pairs = [&](const char* dataset, const char* of, std::size_t most) {
      const auto flat = file.read<Index>(dataset, 2, H5T_NATIVE_INT32);
      std::vector<std::array<Index, 2>> list(flat.size() / 2);
      for (std::size_t i = 0; i < list.size(); ++i) list[i] = {flat[2 * i], flat[2 * i + 1]};
      for (const auto& [a, b] : list)
        if (a < 0 || b < 0 || static_cast<std::size_t>(std::max(a, b)) >= most)
          refuse(path, fmt::format("{} names {} {} and {} of {}", dataset, of, a, b, most));
      return list;
    };
    model.vertex_radius = file.read<double>("/topology/radius", 1, H5T_NATIVE_DOUBLE);
    const std::size_t vertices = model.vertex_radius.size();
    model.vertex_mass.assign(vertices, 0);
    model.vertex_alive.assign(vertices, 1);
    model.segment_vertices = pairs("/topology/segments", "vertices", vertices);
    const std::size_t segments = model.segment_vertices.size();
    model.segment_rest_length = file.read<double>("/topology/rest_length", 1, H5T_NATIVE_DOUBLE);
    if (model.segment_rest_length.size() != segments) refuse(path, "/topology/rest_length is not one per segment");
    model.segment_stiffness.assign(segments, 0);
    model.segment_tau.assign(segments, 0);
    model.segment_inertia.assign(segments, 0);
    model.segment_strain_limit.assign(segments, std::numeric_limits<double>::infinity());
    model.segment_alive.assign(segments, 1);
    read_joints(pairs("/topology/joints", "segments", segments));
    read_rods(vertices);
    update_topology(model);
  }

  void read_joints(std::vector<std::array<Index, 2>> joints) {
    joints_between = joints.size();
    model.joint_length = file.read<double>("/topology/joint_length", 1, H5T_NATIVE_DOUBLE);
    const auto clamps = file.read<Index>("/topology/clamps", 2, H5T_NATIVE_INT32);
    const auto clamp_length = file.read<double>("/topology/clamp_length", 1, H5T_NATIVE_DOUBLE);
    if (model.joint_length.size() != joints.size() || 2 * clamp_length.size() != clamps.size())
      refuse(path, "lengths and joints under /topology do not belong together");
    for (std::size_t c = 0; c < clamp_length.size(); ++c) {
      const Index segment = clamps[2 * c], vertex = clamps[2 * c + 1];
      if (segment < 0 || segment >= model.segment_count() || vertex < 0 || vertex >= model.vertex_count())
        refuse(path, fmt::format("/topology/clamps names segment {} and vertex {}", segment, vertex));
      joints.push_back({model.segment_count() + model.anchor_count++, segment});
      model.anchor_vertex.push_back(vertex);
    }
    model.joint_length.insert(model.joint_length.end(), clamp_length.begin(), clamp_length.end());
    model.joint_frames = std::move(joints);
    const std::size_t count = model.joint_frames.size();
    model.joint_rest_rotation.assign(count, Quatd{});
    model.joint_stiffness.assign(count, 0);
    model.joint_tau.assign(count, 0);
    model.joint_alive.assign(count, 1);
    model.joint_is_clamp.assign(count, 0);
    std::fill(model.joint_is_clamp.begin() + static_cast<std::ptrdiff_t>(joints_between), model.joint_is_clamp.end(), 1);
  }

  /// Left out by earlier versions, all of it.
  void read_elasticity() {
    rest = file.has("/topology/segment_stiffness");
    if (!rest) return;
    const auto numbers = [&](const std::string& dataset, hsize_t width, std::size_t count) {
      std::vector<double> list = file.read<double>("/topology/" + dataset, width, H5T_NATIVE_DOUBLE);
      if (list.size() != width * count) refuse(path, fmt::format("/topology/{} does not belong to the model", dataset));
      return list;
    };
    const auto axes = [](const std::vector<double>& list, std::size_t i, double factor) {
      return PerAxis{factor * list[3 * i], factor * list[3 * i + 1], factor * list[3 * i + 2]};
    };
    model.vertex_mass = numbers("mass", 1, model.vertex_mass.size());
    const std::size_t segments = model.segment_vertices.size(), joints = model.joint_frames.size();
    const std::vector<double> stretch = numbers("segment_stiffness", 3, segments);
    for (std::size_t s = 0; s < segments; ++s) model.segment_stiffness[s] = axes(stretch, s, model.segment_rest_length[s]);
    std::vector<double> bend = numbers("joint_stiffness", 3, joints_between),
                        turn = numbers("joint_rest_rotation", 4, joints_between);
    const std::vector<double> clamp_bend = numbers("clamp_stiffness", 3, joints - joints_between),
                              clamp_turn = numbers("clamp_rest_rotation", 4, joints - joints_between);
    bend.insert(bend.end(), clamp_bend.begin(), clamp_bend.end());
    turn.insert(turn.end(), clamp_turn.begin(), clamp_turn.end());
    for (std::size_t j = 0; j < joints; ++j) {
      model.joint_stiffness[j] = axes(bend, j, model.joint_length[j] > 0 ? 4 / model.joint_length[j] : 0);
      model.joint_rest_rotation[j] = {turn[4 * j], turn[4 * j + 1], turn[4 * j + 2], turn[4 * j + 3]};
    }
  }

  void read_obstacles() {
    if (!file.has("/obstacles/points")) return;
    const auto names = file.strings("/obstacles/names");
    const auto start = file.read<Index>("/obstacles/start", 1, H5T_NATIVE_INT32);
    const auto triangles = file.read<Index>("/obstacles/triangles", 3, H5T_NATIVE_INT32);
    const auto points = file.read<double>("/obstacles/points", 3, H5T_NATIVE_DOUBLE);
    const auto inside = file.read<std::uint8_t>("/obstacles/from_inside", 1, H5T_NATIVE_UINT8);
    const auto moves = file.read<std::uint8_t>("/obstacles/moves", 1, H5T_NATIVE_UINT8);
    const auto count = static_cast<Index>(points.size() / 3);
    bool good = inside.size() == names.size() && moves.size() == names.size() && start.size() == names.size() + 1 &&
                start.front() == 0 && start.back() == count;
    for (std::size_t i = 0; good && i + 1 < start.size(); ++i) good = start[i] <= start[i + 1];
    if (!good) refuse(path, "/obstacles/start does not divide /obstacles/points");
    for (std::size_t i = 0; i + 1 < start.size(); ++i) {
      Surface s{.name = names[i], .points = {}, .triangles = {}};
      for (Index v = start[i]; v < start[i + 1]; ++v) s.points.push_back({points[3 * v], points[3 * v + 1], points[3 * v + 2]});
      s.from_inside = inside[i] != 0, s.moves = moves[i] != 0;
      info.obstacles.push_back(std::move(s));
    }
    for (std::size_t t = 0; t + 2 < triangles.size(); t += 3) {
      const auto owner = std::upper_bound(start.begin(), start.end(), triangles[t]) - start.begin() - 1;
      const bool known = owner >= 0 && static_cast<std::size_t>(owner) < names.size();
      std::array<Index, 3> corners{};
      for (std::size_t k = 0; k < 3; ++k) {
        const Index v = triangles[t + k];
        if (!known || v < start[owner] || v >= start[owner + 1])
          refuse(path, fmt::format("/obstacles/triangles names point {} of {}", v, count));
        corners[k] = v - start[owner];
      }
      info.obstacles[owner].triangles.push_back(corners);
    }
    obstacle_points = points_of(info.obstacles);
  }

  void read_materials() {
    if (!file.has("/topology/segment_material")) return;
    info.materials = file.strings("/topology/material_names");
    info.segment_material = file.read<Index>("/topology/segment_material", 1, H5T_NATIVE_INT32);
    if (info.segment_material.size() != model.segment_vertices.size())
      refuse(path, "/topology/segment_material is not one per segment");
    for (const Index m : info.segment_material)
      if (m < 0 || static_cast<std::size_t>(m) >= info.materials.size())
        refuse(path, fmt::format("/topology/segment_material names material {} of {}", m, info.materials.size()));
    if (!file.has("/topology/material_stiffness")) return;
    const std::string name = "/topology/material_stiffness";
    const Hdf5Handle dataset = file.open(name);
    if (file.shape(dataset) != Shape{info.materials.size(), 2, 6}) refuse(path, name + " does not have the shape it should");
    file.expect_numbers(name, dataset);
    file.expect_whole_chunks(name, dataset);
    info.material_stiffness.resize(info.materials.size());
    file.read_all(name, dataset, H5T_NATIVE_DOUBLE, info.material_stiffness.data(), info.materials.size());
  }

  void read_rods(std::size_t vertices) {
    const auto names = file.strings("/topology/rod_names");
    const auto start = file.read<Index>("/topology/rod_start", 1, H5T_NATIVE_INT32);
    const auto list = file.read<Index>("/topology/rod_vertices", 1, H5T_NATIVE_INT32);
    const auto closed = file.read<std::uint8_t>("/topology/rod_closed", 1, H5T_NATIVE_UINT8);
    if (start.size() != names.size() + 1 || closed.size() != names.size())
      refuse(path, "the rods under /topology do not belong together");
    for (std::size_t r = 0; r < names.size(); ++r) {
      if (start[r] < 0 || start[r + 1] < start[r] || static_cast<std::size_t>(start[r + 1]) > list.size())
        refuse(path, fmt::format("/topology/rod_start is out of order at rod {}", r));
      RodInfo rod{.name = names[r],
                  .vertices = {list.begin() + start[r], list.begin() + start[r + 1]},
                  .segments = {},
                  .joints = {},
                  .closed = closed[r] != 0};
      for (const Index v : rod.vertices)
        if (v < 0 || static_cast<std::size_t>(v) >= vertices) refuse(path, fmt::format("rod {} has no vertex {}", rod.name, v));
      model.rods.push_back(std::move(rod));
    }
    add_rod_segments();
  }

  /// A rod's segments are those between its neighbouring vertices; the file lists the vertices alone.
  void add_rod_segments() {
    std::vector<std::vector<Index>> of_vertex(model.vertex_radius.size());
    for (Index s = 0; s < model.segment_count(); ++s)
      of_vertex[static_cast<std::size_t>(model.segment_vertices[static_cast<std::size_t>(s)][0])].push_back(s),
          of_vertex[static_cast<std::size_t>(model.segment_vertices[static_cast<std::size_t>(s)][1])].push_back(s);
    for (RodInfo& rod : model.rods) {
      const std::size_t n = rod.vertices.size();
      for (std::size_t i = 0; n > 1 && i + (rod.closed ? 0 : 1) < n; ++i) {
        const Index a = rod.vertices[i], b = rod.vertices[(i + 1) % n];
        for (const Index s : of_vertex[static_cast<std::size_t>(a)]) {
          const auto& [p, q] = model.segment_vertices[static_cast<std::size_t>(s)];
          if ((p == a && q == b) || (p == b && q == a)) {
            rod.segments.push_back(s);
            break;
          }
        }
      }
    }
  }

  StoredSeries series(const char* dataset, hsize_t count, hsize_t width, hid_t type) {
    StoredSeries s{dataset,
                   count == 0 && width == 0 ? Shape{}
                   : width == 1             ? Shape{count}
                                            : Shape{count, width},
                   type,
                   file.open(dataset),
                   {}};
    Shape whole = file.shape(s.dataset);
    const bool fits = whole.size() == s.shape.size() + 1 && std::equal(s.shape.begin(), s.shape.end(), whole.begin() + 1);
    if (!fits) refuse(path, fmt::format("{} does not have the shape it should", dataset));
    file.expect_numbers(dataset, s.dataset);
    s.chunk = file.chunk(s.dataset);
    if (whole[0] < times.size()) times.resize(static_cast<std::size_t>(whole[0]));
    return s;
  }

  /// A dataset whose rows are not one for each frame.
  StoredSeries rows(const char* dataset, hsize_t width, hid_t type) {
    StoredSeries s{dataset, width == 1 ? Shape{} : Shape{width}, type, file.open(dataset), {}};
    const Shape whole = file.shape(s.dataset);
    if (whole.size() != s.shape.size() + 1 || !std::equal(s.shape.begin(), s.shape.end(), whole.begin() + 1))
      refuse(path, fmt::format("{} does not have the shape it should", dataset));
    file.expect_numbers(dataset, s.dataset);
    s.chunk = file.chunk(s.dataset);
    return s;
  }

  void open_series() {
    times = file.read<double>("/time", 1, H5T_NATIVE_DOUBLE);
    const auto vertices = static_cast<hsize_t>(model.vertex_count()), segments = static_cast<hsize_t>(model.segment_count());
    const hsize_t joints = joints_between, clamps = model.joint_frames.size() - joints_between;
    position_series = series("/position", vertices, 3, H5T_NATIVE_DOUBLE);
    velocity_series = series("/velocity", vertices, 3, H5T_NATIVE_DOUBLE);
    frame_series = series("/frame", segments, 4, H5T_NATIVE_DOUBLE);
    alive_series = series("/segment_alive", segments, 1, H5T_NATIVE_UINT8);
    info.reports = file.has("/energy");
    if (info.reports) {
      report_series.push_back(series("/energy", 4, 1, H5T_NATIVE_DOUBLE));
      for (const char* dataset : {"/residual_relative", "/iterations", "/compute_ms"})
        report_series.push_back(series(dataset, 0, 0, H5T_NATIVE_DOUBLE));
      if (file.has("/state_hash")) hash_series.push_back(series("/state_hash", 0, 0, H5T_NATIVE_UINT64));
    }
    info.clamp_frames = file.has("/clamp_frame");
    if (info.clamp_frames) clamp_series = series("/clamp_frame", clamps, 4, H5T_NATIVE_DOUBLE);
    info.spins = file.has("/angular_velocity");
    if (info.spins) spin_series = series("/angular_velocity", segments, 3, H5T_NATIVE_DOUBLE);
    if (any_moves(info.obstacles))
      obstacle_series.push_back(series("/obstacle_position", obstacle_points.size(), 3, H5T_NATIVE_DOUBLE));
    info.contacts = file.has("/contacts");
    if (info.contacts) {
      contact_series.push_back(series("/contacts/start", 0, 0, H5T_NATIVE_INT64));
      contact_series.push_back(series("/contacts/count", 0, 0, H5T_NATIVE_INT64));
      contact_rows.push_back(rows("/contacts/segments", 2, H5T_NATIVE_INT32));
      contact_rows.push_back(rows("/contacts/position", 3, H5T_NATIVE_DOUBLE));
      contact_rows.push_back(rows("/contacts/gap", 1, H5T_NATIVE_DOUBLE));
      contact_rows.push_back(rows("/contacts/normal_force", 3, H5T_NATIVE_DOUBLE));
      contact_rows.push_back(rows("/contacts/friction_force", 3, H5T_NATIVE_DOUBLE));
    }
    info.sections = file.has("/segment_force");
    if (info.sections) {
      section_series.push_back(series("/segment_force", segments, 3, H5T_NATIVE_DOUBLE));
      section_series.push_back(series("/segment_strain", segments, 3, H5T_NATIVE_DOUBLE));
      section_series.push_back(series("/joint_moment", joints, 3, H5T_NATIVE_DOUBLE));
      section_series.push_back(series("/joint_curvature", joints, 3, H5T_NATIVE_DOUBLE));
      section_series.push_back(series("/clamp_moment", clamps, 3, H5T_NATIVE_DOUBLE));
      section_series.push_back(series("/clamp_curvature", clamps, 3, H5T_NATIVE_DOUBLE));
    }
    const Hdf5Handle type(H5Dget_type(position_series.dataset), H5Tclose);
    info.double_precision = H5Tget_size(type) == sizeof(double);
  }

  template <class T>
  void read(const StoredSeries& s, int frame, T* data, std::size_t count) const {
    if (count > 0) read_rows(s, frame, static_cast<hsize_t>(frame), 1, data);
  }

  template <class T>
  void read_rows(const StoredSeries& s, int frame, hsize_t first_row, hsize_t row_count, T* data) const {
    hdf5_be_quiet();
    Shape first{first_row}, block{row_count};
    for (const hsize_t n : s.shape) first.push_back(0), block.push_back(n);
    if (!file.are_chunks_sound(s.dataset, s.chunk, first, block))
      throw RunError(fmt::format("{}: {} of frame {} is damaged", path.string(), s.name, frame));
    const Hdf5Handle in_file(H5Dget_space(s.dataset), H5Sclose);
    const Hdf5Handle in_memory(H5Screate_simple(static_cast<int>(block.size()), block.data(), nullptr), H5Sclose);
    if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, first.data(), nullptr, block.data(), nullptr) < 0 ||
        H5Dread(s.dataset, s.memory_type, in_memory, in_file, H5P_DEFAULT, data) < 0)
      throw RunError(fmt::format("{}: cannot read {} of frame {}: {}", path.string(), s.name, frame, hdf5_reason()));
  }

  void read_contacts(int frame) {
    contacts.clear();
    std::array<std::int64_t, 2> range{};
    for (std::size_t i = 0; i < 2; ++i) read(contact_series[i], frame, &range[i], 1);
    const auto [first, count] = range;
    bool inside = first >= 0 && count >= 0;
    for (const StoredSeries& s : contact_rows) {
      const auto size = static_cast<std::int64_t>(file.shape(s.dataset)[0]);
      inside = inside && count <= size && first <= size - count;
    }
    if (!inside) throw RunError(fmt::format("{}: /contacts of frame {} is damaged", path.string(), frame));
    if (count == 0) return;
    const auto n = static_cast<std::size_t>(count);
    std::vector<std::array<Index, 2>> segments(n);
    std::vector<Vec3d> place(n), normal(n), friction(n);
    std::vector<double> gap(n);
    const auto fetch = [&](std::size_t series, auto& list) {
      read_rows(contact_rows[series], frame, static_cast<hsize_t>(first), static_cast<hsize_t>(count), list.data());
    };
    fetch(0, segments), fetch(1, place), fetch(2, gap), fetch(3, normal), fetch(4, friction);
    const Index obstacles = static_cast<Index>(info.obstacles.size());
    for (std::size_t i = 0; i < n; ++i) {
      const auto [a, b] = segments[i];
      if (a < 0 || std::max(a, b) >= model.segment_count() || b < -obstacles)
        throw RunError(fmt::format("{}: /contacts/segments of frame {} names segments {} and {} of {}", path.string(), frame, a,
                                   b, model.segment_count()));
      contacts.push_back({place[i], a, b, gap[i], normal[i], friction[i]});
    }
  }

  void expect(int frame) const {
    const int count = static_cast<int>(times.size());
    if (frame < 0 || frame >= count)
      throw RunError(fmt::format("{}: there is no frame {}; the last is {}", path.string(), frame, count - 1));
  }

  FrameReport read_report(int frame) const {
    std::array<double, 7> v{};
    std::uint64_t hash = 0;
    for (const StoredSeries& s : hash_series) read(s, frame, &hash, 1);
    for (std::size_t i = 0; i < report_series.size(); ++i)
      read(report_series[i], frame, v.data() + (i == 0 ? 0 : 3 + i), i == 0 ? 4 : 1);
    return {.kinetic = v[0],
            .stretch_shear = v[1],
            .bend_twist = v[2],
            .external = v[3],
            .residual_relative = v[4],
            .iterations = static_cast<int>(std::clamp(v[5], 0.0, 2e9)),
            .compute_ms = v[6],
            .state_hash = hash};
  }

  Frame read(int frame, FramePieces pieces) {
    const auto vertices = static_cast<std::size_t>(model.vertex_count()),
               segments = static_cast<std::size_t>(model.segment_count());
    const std::size_t joints = model.joint_frames.size();
    const auto fetch = [&](const StoredSeries& s, auto& list, std::size_t count) {
      list.resize(count);
      read(s, frame, list.data(), count);
      return std::span<const typename std::remove_reference_t<decltype(list)>::value_type>(list);
    };
    // One series for joints between segments, one for those of clamps.
    const auto fetch_joints = [&](std::size_t between, std::size_t of_clamps, std::vector<Vec3d>& list) {
      list.resize(joints);
      read(section_series[between], frame, list.data(), joints_between);
      read(section_series[of_clamps], frame, list.data() + joints_between, joints - joints_between);
      return std::span<const Vec3d>(list);
    };
    Frame out;
    out.index = frame;
    out.time = times[static_cast<std::size_t>(frame)];
    out.vertex_position = fetch(position_series, position, vertices);
    if (pieces.velocity) out.vertex_velocity = fetch(velocity_series, velocity, vertices);
    if (pieces.orientation) out.segment_frame = fetch(frame_series, rotation, segments);
    out.segment_alive = fetch(alive_series, alive, segments);
    if (info.clamp_frames && pieces.restart) out.clamp_frame = fetch(clamp_series, clamp_frame, joints - joints_between);
    if (info.spins && pieces.restart) out.segment_spin = fetch(spin_series, spin, segments);
    if (!obstacle_series.empty()) out.obstacle_points = fetch(obstacle_series.front(), obstacle_points, obstacle_points.size());
    if (info.contacts && pieces.contacts) {
      read_contacts(frame);
      out.contacts = contacts;
    }
    if (info.reports) out.report = read_report(frame);
    if (info.sections && pieces.moment) out.joint_moment = fetch_joints(2, 4, moment);
    if (info.sections && pieces.sections) {
      out.segment_force = fetch(section_series[0], force, segments);
      out.segment_strain = fetch(section_series[1], strain, segments);
      out.joint_curvature = fetch_joints(3, 5, curvature);
    }
    return out;
  }

  fs::path path;
  File file;
  RunInfo info;
  bool rest = false;
  Model model;
  std::size_t joints_between = 0;  ///< joints of segments; those of clamps follow
  std::vector<double> times;
  StoredSeries position_series, velocity_series, frame_series, alive_series, clamp_series, spin_series;
  std::vector<StoredSeries> section_series, report_series, hash_series, obstacle_series;
  std::vector<StoredSeries> contact_series, contact_rows;  ///< by frame; by contact
  std::vector<ContactPoint> contacts;                      ///< of the frame read last
  std::vector<Vec3d> obstacle_points;                      ///< of the frame read last
  std::vector<Vec3d> position, velocity, force, strain, moment, curvature;
  std::vector<Quatd> rotation, clamp_frame;
  std::vector<Vec3d> spin;
  std::vector<std::uint8_t> alive;
};

Trajectory::Trajectory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trajectory::~Trajectory() = default;
Trajectory::Trajectory(Trajectory&&) noexcept = default;

Trajectory Trajectory::open(const fs::path& path) {
  std::error_code error;
  const fs::path file = fs::is_directory(path, error) ? path / "trajectory.h5" : path;
  if (fs::exists(file, error)) finish_journal(file);
  if (!survives([&] { read_samples(file); }))
    refuse(file, "is damaged: the HDF5 library crashes on it", "restore it from a copy, or run the scene again");
  return Trajectory(std::make_unique<Impl>(file));
}

/// Everything but the frames, and a few of those: enough to meet what crashes the library.
void Trajectory::read_samples(const fs::path& file) {
  constexpr int kSamples = 8;
  Trajectory trajectory(std::make_unique<Impl>(file));
  trajectory.reports();
  const int frames = trajectory.frame_count(), stride = std::max(1, frames / kSamples);
  for (int f = 0; f < frames; f += stride) trajectory.read(f);
  if (frames > 0) trajectory.read(frames - 1);
}

bool Trajectory::is_meant(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error) || path.extension() == ".h5") return true;
  std::ifstream in(path, std::ios::binary);
  std::string start(4, '\0');
  return in.read(start.data(), 4) && start == "\x89HDF";
}

const fs::path& Trajectory::path() const { return impl_->path; }
const std::string& Trajectory::name() const { return impl_->info.scene_name; }
const std::string& Trajectory::scene_json() const { return impl_->info.scene_json; }
bool Trajectory::double_precision() const { return impl_->info.double_precision; }
bool Trajectory::has_sections() const { return impl_->info.sections; }
bool Trajectory::has_rest() const { return impl_->rest; }
const RunInfo& Trajectory::info() const { return impl_->info; }
const Model& Trajectory::model() const { return impl_->model; }
int Trajectory::frame_count() const { return static_cast<int>(impl_->times.size()); }
double Trajectory::time(int frame) const { return impl_->times.at(static_cast<std::size_t>(frame)); }

Frame Trajectory::read(int frame, FramePieces pieces) {
  impl_->expect(frame);
  return impl_->read(frame, pieces);
}

std::span<const Vec3d> Trajectory::positions(int frame) {
  impl_->expect(frame);
  impl_->position.resize(static_cast<std::size_t>(model().vertex_count()));
  impl_->read(impl_->position_series, frame, impl_->position.data(), impl_->position.size());
  return impl_->position;
}

std::vector<FrameReport> Trajectory::reports() {
  std::vector<FrameReport> list;
  for (int f = 0; impl_->info.reports && f < frame_count(); ++f) list.push_back(impl_->read_report(f));
  return list;
}

}  // namespace osier

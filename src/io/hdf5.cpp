// trajectory.h5: every frame of a run in one file. docs/output.md is the description for readers.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/journal.hpp"
#include "io/writers.hpp"

namespace osier {

namespace {

static_assert(sizeof(Vec3d) == 3 * sizeof(double) && sizeof(Quatd) == 4 * sizeof(double), "spans are written as flat numbers");

using Shape = std::vector<hsize_t>;

/// A dataset that grows by one entry of fixed shape per frame.
struct Series {
  std::string name;
  Shape shape;  ///< of one frame
  hid_t memory_type = H5I_INVALID_HID;
  Hdf5Handle dataset;
};

class Hdf5Writer final : public Writer {
 public:
  explicit Hdf5Writer(const WriteTarget& target) : path_(target.file(".h5").string()) {}

  // After a failed write HDF5 1.10 crashes in close, before anybody could read our exception. All earlier frames are flushed.
  ~Hdf5Writer() override {
    hdf5_be_quiet();
    if (sound_) return;
    for (Series* series : all_series()) series->dataset.abandon();
    file_.abandon();
  }

  void begin(const Model& model, const RunInfo& info) override {
    hdf5_be_quiet();
    if (const auto folder = std::filesystem::path(path_).parent_path(); !folder.empty()) make_folder(folder);
    reserve_file_space(path_, 0, header_bytes(model, info));
    sound_ = false;
    // The default (oldest) file version on purpose: newer ones carry an "open for writing" mark, and a killed run would leave
    // a file that nobody can open before repairing it with h5clear.
    file_ = {check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access()), "the file"), H5Fclose};
    choose(model, info);
    frames_ = 0;
    contact_rows_ = 0;
    write_attributes(info);
    write_strings("/scene", {}, {info.scene_json});  // no attribute: those end at 64 KiB
    write_topology(model);
    write_elasticity(model);
    write_materials(model, info);
    write_obstacles(info);
    open_series(model, info);
    check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "the header");
    sound_ = true;
  }

  void end() override {
    hdf5_be_quiet();
    for (Series* series : all_series()) check(series->dataset.close(), series->name);
    check(file_.close(), "the end of the file");
  }

  bool resumes() const override { return true; }
  void resume(const Model& model, const RunInfo& info, int frames) override {
    hdf5_be_quiet();
    finish_journal(path_);
    sound_ = false;
    file_ = {check(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access()), "the file"), H5Fclose};
    choose(model, info);
    resumes_ = true;
    open_series(model, info);
    resumes_ = false;
    cut(frames);
    check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "the frames that are kept");
    sound_ = true;
  }

  void cut(int frames) {
    frames_ = static_cast<hsize_t>(frames);
    contact_rows_ = 0;
    if (!contacts_.empty() && frames > 0) {
      const auto last = [&](const Series& s) {
        std::int64_t value = 0;
        const Hdf5Handle in_file(check(H5Dget_space(s.dataset), s.name), H5Sclose);
        const hsize_t at = frames_ - 1, one = 1;
        const Hdf5Handle in_memory = space({1});
        check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &at, nullptr, &one, nullptr), s.name);
        check(H5Dread(s.dataset, H5T_NATIVE_INT64, in_memory, in_file, H5P_DEFAULT, &value), s.name);
        return static_cast<std::size_t>(value);
      };
      contact_rows_ = last(contacts_[0]) + kContactChunk * chunks_of(last(contacts_[1]));
    }
    for (const Series* s : all_series()) {
      const bool by_contact = contacts_.size() > 2 && s >= &contacts_[2] && s <= &contacts_.back();
      Shape now{by_contact ? contact_rows_ : frames_};
      now.insert(now.end(), s->shape.begin(), s->shape.end());
      check(H5Dset_extent(s->dataset, now.data()), s->name);
    }
  }

  void write(const Frame& frame) override { write_frame(frame); }

 private:
  Hdf5Handle access() const { return {check(journalled_access(), "the file"), H5Pclose}; }

  void choose(const Model& model, const RunInfo& info) {
    number_type_ = info.double_precision ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    joints_.clear(), half_joints_.clear();
    for (Index j = 0; j < model.joint_count(); ++j) (model.joint_is_clamp[j] ? half_joints_ : joints_).push_back(j);
    half_joint_anchor_.clear();
    for (const Index j : half_joints_) half_joint_anchor_.push_back(model.joint_frames[j][0] - model.segment_count());
  }

  void open_series(const Model& model, const RunInfo& info) {
    const hsize_t vertices = model.vertex_mass.size(), segments = model.segment_vertices.size();
    const auto numbers = [&](const char* name, const Shape& shape, const char* unit, const char* description) {
      return create_series(name, shape, number_type_, H5T_NATIVE_DOUBLE, unit, description);
    };
    time_ = create_series("/time", {}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, "s", "time of the frame");
    position_ = numbers("/position", {vertices, 3}, "m", "vertex positions");
    velocity_ = numbers("/velocity", {vertices, 3}, "m/s", "vertex velocities");
    rotation_ = numbers("/frame", {segments, 4}, "1", "material frame of each segment, a unit quaternion (x, y, z, w)");
    alive_ = create_series("/segment_alive", {segments}, H5T_STD_U8LE, H5T_NATIVE_UINT8, "1", "0 once the segment has broken");
    restart_.clear();
    if (info.clamp_frames && !half_joints_.empty())
      restart_.push_back(numbers("/clamp_frame", {half_joints_.size(), 4}, "1",
                                 "frame that each clamp holds, a unit quaternion (x, y, z, w); 0 once it has let go"));
    has_spins_ = info.spins;
    if (has_spins_)
      restart_.push_back(numbers("/angular_velocity", {segments, 3}, "rad/s", "of the material frames, world axes"));
    sections_.clear();
    if (info.sections) {
      const hsize_t joints = joints_.size(), clamps = half_joints_.size();
      sections_.push_back(numbers("/segment_force", {segments, 3}, "N", "shear along d1, d2 and tension"));
      sections_.push_back(numbers("/segment_strain", {segments, 3}, "1", "shear along d1, d2 and stretch"));
      sections_.push_back(numbers("/joint_moment", {joints, 3}, "N m", "bending moments about d1, d2 and torque"));
      sections_.push_back(numbers("/joint_curvature", {joints, 3}, "1/m", "bending about d1, d2 and twist"));
      sections_.push_back(numbers("/clamp_moment", {clamps, 3}, "N m", "bending moments about d1, d2 and torque at clamps"));
      sections_.push_back(numbers("/clamp_curvature", {clamps, 3}, "1/m", "bending about d1, d2 and twist at clamps"));
    }
    obstacles_.clear();
    if (any_moves(info.obstacles)) {
      obstacles_.push_back(
          numbers("/obstacle_position", {points_of(info.obstacles).size(), 3}, "m", "points of the surfaces of all obstacles"));
    }
    contacts_.clear();
    if (info.contacts) {
      if (!resumes_) make_group("/contacts");
      for (const auto& [name, description] :
           {std::pair{"/contacts/start", "first of the rows that are this frame's"}, {"/contacts/count", "number of these rows"}})
        contacts_.push_back(create_series(name, {}, H5T_STD_I64LE, H5T_NATIVE_INT64, "1", description));
      const auto rows = [&](const char* name, const Shape& shape, hid_t file_type, hid_t memory_type, const char* unit,
                            const char* description) {
        contacts_.push_back(create_series(name, shape, file_type, memory_type, unit, description, kContactChunk));
      };
      rows("/contacts/segments", {2}, H5T_STD_I32LE, H5T_NATIVE_INT32, "1",
           "segments a and b that touch; against an obstacle b is -1 less its number");
      rows("/contacts/position", {3}, number_type_, H5T_NATIVE_DOUBLE, "m", "between the two surfaces");
      rows("/contacts/gap", {}, number_type_, H5T_NATIVE_DOUBLE, "m", "between the surfaces; negative where they are squeezed");
      rows("/contacts/normal_force", {3}, number_type_, H5T_NATIVE_DOUBLE, "N", "on segment a, world axes");
      rows("/contacts/friction_force", {3}, number_type_, H5T_NATIVE_DOUBLE, "N", "on segment a, world axes");
    }
    reports_.clear(), hashes_.clear();
    if (info.reports) {
      const auto report = [&](const char* name, const Shape& shape, hid_t type, const char* unit, const char* description) {
        reports_.push_back(create_series(name, shape, type, H5T_NATIVE_DOUBLE, unit, description));
      };
      report("/energy", {4}, H5T_IEEE_F64LE, "J", "kinetic, stretch_shear, bend_twist, external");
      report("/residual_relative", {}, H5T_IEEE_F64LE, "1",
             "of the last step, relative to the largest force at work; -1 where not measured");
      report("/iterations", {}, H5T_STD_I32LE, "1", "sweeps or Newton iterations since the frame before");
      report("/compute_ms", {}, H5T_IEEE_F64LE, "ms", "solver time since the frame before");
      if (info.is_static) report("/load_factor", {}, H5T_IEEE_F64LE, "1", "share of the full load");
      hashes_.push_back(create_series("/state_hash", {}, H5T_STD_U64LE, H5T_NATIVE_UINT64, "1",
                                      "fingerprint of everything that the steps after the frame depend on"));
    }
  }

  void write_frame(const Frame& frame) {
    hdf5_be_quiet();
    expect_count(position_, frame.vertex_position.size());
    expect_count(velocity_, frame.vertex_velocity.size());
    expect_count(rotation_, frame.segment_frame.size());
    expect_count(alive_, frame.segment_alive.size());
    for (const Series& s : obstacles_) expect_count(s, frame.obstacle_points.size());
    const std::vector<std::span<const Vec3d>> sections = section_values(frame);
    const std::vector<double> report = report_values(frame);
    const bool has_clamps = restart_.size() > (has_spins_ ? 1U : 0U);
    if (has_clamps) pick_clamp_frames(frame);
    if (has_spins_) expect_count(restart_.back(), frame.segment_spin.size());
    // A disk that fills up in the middle of a flush costs all frames, not one: HDF5 has by then overwritten its own tables.
    reserve_file_space(path_, file_size(),
                       frame.vertex_position.size_bytes() + frame.vertex_velocity.size_bytes() +
                           frame.segment_frame.size_bytes() + clamp_frames_.size() * sizeof(Quatd) +
                           frame.segment_spin.size_bytes() + frame.segment_alive.size() + section_bytes(sections) +
                           (obstacles_.empty() ? 0 : frame.obstacle_points.size_bytes()) + sizeof(double) * report.size() +
                           (contacts_.empty() ? 0 : contact_bytes(frame.contacts.size())) + all_series().size() * kTableBytes);
    sound_ = false;
    append(position_, frame.vertex_position.data());
    append(velocity_, frame.vertex_velocity.data());
    append(rotation_, frame.segment_frame.data());
    append(alive_, frame.segment_alive.data());
    if (has_clamps) append(restart_.front(), clamp_frames_.data());
    if (has_spins_) append(restart_.back(), frame.segment_spin.data());
    for (std::size_t i = 0; i < sections.size(); ++i) append(sections_[i], sections[i].data());
    for (const Series& s : obstacles_) append(s, frame.obstacle_points.data());
    if (!contacts_.empty()) append_contacts(frame.contacts);
    for (std::size_t i = 0; i < reports_.size(); ++i) append(reports_[i], report.data() + (i == 0 ? 0 : 3 + i));
    for (const Series& s : hashes_) append(s, &frame.report->state_hash);
    append(time_, &frame.time);
    check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "a frame");  // all of it or nothing, see journal.hpp
    ++frames_;
    sound_ = true;
    std::error_code ignored;                                    // a tail behind the data disturbs no reader
    std::filesystem::resize_file(path_, file_size(), ignored);  // gives back what compression saved
  }

  /// Room for what HDF5 keeps beside the numbers of one dataset: per frame at most a few index nodes of 2 to 3 KiB.
  static constexpr std::uintmax_t kTableBytes = 26 * 1024;
  static constexpr hsize_t kContactChunk = 256;                 ///< rows
  static constexpr std::uintmax_t kChunkTableBytes = 3 * 1024;  ///< likewise, for one more chunk

  std::vector<Series*> all_series() {
    std::vector<Series*> all{&time_, &position_, &velocity_, &rotation_, &alive_};
    for (Series& s : restart_) all.push_back(&s);
    for (Series& s : sections_) all.push_back(&s);
    for (Series& s : obstacles_) all.push_back(&s);
    for (Series& s : reports_) all.push_back(&s);
    for (Series& s : contacts_) all.push_back(&s);
    for (Series& s : hashes_) all.push_back(&s);
    return all;
  }

  /// One for each half-joint, as /topology/clamps has them.
  void pick_clamp_frames(const Frame& frame) {
    clamp_frames_.clear();
    for (const Index anchor : half_joint_anchor_) {
      if (static_cast<std::size_t>(anchor) >= frame.clamp_frame.size())
        throw RunError(path_ + ": cannot write /clamp_frame: a frame without those of all clamps");
      clamp_frames_.push_back(frame.clamp_frame[static_cast<std::size_t>(anchor)]);
    }
  }

  /// In the order of `sections_`; joints and half-joints of clamps apart, as in /topology.
  std::vector<std::span<const Vec3d>> section_values(const Frame& frame) {
    if (sections_.empty()) return {};
    const auto pick = [&](std::size_t series, std::span<const Vec3d> values, const std::vector<Index>& list) {
      std::vector<Vec3d>& out = picked_[series - 2];
      out.clear();
      if (values.size() != joints_.size() + half_joints_.size()) expect_count(sections_[series], values.size());
      for (Index j : list) out.push_back(values[static_cast<std::size_t>(j)]);
    };
    expect_count(sections_[0], frame.segment_force.size());
    expect_count(sections_[1], frame.segment_strain.size());
    pick(2, frame.joint_moment, joints_);
    pick(3, frame.joint_curvature, joints_);
    pick(4, frame.joint_moment, half_joints_);
    pick(5, frame.joint_curvature, half_joints_);
    return {frame.segment_force, frame.segment_strain, picked_[0], picked_[1], picked_[2], picked_[3]};
  }
  /// In the order of `reports_`: four energies, then one number each.
  std::vector<double> report_values(const Frame& frame) const {
    if (reports_.empty()) return {};
    if (!frame.report) throw RunError(path_ + ": cannot write /energy: a frame without the report that was announced");
    const FrameReport& r = *frame.report;
    return {r.kinetic,    r.stretch_shear, r.bend_twist, r.external, r.residual_relative, static_cast<double>(r.iterations),
            r.compute_ms, r.load_factor};
  }
  static std::uintmax_t section_bytes(const std::vector<std::span<const Vec3d>>& sections) {
    std::uintmax_t bytes = 0;
    for (const auto& values : sections) bytes += values.size_bytes();
    return bytes;
  }

  static std::uintmax_t header_bytes(const Model& model, const RunInfo& info) {
    std::uintmax_t bytes =
        (7 + (info.sections ? 6 : 0) + (info.reports ? 6 : 0) + (info.obstacles.empty() ? 0 : 1) + (info.contacts ? 7 : 0)) *
            kTableBytes +
        info.scene_json.size() + info.scene_name.size() + info.version.size();
    bytes += 16 * model.vertex_radius.size() + 44 * model.segment_vertices.size() + 76 * model.joint_frames.size();
    for (const Surface& s : info.obstacles)
      bytes += s.name.size() + 16 + s.points.size() * sizeof(Vec3d) + s.triangles.size() * sizeof(s.triangles[0]);
    // Names have all the same room.
    std::size_t longest_material = 1, longest_rod = 1;
    for (const std::string& name : info.materials) longest_material = std::max(longest_material, name.size());
    for (const RodInfo& rod : model.rods) {
      longest_rod = std::max(longest_rod, rod.name.size());
      bytes += sizeof(Index) * (rod.vertices.size() + 1) + 1;  // with start and closed
    }
    bytes += info.materials.size() * (longest_material + sizeof(MaterialStiffness)) + model.rods.size() * longest_rod;
    return bytes;
  }

  /// As HDF5 counts: without the reserve behind it.
  hsize_t file_size() const {
    hsize_t size = 0;
    check(H5Fget_filesize(file_, &size), "the file");
    return size;
  }

  void expect_count(const Series& series, std::size_t count) const {
    if (count == series.shape[0]) return;
    throw RunError(
        fmt::format("{}: cannot write {}: a frame of {} where the model has {}", path_, series.name, count, series.shape[0]));
  }

  template <class Result>
  Result check(Result result, std::string_view what) const {
    return hdf5_check(result, path_, what);
  }

  Hdf5Handle space(const Shape& shape, const Shape& most = {}) const {
    const hid_t id = shape.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.empty() ? nullptr : most.data());
    return {check(id, "a dataspace"), H5Sclose};
  }

  /// Of variable length, for attributes alone: Python's h5py gives these as text and others as bytes.
  Hdf5Handle string_type() const {
    Hdf5Handle type(check(H5Tcopy(H5T_C_S1), "a string"), H5Tclose);
    check(H5Tset_size(type, H5T_VARIABLE), "a string");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "a string");
    return type;
  }

  void write_dataset(const std::string& name, const Shape& shape, hid_t file_type, hid_t memory_type, const void* data) const {
    const Hdf5Handle extent = space(shape);
    const Hdf5Handle dataset(
        check(H5Dcreate2(file_, name.c_str(), file_type, extent, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name), H5Dclose);
    check(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
  }

  /// Of fixed length, padded with zeros: strings of variable length lie in a heap, where a single damaged byte costs all of them.
  void write_strings(const std::string& name, const Shape& shape, const std::vector<std::string_view>& strings) const {
    std::size_t longest = 1;
    for (const std::string_view text : strings) longest = std::max(longest, text.size());
    std::string all(longest * strings.size(), '\0');
    for (std::size_t i = 0; i < strings.size(); ++i) strings[i].copy(all.data() + i * longest, longest);
    const Hdf5Handle type(check(H5Tcopy(H5T_C_S1), "a string"), H5Tclose);
    check(H5Tset_size(type, longest), "a string");
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), "a string");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "a string");
    write_dataset(name, shape, type, type, all.data());
  }

  void write_attribute(hid_t object, const char* name, hid_t file_type, hid_t memory_type, const void* data) const {
    const Hdf5Handle scalar = space({});
    const Hdf5Handle attribute(check(H5Acreate2(object, name, file_type, scalar, H5P_DEFAULT, H5P_DEFAULT), name), H5Aclose);
    check(H5Awrite(attribute, memory_type, data), name);
  }

  void make_group(const char* name) const {
    const Hdf5Handle group(check(H5Gcreate2(file_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name), H5Gclose);
  }

  void write_attributes(const RunInfo& info) const {
    const Hdf5Handle type = string_type();
    const std::pair<const char*, const char*> texts[] = {
        {"format", "osier-trajectory"}, {"name", info.scene_name.c_str()}, {"version", info.version.c_str()}, {"units", "SI"}};
    for (const auto& [name, text] : texts) write_attribute(file_, name, type, type, &text);
    const int format_version = 1;
    write_attribute(file_, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, &format_version);
  }

  void write_topology(const Model& model) const {
    const Hdf5Handle group(check(H5Gcreate2(file_, "/topology", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "/topology"), H5Gclose);
    const auto write_indices = [&](const char* name, const Shape& shape, const auto& values) {
      write_dataset(name, shape, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data());
    };
    const auto write_numbers = [&](const char* name, const std::vector<double>& values) {
      write_dataset(name, {values.size()}, number_type_, H5T_NATIVE_DOUBLE, values.data());
    };
    // Anchors of clamps are ours alone: a reader knows no frames but the segments'. A half-joint is a segment at a vertex.
    std::vector<std::array<Index, 2>> joints, clamps;
    std::vector<Index> joint_vertex;
    std::vector<double> joint_length, clamp_length;
    for (Index j : joints_) {
      joints.push_back(model.joint_frames[j]);
      joint_vertex.push_back(shared_vertex(model, j));
      joint_length.push_back(model.joint_length[j]);
    }
    for (Index j : half_joints_) {
      const auto [anchor, segment] = model.joint_frames[j];
      clamps.push_back({segment, model.anchor_vertex[anchor - model.segment_count()]});
      clamp_length.push_back(model.joint_length[j]);
    }
    write_indices("/topology/segments", {model.segment_vertices.size(), 2}, model.segment_vertices);
    write_numbers("/topology/rest_length", model.segment_rest_length);
    write_indices("/topology/joints", {joints.size(), 2}, joints);
    write_indices("/topology/joint_vertex", {joints.size()}, joint_vertex);
    write_numbers("/topology/joint_length", joint_length);
    write_indices("/topology/clamps", {clamps.size(), 2}, clamps);
    write_numbers("/topology/clamp_length", clamp_length);
    write_numbers("/topology/radius", model.vertex_radius);

    // Rods as compressed rows: a group per rod would be nicer to browse, but a scene may have a hundred thousand hairs.
    std::vector<std::string_view> names;
    std::vector<Index> start{0}, vertices;
    std::vector<std::uint8_t> closed;
    for (const RodInfo& rod : model.rods) {
      names.push_back(rod.name);
      vertices.insert(vertices.end(), rod.vertices.begin(), rod.vertices.end());
      start.push_back(static_cast<Index>(vertices.size()));
      closed.push_back(rod.closed ? 1 : 0);
    }
    write_strings("/topology/rod_names", {names.size()}, names);
    write_indices("/topology/rod_start", {start.size()}, start);
    write_indices("/topology/rod_vertices", {vertices.size()}, vertices);
    write_dataset("/topology/rod_closed", {closed.size()}, H5T_STD_U8LE, H5T_NATIVE_UINT8, closed.data());
  }

  /// Everything that makes a shape relaxed or strained. Stiffnesses are those of the section: an element's over its length.
  void write_elasticity(const Model& model) const {
    const auto write = [&](const char* name, const std::vector<double>& values, hsize_t width) {
      write_dataset(name, {values.size() / width, width}, number_type_, H5T_NATIVE_DOUBLE, values.data());
    };
    const auto put = [](std::vector<double>& to, const PerAxis& k, double factor) {
      for (const double x : {k.d1, k.d2, k.d3}) to.push_back(factor * x);
    };
    std::vector<double> stretch;
    for (std::size_t s = 0; s < model.segment_stiffness.size(); ++s)
      put(stretch, model.segment_stiffness[s], 1 / model.segment_rest_length[s]);
    write("/topology/segment_stiffness", stretch, 3);
    for (const auto& [kind, list] : {std::pair{std::string("joint"), &joints_}, {std::string("clamp"), &half_joints_}}) {
      std::vector<double> bend, rest;
      for (const Index j : *list) {
        put(bend, model.joint_stiffness[j], model.joint_length[j] / 4);
        const Quatd& q = model.joint_rest_rotation[j];
        rest.insert(rest.end(), {q.x, q.y, q.z, q.w});
      }
      write(("/topology/" + kind + "_stiffness").c_str(), bend, 3);
      write(("/topology/" + kind + "_rest_rotation").c_str(), rest, 4);
    }
    write_dataset("/topology/mass", {model.vertex_mass.size()}, number_type_, H5T_NATIVE_DOUBLE, model.vertex_mass.data());
  }

  void write_materials(const Model& model, const RunInfo& info) const {
    if (info.segment_material.empty() || info.segment_material.size() != model.segment_vertices.size()) return;
    const std::vector<std::string_view> names(info.materials.begin(), info.materials.end());
    write_strings("/topology/material_names", {names.size()}, names);
    write_dataset("/topology/segment_material", {info.segment_material.size()}, H5T_STD_I32LE, H5T_NATIVE_INT32,
                  info.segment_material.data());
    if (info.material_stiffness.size() != names.size()) return;
    static_assert(sizeof(MaterialStiffness) == 12 * sizeof(double));
    write_dataset("/topology/material_stiffness", {names.size(), 2, 6}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                  info.material_stiffness.data());
  }

  /// Surfaces as compressed rows; triangles name points of all of them.
  void write_obstacles(const RunInfo& info) const {
    if (info.obstacles.empty()) return;
    const Hdf5Handle group(check(H5Gcreate2(file_, "/obstacles", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "/obstacles"), H5Gclose);
    std::vector<std::string_view> names;
    std::vector<Index> start{0}, triangles;
    std::vector<double> points;
    for (const Surface& s : info.obstacles) {
      names.push_back(s.name);
      for (const Vec3d& p : s.points) points.insert(points.end(), {p.x, p.y, p.z});
      for (const auto& t : s.triangles)
        for (const Index v : t) triangles.push_back(start.back() + v);
      start.push_back(static_cast<Index>(points.size() / 3));
    }
    std::vector<std::uint8_t> inside;
    std::vector<std::uint8_t> moves;
    for (const Surface& s : info.obstacles) inside.push_back(s.from_inside ? 1 : 0), moves.push_back(s.moves ? 1 : 0);
    write_dataset("/obstacles/moves", {moves.size()}, H5T_STD_U8LE, H5T_NATIVE_UINT8, moves.data());
    write_dataset("/obstacles/from_inside", {inside.size()}, H5T_STD_U8LE, H5T_NATIVE_UINT8, inside.data());
    write_strings("/obstacles/names", {names.size()}, names);
    const auto write_indices = [&](const char* name, const Shape& shape, const std::vector<Index>& values) {
      write_dataset(name, shape, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data());
    };
    write_indices("/obstacles/start", {start.size()}, start);
    write_indices("/obstacles/triangles", {triangles.size() / 3, 3}, triangles);
    write_dataset("/obstacles/points", {points.size() / 3, 3}, number_type_, H5T_NATIVE_DOUBLE, points.data());
  }

  /// -1 for an extra joint between segments that do not touch.
  static Index shared_vertex(const Model& model, Index joint) {
    const auto [a, b] = model.joint_frames[joint];
    for (Index v : model.segment_vertices[a])
      if (v == model.segment_vertices[b][0] || v == model.segment_vertices[b][1]) return v;
    return -1;
  }

  Series create_series(const std::string& name, const Shape& shape, hid_t file_type, hid_t memory_type, const char* unit,
                       const char* description, hsize_t chunk_rows = 1) const {
    if (resumes_) return {name, shape, memory_type, reopened(name, shape)};
    Shape now{0}, most{H5S_UNLIMITED}, chunk{chunk_rows};
    for (const hsize_t n : shape) {
      now.push_back(n);
      most.push_back(std::max<hsize_t>(n, 1));  // a chunk has no empty side, and must fit into the largest extent
      chunk.push_back(std::max<hsize_t>(n, 1));
    }
    const Hdf5Handle create(check(H5Pcreate(H5P_DATASET_CREATE), name), H5Pclose);
    check(H5Pset_chunk(create, static_cast<int>(chunk.size()), chunk.data()), name);
    check(H5Pset_shuffle(create), name);
    check(H5Pset_deflate(create, 1), name);
    // A chunk is written once, whole. Without a cache it reaches the disk in H5Dwrite, not in the middle of a flush.
    const Hdf5Handle access(check(H5Pcreate(H5P_DATASET_ACCESS), name), H5Pclose);
    check(H5Pset_chunk_cache(access, 0, 0, 1.0), name);
    const Hdf5Handle extent = space(now, most);
    Hdf5Handle dataset(check(H5Dcreate2(file_, name.c_str(), file_type, extent, H5P_DEFAULT, create, access), name), H5Dclose);
    const Hdf5Handle type = string_type();
    write_attribute(dataset, "units", type, type, &unit);
    write_attribute(dataset, "description", type, type, &description);
    return {name, shape, memory_type, std::move(dataset)};
  }

  Hdf5Handle reopened(const std::string& name, const Shape& shape) const {
    const Hdf5Handle access(check(H5Pcreate(H5P_DATASET_ACCESS), name), H5Pclose);
    check(H5Pset_chunk_cache(access, 0, 0, 1.0), name);
    Hdf5Handle dataset(check(H5Dopen2(file_, name.c_str(), access), name), H5Dclose);
    const Hdf5Handle extent(check(H5Dget_space(dataset), name), H5Sclose);
    Shape now(shape.size() + 1);
    if (H5Sget_simple_extent_ndims(extent) != static_cast<int>(now.size()) ||
        H5Sget_simple_extent_dims(extent, now.data(), nullptr) < 0 || !std::equal(shape.begin(), shape.end(), now.begin() + 1))
      throw RunError(fmt::format("{}: {} does not belong to this model", path_, name));
    return dataset;
  }

  void append(const Series& series, const void* data) const { append_rows(series, frames_, 1, frames_ + 1, data); }

  /// `size`: of the dataset afterwards, in rows.
  void append_rows(const Series& series, hsize_t first, hsize_t count, hsize_t size, const void* data) const {
    Shape start{first}, block{count}, now{size};
    for (const hsize_t n : series.shape) {
      start.push_back(0);
      block.push_back(n);
      now.push_back(n);
    }
    check(H5Dset_extent(series.dataset, now.data()), series.name);
    const Hdf5Handle file_space(check(H5Dget_space(series.dataset), series.name), H5Sclose);
    const Hdf5Handle memory_space = space(block);
    if (H5Sget_simple_extent_npoints(memory_space) == 0) return;  // nothing to select
    check(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr), series.name);
    check(H5Dwrite(series.dataset, series.memory_type, memory_space, file_space, H5P_DEFAULT, data), series.name);
  }

  /// A frame begins a chunk of its own, so that no chunk is ever written twice; rows that are left over stay zero.
  static hsize_t chunks_of(std::size_t contacts) { return (contacts + kContactChunk - 1) / kContactChunk; }
  static std::uintmax_t contact_bytes(std::size_t contacts) {
    constexpr std::uintmax_t kEach = 2 * sizeof(Index) + 10 * sizeof(double);
    return chunks_of(contacts) * (kContactChunk * kEach + 5 * kChunkTableBytes);
  }
  void append_contacts(std::span<const ContactPoint> contacts) {
    std::vector<std::array<Index, 2>> segments;
    std::vector<Vec3d> position, normal, friction;
    std::vector<double> gap;
    for (const ContactPoint& c : contacts) {
      segments.push_back({c.a, c.b});
      position.push_back(c.position), gap.push_back(c.gap);
      normal.push_back(c.normal_force), friction.push_back(c.friction_force);
    }
    const auto first = static_cast<std::int64_t>(contact_rows_), count = static_cast<std::int64_t>(contacts.size());
    append(contacts_[0], &first);
    append(contacts_[1], &count);
    if (contacts.empty()) return;
    const hsize_t size = contact_rows_ + kContactChunk * chunks_of(contacts.size());
    const void* rows[] = {segments.data(), position.data(), gap.data(), normal.data(), friction.data()};
    for (std::size_t i = 0; i < std::size(rows); ++i)
      append_rows(contacts_[2 + i], contact_rows_, contacts.size(), size, rows[i]);
    contact_rows_ = size;
  }

  std::string path_;
  hid_t number_type_ = H5I_INVALID_HID;
  hsize_t frames_ = 0;
  bool sound_ = true;     ///< no HDF5 call has failed between flushes
  bool resumes_ = false;  ///< datasets are those of the file
  Hdf5Handle file_;       // before the datasets: they must be closed first
  Series time_, position_, velocity_, rotation_, alive_;
  std::vector<Series> restart_;                         ///< frames of clamps, then spins: those that there are
  std::vector<Series> sections_, obstacles_, reports_;  ///< only where asked for
  std::vector<Series> contacts_;                        ///< start and count by frame, then what there is by row
  std::vector<Series> hashes_;                          ///< where there are reports
  hsize_t contact_rows_ = 0;                            ///< written so far, with those that fill up chunks
  bool has_spins_ = false;
  std::vector<Index> joints_, half_joints_, half_joint_anchor_;
  std::vector<Quatd> clamp_frames_;
  std::array<std::vector<Vec3d>, 4> picked_;  ///< a frame's moments and curvatures, joints and clamps apart
};

}  // namespace

std::unique_ptr<Writer> make_hdf5_writer(const WriteTarget& target) {
  H5dont_atexit();  // its exit handler would close, and crash on, a file abandoned after a failure
  return std::make_unique<Hdf5Writer>(target);
}

}  // namespace osier

// What the writers put on disk is what the frames held, also when a run is cut short.
#include "osier/io.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/atomic_file.hpp"
#include "osier/error.hpp"
#include "support/files.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;
using test::read_text;

constexpr int kVertices = 3, kSegments = 2, kFrames = 3;

/// Two segments, one joint and a clamp's half-joint, which no file may show.
Model two_segments() {
  Model m;
  m.vertex_mass = {0.1, 0.2, 0.1};
  m.vertex_radius = {0.01, 0.02, 0.03};
  m.vertex_alive = {1, 1, 1};
  m.segment_vertices = {{0, 1}, {1, 2}};
  m.segment_rest_length = {1, 1};
  m.segment_stiffness = {1, 1};
  m.segment_strain_limit = {1, 1};
  m.segment_tau = {0, 0};
  m.segment_alive = {1, 1};
  m.anchor_count = 1;
  m.anchor_vertex = {0};
  m.joint_frames = {{0, 1}, {2, 0}};
  m.joint_rest_rotation = {{}, {}};
  m.joint_stiffness = {1, 1};
  m.joint_length = {1, 1};
  m.joint_tau = {0, 0};
  m.joint_is_clamp = {0, 1};
  m.joint_alive = {1, 1};
  m.rods = {{.name = "bögen", .vertices = {0, 1, 2}, .segments = {0, 1}, .joints = {0}, .closed = false}};
  update_topology(m);
  return m;
}

/// Numbers without a short decimal form, different in every slot. The second segment breaks in frame 2.
struct Snapshot {
  std::vector<Vec3d> position, velocity;
  std::vector<Quatd> rotation;
  std::vector<std::uint8_t> alive;
  std::vector<Vec3d> section[6];
  Frame frame;

  explicit Snapshot(int f, int vertices = kVertices, int segments = kSegments) {
    for (int v = 0; v < vertices; ++v) {
      position.push_back({v + f / 7.0, -v / 3.0, 1e-3 * f / 11.0});
      velocity.push_back({f / 13.0, v / 17.0, -1.0 / (1 + f + v)});
    }
    for (int s = 0; s < segments; ++s) {
      rotation.push_back({std::sin(0.1 * (f + s)), 0, 0, std::cos(0.1 * (f + s))});
      alive.push_back(f >= 2 && s == 1 ? 0 : 1);
    }
    frame = {.index = f,
             .time = f / 30.0,
             .vertex_position = position,
             .vertex_velocity = velocity,
             .segment_frame = rotation,
             .segment_alive = alive};
  }

  /// Forces and the rest as well, two joints of the model: one between the segments, one at a clamp.
  Snapshot& with_sections() {
    for (int k = 0; k < 6; ++k)
      for (int i = 0; i < kSegments; ++i) section[k].push_back({k / 3.0 + frame.index, i / 7.0, -1.0 / (1 + k + i)});
    frame.segment_force = section[0], frame.segment_strain = section[1];
    frame.segment_moment = section[2], frame.segment_curvature = section[3];
    frame.joint_moment = section[4], frame.joint_curvature = section[5];
    return *this;
  }
};

RunInfo run_info(bool double_precision) {
  // Longer than an HDF5 attribute can hold.
  return {.scene_name = "two segments",
          .scene_json = "{\"pad\": \"" + std::string(100000, 'x') + "\"}",
          .version = "0.1.0",
          .double_precision = double_precision};
}

void write_run(const std::string& format, const fs::path& folder, bool double_precision = true, bool reach_end = true,
               bool sections = false) {
  const auto writer = find_format(format)->make(folder);
  RunInfo info = run_info(double_precision);
  info.sections = sections;
  writer->begin(two_segments(), info);
  for (int f = 0; f < kFrames; ++f) {
    Snapshot snapshot(f);
    writer->write(sections ? snapshot.with_sections().frame : snapshot.frame);
  }
  if (reach_end) writer->end();
  else _exit(0);  // no destructors, no exit handlers: what a killed run leaves behind
}

/// Stands in for a full disk: no file may grow past the limit. Exits with 7 and the message when that is noticed.
template <class Work>
[[noreturn]] void run_with_file_limit(rlim_t bytes, Work work) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    work();
  } catch (const RunError& e) {
    fmt::print(stderr, "{}", e.what());
    _exit(7);
  }
  _exit(0);
}

/// With OSIER_IO_TEST_DIR set, the files stay there for tests/unit/io_formats.py.
class IoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const char* kept = std::getenv("OSIER_IO_TEST_DIR");
    keep_ = kept != nullptr;
    folder_ = keep_ ? fs::path(kept) / name : fs::temp_directory_path() / fmt::format("osier_io_{}_{}", name, getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!keep_) fs::remove_all(folder_);
  }
  fs::path folder_;
  bool keep_ = false;
};

/// A dataset read whole, as doubles.
struct Dataset {
  std::vector<hsize_t> shape;
  std::size_t bytes = 0;  ///< of one number in the file
  std::vector<double> values;

  Dataset(const fs::path& path, const char* name) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(file, 0) << path;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    EXPECT_GE(dataset, 0) << name;
    if (dataset < 0) return;
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    shape.resize(H5Sget_simple_extent_ndims(space));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    bytes = H5Tget_size(type);
    values.resize(H5Sget_simple_extent_npoints(space));
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    H5Tclose(type), H5Sclose(space), H5Dclose(dataset), H5Fclose(file);
  }
};

using Shape = std::vector<hsize_t>;
using Numbers = std::vector<double>;

/// Every series of the file against the frames, each number as the solver's precision stores it.
template <class Number>
void expect_trajectory(const fs::path& path) {
  // volatile: g++ 12.2 at -O2 vectorizes a pair of double(float(x)) into plain copies, without the rounding.
  const auto stored = [](double x) {
    const volatile Number rounded = static_cast<Number>(x);
    return static_cast<double>(rounded);
  };
  Numbers time, position, velocity, rotation, alive;
  for (int f = 0; f < kFrames; ++f) {
    const Snapshot s(f);
    time.push_back(s.frame.time);
    for (const Vec3d& x : s.position) position.insert(position.end(), {stored(x.x), stored(x.y), stored(x.z)});
    for (const Vec3d& x : s.velocity) velocity.insert(velocity.end(), {stored(x.x), stored(x.y), stored(x.z)});
    for (const Quatd& q : s.rotation) rotation.insert(rotation.end(), {stored(q.x), stored(q.y), stored(q.z), stored(q.w)});
    alive.insert(alive.end(), s.alive.begin(), s.alive.end());
  }
  const auto expect = [&](const char* name, const Shape& shape, const Numbers& values, std::size_t bytes) {
    const Dataset got(path, name);
    EXPECT_EQ(got.shape, shape) << name;
    EXPECT_EQ(got.values, values) << name;
    EXPECT_EQ(got.bytes, bytes) << name;
  };
  const std::size_t number = sizeof(Number);
  expect("/time", {kFrames}, time, 8);
  expect("/position", {kFrames, kVertices, 3}, position, number);
  expect("/velocity", {kFrames, kVertices, 3}, velocity, number);
  expect("/frame", {kFrames, kSegments, 4}, rotation, number);
  expect("/segment_alive", {kFrames, kSegments}, alive, 1);
  expect("/topology/segments", {2, 2}, {0, 1, 1, 2}, 4);
  expect("/topology/joints", {1, 2}, {0, 1}, 4);
  expect("/topology/radius", {3}, {stored(0.01), stored(0.02), stored(0.03)}, number);
  expect("/topology/rod_start", {2}, {0, 3}, 4);
  expect("/topology/rod_vertices", {3}, {0, 1, 2}, 4);
  expect("/topology/rest_length", {2}, {1, 1}, number);
  expect("/topology/joint_vertex", {1}, {1}, 4);
  expect("/topology/joint_length", {1}, {1}, number);
  expect("/topology/clamps", {1, 2}, {0, 0}, 4);
  expect("/topology/clamp_length", {1}, {1}, number);
}

TEST(FormatsTest, EveryFormatIsFoundByItsNameAndNothingElseIs) {
  for (const FormatEntry& format : formats()) EXPECT_EQ(find_format(format.name), &format);
  EXPECT_EQ(formats().size(), 12u);
  EXPECT_EQ(find_format("alembic"), nullptr);
}

TEST_F(IoTest, Hdf5HoldsEveryNumberInDoublePrecision) {
  write_run("hdf5", folder_);
  expect_trajectory<double>(folder_ / "trajectory.h5");
}

TEST_F(IoTest, Hdf5HoldsEveryNumberInSinglePrecisionAndTimeInDouble) {
  write_run("hdf5", folder_, false);
  expect_trajectory<float>(folder_ / "trajectory.h5");
}

TEST_F(IoTest, Hdf5HoldsSectionsWithJointsAndClampsApart) {
  write_run("hdf5", folder_, true, true, true);
  const fs::path path = folder_ / "trajectory.h5";
  expect_trajectory<double>(path);
  const auto expect = [&](const char* name, int section, int first, int count) {
    Numbers values;
    for (int f = 0; f < kFrames; ++f) {
      Snapshot s(f);
      const auto& list = s.with_sections().section[section];
      for (int i = first; i < first + count; ++i) values.insert(values.end(), {list[i].x, list[i].y, list[i].z});
    }
    const Dataset got(path, name);
    EXPECT_EQ(got.shape, (Shape{kFrames, hsize_t(count), 3})) << name;
    EXPECT_EQ(got.values, values) << name;
  };
  expect("/segment_force", 0, 0, 2);
  expect("/segment_strain", 1, 0, 2);
  expect("/joint_moment", 4, 0, 1);
  expect("/joint_curvature", 5, 0, 1);
  expect("/clamp_moment", 4, 1, 1);
  expect("/clamp_curvature", 5, 1, 1);
}

TEST_F(IoTest, Hdf5RefusesAFrameWithoutTheSectionsItWasPromised) {
  const auto writer = find_format("hdf5")->make(folder_);
  RunInfo info = run_info(true);
  info.sections = true;
  writer->begin(two_segments(), info);
  EXPECT_THROW(writer->write(Snapshot(0).frame), RunError);
}

TEST_F(IoTest, VtpHoldsSectionsOfLivingSegmentsOnlyWhenTheFrameHasThem) {
  write_run("vtp", folder_, true, true, true);
  const std::string last = read_text(folder_ / "paraview" / "frame_00002.vtp");
  for (const char* name : {"force", "strain", "moment", "curvature"}) {
    const std::size_t at = last.find(fmt::format("Name=\"{}\" NumberOfComponents=\"3\"", name));
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_NE(last.find(">GAAAAAAAAA", at), std::string::npos) << "24 bytes, one living segment";
  }
  write_run("vtp", folder_);
  EXPECT_EQ(read_text(folder_ / "paraview" / "frame_00002.vtp").find("Name=\"force\""), std::string::npos);
}

TEST_F(IoTest, Hdf5OfAnAbandonedRunIsComplete) {
  EXPECT_EXIT(write_run("hdf5", folder_, true, false), ::testing::ExitedWithCode(0), "");
  expect_trajectory<double>(folder_ / "trajectory.h5");
}

TEST_F(IoTest, Hdf5OfAModelWithoutSegmentsHasEmptyDatasets) {
  for (const int vertices : {0, 1}) {
    Model model;
    model.vertex_mass.assign(vertices, 1.0);
    model.vertex_radius.assign(vertices, 0.1);
    model.vertex_alive.assign(vertices, 1);
    update_topology(model);
    const auto writer = find_format("hdf5")->make(folder_);
    writer->begin(model, run_info(true));
    for (int f = 0; f < kFrames; ++f) writer->write(Snapshot(f, vertices, 0).frame);
    writer->end();
    const fs::path path = folder_ / "trajectory.h5";
    EXPECT_EQ(Dataset(path, "/position").shape, (Shape{kFrames, hsize_t(vertices), 3}));
    EXPECT_EQ(Dataset(path, "/frame").shape, (Shape{kFrames, 0, 4}));
    EXPECT_EQ(Dataset(path, "/segment_alive").shape, (Shape{kFrames, 0}));
    EXPECT_EQ(Dataset(path, "/topology/joints").shape, (Shape{0, 2}));
    EXPECT_EQ(Dataset(path, "/topology/rod_start").values, (Numbers{0}));
  }
}

TEST_F(IoTest, Hdf5RefusesAFrameOfAnotherModel) {
  const auto writer = find_format("hdf5")->make(folder_);
  writer->begin(two_segments(), run_info(true));
  EXPECT_THROW(writer->write(Snapshot(0, kVertices + 1).frame), RunError);
}

TEST_F(IoTest, ObjReadsBackTheVerySameNumbersAndSkipsBrokenSegments) {
  for (const bool double_precision : {false, true}) {
    write_run("obj", folder_, double_precision);
    for (int f = 0; f < kFrames; ++f) {
      const Snapshot expected(f);
      std::istringstream in(read_text(folder_ / "frames" / frame_file_name(f, ".obj")));
      std::string line;
      std::getline(in, line);
      EXPECT_TRUE(line.starts_with("# osier 0.1.0, frame")) << line;
      EXPECT_NE(line.find(fmt::format("time {} s", expected.frame.time)), std::string::npos) << line;
      for (const Vec3d& x : expected.position) {
        std::string key, a, b, c;
        in >> key >> a >> b >> c;
        EXPECT_EQ(key, "v");
        if (double_precision) {
          EXPECT_EQ((Numbers{std::stod(a), std::stod(b), std::stod(c)}), (Numbers{x.x, x.y, x.z}));
        } else {
          EXPECT_EQ(std::stof(a), static_cast<float>(x.x));
          EXPECT_EQ(std::stof(b), static_cast<float>(x.y));
          EXPECT_EQ(std::stof(c), static_cast<float>(x.z));
        }
      }
      std::getline(in, line);
      std::string rest{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(rest, f == 2 ? "l 1 2\n" : "l 1 2\nl 2 3\n");
    }
  }
}

TEST_F(IoTest, VtpListsLivingSegmentsAndThePvdTheTrueTimes) {
  write_run("vtp", folder_);
  const std::string last = read_text(folder_ / "paraview" / "frame_00002.vtp");
  EXPECT_NE(last.find("NumberOfPoints=\"3\" NumberOfVerts=\"0\" NumberOfLines=\"1\""), std::string::npos);
  // Eight bytes of length (8), then 0 and 1 as int32.
  EXPECT_NE(last.find("Name=\"connectivity\" NumberOfComponents=\"1\" format=\"binary\">CAAAAAAAAAAAAAAAAQAAAA==<"),
            std::string::npos);
  const std::string list = read_text(folder_ / "trajectory.pvd");
  for (int f = 0; f < kFrames; ++f)
    EXPECT_NE(list.find(fmt::format("timestep=\"{}\" file=\"paraview/frame_{:05d}.vtp\"", f / 30.0, f)), std::string::npos);
}

TEST_F(IoTest, AllFormatsShareAFolder) {
  for (const bool double_precision : {false, true})
    for (const FormatEntry& format : formats())
      write_run(format.name, folder_ / (double_precision ? "double" : "single"), double_precision);
  for (const char* name : {"trajectory.h5", "trajectory.pvd", "frames/frame_00002.obj", "paraview/frame_00002.vtp"})
    EXPECT_TRUE(fs::exists(folder_ / "double" / name)) << name;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) EXPECT_NE(entry.path().extension(), ".tmp");
}

TEST_F(IoTest, FramesOfAnEarlierLongerRunAreRemovedAndOtherFilesAreNot) {
  fs::create_directories(folder_ / "frames");
  for (const char* name : {"frame_00007.obj", "frame_00008.obj.tmp", "frame_final.obj", "frame_00007.png"})
    std::ofstream(folder_ / "frames" / name) << "old";
  write_run("obj", folder_);
  EXPECT_FALSE(fs::exists(folder_ / "frames" / "frame_00007.obj"));
  EXPECT_FALSE(fs::exists(folder_ / "frames" / "frame_00008.obj.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "frames" / "frame_final.obj"));
  EXPECT_TRUE(fs::exists(folder_ / "frames" / "frame_00007.png"));
}

TEST_F(IoTest, AFolderThatCannotBeWrittenIsNamed) {
  const fs::path file = folder_ / "a_file";  // not a permission, which would not stop root
  std::ofstream(file) << "in the way";
  for (const FormatEntry& format : formats()) {
    try {
      format.make(file)->begin(two_segments(), run_info(true));
      FAIL() << format.name << " did not notice";
    } catch (const RunError& e) {
      EXPECT_NE(std::string(e.what()).find(file.string()), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("Not a directory"), std::string::npos) << e.what();
    }
  }
}

TEST_F(IoTest, AFileThatCannotBeOpenedIsNamed) {
  fs::create_directories(folder_ / "trajectory.h5");  // a folder of that name
  try {
    find_format("hdf5")->make(folder_)->begin(two_segments(), run_info(true));
    FAIL();
  } catch (const RunError& e) {
    EXPECT_EQ(std::string(e.what()), (folder_ / "trajectory.h5").string() + ": cannot open for writing: Is a directory");
  }
}

TEST_F(IoTest, Hdf5OnAFullDiskSaysSoAndKeepsTheFramesBefore) {
  const auto fill_the_disk = [&] {
    const auto writer = find_format("hdf5")->make(folder_);
    writer->begin(two_segments(), run_info(true));
    for (int f = 0;; ++f) writer->write(Snapshot(f).frame);
  };
  EXPECT_EXIT(run_with_file_limit(500000, fill_the_disk), ::testing::ExitedWithCode(7),
              "trajectory.h5: cannot reserve .*File too large");
  const fs::path path = folder_ / "trajectory.h5";
  const Dataset time(path, "/time"), position(path, "/position");
  ASSERT_GT(time.shape.at(0), 10u);
  EXPECT_EQ(position.shape.at(0), time.shape[0]);
  const int last = static_cast<int>(time.shape[0]) - 1;
  EXPECT_EQ(time.values.back(), last / 30.0);
  EXPECT_EQ(position.values.back(), Snapshot(last).position.back().z);
}

TEST_F(IoTest, AFailedAtomicWriteLeavesTheOldFileAndNoTemporary) {
  const fs::path path = folder_ / "list.txt";
  write_file_atomically(path, "old");
  const auto write_past_the_limit = [&] { write_file_atomically(path, std::string(5000, 'x')); };
  EXPECT_EXIT(run_with_file_limit(1000, write_past_the_limit), ::testing::ExitedWithCode(7),
              "list.txt: cannot write: File too large");
  EXPECT_EQ(read_text(path), "old");
  EXPECT_FALSE(fs::exists(folder_ / "list.txt.tmp"));
}

}  // namespace
}  // namespace osier

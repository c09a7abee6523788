// A run comes back from trajectory.h5 as it was; a file that is something else is named and refused.
#include "osier/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osier/osier.hpp"
#include "support/files.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

class TrajectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_trajectory_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void record(const Scene& scene, int frames = -1) {
    RunOptions options;
    options.folder = folder_;
    options.frames = frames;
    ASSERT_EQ(run_scene(scene, options).error, "");
  }
  fs::path folder_;
};

constexpr const char* kScene = R"({
  "rods": [{"name": "bögen", "shape": {"type": "line", "from": [0,0,0], "to": [1,0,0]}, "segments": 8, "material": "soft"},
           {"name": "ring", "shape": {"type": "circle", "radius": 0.2}, "segments": 12, "material": "soft"}],
  "materials": {"soft": {"young": 1e6, "density": 1000, "radius": 0.01}},
  "constraints": [{"type": "clamp", "vertices": "bögen:start"}],
  "forces": [{"type": "gravity"}],
  "analysis": {"type": "dynamic", "duration": 0.1, "step": 0.005},
  "solver": {"name": "automatic", "precision": "double"},
  "output": {"sections": true}
})";

TEST_F(TrajectoryTest, ComesBackAsItWasWritten) {
  const Scene scene = Scene::parse(kScene, "two");
  record(scene);
  Trajectory trajectory = Trajectory::open(folder_);
  EXPECT_EQ(trajectory.name(), "two");
  EXPECT_TRUE(trajectory.double_precision());
  EXPECT_TRUE(trajectory.has_sections());
  const Model &read = trajectory.model(), &written = scene.model();
  EXPECT_EQ(read.segment_vertices, written.segment_vertices);
  EXPECT_EQ(read.vertex_radius, written.vertex_radius);
  EXPECT_EQ(read.segment_rest_length, written.segment_rest_length);
  EXPECT_EQ(read.joint_count(), written.joint_count());
  ASSERT_EQ(read.rods.size(), 2U);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(read.rods[r].name, written.rods[r].name);
    EXPECT_EQ(read.rods[r].vertices, written.rods[r].vertices);
    EXPECT_EQ(read.rods[r].segments, written.rods[r].segments);
    EXPECT_EQ(read.rods[r].closed, written.rods[r].closed);
  }
  Simulation again(scene);
  ASSERT_EQ(trajectory.frame_count(), again.frame_count() + 1);
  for (int f = 0; f < trajectory.frame_count(); ++f) {
    if (f > 0) again.advance_frame();
    const Frame a = trajectory.read(f), b = again.frame(f);
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(trajectory.time(f), b.time);
    for (std::size_t v = 0; v < b.vertex_position.size(); ++v) {
      EXPECT_EQ(a.vertex_position[v].y, b.vertex_position[v].y);
      EXPECT_EQ(a.vertex_velocity[v].y, b.vertex_velocity[v].y);
    }
    for (std::size_t s = 0; s < b.segment_frame.size(); ++s) {
      EXPECT_EQ(a.segment_frame[s].w, b.segment_frame[s].w);
      EXPECT_EQ(a.segment_force[s].x, b.segment_force[s].x);
    }
  }
  EXPECT_THROW(trajectory.read(trajectory.frame_count()), RunError);
}

TEST_F(TrajectoryTest, ReadsThePiecesThatAreAskedForAndNoOthers) {
  record(Scene::parse(kScene, "two"), 3);
  Trajectory whole = Trajectory::open(folder_), parts = Trajectory::open(folder_);
  const Frame a = whole.read(2);
  ASSERT_FALSE(a.joint_moment.empty());
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  };
  const Frame bare = parts.read(2, {.velocity = false, .orientation = false, .moment = false, .sections = false});
  EXPECT_TRUE(same(bare.vertex_position, a.vertex_position));
  EXPECT_TRUE(same(bare.segment_alive, a.segment_alive));
  EXPECT_TRUE(bare.vertex_velocity.empty() && bare.segment_frame.empty() && bare.joint_moment.empty() &&
              bare.segment_force.empty() && bare.segment_strain.empty() && bare.joint_curvature.empty());
  ASSERT_TRUE(bare.report);
  const Frame shown = parts.read(2, {.velocity = false, .sections = false});
  EXPECT_TRUE(same(shown.segment_frame, a.segment_frame) && same(shown.joint_moment, a.joint_moment));
  EXPECT_TRUE(shown.vertex_velocity.empty() && shown.segment_force.empty());
}

/// A frame with so many contacts, each with numbers of its own.
std::vector<ContactPoint> contacts_of(int count, int frame) {
  std::vector<ContactPoint> list;
  for (int i = 0; i < count; ++i) {
    const double x = frame + 0.001 * i;
    list.push_back(
        {{x, 2 * x, 3 * x}, i % 8, i % 3 == 0 ? -1 : 8 + i % 12, -0.25 * x, {4 * x, 5 * x, 6 * x}, {7 * x, 8 * x, 9 * x}});
  }
  return list;
}

TEST_F(TrajectoryTest, ContactsComeBackHoweverManyAFrameHas) {
  const Scene scene = Scene::parse(kScene, "two");
  Simulation s(scene);
  RunInfo info;
  info.scene_name = "two", info.scene_json = "{}", info.contacts = true;
  info.obstacles = {{.name = "floor", .points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, .triangles = {{0, 1, 2}}}};
  const std::vector<int> counts{0, 3, 0, 700, 256, 1};
  {
    const auto writer = find_format("hdf5")->make(folder_);
    writer->begin(s.model(), info);
    for (std::size_t f = 0; f < counts.size(); ++f) {
      Frame frame = s.frame(static_cast<int>(f));
      frame.time = 0.1 * static_cast<double>(f);
      const std::vector<ContactPoint> list = contacts_of(counts[f], static_cast<int>(f));
      frame.contacts = list;
      writer->write(frame);
    }
    writer->end();
  }
  Trajectory trajectory = Trajectory::open(folder_);
  EXPECT_TRUE(trajectory.info().contacts);
  for (const std::size_t f : {3U, 0U, 5U, 2U, 4U, 1U}) {
    const Frame frame = trajectory.read(static_cast<int>(f));
    const std::vector<ContactPoint> expected = contacts_of(counts[f], static_cast<int>(f));
    ASSERT_EQ(frame.contacts.size(), expected.size()) << f;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const ContactPoint &a = frame.contacts[i], &b = expected[i];
      EXPECT_TRUE(a.a == b.a && a.b == b.b && a.gap == b.gap && a.position.z == b.position.z &&
                  a.normal_force.y == b.normal_force.y && a.friction_force.x == b.friction_force.x)
          << f << ", " << i;
    }
    EXPECT_TRUE(trajectory.read(static_cast<int>(f), {.contacts = false}).contacts.empty());
  }
}

TEST_F(TrajectoryTest, AContactOfASegmentThatIsNotThereIsDamage) {
  Simulation s(Scene::parse(kScene, "two"));
  RunInfo info;
  info.scene_name = "two", info.scene_json = "{}", info.contacts = true;
  const auto writer = find_format("hdf5")->make(folder_);
  writer->begin(s.model(), info);
  Frame frame = s.frame(0);
  const std::vector<ContactPoint> list{{{}, 0, -1, 0, {}, {}}};  // there is no obstacle
  frame.contacts = list;
  writer->write(frame);
  writer->end();
  EXPECT_THROW(Trajectory::open(folder_).read(0), RunError);
}

/// Rods of two materials, one of them tapered, a stretch of another, and a net that has no material of the scene.
constexpr const char* kMixed = R"({
  "rods": [{"name": "a", "shape": {"type": "helix", "radius": 0.1, "pitch": 0.05, "turns": 2}, "segments": 12,
            "material": "steel", "taper": {"keys": [[0, 1], [1, 0.5]]},
            "segment_materials": [{"first": 2, "last": 4, "material": "rubber"}]}],
  "structures": [{"type": "net", "name": "web", "nx": 2, "ny": 2, "bend_twist": 0.25, "stretch_shear": 40}],
  "materials": {"steel": {"young": 2e9, "poisson": 0.3, "density": 7800, "radius": 0.002},
                "rubber": {"young": 1e6, "poisson": 0.45, "density": 1100, "radius": 0.004}},
  "constraints": [{"type": "clamp", "vertices": "a:start"}],
  "forces": [{"type": "gravity"}],
  "analysis": {"type": "dynamic", "duration": 0.1, "step": 0.005},
  "solver": {"name": "automatic", "precision": "double"}
})";

TEST_F(TrajectoryTest, KnowsWhatEverySegmentIsMadeOf) {
  const Scene scene = Scene::parse(kMixed, "mixed");
  record(scene, 1);
  const Trajectory trajectory = Trajectory::open(folder_);
  const RunInfo& info = trajectory.info();
  ASSERT_EQ(info.materials, (std::vector<std::string>{"steel", "rubber", "web"}));
  ASSERT_EQ(info.segment_material.size(), static_cast<std::size_t>(scene.model().segment_count()));
  for (std::size_t s = 0; s < info.segment_material.size(); ++s)
    EXPECT_EQ(info.segment_material[s], s >= 12 ? 2 : s >= 2 && s <= 4 ? 1 : 0) << "segment " << s;
  // The same ranges as `osier info` prints.
  const auto described = nlohmann::json::parse(scene_info_json(scene))["materials"];
  const char* keys[] = {"EA", "GA1", "GA2", "EI1", "EI2", "GJ"};
  ASSERT_EQ(described.size(), 2U);
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_DOUBLE_EQ(info.material_stiffness[m].low[k], described[m][keys[k]]["min"].get<double>()) << keys[k];
      EXPECT_DOUBLE_EQ(info.material_stiffness[m].high[k], described[m][keys[k]]["max"].get<double>()) << keys[k];
    }
  EXPECT_NEAR(info.material_stiffness[2].high[0], 40, 1e-9);
  EXPECT_NEAR(info.material_stiffness[2].low[3], 0.25, 1e-12);
}

TEST_F(TrajectoryTest, KnowsTheRestShapeAndStiffnessOfTheModel) {
  const Scene scene = Scene::parse(kMixed, "mixed");
  record(scene, 1);
  const Trajectory trajectory = Trajectory::open(folder_);
  ASSERT_TRUE(trajectory.has_rest());
  const Model &read = trajectory.model(), &written = scene.model();
  EXPECT_EQ(read.vertex_mass, written.vertex_mass);
  for (std::size_t s = 0; s < written.segment_stiffness.size(); ++s)
    EXPECT_NEAR(read.segment_stiffness[s].d3, written.segment_stiffness[s].d3, 1e-12 * written.segment_stiffness[s].d3);
  // Joints of clamps come last in a file.
  std::vector<Index> order;
  for (const bool clamp : {false, true})
    for (Index j = 0; j < written.joint_count(); ++j)
      if ((written.joint_is_clamp[j] != 0) == clamp) order.push_back(j);
  double most_bent = 0;
  for (std::size_t j = 0; j < order.size(); ++j) {
    const Quatd &a = read.joint_rest_rotation[j], &b = written.joint_rest_rotation[order[j]];
    EXPECT_EQ(a.x, b.x);
    EXPECT_EQ(a.y, b.y);
    EXPECT_EQ(a.z, b.z);
    EXPECT_EQ(a.w, b.w);
    most_bent = std::max(most_bent, std::abs(b.x) + std::abs(b.y));
    EXPECT_NEAR(read.joint_stiffness[j].d1, written.joint_stiffness[order[j]].d1, 1e-12 * written.joint_stiffness[order[j]].d1);
  }
  EXPECT_GT(most_bent, 0.1);  // a helix is not straight
}

TEST_F(TrajectoryTest, KnowsEnergyResidualAndWorkOfEveryFrame) {
  const Scene scene = Scene::parse(kScene, "two");
  record(scene);
  Trajectory trajectory = Trajectory::open(folder_);
  const std::vector<FrameReport> reports = trajectory.reports();
  ASSERT_EQ(reports.size(), static_cast<std::size_t>(trajectory.frame_count()));
  Simulation again(scene);
  EXPECT_EQ(reports[0].iterations, 0);
  EXPECT_LT(reports[0].residual_relative, 0);  // no step yet
  for (int f = 1; f < trajectory.frame_count(); ++f) {
    int iterations = 0;
    for (int i = 0; i < again.steps_per_frame(); ++i) iterations += again.step(i + 1 == again.steps_per_frame()).iterations;
    const Diagnostics d = again.diagnostics();
    const FrameReport& r = reports[static_cast<std::size_t>(f)];
    EXPECT_EQ(r.kinetic, d.kinetic);
    EXPECT_EQ(r.stretch_shear, d.stretch_shear);
    EXPECT_EQ(r.bend_twist, d.bend_twist);
    EXPECT_EQ(r.external, d.external);
    EXPECT_EQ(r.residual_relative, d.residual_relative);
    EXPECT_EQ(r.iterations, iterations);
    EXPECT_GT(r.compute_ms, 0);
    EXPECT_EQ(trajectory.read(f).report->kinetic, r.kinetic);
  }
}

/// As files looked before these datasets existed.
TEST_F(TrajectoryTest, ReadsFilesWithoutMaterialsRestAndReports) {
  record(Scene::parse(kMixed, "mixed"), 2);
  const fs::path path = folder_ / "trajectory.h5";
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  for (const char* name :
       {"/energy", "/residual_relative", "/iterations", "/compute_ms", "/topology/material_names", "/topology/segment_material",
        "/topology/material_stiffness", "/topology/mass", "/topology/segment_stiffness", "/topology/joint_stiffness",
        "/topology/joint_rest_rotation", "/topology/clamp_stiffness", "/topology/clamp_rest_rotation"})
    EXPECT_GE(H5Ldelete(file, name, H5P_DEFAULT), 0) << name;
  H5Fclose(file);
  Trajectory trajectory = Trajectory::open(path);
  EXPECT_FALSE(trajectory.has_rest());
  EXPECT_TRUE(trajectory.info().segment_material.empty());
  EXPECT_TRUE(trajectory.reports().empty());
  EXPECT_FALSE(trajectory.read(1).report);
  EXPECT_EQ(trajectory.frame_count(), 3);
}

TEST_F(TrajectoryTest, RefusesAMaterialThatIsNotThere) {
  record(Scene::parse(kMixed, "mixed"), 1);
  const fs::path path = folder_ / "trajectory.h5";
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "/topology/segment_material", H5P_DEFAULT);
  const std::vector<int> wrong(static_cast<std::size_t>(Scene::parse(kMixed, "mixed").model().segment_count()), 7);
  EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong.data()), 0);
  H5Dclose(dataset), H5Fclose(file);
  EXPECT_THROW(Trajectory::open(path), InputError);
}

TEST_F(TrajectoryTest, RefusesWhatIsNotATrajectory) {
  EXPECT_THROW(Trajectory::open(folder_), InputError);  // no file in it
  const fs::path text = folder_ / "trajectory.h5";
  std::ofstream(text) << "not HDF5";
  EXPECT_THROW(Trajectory::open(text), InputError);
}

/// Every cut of a good file either opens (its tail was not needed) or is refused; nothing else may happen.
TEST_F(TrajectoryTest, SurvivesCutFiles) {
  record(Scene::parse(kScene, "two"), 2);
  const fs::path whole = folder_ / "trajectory.h5", cut = folder_ / "cut.h5";
  const std::uintmax_t size = fs::file_size(whole);
  int refused = 0;
  for (int part = 0; part < 40; ++part) {
    fs::copy_file(whole, cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, size * static_cast<std::uintmax_t>(part) / 40);
    try {
      Trajectory trajectory = Trajectory::open(cut);
      for (int f = 0; f < trajectory.frame_count(); ++f) trajectory.read(f);
    } catch (const InputError&) {
      ++refused;
    } catch (const RunError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

/// Turns the text of a file into strings of variable length, as earlier versions wrote them.
void write_as_variable_strings(const fs::path& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t variable = H5Tcopy(H5T_C_S1);
  H5Tset_size(variable, H5T_VARIABLE), H5Tset_cset(variable, H5T_CSET_UTF8);
  for (const char* name : {"/scene", "/topology/rod_names", "/topology/material_names"}) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset), fixed = H5Dget_type(dataset);
    ASSERT_FALSE(H5Tis_variable_str(fixed)) << name << ": a damaged heap costs all strings";
    const std::size_t each = H5Tget_size(fixed), count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
    std::string all(each * count, '\0');
    ASSERT_GE(H5Dread(dataset, fixed, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), 0);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.emplace_back(all.substr(i * each, each).c_str());
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    H5Dclose(dataset);
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t again = H5Dcreate2(file, name, variable, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(again, variable, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), 0);
    H5Dclose(again), H5Sclose(space), H5Tclose(fixed);
  }
  H5Tclose(variable), H5Fclose(file);
}

TEST_F(TrajectoryTest, ReadsTextOfVariableLengthAsEarlierVersionsWroteIt) {
  record(Scene::parse(kMixed, "mixed"), 1);
  const fs::path path = folder_ / "trajectory.h5";
  const Trajectory fixed = Trajectory::open(path);
  fs::copy_file(path, folder_ / "old.h5");
  write_as_variable_strings(folder_ / "old.h5");
  const Trajectory old = Trajectory::open(folder_ / "old.h5");
  EXPECT_EQ(old.name(), "mixed");
  EXPECT_EQ(old.scene_json(), fixed.scene_json());
  EXPECT_EQ(old.info().materials, fixed.info().materials);
  EXPECT_EQ(old.info().version, fixed.info().version);
  ASSERT_EQ(old.model().rods.size(), fixed.model().rods.size());
  for (std::size_t r = 0; r < old.model().rods.size(); ++r) EXPECT_EQ(old.model().rods[r].name, fixed.model().rods[r].name);
}

/// Opens and reads everything; whether it was good or refused makes no difference.
bool read_everything(const fs::path& path) {
  try {
    Trajectory trajectory = Trajectory::open(path);
    for (int f = 0; f < std::min(trajectory.frame_count(), 5); ++f) trajectory.read(f);
    trajectory.reports();
    return true;
  } catch (const InputError&) {
  } catch (const RunError&) {
  }
  return false;
}

/// A process may take only this much more memory than it has; a crash, or more, is a failure of the child that reads.
void expect_reads_within(const fs::path& path, const std::vector<std::string>& damaged, rlim_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit limit{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes, RLIM_INFINITY};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these reserve terabytes
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)limit;
#endif
    int bad = 0;
    for (const std::string& text : damaged) {
      std::ofstream(path, std::ios::binary) << text;
      try {
        read_everything(path);
      } catch (const std::bad_alloc&) {
        bad = 1;
      }
    }
    _exit(bad);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "crashed with signal " << WTERMSIG(status);
  if (!WIFEXITED(status)) return;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "took more memory than a file of this size can need";
}

TEST_F(TrajectoryTest, SurvivesDamagedBytes) {
  record(Scene::parse(kMixed, "mixed"), 2);
  const fs::path path = folder_ / "trajectory.h5", old = folder_ / "old.h5";
  fs::copy_file(path, old);
  write_as_variable_strings(old);
  std::mt19937 random(7);
  const int batches = std::getenv("OSIER_LONG") ? 10 : 2;
  for (const fs::path& file : {path, old}) {
    ASSERT_TRUE(read_everything(file));
    const std::string good = test::read_text(file);
    for (int batch = 0; batch < batches; ++batch) {
      std::vector<std::string> damaged;
      for (int i = 0; i < 60; ++i) {
        std::string text = good;
        // Most of a small file is tables; those of the root and its text lie at the ends.
        for (unsigned n = 1 + random() % 4; n > 0; --n) {
          const std::size_t at = random() % 3 == 0 ? random() % 4096 : random() % text.size();
          const unsigned char values[] = {0xFF, 0x00, 0x7F, static_cast<unsigned char>(random())};
          const std::size_t run = random() % 5 == 0 ? 8 : 1;
          for (std::size_t k = at; k < std::min(at + run, text.size()); ++k) text[k] = static_cast<char>(values[random() % 4]);
        }
        damaged.push_back(std::move(text));
      }
      expect_reads_within(folder_ / "damaged.h5", damaged, rlim_t{256} << 20);
    }
  }
}

/// Finds where a number stands in a file, and puts another one there.
std::vector<std::string> with_number_replaced(const std::string& good, std::uint64_t is, std::uint64_t becomes,
                                              std::size_t bytes) {
  std::vector<std::string> list;
  const std::string wanted(reinterpret_cast<const char*>(&is), bytes), put(reinterpret_cast<const char*>(&becomes), bytes);
  for (std::size_t at = good.find(wanted); at != std::string::npos; at = good.find(wanted, at + 1))
    list.push_back(std::string(good).replace(at, bytes, put));
  return list;
}

/// Sizes of chunks and counts of elements that are far beyond the file: nothing is taken for them.
TEST_F(TrajectoryTest, TakesNoRoomForSizesThatTheFileOnlyClaims) {
  const Scene scene = Scene::parse(kMixed, "mixed");
  record(scene, 1);
  const std::string good = test::read_text(folder_ / "trajectory.h5");
  const auto vertices = static_cast<std::uint64_t>(scene.model().vertex_count()),
             segments = static_cast<std::uint64_t>(scene.model().segment_count());
  for (const std::uint64_t n : {vertices, segments}) {
    std::vector<std::string> damaged = with_number_replaced(good, n, 500'000'000, 4);
    for (std::string& text : with_number_replaced(good, n, std::uint64_t{1} << 40, 8)) damaged.push_back(std::move(text));
    EXPECT_GT(damaged.size(), 10U);
    expect_reads_within(folder_ / "damaged.h5", damaged, rlim_t{256} << 20);
  }
}

TEST_F(TrajectoryTest, DoesNotReadNumbersFromOtherFiles) {
  record(Scene::parse(kScene, "two"), 1);
  const fs::path path = folder_ / "trajectory.h5", other = folder_ / "other.bin";
  const std::size_t vertices = Trajectory::open(path).model().vertex_radius.size();
  std::ofstream(other, std::ios::binary) << std::string(8 * vertices, '\0');
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Ldelete(file, "/topology/radius", H5P_DEFAULT);
  const hsize_t size = vertices;
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  ASSERT_GE(H5Pset_external(creation, other.c_str(), 0, 8 * size), 0);
  const hid_t dataset = H5Dcreate2(file, "/topology/radius", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  H5Dclose(dataset), H5Sclose(space), H5Pclose(creation), H5Fclose(file);
  EXPECT_THROW(Trajectory::open(path), InputError);
}

}  // namespace
}  // namespace osier

// Curve formats that hold time: complete after every frame, and the same whether they were split or not.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "io/curve_writer.hpp"
#include "osier/curves.hpp"
#include "osier/error.hpp"
#include "support/files.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;
using test::read_text;

constexpr int kFrames = 9;

/// An open curve and a closed one that move; in the second half, when asked, the open one is in two pieces.
CurveFrame moment(int index, bool breaks = false) {
  CurveFrame f;
  f.index = index, f.time = index / 25.0;
  for (int i = 0; i < 9; ++i) {
    f.curves.points.push_back({i + 0.1 * index, std::sin(0.7 * i + index), 1.0 / (1 + i)});
    f.curves.widths.push_back(0.01 * (1 + i));
    f.normals.push_back({0, std::cos(0.1 * index), std::sin(0.1 * index)});
  }
  f.curves.start = {0, 5, 9}, f.curves.closed = {0, 1}, f.curves.names = {"a", "b"}, f.curves.ids = {0, 1};
  if (breaks && index > kFrames / 2)
    f.curves.start = {0, 2, 5, 9}, f.curves.closed = {0, 0, 1}, f.curves.names = {"a", "a", "b"}, f.curves.ids = {0, 0, 1};
  return f;
}

class CurveWritersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_writers_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<CurveWriter> make(const std::string& name, const CurveWriteOptions& options = {}) {
    return find_curve_output(fs::path(name).extension().string())->make(WriteTarget::at(folder_ / name), options);
  }

  static void expect_curves(const CurveSet& got, const CurveSet& expected) {
    EXPECT_EQ(got.start, expected.start);
    EXPECT_EQ(got.closed, expected.closed);
    EXPECT_EQ(got.names, expected.names);
    ASSERT_EQ(got.points.size(), expected.points.size());
    for (std::size_t p = 0; p < got.points.size(); ++p) EXPECT_NEAR(got.points[p].y, expected.points[p].y, 1e-6) << p;
  }

  fs::path folder_;
};

TEST_F(CurveWritersTest, UsdIsCompleteAfterEveryFrameAndKnowsTheBreak) {
  const auto writer = make("run.usda");
  for (int f = 0; f < kFrames; ++f) {
    writer->write(moment(f, true));
    if (f == 0) expect_curves(read_curves(folder_ / "run.usda"), moment(0, true).curves);
    for (int g = 0; f > 0 && g <= f; ++g)
      expect_curves(read_curves(folder_ / "run.usda", {.frame = g, .time = {}}), moment(g, true).curves);
  }
}

TEST_F(CurveWritersTest, UsdClipsAreJoinedAtTheEndUnlessTheyAreTooLarge) {
  CurveWriteOptions small;
  small.chunk_bytes = 2000;
  for (const bool joined : {true, false}) {
    small.split_bytes = joined ? 1'000'000 : 100;
    const auto writer = make("run.usda", small);
    for (int f = 0; f < kFrames; ++f) writer->write(moment(f, true));
    EXPECT_TRUE(fs::exists(folder_ / "run_clips" / "clip_00001.usda"));
    const std::string stage = read_text(folder_ / "run.usda");
    EXPECT_NE(stage.find("manifestAssetPath = @./run_clips/manifest.usda@"), std::string::npos);
    writer->end();
    EXPECT_EQ(fs::exists(folder_ / "run_clips"), !joined);
    EXPECT_EQ(read_text(folder_ / "run.usda").find("int[] curveVertexCounts = [4]") != std::string::npos, joined)
        << "the ring's never changes";
    for (int f = 0; f < kFrames; ++f)
      expect_curves(read_curves(folder_ / "run.usda", {.frame = f, .time = {}}), moment(f, true).curves);
    EXPECT_THROW(read_curves(folder_ / "run.usda", {.frame = kFrames, .time = {}}), InputError);
    // Between frames too, whether or not a clip ends there.
    const CurveSet between = read_curves(folder_ / "run.usda", {.frame = {}, .time = 3.75});
    for (std::size_t p = 0; p < between.points.size(); ++p)
      EXPECT_NEAR(between.points[p].y, 0.25 * moment(3).curves.points[p].y + 0.75 * moment(4).curves.points[p].y, 1e-6);
  }
  const auto writer = make("run.usda", small);
  for (int f = 0; f < kFrames; ++f) writer->write(moment(f));
  writer->discard();
  EXPECT_FALSE(fs::exists(folder_ / "run.usda"));
  EXPECT_FALSE(fs::exists(folder_ / "run_clips"));
}

/// Three contacts in even frames and one in odd ones.
CurveFrame touching(int index) {
  CurveFrame f = moment(index);
  for (int i = 0; i < (index % 2 == 0 ? 3 : 1); ++i)
    f.contacts.push_back({{0.5 + i, 0.25, 0.125}, i, -1, -0.0625, {0, 2.0 + i, 0}, {0.75, 0, 0}});
  return f;
}

TEST_F(CurveWritersTest, UsdTellsWhatTouchesAsPointsWithForces) {
  CurveWriteOptions options;
  options.contacts = true;
  const auto writer = make("touching.usda", options);
  for (int i = 0; i < 2; ++i) writer->write(touching(i));
  writer->end();
  const std::string text = read_text(folder_ / "touching.usda");
  const std::string points = text.substr(text.find("def Points \"contacts\""));
  EXPECT_NE(points.find("point3f[] points.timeSamples"), std::string::npos);
  EXPECT_NE(points.find("0: [(0.5, 0.25, 0.125), (1.5, 0.25, 0.125), (2.5, 0.25, 0.125)]"), std::string::npos);
  EXPECT_NE(points.find("1: [(0.5, 0.25, 0.125)]"), std::string::npos);
  EXPECT_NE(points.find("vector3f[] primvars:osier:normal_force"), std::string::npos);
  EXPECT_NE(points.find("[(0, 2, 0), (0, 3, 0), (0, 4, 0)]"), std::string::npos);
  EXPECT_NE(points.find("int2[] primvars:osier:segments"), std::string::npos);
  EXPECT_NE(points.find("[(0, -1), (1, -1), (2, -1)]"), std::string::npos);
  const auto plain = make("plain.usda");
  plain->write(touching(0));
  plain->end();
  EXPECT_EQ(read_text(folder_ / "plain.usda").find("Points"), std::string::npos);
}

TEST_F(CurveWritersTest, GltfTellsWhatTouchesWhileItTouches) {
  CurveWriteOptions options;
  options.contacts = true;
  const auto writer = make("touching.gltf", options);
  for (int i = 0; i < 3; ++i) writer->write(touching(i));
  writer->end();
  const nlohmann::json file = nlohmann::json::parse(read_text(folder_ / "touching.gltf"));
  int frames = 0;
  for (const auto& node : file["nodes"]) {
    if (!node["name"].get<std::string>().starts_with("contacts")) continue;
    const auto& mesh = file["meshes"][node["mesh"].get<std::size_t>()];
    const auto& primitive = mesh["primitives"][0];
    EXPECT_EQ(primitive["mode"], 0);
    for (const char* name : {"POSITION", "_NORMAL_FORCE", "_FRICTION_FORCE", "_GAP", "_SEGMENTS"})
      EXPECT_EQ(file["accessors"][primitive["attributes"][name].get<std::size_t>()]["count"], frames % 2 == 0 ? 3 : 1) << name;
    EXPECT_EQ(mesh["extras"]["frame"], frames);
    EXPECT_EQ(node.contains("scale"), frames > 0) << "only those of the first frame are there at the start";
    ++frames;
  }
  EXPECT_EQ(frames, 3);
  int switched = 0;
  const auto& animation = file["animations"][0];
  for (const auto& channel : animation["channels"]) {
    if (channel["target"]["path"] != "scale") continue;
    const auto& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
    EXPECT_EQ(sampler["interpolation"], "STEP");
    const std::size_t node = channel["target"]["node"];
    EXPECT_EQ(file["nodes"][node]["name"], fmt::format("contacts {}", switched));
    EXPECT_EQ(file["accessors"][sampler["input"].get<std::size_t>()]["count"], switched == 1 ? 3 : 2);
    ++switched;
  }
  EXPECT_EQ(switched, 3);
}

TEST_F(CurveWritersTest, ValuesThatStayTheSameAreWrittenOnce) {
  const auto writer = make("run.usda");
  for (int f = 0; f < kFrames; ++f) writer->write(moment(f));
  const std::string text = read_text(folder_ / "run.usda");
  EXPECT_NE(text.find("float[] widths = ["), std::string::npos);
  EXPECT_EQ(text.find("widths.timeSamples"), std::string::npos);
  EXPECT_NE(text.find("points.timeSamples"), std::string::npos);
  EXPECT_NE(text.find("timeCodesPerSecond = 25"), std::string::npos);
}

TEST_F(CurveWritersTest, TheTableAndThePointCacheAreCompleteAfterEveryFrame) {
  const auto table = make("run.csv"), cache = make("run.pc2");
  for (int f = 0; f < kFrames; ++f) {
    table->write(moment(f));
    cache->write(moment(f));
    expect_curves(read_curves(folder_ / "run.csv", {.frame = f, .time = {}}), moment(f).curves);
    const std::string bytes = read_text(folder_ / "run.pc2");
    std::int32_t points = 0, samples = 0;
    float last = 0;
    std::memcpy(&points, bytes.data() + 16, 4);
    std::memcpy(&samples, bytes.data() + 28, 4);
    ASSERT_EQ(bytes.size(), 32U + static_cast<std::size_t>(samples) * 9 * 12);
    std::memcpy(&last, bytes.data() + bytes.size() - 8, 4);
    EXPECT_EQ(points, 9);
    EXPECT_EQ(samples, f + 1);
    EXPECT_EQ(last, static_cast<float>(moment(f).curves.points[8].y));
  }
  expect_curves(read_curves(folder_ / "run.obj"), moment(0).curves);
}

TEST_F(CurveWritersTest, NumpyArraysAreFilesOfTheirOwnUntilTheEnd) {
  const auto writer = make("run.npz");
  for (int f = 0; f < kFrames; ++f) {
    writer->write(moment(f));
    const std::string part = read_text(folder_ / "run.npz.parts" / "position.npy");
    EXPECT_EQ(part.substr(1, 5), "NUMPY");
    EXPECT_NE(part.find(fmt::format("'shape': ({},9,3,)", f + 1)), std::string::npos);
    EXPECT_EQ(part.size(), 128U + static_cast<std::size_t>(f + 1) * 9 * 24);
  }
  writer->end();
  EXPECT_FALSE(fs::exists(folder_ / "run.npz.parts"));
  EXPECT_EQ(read_text(folder_ / "run.npz").substr(0, 2), "PK");
}

TEST_F(CurveWritersTest, FormatsThatCannotChangeTheirCurvesSayWhichFrameDid) {
  for (const char* name : {"run.pc2", "run.npz", "run.glb"}) {
    const auto writer = make(name);
    try {
      for (int f = 0; f < kFrames; ++f) writer->write(moment(f, true));
      FAIL() << name;
    } catch (const RunError& e) {
      EXPECT_NE(std::string(e.what()).find("frame 5 has other curves"), std::string::npos) << e.what();
    }
    writer->discard();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(CurveWritersTest, AnUpAxisOtherThanYIsSaidWhereTheFormatCan) {
  CurveWriteOptions options;
  options.up = 'z', options.per_frame = true;
  for (const char* extension : {".usda", ".bcc"}) {
    const auto writer = make(std::string("up") + extension, options);
    writer->write(moment(0));
    const CurveSet back = read_curves(folder_ / (std::string("up_00000") + extension));
    EXPECT_EQ(back.up, UpAxis::z) << extension;
    EXPECT_NEAR(back.points[1].y, moment(0).curves.points[1].z, 1e-6) << extension;
  }
}

}  // namespace
}  // namespace osier

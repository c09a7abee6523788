// Value clips and sublayers of USD: the values that usd-core gives for the same files, and files that must not be opened.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "osier/curves.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

class UsdaClipsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_clips_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "c");
    write("c/0.usda", in_clip("0: [(0,0,0)], 1: [(0,10,0)]"));
    write("c/1.usda", in_clip("3: [(0,30,0)], 4: [(0,40,0)]"));
    write("c/manifest.usda", "#usda 1.0\nover \"R\"\n{\nover \"o\"\n{\npoint3f[] points\n}\n}\n");
    topology("point3f[] points");
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string in_clip(const std::string& samples) {
    return "#usda 1.0\nover \"R\"\n{\nover \"o\"\n{\npoint3f[] points.timeSamples = { " + samples + " }\n}\n}\n";
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  void topology(const std::string& points) const {
    write("c/topology.usda",
          "#usda 1.0\ndef Xform \"R\"\n{\ndef BasisCurves \"o\"\n{\nuniform token type = \"linear\"\n"
          "int[] curveVertexCounts = [1]\n" +
              points + "\n}\n}\n");
  }

  struct Clips {
    std::string times = "double2[] times = [(0, 0), (10, 10)]", active = "[(0, 0), (2.5, 1)]", body = {},
                files = "@./c/0.usda@, @./c/1.usda@", manifest = "asset manifestAssetPath = @./c/manifest.usda@",
                sublayer = "@./c/topology.usda@";
  };
  void stage(const Clips& c) const {
    write("stage.usda", "#usda 1.0\n(\nmetersPerUnit = 1\nsubLayers = [" + c.sublayer +
                            "]\n)\nover \"R\" (\nclips = {\ndictionary default = {\ndouble2[] active = " + c.active +
                            "\nasset[] assetPaths = [" + c.files + "]\n" + c.manifest + "\nstring primPath = \"/R\"\n" + c.times +
                            "\n}\n}\n)\n{\n" + c.body + "\n}\n");
  }
  double y_at(double time) const { return read_curves(folder_ / "stage.usda", {.frame = {}, .time = time}).points.at(0).y; }
  void expect_complaint(const std::string& words) const {
    try {
      read_curves(folder_ / "stage.usda");
      ADD_FAILURE() << "read without complaint";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_FALSE(error.problems()[0].remedy.empty());
    }
  }

  fs::path folder_;
};

TEST_F(UsdaClipsTest, ValuesAreThoseOfUsdCore) {
  stage({});
  EXPECT_NEAR(y_at(0), 0, 1e-12);
  EXPECT_NEAR(y_at(0.5), 5, 1e-12);
  EXPECT_NEAR(y_at(1), 10, 1e-12);
  EXPECT_NEAR(y_at(2), 10 + 20 / 1.5, 1e-12) << "between the last sample of one clip and the start of the next";
  EXPECT_NEAR(y_at(2.5), 30, 1e-12);
  EXPECT_NEAR(y_at(3.5), 35, 1e-12);
  EXPECT_NEAR(y_at(5), 40, 1e-12);
}

TEST_F(UsdaClipsTest, FramesAreCountedThroughAllClips) {
  stage({.times = "double2[] times = [(0, 0), (4, 4)]", .active = "[(0, 0), (3, 1)]"});
  const double expected[] = {0, 10, 30, 40};
  for (int f = 0; f < 4; ++f)
    EXPECT_EQ(read_curves(folder_ / "stage.usda", {.frame = f, .time = {}}).points.at(0).y, expected[f]) << f;
  EXPECT_EQ(read_curves(folder_ / "stage.usda", {.frame = -1, .time = {}}).points.at(0).y, 40);
  EXPECT_THROW(read_curves(folder_ / "stage.usda", {.frame = 4, .time = {}}), InputError);
}

TEST_F(UsdaClipsTest, ClipsAreStrongerThanSublayersAndWeakerThanTheFileThatNamesThem) {
  topology("point3f[] points = [(0, 7, 0)]");
  stage({});
  EXPECT_NEAR(y_at(1), 10, 1e-12);
  topology("point3f[] points.timeSamples = { 0: [(0, 7, 0)] }");
  EXPECT_NEAR(y_at(1), 10, 1e-12);
  stage({.body = "over \"o\"\n{\npoint3f[] points = [(0, 8, 0)]\n}\n"});
  EXPECT_EQ(read_curves(folder_ / "stage.usda").points.at(0).y, 8);
}

TEST_F(UsdaClipsTest, TimesMoveStretchAndRepeatAClip) {
  stage({.times = "double2[] times = [(100, 0), (104, 4)]", .active = "[(100, 0), (102.5, 1)]"});
  EXPECT_NEAR(y_at(100.5), 5, 1e-12);
  EXPECT_NEAR(y_at(103.5), 35, 1e-12);
  stage({.times = "double2[] times = [(0, 0), (4, 1)]", .active = "[(0, 0)]"});
  EXPECT_NEAR(y_at(2), 5, 1e-12);
  stage({.times = "double2[] times = [(0, 0), (1, 1), (1, 0), (2, 1)]", .active = "[(0, 0)]"});
  EXPECT_NEAR(y_at(0.5), 5, 1e-12);
  EXPECT_NEAR(y_at(1), 0, 1e-12);
  EXPECT_NEAR(y_at(1.5), 5, 1e-12);
  EXPECT_NEAR(y_at(2), 10, 1e-12);
  stage({.times = ""});
  EXPECT_NEAR(y_at(3.5), 35, 1e-12);
}

TEST_F(UsdaClipsTest, WhatTheManifestDoesNotListIsNotTakenFromClips) {
  topology("point3f[] points = [(0, 7, 0)]");
  write("c/manifest.usda", "#usda 1.0\nover \"R\"\n{\nover \"o\"\n{\nfloat[] widths\n}\n}\n");
  stage({});
  EXPECT_EQ(read_curves(folder_ / "stage.usda").points.at(0).y, 7);
  stage({.manifest = ""});
  EXPECT_NEAR(y_at(1), 10, 1e-12) << "without one, all of a clip counts";
}

TEST_F(UsdaClipsTest, MissingFilesAreNamed) {
  stage({});
  for (const char* name : {"c/1.usda", "c/manifest.usda", "c/topology.usda"}) {
    fs::rename(folder_ / name, folder_ / "away");
    expect_complaint(std::string("names `./") + name + "`, which does not exist");
    fs::rename(folder_ / "away", folder_ / name);
  }
  write("c/1.usda", "#usda 1.0\n");
  expect_complaint("the clip `./c/1.usda` has no time samples of `points`");
  write("c/1.usda", in_clip("3: [(0,x,0)]").substr(0, 60));
  expect_complaint("c/1.usda, line ");
  write("c/1.usda", "");
  expect_complaint("c/1.usda, line 1: does not begin with `#usda 1.0`");
}

TEST_F(UsdaClipsTest, NoPathLeadsOutAndNoFileNamesItself) {
  stage({.files = "@../x.usda@, @./c/1.usda@"});
  expect_complaint("names `../x.usda`, which does not lie in its folder");
  stage({.files = "@./c/../../x.usda@, @./c/1.usda@"});
  expect_complaint("which does not lie in its folder");
  stage({.files = "@/etc/passwd@, @./c/1.usda@"});
  expect_complaint("names `/etc/passwd`, which does not lie in its folder");
  stage({.files = "@./stage.usda@, @./c/1.usda@"});
  expect_complaint("which is the file itself");
  stage({.sublayer = "@stage.usda@"});
  expect_complaint("which is the file itself");
  stage({.files = "@@, @./c/1.usda@"});
  expect_complaint("names ``");
  stage({.files = "@./c@, @./c/1.usda@"});
  expect_complaint("names `./c`, which is not a file");
  fs::create_symlink("/etc/passwd", folder_ / "c" / "link.usda");
  stage({.files = "@./c/link.usda@, @./c/1.usda@"});
  expect_complaint("a link that leads out");
}

TEST_F(UsdaClipsTest, AClipThatNamesClipsIsNotFollowed) {
  // c/0.usda names the stage, itself and a file that does not exist: none of them is opened.
  write("c/0.usda",
        "#usda 1.0\n( subLayers = [@../stage.usda@, @./nowhere.usda@] )\nover \"R\" (\nclips = {\ndictionary default = {\n"
        "double2[] active = [(0, 0)]\nasset[] assetPaths = [@./0.usda@]\nstring primPath = \"/R\"\n}\n}\n)\n{\nover \"o\"\n{\n"
        "point3f[] points.timeSamples = { 0: [(0,0,0)], 1: [(0,10,0)] }\n}\n}\n");
  stage({});
  EXPECT_NEAR(y_at(1), 10, 1e-12);
  write("c/topology.usda", "#usda 1.0\n( subLayers = [@../stage.usda@] )\n");
  expect_complaint("is a sublayer with sublayers");
}

}  // namespace
}  // namespace osier

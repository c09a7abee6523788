// Selections: places in space.
#include "model/selection.hpp"

#include <gtest/gtest.h>

#include "osier/osier.hpp"

namespace osier::test {
namespace {

std::string scene(const std::string& vertices, const std::string& pose = "") {
  return R"({"rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, )" + pose + R"("segments": 10,
    "material": {"stretch_shear": 1, "bend_twist": 1, "line_density": 1}}, {"name": "b", "shape": {"type": "line", "from": [0, 1, 0],
    "to": [1, 1, 0]}, "segments": 10, "material": {"stretch_shear": 1, "bend_twist": 1, "line_density": 1}}],
    "constraints": [{"type": "pin", "vertices": )" +
         vertices + R"(}], "analysis": {"type": "dynamic"}})";
}

std::vector<Index> held(const std::string& vertices, const std::string& pose = "") {
  const Simulation s(Scene::parse(scene(vertices, pose)));
  std::vector<Index> list;
  for (Index v = 0; v < s.model().vertex_count(); ++v)
    if (s.control().vertex_fixed[v]) list.push_back(v);
  return list;
}

TEST(SelectionInSpace, IsABallABoxOrTheNearest) {
  EXPECT_EQ(held(R"({"ball": {"center": [0.5, 0, 0], "radius": 0.11}})"), (std::vector<Index>{4, 5, 6}));
  EXPECT_EQ(held(R"({"box": {"from": [0.75, 2, 1], "to": [2, -1, -1]}})"), (std::vector<Index>{8, 9, 10, 19, 20, 21}));
  EXPECT_EQ(held(R"({"box": {"from": [0.75, 2, 1], "to": [2, -1, -1]}, "of": "b"})"), (std::vector<Index>{19, 20, 21}));
  EXPECT_EQ(held(R"({"nearest": [0.31, 0.2, 5]})"), (std::vector<Index>{3}));
  EXPECT_EQ(held(R"([{"nearest": [0.31, 0.2, 5], "of": "b"}, "a:end", 3])"), (std::vector<Index>{3, 10, 14}));
}

TEST(SelectionInSpace, SeesTheInitialPose) {
  const std::string pose = R"("pose": {"type": "line", "from": [0, 0, 7], "to": [1, 0, 7]}, )";
  EXPECT_EQ(held(R"({"ball": {"center": [0, 0, 7], "radius": 0.01}})", pose), (std::vector<Index>{0}));
}

TEST(SelectionInSpace, OfSegmentsGoesByTheirMiddles) {
  LoadOptions options;
  options.overrides = {R"(/constraints/0={"type": "fix", "segments": {"box": {"from": [0, -1, -1], "to": [0.16, 0.5, 1]}}})"};
  const Simulation s(Scene::parse(scene("0"), "segments", ".", options));
  std::vector<Index> list;
  for (Index f = 0; f < s.model().segment_count(); ++f)
    if (s.control().frame_control[f] == FrameControl::fixed) list.push_back(f);
  EXPECT_EQ(list, (std::vector<Index>{0, 1}));
}

std::string complaint(const std::string& vertices) {
  try {
    Scene::parse(scene(vertices));
  } catch (const InputError& e) {
    return to_string(e.problems()[0]);
  }
  return "";
}

TEST(Selection, SaysWhichPlacesThereAre) {
  const auto told = [](const std::string& vertices) -> std::string {
    try {
      held(vertices);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(told(R"("a:first")").find("write `a:start`"), std::string::npos);
  EXPECT_NE(told(R"("a:last")").find("write `a:end`"), std::string::npos);
  EXPECT_NE(told(R"("a:99")").find("`a` has 11 vertices; use 0 to 10, start, mid, end"), std::string::npos);
}

TEST(SelectionInSpace, SaysWhatIsWrong) {
  EXPECT_NE(complaint(R"({"ball": {"center": [5, 0, 0], "radius": 0.1}})").find("no vertex lies there"), std::string::npos);
  EXPECT_NE(complaint(R"({"ball": {"center": [5, 0, 0]}})").find("`radius` is missing"), std::string::npos);
  EXPECT_NE(complaint(R"({"ball": {"center": [5, 0, 0], "radius": 1}, "nearest": [0, 0, 0]})").find("exactly one"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"nearest": [0, 0, 0], "of": "c"})").find("there is no rod \"c\""), std::string::npos);
  EXPECT_NE(complaint(R"({"bal": [0, 0, 0]})").find("does not select anything"), std::string::npos);
}

}  // namespace
}  // namespace osier::test

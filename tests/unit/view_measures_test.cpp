// The numbers that the viewer colours by, from the program's own formulas. The page's tests read the same file
// (viewer/tests/unit/measures.test.ts), so that neither side can change its formula alone.
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "energies/bend_twist.hpp"
#include "math/vec3.hpp"
#include "osier/osier.hpp"
#include "sim/measure.hpp"

namespace osier {
namespace {

using Json = nlohmann::ordered_json;

/// A helix that is drawn out, unwound and twisted, and a straight rod that is bent into an arc.
constexpr const char* kScene = R"({
  "rods": [{"name": "helix", "shape": {"type": "helix", "radius": 0.1, "pitch": 0.08, "turns": 1.5, "keep": "points"}, "segments": 14, "material": "m",
            "pose": {"type": "helix", "radius": 0.12, "pitch": 0.15, "turns": 1.2, "keep": "points"}, "pose_twist": {"keys": [[0, 0], [1, 400]]}},
           {"name": "line", "shape": {"type": "line", "from": [0, 1, 0], "to": [0.5, 1, 0]}, "segments": 4, "material": "m",
            "pose": {"type": "arc", "center": [0, 0.7, 0], "radius": 0.3, "start": [0, 1, 0], "normal": [0, 0, -1], "angle": 105, "keep": "points"}}],
  "materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.01}},
  "analysis": {"type": "dynamic", "duration": 0.1, "step": 0.005}
})";

void put(Json& list, const Vec3d& v) {
  for (const double x : {v.x, v.y, v.z}) list.push_back(x);
}
void put(Json& list, const Quatd& q) {
  for (const double x : {q.x, q.y, q.z, q.w}) list.push_back(x);
}

Json program_values() {
  const Scene scene = Scene::parse(kScene, "measures");
  const Model& m = scene.model();
  const State& state = scene.initial_state();
  Json j = {{"vertices", m.vertex_count()}, {"segments", Json::array()},      {"rest_length", m.segment_rest_length},
            {"joints", Json::array()},      {"joint_length", m.joint_length}, {"joint_rest", Json::array()},
            {"position", Json::array()},    {"frame", Json::array()},         {"stretch", Json::array()},
            {"curvature", Json::array()},   {"change", Json::array()}};
  for (const auto& [a, b] : m.segment_vertices) {
    j["segments"].push_back(a), j["segments"].push_back(b);
    const double l = norm(state.vertex_position[b] - state.vertex_position[a]);
    j["stretch"].push_back(l / m.segment_rest_length[j["stretch"].size()] - 1);
  }
  for (const Vec3d& x : state.vertex_position) put(j["position"], x);
  // q and -q are the same rotation: every third one is turned over.
  for (Index s = 0; s < m.segment_count(); ++s)
    put(j["frame"], s % 3 == 1 ? -1.0 * state.frame_rotation[s] : state.frame_rotation[s]);
  for (Index i = 0; i < m.joint_count(); ++i) {
    const auto [a, b] = m.joint_frames[i];
    j["joints"].push_back(a), j["joints"].push_back(b);
    put(j["joint_rest"], m.joint_rest_rotation[i]);
    put(j["curvature"], joint_curvature(m, state, i));
    const Quatd r = conj(state.frame_rotation[a]) * state.frame_rotation[b], &q0 = m.joint_rest_rotation[i];
    const double sign = bend_twist::pole(dot(r, q0));
    put(j["change"], (sign * 2 / m.joint_length[i]) * imag(bend_twist::difference(Quatd{1, 1, 1, 1}, r, q0)));
  }
  return j;
}

TEST(ViewMeasures, TheFileThatThePageIsTestedWithHoldsTheProgramsValues) {
  const char* path = OSIER_SOURCE_DIR "/tests/data/measures.json";
  const Json now = program_values();
  if (std::getenv("OSIER_WRITE_MEASURES")) std::ofstream(path) << now.dump() << "\n";
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << ": write it with OSIER_WRITE_MEASURES=1";
  const Json kept = Json::parse(in);
  double most_curved = 0, most_changed = 0;
  for (const auto& [key, values] : now.items()) {
    ASSERT_TRUE(kept.contains(key)) << key;
    if (!values.is_array()) {
      EXPECT_EQ(values, kept[key]);
      continue;
    }
    ASSERT_EQ(values.size(), kept[key].size()) << key;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double a = values[i], b = kept[key][i];
      EXPECT_NEAR(a, b, 1e-9 * (1 + std::abs(a))) << key << " " << i;
      if (key == "curvature") most_curved = std::max(most_curved, std::abs(a));
      if (key == "change") most_changed = std::max(most_changed, std::abs(a));
    }
  }
  EXPECT_GT(most_curved, 5);
  EXPECT_GT(most_changed, 1);
}

TEST(ViewMeasures, AtRestNothingHasChanged) {
  Json scene = Json::parse(kScene);
  for (Json& rod : scene["rods"]) rod.erase("pose"), rod.erase("pose_twist");
  const Scene rest = Scene::parse(scene.dump(), "rest");
  const Model& m = rest.model();
  const State& state = rest.initial_state();
  double most = 0;
  for (Index i = 0; i < m.joint_count(); ++i) {
    const Quatd r = conj(state.frame_rotation[m.joint_frames[i][0]]) * state.frame_rotation[m.joint_frames[i][1]];
    const Quatd D = bend_twist::difference(Quatd{1, 1, 1, 1}, r, m.joint_rest_rotation[i]);
    EXPECT_LT(2 / m.joint_length[i] * norm(imag(D)), 1e-9);
    most = std::max(most, norm(joint_curvature(m, state, i)));
  }
  EXPECT_GT(most, 5);  // while the curvature is that of the helix
}

}  // namespace
}  // namespace osier

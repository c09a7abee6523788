// Warnings of scenes that are hardly what their author meant.
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "osier/osier.hpp"

namespace osier::test {
namespace {

std::string warnings(const std::string& material, const std::string& more = "",
                     const std::string& shape = R"({"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]})") {
  const Scene scene = Scene::parse(R"({"rods": [{"name": "a", "shape": )" + shape + R"(, "segments": 20, "material": )" +
                                   material + R"(}], "analysis": {"type": "dynamic"})" + more + "}");
  std::string all;
  for (const std::string& w : scene.warnings()) all += w + "\n";
  return all;
}

constexpr const char* kFine = R"({"young": 1e7, "density": 1000, "radius": 0.01})";

TEST(Oddities, AreSaidOfAThickRodInShortSegments) {
  EXPECT_EQ(warnings(kFine), "");
  EXPECT_NE(warnings(R"({"young": 1e7, "density": 1000, "radius": 0.06})")
                .find("/rods/0: a segment of 0.05 m is shorter than the rod's radius"),
            std::string::npos);
}

TEST(Oddities, AreSaidOfACurveTighterThanTheRodIsThick) {
  const char* helix = R"({"type": "helix", "radius": 0.02, "pitch": 0.1, "turns": 1})";
  EXPECT_EQ(warnings(R"({"young": 1e7, "density": 1000, "radius": 0.002})", "", helix), "");
  EXPECT_NE(warnings(R"({"young": 1e7, "density": 1000, "radius": 0.05})", "", helix).find("bent at rest to a radius of"),
            std::string::npos);
}

TEST(Oddities, AreSaidOfWhatFallsFreely) {
  const std::string gravity = R"(, "forces": [{"type": "gravity"}])";
  EXPECT_NE(warnings(kFine, gravity).find("/rods/0: nothing holds it"), std::string::npos);
  EXPECT_EQ(warnings(kFine, gravity + R"(, "constraints": [{"type": "pin", "vertices": "a:3"}])"), "");
  EXPECT_EQ(warnings(kFine, R"(, "forces": [{"type": "gravity", "acceleration": [0, 0, 0]}])"), "");
  EXPECT_EQ(warnings(kFine, gravity + R"(, "contact": {})").find("nothing holds"), std::string::npos);
}

TEST(Oddities, AreSaidOfModuliThatNoSolidHas) {
  EXPECT_NE(warnings(R"({"young": 200, "density": 7800, "radius": 0.01})")
                .find("/rods/0/material/young: Young's modulus of 200 Pa, softer"),
            std::string::npos);
  EXPECT_NE(warnings(R"({"young": 2e14, "density": 7800, "radius": 0.01})").find("stiffer than any solid"), std::string::npos);
}

TEST(Oddities, AreSaidOfMillimetresTypedAsMetres) {
  EXPECT_NE(warnings(R"({"young": 2e11, "density": 7800, "radius": 3})", "",
                     R"({"type": "line", "from": [0, 0, 0], "to": [500, 0, 0]})")
                .find("were these millimetres"),
            std::string::npos);
  EXPECT_NE(warnings(kFine, "", R"({"type": "line", "from": [0, 0, 0], "to": [1500, 0, 0]})").find("a rod of 1.5e+03 m"),
            std::string::npos);
}

TEST(Oddities, AreSaidOfNoSceneOfOurs) {
  for (const char* folder : {"/scenes", "/scenes/paper"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(OSIER_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".json" || entry.path().stem() == "hair_afro") continue;
      try {
        const Scene scene = Scene::load(entry.path());
        for (const std::string& w : scene.warnings()) EXPECT_EQ(w, "") << entry.path();
      } catch (const InputError& error) {  // a scene may need data that are not part of Osier
        EXPECT_NE(std::string(error.what()).find("OSIER_DATA"), std::string::npos) << entry.path() << ": " << error.what();
      }
    }
}

}  // namespace
}  // namespace osier::test

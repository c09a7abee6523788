// A torque that nothing resists is told of when the scene is read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "osier/osier.hpp"

namespace osier::test {
namespace {

/// Warnings of a rod along x with this shape, these constraints and forces, and whatever else the scene has.
std::size_t warnings_of(const std::string& shape, const std::string& constraints, const std::string& forces,
                        const std::string& more = "") {
  const Scene scene = Scene::parse(fmt::format(R"({{
    "materials": {{"r": {{"preset": "rubber", "radius": 0.005}}}},
    "rods": [{{"name": "a", "shape": {}, "segments": 8, "material": "r"}}],
    "constraints": [{}], "forces": [{}]{}}})",
                                               shape, constraints, forces, more));
  std::size_t count = 0;
  for (const std::string& warning : scene.warnings()) count += warning.find("nothing resists the torque") != std::string::npos;
  return count;
}

const std::string kLine = R"({"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]})";
const std::string kArc = R"({"type": "arc", "radius": 1, "angle": 40})";
const std::string kPin = R"({"type": "pin", "vertices": "a:start"})";
const std::string kTorque = R"({"type": "torque", "segments": "a:end", "torque": [0.001, 0, 0]})";
const std::string kOpposite = R"({"type": "torque", "segments": "a:start", "torque": [-0.001, 0, 0]})";
const std::string kAcross = R"({"type": "torque", "segments": "a:end", "torque": [0, 0.001, 0]})";
const std::string kLater =
    R"({"type": "torque", "segments": "a:end", "torque": {"keys": [[0.2, [0, 0, 0]], [0.8, [0.001, 0, 0]]]}})";

TEST(UnresistedCouples, AreToldOf) {
  EXPECT_EQ(warnings_of(kLine, kPin, kTorque), 1u);
  EXPECT_EQ(warnings_of(kLine, "", kTorque), 1u);
  EXPECT_EQ(warnings_of(kLine, kPin, kLater), 1u);
  EXPECT_EQ(warnings_of(kLine, R"({"type": "hinge", "vertex": "a:start", "axis": [1, 0, 0]})", kTorque), 1u);
}

TEST(UnresistedCouples, WhatResistsKeepsThemQuiet) {
  EXPECT_EQ(warnings_of(kLine, R"({"type": "clamp", "vertices": "a:start"})", kTorque), 0u);
  EXPECT_EQ(warnings_of(kLine, R"({"type": "fix", "segments": "a:start"})", kTorque), 0u);
  EXPECT_EQ(warnings_of(kLine, R"({"type": "hinge", "vertex": "a:start", "axis": [0, 0, 1]})", kTorque), 0u);
  EXPECT_EQ(warnings_of(kLine, kPin, kTorque + "," + kOpposite), 0u) << "they cancel";
  EXPECT_EQ(warnings_of(kLine, kPin, kAcross), 0u) << "turning about another axis moves mass";
  EXPECT_EQ(warnings_of(kArc, kPin, kTorque), 0u) << "a curved rod cannot spin without moving mass";
  EXPECT_EQ(warnings_of(kLine, kPin, kTorque, R"(, "rotational_inertia": true)"), 0u);
}

}  // namespace
}  // namespace osier::test

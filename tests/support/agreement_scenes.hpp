// Scenes on which all solvers must find the same motion: graphs, constraints, loads and materials of every kind.
#pragma once

#include <string>

namespace osier::test {

inline constexpr const char* kAgreementMaterial =
    R"("materials": {"m": {"stretch_shear": 100, "bend_twist": 0.4, "line_density": 1, "radius": 0.01, "tau_stretch": 0.002, "tau_bend": 0.01},
                     "strip": {"young": 1e6, "poisson": 0.3, "density": 1000, "section": {"type": "rectangle", "width": 0.06, "height": 0.03}}},
  "analysis": {"type": "dynamic", "step": 0.01, "duration": 1, "integrator": "implicit_euler"},)";

/// A scene of one step problem each: `text()` is all of it but the solver.
struct AgreementScene {
  const char* name;
  const char* scene;
  bool one_stiffness = true;  ///< for stretch and shear, one for bending and twisting, and frames without inertia
  std::string text() const { return std::string("{") + kAgreementMaterial + scene + "}"; }
};
inline constexpr AgreementScene kAgreementScenes[] = {
    {"Cantilever",
     R"("rods": [{"name": "r", "material": "m", "segments": 12, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
      "constraints": [{"type": "clamp", "vertices": "r:start"}], "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.5}])"},
    {"ClosedRing",
     R"("rods": [{"name": "r", "material": "m", "segments": 16, "shape": {"type": "circle", "radius": 0.3, "normal": [0, 0.3, 1]}}],
      "constraints": [{"type": "pin", "vertices": "r:0"}], "forces": [{"type": "gravity"}, {"type": "force", "vertices": "r:8", "force": [0.5, 0, 2]}])"},
    {"TreeLikeBranch", R"("rods": [
        {"name": "trunk", "material": "m", "segments": 6, "shape": {"type": "line", "from": [0, 0, 0], "to": [0, 0.6, 0]}},
        {"name": "left", "material": "m", "segments": 4, "shape": {"type": "arc", "center": [-0.4, 0.6, 0], "radius": 0.4, "start": [1, 0, 0], "angle": 60, "keep": "points"}},
        {"name": "right", "material": "m", "segments": 4, "shape": {"type": "line", "from": [0, 0.6, 0], "to": [0.3, 0.8, 0.2]}}],
      "welds": [{"vertices": ["trunk:end", "left:start", "right:start"]}],
      "constraints": [{"type": "clamp", "vertices": "trunk:start"}],
      "forces": [{"type": "gravity"}, {"type": "wind", "direction": [1, 0, 1], "speed": 4, "wavelength": 2, "coefficient": 1}])"},
    {"HingeWithFollowerTorque",
     R"("rods": [{"name": "r", "material": "m", "segments": 10, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
      "constraints": [{"type": "hinge", "vertex": "r:start", "axis": [0, 0.2, 1]}],
      "forces": [{"type": "gravity", "acceleration": [0, -3, 1]}, {"type": "torque", "segments": "r:end", "torque": [0.1, 0.2, 0.3], "axes": "material"},
                 {"type": "torque", "segments": "r:4", "torque": [0.1, 0, 0.1]}])"},
    {"ClampsMovedByKeyframes",
     R"("rods": [{"name": "r", "material": "m", "segments": 10, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
      "constraints": [{"type": "clamp", "vertices": "r:start", "motion": {"rotate": {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [0.2, 60]]}}}},
                      {"type": "clamp", "vertices": "r:end", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.2, [-0.2, 0.1, 0]]], "interpolation": "smooth"}}}],
      "forces": [{"type": "gravity"}])"},
    {"CurvedStrip",
     R"("rods": [{"name": "r", "material": "strip", "segments": 14, "shape": {"type": "helix", "radius": 0.2, "pitch": 0.1, "turns": 1}}],
      "constraints": [{"type": "clamp", "vertices": "r:start"}], "forces": [{"type": "gravity", "acceleration": [1, -9.81, 2]}])",
     false},
    {"SpinningStrip",
     R"("rods": [{"name": "r", "material": "strip", "segments": 8, "shape": {"type": "line", "from": [0, 0, 0], "to": [0.5, 0, 0]},
                  "velocity": {"angular": [9, 3, 1], "about": [0.25, 0, 0]}}], "rotational_inertia": true, "forces": [{"type": "gravity"}])",
     false},
};

}  // namespace osier::test

// BasisCurves in USD text, worked out by hand.
#include <gtest/gtest.h>
#include <numbers>

#include "osier/curves.hpp"
#include "support/curve_checks.hpp"

namespace osier {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

CurveSet parse(const std::string& text, const CurveReadOptions& options = {}) {
  const CurveSet set = parse_curves(std::as_bytes(std::span(text)), ".usda", "file.usda", options);
  EXPECT_EQ(flaw_of(set), "");
  return set;
}

void expect_complaint(const std::string& text, const std::string& place, const std::string& words,
                      const CurveReadOptions& options = {}) {
  try {
    parse_curves(std::as_bytes(std::span(text)), ".usda", "file.usda", options);
    ADD_FAILURE() << "read without complaint: " << text;
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems()[0].where, place.empty() ? "file.usda" : "file.usda, " + place) << error.what();
    EXPECT_NE(error.problems()[0].what.find(words), std::string::npos) << error.what();
    EXPECT_FALSE(error.problems()[0].remedy.empty());
  }
}

/// A layer in metres.
std::string layer(const std::string& body, const std::string& metadata = "metersPerUnit = 1") {
  return "#usda 1.0\n(\n" + metadata + "\n)\n" + body;
}
std::string curves(const std::string& body, const std::string& name = "yarn") {
  return "def BasisCurves \"" + name + "\"\n{\n" + body + "\n}\n";
}
std::string lines(const std::string& body, const std::string& name = "yarn") {
  return curves("uniform token type = \"linear\"\n" + body, name);
}
constexpr const char* kTwo = "int[] curveVertexCounts = [2]\npoint3f[] points = [(0, 0, 0), (1, 2, 3)]\n";

void expect_points(const CurveSet& set, const std::vector<Vec3d>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(set.points.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(set.points[i].x, expected[i].x, tolerance) << i;
    EXPECT_NEAR(set.points[i].y, expected[i].y, tolerance) << i;
    EXPECT_NEAR(set.points[i].z, expected[i].z, tolerance) << i;
  }
}

TEST(Usda, ReadsLinearCurvesOfSeveralPrims) {
  const CurveSet set =
      parse(layer("def Xform \"a\" (\n kind = \"group\"\n)\n{\n" +
                  lines("int[] curveVertexCounts = [2, 1, 0]\npoint3f[] points = [(0,0,0), (1,0,0), (5,5,5)]") + "}\n" +
                  lines("int[] curveVertexCounts = [3]\npoint3f[] points = [(0,0,0),(1,0,0),(0,1,0),]\n"
                        "uniform token wrap = \"periodic\"",
                        "loop")));
  EXPECT_EQ(set.names, (Names{"yarn_0", "yarn_1", "yarn_2", "loop"}));
  EXPECT_EQ(set.start, (std::vector<std::size_t>{0, 2, 3, 3, 6}));
  EXPECT_EQ(set.closed, (std::vector<std::uint8_t>{0, 0, 0, 1}));
  EXPECT_TRUE(set.widths.empty() && set.ids.empty());
}

TEST(Usda, AppliesUnitAndUpAxis) {
  expect_points(parse(layer(lines(kTwo), "upAxis = \"Z\"\nmetersPerUnit = 0.5")), {{0, 0, 0}, {0.5, 1.5, -1}});
  expect_points(parse("#usda 1.0\n" + lines(kTwo)), {{0, 0, 0}, {0.01, 0.02, 0.03}});  // USD's own default is the centimetre
}

TEST(Usda, WidthsFollowTheirInterpolation) {
  const std::string two = "int[] curveVertexCounts = [2, 1]\npoint3f[] points = [(0,0,0),(1,0,0),(2,0,0)]\n";
  const auto widths = [&](const std::string& w) { return parse(layer(lines(two + w), "metersPerUnit = 2")).widths; };
  EXPECT_EQ(widths("float[] widths = [1, 2, 3]"), (Numbers{2, 4, 6}));
  EXPECT_EQ(widths("float[] widths = [1, 2, 3] (\n interpolation = \"vertex\"\n)"), (Numbers{2, 4, 6}));
  EXPECT_EQ(widths("float[] widths = [1, 2, 3] (interpolation = \"varying\")"), (Numbers{2, 4, 6}));
  EXPECT_EQ(widths("float[] widths = [1, 2] (interpolation = \"uniform\")"), (Numbers{2, 2, 4}));
  EXPECT_EQ(widths("float[] widths = [3] (interpolation = \"constant\")"), (Numbers{6, 6, 6}));
  EXPECT_EQ(widths("float[] primvars:widths = [3] (interpolation = \"constant\")\nfloat[] widths = [1, 2, 3]"),
            (Numbers{6, 6, 6}));
  expect_complaint(layer(lines(two + "float[] widths = [1, 2]")), "line 10", "2 widths");
  expect_complaint(layer(lines(two + "float[] widths = [1, -2, 3]")), "line 10", "negative");
  expect_complaint(layer(lines(two + "float[] primvars:widths = [1]\nint[] primvars:widths:indices = [0]")), "line 11",
                   "indexed");
}

TEST(Usda, CubicCurvesBecomePolylines) {
  CurveReadOptions options;
  options.cubic_samples = 2;
  const std::string four = "int[] curveVertexCounts = [4]\npoint3f[] points = [(0,0,0),(0,6,0),(6,6,0),(6,0,0)]\n";
  const auto read = [&](const std::string& basis, const std::string& wrap, const std::string& more = "") {
    return parse(layer(curves(four + "uniform token basis = \"" + basis + "\"\nuniform token wrap = \"" + wrap + "\"\n" + more)),
                 options);
  };
  expect_points(read("bezier", "nonperiodic"), {{0, 0, 0}, {3, 4.5, 0}, {6, 0, 0}});
  expect_points(read("bspline", "nonperiodic"), {{1, 5, 0}, {3, 5.75, 0}, {5, 5, 0}});
  expect_points(read("catmullRom", "nonperiodic"), {{0, 6, 0}, {3, 6.75, 0}, {6, 6, 0}});
  EXPECT_EQ(read("catmullRom", "pinned").points.size(), 7u);  // three spans
  expect_points(read("bspline", "periodic"),
                {{1, 1, 0}, {0.25, 3, 0}, {1, 5, 0}, {3, 5.75, 0}, {5, 5, 0}, {5.75, 3, 0}, {5, 1, 0}, {3, 0.25, 0}});
  const CurveSet pinned = read("bspline", "pinned");
  EXPECT_EQ(pinned.points.size(), 7u);
  EXPECT_NEAR(pinned.points.front().y, 0, 1e-15);
  EXPECT_NEAR(pinned.points.back().x, 6, 1e-15);
  // Widths: with the basis for each control point, straight between span ends.
  EXPECT_EQ(read("bezier", "nonperiodic", "float[] widths = [0, 8, 8, 0]").widths, (Numbers{0, 6, 0}));
  EXPECT_EQ(read("bezier", "nonperiodic", "float[] widths = [1, 2] (interpolation = \"varying\")").widths, (Numbers{1, 1.5, 2}));
  EXPECT_EQ(read("bspline", "periodic", "float[] widths = [1,2,3,4] (interpolation = \"varying\")").widths,
            (Numbers{1, 1.5, 2, 2.5, 3, 3.5, 4, 2.5}));
}

TEST(Usda, WithoutATypeCurvesAreBezierAndCountsMustFit) {
  expect_complaint(layer(curves("int[] curveVertexCounts = [5]\npoint3f[] points = [(0,0,0),(1,0,0),(1,0,0),(1,0,0),(1,0,0)]")),
                   "line 8", "does not fit its basis");
  expect_complaint(layer(curves(std::string("uniform token basis = \"hermite\"\n") + kTwo)), "line 7", "`hermite`");
}

TEST(Usda, TimeSamplesAreChosenAndInterpolated) {
  const std::string text =
      layer(lines("int[] curveVertexCounts = [1]\npoint3f[] points = [(9, 9, 9)]\n"
                  "point3f[] points.timeSamples = {\n 20: [(0, 4, 0)],\n 10: [(0, 2, 0)],\n 24: [(0, 0, 8)],\n}\n"));
  CurveReadOptions options;
  expect_points(parse(text), {{0, 2, 0}});
  options.frame = 1;
  expect_points(parse(text, options), {{0, 4, 0}});
  options.frame = -1;
  expect_points(parse(text, options), {{0, 0, 8}});
  options.frame = -4;
  expect_complaint(text, "", "no frame -4", options);
  options.frame.reset();
  options.time = 12.5;
  expect_points(parse(text, options), {{0, 2.5, 0}});
  options.time = 9;
  expect_complaint(text, "", "nothing at time 9", options);
  options.time = 0;
  expect_complaint(layer(lines(kTwo)), "", "do not move", options);
  expect_complaint(layer(lines("point3f[] points.timeSamples = { 1: [], 1: [] }")), "line 8", "twice");
}

TEST(Usda, TransformsOfEnclosingPrimsActInOrder) {
  // Scaled by 2, turned about z by a quarter, moved; then turned about x by the parent.
  const std::string inner =
      "double3 xformOp:translate = (10, 0, 0)\nfloat xformOp:rotateZ = 90\nfloat3 xformOp:scale = (2, 2, 2)\n"
      "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateZ\", \"xformOp:scale\"]\n"
      "float[] widths = [1] (interpolation = \"constant\")\n";
  const std::string outer =
      "def Xform \"a\"\n{\nfloat xformOp:rotateX = 90\nuniform token[] xformOpOrder = [\"xformOp:rotateX\"]\n" +
      lines(kTwo + inner) + "}\n";
  const CurveSet set = parse(layer(outer));
  expect_points(set, {{10, 0, 0}, {6, -6, 2}});
  EXPECT_NEAR(set.widths[0], 2, 1e-12);
}

TEST(Usda, EveryKindOfTransformIsApplied) {
  const auto moved = [&](const std::string& op, const std::string& order) {
    return parse(layer(lines("int[] curveVertexCounts = [1]\npoint3f[] points = [(1, 2, 3)]\n" + op +
                             "\nuniform token[] xformOpOrder = [" + order + "]\n")));
  };
  expect_points(
      moved("matrix4d xformOp:transform = ( (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (5, 6, 7, 1) )", "\"xformOp:transform\""),
      {{3, 7, 10}});
  const double h = std::sqrt(0.5);
  expect_points(
      moved("quatf xformOp:orient = (" + std::to_string(h) + ", 0, 0, " + std::to_string(h) + ")", "\"xformOp:orient\""),
      {{-2, 1, 3}});
  expect_points(moved("float3 xformOp:rotateXYZ = (90, 0, 90)", "\"xformOp:rotateXYZ\""), {{3, 1, 2}});    // x: (1,-3,2), then z
  expect_points(moved("float3 xformOp:rotateZYX = (90, 0, 90)", "\"xformOp:rotateZYX\""), {{-2, -3, 1}});  // z: (-2,1,3), then x
  expect_points(moved("float xformOp:rotateY = 90", "\"xformOp:rotateY\""), {{3, 2, -1}});
  const std::string pivot = "double3 xformOp:translate:pivot = (1, 2, 0)\nfloat xformOp:rotateZ = 33";
  expect_points(moved(pivot, "\"xformOp:translate:pivot\", \"xformOp:rotateZ\", \"!invert!xformOp:translate:pivot\""),
                {{1, 2, 3}});
  expect_points(moved("float3 xformOp:scale = (2, 4, 8)", "\"!invert!xformOp:scale\""), {{0.5, 0.5, 0.375}});
  const std::string reset =
      "def Xform \"a\"\n{\nfloat xformOp:rotateX = 90\nuniform token[] xformOpOrder = [\"xformOp:rotateX\"]\n" +
      lines(std::string(kTwo) + "uniform token[] xformOpOrder = [\"!resetXformStack!\"]\n") + "}\n";
  expect_points(parse(layer(reset)), {{0, 0, 0}, {1, 2, 3}});
}

TEST(Usda, TransformsThatCannotBeAppliedAreRefused) {
  const auto op = [&](const std::string& text, const std::string& name) {
    return layer(lines(std::string(kTwo) + text + "\nuniform token[] xformOpOrder = [\"" + name + "\"]\n"));
  };
  expect_complaint(op("", "xformOp:translate"), "line 5", "is not there");
  expect_complaint(op("double xformOp:shear = 1", "xformOp:shear"), "line 10", "`shear`");
  expect_complaint(op("matrix4d xformOp:transform = ((1,0,0,1),(0,1,0,0),(0,0,1,0),(0,0,0,1))", "xformOp:transform"), "line 10",
                   "affine");
  expect_complaint(op("double3 xformOp:translate", "xformOp:translate"), "line 10", "no value");
  expect_complaint(op("double3 xformOp:scale = (0, 1, 1)", "!invert!xformOp:scale"), "line 9", "not finite");
}

TEST(Usda, NamesAndIdsThatWereWrittenComeBack) {
  const CurveSet set =
      parse(layer(lines("int[] curveVertexCounts = [1, 1]\npoint3f[] points = [(0,0,0),(1,1,1)]\n"
                        "string[] primvars:osier:name = [\"a \\\"b\\\"\", '漢字']\nint64[] primvars:osier:id = [7, -9]\n")));
  EXPECT_EQ(set.names, (Names{"a \"b\"", "漢字"}));
  EXPECT_EQ(set.ids, (std::vector<std::int64_t>{7, -9}));
}

TEST(Usda, StepsOverWhatCurvesDoNotNeed) {
  const std::string text = R"(#usda 1.0
(
    "a comment"
    customLayerData = {
        string s = "} ) ]"
        int[] list = [1, 2]
        dictionary d = { bool b = 1 }
    }
    metersPerUnit = 1
    doc = """three
    lines"""
)
/* block */
def Scope "looks" // why not
{
    def Material "m" { token outputs:surface.connect = </looks/m/s.outputs:surface>
        custom string note
        asset file = @@@odd@name.png@@@ (colorSpace = "raw"); float x = -1.5e3
    }
}
class "hidden" { def BasisCurves "no" {} }
def BasisCurves "off" (active = false) {}
def BasisCurves "yarn" (
    prepend apiSchemas = ["MaterialBindingAPI"]
)
{
    rel material:binding = </looks/m> ( bindMaterialAs = "weaker" )
    reorder properties = ["points"]
    uniform token type = "linear"
    int[] curveVertexCounts = [1]
    point3f[] points = [(1, 2, 3)] ( doc = "(" )
    color3f[] primvars:displayColor = [(1, 0, 0)]
    texCoord2f[] primvars:st = None
}
)";
  const CurveSet set = parse(text);
  EXPECT_EQ(set.names, (Names{"yarn"}));
  expect_points(set, {{1, 2, 3}});
}

TEST(Usda, WhatIsComposedFromElsewhereIsRefused) {
  expect_complaint(layer(lines(kTwo), "subLayers = [@a.usda@]"), "", "names `a.usda`, which bytes in memory do not have");
  expect_complaint(layer("def Xform \"a\" ( prepend references = @b.usda@ ) {\n" + lines(kTwo) + "}"), "line 5", "references");
  expect_complaint(layer("def Xform \"a\" {\nvariantSet \"v\" = { \"x\" { } }\n" + lines(kTwo) + "}"), "line 5", "variant set");
  expect_complaint(layer("def \"a\" ( clips = { dictionary default = { } } ) {}"), "line 5", "value clips without assetPaths");
  expect_complaint(layer("def \"a\" ( clips = { dictionary default = { string templateAssetPath = \"a.#.usda\" } } ) {}"),
                   "line 5", "template");
  expect_complaint(layer("over \"a\" { over \"b\" { } }"), "", "part of another file");
  expect_complaint(layer("def Mesh \"a\" {}"), "", "no BasisCurves");
}

TEST(Usda, NamesTheLineThatIsWrong) {
  expect_complaint("PXR-USDC", "line 1", "#usda");
  expect_complaint(layer(lines("int[] curveVertexCounts = [3]\npoint3f[] points = [(0,0,0)]")), "line 9", "add up to 3");
  expect_complaint(layer(lines("int[] curveVertexCounts = [-1]\npoint3f[] points = []")), "line 8", "not a number of points");
  expect_complaint(layer(lines("int[] curveVertexCounts = [100000000000000]\npoint3f[] points = []")), "line 9", "add up to");
  expect_complaint(layer(lines("int[] curveVertexCounts = [1]\npoint3f[] points = [(0,0)]")), "line 9", "tuple of 3");
  expect_complaint(layer(lines("int[] curveVertexCounts = [1]\npoint3f[] points = [(0,0,x)]")), "line 9", "not a number");
  expect_complaint(layer(lines("int[] curveVertexCounts = [1]\npoint3f[] points = [(0,0,nan)]")), "line 9", "not finite");
  expect_complaint(layer(lines("point3f[] points = [(0,0,0)")), "line 9", "closes nothing");
  expect_complaint(layer(lines("string s = \"open\n")), "line 8", "does not end");
  expect_complaint(layer("def BasisCurves \"a\" {\nint x = 1"), "line 5", "ends inside the prim");
  expect_complaint(layer("", "upAxis = \"W\""), "line 3", "`W`");
  expect_complaint(layer("", "metersPerUnit = 0"), "line 3", "positive");
  std::string deep = "#usda 1.0\n";
  for (int i = 0; i < 100000; ++i) deep += "def \"a\" {\n";
  expect_complaint(deep, "line 103", "nested more than 100 deep");
  expect_complaint("#usda 1.0\ndef \"a\" { int x = " + std::string(100000, '['), "line 2", "ends inside a value");
}

}  // namespace
}  // namespace osier

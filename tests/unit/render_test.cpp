// Pictures: cameras see what they should, light and shade are where they must be, and nothing depends on the threads.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "io/up.hpp"
#include "osier/osier.hpp"
#include "render/sampling.hpp"
#include "render/stage.hpp"
#include "render/tracer.hpp"
#include "sim/recorder.hpp"

namespace osier::render {
namespace {

/// A scene's initial state as a frame that can be drawn.
struct Still {
  explicit Still(const std::string& text) : scene(Scene::parse(text, "still")), simulation(scene) {}
  Frame frame() const { return simulation.frame(0); }
  EachFrame each() const {
    return [this](const std::function<void(const Frame&)>& look) { look(frame()); };
  }
  Stage stage(const StageOptions& options) const { return {scene.model(), run_info(scene.setup()), options, each()}; }
  Scene scene;
  Simulation simulation;
};

constexpr const char* kMaterial =
    R"("materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.05}},
       "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1})";

std::string line(const std::string& name, const std::string& from, const std::string& to) {
  return R"({"name": ")" + name + R"(", "shape": {"type": "line", "from": )" + from + R"(, "to": )" + to +
         R"(}, "segments": 8, "material": "m"})";
}
std::string rods(const std::string& list) { return "{" + std::string(kMaterial) + R"(, "rods": [)" + list + "]}"; }

const std::string kUpright = line("a", "[0, -1, 0]", "[0, 1, 0]");

StageOptions small(int samples = 4) {
  StageOptions options;
  options.width = 96, options.height = 64, options.samples = samples;
  options.background = *parse_hex("#e0e0e0");
  return options;
}

float brightness(const Rgb& c) { return (c.x + c.y + c.z) / 3; }

TEST(Camera, DirectionAndProjectionAreInverse) {
  const Camera c = camera_at({3, 2, 5}, {0.1, 0.2, 0.3}, {0, 1, 0}, 40, 320, 200);
  for (const auto& [x, y] : {std::pair{0.0, 0.0}, {320.0, 0.0}, {17.5, 133.25}}) {
    const Vec3d p = c.project(c.position + 2.5 * c.direction(x, y));
    EXPECT_NEAR(p.x, x, 1e-9);
    EXPECT_NEAR(p.y, y, 1e-9);
    EXPECT_NEAR(p.z, 2.5, 1e-12);
  }
  const Vec3d middle = c.project({0.1, 0.2, 0.3});
  EXPECT_NEAR(middle.x, 160, 1e-9);
  EXPECT_NEAR(middle.y, 100, 1e-9);
}

TEST(Camera, FitHoldsEveryBallAndTouchesTwoOppositeEdges) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-1, 1);
  for (int trial = 0; trial < 50; ++trial) {
    const Ground ground(Vec3d{place(random), place(random), 1.2});
    Fit fit(looking_from(ground, 180 * place(random), 80 * place(random)), 20 + 40 * (place(random) + 1), 300, 200);
    std::vector<std::pair<Vec3d, double>> balls;
    for (int i = 0; i < 40; ++i)
      balls.emplace_back(Vec3d{5 * place(random), place(random), 3 * place(random)}, 0.1 * (1 + place(random)));
    for (const auto& [p, r] : balls) fit.add(p, r);
    const Camera c = fit.camera(0);
    // Distance of each ball from the four planes through the picture's edges, and the least of all.
    std::array<double, 4> least{1e9, 1e9, 1e9, 1e9};
    for (const auto& [p, r] : balls) {
      const Vec3d d = p - c.position;
      const double x = dot(d, c.right), y = dot(d, c.up), z = dot(d, c.forward);
      const std::array<double, 4> inside{(c.tan_x * z - x) / std::hypot(1, c.tan_x), (c.tan_x * z + x) / std::hypot(1, c.tan_x),
                                         (c.tan_y * z - y) / std::hypot(1, c.tan_y), (c.tan_y * z + y) / std::hypot(1, c.tan_y)};
      for (std::size_t i = 0; i < 4; ++i) least[i] = std::min(least[i], inside[i] - r);
    }
    for (const double distance : least) EXPECT_GE(distance, -1e-9);
    EXPECT_TRUE(std::max(least[0], least[1]) < 1e-9 || std::max(least[2], least[3]) < 1e-9) << "could stand nearer";
  }
}

TEST(Camera, StageFramesEveryVertexOfEveryFrame) {
  const Scene scene = Scene::load(OSIER_SOURCE_DIR "/scenes/ring.json");
  Simulation simulation(scene);
  std::vector<std::vector<Vec3d>> positions;
  const EachFrame each = [&](const std::function<void(const Frame&)>& look) {
    Simulation run(scene);
    for (int i = 0; i < 4; ++i) {
      const Frame frame = run.frame(i);
      positions.emplace_back(frame.vertex_position.begin(), frame.vertex_position.end());
      look(frame);
      run.advance_frame();
    }
  };
  const Stage stage(scene.model(), run_info(scene.setup()), small(), each);
  const Camera c = stage.camera(0);
  for (const auto& frame : positions)
    for (const Vec3d& x : frame) {
      const Vec3d p = c.project(x);
      EXPECT_GT(p.z, 0);
      EXPECT_TRUE(p.x > 0 && p.x < c.width && p.y > 0 && p.y < c.height) << p.x << ' ' << p.y;
    }
}

TEST(Camera, ViewReportsEveryMistakeAtOnce) {
  Problems problems;
  parse_view("form 1,2,3 at 1,2 fov wide zoom", "--camera", problems);
  EXPECT_EQ(problems.size(), 4U);
  Problems none;
  const View view = parse_view("from 1,-2,3e1 at 0,0,0 fov 25", "--camera", none);
  EXPECT_TRUE(none.empty());
  EXPECT_DOUBLE_EQ(view.from->z, 30);
  EXPECT_DOUBLE_EQ(view.fov, 25);
}

TEST(Up, IsAgainstGravity) {
  EXPECT_DOUBLE_EQ(up_direction(R"({"forces": [{"type": "gravity", "acceleration": [0, 0, -2]}]})").z, 1);
  EXPECT_DOUBLE_EQ(up_direction(R"({"forces": [{"type": "gravity"}]})").y, 1);
  EXPECT_DOUBLE_EQ(up_direction("{}").y, 1);
  EXPECT_DOUBLE_EQ(
      up_direction(R"({"forces": [{"type": "gravity", "acceleration": {"keys": [[0, [3, 0, 0]], [1, [0, 1, 0]]]}}]})").x, -1);
  EXPECT_DOUBLE_EQ(
      up_direction(R"({"forces": [{"type": "gravity", "acceleration": {"keys": [[0, [0, 0, 0]], [1, [0, 0, -1]]]}}]})").z, 1);
}

TEST(Sampling, PointsOfAPixelFillAllCells) {
  for (const int pixel : {0, 5, 1234}) {
    int cells[4][4] = {};
    for (int i = 0; i < 16; ++i) {
      Sampler sampler(pixel, 2 * pixel, i, 16);
      sampler.next();  // another use of the same sample
      const Point2 p = sampler.next();
      ++cells[static_cast<int>(4 * p.x)][static_cast<int>(4 * p.y)];
    }
    for (const auto& row : cells)
      for (const int count : row) EXPECT_EQ(count, 1);
  }
}

TEST(Image, ToneCurveCanBeUndoneAndColoursGoThereAndBack) {
  for (const float x : {0.0F, 0.2F, 0.7F, 0.9F, 1.5F}) EXPECT_NEAR(inverse_tone(tone(x)), x, 1e-3);
  for (const float x : {0.0F, 0.01F, 0.3F, 1.0F}) EXPECT_NEAR(srgb_to_linear(linear_to_srgb(x)), x, 1e-5);
  EXPECT_FALSE(parse_hex("#12345"));
  EXPECT_FALSE(parse_hex("#12345g"));
}

TEST(Strands, CoverEveryLivingSegmentOnceAndSplitAtABreak) {
  const Still still(rods(kUpright));
  Frame frame = still.frame();
  std::vector<std::uint8_t> alive(frame.segment_alive.begin(), frame.segment_alive.end());
  alive[3] = 0;
  frame.segment_alive = alive;
  const auto strands = find_strands(still.scene.model(), frame.segment_alive, rod_of_segments(still.scene.model()));
  ASSERT_EQ(strands.size(), 2U);
  EXPECT_EQ(strands[0].segments, (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(strands[1].segments, (std::vector<Index>{4, 5, 6, 7}));
}

TEST(Strands, AClosedRodIsOneClosedStrand) {
  const Still still("{" + std::string(kMaterial) +
                    R"(, "rods": [{"name": "r", "shape": {"type": "circle", "radius": 1}, "segments": 12, "material": "m"}]})");
  const auto strands = find_strands(still.scene.model(), still.frame().segment_alive, rod_of_segments(still.scene.model()));
  ASSERT_EQ(strands.size(), 1U);
  EXPECT_TRUE(strands[0].closed);
  EXPECT_EQ(strands[0].segments.size(), 12U);
}

TEST(Geometry, PiecesOfAnArcStayOnTheCircle) {
  const Still still("{" + std::string(kMaterial) +
                    R"(, "rods": [{"name": "r", "shape": {"type": "circle", "radius": 1}, "segments": 24, "material": "m"}]})");
  const Model& model = still.scene.model();
  const Frame frame = still.frame();
  const auto strands = find_strands(model, frame.segment_alive, rod_of_segments(model));
  const Camera camera = camera_at({0, 0, 5}, {0, 0, 0}, {0, 1, 0}, 30, 1280, 720);
  const std::vector<Rgb> colors(static_cast<std::size_t>(model.segment_count()), Rgb{1, 1, 1});
  const Geometry g = build_geometry(model, frame, strands, colors, camera, {}, Executor(1));
  ASSERT_GT(g.point.size(), 49U);  // finer than the rod
  const double r = norm(frame.vertex_position[0]);
  for (std::size_t i = 0; i < g.piece.size(); ++i) {
    const auto &a = g.point[g.piece[i]], &b = g.point[g.piece[i] + 1];
    const Vec3d middle{0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
    EXPECT_NEAR(norm(middle), r, 0.5 * camera.pixel_size(middle));
  }
}

TEST(Geometry, PliesTurnWithTheTwistOfTheRod) {
  const auto ends = [](const std::string& twist) {
    const Still still(
        "{" + std::string(kMaterial) +
        R"(, "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 40, "material": "m")" +
        twist + "}]}");
    const Model& model = still.scene.model();
    const std::vector<Rgb> colors(static_cast<std::size_t>(model.segment_count()), Rgb{1, 1, 1});
    GeometryOptions options;
    options.style = Style::yarn, options.plies = 1;
    const Frame frame = still.frame();
    const Geometry g = build_geometry(model, frame, find_strands(model, frame.segment_alive, rod_of_segments(model)), colors,
                                      camera_at({0, 0, 5}, {0, 0, 0}, {0, 1, 0}, 30, 640, 360), options, Executor(1));
    return std::pair{g.outward.front(), g.outward.back()};
  };
  const auto plain = ends(""), twisted = ends(R"(, "pose_twist": {"keys": [[0, 0], [1, 90]]})");
  const auto angle = [](const std::pair<Vec3f, Vec3f>& e) {
    return std::atan2(e.first.y * e.second.z - e.first.z * e.second.y, e.first.y * e.second.y + e.first.z * e.second.z);
  };
  EXPECT_NEAR(std::remainder(angle(twisted) - angle(plain), 2 * 3.14159265), 3.14159265 / 2, 0.05);
}

TEST(Coloring, RodsThatDifferInNumberShareAHueAndNoTwoRodsAColour) {
  const Still still(rods(line("cable1", "[0,0,0]", "[1,0,0]") + "," + line("cable2", "[0,1,0]", "[1,1,0]") + "," +
                         line("deck", "[0,2,0]", "[1,2,0]")));
  const auto groups = group_by_rod(still.scene.model(), rod_of_segments(still.scene.model()));
  EXPECT_EQ(groups.color[0], groups.color[8]);
  EXPECT_NE(groups.color[0], groups.color[16]);
  const auto colors = color_groups(groups, default_palette());
  EXPECT_GT(norm(colors[0] - colors[8]), 0.01);
  EXPECT_GT(norm(colors[0] - colors[16]), 0.05);
}

TEST(Coloring, MeasuresStretchCurvatureAndTwist) {
  const Still circle("{" + std::string(kMaterial) +
                     R"(, "rods": [{"name": "r", "shape": {"type": "circle", "radius": 2}, "segments": 64, "material": "m"}]})");
  for (const double k : measured(circle.scene.model(), circle.frame(), ColorBy::curvature)) EXPECT_NEAR(k, 0.5, 1e-3);
  const Still twisted(
      "{" + std::string(kMaterial) +
      R"(, "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 40, "material": "m",
          "pose": {"type": "line", "from": [0, 0, 0], "to": [1.25, 0, 0]}, "pose_twist": {"keys": [[0, 0], [1, 90]]}}]})");
  for (const double e : measured(twisted.scene.model(), twisted.frame(), ColorBy::stretch)) EXPECT_NEAR(e, 0.25, 1e-9);
  for (const double k : measured(twisted.scene.model(), twisted.frame(), ColorBy::twist)) EXPECT_NEAR(k, 3.14159265 / 2, 1e-3);
}

/// What needs the ray tracer.
class Pictures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << kCannotTrace;
  }
};

TEST_F(Pictures, AnUprightRodCoversTheColumnsThatItsRadiusSays) {
  const Still still(rods(kUpright));
  StageOptions options = small(16);
  options.width = 200, options.height = 100, options.floor = false;
  options.view.from = Vec3d{0.3, 0, 4}, options.view.at = Vec3d{0.3, 0, 0}, options.view.fov = 20;
  const Stage stage(still.stage(options));
  const Image image = stage.draw(still.frame(), Executor(1));
  // The edges of a cylinder are seen where the line of sight touches it: at the angle asin(r/d) from its axis.
  const Camera c = stage.camera(0);
  const double distance = std::hypot(0.3, 4.0), axis = std::atan2(-0.3, 4.0), half = std::asin(0.05 / distance);
  const auto column = [&](double angle) { return 0.5 * c.width * (1 + std::tan(angle) / c.tan_x); };
  double covered = 0, weighted = 0;
  for (int x = 0; x < image.width; ++x) {
    const double share = std::abs(brightness(image.at(x, 50)) - brightness(image.at(0, 50))) > 0.05 ? 1 : 0;
    covered += share, weighted += share * (x + 0.5);
  }
  EXPECT_NEAR(covered, column(axis + half) - column(axis - half), 1.5);  // the tent filter blurs each edge by up to a pixel
  EXPECT_NEAR(weighted / covered, column(axis), 0.75);
}

TEST_F(Pictures, AShadowIsDarkerThanTheLitFloorAroundIt) {
  // A cloud of rods above the origin; the light is known, so is its shadow.
  std::string list;
  for (int i = 0; i < 12; ++i) {
    const std::string z = std::to_string(-0.5 + i * 0.09);
    list += (i ? "," : "") + line("a" + std::to_string(i), "[-0.5, 1, " + z + "]", "[0.5, 1, " + z + "]");
  }
  const Still still(rods(list));
  StageOptions options = small(16);
  options.floor_height = 0;
  options.view.from = Vec3d{0, 6, 6}, options.view.at = Vec3d{0, 0, 0};
  const Stage stage(still.stage(options));
  const Image image = stage.draw(still.frame(), Executor(1));
  const Studio& studio = stage.studio();
  const Vec3d to_light = cast<double>(studio.to_light);
  const Vec3d shadow = Vec3d{0, 1, 0} - (1 / to_light.y) * to_light, mirrored = Vec3d{-shadow.x, 0, shadow.z};
  const auto at = [&](const Vec3d& p) {
    const Vec3d q = stage.camera(0).project(p);
    return brightness(image.at(static_cast<int>(q.x), static_cast<int>(q.y)));
  };
  EXPECT_LT(at(shadow), 0.75F * at(mirrored));
}

TEST_F(Pictures, TheSideTowardsTheLightIsBrighter) {
  const Still still(rods(kUpright));
  StageOptions options = small(16);
  options.floor = false;
  options.view.from = Vec3d{0, 0, 1.2}, options.view.at = Vec3d{0, 0, 0}, options.view.fov = 20;
  const Image image = still.stage(options).draw(still.frame(), Executor(1));
  // The light stands to the left of the camera; the rod is 23 pixels wide.
  EXPECT_GT(brightness(image.at(43, 32)), 1.5F * brightness(image.at(53, 32)));
}

TEST_F(Pictures, AConeSeenFromItsThinEndFacesTheEye) {
  // Black, so that all there is to see is what its surface mirrors: little where it faces the eye, all where it is seen aslant.
  const Still still(
      R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.4}},
          "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, -0.4], "to": [0, 0, 0]}, "segments": 4, "material": "m",
                    "taper": {"keys": [[0, 1], [1, 0.1]]}}],
          "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1}})");
  StageOptions options = small(64);
  options.floor = false, options.palette = {Rgb{0, 0, 0}};
  options.view.from = Vec3d{0, 0, 8}, options.view.at = Vec3d{0, 0, 0}, options.view.fov = 7;
  const Stage stage(still.stage(options));
  const Image image = stage.draw(still.frame(), Executor(1));
  const Camera c = stage.camera(0);
  int bright = 0;
  for (int k = 0; k < 12; ++k) {
    const double angle = k * 3.14159265 / 6;
    const Vec3d p = c.project({0.22 * std::cos(angle), 0.22 * std::sin(angle), -0.2});
    bright += brightness(image.at(static_cast<int>(p.x), static_cast<int>(p.y))) > 0.2F ? 1 : 0;
  }
  EXPECT_LE(bright, 3) << "the lamp, to the upper left, and nothing else";
}

TEST_F(Pictures, AreTheSameForAnyNumberOfThreads) {
  for (const Style style : {Style::tubes, Style::yarn, Style::hair}) {
    const Still still(
        "{" + std::string(kMaterial) +
        R"(, "rods": [{"name": "r", "shape": {"type": "helix", "radius": 0.4, "pitch": 0.2, "turns": 5}, "segments": 200, "material": "m"}]})");
    StageOptions options = small();
    options.geometry.style = style;
    const Stage stage(still.stage(options));
    const auto reference = screen_bytes(stage.draw(still.frame(), Executor(1)));
    for (const int threads : {2, 3, 7})
      EXPECT_EQ(screen_bytes(stage.draw(still.frame(), Executor(threads))), reference) << threads;
  }
}

TEST_F(Pictures, BrokenSegmentsAreGone) {
  const Still still(rods(kUpright));
  StageOptions options = small();
  options.floor = false;
  const Stage stage(still.stage(options));
  Frame frame = still.frame();
  const std::vector<std::uint8_t> none(frame.segment_alive.size(), 0);
  frame.segment_alive = none;
  const Image image = stage.draw(frame, Executor(1)), whole = stage.draw(still.frame(), Executor(1));
  double differences = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      EXPECT_NEAR(brightness(image.at(x, y)),
                  brightness(stage.studio().backdrop(cast<float>(normalized(stage.camera(0).direction(x + 0.5, y + 0.5))))),
                  0.02);
      differences += std::abs(brightness(image.at(x, y)) - brightness(whole.at(x, y))) > 0.1 ? 1 : 0;
    }
  EXPECT_GT(differences, 50);
}

TEST_F(Pictures, MoreSamplesMeanLessNoiseAtLeastAsTheSquareRoot) {
  const Still still(
      "{" + std::string(kMaterial) +
      R"(, "rods": [{"name": "r", "shape": {"type": "helix", "radius": 0.4, "pitch": 0.3, "turns": 4}, "segments": 100, "material": "m"}]})");
  const auto draw = [&](int samples) { return still.stage(small(samples)).draw(still.frame(), Executor(1)); };
  const Image exact = draw(1024);
  const auto noise = [&](int samples) {
    const Image image = draw(samples);
    double sum = 0;
    for (std::size_t i = 0; i < image.light.size(); ++i) sum += norm2(image.light[i] - exact.light[i]);
    return std::sqrt(sum / static_cast<double>(image.light.size()));
  };
  const double at_4 = noise(4), at_16 = noise(16), at_64 = noise(64);
  EXPECT_LT(at_16, 0.55 * at_4);
  EXPECT_LT(at_64, 0.55 * at_16);
}

TEST_F(Pictures, AHairThinnerThanAPixelCoversAsMuchAsItsTrueWidthWhereverItLies) {
  const Still still(rods(kUpright));
  StageOptions options = small(64);
  options.width = 100, options.height = 60, options.floor = false, options.geometry.style = Style::hair;
  options.palette = {Rgb{0, 0, 0}};
  const double distance = 40;
  // Light that the hair takes away per row, as a width in pixels of what is behind it.
  const auto width_at = [&](double radius_in_pixels, double aside) {
    options.view.from = Vec3d{aside, 0, distance}, options.view.at = Vec3d{aside, 0, 0}, options.view.fov = 2;
    const double pixel =
        camera_at(*options.view.from, *options.view.at, {0, 1, 0}, 2, options.width, options.height).pixel_size({0, 0, 0});
    options.geometry.thickness = radius_in_pixels * pixel / 0.05;
    const Stage stage(still.stage(options));
    Frame gone = still.frame();
    const std::vector<std::uint8_t> none(gone.segment_alive.size(), 0);
    gone.segment_alive = none;
    const Image with = stage.draw(still.frame(), Executor(1)), without = stage.draw(gone, Executor(1));
    double missing = 0;
    int rows = 0;
    for (int y = 10; y < 50; ++y, ++rows)
      for (int x = 0; x < options.width; ++x)
        missing += (brightness(without.at(x, y)) - brightness(with.at(x, y))) / brightness(without.at(x, y));
    return missing / rows;
  };
  // A wide one tells how dark black hair is.
  const double darkness = width_at(4, 0) / 8;
  EXPECT_GT(darkness, 0.6);
  for (const double radius : {0.02, 0.1, 0.3, 1.0}) {
    const double middle = width_at(radius, 0);
    EXPECT_NEAR(middle / (2 * radius * darkness), 1, 0.12) << radius;
    for (const double shift : {0.0021, 0.0047}) EXPECT_NEAR(width_at(radius, shift) / middle, 1, 0.1) << radius << " " << shift;
  }
}

TEST(Stage, TheGroundAndTheColoursAreThoseOfTheScene) {
  const auto scene = [](const std::string& more, const std::string& color) {
    return R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.05)" + color +
           R"(}}, "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.1}, "rods": [)" + line("a", "[0,1,0]", "[1,1,0]") +
           "]" + more + "}";
  };
  const std::string plane = R"(, "obstacles": [{"type": "plane", "point": [0, -0.5, 0], "normal": [0, 1, 0]}], "contact": {})";
  const auto stage = [&](const std::string& more, std::optional<double> asked = {}) {
    const Still still(scene(more, ""));
    StageOptions options = small();
    options.floor_height = asked;
    return still.stage(options).studio();
  };
  EXPECT_NEAR(stage("").floor_height, 0.95, 1e-6);
  EXPECT_NEAR(stage(R"(, "view": {"ground": 0.25})").floor_height, 0.25, 1e-6);
  EXPECT_NEAR(stage(plane).floor_height, -0.5, 1e-6);
  EXPECT_NEAR(stage(plane + R"(, "view": {"ground": 0.25})").floor_height, 0.25, 1e-6);
  EXPECT_FALSE(stage(R"(, "view": {"ground": "none"})").floor);
  const Studio asked = stage(R"(, "view": {"ground": "none"})", 0.1);
  EXPECT_TRUE(asked.floor);
  EXPECT_NEAR(asked.floor_height, 0.1F, 1e-6);

  const Still red(scene("", R"(, "color": "#c02010")"));
  const Look look = look_of(run_info(red.scene.setup()));
  ASSERT_EQ(look.material.size(), 1U);
  EXPECT_EQ(look.material[0], HexColor::parse("#C02010"));
  EXPECT_EQ(chosen(ColorBy::automatic, look), ColorBy::material);
  EXPECT_EQ(chosen(ColorBy::automatic, {}), ColorBy::rod);
  EXPECT_EQ(material_palette(look, default_palette())[0].x, parse_hex("#c02010")->x);
  const Still hair(
      R"({"structures": [{"type": "hair", "strands": 2, "color": "#553311"}], "analysis": {"type": "dynamic", "duration": 0.1}})");
  EXPECT_EQ(look_of(run_info(hair.scene.setup())).material.at(0), HexColor::parse("#553311"));
  EXPECT_THROW(Scene::parse(scene(R"(, "view": {"ground": "low"})", ""), "x"), InputError);
  EXPECT_THROW(Scene::parse(scene("", R"(, "color": "red")"), "x"), InputError);
}

TEST_F(Pictures, AreEncodedAsTheirNameSays) {
  const Image image(20, 10);
  EXPECT_EQ(encode(image, "a.png").substr(1, 3), "PNG");
  EXPECT_EQ(encode(image, "a.jpg").substr(0, 2), "\xff\xd8");
  EXPECT_FALSE(can_encode("a.gif"));
}

}  // namespace
}  // namespace osier::render

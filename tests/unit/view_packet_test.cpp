// What the viewer is sent: how large a frame is, what a client can leave out, and where a camera has to look.
#include <chrono>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "osier/osier.hpp"
#include "view/landmarks.hpp"
#include "view/packet.hpp"
#include "view/parameters.hpp"

namespace osier {
namespace {

/// A quarter of a million vertices in strands of 32.
struct Large {
  static constexpr int kStrands = 7813, kPer = 32, kVertices = kStrands * kPer, kSegments = kStrands * (kPer - 1),
                       kJoints = kStrands * (kPer - 2);
  std::vector<Vec3d> position = std::vector<Vec3d>(kVertices, Vec3d{0.1, 0.2, 0.3}), moment = std::vector<Vec3d>(kJoints);
  std::vector<Quatd> rotation = std::vector<Quatd>(kSegments);
  std::vector<std::uint8_t> alive = std::vector<std::uint8_t>(kSegments, 1);
  std::vector<Index> joints;
  Frame frame;
  Large() {
    for (Index j = 0; j < kJoints; ++j) joints.push_back(j);
    frame = {.index = 3,
             .time = 0.1,
             .vertex_position = position,
             .vertex_velocity = {},
             .segment_frame = rotation,
             .segment_alive = alive};
    frame.joint_moment = moment;
  }
};

TEST(ViewPacket, AFrameOfAQuarterMillionVerticesTakesThirteenBytesAVertexUnlessMoreIsWanted) {
  const Large large;
  const auto bytes = [&](view::FrameParts parts) {
    return static_cast<double>(view::frame_packet(large.frame, 0, large.joints, parts).size());
  };
  const double head = 512;  // and JSON before it
  const double plain = 12.0 * Large::kVertices + Large::kSegments, frames = 16.0 * Large::kSegments,
               moments = 12.0 * Large::kJoints;
  EXPECT_NEAR(bytes({false, false}), plain, head);
  EXPECT_NEAR(bytes({true, false}), plain + frames, head);
  EXPECT_NEAR(bytes({true, true}), plain + frames + moments, head);
  EXPECT_LT(bytes({false, false}) / Large::kVertices, 13.1);
}

TEST(ViewPacket, ContactsComeToThoseWhoWantThem) {
  Large large;
  const std::vector<ContactPoint> list{{{1, 2, 3}, 4, 5, 0, {6, 7, 8}, {9, 10, 11}}, {{}, 6, -1, 0, {}, {}}};
  large.frame.contacts = list;
  const std::string without = view::frame_packet(large.frame, 0, large.joints, {false, false});
  EXPECT_EQ(without.find("contact_"), std::string::npos);
  const std::string packet = view::frame_packet(large.frame, 0, large.joints, {false, false, true});
  for (const char* array :
       {R"("contact_segments","type":"i32","count":4)", R"("contact_position","type":"f32","count":6)",
        R"("contact_normal_force","type":"f32","count":6)", R"("contact_friction_force","type":"f32","count":6)"})
    EXPECT_NE(packet.find(array), std::string::npos) << array;
  // They come last: 16 bytes of segments, then three lists of 24.
  const auto number = [&](std::size_t from_the_end) {
    float x = 0;
    std::memcpy(&x, packet.data() + packet.size() - from_the_end, sizeof x);
    return x;
  };
  EXPECT_EQ(number(72), 1);
  EXPECT_EQ(number(48), 6);
  EXPECT_EQ(number(24), 9);
}

TEST(ViewPacket, SuchAFrameIsPackedFarFasterThanItIsShown) {
  const Large large;
  double best = 1;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const std::string packet = view::frame_packet(large.frame, 0, large.joints, {false, false});
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    ASSERT_GT(packet.size(), 3'000'000U);
  }
  RecordProperty("milliseconds", std::to_string(1e3 * best));
  EXPECT_LT(best, 0.1);  // a wide margin: some milliseconds are usual
}

TEST(ViewLandmarks, SpanTheBoxOfAllThatWasAddedAndLieOnIt) {
  std::mt19937 random(1);
  std::normal_distribution<double> number;
  view::Landmarks landmarks;
  Vec3d low{1e9, 1e9, 1e9}, high{-1e9, -1e9, -1e9};
  std::vector<Vec3d> all;
  for (int f = 0; f < 20; ++f) {
    std::vector<Vec3d> frame;
    for (int i = 0; i < 50; ++i) frame.push_back({number(random), 2 * number(random), number(random) + f});
    landmarks.add(frame);
    all.insert(all.end(), frame.begin(), frame.end());
  }
  for (const Vec3d& x : all) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  Vec3d l{1e9, 1e9, 1e9}, h{-1e9, -1e9, -1e9};
  const std::vector<Vec3d> points = landmarks.points();
  EXPECT_EQ(points.size(), 26U);
  for (const Vec3d& x : points) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Vec3d& y) { return norm2(x - y) == 0; }));
    l = {std::min(l.x, x.x), std::min(l.y, x.y), std::min(l.z, x.z)};
    h = {std::max(h.x, x.x), std::max(h.y, x.y), std::max(h.z, x.z)};
  }
  EXPECT_EQ(norm2(l - low) + norm2(h - high), 0);
  const std::vector<Vec3d> bad{{std::nan(""), 0, 0}};
  view::Landmarks none;
  none.add(bad);
  for (const Vec3d& x : none.points()) EXPECT_TRUE(std::isfinite(norm2(x)));
}

std::vector<view::Parameter> sliders(const char* scene) { return view::parameters_of(Json::parse(scene)); }

TEST(ViewParameters, StructuresOfferTheirOwnNumbersWithDefaults) {
  const auto list = sliders(R"({"structures": [{"type": "hair", "name": "wig", "strands": 20, "radius": 6e-5}]})");
  const auto find = [&](const std::string& pointer) {
    const auto p = std::find_if(list.begin(), list.end(), [&](const view::Parameter& q) { return q.pointer == pointer; });
    return p == list.end() ? view::Parameter{} : *p;
  };
  EXPECT_EQ(find("/structures/0/radius").value, 6e-5);
  EXPECT_EQ(find("/structures/0/radius").unit, "m");
  EXPECT_EQ(find("/structures/0/radius").group, "wig");
  EXPECT_EQ(find("/structures/0/bend_twist").value, 7e-9);  // the structure's default
  EXPECT_TRUE(find("/structures/0/bend_twist").log);
  EXPECT_TRUE(find("/structures/0/strands").whole);
  EXPECT_EQ(find("/structures/0/strands").group, "shape of wig");
  EXPECT_EQ(find("/structures/0/crown/1").value, 1);  // of a vector that the scene leaves out
}

TEST(ViewParameters, AMaterialWrittenInAStructureIsOfferedToo) {
  const auto list = sliders(
      R"({"structures": [{"type": "curves", "file": "x.bcc", "material": {"young": 1e6, "density": 1000, "radius": 0.01}}]})");
  EXPECT_TRUE(std::any_of(list.begin(), list.end(),
                          [](const view::Parameter& p) { return p.pointer == "/structures/0/material/young"; }));
}

/// Every slider of every structure can be moved within its range: what it writes is a scene that is understood.
TEST(ViewParameters, EveryNumberOfEveryStructureCanBeSetWhereItIs) {
  for (const char* name : {"bridge", "grass", "hair_wisp", "net", "slingshot", "trees"}) {
    const Scene scene = Scene::load(std::string(OSIER_SOURCE_DIR "/scenes/") + name + ".json");
    const Json json = Json::parse(scene.json());
    int moved = 0;
    for (const view::Parameter& p : view::parameters_of(json)) {
      if (!p.pointer.starts_with("/structures/")) continue;
      EXPECT_TRUE(p.min <= p.value && p.value <= p.max && p.min < p.max) << p.pointer;
      Json changed = json;
      view::set_parameter(changed, p, p.value);
      EXPECT_EQ(changed[Json::json_pointer(p.pointer)].get<double>(), p.value) << p.pointer;
      ++moved;
    }
    EXPECT_GT(moved, 4) << name;
  }
}

}  // namespace
}  // namespace osier

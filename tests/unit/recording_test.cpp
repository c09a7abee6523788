// The recording inside a page: what a browser unpacks is the run, to half a quantum.
#include "view/recording.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "core/fields.hpp"
#include "osier/osier.hpp"
#include "support/files.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage =
    "<!doctype html><title>x</title><script>const a = 'osier-recording'</script>"
    "<script id=\"osier-recording\" type=\"application/x-osier\"></script><p>end</p>";

constexpr const char* kScene = R"({
  "rods": [{"name": "a", "shape": {"type": "line", "from": [100,0,0], "to": [101,0,0]}, "segments": 8, "material": "m"}],
  "materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.01}},
  "constraints": [{"type": "clamp", "vertices": "a:start"}],
  "forces": [{"type": "gravity"}],
  "analysis": {"type": "dynamic", "duration": 0.5, "step": 0.005},
  "output": {"sections": true}
})";

struct Array {
  std::string type, bytes;
  template <class T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};
struct Read {
  Json header;
  std::map<std::string, Array> arrays;
};

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  EXPECT_EQ(text.size() % 4, 0U);
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    EXPECT_NE(digits.find(c), std::string::npos);
    bits = bits << 6 | static_cast<unsigned>(digits.find(c)), count += 6;
    if (count >= 8) count -= 8, bytes += static_cast<char>(bits >> count & 255);
  }
  return bytes;
}

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(64 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())), stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data()), stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0U);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::vector<Read> packets_of(const fs::path& page) {
  const std::string html = test::read_text(page), before = std::string(kPage).substr(0, std::string(kPage).find("</script><p>"));
  EXPECT_TRUE(html.starts_with(before));
  EXPECT_TRUE(html.ends_with("</script><p>end</p>"));
  const std::string bytes = gunzip(from_base64(html.substr(before.size(), html.rfind("</script>") - before.size())));
  std::vector<Read> list;
  const auto u32 = [&](std::size_t at) {
    std::uint32_t v = 0;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    return v;
  };
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t start = at + 4, size = u32(at), json = u32(start + 4);
    EXPECT_EQ(u32(start), 0x5249534FU);
    EXPECT_EQ(json % 4, 0U);
    Read packet{Json::parse(bytes.substr(start + 8, json)), {}};
    std::size_t from = start + 8 + json;
    for (const Json& a : packet.header["arrays"]) {
      const std::map<std::string, std::size_t> sizes{{"f32", 4}, {"f64", 8}, {"u32", 4}, {"u16", 2}, {"i16", 2}, {"u8", 1}};
      const std::size_t number = sizes.at(a["type"]), length = number * a["count"].get<std::size_t>();
      packet.arrays[a["name"]] = {a["type"], bytes.substr(from, length)};
      const std::size_t unit = std::max<std::size_t>(number, 4);
      from += (length + unit - 1) / unit * unit;
    }
    EXPECT_EQ(from, start + size);
    list.push_back(std::move(packet));
    at = start + size;
  }
  return list;
}

class RecordingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_recording_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  Trajectory record(const char* name, const Scene& scene, const fs::path& html = {}) {
    RunOptions options;
    options.folder = folder_ / name;
    if (!html.empty()) options.writers.push_back(std::make_shared<view::HtmlWriter>(html, kPage));
    EXPECT_EQ(run_scene(scene, options).error, "");
    return Trajectory::open(options.folder);
  }
  /// Every frame of a slot against the trajectory; returns how many there were.
  static int compare(const std::vector<Read>& packets, int slot, Trajectory& trajectory) {
    std::vector<std::uint16_t> position;
    std::vector<std::int16_t> turned;
    int count = 0;
    for (const Read& p : packets) {
      if (p.header["type"] != "frame" || p.header["slot"] != slot) continue;
      const auto change = p.arrays.at("position").as<std::uint16_t>();
      const auto turn = p.arrays.at("frame").as<std::int16_t>();
      EXPECT_EQ(p.header["delta"], count > 0);
      position.resize(change.size()), turned.resize(turn.size());
      for (std::size_t i = 0; i < change.size(); ++i)
        position[i] = static_cast<std::uint16_t>((count > 0 ? position[i] : 0) + change[i]);
      for (std::size_t i = 0; i < turn.size(); ++i)
        turned[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>((count > 0 ? turned[i] : 0) + turn[i]));
      const Frame frame = trajectory.read(count);
      EXPECT_EQ(p.header["time"].get<double>(), frame.time);
      EXPECT_EQ(p.header["index"], count);
      const double scale = p.header["scale"], half = 0.5 * scale * (1 + 1e-9);
      const Vec3d origin{p.header["origin"][0], p.header["origin"][1], p.header["origin"][2]};
      for (std::size_t v = 0; v < frame.vertex_position.size(); ++v) {
        EXPECT_NEAR(origin.x + scale * position[3 * v], frame.vertex_position[v].x, half);
        EXPECT_NEAR(origin.y + scale * position[3 * v + 1], frame.vertex_position[v].y, half);
        EXPECT_NEAR(origin.z + scale * position[3 * v + 2], frame.vertex_position[v].z, half);
      }
      for (std::size_t s = 0; s < frame.segment_frame.size(); ++s) {
        EXPECT_NEAR(turned[4 * s] / 32767.0, frame.segment_frame[s].x, 0.51 / 32767);
        EXPECT_NEAR(turned[4 * s + 3] / 32767.0, frame.segment_frame[s].w, 0.51 / 32767);
      }
      EXPECT_EQ(p.arrays.at("alive").bytes.size(), frame.segment_alive.size());
      ++count;
    }
    return count;
  }
  fs::path folder_;
};

TEST_F(RecordingTest, ARunIsInThePageToHalfAQuantum) {
  const Scene scene = Scene::parse(kScene, "beam");
  Trajectory trajectory = record("run", scene, folder_ / "run.html");
  const std::vector<Read> packets = packets_of(folder_ / "run.html");
  ASSERT_FALSE(packets.empty());
  const Json& model = packets[0].header;
  EXPECT_EQ(model["type"], "model");
  EXPECT_EQ(model["name"], "beam");
  EXPECT_EQ(model["frames"], trajectory.frame_count());
  EXPECT_EQ(model["rod_names"], Json({"a"}));
  EXPECT_EQ(model["material_names"], Json({"m"}));
  EXPECT_EQ(packets[0].arrays.at("times").as<double>().back(), trajectory.time(trajectory.frame_count() - 1));
  EXPECT_EQ(packets[0].arrays.at("joints").as<std::uint32_t>().size(), 2U * 7U);  // the clamp's half-joint is left out
  EXPECT_EQ(compare(packets, 0, trajectory), trajectory.frame_count());
  // The extent of the run, not its distance from the origin, sets the quantum.
  EXPECT_LT(packets[1].header["scale"].get<double>(), 2.0 / 65535);
  const std::vector<float> moment = packets.back().arrays.at("joint_moment").as<float>();
  const Frame last = trajectory.read(trajectory.frame_count() - 1);
  ASSERT_EQ(moment.size(), 3U * 7U);
  EXPECT_NEAR(moment[0], last.joint_moment[0].x, 1e-6 * std::abs(last.joint_moment[0].x) + 1e-12);
  for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_NE(entry.path().extension(), ".tmp");
}

TEST_F(RecordingTest, TwoTrajectoriesShareOnePage) {
  std::vector<Trajectory> slots;
  slots.push_back(record("one", Scene::parse(kScene, "one")));
  LoadOptions softer;
  softer.overrides = {"/materials/m/young=2e5", "/rods/0/segments=5"};
  slots.push_back(record("two", Scene::parse(kScene, "two", ".", softer)));
  view::write_html(slots, folder_ / "both.html", kPage);
  const std::vector<Read> packets = packets_of(folder_ / "both.html");
  EXPECT_EQ(packets[0].header["name"], "one");
  EXPECT_EQ(packets[1].header["name"], "two");
  EXPECT_EQ(packets[1].header["slot"], 1);
  EXPECT_EQ(compare(packets, 0, slots[0]), slots[0].frame_count());
  EXPECT_EQ(compare(packets, 1, slots[1]), slots[1].frame_count());
}

TEST_F(RecordingTest, ARunThatEndsBeforeItsEndLeavesNoPage) {
  const Scene scene = Scene::parse(kScene, "beam");
  {
    view::HtmlWriter writer(folder_ / "half.html", kPage);
    const Simulation simulation(scene);
    writer.begin(simulation.model(), {});
    writer.write(simulation.frame(0));
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(RecordingTest, APageWithoutAPlaceForItIsRefused) {
  EXPECT_THROW(view::HtmlWriter(folder_ / "x.html", "<p>osier-recording</p>", folder_), InputError);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace osier

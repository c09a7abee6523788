#include "view/playback_session.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/text.hpp"
#include "osier/simulation.hpp"
#include "view/landmarks.hpp"
#include "view/packet.hpp"

namespace osier::view {

/// Every frame of a short run; of a long one as many as are read in about a second, and the last.
static std::vector<Vec3d> landmarks_of(Trajectory& trajectory) {
  constexpr long kPositions = 10'000'000;
  const int frames = trajectory.frame_count();
  const int most = static_cast<int>(std::clamp<long>(kPositions / std::max(1, trajectory.model().vertex_count()), 16, frames));
  Landmarks landmarks;
  try {
    for (int i = 0; i < most; ++i)
      landmarks.add(trajectory.positions(most > 1 ? static_cast<int>(static_cast<long>(i) * (frames - 1) / (most - 1)) : 0));
  } catch (const RunError&) {
    // A damaged frame is told when somebody goes there.
  }
  return landmarks.points();
}

static std::string model_packet_of(Trajectory& trajectory, const std::string& name, int slot) {
  ModelText text = model_text(trajectory);
  text.name = name;
  text.slot = slot;
  for (int f = 0; f < trajectory.frame_count(); ++f) text.times.push_back(trajectory.time(f));
  text.reports = trajectory.reports();
  text.probes = read_probes(trajectory.path().parent_path());
  text.landmarks = landmarks_of(trajectory);
  return model_packet(trajectory.model(), text);
}

PlaybackSession::PlaybackSession(std::vector<Trajectory> slots) : slots_(std::move(slots)), ahead_(slots_.size()) {
  for (const Trajectory& t : slots_) joints_.push_back(joints_between_segments(t.model()));
}

Message PlaybackSession::hello() {
  const Trajectory& first = slots_.front();
  const int frames = first.frame_count();
  const double span = frames > 1 ? first.time(frames - 1) - first.time(0) : 0;
  return text_message({{"type", "hello"},
                       {"protocol", 1},
                       {"mode", "playback"},
                       {"version", version()},
                       {"scene", first.name()},
                       {"time_step", nullptr},
                       {"steps_per_frame", nullptr},
                       {"fps", span > 0 ? OrderedJson((frames - 1) / span) : OrderedJson(nullptr)},
                       {"is_static", false},
                       {"slots", slots_.size()},
                       {"parameters", OrderedJson::array()},
                       {"forces", OrderedJson::array()},
                       {"solvers", OrderedJson::array()},
                       {"solver", ""}});
}

std::vector<Message> PlaybackSession::models() {
  const std::vector<std::string> names = run_names(slots_);
  for (std::size_t s = models_.size(); s < slots_.size(); ++s)
    models_.push_back(binary_message(model_packet_of(slots_[s], names[s], static_cast<int>(s))));
  return models_;
}

Message PlaybackSession::message_of(std::size_t slot, int frame, FrameParts parts) {
  const FramePieces pieces{.velocity = false,
                           .orientation = parts.frame,
                           .moment = parts.joint_moment,
                           .sections = false,
                           .restart = false,
                           .contacts = parts.contacts};
  return binary_message(frame_packet(slots_[slot].read(frame, pieces), static_cast<int>(slot), joints_[slot], parts));
}

std::vector<Message> PlaybackSession::frames_for(Client& client) {
  std::vector<Message> list;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (client.ready == 0 || client.frame_seen[s] == client.frame_wanted[s]) continue;
    const int frame = client.frame_wanted[s];
    client.frame_seen[s] = frame;
    --client.ready;
    Ahead& ahead = ahead_[s];
    const bool foreseen = ahead.message && ahead.frame == frame && ahead.parts == client.parts;
    try {
      list.push_back(foreseen ? *ahead.message : message_of(s, frame, client.parts));
    } catch (const RunError& e) {
      list.push_back(text_message({{"type", "error"}, {"id", nullptr}, {"message", e.what()}}));
    }
    // The page goes on as it went, and from the last frame to the first.
    const int frames = slots_[s].frame_count(), stride = ahead.sent >= 0 && frame > ahead.sent ? frame - ahead.sent : 1;
    ahead = {.sent = frame, .frame = frame + stride < frames ? frame + stride : 0, .parts = client.parts, .message = {}};
  }
  return list;
}

void PlaybackSession::prepare() {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    Ahead& ahead = ahead_[s];
    if (ahead.message || ahead.frame < 0) continue;
    try {
      ahead.message = message_of(s, ahead.frame, ahead.parts);
    } catch (const RunError&) {
      ahead.frame = -1;  // told when somebody goes there
    }
  }
}

void PlaybackSession::handle(Client& client, const std::string& type, const Json& command) {
  if (type != "seek") refuse("type", shorten(type) + " is not for recorded runs", "use seek, or view a scene");
  const int slot = command.contains("slot") ? whole_number_of(command, "slot") : 0;
  if (slot < 0 || static_cast<std::size_t>(slot) >= slots_.size())
    refuse("slot", fmt::format("there is no slot {}", slot), fmt::format("use 0 to {}", slots_.size() - 1));
  const int frame = whole_number_of(command, "frame"), frames = slots_[static_cast<std::size_t>(slot)].frame_count();
  if (frame < 0 || frame >= frames)
    refuse("frame", fmt::format("there is no frame {}", frame), fmt::format("use 0 to {}", frames - 1));
  client.frame_wanted[slot] = frame;
  client.frame_seen[slot] = -1;  // asked for once more is sent once more
}

}  // namespace osier::view

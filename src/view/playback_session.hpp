// One or two recorded runs. The page keeps the time and asks for frames; here they are read, on one thread, as HDF5 wants it.
#pragma once

#include "osier/trajectory.hpp"
#include "view/session.hpp"

namespace osier::view {

class PlaybackSession final : public Session {
 public:
  explicit PlaybackSession(std::vector<Trajectory> slots);

 private:
  Message hello() override;
  std::vector<Message> models() override;
  std::vector<Message> frames_for(Client& client) override;
  void handle(Client& client, const std::string& type, const Json& command) override;
  void prepare() override;
  int most_ready() const override { return static_cast<int>(slots_.size()); }

  /// The frame likely to be asked for next: unpacking one takes about as long as the page takes to draw one.
  struct Ahead {
    int sent = -1, frame = -1;
    FrameParts parts;
    std::optional<Message> message;  ///< of that frame, once it has been read
  };
  Message message_of(std::size_t slot, int frame, FrameParts parts);

  std::vector<Trajectory> slots_;
  std::vector<std::vector<Index>> joints_;
  std::vector<Ahead> ahead_;
  std::vector<Message> models_;  ///< once somebody has asked
};

}  // namespace osier::view

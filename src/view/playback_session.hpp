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
  int most_ready() const override { return static_cast<int>(slots_.size()); }

  std::vector<Trajectory> slots_;
  std::vector<std::vector<Index>> joints_;
  std::vector<Message> models_;  ///< once somebody has asked
};

}  // namespace osier::view

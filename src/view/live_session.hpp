// A simulation that runs while one looks at it, and can be taken hold of.
#pragma once

#include <filesystem>
#include <set>

#include "osier/simulation.hpp"
#include "view/parameters.hpp"
#include "view/session.hpp"

namespace osier::view {

class LiveSession final : public Session {
 public:
  /// `folder`: where the scene's own files lie. `playing`: from when somebody looks. `threads`: where the scene does not say.
  LiveSession(const Scene& scene, std::filesystem::path folder, bool playing, int threads = 1);

 private:
  Message hello() override;
  std::vector<Message> models() override;
  std::vector<Message> frames_for(Client& client) override;
  void handle(Client& client, const std::string& type, const Json& command) override;
  std::optional<Clock::time_point> advance() override;

  void play(bool on);
  void next_frame();
  void restart();
  void set(const Json& command);
  void choose_force(const Json& command);
  void choose_solver(const Json& command);
  Json changed_scene() const;
  LoadOptions load_options() const;
  void rebuild(const Json& json, std::vector<Parameter> known, const LoadOptions& options);
  void begin_again();
  static Message model_message(const Simulation& simulation, const Scene& scene);
  void take_model(Message packet);
  std::span<const Vec3d> measure_moments();
  OrderedJson status() const;

  std::filesystem::path folder_;
  int threads_;
  Json json_;    ///< the scene as it stands, without its output
  Json output_;  ///< what it asked to be written
  Scene scene_;
  std::unique_ptr<Simulation> simulation_;
  std::vector<Parameter> parameters_;
  struct Used {
    Json settings;                      ///< `solver` and `execution`
    std::vector<Parameter> parameters;  ///< with the ranges that were announced
  };
  std::map<std::string, Used> used_;  ///< as last used, by solver
  std::set<std::size_t> forces_off_;

  bool playing_, seen_ = false;  ///< until somebody looks, nothing moves
  double speed_ = 1;             ///< simulated seconds per second, 0: as fast as possible
  Clock::time_point due_{};
  int frame_ = 0;
  double ms_per_frame_ = 0;
  std::string error_, note_;

  long serial_ = 0;   ///< of what there is to see; grows with every change
  long packed_ = -1;  ///< the serial that `packed_frame_` and `packed_status_` show
  FrameParts packed_parts_;
  Message packed_frame_, packed_status_;
  std::vector<Index> joints_;
  std::vector<Vec3d> moments_;
  Message model_packet_;
};

}  // namespace osier::view

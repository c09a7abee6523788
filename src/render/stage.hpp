// From a run to its pictures: looks at the frames, sets up camera and light once, then draws frame after frame.
#pragma once

#include <functional>
#include <optional>

#include "render/contact_marks.hpp"
#include "render/geometry.hpp"
#include "render/image.hpp"
#include "render/picture.hpp"
#include "render/survey.hpp"

namespace osier {
template <>
struct Choices<render::Style> {
  static constexpr std::array<const char*, 3> names{"tubes", "yarn", "hair"};
};
}  // namespace osier

namespace osier::render {

struct StageOptions {
  int width = 1280, height = 720, samples = 16;
  View view;
  double orbit = 0;  ///< degrees per second of the run
  GeometryOptions geometry;
  ColorBy color = ColorBy::automatic;
  double range = 0;          ///< value at the end of the colour scale; 0: the largest in the frames looked at
  std::vector<Rgb> palette;  ///< empty: the style's own
  LegendUse legend = LegendUse::automatic;
  Rgb background{1, 1, 1};             ///< as the screen shows it, linear
  bool contacts = false;               ///< whether what touches is marked, with its forces
  double force_scale = 0;              ///< length of their arrows per newton [m/N]; 0: the strongest one is well visible
  bool floor = true;                   ///< unless the scene wants none
  std::optional<double> floor_height;  ///< [m]; else as the scene has it (ground_of), or the lowest point looked at
};

/// Calls its argument with frame after frame; asked twice.
using EachFrame = std::function<void(const std::function<void(const Frame&)>&)>;

class Stage {
 public:
  /// `model` must outlive it. The frames are those that must be inside the picture.
  Stage(const Model& model, const RunInfo& run, const StageOptions& options, const EachFrame& frames);

  bool empty() const { return survey_.empty(); }
  double range() const;  ///< at the end of the colour scale
  /// Of the arrows of contacts [m/N]; 0 where nothing touches.
  double force_scale() const;
  /// What the colours mean; empty when they need no words or there is no room for them.
  Legend legend() const;
  double grid() const { return grid_spacing(survey_.radius()); }  ///< [m]
  Camera camera(double time) const;
  const Studio& studio() const { return *studio_; }
  Image draw(const Frame& frame, const Executor& executor, const PictureOptions& progress = {}) const;

 private:
  void place_camera(const EachFrame& frames);
  std::vector<Rgb> colors(const Frame& frame) const;

  void find_floor(const Look& look);
  std::vector<Vec3d> obstacle_points(const Frame& frame) const;

  const Model& model_;
  std::vector<osier::Surface> obstacles_;
  std::vector<std::uint8_t> is_floor_;  ///< of these: a level plane, which is drawn as the studio's floor
  StageOptions options_;
  std::vector<Index> rod_of_segment_;
  ColorGroups groups_;
  Survey survey_;
  Camera camera_;
  double azimuth_ = 0, first_time_ = 0;
  double strongest_contact_ = 0;  ///< in the frames looked at [N]
  double mean_radius_ = 0;        ///< of the rods [m]
  std::optional<Studio> studio_;
};

}  // namespace osier::render

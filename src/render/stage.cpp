#include "render/stage.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/up.hpp"
#include "math/quat.hpp"

namespace osier::render {

namespace {

constexpr double kStageMargin = 0.07, kElevation = 14;

const std::vector<Rgb>& palette_of(Style style) {
  static const std::vector<Rgb> hair{*parse_hex("#7a4a2b")};
  return style == Style::hair ? hair : default_palette();
}

}  // namespace

Stage::Stage(const Model& model, const RunInfo& run, const StageOptions& options, const EachFrame& frames)
    : model_(model),
      obstacles_(run.obstacles),
      options_(options),
      rod_of_segment_(rod_of_segments(model)),
      survey_(up_direction(run.scene_json), options.color, options.geometry.thickness) {
  const Look look = look_of(run);
  // Colours that the author of the scene chose need no words unless somebody asks for them.
  if (options_.color == ColorBy::automatic && options_.legend == LegendUse::automatic) options_.legend = LegendUse::off;
  options_.color = chosen(options_.color, look);
  if (options_.palette.empty()) {
    options_.palette = palette_of(options_.geometry.style);
    if (options_.color == ColorBy::material) options_.palette = material_palette(look, options_.palette);
  }
  if (!is_measured(options_.color))
    groups_ = options_.color == ColorBy::rod ? group_by_rod(model, rod_of_segment_) : group_by_material(run);
  find_floor(look);
  bool first = true;
  frames([&](const Frame& frame) {
    if (first) first_time_ = frame.time;
    first = false;
    survey_.add(model_, frame, obstacle_points(frame));
    for (const ContactPoint& c : frame.contacts) strongest_contact_ = std::max(strongest_contact_, norm(c.normal_force));
  });
  const double vertices = static_cast<double>(std::max<std::size_t>(1, model.vertex_radius.size()));
  for (const double r : model.vertex_radius) mean_radius_ += options_.geometry.thickness * r / vertices;
  place_camera(frames);
  studio_.emplace(survey_.axes(), survey_.center(), survey_.radius(), options_.floor_height.value_or(survey_.lowest()), azimuth_,
                  options_.background);
  studio_->floor = options_.floor;
}

std::vector<Vec3d> Stage::obstacle_points(const Frame& frame) const {
  if (frame.obstacle_points.empty()) return points_of(obstacles_);
  return {frame.obstacle_points.begin(), frame.obstacle_points.end()};
}

/// Level planes are not drawn: they are the floor, lie below it, or there is to be none.
void Stage::find_floor(const Look& look) {
  if (look.no_ground && !options_.floor_height) options_.floor = false;
  if (!options_.floor_height) options_.floor_height = ground_of(look, obstacles_, survey_.axes().up);
  is_floor_.assign(obstacles_.size(), 0);
  for (std::size_t o = 0; o < obstacles_.size(); ++o) {
    const auto height = level_of(obstacles_[o], survey_.axes().up);
    is_floor_[o] = height && (!options_.floor || *height <= *options_.floor_height);
  }
}

void Stage::place_camera(const EachFrame& frames) {
  const View& view = options_.view;
  const Ground& axes = survey_.axes();
  if (view.from) {
    camera_ = camera_at(*view.from, view.at.value_or(survey_.center()), axes.up, view.fov, options_.width, options_.height);
    azimuth_ = std::atan2(-dot(camera_.forward, axes.east), -dot(camera_.forward, axes.south)) * 180 / std::numbers::pi;
  } else {
    azimuth_ = view.azimuth.value_or(survey_.broad_azimuth());
    Fit fit(looking_from(axes, azimuth_, view.elevation.value_or(kElevation)), view.fov, options_.width, options_.height);
    // What turns around must fit from every side.
    if (options_.orbit != 0) fit.add(survey_.center(), survey_.radius());
    else
      frames([&](const Frame& frame) {
        for_each_living_end(model_, frame, [&](const Vec3d& p, double r) { fit.add(p, options_.geometry.thickness * r); });
        for (const Vec3d& p : obstacle_points(frame))
          if (norm(p - survey_.center()) < 1.2 * survey_.radius()) fit.add(p, 0);
        if (!options_.contacts) return;
        for (const ContactPoint& c : frame.contacts)
          for (const double side : {1.0, -1.0})
            if (side > 0 || c.b >= 0) fit.add(c.position + (side * force_scale()) * c.normal_force, 0);
      });
    camera_ = fit.camera(kStageMargin);
    if (view.at) camera_.position += *view.at - survey_.center();
  }
  camera_.tan_x /= view.zoom, camera_.tan_y /= view.zoom;
}

double Stage::range() const {
  if (options_.range > 0) return options_.range;
  // Rounding errors must not be stretched over the whole scale: what is this small against the scene is nothing.
  const double size = survey_.radius();
  const double natural = options_.color == ColorBy::stretch ? 1 : options_.color == ColorBy::speed ? size : 1 / size;
  return survey_.range() > 1e-9 * natural ? survey_.range() : 0;
}

double Stage::force_scale() const {
  constexpr double kLongest = 0.25;  // of the size of what is looked at
  if (options_.force_scale > 0) return options_.force_scale;
  return strongest_contact_ > 0 ? kLongest * survey_.radius() / strongest_contact_ : 0;
}

Legend Stage::legend() const {
  if (options_.legend == LegendUse::off || empty() || !legend_fits(options_.width, options_.height)) return {};
  if (is_measured(options_.color)) return legend_of_values(options_.color, range(), survey_.range());
  if (options_.color == ColorBy::material) return legend_of_groups("material", groups_, options_.palette);
  return {};
}

Camera Stage::camera(double time) const {
  Camera c = camera_;
  if (options_.orbit == 0) return c;
  const Vec3d pivot = options_.view.at.value_or(survey_.center());
  const Quatd turn = axis_angle(survey_.axes().up, options_.orbit * (time - first_time_) * std::numbers::pi / 180);
  c.position = pivot + rotate(turn, c.position - pivot);
  c.right = rotate(turn, c.right), c.up = rotate(turn, c.up), c.forward = rotate(turn, c.forward);
  return c;
}

std::vector<Rgb> Stage::colors(const Frame& frame) const {
  if (is_measured(options_.color)) return color_values(measured(model_, frame, options_.color), options_.color, range());
  return color_groups(groups_, options_.palette);
}

Image Stage::draw(const Frame& frame, const Executor& executor, const PictureOptions& progress) const {
  const Camera view = camera(frame.time);
  const std::vector<Strand> strands = find_strands(model_, frame.segment_alive, rod_of_segment_);
  Geometry geometry = build_geometry(model_, frame, strands, colors(frame), view, options_.geometry, executor);
  add_obstacles(obstacles_, obstacle_points(frame), is_floor_, geometry);
  if (options_.contacts)
    add_contact_marks(frame.contacts, {.scale = force_scale(), .radius = 0.5 * mean_radius_}, view, geometry);
  const Tracer tracer(geometry, options_.geometry.style == Style::hair);
  PictureOptions options = progress;
  options.style = options_.geometry.style;
  options.samples = options_.samples;
  Image image = draw_picture(geometry, tracer, view, *studio_, options, executor);
  draw_legend(image, legend(), options_.background);
  return image;
}

}  // namespace osier::render

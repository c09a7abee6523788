#include "sim/changing_moduli.hpp"

namespace osier {

ChangingModuli::ChangingModuli(const Setup& setup) {
  std::vector<Index> place(setup.materials.size(), -1);
  for (std::size_t i = 0; i < place.size(); ++i) {
    const MaterialUse& use = setup.materials[i];
    if (!use.young_over_time.given() && !use.shear_over_time.given()) continue;
    place[i] = static_cast<Index>(tracks_.size());
    const auto or_one = [](const Track<double>& t) { return t.given() ? t : Track<double>(1.0); };
    tracks_.push_back({or_one(use.young_over_time), or_one(use.shear_over_time)});
  }
  if (tracks_.empty()) return;
  track_of_.assign(static_cast<std::size_t>(setup.model.segment_count()), -1);
  for (std::size_t s = 0; s < setup.segment_material.size() && s < track_of_.size(); ++s)
    if (const Index material = setup.segment_material[s]; material >= 0) track_of_[s] = place[static_cast<std::size_t>(material)];
  now_.resize(tracks_.size());
}

std::vector<ChangingModuli::Factors> ChangingModuli::at(double t) const {
  std::vector<Factors> list;
  for (const Tracks& track : tracks_) list.push_back({track.young.at(t), track.shear.at(t)});
  return list;
}

bool ChangingModuli::changes(double t) const { return at(t) != now_; }

void ChangingModuli::set(double t, const Model& scene, Model& model) {
  now_ = at(t);
  const auto of_frame = [&](Index f) {
    const Index track = f < model.segment_count() ? track_of_[static_cast<std::size_t>(f)] : -1;
    return track >= 0 ? now_[static_cast<std::size_t>(track)] : Factors{};
  };
  for (Index s = 0; s < model.segment_count(); ++s) {
    const Factors f = of_frame(s);
    const PerAxis& k = scene.segment_stiffness[s];
    model.segment_stiffness[s] = {f.shear * k.d1, f.shear * k.d2, f.young * k.d3};
  }
  for (Index j = 0; j < model.joint_count(); ++j) {
    const auto [a, b] = model.joint_frames[j];
    // A clamp's frame is no material.
    const Factors fa = of_frame(model.is_anchor(a) ? b : a), fb = of_frame(model.is_anchor(b) ? a : b);
    const double young = 0.5 * (fa.young + fb.young), shear = 0.5 * (fa.shear + fb.shear);
    const PerAxis& k = scene.joint_stiffness[j];
    model.joint_stiffness[j] = {young * k.d1, young * k.d2, shear * k.d3};
  }
}

}  // namespace osier

// The prims of a USD file together with those of its sublayers and with the values in its value clips.
//
// Of a run that lies in clips, all are looked through for their times, one after the other, but only the one or two that the
// chosen time needs are kept. A clip says values and nothing else: what it may name in turn is never opened, so nothing can go
// round in circles.
#pragma once

#include <memory>

#include "io/curves/usda_layer.hpp"

namespace osier {

class UsdaStage {
 public:
  explicit UsdaStage(const CurveSource& source);

  double meters_per_unit = 0.01;
  double time_codes_per_second = 24;
  UpAxis up = UpAxis::y;
  std::vector<UsdaPrim> prims;  ///< parents before children

  /// All times at which these prims, or what carries them, are given; ascending.
  std::vector<double> times(const std::vector<std::size_t>& wanted);
  /// Fetches the values of clips for this time.
  void go_to(double time);

 private:
  struct File {
    FileBeside beside;
    CurveSource source;
    UsdaLayer layer;
  };
  /// A moment of the stage, and where a clip has it.
  struct ClipSample {
    double time;
    std::size_t clip;
    double time_in_clip;
  };
  /// A prim and an attribute of it.
  using Key = std::pair<std::size_t, std::string>;
  /// An attribute whose values lie in clips, and which prim has those.
  struct Clipped {
    std::size_t owner = 0;
    std::vector<ClipSample> samples;
  };

  std::unique_ptr<File> open(const std::string& name) const;
  std::optional<std::size_t> child(std::optional<std::size_t> parent, const std::string& name) const;
  void add_below(const UsdaLayer& layer);
  /// Which prim of a clip stands for a prim of the stage.
  std::map<std::size_t, std::size_t> matched(std::size_t owner, const UsdaLayer& clip) const;
  void find_samples(std::size_t owner);
  [[noreturn]] void fail_without(const Key& what, std::size_t owner, std::size_t clip) const;

  const CurveSource& source_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> index_;  ///< by 1 + parent (0: none) and name
  std::vector<std::unique_ptr<File>> files_;                          ///< that values point into
  std::map<Key, Clipped> clipped_;
};

}  // namespace osier

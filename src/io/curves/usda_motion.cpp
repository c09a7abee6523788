#include "io/curves/usda_motion.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "io/curves/scan.hpp"
#include "io/curves/usda_stage.hpp"

namespace osier {

namespace {

std::string path_of(const std::vector<UsdaPrim>& prims, std::size_t prim) {
  std::string path;
  for (std::optional<std::size_t> p = prim; p; p = prims[*p].parent) path = "/" + prims[*p].name + path;
  return path;
}

std::size_t find_prim(const UsdaStage& stage, const CurveSource& source, const std::string& wanted) {
  constexpr std::size_t kMostPrims = 10'000;  // for a guess
  std::vector<std::size_t> found;
  std::vector<std::string> known;
  for (std::size_t p = 0; p < stage.prims.size(); ++p) {
    const std::string path = path_of(stage.prims, p);
    if (path == wanted || stage.prims[p].name == wanted) found.push_back(p);
    if (known.size() < kMostPrims) known.push_back(path);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    source.fail(fmt::format("has {} prims called {}", found.size(), in_quotes(wanted)), "give the whole path, /World/Name");
  const std::string guess = closest(wanted, known);
  source.fail(fmt::format("has no prim {}", in_quotes(wanted)),
              guess.empty() ? "give its path, /World/Name" : "did you mean `" + guess + "`?");
}

}  // namespace

PrimMotion read_usda_prim(const CurveSource& source, const std::string& prim) {
  UsdaStage stage(source);
  const std::size_t p = find_prim(stage, source, prim);
  PrimMotion motion{.times = {}, .to_world = {}, .up = stage.up};
  for (const double time : stage.times({p})) {
    stage.go_to(time);
    Affine place = world_transform(stage.prims, p, time);
    place.translation = stage.meters_per_unit * place.translation;
    motion.times.push_back(time / stage.time_codes_per_second);
    motion.to_world.push_back(place);
  }
  if (motion.times.empty())
    source.fail(fmt::format("the prim {} does not move", in_quotes(prim)), "name one with animated transforms");
  return motion;
}

}  // namespace osier

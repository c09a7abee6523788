#include "io/curves/usda_stage.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "io/curves/moment.hpp"
#include "io/curves/scan.hpp"
#include "io/curves/usda_scanner.hpp"

namespace osier {

namespace {

constexpr double kEver = std::numeric_limits<double>::infinity();
/// A file of a few lines could ask for any number, by showing one clip again and again.
constexpr std::size_t kMostSamples = 10'000'000;

/// Which time in the files belongs to a time of the stage: straight between the pairs, held beyond them.
class ClipClock {
 public:
  explicit ClipClock(const std::vector<std::array<double, 2>>& knots) : knots_(knots) {}

  double in_clip(double time) const {
    if (knots_.empty()) return time;
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), time, [](double t, const auto& k) { return t < k[0]; });
    if (after == knots_.begin()) return knots_.front()[1];
    if (after == knots_.end()) return knots_.back()[1];
    const auto& [t0, c0] = *(after - 1);
    const auto& [t1, c1] = *after;
    return t1 - t0 == c1 - c0 ? time + (c0 - t0) : c0 + (time - t0) * (c1 - c0) / (t1 - t0);  // the first is exact
  }

  /// Calls take(time, time in the clip) for every moment of the stage from `begin` up to `end` at which something is said.
  template <class Take>
  void each(double begin, double end, const std::vector<double>& samples, Take take) const {
    if (std::isfinite(begin)) take(begin, in_clip(begin));
    if (knots_.empty()) {
      for (auto s = std::lower_bound(samples.begin(), samples.end(), begin); s != samples.end() && *s < end; ++s) take(*s, *s);
      return;
    }
    for (std::size_t k = 0; k < knots_.size(); ++k) {
      const auto& [t0, c0] = knots_[k];
      if (t0 >= end) break;
      // Where a clip begins anew, what was before ends just before.
      const bool jumps = k + 1 < knots_.size() && knots_[k + 1][0] == t0;
      if (t0 >= begin) take(jumps ? std::nextafter(t0, -kEver) : t0, c0);
      if (k + 1 == knots_.size() || knots_[k + 1][0] < begin) continue;
      const auto& [t1, c1] = knots_[k + 1];
      const double low = std::min(c0, c1), high = std::max(c0, c1);
      for (auto s = std::lower_bound(samples.begin(), samples.end(), low); s != samples.end() && *s <= high && c0 != c1; ++s) {
        const double time = t1 - t0 == c1 - c0 ? *s + (t0 - c0) : t0 + (*s - c0) * (t1 - t0) / (c1 - c0);
        if (time > t0 && time < t1 && time >= begin && time < end) take(time, *s);
      }
    }
  }

 private:
  const std::vector<std::array<double, 2>>& knots_;
};

bool is_of_curves(const std::string& attribute, bool of_the_prim) { return of_the_prim || attribute.starts_with("xformOp:"); }

}  // namespace

UsdaStage::UsdaStage(const CurveSource& source) : source_(source) {
  UsdaLayer root = UsdaLayer::parse(source);
  meters_per_unit = root.meters_per_unit, up = root.up;
  time_codes_per_second = root.time_codes_per_second;
  prims = std::move(root.prims);
  for (std::size_t p = 0; p < prims.size(); ++p)
    index_.try_emplace({prims[p].parent ? *prims[p].parent + 1 : 0, prims[p].name}, p);
  for (const std::string& name : root.sublayers) {
    files_.push_back(open(name));
    const File& file = *files_.back();
    if (!file.layer.sublayers.empty())
      file.source.fail("is a sublayer with sublayers, which are not read",
                       "write one flat layer, for instance with usdcat --flatten");
    for (const UsdaPrim& p : file.layer.prims)
      if (p.clips)
        UsdaScanner(file.source).fail_at(p.at, "value clips of a sublayer are not read", "name them in the file itself");
    add_below(file.layer);
  }
  for (std::size_t p = 0; p < prims.size(); ++p)
    if (prims[p].clips) find_samples(p);
}

std::unique_ptr<UsdaStage::File> UsdaStage::open(const std::string& name) const {
  if (!source_.beside)
    source_.fail(fmt::format("names {}, which bytes in memory do not have beside them", in_quotes(name, 200)),
                 "read it as a file, or write one flat layer");
  auto file = std::make_unique<File>();
  file->beside = source_.beside(name);
  file->source = {file->beside.bytes, file->beside.file};
  file->layer = UsdaLayer::parse(file->source);
  return file;
}

std::optional<std::size_t> UsdaStage::child(std::optional<std::size_t> parent, const std::string& name) const {
  const auto found = index_.find({parent ? *parent + 1 : 0, name});
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

/// What a stronger layer says already stays.
void UsdaStage::add_below(const UsdaLayer& layer) {
  std::vector<std::size_t> here(layer.prims.size());
  for (std::size_t p = 0; p < layer.prims.size(); ++p) {
    const UsdaPrim& weaker = layer.prims[p];
    const std::optional<std::size_t> parent = weaker.parent ? std::optional(here[*weaker.parent]) : std::nullopt;
    if (const auto found = child(parent, weaker.name)) {
      UsdaPrim& prim = prims[here[p] = *found];
      if (prim.type.empty()) prim.type = weaker.type;
      prim.defined = prim.defined || weaker.defined;
      prim.hidden = prim.hidden || weaker.hidden;
      if (prim.composed_by.empty()) prim.composed_by = weaker.composed_by;
      for (const auto& [name, attribute] : weaker.attributes) {
        UsdaAttribute& own = prim.attributes[name];
        const std::string interpolation = own.interpolation.empty() ? attribute.interpolation : own.interpolation;
        if (!own.has_value()) own = attribute;
        own.interpolation = interpolation;
      }
      continue;
    }
    here[p] = prims.size();
    index_[{parent ? *parent + 1 : 0, weaker.name}] = prims.size();
    prims.push_back(weaker);
    prims.back().parent = parent;
  }
}

std::map<std::size_t, std::size_t> UsdaStage::matched(std::size_t owner, const UsdaLayer& clip) const {
  // primPath is where the owner stands in a clip: `/Rods`.
  std::vector<std::string> way;
  for (std::string_view rest = prims[owner].clips->prim_path; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (slash > 0) way.emplace_back(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  std::map<std::size_t, std::size_t> pairs;
  std::vector<std::size_t> depth(clip.prims.size(), 0);              // how much of the way a prim has gone, from 1
  std::vector<std::optional<std::size_t>> stage(clip.prims.size());  // at the end of it and below
  for (std::size_t p = 0; p < clip.prims.size(); ++p) {
    const UsdaPrim& prim = clip.prims[p];
    if (prim.parent && stage[*prim.parent]) {
      stage[p] = child(stage[*prim.parent], prim.name);
    } else {
      const std::size_t before = prim.parent ? depth[*prim.parent] : 0;
      if ((prim.parent && before == 0) || before >= way.size() || way[before] != prim.name) continue;
      depth[p] = before + 1;
      if (depth[p] == way.size()) stage[p] = owner;
    }
    if (stage[p]) pairs.emplace(*stage[p], p);
  }
  return pairs;
}

void UsdaStage::find_samples(std::size_t owner) {
  const UsdaClips& clips = *prims[owner].clips;
  for (std::optional<std::size_t> outer = prims[owner].parent; outer; outer = prims[*outer].parent)
    if (prims[*outer].clips)
      UsdaScanner(source_).fail_at(clips.at, "value clips below value clips are not read", "keep one of them");
  // With a manifest, what it does not list is not looked for in the clips.
  std::optional<std::set<Key>> listed;
  if (!clips.manifest.empty()) {
    const auto manifest = open(clips.manifest);
    listed.emplace();
    for (const auto& [prim, there] : matched(owner, manifest->layer))
      for (const auto& [name, attribute] : manifest->layer.prims[there].attributes) listed->insert({prim, name});
  }
  // The times of every attribute in every clip that is ever active.
  std::vector<std::map<Key, std::vector<double>>> times(clips.files.size());
  std::map<std::string, std::size_t> seen;  // files may be named twice
  std::set<Key> found;
  for (const auto& [from, clip] : clips.active) {
    const auto [first, fresh] = seen.try_emplace(clips.files[clip], clip);
    if (!fresh) {
      if (first->second != clip) times[clip] = times[first->second];
      continue;
    }
    const auto file = open(clips.files[clip]);
    for (const auto& [prim, there] : matched(owner, file->layer))
      for (const auto& [name, attribute] : file->layer.prims[there].attributes) {
        const Key key{prim, name};
        const UsdaAttribute* own = prims[prim].find(name);
        const bool said_here = own && own->has_value() && own->source == &source_;
        if (attribute.times.empty() || said_here || (listed && !listed->contains(key))) continue;
        times[clip][key] = attribute.times;
        found.insert(key);
      }
  }
  std::size_t total = 0;
  for (const Key& key : found) {
    clipped_[key].owner = owner;
    std::vector<ClipSample>& samples = clipped_[key].samples;
    for (std::size_t i = 0; i < clips.active.size(); ++i) {
      const auto& [from, clip] = clips.active[i];
      const auto there = times[clip].find(key);
      if (there == times[clip].end()) fail_without(key, owner, clip);
      // Before the first time the first clip holds.
      const double first = clips.times.empty() ? there->second.front() : clips.times.front()[0];
      const double begin = i == 0 ? std::min(from, first) : from;
      const double end = i + 1 < clips.active.size() ? clips.active[i + 1].first : kEver;
      if (begin >= end) continue;
      ClipClock(clips.times).each(begin, end, there->second, [&, in = clip](double time, double time_in_clip) {
        samples.push_back({time, in, time_in_clip});
        if (++total > kMostSamples)
          UsdaScanner(source_).fail_at(clips.at, fmt::format("the value clips have more than {} samples", kMostSamples),
                                       "write fewer frames");
      });
    }
    // At one time the later entry counts: it was the last to begin.
    std::stable_sort(samples.begin(), samples.end(), [](const ClipSample& a, const ClipSample& b) { return a.time < b.time; });
    std::vector<ClipSample> kept;
    for (const ClipSample& s : samples)
      if (!kept.empty() && kept.back().time == s.time) kept.back() = s;
      else kept.push_back(s);
    samples = std::move(kept);
  }
}

void UsdaStage::fail_without(const Key& what, std::size_t owner, std::size_t clip) const {
  const UsdaClips& clips = *prims[owner].clips;
  UsdaScanner(source_).fail_at(clips.at,
                               fmt::format("the clip {} has no time samples of {} of prim {}", in_quotes(clips.files[clip], 200),
                                           in_quotes(what.second), in_quotes(prims[what.first].name)),
                               "write the clips anew");
}

std::vector<double> UsdaStage::times(const std::vector<std::size_t>& wanted) {
  std::vector<double> all;
  std::set<std::size_t> own(wanted.begin(), wanted.end()), around;
  for (std::size_t p : wanted)
    for (std::optional<std::size_t> up_to = p; up_to; up_to = prims[*up_to].parent) around.insert(*up_to);
  for (const std::size_t p : around)
    for (const auto& [name, attribute] : prims[p].attributes)
      if (is_of_curves(name, own.contains(p)) && !clipped_.contains({p, name}))
        all.insert(all.end(), attribute.times.begin(), attribute.times.end());
  for (const auto& [key, clipped] : clipped_)
    if (around.contains(key.first) && is_of_curves(key.second, own.contains(key.first)))
      for (const ClipSample& s : clipped.samples) all.push_back(s.time);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void UsdaStage::go_to(double time) {
  struct Opened {
    File* file = nullptr;
    std::map<std::size_t, std::size_t> prim;  ///< of the clip, by prim of the stage
  };
  std::map<std::pair<std::size_t, std::string>, Opened> opened;  // by owner and name
  for (const auto& [key, clipped] : clipped_) {
    std::vector<double> times;
    for (const ClipSample& s : clipped.samples) times.push_back(s.time);
    const Moment moment = moment_at(times, time);
    UsdaAttribute& attribute = prims[key.first].attributes[key.second];
    const std::string interpolation = attribute.interpolation;
    attribute = {};
    attribute.interpolation = interpolation;
    for (std::size_t i = moment.before; i <= moment.after; ++i) {
      const ClipSample& sample = clipped.samples[i];
      const std::string& name = prims[clipped.owner].clips->files[sample.clip];
      Opened& clip = opened[{clipped.owner, name}];
      if (!clip.file) {
        files_.push_back(open(name));
        clip.file = files_.back().get();
        clip.prim = matched(clipped.owner, clip.file->layer);
      }
      const auto there = clip.prim.find(key.first);
      const UsdaAttribute* source = there == clip.prim.end() ? nullptr : clip.file->layer.prims[there->second].find(key.second);
      if (!source || source->times.empty()) fail_without(key, clipped.owner, sample.clip);  // it has changed in between
      attribute.source = source->source, attribute.at = source->at;
      const Moment in_clip = moment_at(source->times, sample.time_in_clip);
      attribute.times.push_back(sample.time);
      attribute.samples.push_back(
          {&clip.file->source, source->samples[in_clip.before].at, source->samples[in_clip.after].at, in_clip.t});
    }
  }
}

}  // namespace osier

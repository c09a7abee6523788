#include "io/curves/usda_layer.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "io/curves/moment.hpp"
#include "io/curves/scan.hpp"
#include "io/curves/usda_scanner.hpp"

namespace osier {

namespace {

constexpr int kDeepest = 100;

bool is_wanted(std::string_view name) {
  for (const char* known : {"points", "widths", "curveVertexCounts", "type", "basis", "wrap", "xformOpOrder"})
    if (name == known) return true;
  return name.starts_with("xformOp:") || name.starts_with("primvars:widths") || name.starts_with("primvars:osier:");
}

class LayerParser {
 public:
  explicit LayerParser(const CurveSource& source) : source_(source), scan_(source) {}

  UsdaLayer run() {
    if (!source_.text().starts_with("#usda 1."))
      source_.fail_at_line(1, "does not begin with `#usda 1.0`", "is this USD text? Binary USD becomes text with usdcat");
    if (scan_.accept('(')) metadata([&](std::string_view key) { layer_metadata(key); });
    while (!scan_.at_end()) statement({}, 0);
    return std::move(layer_);
  }

 private:
  /// `key = value` and loose strings up to `)`. `take` is called with the scanner before the value.
  template <class Take>
  void metadata(Take take) {
    while (!scan_.accept(')')) {
      if (scan_.accept(';') || scan_.accept(',')) continue;
      if (scan_.peek() == '"' || scan_.peek() == '\'') {
        scan_.skip_value();
        continue;
      }
      const std::vector<std::string_view> words = scan_.words_of_line();
      if (words.empty()) scan_.expect(')', "metadata");
      if (words.empty()) return;
      if (!scan_.accept('=')) continue;  // `delete foo` and the like
      const std::size_t value = scan_.at();
      take(words.back());
      if (scan_.at() == value) scan_.skip_value();
    }
  }

  void layer_metadata(std::string_view key) {
    if (key == "upAxis") {
      const std::string axis = scan_.string();
      if (axis == "X" || axis == "Y" || axis == "Z") layer_.up = static_cast<UpAxis>(axis[0] - 'X');
      else scan_.fail(fmt::format("upAxis is {}", in_quotes(axis)), "use Y or Z");
    } else if (key == "metersPerUnit") {
      layer_.meters_per_unit = scan_.number();
      if (!(layer_.meters_per_unit > 0 && std::isfinite(layer_.meters_per_unit)))
        scan_.fail("metersPerUnit is not a positive number", "use 1 for metres");
    } else if (key == "timeCodesPerSecond") {
      layer_.time_codes_per_second = scan_.number();
      if (!(layer_.time_codes_per_second > 0 && std::isfinite(layer_.time_codes_per_second)))
        scan_.fail("timeCodesPerSecond is not a positive number", "use 24");
    } else if (key == "subLayers") {
      scan_.expect('[', "sublayers");
      while (!scan_.accept(']')) {
        layer_.sublayers.push_back(scan_.asset());
        if (scan_.peek() == '(') scan_.fail("a sublayer with another time is not read", "write one flat layer");
        if (scan_.peek() != ']') scan_.expect(',', "sublayers");
      }
    }
  }

  /// `{ string a = "b"; dictionary c = { ... } }`: `take` is called with the scanner before each value.
  template <class Take>
  void dictionary(Take take) {
    scan_.expect('{', "a dictionary");
    while (!scan_.accept('}')) {
      if (scan_.accept(';') || scan_.accept(',')) continue;
      std::vector<std::string_view> words = scan_.words_of_line();
      std::string key = words.empty() ? "" : std::string(words.back());
      if (scan_.peek() == '"' || scan_.peek() == '\'') key = scan_.string();
      scan_.expect('=', "a dictionary");
      scan_.peek();
      const std::size_t value = scan_.at();
      take(key);
      if (scan_.at() == value) scan_.skip_value();
    }
  }

  UsdaClips clip_set() {
    UsdaClips clips;
    const auto pairs = [&] {
      std::vector<std::array<double, 2>> list;
      const std::vector<double> flat = scan_.numbers(2);
      for (std::size_t i = 0; i + 1 < flat.size(); i += 2) list.push_back({flat[i], flat[i + 1]});
      for (const auto& [a, b] : list)
        if (!std::isfinite(a) || !std::isfinite(b)) scan_.fail("a time of value clips is not finite", "use finite numbers");
      std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x[0] < y[0]; });
      return list;
    };
    clips.at = scan_.at();
    dictionary([&](std::string_view key) {
      if (key == "assetPaths") {
        scan_.expect('[', "assetPaths");
        while (!scan_.accept(']')) {
          clips.files.push_back(scan_.asset());
          if (scan_.peek() != ']') scan_.expect(',', "assetPaths");
        }
      } else if (key == "active") {
        for (const auto& [time, clip] : pairs()) {
          if (!(clip >= 0 && clip < 1e9 && std::nearbyint(clip) == clip))
            scan_.fail(fmt::format("{} is not the number of a clip", clip), "count the clips from 0");
          clips.active.emplace_back(time, static_cast<std::size_t>(clip));
        }
      } else if (key == "times") {
        clips.times = pairs();
      } else if (key == "manifestAssetPath") {
        clips.manifest = scan_.asset();
      } else if (key == "primPath") {
        clips.prim_path = scan_.string();
      } else if (key.starts_with("template")) {
        scan_.fail("value clips by a template are not read", "list them as assetPaths, with usdstitchclips");
      }
    });
    if (clips.files.empty() || clips.active.empty() || clips.prim_path.empty())
      scan_.fail_at(clips.at, "value clips without assetPaths, active or primPath", "write the file anew");
    for (const auto& [time, clip] : clips.active)
      if (clip >= clips.files.size())
        scan_.fail_at(clips.at, fmt::format("clip {} does not exist", clip), fmt::format("there are {}", clips.files.size()));
    return clips;
  }

  void statement(std::optional<std::size_t> parent, int depth) {
    if (scan_.accept(';')) return;
    const std::size_t at = scan_.at();
    const std::vector<std::string_view> words = scan_.words_of_line();
    if (words.empty()) scan_.fail("is neither a prim nor a property", "is this USD text?");
    if (words[0] == "def" || words[0] == "over" || words[0] == "class") prim(words, parent, at, depth);
    else if (words[0] == "variantSet") {
      scan_.string();
      scan_.expect('=', "a variant set");
      scan_.skip_value();
      if (parent) layer_.prims[*parent].composed_by = "a variant set";
    } else property(words, parent, at);
  }

  void prim(const std::vector<std::string_view>& words, std::optional<std::size_t> parent, std::size_t at, int depth) {
    if (depth > kDeepest) scan_.fail_at(at, fmt::format("prims are nested more than {} deep", kDeepest), "flatten them");
    const std::size_t index = layer_.prims.size();
    layer_.prims.emplace_back();
    {
      UsdaPrim& p = layer_.prims.back();
      p.name = scan_.string();
      p.source = &source_;
      p.at = at;
      p.parent = parent;
      p.defined = words[0] == "def";
      if (words.size() > 1) p.type = words[1];
      p.hidden = words[0] == "class";
      if (scan_.accept('(')) metadata([&](std::string_view key) { prim_metadata(key, p); });
    }
    scan_.expect('{', "a prim");
    while (!scan_.accept('}')) {
      if (scan_.at_end()) scan_.fail_at(at, "the file ends inside the prim that begins here", "it is cut off: copy it again");
      statement(index, depth + 1);
    }
  }

  void prim_metadata(std::string_view key, UsdaPrim& p) {
    if (key == "active") {
      const std::string_view word = scan_.word();
      p.hidden = p.hidden || word == "false" || word == "0";
    }
    for (const char* arc : {"references", "payload", "inherits", "specializes", "variants"})
      if (key == arc) p.composed_by = arc;
    if (key == "clips" && scan_.peek() == '{')
      dictionary([&](std::string_view) {
        if (p.clips) scan_.fail("a second set of value clips is not read", "write one flat layer");
        p.clips = clip_set();
      });
  }

  /// `uniform token[] name = value (metadata)`, `point3f[] points.timeSamples = {...}`, `rel name = <...>`.
  void property(const std::vector<std::string_view>& words, std::optional<std::size_t> parent, std::size_t at) {
    std::string_view name = words.back();
    const std::size_t dot = name.find('.');
    const std::string_view suffix = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
    name = name.substr(0, dot);
    const bool wanted = parent && words.size() > 1 && words[words.size() - 2] != "rel" && is_wanted(name) &&
                        (suffix.empty() || suffix == "timeSamples");
    UsdaAttribute ignored;
    UsdaAttribute& attribute = wanted ? layer_.prims[*parent].attributes[std::string(name)] : ignored;
    attribute.source = &source_;
    attribute.at = at;
    if (scan_.accept('=')) {
      if (wanted && suffix == "timeSamples") time_samples(attribute);
      else {
        scan_.peek();
        const std::size_t value = scan_.at();
        scan_.skip_value();
        if (source_.text().substr(value, 4) != "None") attribute.value = UsdaValue{&source_, value, value, 0};
      }
    }
    if (scan_.accept('('))
      metadata([&](std::string_view key) {
        if (key == "interpolation") attribute.interpolation = scan_.string();
      });
  }

  void time_samples(UsdaAttribute& attribute) {
    std::vector<std::pair<double, std::size_t>> samples;
    scan_.expect('{', "time samples");
    while (!scan_.accept('}')) {
      const double time = scan_.number();
      if (!std::isfinite(time)) scan_.fail("a time that is not finite", "use a number");
      scan_.expect(':', "time samples");
      scan_.peek();
      samples.emplace_back(time, scan_.at());
      scan_.skip_value();
      if (scan_.peek() != '}') scan_.expect(',', "time samples");
    }
    std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    attribute.times.clear(), attribute.samples.clear();
    for (const auto& [time, place] : samples) {
      if (!attribute.times.empty() && attribute.times.back() == time)
        scan_.fail_at(place, fmt::format("time {} is there twice", time), "keep one");
      attribute.times.push_back(time);
      attribute.samples.push_back({&source_, place, place, 0});
    }
  }

  const CurveSource& source_;
  UsdaScanner scan_;
  UsdaLayer layer_;
};

}  // namespace

UsdaLayer UsdaLayer::parse(const CurveSource& source) { return LayerParser(source).run(); }

/// Between two values on the straight way, where both have as many numbers.
static std::vector<double> blend(std::vector<double> a, const std::vector<double>& b, double t) {
  if (a.size() == b.size())
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = (1 - t) * a[i] + t * b[i];
  return a;
}

std::vector<double> UsdaLayer::numbers(const UsdaAttribute& attribute, std::size_t arity, double time) {
  const auto read = [&](const UsdaValue& v) {
    std::vector<double> value = UsdaScanner(*v.source, v.at).numbers(arity);
    return v.t > 0 ? blend(std::move(value), UsdaScanner(*v.source, v.next).numbers(arity), v.t) : value;
  };
  if (attribute.times.empty()) return attribute.value ? read(*attribute.value) : std::vector<double>();
  const auto [before, after, t] = moment_at(attribute.times, time);
  std::vector<double> value = read(attribute.samples[before]);
  return after == before ? value : blend(std::move(value), read(attribute.samples[after]), t);
}

std::vector<std::string> UsdaLayer::strings(const UsdaAttribute& attribute, double time) {
  const auto read = [](const UsdaValue& v) { return UsdaScanner(*v.source, v.at).strings(); };
  if (attribute.times.empty()) return attribute.value ? read(*attribute.value) : std::vector<std::string>();
  return read(attribute.samples[moment_at(attribute.times, time).before]);
}

}  // namespace osier

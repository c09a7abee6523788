// .usda: every BasisCurves prim, linear or cubic. Transforms, unit and up axis are applied; sublayers and value clips are
// followed (usda_stage.hpp); what lies in references or variants is refused, not left out.
#include <algorithm>
#include <fmt/format.h>

#include "io/curves/cubic.hpp"
#include "io/curves/moment.hpp"
#include "io/curves/registry.hpp"
#include "io/curves/scan.hpp"
#include "io/curves/usda_groom.hpp"
#include "io/curves/usda_motion.hpp"
#include "io/curves/usda_scanner.hpp"
#include "io/curves/usda_stage.hpp"
#include "io/curves/usda_xform.hpp"
#include "io/usd_binary.hpp"

namespace osier {

namespace {

constexpr const char* kFlatten = "write one flat layer, for instance with usdcat --flatten";

class UsdaReader {
 public:
  UsdaReader(const CurveSource& source, const CurveReadOptions& options) : source_(source), options_(options), stage_(source) {}

  CurveSet run() {
    find_prims();
    time_ = chosen_time(stage_.times(curves_), options_, source_);
    stage_.go_to(time_);
    set_.up = stage_.up;
    for (std::size_t p : curves_) add(p);
    if (!any_width_) set_.widths.clear();
    if (!all_ids_) set_.ids.clear();
    return std::move(set_);
  }

  /// What the curves of run() are made of.
  std::vector<GroomPrim> describe() {
    find_prims();
    time_ = chosen_time(stage_.times(curves_), options_, source_);
    stage_.go_to(time_);
    std::vector<GroomPrim> list;
    std::size_t curves = 0;
    for (const std::size_t p : curves_) {
      const UsdaPrim& prim = stage_.prims[p];
      GroomPrim groom;
      for (std::optional<std::size_t> up = p; up; up = stage_.prims[*up].parent) {
        groom.path.insert(groom.path.begin(), stage_.prims[*up].name);
        for (const auto& [name, attribute] : stage_.prims[*up].attributes)
          groom.moves = groom.moves || (name.starts_with("xformOp:") && !attribute.times.empty());
      }
      groom.number = p;
      groom.linear = is_linear(prim), groom.basis = basis_of(prim), groom.wrap = wrap_of(prim);
      groom.counts = counts(prim), groom.first_curve = curves;
      groom.has_velocities = prim.find("velocities") != nullptr;
      for (const char* name : {"widths", "primvars:widths"})
        for (const double w : numbers(prim, name, 1)) groom.largest_width = std::max(groom.largest_width, w);
      curves += groom.counts.size();
      list.push_back(std::move(groom));
    }
    return list;
  }

  const UsdaStage& stage() const { return stage_; }
  Affine to_file(std::size_t prim, double time) {
    stage_.go_to(time);
    return world_transform(stage_.prims, prim, time);
  }
  std::vector<Vec3d> controls(std::size_t prim, double time) {
    stage_.go_to(time_ = time);
    const std::vector<double> xyz = numbers(stage_.prims[prim], "points", 3);
    std::vector<Vec3d> points;
    for (std::size_t i = 0; i + 2 < xyz.size(); i += 3) points.emplace_back(xyz[i], xyz[i + 1], xyz[i + 2]);
    return points;
  }

  /// At every time that the file has.
  CurveAnimation run_all() {
    find_prims();
    CurveAnimation all;
    for (const double time : stage_.times(curves_)) {
      time_ = time;
      stage_.go_to(time_);
      set_ = {};
      set_.up = stage_.up;
      for (std::size_t p : curves_) add(p);
      all.times.push_back(time / stage_.time_codes_per_second);
      set_.widths.clear();
      if (!all_ids_) set_.ids.clear();
      all.curves.push_back(std::move(set_));
    }
    if (all.times.empty()) source_.fail("its curves do not move", "pin the vertices without a motion");
    return all;
  }

 private:
  void find_prims() {
    std::string elsewhere;
    bool only_over = !stage_.prims.empty();
    std::vector<std::uint8_t> visible(stage_.prims.size());
    for (std::size_t p = 0; p < stage_.prims.size(); ++p) {
      const UsdaPrim& prim = stage_.prims[p];
      visible[p] = prim.defined && !prim.hidden && (!prim.parent || visible[*prim.parent]);
      only_over = only_over && !prim.defined;
      if (!prim.composed_by.empty()) elsewhere = prim.composed_by;
      if (prim.type != "BasisCurves" || !visible[p]) continue;
      curves_.push_back(p);
      for (std::optional<std::size_t> up = p; up; up = stage_.prims[*up].parent)
        if (const UsdaPrim& outer = stage_.prims[*up]; !outer.composed_by.empty())
          fail(outer, fmt::format("prim {} is composed ({}), which is not read", in_quotes(outer.name), outer.composed_by),
               kFlatten);
    }
    if (!curves_.empty() || stage_.prims.empty()) return;
    if (!elsewhere.empty()) source_.fail("has no BasisCurves of its own, but " + elsewhere, kFlatten);
    if (only_over) source_.fail("is part of another file: it only adds to prims (`over`)", "name the file that lists it");
    source_.fail("has no BasisCurves", "export curves; meshes, points and NURBS are not read");
  }

  /// `place`: an attribute or a prim.
  template <class Place>
  [[noreturn]] static void fail(const Place& place, const std::string& what, const std::string& remedy) {
    UsdaScanner(*place.source).fail_at(place.at, what, remedy);
  }

  std::vector<double> numbers(const UsdaPrim& prim, const char* name, std::size_t arity) const {
    const UsdaAttribute* a = prim.find(name);
    return a ? UsdaLayer::numbers(*a, arity, time_) : std::vector<double>();
  }

  /// One of the words, by its place; the first when the prim says nothing.
  template <std::size_t N>
  std::size_t choice(const UsdaPrim& prim, const char* name, const std::array<const char*, N>& words) const {
    const UsdaAttribute* a = prim.find(name);
    if (!a || !a->value) return 0;
    const std::vector<std::string> given = UsdaLayer::strings(*a, time_);
    for (std::size_t i = 0; i < N; ++i)
      if (given.size() == 1 && given[0] == words[i]) return i;
    std::string known;
    for (const char* w : words) known += std::string(known.empty() ? "" : ", ") + w;
    fail(*a, fmt::format("{} is not a {} that can be read", in_quotes(given.empty() ? "" : given[0]), name), "use " + known);
  }

  bool is_linear(const UsdaPrim& prim) const { return choice<2>(prim, "type", {"cubic", "linear"}) == 1; }
  CubicBasis basis_of(const UsdaPrim& prim) const {
    return static_cast<CubicBasis>(choice<3>(prim, "basis", {"bezier", "bspline", "catmullRom"}));
  }
  CubicWrap wrap_of(const UsdaPrim& prim) const {
    return static_cast<CubicWrap>(choice<3>(prim, "wrap", {"nonperiodic", "periodic", "pinned"}));
  }

  std::vector<std::size_t> counts(const UsdaPrim& prim) const {
    std::vector<std::size_t> result;
    for (double n : numbers(prim, "curveVertexCounts", 1)) {
      if (!(n >= 0 && n < 1e15 && std::nearbyint(n) == n))
        fail(*prim.find("curveVertexCounts"), fmt::format("{} is not a number of points", n), "use whole numbers from 0");
      result.push_back(static_cast<std::size_t>(n));
    }
    return result;
  }

  /// A value for every control point (vertex), every span end (varying), every curve (uniform) or once.
  struct Widths {
    std::vector<double> values;
    enum { none, once, per_curve, per_span, per_point } kind = none;
  };
  Widths widths(const UsdaPrim& prim, std::size_t curves, std::size_t points, std::size_t span_ends) const;

  void add(std::size_t index);
  void label(const UsdaPrim& prim, std::size_t curves);

  const CurveSource& source_;
  const CurveReadOptions options_;
  UsdaStage stage_;
  std::vector<std::size_t> curves_;
  double time_ = 0;
  CurveSet set_;
  bool any_width_ = false, all_ids_ = true;
};

UsdaReader::Widths UsdaReader::widths(const UsdaPrim& prim, std::size_t curves, std::size_t points, std::size_t span_ends) const {
  const char* name = prim.find("primvars:widths") ? "primvars:widths" : "widths";
  const UsdaAttribute* a = prim.find(name);
  if (!a) return {};
  if (const UsdaAttribute* indices = prim.find("primvars:widths:indices"))
    fail(*indices, "indexed widths are not read", "write one width for each point");
  Widths w{numbers(prim, name, 1), Widths::none};
  for (double v : w.values)
    if (!(v >= 0 && std::isfinite(v))) fail(*a, "a width is negative or not finite", "use 0 or more");
  const std::size_t n = w.values.size();
  if (n == 0) return {};
  const std::string& how = a->interpolation;
  const bool vertex = how.empty() || how == "vertex";
  if ((how == "constant" || how.empty()) && n == 1) w.kind = Widths::once;
  else if (how == "uniform" && n == curves) w.kind = Widths::per_curve;
  else if (vertex && n == points) w.kind = Widths::per_point;
  else if ((how == "varying" || how == "faceVarying") && n == span_ends) w.kind = Widths::per_span;
  else
    fail(*a,
         fmt::format("{} widths with interpolation {} do not fit {} curves of {} points", n,
                     in_quotes(how.empty() ? "vertex" : how), curves, points),
         "give one for each point, or state the interpolation");
  return w;
}

void UsdaReader::add(std::size_t index) {
  const UsdaPrim& prim = stage_.prims[index];
  const bool linear = is_linear(prim);
  const CubicBasis basis = basis_of(prim);
  const CubicWrap wrap = wrap_of(prim);
  const bool periodic = wrap == CubicWrap::periodic;
  const std::vector<std::size_t> count = counts(prim);
  const std::vector<double> xyz = numbers(prim, "points", 3);
  UsdaAttribute place;  // for messages
  place.source = prim.source, place.at = prim.at;
  if (const UsdaAttribute* given = prim.find("points")) place.source = given->source, place.at = given->at;

  std::vector<Vec3d> control;
  control.reserve(xyz.size() / 3);
  const Affine transform = world_transform(stage_.prims, index, time_);
  for (std::size_t i = 0; i + 2 < xyz.size(); i += 3) {
    control.push_back(stage_.meters_per_unit * transform({xyz[i], xyz[i + 1], xyz[i + 2]}));
    if (!is_finite(control.back()))
      fail(place, fmt::format("point {} of prim {} is not finite", i / 3, in_quotes(prim.name)), "use finite numbers");
  }

  std::size_t points = 0, span_ends = 0;
  std::vector<std::size_t> spans;  // per curve; 0 when the control points are the polyline
  for (std::size_t n : count) {
    const std::ptrdiff_t s = linear || n < 2 ? 0 : cubic_spans(n, basis, wrap);
    if (s < 0)
      fail(place,
           fmt::format("prim {} has a cubic curve of {} points, which does not fit its basis and wrap", in_quotes(prim.name), n),
           "check curveVertexCounts");
    spans.push_back(static_cast<std::size_t>(s));
    span_ends += linear || n < 2 ? n : static_cast<std::size_t>(s) + (periodic ? 0 : 1);
    points += n;
    if (points > control.size()) break;
  }
  if (points != control.size())
    fail(place,
         fmt::format("prim {} has {} points, but its curveVertexCounts add up to {}{}", in_quotes(prim.name), control.size(),
                     points, points > control.size() ? " or more" : ""),
         "make them agree");
  const Widths width = widths(prim, count.size(), points, span_ends);
  any_width_ = any_width_ || width.kind != Widths::none;
  const double width_scale = stage_.meters_per_unit * transform.mean_scale();

  std::size_t first = 0, first_end = 0;  // of the curve, in control points and in span ends
  for (std::size_t k = 0; k < count.size(); ++k) {
    const auto emit = [&](const Vec3d& p, double w) {
      set_.points.push_back(p);
      set_.widths.push_back(width_scale * w);
    };
    const auto flat = [&](std::size_t i) {
      switch (width.kind) {
        case Widths::none:
          return 0.0;
        case Widths::once:
          return width.values[0];
        case Widths::per_curve:
          return width.values[k];
        case Widths::per_span:
          return width.values[first_end + i];
        case Widths::per_point:
          break;
      }
      return width.values[first + i];
    };
    if (spans[k] == 0) {
      for (std::size_t i = 0; i < count[k]; ++i) emit(control[first + i], flat(i));
      first_end += count[k];
    } else {
      const std::size_t ends = spans[k] + (periodic ? 0 : 1);
      for (const CubicSample& s : sample_cubic(count[k], basis, wrap, options_.cubic_samples)) {
        double w = flat(0);
        if (width.kind == Widths::per_point) w = std::max(0.0, s.of(width.values.data() + first));  // a spline may swing below
        if (width.kind == Widths::per_span) w = (1 - s.t) * flat(s.span) + s.t * flat((s.span + 1) % ends);
        emit(s.of(control.data() + first), w);
      }
      first_end += ends;
    }
    first += count[k];
    set_.closed.push_back(periodic);
    set_.start.push_back(set_.points.size());
  }
  label(prim, count.size());
}

/// Names and ids that Osier wrote; otherwise the prim's name, numbered when it has several curves.
void UsdaReader::label(const UsdaPrim& prim, std::size_t curves) {
  if (const UsdaAttribute* a = prim.find("primvars:osier:name")) {
    const std::vector<std::string> names = UsdaLayer::strings(*a, time_);
    if (names.size() != curves) fail(*a, fmt::format("{} names for {} curves", names.size(), curves), "give one for each curve");
    set_.names.insert(set_.names.end(), names.begin(), names.end());
  } else {
    for (std::size_t k = 0; k < curves; ++k) set_.names.push_back(curves == 1 ? prim.name : fmt::format("{}_{}", prim.name, k));
  }
  if (const UsdaAttribute* a = prim.find("primvars:osier:id")) {
    const std::vector<double> ids = numbers(prim, "primvars:osier:id", 1);
    if (ids.size() != curves) fail(*a, fmt::format("{} ids for {} curves", ids.size(), curves), "give one for each curve");
    for (double id : ids) {
      if (!(std::abs(id) <= 9007199254740992.0)) fail(*a, "an id is not a whole number", "use whole numbers");
      set_.ids.push_back(static_cast<std::int64_t>(id));
    }
  } else {
    all_ids_ = false;
  }
}

}  // namespace

CurveSet read_usda(const CurveSource& source, const CurveReadOptions& options) { return UsdaReader(source, options).run(); }

CurveAnimation read_usda_animation(const CurveSource& source) { return UsdaReader(source, {}).run_all(); }

struct UsdaGroom::Impl {
  Impl(const std::filesystem::path& file, const CurveReadOptions& reading)
      : bytes(usd_text(file)),
        source{bytes, file.string(), [file](const std::string& name) { return read_beside(file, name); }},
        reader(source, reading) {}
  std::vector<std::byte> bytes;
  CurveSource source;
  UsdaReader reader;
};

UsdaGroom::UsdaGroom(const std::filesystem::path& file, const CurveReadOptions& reading)
    : impl_(std::make_unique<Impl>(file, reading)), prims_(impl_->reader.describe()) {}
UsdaGroom::~UsdaGroom() = default;
double UsdaGroom::meters_per_unit() const { return impl_->reader.stage().meters_per_unit; }
double UsdaGroom::time_codes_per_second() const { return impl_->reader.stage().time_codes_per_second; }
UpAxis UsdaGroom::up() const { return impl_->reader.stage().up; }
Affine UsdaGroom::to_file(const GroomPrim& prim, double time_code) { return impl_->reader.to_file(prim.number, time_code); }
std::vector<Vec3d> UsdaGroom::controls(const GroomPrim& prim, double time_code) {
  return impl_->reader.controls(prim.number, time_code);
}

}  // namespace osier

#include "io/groom_over.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "core/fields.hpp"
#include "core/text.hpp"
#include "io/atomic_file.hpp"
#include "io/curves/edit.hpp"
#include "io/curves/settings.hpp"
#include "io/curves/turn.hpp"
#include "io/curves/usda_groom.hpp"
#include "io/usda_text.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

/// A structure of the scene that took its curves from the groom.
struct Source {
  std::string name;
  CurveReadOptions reading;
  CurveEdits edits;
  Vec3d move;
};

std::vector<Source> sources_in(const Trajectory& run, const fs::path& groom) {
  const Json scene = Json::parse(run.scene_json(), nullptr, false);
  std::vector<Source> list;
  for (const Json& s : scene.is_object() ? scene.value("structures", Json::array()) : Json::array()) {
    if (!s.is_object() || s.value("type", "") != "curves" || fs::path(s.value("file", "")).filename() != groom.filename())
      continue;
    Source source{.name = s.value("name", "curves"), .reading = {}, .edits = {}, .move = {}};
    Problems problems;  // none: the scene has been run
    JsonReader reader(s, "", problems);
    source.reading.fields(reader), source.edits.fields(reader);
    reader("move", source.move, "");
    list.push_back(std::move(source));
  }
  if (list.empty())
    throw InputError(
        {{"--over",
          fmt::format("no structure of {} took its curves from a file called {}", run.name(), groom.filename().string()),
          "name the file of a structure of type curves"}});
  return list;
}

/// Numbers of the curves that `select` keeps.
std::vector<std::size_t> kept_curves(CurveSet set, const CurveEdits& edits) {
  // The number of a curve travels in place of its points' width.
  set.widths.assign(set.points.size(), 0);
  for (std::size_t k = 0; k < set.size(); ++k)
    std::fill(set.widths.begin() + static_cast<std::ptrdiff_t>(set.start[k]),
              set.widths.begin() + static_cast<std::ptrdiff_t>(set.start[k + 1]), static_cast<double>(k));
  Problems problems;
  if (!edits.select.empty()) set = selected(set, edits.select, problems);
  problems.throw_if_any();
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < set.size(); ++k)
    if (set.start[k] < set.start[k + 1]) kept.push_back(static_cast<std::size_t>(set.widths[set.start[k]]));
  return kept;
}

/// The way back from the scene to the file: each step of reading and editing undone.
class WayBack {
 public:
  WayBack(const Source& source, UpAxis up, double meters_per_unit)
      : move_(source.move), up_(source.edits.up.value_or(up)), scale_(1 / (source.edits.scale * meters_per_unit)) {
    if (source.edits.transform.empty()) return;
    const auto& r = source.edits.transform;
    Affine forth;  // points are rows in an Affine
    for (std::size_t i = 0; i < 3; ++i) forth.rows[i] = {r[0][i], r[1][i], r[2][i]};
    forth.translation = {r[0][3], r[1][3], r[2][3]};
    back_ = inverse(forth);
  }
  Vec3d point(const Vec3d& p) const { return scale_ * turned_back_from_y(back_(p - move_), up_); }
  Vec3d direction(const Vec3d& v) const { return scale_ * turned_back_from_y(back_.of_direction(v), up_); }
  /// Of a width.
  double size(double w) const { return scale_ * back_.mean_scale() * w; }

 private:
  Vec3d move_;
  UpAxis up_;
  double scale_;
  Affine back_{};
};

/// Control points of a cubic curve from the points of its polyline, which are sums of them: those nearest to the ones that the
/// groom has, among all that fit best (least squares with the pseudo-inverse).
class CubicFit {
 public:
  CubicFit(std::size_t controls, const GroomPrim& prim, int per_span)
      : samples_(sample_cubic(controls, prim.basis, prim.wrap, per_span)) {
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(samples_.size()), static_cast<Eigen::Index>(controls));
    for (std::size_t s = 0; s < samples_.size(); ++s)
      for (std::size_t i = 0; i < 4; ++i)
        m(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(samples_[s].control[i])) += samples_[s].weight[i];
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors(m);
    unique_ = factors.rank() == m.cols();
    inverse_ = factors.pseudoInverse();
  }
  std::size_t points() const { return samples_.size(); }
  /// Whether the polyline determines the control points.
  bool is_unique() const { return unique_; }

  void move(std::span<Vec3d> control, std::span<const Vec3d> wanted, double& largest_error) const {
    std::vector<Vec3d> gap(wanted.size());
    for (std::size_t s = 0; s < gap.size(); ++s) gap[s] = wanted[s] - samples_[s].of(control.data());
    for (std::size_t c = 0; c < control.size(); ++c)
      for (std::size_t s = 0; s < gap.size(); ++s)
        control[c] += inverse_(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(s)) * gap[s];
    for (std::size_t s = 0; s < gap.size(); ++s)
      largest_error = std::max(largest_error, norm(wanted[s] - samples_[s].of(control.data())));
  }

 private:
  std::vector<CubicSample> samples_;
  Eigen::MatrixXd inverse_;
  bool unique_ = false;
};

/// A curve of the groom, and the rod that was made of it.
struct Followed {
  const RodInfo* rod = nullptr;  ///< null: it stays as it is in the groom
  const WayBack* way = nullptr;
  std::vector<double> widths;  ///< of the rod's points in the scene's unit; empty where the groom has none
};

class OverWriter {
 public:
  OverWriter(Trajectory& run, const GroomOver& wanted)
      : run_(run), wanted_(wanted), sources_(sources_in(run, wanted.groom)), groom_(wanted.groom, sources_.front().reading) {
    std::size_t curves = 0;
    for (const GroomPrim& prim : groom_.prims()) curves += prim.counts.size();
    followed_.resize(curves);
    ways_.reserve(sources_.size());  // curves point into it
    for (const Source& source : sources_) follow(source);
  }

  GroomOverReport write() {
    std::vector<const GroomPrim*> prims;
    for (const GroomPrim& prim : groom_.prims())
      if (std::any_of(first(prim), first(prim) + static_cast<std::ptrdiff_t>(prim.counts.size()),
                      [](const Followed& f) { return f.rod; }))
        prims.push_back(&prim);
    steps_ = static_cast<int>(prims.size() * wanted_.frames.size());
    OutputFile file(wanted_.out, OutputFile::Mode::atomic);
    file.append(head());
    std::vector<std::string> open;  // the prims that the text is inside of
    for (const GroomPrim* prim : prims) {
      std::size_t common = 0;
      while (common < open.size() && common + 1 < prim->path.size() && open[common] == prim->path[common]) ++common;
      close(file, open, common);
      for (; open.size() < prim->path.size(); open.push_back(prim->path[open.size()]))
        file.append(fmt::format("{0}over \"{1}\"\n{0}{{\n", indent(open.size()), prim->path[open.size()]));
      add(file, *prim);
    }
    close(file, open, 0);
    file.commit();
    report_.prims = prims.size();
    return report_;
  }

 private:
  std::vector<Followed>::iterator first(const GroomPrim& prim) {
    return followed_.begin() + static_cast<std::ptrdiff_t>(prim.first_curve);
  }
  static std::string indent(std::size_t depth) { return std::string(4 * depth, ' '); }
  static void close(OutputFile& file, std::vector<std::string>& open, std::size_t down_to) {
    for (; open.size() > down_to; open.pop_back()) file.append(indent(open.size() - 1) + "}\n");
  }

  /// Finds the rods that the structure made: one for each curve, in their order, before its group `.starts`.
  void follow(const Source& source) {
    const auto changed = [&] {
      return InputError({{"--over", fmt::format("{} is not as it was when {} was run", wanted_.groom.string(), run_.name()),
                          "run the scene again, or name the file that it read"}});
    };
    ways_.emplace_back(source, groom_.up(), groom_.meters_per_unit());
    const CurveSet set = read_curves(wanted_.groom, source.reading), edited = edit_curves(set, source.edits);
    const std::vector<std::size_t> kept = kept_curves(set, source.edits);
    const std::vector<RodInfo>& rods = run_.model().rods;
    const auto starts =
        std::find_if(rods.begin(), rods.end(), [&](const RodInfo& r) { return r.name == source.name + ".starts"; });
    if (starts == rods.end() || starts - rods.begin() < std::ssize(kept) || edited.size() != kept.size()) throw changed();
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const RodInfo& rod = *(starts - std::ssize(kept) + static_cast<std::ptrdiff_t>(j));
      if (!rod.name.starts_with(source.name + ".") || rod.vertices.size() != edited.curve(j).size()) throw changed();
      Followed& curve = followed_[kept[j]];
      if (curve.rod)
        throw InputError(
            {{"--over", fmt::format("two structures of {} move the same curve of {}", run_.name(), wanted_.groom.string()),
              "let `select` give each curve to one of them"}});
      curve = {.rod = &rod, .way = &ways_.back(), .widths = {}};
      if (!edited.widths.empty())
        curve.widths.assign(edited.widths.begin() + static_cast<std::ptrdiff_t>(edited.start[j]),
                            edited.widths.begin() + static_cast<std::ptrdiff_t>(edited.start[j + 1]));
      ++report_.curves;
    }
  }

  /// Without the rounding errors of a product: 9.6 and not 9.600000000000001.
  double code(double time) const { return std::round(1e9 * time * groom_.time_codes_per_second()) / 1e9; }

  std::string head() const {
    const fs::path folder = wanted_.out.has_parent_path() ? wanted_.out.parent_path() : fs::path(".");
    std::error_code ignored;
    std::string groom = fs::proximate(wanted_.groom, folder, ignored).generic_string();
    if (!groom.starts_with(".") && !groom.starts_with("/")) groom = "./" + groom;
    return fmt::format(
        "#usda 1.0\n(\n    customLayerData = {{\n        string creator = {}\n    }}\n    doc = {}\n    endTimeCode = {}\n    "
        "metersPerUnit = {}\n    startTimeCode = {}\n    subLayers = [\n        @{}@\n    ]\n    timeCodesPerSecond = {}\n    "
        "upAxis = \"{}\"\n)\n\n",
        usda::usd_string("Osier " + wanted_.version), usda::usd_string(run_.name()), code(run_.time(wanted_.frames.back())),
        groom_.meters_per_unit(), code(run_.time(wanted_.frames.front())), groom, groom_.time_codes_per_second(),
        groom_.up() == UpAxis::z ? "Z" : "Y");
  }

  /// How the points of a prim are written: as the control points that it has, or as polylines.
  struct Plan {
    bool as_controls = true;
    std::map<std::size_t, CubicFit> fit;          ///< by number of control points
    std::vector<std::vector<CubicSample>> still;  ///< of polylines, for curves that nothing moves; empty for linear ones
  };

  Plan plan_of(const GroomPrim& prim) {
    Plan plan;
    const int per_span = sources_.front().reading.cubic_samples;
    for (std::size_t k = 0; k < prim.counts.size(); ++k) {
      const std::size_t n = prim.counts[k];
      const bool cubic = !prim.linear && n > 1;
      if (cubic) plan.fit.try_emplace(n, n, prim, per_span);
      plan.still.push_back(cubic ? sample_cubic(n, prim.basis, prim.wrap, per_span) : std::vector<CubicSample>());
      const Followed& curve = *(first(prim) + static_cast<std::ptrdiff_t>(k));
      if (!curve.rod) continue;
      const bool fits = cubic ? plan.fit.at(n).is_unique() && plan.fit.at(n).points() == curve.rod->vertices.size()
                              : n == curve.rod->vertices.size();
      const bool as_closed = curve.rod->closed == (prim.wrap == CubicWrap::periodic);
      plan.as_controls = plan.as_controls && fits && as_closed;
    }
    return plan;
  }

  std::size_t points_of(const GroomPrim& prim, const Plan& plan, std::size_t k) {
    const Followed& curve = *(first(prim) + static_cast<std::ptrdiff_t>(k));
    // A prim has one wrap: closed curves repeat their first point in polylines.
    if (curve.rod) return curve.rod->vertices.size() + (curve.rod->closed ? 1 : 0);
    const bool closed = prim.wrap == CubicWrap::periodic;
    return (plan.still[k].empty() ? prim.counts[k] : plan.still[k].size()) + (closed ? 1 : 0);
  }

  void add(OutputFile& file, const GroomPrim& prim) {
    const Plan plan = plan_of(prim);
    const std::string in = indent(prim.path.size());
    for (std::size_t k = 0; k < prim.counts.size(); ++k) report_.still += !(first(prim) + static_cast<std::ptrdiff_t>(k))->rod;
    if (!plan.as_controls) {
      report_.resampled.push_back("/" + join(prim.path, "/"));
      std::vector<std::size_t> counts;
      for (std::size_t k = 0; k < prim.counts.size(); ++k) counts.push_back(points_of(prim, plan, k));
      file.append(fmt::format("{0}uniform token type = \"linear\"\n{0}uniform token wrap = \"nonperiodic\"\n", in));
      file.append(in + "int[] curveVertexCounts = " +
                  usda::list(counts, [](auto out, std::size_t n) { fmt::format_to(out, "{}", n); }) + "\n");
      add_widths(file, prim, plan, in);
    }
    if (prim.has_velocities) file.append(in + "vector3f[] velocities = None\n");  // of the groom's own motion
    std::vector<std::string> extents;
    file.append(in + "point3f[] points.timeSamples = {\n");
    for (const int f : wanted_.frames) {
      const std::span<const Vec3d> x = run_.positions(f);
      const double at = code(run_.time(f));
      const std::vector<Vec3d> points = points_at(prim, plan, x, at);
      file.append(fmt::format("{}    {}: {},\n", in, at, usda::list(points, usda::print_vector)));
      extents.push_back(fmt::format("{}    {}: {},\n", in, at, extent_of(points, 0.5 * prim.largest_width)));
      if (wanted_.progress) wanted_.progress(++step_, steps_);
    }
    file.append(in + "}\n" + in + "float3[] extent.timeSamples = {\n");
    for (const std::string& line : extents) file.append(line);
    file.append(in + "}\n");
  }

  /// In the prim's own unit. Without widths the groom's, if it has some, no longer fit the points: one for all does.
  void add_widths(OutputFile& file, const GroomPrim& prim, const Plan& plan, const std::string& in) {
    if (prim.largest_width == 0) return;
    const double shrink = 1 / groom_.to_file(prim, code(run_.time(wanted_.frames.front()))).mean_scale();
    std::vector<float> widths;
    for (std::size_t k = 0; k < prim.counts.size(); ++k) {
      const Followed& curve = *(first(prim) + static_cast<std::ptrdiff_t>(k));
      const std::size_t n = points_of(prim, plan, k);
      for (std::size_t i = 0; i < n; ++i)
        widths.push_back(static_cast<float>(
            curve.widths.empty() ? prim.largest_width : shrink * curve.way->size(curve.widths[i % curve.widths.size()])));
    }
    file.append(in + "float[] widths = " + usda::list(widths, [](auto out, float w) { fmt::format_to(out, "{}", w); }) +
                fmt::format(" (\n{0}    interpolation = \"vertex\"\n{0})\n", in));
  }

  std::vector<Vec3d> points_at(const GroomPrim& prim, const Plan& plan, std::span<const Vec3d> x, double at) {
    const Affine here = inverse(groom_.to_file(prim, at));
    const std::vector<Vec3d> controls = groom_.controls(prim, at);
    std::vector<Vec3d> out;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < prim.counts.size(); begin += prim.counts[k++]) {
      const Followed& curve = *(first(prim) + static_cast<std::ptrdiff_t>(k));
      std::vector<Vec3d> own(controls.begin() + static_cast<std::ptrdiff_t>(begin),
                             controls.begin() + static_cast<std::ptrdiff_t>(begin + prim.counts[k]));
      std::vector<Vec3d> moved;
      if (curve.rod)
        for (const Index v : curve.rod->vertices) moved.push_back(here(curve.way->point(x[static_cast<std::size_t>(v)])));
      if (plan.as_controls && curve.rod && !prim.linear && own.size() > 1) {
        double error = 0;
        plan.fit.at(own.size()).move(own, moved, error);
        const double unit = groom_.meters_per_unit() / here.mean_scale();
        report_.largest_error = std::max(report_.largest_error, unit * error);
        moved = std::move(own);
      } else if (!curve.rod && (plan.as_controls || plan.still[k].empty())) {
        moved = std::move(own);
      } else if (!curve.rod) {
        for (const CubicSample& s : plan.still[k]) moved.push_back(s.of(own.data()));
      }
      if (!plan.as_controls && moved.size() < points_of(prim, plan, k)) moved.push_back(moved.front());
      out.insert(out.end(), moved.begin(), moved.end());
    }
    return out;
  }

  static std::string extent_of(const std::vector<Vec3d>& points, double radius) {
    Vec3d low = points.empty() ? Vec3d{} : points.front(), high = low;
    for (const Vec3d& p : points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    const Vec3d r{radius, radius, radius};
    return usda::list(std::array{low - r, high + r}, usda::print_vector);
  }

  Trajectory& run_;
  const GroomOver& wanted_;
  std::vector<Source> sources_;
  UsdaGroom groom_;
  std::vector<WayBack> ways_;
  std::vector<Followed> followed_;  ///< per curve of the groom
  GroomOverReport report_;
  int step_ = 0, steps_ = 0;
};

}  // namespace

GroomOverReport write_groom_over(Trajectory& run, const GroomOver& wanted) {
  const Frame last = run.read(wanted.frames.back());
  if (std::count(last.segment_alive.begin(), last.segment_alive.end(), 0) > 0)
    throw InputError({{"--over", "rods break in this run, and the curves of a groom cannot", "choose frames before that"}});
  return OverWriter(run, wanted).write();
}

}  // namespace osier

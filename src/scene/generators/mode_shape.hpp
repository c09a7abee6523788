// A straight line displaced by a mode of vibration: how a vibration test starts. Euler-Bernoulli beams (bending) and bars
// (axial),
//
//   bending   phi = e^(-b s) - (sigma - 1) sinh(b s) - cos(b s) + sigma sin(b s)     b of mode n: cos b = -+1/cosh b
//   pinned    phi = sin(n pi s)
//   free      phi = e^(-b s) - (sigma - 1) sinh(b s) + cos(b s) - sigma sin(b s)
//   axial     phi = sin((2 n - 1) pi s/2)
//
// with s from 0 to 1 along the rod. The first form is cosh - cos - sigma (sinh - sin) without its cancellation.
//
// Bending does not stretch a rod: a piece of length l whose ends are displaced across the line by amounts that differ by d
// advances by sqrt(l^2 - d^2) along it.
#pragma once

#include "scene/shape.hpp"

namespace osier {

enum class ModeKind : std::uint8_t { bending, axial };
template <>
struct Choices<ModeKind> {
  static constexpr std::array<const char*, 2> names{"bending", "axial"};
};

enum class ModeEnds : std::uint8_t { clamped_free, pinned_pinned, clamped_clamped, free_free, fixed_free };
template <>
struct Choices<ModeEnds> {
  static constexpr std::array<const char*, 5> names{"clamped_free", "pinned_pinned", "clamped_clamped", "free_free",
                                                    "fixed_free"};
};

class ModeShape : public Shape {
 public:
  Vec3d from, to{1, 0, 0}, direction;
  ModeKind vibration = ModeKind::bending;
  std::optional<ModeEnds> ends;
  int number = 1;
  double amplitude = 0;
  CurveKeep keep = CurveKeep::length;

  static const char* kind() { return "shape_mode"; }
  static const char* help() {
    return "A straight line displaced by a mode of vibration, for the initial pose of a straight rod: every vertex is displaced "
           "by "
           "`amplitude` times the mode shape at its place in the rod.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("from", from, "First point of the line; a clamped or fixed end", {.unit = "m", .required = true});
    f("to", to, "Last point of the line", {.unit = "m", .required = true});
    f("kind", vibration, "Across the line, or along it");
    f("ends", ends,
      "How the ends are held: `clamped_free` (when left out), `pinned_pinned`, `clamped_clamped` or `free_free` for bending, "
      "`fixed_free` for axial");
    f("number", number, "Which mode, from the lowest", {.min = 1, .max = 100});
    f("amplitude", amplitude, "Displacement where the mode is largest; at the tip if that is free",
      {.unit = "m", .required = true});
    f("direction", direction, "Direction of the displacement of bending; its part along the line is dropped");
    f("keep", keep,
      "Of bending: `length` leaves the rod unstretched, so that its far end comes nearer by the square of the amplitude; "
      "`points` "
      "puts vertices at equal steps of the line, so that both ends stay where they are and the rod is stretched");
    has_direction_ = f.has("direction");
  }
  void prepare(const std::string& folder, Problems& problems) override;
  double length() const override;
  std::vector<Vec3d> sample(int segments) const override;

  /// The mode at s from 0 to 1, with largest value 1.
  double displacement(double s) const;
  /// b of the mode: the natural angular frequency is (b/L)^2 sqrt(EI/mu), or (b/L) sqrt(EA/mu) if axial.
  double wave_number() const;

 private:
  ModeEnds held() const { return ends.value_or(vibration == ModeKind::axial ? ModeEnds::fixed_free : ModeEnds::clamped_free); }
  bool unstretched() const { return keep == CurveKeep::length && vibration == ModeKind::bending; }
  double plain(double s) const;  ///< before it is scaled
  bool has_direction_ = false;
  double scale_ = 1;
};

}  // namespace osier

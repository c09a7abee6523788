// The damped exponential integrator for fibres (Michels, Mueller, Sobottka 2015), repaired: settings. The network of springs is
// in fibre.hpp, one step in fibre_step.hpp, the way from a model to fibres in fibre_plan.hpp.
#pragma once

#include <memory>
#include <optional>

#include "solvers/deti/fibre_view.hpp"
#include "solvers/solver.hpp"

namespace osier::deti {

enum class Network : std::uint8_t { scaffold, paper };
enum class Stretch : std::uint8_t { material, soft };
enum class Functions : std::uint8_t { factored, krylov };
enum class Scheme : std::uint8_t { saturated, paper };

}  // namespace osier::deti

namespace osier {
template <>
struct Choices<deti::Network> {
  static constexpr std::array<const char*, 2> names{"scaffold", "paper"};
};
template <>
struct Choices<deti::Stretch> {
  static constexpr std::array<const char*, 2> names{"material", "soft"};
};
template <>
struct Choices<deti::Functions> {
  static constexpr std::array<const char*, 2> names{"factored", "krylov"};
};
template <>
struct Choices<deti::Scheme> {
  static constexpr std::array<const char*, 2> names{"saturated", "paper"};
};
template <>
struct Choices<deti::Variant> {
  static constexpr std::array<const char*, 2> names{"complex_pair", "double_pole"};
};
}  // namespace osier

namespace osier::deti {

class Settings : public SolverSettings {
 public:
  Network network = Network::scaffold;
  Scheme scheme = Scheme::saturated;
  Variant variant = Variant::double_pole;
  double rho = 0.8;
  double alpha0 = 0, alpha1 = 0;
  Functions functions = Functions::factored;
  double krylov_tolerance = 1e-6;
  Stretch stretch = Stretch::material;
  std::optional<double> aspect;
  double section_stiffness = 30;
  double contact_tolerance = 1e-3;

  static const char* kind() { return "deti"; }
  static const char* help() {
    return "A damped exponential integrator for stiff fibres: every rod becomes a chain of cuboids of springs, which bends, "
           "twists "
           "and stretches like the rod, and moves by one linear solve per step, without iterations. Rods that are single chains "
           "with round sections; they are thin: shear of the material is left out.";
  }
  template <class F>
  void fields(F& f) {
    f("network", network,
      "`scaffold`: springs that bend, twist and stretch like the rod. `paper`: the 16 springs of the paper's cuboids, for the "
      "record: they bend wrongly and resist no twist, and are refused where some of them would have to push apart what they "
      "hold");
    f("scheme", scheme,
      "`saturated`: the stiffness is linearised in every step, and stiff modes are saturated. `paper`: the two-step scheme as "
      "printed, with the stiffness at the start, for the record: it is right for small motion only, goes to wrong equilibria or "
      "blows up elsewhere, and takes time in proportion to the square of the number of segments of a rod");
    if (scheme == Scheme::paper)
      for (const char* key : {"variant", "rho", "functions"})
        if (f.has(key)) f.problem(std::string("`") + key + "` applies only to `scheme` saturated", "leave it out");
    f("variant", variant,
      "The filter of stiff modes. `double_pole`: one real factorisation per step; `complex_pair`: one complex factorisation, "
      "three "
      "times as slow, with somewhat smaller errors of phase in small steps");
    f("rho", rho,
      "Share of its motion that a step leaves to modes that it does not resolve; 1: none is lost. Slow motion is not affected",
      {.min = 0.7, .max = 1});
    f("alpha0", alpha0, "Damping by mass, beside what drag the scene has: the alpha_0 of Rayleigh damping",
      {.unit = "1/s", .min = 0});
    f("alpha1", alpha1,
      "Damping by stiffness, beside that of the material: the alpha_1 of Rayleigh damping. It damps deformation and no rigid "
      "turn",
      {.unit = "s", .min = 0});
    f("functions", functions,
      "How the filter is applied. `factored`: by one factorisation per step. `krylov`: by Lanczos' method, as in the paper, with "
      "as many "
      "vectors as the step times the highest frequency asks for; worth it for short steps, and without SIMD lanes");
    f("krylov_tolerance", krylov_tolerance, "Error of the filter by `krylov`, relative, judged by what the last vectors change",
      {.min = 1e-14, .max = 0.1});
    if (f.has("krylov_tolerance") && functions != Functions::krylov)
      f.problem("`krylov_tolerance` without `functions` krylov", "leave it out, or use `functions` krylov");
    f("stretch", stretch,
      "`material`: a spring between the centres of sections gives the rod its EA. `soft`: without it, EA = 16 EI/a^2 of the "
      "springs "
      "that bend, a being the side of the cuboids");
    f("aspect", aspect,
      "Length of a cuboid over its side; the smaller of 1.5 and 0.9 sqrt(2 EI/GJ) when left out, or less where segments are "
      "about as short as "
      "the "
      "rod is thick",
      {.min = 0, .above_min = true});
    f("section_stiffness", section_stiffness, "Stiffness of sections against distortion, over the largest of the other springs",
      {.min = 1, .max = 100});
    f("contact_tolerance", contact_tolerance,
      "Where fibres touch: accuracy of positions, relative to the motion in a step or to half the range in which contact acts",
      {.min = 0, .max = 0.1, .above_min = true});
    if (network == Network::paper)
      for (const char* key : {"stretch", "aspect", "section_stiffness"})
        if (f.has(key)) f.problem(std::string("`") + key + "` applies only to `network` scaffold", "leave it out");
  }

  std::unique_ptr<Solver> make(const Model& model) const override;
  const char* name() const override { return "deti"; }
  Traits traits() const override;
  Simd simd_on(const Model& model) const override;
  void check(const Model& model, bool driven, Problems& problems) const override;
  SolverPlan plan(const Model& model, const Control& control, double h) const override;
  void warn(const Model& model, double h, bool driven, std::vector<std::string>& warnings) const override;
  std::optional<std::size_t> bytes(const Model& model, const Control& control, double h) const override;
};

}  // namespace osier::deti

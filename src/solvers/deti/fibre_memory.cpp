#include "solvers/deti/fibre_memory.hpp"

#include "exec/aligned.hpp"

namespace osier::deti {

namespace {

constexpr std::size_t kLine = kCacheLine / sizeof(double);
constexpr int kBlock = kUnknowns * kUnknowns;

std::size_t rounded(std::size_t numbers) { return (numbers + kLine - 1) / kLine * kLine; }

/// take(array, numbers per section)
template <class View, class F>
void each_model_array(View& v, const F& take) {
  take(v.mass, 1);
  take(v.cuboid, kCuboidNumbers);
  take(v.section, kSectionNumbers);
}
template <class View, class F>
void each_step_array(View& v, Variant variant, const F& take) {
  const bool pair = variant == Variant::complex_pair;
  for (double** array : {&v.y, &v.w, &v.velocity, &v.free, &v.target, &v.load, &v.force, &v.kept}) take(*array, kUnknowns);
  for (double** array : {&v.decay, &v.reach, &v.lead, &v.starting}) take(*array, 1);
  for (double** array : {&v.diagonal, &v.above}) take(*array, kBlock);
  for (double** array : {&v.pole_diagonal, &v.pole_above}) take(*array, pair ? 2 * kBlock : 0);
  for (double** array : {&v.r1, &v.r2}) take(*array, pair ? 2 * kUnknowns : kUnknowns);
}

}  // namespace

std::size_t model_numbers(Index sections, int lanes) {
  std::size_t sum = 0;
  FibreView v;
  each_model_array(v, [&](auto&, int numbers) { sum += rounded(static_cast<std::size_t>(sections * numbers * lanes)); });
  return sum;
}

std::size_t step_numbers(Index sections, int lanes, Variant variant) {
  std::size_t sum = 0;
  FibreView v;
  each_step_array(v, variant, [&](auto&, int numbers) { sum += rounded(static_cast<std::size_t>(sections * numbers * lanes)); });
  return sum;
}

FibreView view_of(Index sections, int lanes, Variant variant, double* model, double* step) {
  FibreView v;
  v.lanes = lanes;
  v.sections = sections;
  const auto take_from = [&](double*& from) {
    return [&](auto& array, int numbers) {
      array = from;
      from += rounded(static_cast<std::size_t>(sections * numbers * lanes));
    };
  };
  each_model_array(v, take_from(model));
  if (step) each_step_array(v, variant, take_from(step));
  return v;
}

FibreView part_of(const FibreView& view, Index first, Index sections) {
  FibreView part = view;
  part.sections = sections;
  const auto move = [&](auto& array, int numbers) {
    if (array) array += first * numbers;
  };
  each_model_array(part, move);
  each_step_array(part, Variant::double_pole, move);
  return part;
}

void load_fibre(const Fibre& fibre, const FibreView& view, int lane) {
  const int lanes = view.lanes;
  for (Index k = 0; k < fibre.size(); ++k) {
    const auto index = static_cast<std::size_t>(k);
    view.mass[k * lanes + lane] = fibre.mass[index];
    const SectionSprings& s = fibre.sections[index];
    const auto put_section = [&](int number, double x) { view.section[(k * kSectionNumbers + number) * lanes + lane] = x; };
    put_section(kOfK2, s.k2);
    put_section(kOfKx, s.kx);
    put_section(kOfSectionTau, s.tau);
    for (int e = 0; e < kSectionSprings; ++e) put_section(kOfSectionRest + e, s.rest[e]);
    const Cuboid c = k + 1 < fibre.size() ? fibre.cuboids[index] : Cuboid{};
    const auto put_cuboid = [&](int number, double x) { view.cuboid[(k * kCuboidNumbers + number) * lanes + lane] = x; };
    put_cuboid(kOfK1, c.k.k1);
    put_cuboid(kOfKf, c.k.kf);
    put_cuboid(kOfKd, c.k.kd);
    put_cuboid(kOfKc, c.k.kc);
    put_cuboid(kOfTau, c.tau);
    put_cuboid(kOfTauC, c.tau_c);
    for (int i = 0; i < kCuboidSprings; ++i) put_cuboid(kOfRest + i, c.rest[i]);
  }
}

}  // namespace osier::deti

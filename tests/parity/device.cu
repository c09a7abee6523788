// The kernels of this folder on a graphics card against the same kernels on the host. Exits 0 when all agree, 1 when one does
// not, and 2 where there is no device.
//
// The device fuses multiplications and additions, the host does not: results agree to roundings, which a strand's factor
// amplifies by what its stiffnesses differ by. Tolerances are shares of the largest number of an array: 2e-5 for the energies and
// 2e-3 for strands in float, 1e-13 and 1e-9 in double.
#include <cmath>
#include <cstdio>

#include "parity/problems.hpp"

namespace osier::parity {
namespace {

int failures = 0;

template <class T>
void compare(const char* what, const std::vector<T>& host, const std::vector<T>& device, double tolerance) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const double a = static_cast<double>(host[i]), b = static_cast<double>(device[i]);
    largest = std::fmax(largest, std::fabs(a));
    apart = std::isfinite(b) ? std::fmax(apart, std::fabs(a - b)) : INFINITY;
  }
  const bool good = apart <= tolerance * largest;
  if (!good) ++failures;
  std::printf("%-4s %-52s %.1e of %.1e\n", good ? "ok" : "BAD", what, apart, largest);
}

template <class T>
void compare_energies(const char* type, double tolerance) {
  constexpr Index kCount = 10000;
  const std::vector<T> in = energy_inputs<T>(kCount);
  std::vector<T> host(static_cast<std::size_t>(numbers_in<EnergyOutput<T>, T> * kCount)), device = host;
  launch(Backend::host, kCount, EvaluateEnergies<T>{in.data(), host.data(), kCount});
  const Buffer<T> device_in(Backend::device, in.data(), in.size()), device_out(Backend::device, device.size());
  launch(Backend::device, kCount, EvaluateEnergies<T>{device_in.data(), device_out.data(), kCount});
  device_out.copy_to(device.data());
  char what[80];
  std::snprintf(what, sizeof what, "energies, gradients and Hessians, %s", type);
  compare(what, host, device, tolerance);
}

template <class T, template <class> class Law>
void compare_strands(const char* law, bool damped, double tolerance) {
  constexpr Index kRows = 24, kWidth = 4096;
  StrandProblem<T, Law> host(kRows, kWidth, damped, 0.1), device(kRows, kWidth, damped, 0.1);
  launch(Backend::host, kWidth, host.template kernel<T>());
  const auto copy = [](const auto& v) { return Buffer(Backend::device, v.data(), v.size()); };
  const auto row = copy(device.row), head = copy(device.head), constants = copy(device.constants), force = copy(device.force),
             load = copy(device.load), head_load = copy(device.head_load), moved = copy(device.moved),
             head_moved = copy(device.head_moved), block = copy(device.block), head_block = copy(device.head_block),
             summary = copy(device.summary), product = copy(device.product), head_product = copy(device.head_product);
  const auto bent = copy(device.bent);
  const systems::StrandGroup<T> group{kRows,         kWidth, row.data(), head.data(), bent.data(), constants.data(), force.data(),
                                      host.group().inverse_h, damped};
  launch(Backend::device, kWidth,
         FactorStrands<T, Law>{group, load.data(), head_load.data(), moved.data(), head_moved.data(), block.data(),
                               head_block.data(), summary.data(), product.data(), head_product.data()});
  row.copy_to(device.row.data());
  force.copy_to(device.force.data());
  moved.copy_to(device.moved.data());
  summary.copy_to(device.summary.data());
  product.copy_to(device.product.data());
  char what[80];
  const auto name = [&](const char* array) {
    std::snprintf(what, sizeof what, "strands, %s, %s%s: %s", law, sizeof(T) == 4 ? "float" : "double", damped ? ", damped" : "",
                  array);
    return what;
  };
  compare(name("rows"), host.row, device.row, tolerance);
  compare(name("forces"), host.force, device.force, tolerance);
  compare(name("displacements"), host.moved, device.moved, tolerance);
  compare(name("products"), host.product, device.product, tolerance);
  compare(name("energies"), host.summary, device.summary, tolerance);
}

int run() {
  if (!has_device()) {
    std::puts("no CUDA device");
    return 2;
  }
  compare_energies<float>("float", 2e-5);
  compare_energies<double>("double", 1e-13);
  for (const bool damped : {false, true}) {
    compare_strands<float, systems::IsotropicLink>("isotropic", damped, 2e-3);
    compare_strands<float, systems::AnisotropicLink>("anisotropic", damped, 2e-3);
    compare_strands<double, systems::IsotropicLink>("isotropic", damped, 1e-9);
    compare_strands<double, systems::AnisotropicLink>("anisotropic", damped, 1e-9);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace osier::parity

int main() { return osier::parity::run(); }

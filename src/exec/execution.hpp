// How a run is computed, whatever its solver: threads, instructions, number type, device. The scene's `execution` object.
#pragma once

#include <array>
#include <cstdint>

#include "core/describe.hpp"
#include "exec/simd.hpp"
#include "osier/error.hpp"

namespace osier {

enum class Precision : std::uint8_t { single_precision, double_precision };
template <>
struct Choices<Precision> {
  static constexpr std::array<const char*, 2> names{"float", "double"};
};

/// cuda_twin: the kernels of cuda, run by the processor one after the other, for tests.
enum class Device : std::uint8_t { cpu, cuda, cuda_twin };
template <>
struct Choices<Device> {
  static constexpr std::array<const char*, 3> names{"cpu", "cuda", "cuda_twin"};
};

/// Whether this program was built for it, and it is there.
bool device_available(Device device);

struct Execution {
  int threads = 1;
  Simd simd = Simd::automatic;
  Precision precision = Precision::double_precision;
  Device device = Device::cpu;

  static const char* kind() { return "execution"; }
  static const char* help() {
    return "How a run is computed: the same for loads and solver, and for every solver that can work that way.";
  }
  template <class F>
  void fields(F& f) {
    f("threads", threads,
      "Threads of loads and solver; the result is the same for any number. The program uses all cores when it is left out, fewer "
      "where a scene is too small for them, and the library one",
      {.min = 1, .max = 1024});
    f("simd", simd,
      "Instructions of the kernels: the widest this machine has, none (`off`: one number at a time), or a given set; results "
      "differ by rounding");
    f("precision", precision, "Number type of the solver's kernels; positions are accumulated in double either way");
    f("device", device,
      "Where the solver's kernels run: on the processor, on the first CUDA device, or, for tests, those of CUDA on the "
      "processor");
  }

  const char* precision_name() const { return Choices<Precision>::names[static_cast<std::size_t>(precision)]; }
  const char* device_name() const { return Choices<Device>::names[static_cast<std::size_t>(device)]; }
  bool elsewhere() const { return device != Device::cpu; }
  bool in_float() const { return precision == Precision::single_precision; }
  /// Reports settings that this machine or this program does not offer, with pointers into the scene's `execution` object.
  void check(Problems& problems) const;
};

}  // namespace osier

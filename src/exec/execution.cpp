#include "exec/execution.hpp"

#include <fmt/format.h>

namespace osier {

bool device_available(Device device) { return device == Device::cpu; }

void Execution::check(Problems& problems) const {
  if (!simd_available(simd))
    problems.add("/execution/simd", fmt::format("this machine has no {}", simd_name(simd)), "use `auto`");
  if (!device_available(device)) problems.add("/execution/device", "this program was built without CUDA", "use `cpu`");
}

}  // namespace osier

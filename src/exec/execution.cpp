#include "exec/execution.hpp"

#include <fmt/format.h>

#include "exec/simd_dispatch.hpp"

namespace osier {

bool device_available(Device device) { return device == Device::cpu; }

void Execution::check(Problems& problems) const {
  if (!simd_available(simd))
    problems.add("/execution/simd", fmt::format("this {} has no {}", simd_compiled(simd) ? "machine" : "build", simd_name(simd)),
                 simd_compiled(simd) ? "use `auto`" : "use `auto`, or configure with -DOSIER_SIMD=all");
  if (!device_available(device)) problems.add("/execution/device", "this program was built without CUDA", "use `cpu`");
}

}  // namespace osier

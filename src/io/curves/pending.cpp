#include "io/curves/registry.hpp"
namespace osier {
#define P(x) \
  CurveSet x(const CurveSource& s, const CurveReadOptions&) { s.fail("cannot be read yet", "wait"); }
P(read_bcc) P(read_hair) P(read_obj) P(read_poly) P(read_usda) P(read_ply) P(read_csv)
}  // namespace osier

#include "io/curves/source.hpp"

#include "osier/error.hpp"

namespace osier {

void CurveSource::fail_at_byte(std::size_t offset, const std::string& what, const std::string& remedy) const {
  throw InputError({{file + ", byte " + std::to_string(offset), what, remedy}});
}

void CurveSource::fail_at_line(std::size_t line, const std::string& what, const std::string& remedy) const {
  throw InputError({{file + ", line " + std::to_string(line), what, remedy}});
}

void CurveSource::fail(const std::string& what, const std::string& remedy) const { throw InputError({{file, what, remedy}}); }

}  // namespace osier

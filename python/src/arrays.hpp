// The library's arrays as numpy arrays, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <span>
#include <vector>

#include "osier/osier.hpp"

namespace nb = nanobind;

namespace osier::python {

/// Read-only, and looks at the memory itself.
using View = nb::ndarray<nb::numpy, const double>;
using Mask = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;
using Numbers = nb::ndarray<nb::numpy, const Index>;
/// What callers hand in: anything that numpy makes such an array of.
using Points = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Triple = nb::ndarray<const double, nb::shape<3>, nb::c_contig, nb::device::cpu>;
using Quadruple = nb::ndarray<const double, nb::shape<4>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static_assert(sizeof(Vec3d) == 3 * sizeof(double) && sizeof(Quatd) == 4 * sizeof(double));

/// Looks at memory that lives as long as `owner`.
inline View view(std::span<const Vec3d> list, nb::handle owner) { return View(list.data(), {list.size(), 3}, owner); }
inline View view(std::span<const Quatd> list, nb::handle owner) { return View(list.data(), {list.size(), 4}, owner); }
inline View view(std::span<const double> list, nb::handle owner) { return View(list.data(), {list.size()}, owner); }
inline Mask view(std::span<const std::uint8_t> list, nb::handle owner) { return Mask(list.data(), {list.size()}, owner); }

/// A list of its own, which the array keeps.
template <class T>
std::pair<const T*, nb::capsule> keep(std::vector<T> list) {
  auto* const kept = new std::vector<T>(std::move(list));
  return {kept->data(), nb::capsule(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); })};
}
inline View own(std::span<const Vec3d> list) {
  const std::size_t n = list.size();
  auto [data, owner] = keep(std::vector<Vec3d>(list.begin(), list.end()));
  return View(data, {n, 3}, owner);
}
inline View own(std::span<const double> list) {
  const std::size_t n = list.size();
  auto [data, owner] = keep(std::vector<double>(list.begin(), list.end()));
  return View(data, {n}, owner);
}
template <std::size_t N>
Numbers own(const std::vector<std::array<Index, N>>& list) {
  const std::size_t n = list.size();
  auto [data, owner] = keep(list);
  return Numbers(data, {n, N}, owner);
}
inline Numbers own(const std::vector<Index>& list) {
  const std::size_t n = list.size();
  auto [data, owner] = keep(list);
  return Numbers(data, {n}, owner);
}

inline Vec3d to_vec(const Triple& a) { return {a(0), a(1), a(2)}; }
inline Quatd to_quat(const Quadruple& a) { return {a(0), a(1), a(2), a(3)}; }
inline std::span<const Vec3d> to_span(const Points& a) { return {reinterpret_cast<const Vec3d*>(a.data()), a.shape(0)}; }
inline nb::tuple to_tuple(const Vec3d& v) { return nb::make_tuple(v.x, v.y, v.z); }
inline nb::tuple to_tuple(const Quatd& q) { return nb::make_tuple(q.x, q.y, q.z, q.w); }

void bind_scene(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_recording(nb::module_& m);
void bind_sweep(nb::module_& m);

}  // namespace osier::python

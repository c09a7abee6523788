// Arrays whose first element begins a cache line, which is also the widest pack.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace osier {

inline constexpr std::size_t kCacheLine = 64;  ///< bytes

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{kCacheLine})); }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{kCacheLine}); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

template <class T>
using AlignedArray = std::vector<T, AlignedAllocator<T>>;

}  // namespace osier

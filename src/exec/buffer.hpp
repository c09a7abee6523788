// Memory of a kernel: on the host, or on the device where this file is compiled for one.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "exec/launch.hpp"

namespace osier {
inline namespace OSIER_BACKEND_NAMESPACE {

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "buffers are copied byte by byte between host and device");

 public:
  Buffer() = default;
  /// Its contents are not initialised.
  Buffer(Backend where, std::size_t size) : where_(where), size_(size) {
    if (size == 0) return;
#if defined(__CUDACC__)
    if (where == Backend::device) {
      void* memory = nullptr;
      check_cuda(cudaMalloc(&memory, bytes()), "no memory on the device");
      data_ = static_cast<T*>(memory);
      return;
    }
#endif
    data_ = static_cast<T*>(std::malloc(bytes()));
    if (data_ == nullptr) std::abort();
  }
  /// A copy of an array of the host.
  Buffer(Backend where, const T* from, std::size_t size) : Buffer(where, size) { copy_from(from); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
#if defined(__CUDACC__)
    if (where_ == Backend::device) {
      cudaFree(data_);
      return;
    }
#endif
    std::free(data_);
  }

  /// To be read and written by kernels that are launched on the buffer's backend.
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  Backend where() const { return where_; }

  /// All of it from, or to, an array of the host; or its first `count` elements.
  void copy_from(const T* from) { copy_from(from, size_); }
  void copy_from(const T* from, std::size_t count) {
    if (count == 0) return;
#if defined(__CUDACC__)
    if (where_ == Backend::device) {
      check_cuda(cudaMemcpy(data_, from, count * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
      return;
    }
#endif
    std::memcpy(data_, from, count * sizeof(T));
  }
  void copy_to(T* to) const { copy_to(to, size_); }
  /// `count` elements of it from `first` on.
  void copy_to(T* to, std::size_t count, std::size_t first = 0) const {
    if (count == 0) return;
#if defined(__CUDACC__)
    if (where_ == Backend::device) {
      check_cuda(cudaMemcpy(to, data_ + first, count * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
      return;
    }
#endif
    std::memcpy(to, data_ + first, count * sizeof(T));
  }

 private:
  void swap(Buffer& other) {
    std::swap(where_, other.where_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  Backend where_ = Backend::host;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier

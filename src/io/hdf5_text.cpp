#include "io/hdf5_text.hpp"

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace osier {

namespace {

/// A little-endian number at `at`, which the caller knows to be there.
template <class T>
T number(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::uint64_t round_up_to_8(std::uint64_t n) { return (n + 7) / 8 * 8; }

/// C strings end at their first zero, fixed-length ones at the latest with their room.
std::string until_zero(std::string text) {
  text.resize(std::strlen(text.c_str()));
  return text;
}

constexpr std::uint64_t kCollectionHeader = 16, kObjectHeader = 16;
/// An object header with more than this is none that a writer of trajectories makes.
constexpr std::uint64_t kMostHeaderBytes = 1 << 20;

}  // namespace

Hdf5Text::Hdf5Text(const std::filesystem::path& file) : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status = {};
  if (file_ >= 0 && ::fstat(file_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

Hdf5Text::~Hdf5Text() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::string> Hdf5Text::bytes(std::uint64_t offset, std::uint64_t count) const {
  if (offset > size_ || count > size_ - offset) return {};
  std::string data(count, '\0');
  for (std::uint64_t done = 0; done < count;) {
    const ssize_t n = ::pread(file_, data.data() + done, count - done, static_cast<off_t>(offset + done));
    if (n <= 0) return {};
    done += static_cast<std::uint64_t>(n);
  }
  return data;
}

/// Null when there is none at this address. Together they are never larger than the file: hostile ones that overlap end here.
const Hdf5Text::Collection* Hdf5Text::collection(std::uint64_t address) {
  if (const auto known = collections_.find(address); known != collections_.end()) return &known->second;
  const std::optional<std::string> head = bytes(address, kCollectionHeader);
  if (!head || !head->starts_with("GCOL") || (*head)[4] != 1) return nullptr;
  const auto length = number<std::uint64_t>(*head, 8);
  if (length > size_ - collected_) return nullptr;
  const std::optional<std::string> data = bytes(address, length);
  if (!data) return nullptr;
  collected_ += length;
  Collection found;
  for (std::uint64_t at = kCollectionHeader; at + kObjectHeader <= length;) {
    const unsigned index = number<std::uint16_t>(*data, at);
    const auto size = number<std::uint64_t>(*data, at + 8);
    if (index == 0) break;  // free space, up to the end
    if (size > length - at - kObjectHeader) return nullptr;
    found[index] = {address + at + kObjectHeader, size};
    at += kObjectHeader + round_up_to_8(size);
  }
  return &(collections_[address] = std::move(found));
}

std::optional<std::string> Hdf5Text::referenced(std::string_view reference) {
  const auto length = number<std::uint32_t>(reference, 0);
  if (length == 0) return std::string();
  const Collection* heap = collection(number<std::uint64_t>(reference, 4));
  if (!heap) return {};
  const auto object = heap->find(number<std::uint32_t>(reference, 12));
  if (object == heap->end() || length > object->second.length) return {};
  std::optional<std::string> text = bytes(object->second.offset, length);
  return text ? std::optional(until_zero(std::move(*text))) : std::nullopt;
}

std::optional<std::vector<std::string>> Hdf5Text::variable_strings(std::uint64_t offset, std::uint64_t count) {
  if (count > size_ / kReferenceBytes) return {};
  const std::optional<std::string> references = bytes(offset, count * kReferenceBytes);
  if (!references) return {};
  std::vector<std::string> texts;
  std::uint64_t total = 0;  // references may share a text, but not multiply it
  for (std::uint64_t i = 0; i < count; ++i) {
    std::optional<std::string> text = referenced(std::string_view(*references).substr(i * kReferenceBytes, kReferenceBytes));
    if (!text || (total += text->size()) > size_) return {};
    texts.push_back(std::move(*text));
  }
  return texts;
}

/// Version 1 pads its parts to multiples of 8; 2 and 3 do not, and 3 has a byte more. Shared types are none of ours.
std::optional<std::string> Hdf5Text::value_of(std::string_view message, std::string_view name) {
  if (message.size() < 9) return {};
  const unsigned version = static_cast<unsigned char>(message[0]), flags = static_cast<unsigned char>(message[1]);
  if (version < 1 || version > 3 || (version > 1 && flags != 0)) return {};
  const auto padded = [&](std::uint64_t n) { return version == 1 ? round_up_to_8(n) : n; };
  const std::uint64_t name_size = number<std::uint16_t>(message, 2), type_size = number<std::uint16_t>(message, 4),
                      space_size = number<std::uint16_t>(message, 6), name_at = version == 3 ? 9 : 8,
                      type_at = name_at + padded(name_size), data_at = type_at + padded(type_size) + padded(space_size);
  if (type_size < 8 || data_at > message.size() || type_at + 8 > message.size()) return {};
  if (until_zero(std::string(message.substr(name_at, name_size))) != name) return {};
  const unsigned kind = static_cast<unsigned char>(message[type_at]) & 15U;
  const std::string_view data = message.substr(data_at);
  constexpr unsigned kFixedString = 3, kVariableLength = 9;
  const std::uint64_t size = number<std::uint32_t>(message, type_at + 4);
  if (kind == kFixedString && size <= data.size()) return until_zero(std::string(data.substr(0, size)));
  if (kind == kVariableLength && data.size() >= kReferenceBytes) return referenced(data.substr(0, kReferenceBytes));
  return {};
}

std::optional<std::string> Hdf5Text::attribute(std::uint64_t header, std::string_view name) {
  constexpr std::uint64_t kPrefix = 16;  // version, count of messages, references, size, padding
  const std::optional<std::string> prefix = bytes(header, kPrefix);
  if (!prefix || (*prefix)[0] != 1) return {};
  std::vector<Piece> blocks{{header + kPrefix, number<std::uint32_t>(*prefix, 8)}};
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if ((total += blocks[b].length) > kMostHeaderBytes) return {};
    const std::optional<std::string> block = bytes(blocks[b].offset, blocks[b].length);
    if (!block) return {};
    constexpr std::uint64_t kMessageHeader = 8;
    constexpr unsigned kAttribute = 0x0C, kContinuation = 0x10;
    for (std::uint64_t at = 0; at + kMessageHeader <= block->size();) {
      const unsigned type = number<std::uint16_t>(*block, at);
      const std::uint64_t size = number<std::uint16_t>(*block, at + 2);
      at += kMessageHeader;
      if (size > block->size() - at) return {};
      const std::string_view message = std::string_view(*block).substr(at, size);
      if (type == kAttribute)
        if (std::optional<std::string> text = value_of(message, name)) return text;
      if (type == kContinuation && size >= 16) {
        const auto length = number<std::uint64_t>(message, 8);
        if (length == 0 || length > kMostHeaderBytes) return {};
        blocks.push_back({number<std::uint64_t>(message, 0), length});
      }
      at += size;
    }
  }
  return {};
}

}  // namespace osier

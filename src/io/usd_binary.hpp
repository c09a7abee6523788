// Binary USD (.usdc, .usd, .usdz), by way of its text form and Pixar's own library: `usdcat`, or Python with the package usd-core
// (docs/adr/0021).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace osier {

/// Whether an extension may stand for binary USD; a .usd may be text as well.
bool is_usd_extension(std::string_view extension);

/// The text form of a USD file of any kind. Text stays as it is; binary files are flattened: sublayers, references, variants and
/// clips become one layer. Throws InputError where that cannot be done.
std::vector<std::byte> usd_text(const std::filesystem::path& file);

/// Throws InputError with the remedy where there is nothing that can write or read binary USD.
void require_usd_tool(const std::filesystem::path& file);

/// A text layer as `out`, whose extension says in which form. Throws RunError.
void write_usd_binary(const std::filesystem::path& text, const std::filesystem::path& out);

}  // namespace osier

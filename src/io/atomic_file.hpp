// Files that are either complete or absent, and the numbered frames made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace osier {

/// Creates the folder and its parents. Throws RunError naming it when that fails.
void make_folder(const std::filesystem::path& folder);

/// Writes a temporary neighbour and renames it, so that a reader (or a killed run) never sees half a file. Throws RunError
/// with the path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Takes `bytes` of disk from `offset` on, creating the file if need be, before a library that cannot survive a full disk
/// writes there. Throws RunError with the path and the system's reason, and leaves the file as it was.
void reserve_file_space(const std::filesystem::path& path, std::uintmax_t offset, std::uintmax_t bytes);

/// `frame_00012.obj`
std::string frame_file_name(int index, std::string_view extension);

/// Makes the folder and removes the frames an earlier, perhaps longer, run left in it: a player that takes every file of the
/// folder must not continue into another simulation.
void prepare_frame_folder(const std::filesystem::path& folder, std::string_view extension);

}  // namespace osier

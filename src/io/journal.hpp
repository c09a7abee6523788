// HDF5 files that a kill cannot spoil.
//
// The library keeps its tables in place: a flush overwrites some of them, one after the other, and a process that is killed
// in between leaves tables that contradict each other. This driver writes what is behind the end of the last flush at once,
// since nothing refers to it yet, and holds back what lies before it. At the end of a flush what was held back goes into a
// journal beside the file, complete or not at all, then into the file, and the journal is removed. Whoever opens the file
// after a kill finishes the journal first, if there is one. So the file is always that of a flush.
#pragma once

#include <filesystem>
#include <hdf5.h>

namespace osier {

/// A file access list for H5Fcreate and H5Fopen. To be closed by H5Pclose; negative on failure.
hid_t journalled_access();

/// Does what a journal says that a killed run has left beside the file, unless the run goes on. Throws RunError when that cannot
/// be written.
void finish_journal(const std::filesystem::path& file);

/// Waits until the disk has everything.
void sync_file(const std::filesystem::path& file);

}  // namespace osier

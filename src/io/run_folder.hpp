// The folder that a run writes its results into: held by one run at a time, and never left without the results that were there
// before something better has been computed.
#pragma once

#include <filesystem>

namespace osier {

class RunFolder {
 public:
  /// Makes the folder and locks it until this object or its process ends, in whatever way. Throws InputError when it cannot be
  /// made or written to, or when another run holds it. Where the file system has no locks nothing is held.
  explicit RunFolder(std::filesystem::path folder);
  /// Without started() everything is as it was: results written since are removed, those of the earlier run are put back.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Moves the results of an earlier run, in whatever format, into the folder `earlier_run`; other files stay where they are.
  void set_earlier_aside();
  /// The initial state is on disk: from now on the folder is the new run's.
  void started() { started_ = true; }
  /// Something has been computed: the results of the earlier run are removed.
  void drop_earlier();
  /// Where the results of the earlier run are kept; empty when there are none.
  std::filesystem::path earlier() const;
  /// Throws RunError when the folder has been removed, moved or replaced.
  void expect_there() const;
  const std::filesystem::path& path() const { return folder_; }

 private:
  void restore();

  std::filesystem::path folder_;
  std::filesystem::path aside_;  ///< where the results of this folder were moved to, or empty
  int lock_ = -1;
  bool made_ = false;     ///< the folder was not there before
  bool cleared_ = false;  ///< what is in the folder now is the new run's
  bool started_ = false, dropped_ = false;
};

}  // namespace osier

// Films: pictures piped to ffmpeg.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <sys/types.h>

#include "render/image.hpp"

namespace osier::render {

/// An .mp4 in the making. It appears under its name when finish() has succeeded, and not at all otherwise.
class Film {
 public:
  Film(const std::filesystem::path& file, int width, int height, double fps);
  ~Film();
  Film(const Film&) = delete;
  Film& operator=(const Film&) = delete;
  void add(const Image& image);
  void finish();

 private:
  [[noreturn]] void fail();
  int wait();
  std::filesystem::path file_, temporary_;
  std::FILE* messages_ = nullptr;  ///< what ffmpeg complains about
  int pipe_ = -1;
  pid_t process_ = -1;
};

}  // namespace osier::render

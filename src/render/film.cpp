#include "render/film.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/program.hpp"
#include "io/atomic_file.hpp"
#include "osier/error.hpp"

namespace osier::render {

namespace fs = std::filesystem;

Film::Film(const fs::path& file, int width, int height, double fps) : file_(file), temporary_(temporary_for(file, ".part")) {
  const fs::path program = find_program("ffmpeg");
  if (program.empty()) throw RunError("films need ffmpeg, which is not on PATH; install it (apt-get install ffmpeg)");
  messages_ = std::tmpfile();
  int ends[2];
  if (!messages_ || ::pipe2(ends, O_CLOEXEC) != 0)
    throw RunError(fmt::format("ffmpeg cannot be started: {}", std::strerror(errno)));
  // The matrix of HD video, said in the file too, or players would guess and shift the colours.
  const std::vector<std::string> words{program.string(),
                                       "-nostdin",
                                       "-loglevel",
                                       "error",
                                       "-y",
                                       "-f",
                                       "rawvideo",
                                       "-pix_fmt",
                                       "rgb24",
                                       "-video_size",
                                       fmt::format("{}x{}", width, height),
                                       "-framerate",
                                       fmt::format("{}", fps),
                                       "-i",
                                       "pipe:0",
                                       "-vf",
                                       "scale=out_color_matrix=bt709:out_range=tv",
                                       "-c:v",
                                       "libx264",
                                       "-preset",
                                       "medium",
                                       "-crf",
                                       "17",
                                       "-pix_fmt",
                                       "yuv420p",
                                       "-colorspace",
                                       "bt709",
                                       "-color_primaries",
                                       "bt709",
                                       "-color_trc",
                                       "bt709",
                                       "-movflags",
                                       "+faststart",
                                       "-f",
                                       "mp4",
                                       temporary_.string()};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // A player that ends early is told by write(), not by a signal that ends us.
  std::signal(SIGPIPE, SIG_IGN);
  process_ = ::fork();
  if (process_ == 0) {
    ::setpgid(0, 0);  // Ctrl-C is for us; we end it ourselves
    ::dup2(ends[0], STDIN_FILENO);
    ::dup2(::fileno(messages_), STDOUT_FILENO);
    ::dup2(::fileno(messages_), STDERR_FILENO);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  pipe_ = ends[1];
  if (process_ < 0) throw RunError(fmt::format("ffmpeg cannot be started: {}", std::strerror(errno)));
}

Film::~Film() {
  if (pipe_ >= 0) ::close(pipe_);
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    wait();
  }
  if (messages_) std::fclose(messages_);
  std::error_code ignored;  // gone already when all went well
  fs::remove(temporary_, ignored);
}

int Film::wait() {
  int status = -1;
  while (process_ > 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

void Film::fail() {
  if (pipe_ >= 0) ::close(pipe_);
  pipe_ = -1;
  wait();
  std::string text(2000, '\0');
  std::rewind(messages_);
  text.resize(std::fread(text.data(), 1, text.size(), messages_));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  throw RunError(fmt::format("{}: ffmpeg failed: {}", file_.string(), text.empty() ? "it does not say why" : text));
}

void Film::add(const Image& image) {
  const std::vector<std::uint8_t> bytes = screen_bytes(image);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::write(pipe_, bytes.data() + sent, bytes.size() - sent);
    if (n > 0) sent += static_cast<std::size_t>(n);
    else if (errno != EINTR) fail();
  }
}

void Film::finish() {
  ::close(pipe_);
  pipe_ = -1;
  if (wait() != 0) fail();
  put_in_place(temporary_, file_);
}

}  // namespace osier::render

// A progress bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace osier::cli {

class Progress {
 public:
  Progress(std::string name, bool quiet, std::string unit = "frame")
      : name_(std::move(name)), unit_(std::move(unit)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

  void update(int frame, int frames, double ms) {
    if (quiet_) return;
    const Clock::time_point now = Clock::now();
    const bool last = frame == frames;
    // Redraw at most 20 times a second. In a log, a line for each tenth of the work, and not more than one a second.
    const double pause = terminal_ ? 0.05 : 1;
    if (!last && std::chrono::duration<double>(now - drawn_).count() < pause) return;
    const long tenth = frames > 0 ? 10L * frame / frames : 10;
    if (!terminal_ && !last && tenth == tenth_) return;
    drawn_ = now, tenth_ = tenth;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double left = elapsed / frame * (frames - frame);
    const std::string text =
        fmt::format("{} {} {}/{}  {:.2f} ms/{}  ETA {}", name_, unit_, frame, frames, ms, unit_, duration(left));
    if (terminal_) {
      constexpr int kWidth = 28;
      const int filled = frames > 0 ? static_cast<int>(static_cast<long>(kWidth) * frame / frames) : kWidth;
      fmt::print(stderr, "\r\x1b[K[{}{}] {}", std::string(static_cast<std::size_t>(filled), '#'),
                 std::string(static_cast<std::size_t>(kWidth - filled), '-'), text);
      std::fflush(stderr);
      open_line_ = true;
    } else {
      fmt::print(stderr, "{}\n", text);
    }
  }

  void finish() {
    if (open_line_) fmt::print(stderr, "\n");
    open_line_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static std::string duration(double seconds) {
    if (seconds < 60) return fmt::format("{:.0f}s", seconds);
    const int s = static_cast<int>(seconds);
    if (s < 3600) return fmt::format("{}m{:02d}s", s / 60, s % 60);
    return fmt::format("{}h{:02d}m", s / 3600, s / 60 % 60);
  }
  std::string name_, unit_;
  bool quiet_, terminal_, open_line_ = false;
  long tenth_ = 0;
  Clock::time_point start_ = Clock::now(), drawn_ = start_;
};

}  // namespace osier::cli

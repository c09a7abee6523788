#include "io/guarded.hpp"

#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace osier {

namespace {

[[noreturn]] void carry_out(const std::function<void()>& trial) {
  // A sanitizer or a user's handler would report the crash, which is expected here.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    trial();
  } catch (...) {
    // The parent meets the same exception, and tells it.
  }
  _exit(0);
}

}  // namespace

bool survives(const std::function<void()>& trial) {
  const pid_t child = fork();
  if (child < 0) return true;
  if (child == 0) carry_out(trial);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return true;
  return !WIFSIGNALED(status);
}

}  // namespace osier

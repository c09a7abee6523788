// HTTP and WebSocket for one session, on the loopback interface and for holders of the token alone.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "view/session.hpp"

namespace osier::view {

class Server {
 public:
  /// Binds 127.0.0.1; port 0 takes a free one. Throws InputError when the port cannot be had.
  Server(Session& session, int port);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  std::string url() const;  ///< with the token

  /// Serves until SIGINT, SIGTERM or stop().
  void run();
  /// From any thread.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace osier::view

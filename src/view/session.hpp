// What is looked at, on a thread of its own. Clients are numbers here; the server knows their sockets.
//
// The network thread hands in commands and takes messages out, and neither thread ever waits for the other: commands go into a
// mailbox (the server keeps the number of unanswered ones per client small), frames go out only to clients that said `ready`,
// always the newest one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/json.hpp"
#include "view/packet.hpp"

namespace osier::view {

using ClientId = std::uint64_t;

inline constexpr const char* kNoMemory = "not enough memory for this; nothing has been changed";

struct Message {
  std::shared_ptr<const std::string> data;
  bool binary = false;
};
inline Message text_message(const OrderedJson& json) {
  return {std::make_shared<const std::string>(json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)), false};
}
inline Message binary_message(std::string bytes) { return {std::make_shared<const std::string>(std::move(bytes)), true}; }

class Session {
 public:
  /// Takes messages for a client, and how many of its commands are done with. Called on the session's thread; does not block.
  using Deliver = std::function<void(ClientId client, std::vector<Message> messages, int commands_done)>;

  Session() = default;
  virtual ~Session() = default;  // after stop()
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start(Deliver deliver);
  /// Ends the thread, at the latest after the step at hand.
  void stop() { stop_within({}); }
  /// The same, but false when the step at hand takes longer than that; the thread then goes on.
  bool stop_within(std::optional<std::chrono::milliseconds> patience);

  // Called on the network's thread.
  void connect(ClientId client) { post({client, Letter::Kind::connect, {}, false}); }
  void disconnect(ClientId client) { post({client, Letter::Kind::disconnect, {}, false}); }
  void ready(ClientId client) { post({client, Letter::Kind::ready, {}, false}); }
  void command(ClientId client, Json command) { post({client, Letter::Kind::command, std::move(command), false}); }

 protected:
  using Clock = std::chrono::steady_clock;
  struct Client {
    int ready = 0;  ///< frames that it can take
    int hello_seen = -1, model_seen = -1;
    long frame_seen[2] = {-1, -1};   ///< by number, see frames_for
    int frame_wanted[2] = {-1, -1};  ///< of a recording
    FrameParts parts, parts_seen;    ///< of a frame: that it wants, that came with the last one
    OrderedJson reply;               ///< what the answer to the present command says beside its type and id
  };

  /// Text that describes the session, and the models; sent again when `hello_version_` or `model_version_` moves on.
  virtual Message hello() = 0;
  virtual std::vector<Message> models() = 0;
  /// Frames that this client has not seen yet; `frame_seen` and `ready` are the session's to set.
  virtual std::vector<Message> frames_for(Client& client) = 0;
  /// Throws InputError or RunError when the command cannot be carried out.
  virtual void handle(Client& client, const std::string& type, const Json& command) = 0;
  /// Does a piece of work; returns when to come back, or nothing when only a command can bring more work.
  virtual std::optional<Clock::time_point> advance() { return {}; }
  /// Called with nothing else to do, before the next command is waited for.
  virtual void prepare() {}
  /// How many frames a client can ask for at once.
  virtual int most_ready() const { return 1; }
  bool stopping() const;

  int hello_version_ = 0, model_version_ = 0;

 private:
  struct Letter {
    ClientId client;
    enum class Kind : std::uint8_t { connect, disconnect, ready, command } kind;
    Json body;
    bool superseded = false;  ///< a later one of the same batch overwrites it
  };
  bool idle() const;
  static void find_superseded(std::vector<Letter>& letters);
  void post(Letter letter);
  void run();
  void take_turn(std::vector<Letter>& letters);
  void open(Letter& letter);
  void answer(ClientId id, Client& client, const Letter& letter);
  void serve();

  Deliver deliver_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Letter> mailbox_;
  bool stop_ = false, ended_ = false;
  std::map<ClientId, Client> clients_;  ///< of the session's thread alone
};

// Parts of commands, with the problems a page's author makes.
double number_of(const Json& command, const char* key);
int whole_number_of(const Json& command, const char* key);
std::string word_of(const Json& command, const char* key);
bool flag_of(const Json& command, const char* key);
[[noreturn]] void refuse(std::string where, std::string what, std::string remedy = {});

}  // namespace osier::view

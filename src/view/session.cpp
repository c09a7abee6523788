#include "view/session.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <set>
#include <utility>

#include "core/text.hpp"

namespace osier::view {

void Session::start(Deliver deliver) {
  deliver_ = std::move(deliver);
  thread_ = std::thread([this] { run(); });
}

bool Session::stop_within(std::optional<std::chrono::milliseconds> patience) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  if (!thread_.joinable()) return true;
  if (patience && !wake_.wait_for(lock, *patience, [this] { return ended_; })) return false;
  lock.unlock();
  thread_.join();
  return true;
}

bool Session::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

bool Session::idle() const {
  const std::lock_guard lock(mutex_);
  return mailbox_.empty() && !stop_;
}

void Session::post(Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    mailbox_.push_back(std::move(letter));
  }
  wake_.notify_one();
}

void Session::run() {
  constexpr auto kPause = std::chrono::milliseconds(200);
  std::vector<Letter> letters;
  while (!stopping()) try {
      take_turn(letters);
    } catch (const std::bad_alloc&) {
      // Not even an answer fits into memory. What is left of these commands is dropped, and others get time to give some back.
      letters.clear();
      std::this_thread::sleep_for(kPause);
    }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_.notify_all();
}

/// A piece of work, what clients can take of it, and then the commands that have come in, for which it waits when there is
/// nothing else to do.
void Session::take_turn(std::vector<Letter>& letters) {
  const std::optional<Clock::time_point> next = advance();
  serve();
  if (idle()) prepare();
  {
    std::unique_lock lock(mutex_);
    const auto something = [&] { return stop_ || !mailbox_.empty(); };
    if (next) wake_.wait_until(lock, *next, something);
    else wake_.wait(lock, something);
    if (stop_) return;
    letters.swap(mailbox_);
  }
  find_superseded(letters);
  for (Letter& letter : letters) open(letter);
  letters.clear();
}

/// A slider moves faster than a scene compiles: of settings in a row that overwrite each other the last one counts.
void Session::find_superseded(std::vector<Letter>& letters) {
  std::set<std::string> later;
  for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter) {
    if (letter->kind != Letter::Kind::command) continue;
    const Json type = letter->body.value("type", Json());
    if (type == "drag" || type == "set") {
      const Json pointer = type == "set" ? letter->body.value("pointer", Json()) : type;
      letter->superseded = !later.insert(pointer.dump(-1, ' ', false, Json::error_handler_t::replace)).second;
    } else {
      later.clear();
    }
  }
}

void Session::open(Letter& letter) {
  if (letter.kind == Letter::Kind::connect) clients_[letter.client] = {};
  const auto client = clients_.find(letter.client);
  if (client == clients_.end()) return;
  if (letter.kind == Letter::Kind::disconnect) clients_.erase(client);
  if (letter.kind == Letter::Kind::ready) {
    client->second.ready = std::min(client->second.ready + 1, most_ready());
    deliver_(letter.client, {}, 1);
  }
  if (letter.kind == Letter::Kind::command) answer(letter.client, client->second, letter);
}

/// Every problem in a line of its own.
static std::string text_of(const InputError& e) {
  std::string text;
  for (const Problem& p : e.problems()) text += (text.empty() ? "" : "\n") + to_string(p);
  return text;
}

void Session::answer(ClientId id, Client& client, const Letter& letter) {
  const Json& command = letter.body;
  const auto it = command.find("id");
  const Json number = it == command.end() ? Json(nullptr) : *it;
  std::string error;
  try {
    const std::string type = letter.superseded ? "" : word_of(command, "type");
    if (type == "want")
      client.parts = {flag_of(command, "frame"), flag_of(command, "joint_moment"),
                      command.contains("contacts") && flag_of(command, "contacts")};
    else if (!letter.superseded) handle(client, type, command);
  } catch (const InputError& e) {
    error = text_of(e);
  } catch (const std::bad_alloc&) {
    error = kNoMemory;
  } catch (const std::exception& e) {
    error = e.what();
  }
  std::vector<Message> reply;
  OrderedJson said = {{"type", "ack"}, {"id", number}};
  if (const OrderedJson more = std::exchange(client.reply, nullptr); more.is_object()) said.update(more);
  if (!error.empty()) reply.push_back(text_message({{"type", "error"}, {"id", number}, {"message", error}}));
  else if (!number.is_null()) reply.push_back(text_message(said));
  deliver_(id, std::move(reply), 1);
}

void Session::serve() {
  std::optional<Message> greeting;
  std::optional<std::vector<Message>> shapes;
  for (auto& [id, client] : clients_) {
    // The first greeting comes unasked; later ones only with a frame, or they would pile up before a client that does not read.
    if (client.ready == 0 && client.hello_seen >= 0) continue;
    std::vector<Message> messages;
    if (client.hello_seen != hello_version_) {
      client.hello_seen = hello_version_;
      client.frame_seen[0] = client.frame_seen[1] = -1;
      if (!greeting) greeting = hello();
      messages.push_back(*greeting);
    }
    if (client.model_seen != model_version_) {
      client.model_seen = model_version_;
      client.frame_seen[0] = client.frame_seen[1] = -1;
      if (!shapes) shapes = models();
      messages.insert(messages.end(), shapes->begin(), shapes->end());
    }
    if (client.ready > 0) {
      const std::vector<Message> frames = frames_for(client);
      messages.insert(messages.end(), frames.begin(), frames.end());
    }
    if (!messages.empty()) deliver_(id, std::move(messages), 0);
  }
}

void refuse(std::string where, std::string what, std::string remedy) {
  throw InputError({{std::move(where), std::move(what), std::move(remedy)}});
}

static const Json& part(const Json& command, const char* key) {
  const auto it = command.find(key);
  if (it == command.end()) refuse(key, "is missing", "add it to the command");
  return *it;
}

double number_of(const Json& command, const char* key) {
  const Json& value = part(command, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, shorten(value) + " is not a finite number");
  return value.get<double>();
}

int whole_number_of(const Json& command, const char* key) {
  const double value = number_of(command, key);
  if (std::nearbyint(value) != value || std::abs(value) > 2e9) refuse(key, "is not a whole number");
  return static_cast<int>(value);
}

std::string word_of(const Json& command, const char* key) {
  const Json& value = part(command, key);
  if (!value.is_string()) refuse(key, shorten(value) + " is not text");
  return value.get<std::string>();
}

bool flag_of(const Json& command, const char* key) {
  const Json& value = part(command, key);
  if (!value.is_boolean()) refuse(key, shorten(value) + " is not true or false");
  return value.get<bool>();
}

}  // namespace osier::view

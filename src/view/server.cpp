#include "view/server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <new>

#include "view/access.hpp"
#include "view/page.hpp"

namespace osier::view {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Error = beast::error_code;

constexpr std::size_t kMostHeader = 8 * 1024, kMostBody = 1024, kMostMessage = 64 * 1024;
constexpr std::size_t kMostConnections = 32;
constexpr int kMostUnanswered = 32;  ///< commands of one client; beyond, it is not read from
constexpr int kDeepest = 8;          ///< nesting of a command
constexpr auto kPatience = std::chrono::seconds(10);

/// A view, not a copy: for comparisons only.
std::string_view view_of(beast::string_view s) { return {s.data(), s.size()}; }

}  // namespace

struct Server::Impl {
  Impl(Session& s, int wanted) : session(s), acceptor(io), signals(io, SIGINT, SIGTERM), pause(io) { listen(wanted); }

  ~Impl() { const auto gone = std::move(clients); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void listen(int wanted);
  void accept();

  class Connection;
  class Client;

  Session& session;
  int port = 0;
  const std::string token = make_token();
  std::size_t connections = 0;
  ClientId next_client = 1;
  std::map<ClientId, std::shared_ptr<Client>> clients;  ///< a client that is neither read from nor written to stays
  asio::io_context io{1};                               ///< after what connections use: they end with it
  tcp::acceptor acceptor;
  asio::signal_set signals;
  asio::steady_timer pause;
};

/// A page that is connected. Lives on the network thread.
class Server::Impl::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(Impl& server, beast::tcp_stream stream) : server_(server), socket_(std::move(stream)), id_(server.next_client++) {}
  ~Client() { --server_.connections; }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  template <class Request>
  void start(const Request& request) {
    beast::get_lowest_layer(socket_).expires_never();
    websocket::stream_base::timeout limits{};
    limits.handshake_timeout = kPatience;
    limits.idle_timeout = std::chrono::seconds(60);  // a page that has vanished does not answer pings
    limits.keep_alive_pings = true;
    socket_.set_option(limits);
    socket_.read_message_max(kMostMessage);
    socket_.auto_fragment(false);
    socket_.async_accept(request, [self = shared_from_this()](Error error) {
      if (error) return;
      self->server_.clients[self->id_] = self;
      self->server_.session.connect(self->id_);
      self->read();
    });
  }

  void deliver(std::vector<Message> messages, int commands_done) {
    unanswered_ -= commands_done;
    for (Message& m : messages) queue_.push_back(std::move(m));
    write();
    read();
  }

  void close() {
    Error ignored;
    beast::get_lowest_layer(socket_).socket().close(ignored);
    if (server_.clients.erase(id_) > 0) server_.session.disconnect(id_);
  }

 private:
  void read() {
    // What waits for this client: answers to come, and answers that it does not read. Frames are few by themselves.
    if (reading_ || unanswered_ + static_cast<int>(queue_.size()) >= kMostUnanswered) return;
    reading_ = true;
    socket_.async_read(buffer_, [self = shared_from_this()](Error error, std::size_t) {
      self->reading_ = false;
      if (error) return self->close();
      self->take(beast::buffers_to_string(self->buffer_.data()), self->socket_.got_text());
      self->buffer_.consume(self->buffer_.size());
      self->read();
    });
  }

  void take(const std::string& message, bool is_text) {
    const auto complain = [&](const char* what) {
      queue_.push_back(text_message({{"type", "error"}, {"id", nullptr}, {"message", what}}));
      write();
    };
    if (!is_text) return complain("a binary message; commands are JSON text");
    int depth = 0;
    for (const char c : message)
      if (depth += (c == '{' || c == '[') - (c == '}' || c == ']'); depth > kDeepest)
        return complain("a command is not nested that deeply");
    Json command = Json::parse(message, nullptr, false);
    if (!command.is_object()) return complain("not a JSON object; write {\"type\": \"pause\"}");
    if (command.value("type", Json()) == "ready") {
      can_take_ = std::min(can_take_ + 1, 2);
      return ask_for_frames();
    }
    ++unanswered_;
    server_.session.command(id_, std::move(command));
  }

  /// Not while something still waits to be sent: whatever the page says, it does not read at the moment.
  void ask_for_frames() {
    if (!queue_.empty()) return;
    for (; can_take_ > 0; --can_take_) {
      ++unanswered_;
      server_.session.ready(id_);
    }
  }

  void write() {
    if (writing_ || queue_.empty()) return;
    writing_ = true;
    socket_.binary(queue_.front().binary);
    socket_.async_write(asio::buffer(*queue_.front().data), [self = shared_from_this()](Error error, std::size_t) {
      self->writing_ = false;
      if (error) return self->close();
      self->queue_.pop_front();
      self->write();
      self->ask_for_frames();
      self->read();
    });
  }

  Impl& server_;
  websocket::stream<beast::tcp_stream> socket_;
  const ClientId id_;
  beast::flat_buffer buffer_{kMostMessage};
  std::deque<Message> queue_;
  int unanswered_ = 0, can_take_ = 0;
  bool reading_ = false, writing_ = false;
};

/// One HTTP request, which is answered or becomes a client.
class Server::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
    parser_.header_limit(kMostHeader);
    parser_.body_limit(kMostBody);
  }
  ~Connection() {
    if (!handed_on_) --server_.connections;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](Error error, std::size_t) { self->answer(error); });
  }

 private:
  void answer(Error error) {
    if (error == http::error::header_limit) return reply(http::status::request_header_fields_too_large, "too long\n");
    if (error == http::error::body_limit) return reply(http::status::payload_too_large, "too long\n");
    if (error && error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream)
      return reply(http::status::bad_request, "not HTTP\n");
    if (error) return;
    const auto& request = parser_.get();
    const std::string_view target = view_of(request.target());
    if (!is_own_host(view_of(request[http::field::host]), server_.port)) return reply(http::status::forbidden, "wrong host\n");
    const auto origin = request.find(http::field::origin);
    const bool has_origin = origin != request.end();
    if (has_origin && !is_own_origin(view_of(origin->value()), server_.port))
      return reply(http::status::forbidden, "wrong origin\n");
    if (!same_token(token_of(target), server_.token))
      return reply(http::status::forbidden, "wrong token: use the address that osier view printed\n");
    if (request.method() != http::verb::get) return reply(http::status::method_not_allowed, "only GET\n");
    if (path_of(target) == "/") return reply(http::status::ok, page_to_serve(), "text/html; charset=utf-8");
    if (path_of(target) != "/ws") return reply(http::status::not_found, "nothing here\n");
    if (!websocket::is_upgrade(request)) return reply(http::status::bad_request, "this is for a WebSocket\n");
    if (!has_origin) return reply(http::status::forbidden, "wrong origin\n");
    handed_on_ = true;
    std::make_shared<Client>(server_, std::move(stream_))->start(request);
  }

  void reply(http::status status, std::string_view body, const char* type = "text/plain; charset=utf-8") {
    response_.result(status);
    response_.version(11);
    response_.set(http::field::content_type, type);
    response_.set(http::field::cache_control, "no-store");
    response_.set(
        "Content-Security-Policy",
        fmt::format("default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
                    "img-src data: blob:; font-src data:; connect-src ws://127.0.0.1:{0} ws://localhost:{0} data: "
                    "blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                    server_.port));
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Referrer-Policy", "no-referrer");  // the token stays here
    response_.body() = {body.data(), body.size()};
    response_.keep_alive(false);
    response_.prepare_payload();
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_, [self = shared_from_this()](Error, std::size_t) {
      Error ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeader + kMostBody};
  http::request_parser<http::string_body> parser_;
  http::response<http::span_body<const char>> response_;
  bool handed_on_ = false;
};

void Server::Impl::listen(int wanted) {
  const tcp::endpoint place(asio::ip::address_v4::loopback(), static_cast<unsigned short>(wanted));
  Error error;
  acceptor.open(place.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(place, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw InputError({{"--port", fmt::format("port {} on 127.0.0.1 cannot be used: {}", wanted, error.message()),
                       "choose another one, or leave --port out to take a free one"}});
  port = acceptor.local_endpoint().port();
}

void Server::Impl::accept() {
  acceptor.async_accept([this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {  // no descriptors left, or the like: others must leave first
      pause.expires_after(std::chrono::milliseconds(200));
      return pause.async_wait([this](Error stopped) {
        if (!stopped) accept();
      });
    }
    if (connections < kMostConnections) {
      ++connections;
      std::make_shared<Connection>(*this, std::move(socket))->start();
    }  // else closed at once
    accept();
  });
}

Server::Server(Session& session, int port) : impl_(std::make_unique<Impl>(session, port)) {}
Server::~Server() = default;

int Server::port() const { return impl_->port; }
std::string Server::url() const { return fmt::format("http://127.0.0.1:{}/?token={}", impl_->port, impl_->token); }

void Server::run() {
  Impl& s = *impl_;
  s.signals.async_wait([&](Error error, int) {
    if (!error) s.io.stop();
  });
  s.accept();
  s.session.start([&](ClientId id, std::vector<Message> messages, int commands_done) {
    asio::post(s.io, [&s, id, messages = std::move(messages), commands_done]() mutable {
      const auto client = s.clients.find(id);
      if (client == s.clients.end()) return;
      const std::shared_ptr<Impl::Client> kept = client->second;
      kept->deliver(std::move(messages), commands_done);
    });
  });
  for (bool done = false; !done;) try {
      s.io.run();
      done = true;
    } catch (const std::bad_alloc&) {
      // What this connection wanted is lost; the others go on.
    }
  Error ignored;
  s.signals.clear(ignored);  // a second Ctrl-C does not wait at all
  // Nothing is written, so a step that takes hours need not come to its end.
  constexpr auto kLongestStep = std::chrono::seconds(3);
  if (!s.session.stop_within(kLongestStep)) std::_Exit(0);
}

void Server::stop() { impl_->io.stop(); }

}  // namespace osier::view

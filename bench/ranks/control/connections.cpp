// Rank 0 listens on all its addresses while the others connect; a token keeps strangers out.
#include "bench/ranks/control/connections.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>

#include "bench/ranks/payload.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

constexpr auto connect_limit = std::chrono::seconds(5);  // for one address
constexpr auto total_limit = std::chrono::seconds(60);
constexpr int address_tag = 0;

/// Where rank 0 can be reached.
struct FirstRank {
  std::uint64_t token = 0;
  std::uint16_t port = 0;
  std::string host;
  std::vector<std::string> addresses;  // IPv4, those of the loopback last

  void fields(Archive& archive) { archive(token, port, host, addresses); }
};

/// The first bytes of a connection, in both directions.
struct Hello {
  std::uint64_t token = 0;  // keeps other programs out
  std::int64_t rank = 0;    // of the caller
};

std::vector<std::string> own_addresses() {
  ifaddrs* list = nullptr;
  std::vector<std::string> others;
  std::vector<std::string> loopback;
  if (getifaddrs(&list) != 0) return {"127.0.0.1"};
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof(address));
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : others).emplace_back(text.data());
  }
  freeifaddrs(list);
  others.insert(others.end(), loopback.begin(), loopback.end());
  return others;
}

void send_text(RankLink& link, int to, const std::string& text) {
  const std::uint64_t bytes = text.size();
  link.send(to, address_tag, reinterpret_cast<const std::byte*>(&bytes), sizeof(bytes));
  link.send(to, address_tag, reinterpret_cast<const std::byte*>(text.data()), text.size());
}

std::string receive_text(RankLink& link, int from) {
  std::uint64_t bytes = 0;
  link.receive(from, address_tag, reinterpret_cast<std::byte*>(&bytes), sizeof(bytes));
  std::string text(bytes, '\0');
  link.receive(from, address_tag, reinterpret_cast<std::byte*>(text.data()), bytes);
  return text;
}

void limit_waits(const Socket& socket, std::chrono::seconds limit) {
  const timeval time{.tv_sec = limit.count(), .tv_usec = 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    setsockopt(socket.descriptor(), SOL_SOCKET, option, &time, sizeof(time));
  }
}

bool send_hello(const Socket& socket, const Hello& hello) {
  return ::send(socket.descriptor(), &hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello);
}

/// Nothing from another program.
std::optional<Hello> receive_hello(const Socket& socket, const FirstRank& first) {
  Hello hello;
  const ssize_t got = ::recv(socket.descriptor(), &hello, sizeof(hello), MSG_WAITALL);
  if (got != sizeof(hello) || hello.token != first.token) return std::nullopt;
  return hello;
}

/// Frames are small and answered at once. A connection through which nothing more goes must not
/// hold up its sender.
void tune(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  limit_waits(socket, total_limit);
}

Socket listening_socket(FirstRank& first) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket.is_open() || ::bind(socket.descriptor(), generic, length) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0 ||
      ::getsockname(socket.descriptor(), generic, &length) != 0) {
    throw Error(fmt::format("rank 0 cannot listen for the other ranks: {}", std::strerror(errno)));
  }
  first.port = ntohs(address.sin_port);
  return socket;
}

std::vector<RankConnection> accept_ranks(RankLink& link) {
  std::random_device random;
  FirstRank first{.token = std::uint64_t{random()} << 32U | random(),
                  .port = 0,
                  .host = host_name(),
                  .addresses = own_addresses()};
  const Socket listening = listening_socket(first);
  limit_waits(listening, total_limit);
  std::vector<RankConnection> connections;
  for (int rank = 1; rank < link.size(); ++rank) {
    send_text(link, rank, packed(first));
    connections.push_back({.rank = rank, .host = receive_text(link, rank), .socket = {}});
  }
  for (;;) {
    const auto missing = std::ranges::count_if(
        connections, [](const RankConnection& one) { return !one.socket.is_open(); });
    if (missing == 0) return connections;
    Socket socket(::accept4(listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open() && errno != EINTR && errno != ECONNABORTED) {
      throw Error(
          fmt::format("{} of {} ranks did not connect to rank 0 ({}) within {} s; let them "
                      "reach a TCP port of it",
                      missing, connections.size(), first.host, total_limit.count()));
    }
    if (!socket.is_open()) continue;
    limit_waits(socket, connect_limit);
    const std::optional<Hello> hello = receive_hello(socket, first);
    if (!hello || !send_hello(socket, *hello)) continue;
    tune(socket);
    connections.at(static_cast<std::size_t>(hello->rank - 1)).socket = std::move(socket);
  }
}

/// A connection with the right rank 0 at this address, or a closed socket.
Socket connect_to(const FirstRank& first, const std::string& text, int rank) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  limit_waits(socket, connect_limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(first.port);
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  const bool is_connected =
      ::connect(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      send_hello(socket, {.token = first.token, .rank = rank}) &&
      receive_hello(socket, first).has_value();
  if (!is_connected) return {};
  tune(socket);
  return socket;
}

std::vector<RankConnection> connect_to_first(RankLink& link) {
  const auto first = unpacked<FirstRank>(receive_text(link, 0));
  send_text(link, 0, host_name());
  for (const std::string& address : first.addresses) {
    Socket socket = connect_to(first, address, link.rank());
    if (!socket.is_open()) continue;
    std::vector<RankConnection> connections;
    connections.push_back({0, first.host, std::move(socket)});
    return connections;
  }
  throw Error(
      fmt::format("rank {} ({}) cannot reach rank 0 ({}) at port {}; let ranks reach a TCP "
                  "port of it",
                  link.rank(), host_name(), first.host, first.port));
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::vector<RankConnection> connect_ranks(RankLink& link) {
  return link.rank() == 0 ? accept_ranks(link) : connect_to_first(link);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  const std::string whole(name.data());
  return whole.substr(0, whole.find('.'));
}

}  // namespace parbench

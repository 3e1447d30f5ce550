// Rank 0 listens on all its addresses while the others connect; a token rejects other programs.
#include "bench/ranks/control/connections.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>

#include "kernels/base/error.h"

namespace parbench {
namespace {

constexpr auto connect_limit =
    std::chrono::seconds(5);  // for each call of a socket until the ranks have greeted each other
constexpr auto total_limit = std::chrono::seconds(60);

/// Addresses of a rank, known to all ranks.
struct Contact {
  std::array<char, 64> host{};
  std::uint64_t token = 0;
  in_port_t port = 0;
  std::array<in_addr, 32> addresses{};  // IPv4, those of the loopback last; 0: none
};

/// The first bytes of a connection, in both directions.
struct Hello {
  std::uint64_t token = 0;
  std::int64_t rank = 0;  // rank of the sender
};

void list_addresses(Contact& contact) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    contact.addresses.front().s_addr = htonl(INADDR_LOOPBACK);
    return;
  }
  auto* place = contact.addresses.begin();
  for (const unsigned loopback : {0U, unsigned{IFF_LOOPBACK}}) {
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      if ((one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) != (IFF_UP | loopback)) continue;
      if (place == contact.addresses.end()) break;
      sockaddr_in address{};
      std::memcpy(&address, one->ifa_addr, sizeof(address));
      *place++ = address.sin_addr;
    }
  }
  freeifaddrs(list);
}

Connection make_socket() { return Connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

/// Sets time limits, so that a blocked connection does not block its sender, and disables delays,
/// because packets are small and answered at once.
void tune(const Connection& connection, std::chrono::seconds limit) {
  const timeval time{.tv_sec = limit.count(), .tv_usec = 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    setsockopt(connection.descriptor(), SOL_SOCKET, option, &time, sizeof(time));
  }
  const int on = 1;
  setsockopt(connection.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool send_hello(const Connection& connection, const Hello& hello) {
  return ::send(connection.descriptor(), &hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello);
}

/// Returns the rank that has connected; nothing if another program has.
std::optional<std::int64_t> greeting_rank(const Connection& connection, std::uint64_t token) {
  Hello hello;
  const ssize_t got = ::recv(connection.descriptor(), &hello, sizeof(hello), MSG_WAITALL);
  if (got != sizeof(hello) || hello.token != token) return std::nullopt;
  return hello.rank;
}

Connection listening_socket(Contact& contact) {
  Connection listening = make_socket();
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {INADDR_ANY}, .sin_zero = {}};
  socklen_t length = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!listening.is_open() || ::bind(listening.descriptor(), generic, length) != 0 ||
      ::listen(listening.descriptor(), SOMAXCONN) != 0 ||
      ::getsockname(listening.descriptor(), generic, &length) != 0) {
    throw Error(fmt::format("rank 0 cannot listen for the other ranks: {}", std::strerror(errno)));
  }
  std::random_device random;
  contact.token = std::uint64_t{random()} << 32U | random();
  contact.port = address.sin_port;
  list_addresses(contact);
  tune(listening, total_limit);
  return listening;
}

std::map<int, Connection> accept_all(const Connection& listening, const Contact& first, int ranks) {
  std::map<int, Connection> connections;
  while (std::cmp_less(connections.size(), ranks - 1)) {
    Connection one(::accept4(listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!one.is_open() && errno != EINTR && errno != ECONNABORTED) {
      throw Error(
          fmt::format("{} of {} ranks connected to rank 0 ({}) within {} s; let all of them reach "
                      "a TCP port of it",
                      connections.size(), ranks - 1, first.host.data(), total_limit.count()));
    }
    if (!one.is_open()) continue;
    tune(one, connect_limit);
    const std::optional<std::int64_t> rank = greeting_rank(one, first.token);
    if (!rank || *rank < 1 || *rank >= ranks || !send_hello(one, {.token = first.token})) continue;
    tune(one, total_limit);
    connections[static_cast<int>(*rank)] = std::move(one);
  }
  return connections;
}

Connection connect_to_first(const Contact& first, int rank) {
  for (const in_addr& address : first.addresses) {
    if (address.s_addr == 0) continue;
    Connection one = make_socket();
    tune(one, connect_limit);
    const sockaddr_in place{
        .sin_family = AF_INET, .sin_port = first.port, .sin_addr = address, .sin_zero = {}};
    if (::connect(one.descriptor(), reinterpret_cast<const sockaddr*>(&place), sizeof(place)) !=
            0 ||
        !send_hello(one, {.token = first.token, .rank = rank}) ||
        !greeting_rank(one, first.token)) {
      continue;
    }
    tune(one, total_limit);
    return one;
  }
  throw Error(
      fmt::format("rank {} ({}) cannot reach rank 0 ({}) at port {}; let ranks reach a TCP "
                  "port of it",
                  rank, host_name(), first.host.data(), ntohs(first.port)));
}

}  // namespace

Connection::~Connection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Connection::send(const std::string& packet) {
  const std::uint64_t size = packet.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes += packet;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    // The other side ends when it reads the end of the stream; its packets are still read here.
    if (count <= 0) {
      ::shutdown(descriptor_, SHUT_WR);
      return;
    }
    sent += static_cast<std::size_t>(count);
  }
}

bool Connection::read() {
  read_.erase(0, std::exchange(used_, 0));
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t count = ::recv(descriptor_, part.data(), part.size(), MSG_DONTWAIT);
    if (count > 0) {
      read_.append(part.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return count < 0 && errno == EAGAIN;
    }
  }
}

std::optional<std::string> Connection::next() {
  std::uint64_t size = 0;
  if (read_.size() - used_ < sizeof(size)) return std::nullopt;
  std::memcpy(&size, read_.data() + used_, sizeof(size));
  if (read_.size() - used_ - sizeof(size) < size) return std::nullopt;
  std::string packet = read_.substr(used_ + sizeof(size), size);
  used_ += sizeof(size) + size;
  return packet;
}

Connections connect_ranks(RankLink& link) {
  const int own = link.rank();
  std::vector<Contact> contacts(static_cast<std::size_t>(link.size()));
  Contact& contact = contacts[static_cast<std::size_t>(own)];
  host_name().copy(contact.host.data(), contact.host.size() - 1);
  Connection listening;
  if (own == 0) listening = listening_socket(contact);
  link.collective(Collective::all_gather, reinterpret_cast<std::byte*>(contacts.data()),
                  contacts.size() * sizeof(Contact), nullptr);
  Connections made;
  for (const Contact& one : contacts) made.hosts.emplace_back(one.host.data());
  if (own == 0) {
    made.connections = accept_all(listening, contacts.front(), link.size());
  } else {
    made.connections[0] = connect_to_first(contacts.front(), own);
  }
  return made;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  const std::string whole(name.data());
  return whole.substr(0, whole.find('.'));
}

}  // namespace parbench

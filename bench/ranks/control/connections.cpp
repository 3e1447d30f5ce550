// Rank 0 listens on all its addresses while the others connect; a token keeps strangers out.
#include "bench/ranks/control/connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>

#include "bench/ranks/control/frames.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto connect_limit = std::chrono::seconds(5);  // for one address
constexpr auto total_limit = std::chrono::seconds(60);
constexpr int address_tag = 0;

/// Where rank 0 can be reached.
struct MeetingPlace {
  std::uint64_t token = 0;
  std::uint64_t port = 0;
  std::string host;
  std::vector<std::string> addresses;  // IPv4, those of the loopback last
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

std::string encoded(const MeetingPlace& place) {
  std::string payload;
  append_number(payload, place.token);
  append_number(payload, place.port);
  append_text(payload, place.host);
  append_number(payload, place.addresses.size());
  for (const std::string& address : place.addresses) append_text(payload, address);
  return payload;
}

MeetingPlace decoded(const std::string& payload) {
  PayloadReader reader(payload);
  MeetingPlace place;
  place.token = reader.number();
  place.port = reader.number();
  place.host = reader.text();
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    place.addresses.push_back(reader.text());
  }
  return place;
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

/// Frames are small and answered at once. A connection through which nothing more goes must not
/// hold up its sender.
void tune(int socket, std::chrono::seconds write_limit) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  timeval limit{};
  limit.tv_sec = write_limit.count();
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

bool is_ready(int socket, short events, Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  pollfd one{.fd = socket, .events = events, .revents = 0};
  return left.count() > 0 && ::poll(&one, 1, static_cast<int>(left.count())) == 1;
}

/// The first frame that arrives until then.
std::optional<Frame> first_frame(int socket, Clock::time_point until) {
  FrameReader reader;
  while (is_ready(socket, POLLIN, until)) {
    if (!reader.read(socket)) return std::nullopt;
    try {
      if (auto frame = reader.next()) return frame;
    } catch (const Error&) {  // another program
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Socket listening_socket(MeetingPlace& place) {
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
  place.port = ntohs(address.sin_port);
  return socket;
}

std::vector<RankConnection> accept_ranks(RankLink& link) {
  std::random_device random;
  MeetingPlace place{.token = std::uint64_t{random()} << 32U | random(),
                     .port = 0,
                     .host = host_name(),
                     .addresses = own_addresses()};
  const Socket listening = listening_socket(place);
  for (int rank = 1; rank < link.size(); ++rank) send_text(link, rank, encoded(place));
  std::map<int, RankConnection> found;
  const auto until = Clock::now() + total_limit;
  while (std::ssize(found) + 1 < link.size()) {
    if (!is_ready(listening.descriptor(), POLLIN, until)) {
      throw Error(fmt::format(
          "{} of {} ranks did not connect to rank 0 ({}) within {} s; let them "
          "reach a TCP port of it",
          link.size() - 1 - std::ssize(found), link.size() - 1, place.host, total_limit.count()));
    }
    Socket socket(::accept4(listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) continue;
    tune(socket.descriptor(), total_limit);
    const auto hello = first_frame(socket.descriptor(), Clock::now() + connect_limit);
    if (!hello || hello->kind != FrameKind::hello || hello->number != place.token) continue;
    PayloadReader reader(hello->payload);
    const int rank = static_cast<int>(reader.number());
    std::string host = reader.text();
    if (!write_frame(socket.descriptor(), {FrameKind::hello, place.token})) continue;
    found[rank] = {rank, std::move(host), std::move(socket)};
  }
  std::vector<RankConnection> connections;
  for (auto& [rank, connection] : found) connections.push_back(std::move(connection));
  return connections;
}

/// A connection with the right rank 0 at this address, or a closed socket.
Socket connect_to(const MeetingPlace& place, const std::string& text, int rank) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(place.port));
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  const auto until = Clock::now() + connect_limit;
  const int begun =
      ::connect(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
  if (begun != 0 && (errno != EINPROGRESS || !is_ready(socket.descriptor(), POLLOUT, until))) {
    return {};
  }
  ::fcntl(socket.descriptor(), F_SETFL, 0);  // writes wait from now on
  tune(socket.descriptor(), total_limit);
  std::string payload;
  append_number(payload, static_cast<std::uint64_t>(rank));
  append_text(payload, host_name());
  if (!write_frame(socket.descriptor(), {FrameKind::hello, place.token, payload})) return {};
  const auto hello = first_frame(socket.descriptor(), until);
  if (!hello || hello->number != place.token) return {};
  return socket;
}

std::vector<RankConnection> connect_to_first(RankLink& link) {
  const MeetingPlace place = decoded(receive_text(link, 0));
  for (const std::string& address : place.addresses) {
    Socket socket = connect_to(place, address, link.rank());
    if (!socket.is_open()) continue;
    std::vector<RankConnection> connections;
    connections.push_back({0, place.host, std::move(socket)});
    return connections;
  }
  throw Error(
      fmt::format("rank {} ({}) cannot reach rank 0 ({}) at port {}; let ranks reach a TCP "
                  "port of it",
                  link.rank(), host_name(), place.host, place.port));
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

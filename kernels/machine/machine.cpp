// Parses device requests and opens the devices.
#include "kernels/machine/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "kernels/base/error.h"

namespace parbench {
namespace {

/// Returns the whole number that `text` consists of; nothing for other text. Numbers beyond a
/// million become a million, which callers refuse as too large.
std::optional<int> whole_number(std::string_view text) {
  constexpr int max_value = 1'000'000;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty() || text.starts_with('-')) {
    return std::nullopt;
  }
  return error == std::errc() ? std::min(value, max_value) : max_value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Returns a clause with the device names of a backend, for messages: "cpu:0 to cpu:3 exist".
std::string names_of(const Backend& backend) {
  const int count = backend.device_count();
  if (count <= 0) return fmt::format("no device was found: {}", backend.description());
  if (count == 1) return fmt::format("only {}:0 exists", backend.name());
  return fmt::format("{0}:0 to {0}:{1} exist", backend.name(), count - 1);
}

[[noreturn]] void refuse(std::string_view word, std::string_view why) {
  throw UsageError(fmt::format("--devices: '{}' {}; allowed: {} (`parbench devices` lists them)",
                               word, why, Machine::request_examples()));
}

/// The devices of one backend that a request names. They are opened in one call, because a backend
/// divides its hardware among all its devices of the run.
struct Wanted {
  Backend* backend = nullptr;
  std::vector<DeviceNumber> numbers;
};

/// A device request, grouped by backend.
struct Request {
  std::vector<Wanted> wanted;
  /// For each device in the order of the request: index in `wanted`, and index in its `numbers`.
  std::vector<std::pair<std::size_t, std::size_t>> order;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> Machine::libraries() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& backend : backends_) {
    for (const Backend::Component& one : backend->components()) {
      all.emplace_back(one.name, one.version);
    }
  }
  return all;
}

Backend* Machine::find(std::string_view name) const {
  const auto found =
      std::ranges::find(backends_, name, [](const auto& backend) { return backend->name(); });
  return found == backends_.end() ? nullptr : found->get();
}

namespace {

Backend& backend_named(const Machine& machine, std::string_view word, std::string_view name) {
  if (Backend* backend = machine.find(name)) return *backend;
  const auto missing = Machine::missing_backends();
  const auto known = std::ranges::find(missing, name, &Machine::Missing::name);
  refuse(word, known != missing.end()
                   ? fmt::format("needs the {} backend, which is {}", name, known->reason)
                   : fmt::format("names the backend '{}', which does not exist", name));
}

/// Parses the part of a word after the colon: "0" or "0/1". Throws UsageError for other text and
/// for a device that does not exist; does not check the part's number.
DeviceNumber number_in(const Backend& backend, std::string_view word, std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto device = whole_number(text.substr(0, slash));
  if (!device) refuse(word, "has no device number after the colon");
  DeviceNumber number{.device = *device};
  if (slash != std::string_view::npos) {
    const std::string_view part = text.substr(slash + 1);
    number.part = whole_number(part);
    if (!number.part) {
      refuse(word, fmt::format("names a part of a device by '{}', which is not a number", part));
    }
  }
  if (number.device >= backend.device_count()) {
    refuse(word, "does not exist; " + names_of(backend));
  }
  return number;
}

std::vector<std::string_view> names_in(std::string_view request) {
  if (request.find(' ') != std::string_view::npos) {
    refuse(request, "has blanks; separate names with commas only");
  }
  std::vector<std::string_view> names = split(request, ',');
  if (std::ranges::find(names, "") != names.end()) {
    refuse(request, "has an empty name; give one name before and after each comma");
  }
  return names;
}

/// Returns " (1 of 2 cores; …)" if the process may use fewer cores than the machine has; otherwise
/// empty.
std::string withheld_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
  const int own = CPU_COUNT(&allowed);
  if (own >= all) return {};
  return fmt::format(" ({} of {} cores; taskset, containers and batch systems limit them)", own,
                     all);
}

Request counted(Backend& backend, std::string_view request, int count,
                const DeviceOptions& options) {
  if (count == 0) refuse(request, "asks for no device");
  constexpr int max_sharing = 64;
  const bool shares = backend.can_oversubscribe();
  const int own = backend.device_limit();
  const int limit = shares && options.oversubscribe ? std::max(own, max_sharing) : own;
  if (count > limit) {
    const std::string fewer_cores = shares ? withheld_cores() : "";
    refuse(request,
           fmt::format(
               "is more than this {}: {} {} device{}{}{}",
               fewer_cores.empty() ? "machine has" : "process may use", limit, backend.name(),
               limit == 1 ? "" : "s", fewer_cores,
               shares && !options.oversubscribe ? "; with --oversubscribe they share cores" : ""));
  }
  Request read{{{&backend, backend.choose(count)}}, {}};
  for (std::size_t i = 0; i < read.wanted.front().numbers.size(); ++i)
    read.order.emplace_back(0, i);
  return read;
}

Request named(const Machine& machine, std::string_view request) {
  Request read;
  for (const std::string_view word : names_in(request)) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) refuse(word, "is neither a count nor a device name");
    Backend& backend = backend_named(machine, word, word.substr(0, colon));
    const DeviceNumber number = number_in(backend, word, word.substr(colon + 1));
    auto of_backend = std::ranges::find(read.wanted, &backend, &Wanted::backend);
    if (of_backend == read.wanted.end()) {
      of_backend = read.wanted.insert(of_backend, {&backend, {}});
    }
    std::vector<DeviceNumber>& numbers = of_backend->numbers;
    if (std::ranges::find(numbers, number) != numbers.end()) refuse(word, "is named twice");
    read.order.emplace_back(of_backend - read.wanted.begin(), numbers.size());
    numbers.push_back(number);
  }
  return read;
}

Request read_request(const Machine& machine, std::string_view request,
                     const DeviceOptions& options) {
  const auto count = whole_number(request);
  return count ? counted(*machine.backends().front(), request, *count, options)
               : named(machine, request);
}

}  // namespace

std::vector<std::unique_ptr<Device>> Machine::open(std::string_view request,
                                                   const DeviceOptions& options) const {
  const Request read = read_request(*this, request, options);
  std::vector<std::vector<std::unique_ptr<Device>>> opened;
  for (const Wanted& one : read.wanted) {
    opened.push_back(one.backend->open(one.numbers, options));
  }
  std::vector<std::unique_ptr<Device>> devices;
  for (const auto& [backend, position] : read.order) {
    devices.push_back(std::move(opened[backend][position]));
  }
  return devices;
}

std::unique_ptr<Device> Machine::open_whole(std::string_view request,
                                            const DeviceOptions& options) const {
  const Request read = read_request(*this, request, options);
  if (read.wanted.size() != 1) return nullptr;
  return read.wanted.front().backend->open_whole(read.wanted.front().numbers, options);
}

}  // namespace parbench

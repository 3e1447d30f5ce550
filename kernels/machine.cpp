// Finds backends and reads device requests.
#include "kernels/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "kernels/cpu/backend.h"
#include "kernels/error.h"

namespace parbench {
namespace {

/// A whole number, nothing before or after it. One that is larger than any machine needs is
/// brought down to a million, which is refused as too large like those below it.
std::optional<int> whole_number(std::string_view text) {
  constexpr int most = 1'000'000;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty() || text.starts_with('-')) {
    return std::nullopt;
  }
  return error == std::errc() ? std::min(value, most) : most;
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

/// Which names a backend has.
std::string names_of(const Backend& backend) {
  const int count = backend.device_limit();
  if (count <= 0) return "there is none";
  if (count == 1) return fmt::format("there is {}:0 alone", backend.name());
  return fmt::format("there are {0}:0 to {0}:{1}", backend.name(), count - 1);
}

}  // namespace

Machine::Machine() { backends_.push_back(cpu::make_backend()); }

std::vector<Machine::Missing> Machine::missing_backends() {
  return {{"cuda", "not in this build, which computes on CPU devices only"}};
}

Backend* Machine::find(std::string_view name) const {
  const auto found =
      std::ranges::find(backends_, name, [](const auto& backend) { return backend->name(); });
  return found == backends_.end() ? nullptr : found->get();
}

std::vector<std::unique_ptr<Device>> Machine::open(std::string_view request,
                                                   bool spare_for_copies) const {
  const auto refuse = [&](std::string_view word, std::string_view why) {
    throw UsageError(
        fmt::format("--devices: '{}' {}; allowed are a count, or names like cpu:0,cpu:1 (`parbench "
                    "devices` lists "
                    "what there is)",
                    word, why));
  };

  if (const auto count = whole_number(request)) {
    Backend& backend = *backends_.front();
    if (*count == 0) refuse(request, "opens no device");
    if (*count > backend.device_limit()) {
      refuse(request,
             fmt::format("is more than this machine has: {} {} device{}", backend.device_limit(),
                         backend.name(), backend.device_limit() == 1 ? "" : "s"));
    }
    std::vector<int> indices(static_cast<std::size_t>(*count));
    std::ranges::generate(indices, [next = 0]() mutable { return next++; });
    return backend.open(indices, spare_for_copies);
  }

  // Each backend divides its hardware among all its devices of the run, so it is asked once.
  std::map<Backend*, std::vector<int>> wanted;
  std::vector<std::pair<Backend*, std::size_t>> order;
  for (const std::string_view word : split(request, ',')) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) refuse(word, "is neither a count nor a device name");
    Backend* backend = find(word.substr(0, colon));
    if (backend == nullptr) {
      const std::string_view name = word.substr(0, colon);
      const auto missing = missing_backends();
      const auto known = std::ranges::find(missing, name, &Missing::name);
      refuse(word, known != missing.end()
                       ? fmt::format("needs the {} backend, which is {}", name, known->reason)
                       : fmt::format("names the backend '{}', which does not exist", name));
    }
    const auto index = whole_number(word.substr(colon + 1));
    if (!index) refuse(word, "has no device number behind the colon");
    if (*index >= backend->device_limit()) {
      refuse(word, "does not exist, " + names_of(*backend));
    }
    auto& indices = wanted[backend];
    if (std::ranges::find(indices, *index) != indices.end()) refuse(word, "is named twice");
    order.emplace_back(backend, indices.size());
    indices.push_back(*index);
  }
  std::map<Backend*, std::vector<std::unique_ptr<Device>>> opened;
  for (const auto& [backend, indices] : wanted) {
    opened[backend] = backend->open(indices, spare_for_copies);
  }
  std::vector<std::unique_ptr<Device>> devices;
  for (const auto& [backend, position] : order) {
    devices.push_back(std::move(opened[backend][position]));
  }
  return devices;
}

}  // namespace parbench

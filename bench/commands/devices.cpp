// `devices`: lists backends with their libraries and devices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "bench/cli/help.h"
#include "bench/commands/commands.h"
#include "bench/commands/listing.h"
#include "bench/execution/ranges.h"
#include "bench/output/standard_streams.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

std::string backend_text(const Backend& backend) {
  std::string text =
      wrap(fmt::format("{}: {}", backend.name(), backend.description()), page_width, 0);
  text += '\n';
  for (const auto& component : backend.components()) {
    text += fmt::format("  {} {}\n", component.name, component.version);
    if (component.details.empty()) continue;
    text += fmt::format("    {}\n", wrap(component.details, page_width - 4, 4));
  }
  return text;
}

/// Returns the facts about a device that its times depend on, as a line.
std::string facts_text(const DeviceInfo& info) {
  constexpr std::size_t indent = 6;
  if (info.facts.empty()) return {};
  std::vector<std::string> facts;
  for (const auto& [name, value] : info.facts) facts.push_back(fmt::format("{} {}", name, value));
  return fmt::format("{}{}\n", std::string(indent, ' '),
                     wrap(fmt::format("{}", fmt::join(facts, ", ")), page_width - indent, indent));
}

std::string device_line(const DeviceInfo& info) {
  constexpr std::size_t indent = 15;
  std::string text = info.model;
  if (!info.cores.empty()) {
    text +=
        fmt::format(", core{} {}", info.cores.size() == 1 ? "" : "s", fmt::join(info.cores, ","));
  }
  if (!info.peers.empty()) {
    text += fmt::format(", peer access to {}", fmt::join(info.peers, ", "));
  }
  return fmt::format("    {:<10} {}\n", info.name, wrap(text, page_width - indent, indent));
}

std::string devices_text(Backend& backend) {
  const std::vector<DeviceNumber> all = backend.choose(backend.device_count());
  if (all.empty()) return {};
  std::string text = fmt::format("  devices of a run with --devices {}:\n", all.size());
  const auto devices = backend.open(all, {});
  for (const auto& device : devices) {
    const DeviceInfo& info = device->info();
    text += device_line(info) + facts_text(info);
  }
  for (const DeviceLink& link : links_of(devices)) {
    text += fmt::format("    {} to {}: {}\n", link.from, link.to, link.kind);
  }
  return text;
}

constexpr CommandText devices_help{.name = "devices",
                                   .summary = "Devices found, and why others are missing",
                                   .examples = {},
                                   .exit_codes = listing_exit_codes};

class Devices final : public Command {
 public:
  Devices() : Command(devices_help) {}
  ExitCode run() override {
    print(device_listing(Machine()));
    return ExitCode::measured;
  }
};

}  // namespace

std::string device_listing(const Machine& machine) {
  std::string text;
  for (const auto& backend : machine.backends()) {
    if (!text.empty()) text += '\n';
    text += backend_text(*backend) + devices_text(*backend);
  }
  for (const auto& missing : Machine::missing_backends()) {
    text += fmt::format("\n{}\n", wrap(missing.name + ": " + missing.reason, page_width, 0));
  }
  text += fmt::format("\nNVTX: {}\n", nvtx_support());
  return text;
}

std::unique_ptr<Command> make_devices(const Program&) { return std::make_unique<Devices>(); }

}  // namespace parbench

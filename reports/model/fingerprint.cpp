// Creates, hashes and compares fingerprints of machines.
#include "reports/model/fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/base/hash.h"
#include "kernels/base/units/units.h"
#include "reports/text/text.h"

namespace parbench::report {
namespace {

using DeviceClass = Fingerprint::DeviceClass;
using LinkClass = Fingerprint::LinkClass;

/// Part of every id; increases when the fields change.
constexpr int fingerprint_version = 1;

/// Returns the number of cores of a CPU or multiprocessors of a GPU as text; empty for other
/// devices.
std::string units_of(const Device& device) {
  const std::string_view fact = "multiprocessors";
  const std::string* known = find_value(device.facts, fact);
  if (known != nullptr) return fmt::format("{} {}", *known, fact);
  return device.cores.empty() ? std::string() : format_count(device.cores.size(), "core");
}

DeviceClass class_of(const Device& device) {
  return {device.backend, device.model, units_of(device)};
}

Fingerprint without_devices(const Machine& machine) {
  return {.cpu_model = machine.cpu_model,
          .cores = machine.cores_allowed.empty() ? machine.cores_online
                                                 : static_cast<int>(machine.cores_allowed.size()),
          .memory_gibibytes = installed_gibibytes(machine.memory_bytes)};
}

std::string gibibytes_text(double gibibytes) { return format_number(gibibytes, 3) + " GiB"; }

std::string to_text(const DeviceClass& device, const std::string& cpu_model) {
  const std::string& name = device.model == cpu_model ? device.backend : device.model;
  return device.units.empty() ? name : fmt::format("{} ({})", name, device.units);
}

/// Returns the devices as text, with equal neighbours counted: "2 × cpu (1 core)".
std::string devices_text(const Fingerprint& machine) {
  std::vector<std::string> texts;
  for (auto first = machine.devices.begin(); first != machine.devices.end();) {
    const auto end =
        std::find_if(first, machine.devices.end(), [&](const auto& d) { return d != *first; });
    const auto count = end - first;
    const std::string text = to_text(*first, machine.cpu_model);
    texts.push_back(count == 1 ? text : fmt::format("{} × {}", count, text));
    first = end;
  }
  return fmt::format("{}", fmt::join(texts, " + "));
}

std::string links_text(const Fingerprint& machine) {
  const std::string text = joined(machine.links, ", ", [](const LinkClass& link) {
    return fmt::format("{}–{} {}", link.from, link.to, link.kind);
  });
  return text.empty() ? "none" : text;
}

bool has_cpu(const Fingerprint& machine) { return machine.cpu_model != unknown_cpu; }

}  // namespace

double installed_gibibytes(std::size_t usable_bytes) {
  if (usable_bytes == 0) return 0;
  const double gibibytes = static_cast<double>(usable_bytes) / static_cast<double>(1U << 30U);
  const double granularity = std::exp2(std::floor(std::log2(gibibytes))) / 8;
  return std::ceil(gibibytes / granularity) * granularity;
}

Fingerprint fingerprint(const Machine& machine, const Device& device) {
  Fingerprint alone = without_devices(machine);
  alone.devices.push_back(class_of(device));
  return alone;
}

Fingerprint fingerprint(const Report& report, const std::string& scenario) {
  Fingerprint machine = without_devices(report.machine);
  std::vector<std::string> names;
  for (const Device& device : report.devices) {
    const bool is_of_scenario = device.scenario.empty() || device.scenario == scenario;
    if (!is_of_scenario || !device.combines.empty()) continue;
    machine.devices.push_back(class_of(device));
    names.push_back(device.name);
  }
  const auto index = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  for (const Link& link : report.links) {
    if (link.scenario != scenario) continue;
    machine.links.push_back({index(link.from), index(link.to), link.kind});
  }
  return machine;
}

/// Hashes the memory as an integer, because the text of a floating-point number may differ between
/// platforms.
std::string id_of(const Fingerprint& machine) {
  using Json = nlohmann::ordered_json;
  Json fields = {fingerprint_version, machine.cpu_model, machine.cores,
                 std::llround(machine.memory_gibibytes * 1024)};
  Json devices = Json::array();
  for (const DeviceClass& device : machine.devices) {
    devices.push_back(Json::array({device.backend, device.model, device.units}));
  }
  Json links = Json::array();
  for (const LinkClass& link : machine.links) {
    links.push_back(Json::array({link.from, link.to, link.kind}));
  }
  fields.push_back(std::move(devices));
  fields.push_back(std::move(links));
  return fmt::format("{:016x}", fnv1a(fields.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

std::string to_text(const Fingerprint& machine) {
  std::string text = fmt::format(
      "{}, {}", machine.cpu_model,
      machine.cores > 0 ? format_count(machine.cores, "core") : "unknown number of cores");
  if (machine.memory_gibibytes > 0) text += ", " + gibibytes_text(machine.memory_gibibytes);
  if (!machine.devices.empty()) text += " · " + devices_text(machine);
  return text;
}

std::string difference_text(std::string_view what, std::string_view before, std::string_view now) {
  return fmt::format("{}: {} before, {} now", what, before, now);
}

std::string difference(const Fingerprint& before, const Fingerprint& now) {
  const auto change = [](std::string_view what, const auto& one, const auto& other) {
    return difference_text(what, fmt::to_string(one), fmt::to_string(other));
  };
  if (has_cpu(before) && has_cpu(now) && before.cpu_model != now.cpu_model) {
    return change("CPU", before.cpu_model, now.cpu_model);
  }
  if (before.cores > 0 && now.cores > 0 && before.cores != now.cores) {
    return change("number of cores", before.cores, now.cores);
  }
  const bool have_memory = before.memory_gibibytes > 0 && now.memory_gibibytes > 0;
  if (have_memory && before.memory_gibibytes != now.memory_gibibytes) {
    return change("memory", gibibytes_text(before.memory_gibibytes),
                  gibibytes_text(now.memory_gibibytes));
  }
  if (before.devices != now.devices)
    return change("devices", devices_text(before), devices_text(now));
  if (before.links != now.links) return change("links", links_text(before), links_text(now));
  return {};
}

std::vector<std::string> unknown_facts(const Fingerprint& machine) {
  std::vector<std::string> facts;
  if (!has_cpu(machine)) facts.emplace_back("CPU");
  if (machine.cores <= 0) facts.emplace_back("number of cores");
  return facts;
}

}  // namespace parbench::report

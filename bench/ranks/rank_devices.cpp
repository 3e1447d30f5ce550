// What ranks know of each other's machines.
#include "bench/ranks/rank_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/output/version.h"
#include "bench/ranks/control/frames.h"
#include "bench/ranks/unit_share.h"
#include "kernels/base/error.h"
#include "kernels/core/ranks/remote_device.h"
#include "reports/model/machine_info.h"

namespace parbench {
namespace {

std::vector<int> cores_in(PayloadReader& reader) {
  std::vector<int> cores;
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    cores.push_back(static_cast<int>(reader.number()));
  }
  return cores;
}

void append_cores(std::string& payload, const std::vector<int>& cores) {
  append_number(payload, cores.size());
  for (const int core : cores) append_number(payload, static_cast<std::uint64_t>(core));
}

bool is_instruction_set(std::string_view component) {
  return component.find("instruction set") != std::string_view::npos;
}

std::string encoded(const std::vector<std::unique_ptr<Device>>& devices) {
  std::string payload;
  append_number(payload, devices.size());
  for (const auto& device : devices) {
    const DeviceInfo& info = device->info();
    for (const std::string* text : {&info.name, &info.backend, &info.model, &info.hardware}) {
      append_text(payload, *text);
    }
    append_cores(payload, info.cores);
    append_cores(payload, info.copy_cores);
    append_number(payload, info.memory_bytes);
    append_number(payload, info.host_memory ? 1 : 0);
    append_number(payload, info.staged ? 1 : 0);
    append_text(payload, info.joined_by);
    append_text(payload, info.unit);
    append_number(payload, info.facts.size());
    for (const auto& [name, fact] : info.facts) {
      append_text(payload, name);
      append_text(payload, fact);
    }
  }
  return payload;
}

DeviceInfo info_in(PayloadReader& reader, int rank) {
  DeviceInfo info;
  for (std::string* text : {&info.name, &info.backend, &info.model, &info.hardware}) {
    *text = reader.text();
  }
  info.cores = cores_in(reader);
  info.copy_cores = cores_in(reader);
  info.memory_bytes = reader.number();
  info.host_memory = reader.number() != 0;
  info.staged = reader.number() != 0;
  info.joined_by = reader.text();
  info.unit = reader.text();
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    std::string name = reader.text();
    info.facts.emplace_back(std::move(name), reader.text());
  }
  info.rank = rank;
  return info;
}

/// The instructions with which the CPU devices of this rank compute.
std::string instruction_set(const Machine& machine) {
  for (const auto& backend : machine.backends()) {
    for (const auto& component : backend->components()) {
      if (is_instruction_set(component.name)) return component.version;
    }
  }
  return {};
}

/// Ranks of one machine that may use the same cores divide them. Where the launcher has bound each
/// to cores of its own, there is nothing to divide.
CoreShare core_share(RankTeam& team) {
  std::string own;
  append_text(own, host_name());
  append_cores(own, report::cores_allowed());
  const std::vector<std::string> all = team.meet(own);
  const auto rank = static_cast<std::size_t>(team.rank());
  return {.index = static_cast<int>(std::count(all.begin(), all.begin() + team.rank(), all[rank])),
          .count = static_cast<int>(std::ranges::count(all, all[rank]))};
}

std::vector<std::string> units_in(PayloadReader& reader) {
  std::vector<std::string> units;
  for (std::uint64_t left = reader.number(); left > 0; --left) units.push_back(reader.text());
  return units;
}

/// The first device of a backend is the one that falls to this rank, or a part of it where ranks
/// share one that can be divided. Other requests are taken as they are.
std::string request_of_rank(RankTeam& team, const Machine& machine, std::string_view request,
                            DeviceOptions& options) {
  constexpr std::string_view first = ":0";
  const bool is_first = request.ends_with(first) && request.find(',') == std::string_view::npos;
  if (!is_first) return std::string(request);
  const std::string_view name = request.substr(0, request.size() - first.size());
  const Backend* const backend = machine.find(name);
  const std::vector<std::string> own = backend ? backend->units() : std::vector<std::string>{};
  std::string payload;
  append_number(payload, own.size());
  for (const std::string& unit : own) append_text(payload, unit);
  std::vector<std::vector<std::string>> visible;
  for (const std::string& of_rank : team.meet(payload)) {
    PayloadReader reader(of_rank);
    visible.push_back(units_in(reader));
  }
  const std::optional<UnitShare> share = unit_share(visible, team.rank());
  if (!share) return std::string(request);
  const bool is_divided = share->count > 1 && backend->max_parts(share->number) >= share->count;
  if (!is_divided) return fmt::format("{}:{}", name, share->number);
  options.min_parts = share->count;
  return fmt::format("{}:{}/{}", name, share->number, share->index);
}

// --- comparison ---

/// Something that ranks have in common, or should have.
struct Fact {
  std::string name;
  std::string value;
  bool may_differ = false;  // with --allow-different-ranks
};

std::string flags_text(const RunOptions& options) {
  std::vector<std::string> flags;
  for (const Parameter& flag : flags_from(options)) {
    flags.push_back(fmt::format("--{}={}", flag.name, to_string(flag.value)));
  }
  return fmt::format("{}", fmt::join(flags, " "));
}

std::vector<Fact> facts_of(const Machine& machine, const RunOptions& options) {
  report::NamedTexts libraries;
  for (const auto& backend : machine.backends()) {
    for (const auto& component : backend->components()) {
      libraries.emplace_back(component.name, component.version);
    }
  }
  const report::Machine info = report::machine_info(libraries);
  std::vector<Fact> facts{{.name = "version", .value = std::string(version)},
                          {.name = "commit", .value = info.commit.value_or("unknown")},
                          {.name = "build", .value = info.compiler + " " + info.build_type},
                          {.name = "flags", .value = flags_text(options)},
                          {.name = "processor", .value = info.cpu_model, .may_differ = true}};
  for (const auto& [name, text] : libraries) {
    facts.push_back({name, text, is_instruction_set(name)});
  }
  return facts;
}

}  // namespace

std::vector<std::string> compare_ranks(RankTeam& team, const Machine& machine,
                                       const RunOptions& options) {
  const std::vector<Fact> own = facts_of(machine, options);
  std::string payload;
  for (const Fact& fact : own) {
    append_text(payload, fact.name);
    append_text(payload, fact.value);
  }
  const std::vector<std::string> all = team.meet(payload);
  std::vector<std::string> differences;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    PayloadReader first(all.front());
    PayloadReader other(all[rank]);
    for (const Fact& fact : own) {
      const std::string name = first.text();
      const std::string expected = first.text();
      static_cast<void>(other.text());
      const std::string found = other.text();
      if (found == expected) continue;
      const std::string text =
          fmt::format("{}: {} on {}, {} on {}", name, expected, team.name_of(0), found,
                      team.name_of(static_cast<int>(rank)));
      if (!fact.may_differ) {
        throw UsageError(
            fmt::format("the ranks differ in {}\nstart the same program with the same "
                        "flags on all ranks",
                        text));
      }
      if (!options.allow_different_ranks) {
        throw UsageError(
            fmt::format("the ranks differ in {}\n--allow-different-ranks measures "
                        "them nevertheless",
                        text));
      }
      differences.push_back(text);
    }
  }
  return differences;
}

std::vector<std::unique_ptr<Device>> open_rank_devices(RankTeam& team, const Machine& machine,
                                                       std::string_view request,
                                                       const DeviceOptions& options) {
  DeviceOptions of_rank = options;
  of_rank.name_prefix = fmt::format("{}/{}/", host_name(), team.rank());
  of_rank.rank = team.rank();
  of_rank.core_share = core_share(team);
  of_rank.stages_messages = !team.link().reaches_gpus();
  std::vector<std::unique_ptr<Device>> own =
      machine.open(request_of_rank(team, machine, request, of_rank), of_rank);
  Device& twin = *own.front();
  std::vector<std::unique_ptr<Device>> devices;
  std::string payload;
  append_text(payload, instruction_set(machine));
  const std::vector<std::string> all = team.meet(payload + encoded(own));
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) {
      std::ranges::move(own, std::back_inserter(devices));
      continue;
    }
    PayloadReader reader(all[static_cast<std::size_t>(rank)]);
    const bool same_kernels = reader.text() == instruction_set(machine);
    for (std::uint64_t left = reader.number(); left > 0; --left) {
      devices.push_back(std::make_unique<RemoteDevice>(info_in(reader, rank), twin, same_kernels));
    }
  }
  return devices;
}

}  // namespace parbench

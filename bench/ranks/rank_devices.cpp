// Comparison of the ranks' machines, and their devices.
#include "bench/ranks/rank_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/output/version.h"
#include "bench/ranks/unit_share.h"
#include "kernels/base/error.h"
#include "kernels/core/ranks/remote_device.h"
#include "reports/model/machine_info.h"

namespace parbench {

static void fields(Archive& archive, DeviceInfo& info) {
  archive(info.name, info.backend, info.model, info.hardware, info.cores, info.copy_cores,
          info.memory_bytes, info.host_memory, info.facts, info.rank, info.staged, info.joined_by,
          info.unit);
}

namespace {

bool is_instruction_set(std::string_view component) {
  return component.find("instruction set") != std::string_view::npos;
}

/// Returns the instruction set of this rank's CPU devices.
std::string instruction_set(const Machine& machine) {
  for (const auto& [name, version] : machine.libraries()) {
    if (is_instruction_set(name)) return version;
  }
  return {};
}

/// Returns this rank's share of the cores that several ranks of one machine may use. Nothing is
/// divided if the launcher has bound each rank to its own cores.
CoreShare core_share(RankTeam& team) {
  const auto all = team.meet(std::pair(host_name(), report::cores_allowed()));
  const auto rank = static_cast<std::size_t>(team.rank());
  return {.index = static_cast<int>(std::count(all.begin(), all.begin() + team.rank(), all[rank])),
          .count = static_cast<int>(std::ranges::count(all, all[rank]))};
}

/// Returns the request of this rank: a request for the first device of a backend names the device
/// assigned to this rank, or a part of it if ranks share a divisible device. Other requests remain
/// unchanged.
std::string request_of_rank(RankTeam& team, const Machine& machine, std::string_view request,
                            DeviceOptions& options) {
  constexpr std::string_view first = ":0";
  const bool is_first = request.ends_with(first) && request.find(',') == std::string_view::npos;
  if (!is_first) return std::string(request);
  const std::string_view name = request.substr(0, request.size() - first.size());
  const Backend* const backend = machine.find(name);
  const std::vector<std::string> own = backend ? backend->units() : std::vector<std::string>{};
  const std::optional<UnitShare> share = unit_share(team.meet(own), team.rank());
  if (!share) return std::string(request);
  const bool is_divided = share->count > 1 && backend->max_parts(share->number) >= share->count;
  if (!is_divided) return fmt::format("{}:{}", name, share->number);
  options.min_parts = share->count;
  return fmt::format("{}:{}/{}", name, share->number, share->index);
}

/// A property that should be equal on all ranks.
struct Fact {
  std::string name;
  std::string value;
  bool may_differ = false;  // with --allow-different-ranks

  void fields(Archive& archive) { archive(name, value, may_differ); }
};

std::string flags_text(const RunOptions& options) {
  std::vector<std::string> flags;
  for (const Parameter& flag : flags_from(options)) {
    flags.push_back(fmt::format("--{}={}", flag.name, to_string(flag.value)));
  }
  return fmt::format("{}", fmt::join(flags, " "));
}

std::vector<Fact> facts_of(const Machine& machine, const RunOptions& options) {
  const report::NamedTexts libraries = machine.libraries();
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
  const std::vector<std::vector<Fact>> all = team.meet(facts_of(machine, options));
  const std::vector<Fact>& first = all.front();
  std::vector<std::string> differences;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Fact& fact = first[i];
      const std::string found = i < all[rank].size() ? all[rank][i].value : "none";
      if (found == fact.value) continue;
      const std::string text =
          fmt::format("{}: {} on {}, {} on {}", fact.name, fact.value, team.name_of(0), found,
                      team.name_of(static_cast<int>(rank)));
      if (!fact.may_differ || !options.allow_different_ranks) {
        throw UsageError(fmt::format(
            "the ranks differ in {}\n{}", text,
            fact.may_differ ? "--allow-different-ranks measures them nevertheless"
                            : "start the same program with the same flags on all ranks"));
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
  std::pair<std::string, std::vector<DeviceInfo>> brought{instruction_set(machine), {}};
  for (const auto& device : own) brought.second.push_back(device->info());
  const auto all = team.meet(brought);
  std::vector<std::unique_ptr<Device>> devices;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) {
      std::ranges::move(own, std::back_inserter(devices));
      continue;
    }
    const auto& [instructions, infos] = all[static_cast<std::size_t>(rank)];
    for (const DeviceInfo& info : infos) {
      devices.push_back(std::make_unique<RemoteDevice>(info, twin, instructions == brought.first));
    }
  }
  return devices;
}

}  // namespace parbench

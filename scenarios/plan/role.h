// Roles of a scenario's parameters. Findings refer to roles, so that they do not depend on the
// names of parameters.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace parbench {

enum class Role {
  micro_batch_size,  // samples per micro-batch
  partition,         // assignment of parts of the model to devices
  schedule,          // order of the micro-batches
  host_memory,       // kind of host memory for copies
  memory_saving,     // which data is kept in memory, and which is recomputed
  batch,             // samples of a step, divided among devices
  exchange_size,     // size of each exchange between devices
};
inline constexpr std::array<Role, 7> known_roles{
    Role::micro_batch_size, Role::partition, Role::schedule,     Role::host_memory,
    Role::memory_saving,    Role::batch,     Role::exchange_size};

/// Returns the name of a role, such as "micro-batch size".
[[nodiscard]] constexpr std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, known_roles.size()> names{
      "micro-batch size", "partition", "schedule",     "host memory",
      "memory saving",    "batch",     "exchange size"};
  return names.at(static_cast<std::size_t>(role));
}

}  // namespace parbench

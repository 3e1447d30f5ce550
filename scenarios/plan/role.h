// What a parameter of a case sets, so that explanations of its time need no parameter's name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace parbench {

enum class Role {
  micro_batch_size,  // samples of a micro-batch
  partition,         // which device has which part of the model
  schedule,          // the order of the micro-batches
  host_memory,       // the kind of memory that is copied from and to
  memory_saving,     // what is kept in memory, and what is computed again instead
  batch,             // samples of a step, which devices divide between them
  exchange_size,     // what devices exchange at once
};
inline constexpr std::array<Role, 7> known_roles{
    Role::micro_batch_size, Role::partition, Role::schedule,     Role::host_memory,
    Role::memory_saving,    Role::batch,     Role::exchange_size};

/// "micro-batch size"
[[nodiscard]] constexpr std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, known_roles.size()> names{
      "micro-batch size", "partition", "schedule",     "host memory",
      "memory saving",    "batch",     "exchange size"};
  return names.at(static_cast<std::size_t>(role));
}

}  // namespace parbench

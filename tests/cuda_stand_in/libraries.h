// Libraries that parbench loads at run time, which the stand-in replaces.
#pragma once

#include <map>
#include <string>

namespace parbench::stand_in {

/// The functions of a library, by name.
using Functions = std::map<std::string, void*>;

/// An entry of them.
#define PARBENCH_ENTRY(name) {#name, reinterpret_cast<void*>(&(name))},

[[nodiscard]] Functions cupti_functions();
[[nodiscard]] Functions nccl_functions();
[[nodiscard]] Functions nvml_functions();

/// The libraries of the stand-in, by the beginning of their file names.
[[nodiscard]] const std::map<std::string, Functions>& libraries();

}  // namespace parbench::stand_in

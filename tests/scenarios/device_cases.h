// The cases that every strategy of a scenario runs with real kernels.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "scenarios/framework/scenario.h"

namespace parbench::test {

/// A case of a scenario and the devices that it needs.
struct DeviceCase {
  std::string name;
  std::unique_ptr<Scenario> (*make)();
  std::vector<Parameter> values;
  int devices = 1;
  DType dtype = DType::f32;
  bool mixed = false;                        // every second device is another backend's
  std::vector<std::string> strategies = {};  // that have such a case; empty: all
  bool on_gpu = false;  // a whole one, two parts of one, or beside a CPU device
};

inline void PrintTo(const DeviceCase& one, std::ostream* out) { *out << one.name; }

/// All of them, on CPU devices.
[[nodiscard]] std::vector<DeviceCase> device_cases();

}  // namespace parbench::test

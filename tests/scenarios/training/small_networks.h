// Networks that tests of training run.
#pragma once

#include <string>

#include "scenarios/models/network.h"

namespace parbench::test {

/// The one of that name; "small", which has the layers of a ResNet, for any other name.
[[nodiscard]] Network small_network(const std::string& name);

}  // namespace parbench::test

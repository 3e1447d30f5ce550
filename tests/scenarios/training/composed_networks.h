// Networks with layers of general operations.
#pragma once

#include "scenarios/models/network.h"

namespace parbench::test {

[[nodiscard]] Network composed_network_of_sequences();
[[nodiscard]] Network composed_network_of_images();

}  // namespace parbench::test

// The type of JSON values, without the library that reads and writes them.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace parbench::report {

/// JSON whose objects keep the order of their keys.
using Json = nlohmann::ordered_json;

}  // namespace parbench::report

// The type of JSON values, without the parser.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace parbench::report {

/// JSON whose objects keep the order of their keys.
using Json = nlohmann::ordered_json;

}  // namespace parbench::report

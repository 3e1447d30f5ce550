// Makes JSON lists.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "reports/io/json_value.h"

namespace parbench::report {

/// Returns a list with a value for each item: the item, its member, or the result of a function.
template <class Items, class MakeValue = std::identity>
[[nodiscard]] Json json_list(const Items& items, const MakeValue& value = {}) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(std::invoke(value, item));
  return list;
}

}  // namespace parbench::report

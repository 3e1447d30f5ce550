// Extracts modules from names of nodes.
#include "scenarios/models/onnx/layer_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <utility>
#include <vector>

namespace parbench::onnx_import {

std::string layer_name_of(const Node& node, bool has_weights) {
  std::string name = name_of(node);
  if (!name.starts_with('/')) return name;
  std::vector<std::string> parts;
  std::istringstream stream(name.substr(1));
  for (std::string part; std::getline(stream, part, '/');) {
    // The name of a module in a list begins with the list's name.
    const bool is_repeated = !parts.empty() && part.starts_with(parts.back() + ".");
    if (is_repeated) parts.pop_back();
    parts.push_back(std::move(part));
  }
  if (has_weights && parts.size() > 1) parts.pop_back();
  return fmt::format("{}", fmt::join(parts, "."));
}

}  // namespace parbench::onnx_import

// User options for a network of a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scenarios/models/network.h"

namespace parbench::onnx_import {

struct ImportOptions {
  std::optional<std::int64_t> image = {};  // replaces height and width of images
  std::optional<Loss> loss = {};
  std::string prediction = {};  // the name of an output; empty: the first one
  /// Sizes of open dimensions, and values of scalar inputs, by name.
  std::map<std::string, std::int64_t, std::less<>> dimensions = {};

  friend bool operator==(const ImportOptions&, const ImportOptions&) = default;
};

}  // namespace parbench::onnx_import

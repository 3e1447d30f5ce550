// Models of users: ONNX files, named by their path.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/models/models.h"

namespace parbench::onnx_import {

/// Suffix of such files.
inline constexpr std::string_view file_suffix = ".onnx";

/// Reads a file, or returns the cached model if the file has not changed. A model for images has
/// the size "image", with the file's own size as default. Reading, and making the network, throw
/// UsageError with the file's name and the problem.
[[nodiscard]] Model model_of_file(const std::string& path, const FileOptions& options);

}  // namespace parbench::onnx_import

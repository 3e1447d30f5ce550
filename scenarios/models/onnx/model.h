// Models from ONNX files of users, named by their path.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/models/models.h"

namespace parbench::onnx_import {

inline constexpr std::string_view file_suffix = ".onnx";

/// Returns the model of a file, which is read again only if it has changed. A model for square
/// images has the size "image", by default that of the file, or 224 if the file leaves it open.
/// This function, and Model::make of the model, throw UsageError with the file's path and the
/// problem.
[[nodiscard]] Model model_of_file(const std::string& path, const FileOptions& options);

}  // namespace parbench::onnx_import

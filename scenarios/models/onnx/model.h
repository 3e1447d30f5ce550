// Models that users bring: ONNX files under the name of their path.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/models/models.h"

namespace parbench::onnx_import {

/// What names of such files end with.
inline constexpr std::string_view file_suffix = ".onnx";

/// Reads a file, or remembers it where it has not changed since. A model for images has the size
/// "image", with the file's own as its usual value. Throws UsageError that names the file and what
/// is wrong with it; making the network does so too.
[[nodiscard]] Model model_of_file(const std::string& path, const FileOptions& options);

}  // namespace parbench::onnx_import

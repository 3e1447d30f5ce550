// Reads ONNX files with the onnx library.
#pragma once

#include <filesystem>

#include "scenarios/models/onnx/graph.h"

namespace parbench::onnx_import {

/// The operator sets that can be read.
inline constexpr int min_opset = 7;
inline constexpr int max_opset = 21;

/// Reads a file and checks it by the rules of ONNX as far as the library knows its version. Throws
/// UsageError that names the file and the remedy: for a file that does not exist, is none of
/// ONNX's, is cut off, breaks these rules (a cycle, an input that no node has made), has another
/// operator set or lacks a file with its weights.
[[nodiscard]] Graph read_file(const std::filesystem::path& path);

}  // namespace parbench::onnx_import

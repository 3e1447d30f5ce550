// Reads ONNX files with the onnx library.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// The operator sets that can be read.
inline constexpr int min_opset = 7;
inline constexpr int max_opset = 24;

/// Reads a file and checks it by the rules of ONNX as far as the library knows its version. Throws
/// UsageError that names the file and the remedy: for a file that does not exist, is none of
/// ONNX's, is cut off, breaks these rules (a cycle, an input that no node has made), exceeds a
/// limit (limits.h), has another operator set or lacks a file with its weights.
[[nodiscard]] Graph read_file(const std::filesystem::path& path);
/// The same of bytes that need be in no file. `path` names them in messages, and weights outside of
/// them lie in its folder.
[[nodiscard]] Graph read_stream(std::istream& stream, const std::filesystem::path& path);

using TensorValues = std::map<std::string, std::vector<float>, std::less<>>;

/// Reads the values of tensors of a file: of initializers and of those of Constant nodes, by the
/// name of their output. Throws UsageError for one that the file lacks, of a type that has no
/// numbers, or whose data is cut off.
[[nodiscard]] TensorValues read_values(const std::filesystem::path& path,
                                       const std::set<std::string>& names);

}  // namespace parbench::onnx_import

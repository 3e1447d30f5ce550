// Reads ONNX files with the onnx library.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// Supported operator sets.
inline constexpr int min_opset = 7;
inline constexpr int max_opset = 24;

/// Reads a file and checks it by the rules of ONNX, as far as the library supports its version.
/// Throws UsageError with the path and the remedy for a file that does not exist, is not an ONNX
/// file, is truncated, breaks the rules (a cycle, an input that no node computes), exceeds a limit
/// (limits.h), has another operator set, or lacks a file with its weights.
[[nodiscard]] Graph read_file(const std::filesystem::path& path);
/// Like read_file, for bytes from a stream. `path` is used in messages; its folder contains
/// external weights.
[[nodiscard]] Graph read_stream(std::istream& stream, const std::filesystem::path& path);

/// The values of a file's tensors: initializers and outputs of Constant nodes, by name. The file is
/// read at the first request, and kept until it is released.
class FileValues {
 public:
  explicit FileValues(std::filesystem::path path);
  ~FileValues();
  FileValues(const FileValues&) = delete;
  FileValues& operator=(const FileValues&) = delete;

  /// Returns the values of a tensor as f32. Throws UsageError if the file lacks the tensor, if the
  /// tensor's type is not numeric, or if its data is truncated.
  [[nodiscard]] std::vector<float> of(const std::string& name);
  void release();

 private:
  struct Parsed;
  std::filesystem::path path_;
  std::mutex mutex_;
  std::unique_ptr<Parsed> parsed_;  // null if the file is not in memory
};

}  // namespace parbench::onnx_import

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

/// The values of a file's tensors: of initializers and of those of Constant nodes, by the name of
/// their output. The file is read when they are asked for first, and held until it is released.
class FileValues {
 public:
  explicit FileValues(std::filesystem::path path);
  ~FileValues();
  FileValues(const FileValues&) = delete;
  FileValues& operator=(const FileValues&) = delete;

  /// Throws UsageError for a tensor that the file lacks, of a type that has no numbers, or whose
  /// data is cut off.
  [[nodiscard]] std::vector<float> of(const std::string& name);
  void release();

 private:
  struct Parsed;
  std::filesystem::path path_;
  std::mutex mutex_;
  std::unique_ptr<Parsed> parsed_;  // null while it is not held
};

}  // namespace parbench::onnx_import

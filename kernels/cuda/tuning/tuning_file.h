// Choices of `--autotune` on disk, so that later processes need not measure again. Needs no device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace parbench::cuda {

/// Returns the path of the file: the value of PARBENCH_TUNING_CACHE, or nothing if this is set but
/// empty. If it is not set: the file "tuning" in the folder PARBENCH_CACHE, or else parbench/tuning
/// in the user's cache folder; nothing if there is no such folder in the environment.
[[nodiscard]] std::optional<std::filesystem::path> tuning_file_path();

/// A text file with a line for every choice: scope, operation, number of candidates and index,
/// separated by tabs. Lines are only appended, each with one write, so that processes can share the
/// file. If several lines have the same operation, the last one counts; damaged lines are ignored.
/// If the file cannot be read or written, or has been deleted, choices are measured again.
class TuningFile {
 public:
  /// `scope`: everything except the operation that affects choices: GPU, driver, versions of the
  /// libraries.
  TuningFile(std::filesystem::path path, std::string scope);

  /// Returns the choice for an operation, if it was made from the same number of candidates.
  [[nodiscard]] std::optional<std::size_t> find(const std::string& operation,
                                                std::size_t candidates) const;
  void add(const std::string& operation, std::size_t candidates, std::size_t index);

 private:
  struct Entry {
    std::size_t candidates = 0;
    std::size_t index = 0;
  };

  void read();

  std::filesystem::path path_;
  std::string scope_;
  std::map<std::string, Entry> entries_;  // entries of the scope, by operation
};

}  // namespace parbench::cuda

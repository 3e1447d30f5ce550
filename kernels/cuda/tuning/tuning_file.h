// Choices of `--autotune` on disk, so that a later process measures nothing twice. No device is
// needed here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace parbench::cuda {

/// Where choices are kept: the file that PARBENCH_TUNING_CACHE names, none where that is empty.
/// Where it is not set, the file "tuning" in the folder PARBENCH_CACHE, and without that
/// parbench/tuning in the user's folder for caches.
[[nodiscard]] std::optional<std::filesystem::path> tuning_file_path();

/// A text file with a line for every choice: scope, operation, number of candidates and index,
/// separated by tabs. Lines are only appended, each in one write, so that processes can share the
/// file; the last line for an operation counts, and lines that are damaged do not. A file that
/// cannot be read or written means that choices are measured again; deleting it does the same.
class TuningFile {
 public:
  /// `scope`: what choices depend on beside the operation: GPU, driver, versions of the libraries.
  TuningFile(std::filesystem::path path, std::string scope);

  /// The choice for an operation, if it was made from as many candidates.
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
  std::map<std::string, Entry> entries_;  // of the scope, by operation
};

}  // namespace parbench::cuda

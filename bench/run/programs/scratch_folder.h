#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "kernels/base/error.h"

namespace parbench {

/// A folder in the system's folder for temporary files; the destructor removes it with its content.
class ScratchFolder {
 public:
  /// Creates the folder. Throws Error.
  ScratchFolder() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string name = (parent / "parbench-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      throw Error("no folder can be made for temporary files: " + name +
                  "\nset TMPDIR to a folder that can be written to");
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace parbench

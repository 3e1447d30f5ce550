// Where the stand-ins of libraries are that are loaded at run time.
#pragma once

#include <filesystem>
#include <string>

namespace parbench::test {

/// The path of a stand-in by its target's name. The folder lies beside the running executable, so
/// that tests pass wherever they are copied together.
inline std::string stand_in(const std::string& name) {
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe");
  return executable.parent_path() / "stand-ins" / (name + ".so");
}

}  // namespace parbench::test

// An unpacked bundle made of stand-ins, and scripts/gpu-check run from it as its users run it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "tests/support/process.h"

namespace parbench::testing {

class GpuCheck : public ::testing::Test {
 protected:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// A program of this name in the bundle, or beside it on the PATH where it stands in `tools/`.
  void program(const std::string& name, const std::string& script) const {
    const std::filesystem::path path = folder_.write(name, "#!/bin/bash\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  /// A test executable.
  void test_program(const std::string& name, const std::string& script) const {
    program("libexec/tests/" + name, script);
  }

  void link(const std::string& name, const std::filesystem::path& target) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::filesystem::create_symlink(target, folder_ / name);
  }

  /// Programs of which a file `libexec/needs` names libraries that the loader has to find.
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::copy(fs::path(SOURCE_FOLDER) / "scripts", folder_ / "scripts", fs::copy_options::recursive);
    fs::create_directories(folder_ / "libexec/tests");
    link("libexec/parbench-peers", PEERS_BINARY);
    link("libexec/parbench-smoke", SMOKE_BINARY);
    program("tools/ldd",
            "needs=${1%/*}/needs\n[[ -e $needs ]] || exit 0\n"
            "for name in $(<\"$needs\"); do\n"
            "  IFS=: read -ra folders <<<\"$LD_LIBRARY_PATH\"\n"
            "  for folder in \"${folders[@]}\"; do [[ ! -e $folder/$name ]] || continue 2; done\n"
            "  echo \"$name => not found\"\n"
            "done\n");
    program("tools/no-torch", "echo 'no module named torch' >&2; exit 1\n");
  }

  void with_stand_in_parbench() const {
    std::filesystem::copy_file(STAND_INS "/stand_in_parbench.py", folder_ / "libexec/parbench");
  }
  void with_real_parbench() const { link("libexec/parbench", PARBENCH_BINARY); }

  [[nodiscard]] std::string with_torch() const { return STAND_INS "/stand_in_python.py"; }
  [[nodiscard]] std::string without_torch() const { return (folder_ / "tools/no-torch").string(); }

  [[nodiscard]] Finished check(std::vector<std::string> words, Environment extra = {}) const {
    words.insert(words.begin(), (folder_ / "scripts/gpu-check").string());
    extra.emplace_back("PATH", (folder_ / "tools").string() + ":/usr/bin:/bin");
    extra.emplace_back("LOG", (folder_ / "log").string());
    return run(words, {folder_.path(), extra});
  }

  /// A file that the check has written.
  [[nodiscard]] report::Json output(const std::string& name) const {
    return report::read_json((folder_ / "out" / name).string());
  }

  /// What a step came to.
  [[nodiscard]] report::Json step(const std::string& file, const std::string& name) const {
    return output(file).at(name);
  }

  /// A row of the summary.
  [[nodiscard]] report::Json target(const std::string& name) const {
    const report::Json summary = output("summary.json");
    for (const report::Json& row : summary.at("targets")) {
      if (row.at("name") == name) return row;
    }
    ADD_FAILURE() << "no target " << name;
    return {};
  }

  TemporaryFolder folder_;
};

}  // namespace parbench::testing

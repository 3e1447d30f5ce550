// The launcher before anything is installed or built: in a folder with its scripts alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "tests/support/process.h"

namespace parbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Launcher : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::copy(fs::path(SOURCE_FOLDER) / "scripts", folder_ / "scripts", fs::copy_options::recursive);
    fs::copy_file(fs::path(SOURCE_FOLDER) / "parbench", folder_ / "parbench");
  }

  void require_packages(const std::string& lines) const {
    std::ofstream(folder_ / "scripts/packages.txt") << lines;
  }

  /// A project whose program says this word where the folder was there when it was configured, and
  /// else "none".
  void stand_in_build(const std::string& folder, const std::string& word) const {
    folder_.write("CMakePresets.json", R"({"version": 3, "configurePresets": [
        {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]})");
    folder_.write("CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
        project(stand_in LANGUAGES NONE)
        set(word none)
        if(EXISTS ${PROJECT_SOURCE_DIR}/)" +
                                        folder + R"()
          set(word )" + word + R"()
        endif()
        file(WRITE ${PROJECT_BINARY_DIR}/bin/parbench "#!/bin/sh\necho ${word}\n")
        file(CHMOD ${PROJECT_BINARY_DIR}/bin/parbench PERMISSIONS OWNER_READ OWNER_EXECUTE)
        add_custom_target(parbench))");
  }

  [[nodiscard]] Finished launch(const std::string& program, const std::string& no_install) const {
    return run({(folder_ / program).string()},
               {"/", {{"PARBENCH_NO_INSTALL", no_install}, {"PARBENCH_LOCK_SECONDS", "1"}}});
  }

  TemporaryFolder folder_;
};

TEST_F(Launcher, OnlyNamesWhatIsMissingWhenAskedTo) {
  require_packages("# comment\n\nlibc6\nno-such-package-a\nno-such-package-b\n");
  const Finished finished = launch("parbench", "1");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("parbench: error:"), HasSubstr("no-such-package-a no-such-package-b"),
                    HasSubstr("apt-get install"), Not(HasSubstr("libc6"))));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "build/release"));
}

TEST_F(Launcher, LooksAgainAfterAFailure) {
  require_packages("no-such-package\n");
  EXPECT_EQ(launch("parbench", "1").exit_code, 2);
  EXPECT_THAT(launch("parbench", "1").err, HasSubstr("no-such-package"));
}

TEST_F(Launcher, SaysThatItCannotBeConfigured) {
  require_packages("libc6\n");
  const Finished finished = launch("parbench", "1");  // there is no CMakePresets.json
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("could not configure"), HasSubstr("CMake Error")));
}

TEST_F(Launcher, BuildsAndRunsOnAPathWithSpaces) {
  const auto clone = folder_ / "my clone";
  std::filesystem::create_directory(clone);
  for (const char* name : {"scripts", "parbench"}) {
    std::filesystem::rename(folder_ / name, clone / name);
  }
  folder_.write("my clone/scripts/packages.txt", "libc6\n");
  folder_.write("my clone/CMakePresets.json", R"({"version": 3, "configurePresets": [
      {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]})");
  folder_.write("my clone/CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
      project(stand_in LANGUAGES NONE)
      file(COPY program.sh DESTINATION bin)
      add_custom_target(parbench COMMAND ${CMAKE_COMMAND} -E rename bin/program.sh bin/parbench))");
  const auto program =
      folder_.write("my clone/program.sh", "#!/bin/sh\nprintf '%s|' \"$PARBENCH_HOME\" \"$@\"\n");
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  const Finished finished =
      run({(clone / "parbench").string(), "--split", "a b"}, {"/", {{"PARBENCH_NO_INSTALL", "1"}}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, clone.string() + "|--split|a b|");
}

TEST_F(Launcher, LooksForCudaAgainOnceItsLibrariesWereFetched) {
  require_packages("libc6\n");
  stand_in_build("build/cuda-wheels", "cuda");
  EXPECT_EQ(launch("parbench", "1").out, "none\n");
  folder_.write("build/cuda-wheels/.wheels", "fetched");
  EXPECT_EQ(launch("parbench", "1").out, "cuda\n");
  EXPECT_THAT(launch("parbench", "1").err, Not(HasSubstr("configuring"))) << "once is enough";
}

/// A python3 whose pip brings NVTX's headers, or fails.
class Nvtx : public Launcher {
 protected:
  void SetUp() override {
    Launcher::SetUp();
    require_packages("libc6\n");
    stand_in_build("build/nvtx/nvidia", "nvtx");
    const auto python =
        folder_.write("tools/python3",
                      "#!/bin/bash\n"
                      "[[ $3 != --version ]] || exit 0\n"
                      "echo \"$*\" >>\"$LOG\"\n"
                      "[[ $ONLINE == 1 ]] || exit 1\n"
                      "while [[ $1 != --target ]]; do shift; done\n"
                      "mkdir -p \"$2/nvidia\"\n"
                      "while [[ $1 != -r ]]; do shift; done\ncat \"$2\" >>\"$LOG\"\n");
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] Finished start(const std::string& online,
                               const std::string& no_install = "0") const {
    return run({(folder_ / "parbench").string()},
               {"/",
                {{"PATH", (folder_ / "tools").string() + ":/usr/bin:/bin"},
                 {"LOG", (folder_ / "log").string()},
                 {"ONLINE", online},
                 {"PARBENCH_NO_INSTALL", no_install}}});
  }
};

TEST_F(Nvtx, IsFetchedOncePinnedForABuildWithoutCuda) {
  EXPECT_EQ(start("1").out, "nvtx\n");
  const std::string log = folder_.read("log");
  EXPECT_THAT(log, AllOf(HasSubstr("--require-hashes"), HasSubstr("nvidia-nvtx=="),
                         HasSubstr("--hash=sha256:"), Not(HasSubstr("nvidia-cublas"))));
  folder_.write("CMakePresets.json", folder_.read("CMakePresets.json") + "\n");
  EXPECT_EQ(start("1").out, "nvtx\n");
  EXPECT_EQ(folder_.read("log"), log) << "once is enough";
}

TEST_F(Nvtx, IsNotNeeded) {
  const Finished finished = start("0");
  EXPECT_EQ(finished.out, "none\n") << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("scripts/nvtx tries again"));
}

TEST_F(Nvtx, IsNotFetchedWhereNothingMayBeInstalled) {
  EXPECT_EQ(start("1", "1").out, "none\n");
  EXPECT_THAT(folder_.read("log"), IsEmpty());
}

TEST_F(Nvtx, IsNotFetchedBesideCudasLibraries) {
  folder_.write("build/cuda-wheels/.wheels", "fetched");
  EXPECT_EQ(start("1").out, "none\n");
  EXPECT_THAT(folder_.read("log"), IsEmpty());
}

TEST_F(Launcher, ABuildThatCameWithACopyIsNotUsed) {
  require_packages("libc6\n");
  const std::filesystem::path build = folder_ / "build/release";
  std::filesystem::create_directories(build);
  std::ofstream(build / "build.ninja") << "# of the original\n";
  std::ofstream(build / "CMakeCache.txt") << "CMAKE_HOME_DIRECTORY:INTERNAL=/the/original\n";
  EXPECT_THAT(launch("parbench", "1").err, HasSubstr("belongs to another folder"));
  EXPECT_FALSE(std::filesystem::exists(build / "build.ninja"));
}

TEST_F(Launcher, WaitsForAnotherBuildOnlySoLong) {
  std::filesystem::create_directories(folder_ / "build");
  const std::string lock = (folder_ / "build/.lock").string();
  Process holder({"flock", "--no-fork", lock, "sh", "-c", "echo held >&2; exec sleep 600"});
  while (holder.err().empty()) ASSERT_TRUE(holder.running());
  const Finished finished = launch("parbench", "1");
  holder.signal(SIGTERM);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("another build"));
}

TEST_F(Launcher, NothingIsFetchedForHelpOrAnUnknownWord) {
  const std::string script = (folder_ / "scripts/cuda-libraries").string();
  folder_.write("scripts/packages-cuda.txt", "no-such-package\n");  // where the work would begin
  const Finished help = run({script, "--help"}, {"/", {{"PARBENCH_NO_INSTALL", "1"}}});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("0.9 GB"));
  const Finished unknown = run({script, "now"}, {"/", {{"PARBENCH_NO_INSTALL", "1"}}});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown word 'now'"));
}

TEST_F(Launcher, TestScriptKnowsItsPresets) {
  const Finished finished = run({(folder_ / "scripts/test").string(), "--preset", "fast"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("'fast'"), HasSubstr("asan-ubsan")));
}

}  // namespace
}  // namespace parbench::testing

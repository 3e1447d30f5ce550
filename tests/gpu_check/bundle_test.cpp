// scripts/bundle: what is in the archive, and that it works where nothing is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace parbench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

Finished bundle(std::vector<std::string> words, const Surroundings& surroundings = {}) {
  words.insert(words.begin(), SOURCE_FOLDER "/scripts/bundle");
  return run(words, surroundings);
}

/// The folders of the bundle and of CUDA, for the loader.
std::string library_path(const fs::path& folder) {
  return (folder / "lib").string() + ":" CUDA_LIBRARY_FOLDERS;
}

/// Whether a line of ldd names a library that every machine has, or one of CUDA's.
bool is_of_the_system(const std::string& line) {
  const std::vector<std::string> names{"linux-vdso", "/ld-linux",     "libc.so",  "libm.so",
                                       "libdl.so",   "libpthread.so", "librt.so", "libcu",
                                       "libstdc++",  "libgcc_s"};
  return std::ranges::any_of(
      names, [&](const std::string& name) { return line.find(name) != std::string::npos; });
}

/// Each library that a program needs comes from the bundle, from CUDA, or from the C and C++
/// runtime.
void expect_self_contained(const fs::path& folder, const std::string& program) {
  SCOPED_TRACE(program);
  const Finished traced = run({"env", "-i", "LD_LIBRARY_PATH=" + library_path(folder),
                               "/usr/bin/ldd", (folder / program).string()});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  std::istringstream lines(traced.out);
  for (std::string line; std::getline(lines, line);) {
    if (is_of_the_system(line)) continue;
    EXPECT_THAT(line, HasSubstr("=> " + (folder / "lib").string()));
  }
}

TEST(Bundle, RunsWhereNothingIsInstalled) {
  const TemporaryFolder folder;
  const std::string archive = (folder / "b.tar.gz").string();
  const Finished made = bundle({"-o", archive, "--build", BUILD_FOLDER, "--allow-cpu-only"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr(archive), HasSubstr("MiB")));
  EXPECT_LE(fs::file_size(archive), 56U << 20U);

  // As a machine unpacks it that has Python and nothing else.
  const Finished unpacked =
      run({PARBENCH_PYTHON, "-m", "tarfile", "-e", archive, folder.path().string()});
  ASSERT_EQ(unpacked.exit_code, 0) << unpacked.err;
  const fs::path inside = folder / "parbench-bundle";
  for (const char* name :
       {"bin/parbench", "commit", "libexec/parbench", "libexec/parbench-peers",
        "libexec/tests/kernels_test", "libexec/tests/runtime_test",
        "libexec/tests/measurement_tests", "libexec/tests/scenario_tests", "lib/libdnnl.so.2",
        "lib/libgomp.so.1", "scripts/gpu-check", "scripts/lib.sh", "scripts/gpu-check.d/check.py",
        "scripts/peers.d/resnet50.py"}) {
    EXPECT_TRUE(fs::exists(inside / name)) << name;
  }
  expect_self_contained(inside, "libexec/parbench");
  expect_self_contained(inside, "libexec/tests/kernels_test");

  EXPECT_TRUE(fs::exists(inside / "libexec/parbench-smoke"));
  expect_self_contained(inside, "libexec/parbench-smoke");

  const Finished devices = run({"env", "-i", std::string("LD_LIBRARY_PATH=") + CUDA_LIBRARY_FOLDERS,
                                (inside / "bin/parbench").string(), "devices"});
  EXPECT_EQ(devices.exit_code, 0) << devices.err;
  EXPECT_THAT(devices.out, HasSubstr("cpu:0"));
}

/// Runs a command where the build folder is empty, as on another machine: in a mount namespace of
/// its own, as root or as root of a user namespace.
class WithoutBuildFolder {
 public:
  /// Nothing where this system allows neither.
  static std::optional<WithoutBuildFolder> make() {
    for (const char* flags : {"-m", "-rm"}) {
      WithoutBuildFolder found(flags);
      const Finished tried = found.run({"test", "!", "-e", BUILD_FOLDER "/CMakeCache.txt"});
      if (tried.exit_code == 0) return found;
    }
    return std::nullopt;
  }

  [[nodiscard]] Finished run(const std::vector<std::string>& words,
                             const Surroundings& surroundings = {}) const {
    const std::string hide = "mount -t tmpfs none '" BUILD_FOLDER "' && exec \"$@\"";
    std::vector<std::string> command{"unshare", flags_, "bash", "-c", hide, "bash"};
    command.insert(command.end(), words.begin(), words.end());
    return testing::run(command, surroundings);
  }

 private:
  explicit WithoutBuildFolder(std::string flags) : flags_(std::move(flags)) {}

  std::string flags_;
};

// Everything that the tests and gpu-check need is in the bundle, the stand-ins of libraries too.
TEST(Bundle, NeedsNothingOfTheBuildFolder) {
  const auto elsewhere = WithoutBuildFolder::make();
  if (!elsewhere) GTEST_SKIP() << "this system allows no mount namespace, so the build is in reach";
  const TemporaryFolder folder;
  const std::string archive = (folder / "b.tar.gz").string();
  ASSERT_EQ(bundle({"-o", archive, "--build", BUILD_FOLDER, "--allow-cpu-only"}).exit_code, 0);
  ASSERT_EQ(run({"tar", "xf", archive, "-C", folder.path().string()}).exit_code, 0);
  const fs::path inside = folder / "parbench-bundle";
  const Surroundings surroundings{
      folder.path(), {{"LD_LIBRARY_PATH", library_path(inside)}, {"PARBENCH_REQUIRE_CUDA", "0"}}};
  const fs::path host_tests = inside / "libexec/tests/cuda_host_test";
  if (fs::exists(host_tests)) {
    const Finished tested = elsewhere->run({host_tests.string()}, surroundings);
    EXPECT_EQ(tested.exit_code, 0) << tested.out << tested.err;
    EXPECT_THAT(tested.out, HasSubstr("CuptiTest.WorkReachesTheLogOfItsStream"));
  }
  const Finished checked =
      elsewhere->run({(inside / "scripts/gpu-check").string(), "--devices", "cpu", "--output",
                      "out", "--only", "smoke,facts,tests,schedules", "--time-limit", "120"},
                     surroundings);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_TRUE(fs::exists(folder / "out/summary.json"));
}

/// A folder that passes for a build, and a cmake that fills the bundle with so many bytes of noise.
void pretend_build(const TemporaryFolder& folder, const std::string& bytes) {
  folder.write("build/CMakeCache.txt", "PARBENCH_HAS_CUDA:INTERNAL=ON\n");
  const fs::path cmake =
      folder.write("tools/cmake",
                   "#!/bin/bash\nwhile [[ $1 != --prefix ]]; do shift; done\nmkdir -p \"$2/lib\"\n"
                   "head -c " +
                       bytes + " /dev/urandom >\"$2/lib/large.so\"\n");
  fs::permissions(cmake, fs::perms::owner_all);
}

TEST(Bundle, RefusesToBeLargerThanItMay) {
  const TemporaryFolder folder;
  pretend_build(folder, "2097152");
  const std::string archive = (folder / "b.tar.gz").string();
  const std::vector<std::string> words{"-o", archive, "--build", (folder / "build").string()};
  const std::string path = (folder / "tools").string() + ":/usr/bin:/bin";
  const Finished large = bundle(words, {{}, {{"PATH", path}, {"PARBENCH_BUNDLE_MIB", "1"}}});
  EXPECT_EQ(large.exit_code, 2);
  EXPECT_THAT(large.err, AllOf(HasSubstr("2 MiB, more than 1"),
                               HasSubstr("2097152 parbench-bundle/lib/large.so")));
  EXPECT_FALSE(fs::exists(archive));
  EXPECT_EQ(bundle(words, {{}, {{"PATH", path}}}).exit_code, 0);
  EXPECT_TRUE(fs::exists(archive));
}

TEST(Bundle, LiesInTheBuildFolderOfAFreshCloneOrInTheFolderNamed) {
  const TemporaryFolder folder;
  pretend_build(folder, "1");
  fs::create_directory(folder / "clone");
  fs::copy(SOURCE_FOLDER "/scripts", folder / "clone/scripts", fs::copy_options::recursive);
  const auto made = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {(folder / "clone/scripts/bundle").string(), "--build",
                                 (folder / "build").string()});
    const Finished finished =
        run(words, {{}, {{"PATH", (folder / "tools").string() + ":/usr/bin:/bin"}}});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.err;
  };
  made({});
  EXPECT_TRUE(fs::exists(folder / "clone/build/parbench-bundle.tar.gz"));
  fs::create_directory(folder / "there");
  const std::string archive = (folder / "there/parbench-bundle.tar.gz").string();
  EXPECT_THAT(made({"-o", (folder / "there").string() + "/"}), HasSubstr(archive + ": "));
  EXPECT_TRUE(fs::is_regular_file(archive));
}

TEST(Bundle, HasTheCudaBackendUnlessToldOtherwise) {
  const TemporaryFolder folder;
  pretend_build(folder, "1");
  folder.write("build/CMakeCache.txt", "PARBENCH_HAS_CUDA:INTERNAL=OFF\n");
  const std::string archive = (folder / "b.tar.gz").string();
  std::vector<std::string> words{"-o", archive, "--build", (folder / "build").string()};
  const Surroundings surroundings{{}, {{"PATH", (folder / "tools").string() + ":/usr/bin:/bin"}}};
  const Finished refused = bundle(words, surroundings);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("no CUDA backend"), HasSubstr("scripts/cuda-libraries")));
  EXPECT_FALSE(fs::exists(archive));
  words.emplace_back("--allow-cpu-only");
  EXPECT_EQ(bundle(words, surroundings).exit_code, 0);
  EXPECT_TRUE(fs::exists(archive));
}

TEST(Bundle, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const auto refusal = [](const std::vector<std::string>& words) {
    const Finished finished = bundle(words);
    EXPECT_EQ(finished.exit_code, 2);
    return finished.err;
  };
  EXPECT_THAT(refusal({"--arch"}), HasSubstr("unknown word '--arch'"));
  EXPECT_THAT(refusal({"-o"}), HasSubstr("-o needs a value"));
  EXPECT_THAT(refusal({"-o", "/no/such/folder/x"}), HasSubstr("/no/such/folder/x"));
  EXPECT_THAT(refusal({"-o", (folder / "b").string(), "--build", "/no/build"}),
              HasSubstr("'/no/build' is no build"));
}

}  // namespace
}  // namespace parbench::testing

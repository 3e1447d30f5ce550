// Choices of `--autotune` that outlive the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "kernels/cuda/tuning/tuning.h"
#include "kernels/cuda/tuning/tuning_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::cuda {
namespace {

class TuningOnDisk : public ::testing::Test {
 protected:
  [[nodiscard]] TuningFile file(const std::string& scope = "H200; driver 13.0") const {
    return {path, scope};
  }
  [[nodiscard]] static std::optional<std::size_t> ask(TuningFile file, std::size_t candidates,
                                                      std::optional<std::size_t> measured) {
    TuningChoices choices(std::move(file));
    return choices.once("gemm 64", candidates, [&] { return measured; });
  }

  parbench::test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "new" / "tuning";
};

TEST_F(TuningOnDisk, OutlivesTheProcess) {
  EXPECT_EQ(ask(file(), 3, 2), 2U);
  EXPECT_EQ(ask(file(), 3, 1), 2U) << "measured by an earlier process";
}

TEST_F(TuningOnDisk, IsOfTheSameGpuLibrariesAndCandidatesOnly) {
  EXPECT_EQ(ask(file(), 3, 2), 2U);
  EXPECT_EQ(ask(file("H200; driver 13.1"), 3, 1), 1U);
  EXPECT_EQ(ask(file(), 4, 0), 0U);
}

TEST_F(TuningOnDisk, DoesNotKeepThatThereWasNoTime) {
  EXPECT_EQ(ask(file(), 3, std::nullopt), std::nullopt);
  EXPECT_EQ(ask(file(), 3, 1), 1U);
}

TEST_F(TuningOnDisk, IgnoresLinesThatAreDamaged) {
  EXPECT_EQ(ask(file(), 3, 2), 2U);
  std::ofstream(path, std::ios::app) << "H200; driver 13.0\tgemm 64\t3\t3\n"
                                     << "H200; driver 13.0\tgemm 64\t3\t-1\n"
                                     << "H200; driver 13.0\tgemm 64\t3\n\n"
                                     << "H200; driver 13.0\tgemm 64\t3\t1\t0\n"
                                     << "H200; driver 13.0\tgemm 64\t3\t99999999999999999999\n"
                                     << "H200; driver 13.0\tgemm 64\t3\t1";  // without its end
  EXPECT_EQ(ask(file(), 3, 0), 2U);
}

TEST_F(TuningOnDisk, IsMeasuredAgainWhereItCannotBeWritten) {
  std::ofstream(folder.path() / "new") << "a file in the place of the folder";
  EXPECT_EQ(ask(file(), 3, 2), 2U);
  EXPECT_EQ(ask(file(), 3, 1), 1U);
}

}  // namespace
}  // namespace parbench::cuda

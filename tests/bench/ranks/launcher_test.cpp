// Which variables of the environment mean that there are several ranks.
#include "bench/ranks/launcher.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace parbench::test {
namespace {

std::optional<Launched> launched(const std::map<std::string, std::string>& variables) {
  return launched_ranks([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, ReadsTheVariablesOfMpirunAndSrun) {
  const Launched second{.rank = 1, .size = 4};
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), second);
  EXPECT_EQ(launched({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}), second);
  EXPECT_EQ(launched({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}), second);
}

TEST(Launcher, TakesOneProcessForNoRanks) {
  EXPECT_EQ(launched({}), std::nullopt);
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), std::nullopt);
  // A batch script of four tasks is one process until it calls srun.
  EXPECT_EQ(launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), std::nullopt);
}

TEST(Launcher, IgnoresWhatIsNoRank) {
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), std::nullopt);
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), std::nullopt);
  EXPECT_EQ(launched({{"PMI_RANK", "-1"}, {"PMI_SIZE", "4"}}), std::nullopt);
}

}  // namespace
}  // namespace parbench::test

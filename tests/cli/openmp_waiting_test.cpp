// How the program sets the waiting of OpenMP teams for itself: the variables its report lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/io/file.h"

#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace parbench::test {
namespace {

using report::Json;

/// The report's variables, of a run that was started with these.
Json variables_of_run(const std::string& policy, const std::string& spins) {
  const TemporaryFolder folder;
  const std::string path = (folder / "report.json").string();
  const Finished finished =
      run({PARBENCH_BINARY, "--scenario", "selftest", "--strategy", "spin", "--max-time", "0.05",
           "--no-timeline", "--quiet", "--report", path},
          {folder.path(), {{"OMP_WAIT_POLICY", policy}, {"GOMP_SPINCOUNT", spins}}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return report::read_json(path).at("parbench").at("machine").at("environment");
}

TEST(OpenMpWaiting, IsSetByTheProgramWhateverStartsIt) {
  const Json variables = variables_of_run("", "");
  EXPECT_EQ(variables.at("OMP_WAIT_POLICY"), "active");
  EXPECT_EQ(variables.at("GOMP_SPINCOUNT"), "1000");
}

TEST(OpenMpWaiting, IsTheUsersWhereOneIsSet) {
  const Json policy = variables_of_run("passive", "");
  EXPECT_EQ(policy.at("OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(policy.value("GOMP_SPINCOUNT", ""), "");
  const Json spins = variables_of_run("", "7");
  EXPECT_EQ(spins.at("GOMP_SPINCOUNT"), "7");
  EXPECT_EQ(spins.value("OMP_WAIT_POLICY", ""), "");
}

}  // namespace
}  // namespace parbench::test

// Which devices a request opens, and what is said of requests that cannot be met.
#include "kernels/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "kernels/base/error.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(Machine, DevicesAreDisjointSetsOfUsableCores) {
  const Machine machine;
  const int limit = machine.find("cpu")->device_limit();
  ASSERT_GE(limit, 1);
  for (int count = 1; count <= limit; ++count) {
    const auto devices = test::cpu_devices(count, machine);
    ASSERT_EQ(devices.size(), static_cast<std::size_t>(count));
    std::set<int> cores;
    for (const auto& device : devices) {
      EXPECT_EQ(device->info().cores.size(), devices.front()->info().cores.size());
      for (const int core : device->info().cores) EXPECT_TRUE(cores.insert(core).second);
      EXPECT_FALSE(device->info().copy_cores.empty());
    }
  }
}

TEST(Machine, NamesOpenTheirPartInTheOrderGiven) {
  const Machine machine;
  if (machine.find("cpu")->device_limit() < 2) GTEST_SKIP() << "one core: no second device";
  const auto both = machine.open("cpu:0,cpu:1");
  const auto turned = machine.open("cpu:1,cpu:0");
  EXPECT_EQ(turned[0]->info().name, "cpu:1");
  EXPECT_EQ(turned[0]->info().cores, both[1]->info().cores);
  EXPECT_EQ(turned[1]->info().cores, both[0]->info().cores);
}

TEST(Machine, CpuDevicesShareMemory) {
  const Machine machine;
  if (machine.find("cpu")->device_limit() < 2) GTEST_SKIP() << "one core: no second device";
  const auto devices = machine.open("cpu:0,cpu:1");
  const std::vector<DeviceLink> links = links_of(devices);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].from, "cpu:0");
  EXPECT_EQ(links[0].to, "cpu:1");
  EXPECT_THAT(links[0].kind, ::testing::StartsWith("shared memory"));
}

TEST(Machine, DevicesShareCoresWhereThatIsAskedFor) {
  const Machine machine;
  const int limit = machine.find("cpu")->device_limit();
  if (machine.backends().front()->name() != "cpu") GTEST_SKIP() << "a count opens other devices";
  const std::string more = std::to_string(2 * limit);
  try {
    static_cast<void>(machine.open(more));
    FAIL() << "the user has not asked for it";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--oversubscribe"));
  }
  const auto devices = machine.open(more, {.oversubscribe = true});
  ASSERT_EQ(devices.size(), static_cast<std::size_t>(2 * limit));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i]->info().name, "cpu:" + std::to_string(i));
    EXPECT_EQ(devices[i]->info().cores.size(), 1U);
  }
  const auto last = static_cast<std::size_t>(limit);
  EXPECT_EQ(devices[0]->info().cores, devices[last]->info().cores);
  const auto enough = machine.open("1", {.oversubscribe = true});
  EXPECT_EQ(enough[0]->info().cores.size(), last) << "there are enough cores";
}

TEST(Machine, OpensOneDeviceWithTheCoresOfAll) {
  const Machine machine;
  const auto limit = static_cast<std::size_t>(machine.find("cpu")->device_limit());
  EXPECT_EQ(machine.open_whole("cpu:0"), nullptr) << "it is the whole already";
  if (limit < 2) GTEST_SKIP() << "one core: no second device";
  const auto both = machine.open("cpu:0,cpu:1");
  const auto whole = machine.open_whole("cpu:0,cpu:1");
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->info().name, "cpu:all");
  std::vector<int> cores = both[0]->info().cores;
  cores.insert(cores.end(), both[1]->info().cores.begin(), both[1]->info().cores.end());
  EXPECT_EQ(whole->info().cores, cores);
  EXPECT_EQ(whole->make_stream(StreamKind::compute)->threads(), static_cast<int>(cores.size()));
  if (machine.backends().front()->name() != "cpu") return;
  EXPECT_EQ(machine.open_whole(std::to_string(2 * limit), {.oversubscribe = true}), nullptr)
      << "devices that share cores have none to add up";
}

TEST(Machine, SpareCoreServesCopies) {
  const Machine machine;
  if (machine.find("cpu")->device_limit() < 2) GTEST_SKIP() << "one core: none to spare";
  const auto devices = machine.open("cpu:0", {.spare_for_copies = true});
  for (const int core : devices[0]->info().copy_cores) {
    EXPECT_THAT(devices[0]->info().cores, ::testing::Not(::testing::Contains(core)));
  }
}

TEST(Machine, ReportsHowTeamsWait) {
  const auto waiting = [] {
    const Machine machine;
    const auto components = machine.find("cpu")->components();
    const auto found = std::ranges::find(components, "OpenMP waiting", &Backend::Component::name);
    return found == components.end() ? "unknown" : found->version;
  };
  unsetenv("GOMP_SPINCOUNT");
  unsetenv("OMP_WAIT_POLICY");
  EXPECT_EQ(waiting(), "the library's default");
  setenv("OMP_WAIT_POLICY", "passive", 1);
  EXPECT_EQ(waiting(), "OMP_WAIT_POLICY=passive");
  setenv("GOMP_SPINCOUNT", "5", 1);
  EXPECT_EQ(waiting(), "OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=5");
  unsetenv("GOMP_SPINCOUNT");
  unsetenv("OMP_WAIT_POLICY");
}

TEST(Machine, NamesTheLimitOfAProcessWithFewerCores) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "needs two cores";
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  std::string message;
  try {
    static_cast<void>(Machine().open("2"));
  } catch (const UsageError& error) {
    message = error.what();
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  if (message.find("cuda") != std::string::npos) GTEST_SKIP() << "GPUs are counted";
  EXPECT_THAT(message, HasSubstr("is more than this process may use: 1 cpu device (1 of "));
  EXPECT_THAT(message, HasSubstr(" cores; taskset, containers and batch systems limit them)"));
}

TEST(Machine, RefusesWithTheWordTheReasonAndWhatIsAllowed) {
  const Machine machine;
  const auto message = [&](const std::string& request) {
    try {
      static_cast<void>(machine.open(request));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("opened");
  };
  for (const char* request : {"0", "9999", "", "-1", "1.5", "2x", "cpu", "cpu:", "cpu:x", "cpu:-1",
                              "cpu:0,cpu:0", "cpu:0,", "cpu:9999", "gpu:0", "cpu:99999999999"}) {
    EXPECT_THAT(message(request), HasSubstr("--devices")) << request;
  }
  EXPECT_THAT(message("cuda:9999"), HasSubstr("cuda"));
  EXPECT_THAT(message("9999"), AnyOf(HasSubstr("more than this machine has"),
                                     HasSubstr("more than this process may")));
  EXPECT_THAT(message("cpu:99999999999"), HasSubstr("'cpu:99999999999' does not exist"));
  EXPECT_THAT(message("cpu:0,cpu:9999"), HasSubstr("'cpu:9999' does not exist"));
  EXPECT_THAT(message("cpu:0,cpu:0"), HasSubstr("twice"));
  EXPECT_THAT(message("cpu:0/"),
              HasSubstr("names a part of a device by '', which is not a number"));
  EXPECT_THAT(message("cpu:0/0/0"), HasSubstr("by '0/0', which is not a number"));
  EXPECT_THAT(message("cpu:0 , cpu:1"), HasSubstr("'cpu:0 , cpu:1' has blanks"));
  EXPECT_THAT(message("cpu:0,"), HasSubstr("'cpu:0,' has an empty name"));
}

TEST(Machine, NamesWhatThisBuildLacksAndItsRemedy) {
  const auto missing = Machine::missing_backends();
  const auto examples = std::string(Machine::request_examples());
  EXPECT_EQ(examples.find("cuda:0") == std::string::npos, !missing.empty());
  if (missing.empty()) GTEST_SKIP() << "this build has every backend";
  EXPECT_THAT(missing.front().reason, HasSubstr("scripts/cuda-libraries"));
  try {
    static_cast<void>(Machine().open("cuda:0"));
    ADD_FAILURE() << "opened";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("scripts/cuda-libraries"));
  }
}

}  // namespace
}  // namespace parbench

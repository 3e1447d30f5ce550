// Clocks and throttling of cores, read from folders of made-up files.
#include "kernels/cpu/host/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/support/temporary_folder.h"

namespace parbench::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Sensors : public ::testing::Test {
 protected:
  void write(int core, const std::string& name, const std::string& text) const {
    root_.write("sys/devices/system/cpu/cpu" + std::to_string(core) + "/" + name, text);
  }
  [[nodiscard]] CoreSensors sensors(const std::vector<int>& cores) const {
    return CoreSensors(cores, root_.path());
  }

  parbench::test::TemporaryFolder root_;
};

TEST_F(Sensors, AVirtualMachineHasNoSensors) { EXPECT_EQ(sensors({0, 1}).read(), Condition{}); }

TEST_F(Sensors, TheFastestOfItsOwnCoresCounts) {
  write(0, "cpufreq/scaling_cur_freq", "800000\n");
  write(1, "cpufreq/scaling_cur_freq", "2650500\n");
  write(2, "cpufreq/scaling_cur_freq", "4000000\n");
  EXPECT_EQ(sensors({0, 1}).read().clock_mhz, 2650.5);
}

TEST_F(Sensors, ClocksAreReadAnew) {
  write(0, "cpufreq/scaling_cur_freq", "3000000\n");
  const CoreSensors known = sensors({0});
  EXPECT_EQ(known.read().clock_mhz, 3000);
  write(0, "cpufreq/scaling_cur_freq", "1500000\n");
  EXPECT_EQ(known.read().clock_mhz, 1500);
}

TEST_F(Sensors, FullClockIsTheBaseFrequencyOrTheNominalOne) {
  write(0, "cpufreq/scaling_cur_freq", "2000000\n");
  write(0, "acpi_cppc/nominal_freq", "2400\n");
  EXPECT_EQ(sensors({0}).read().full_clock_mhz, 2400);
  write(0, "cpufreq/base_frequency", "2700000\n");
  EXPECT_EQ(sensors({0}).read().full_clock_mhz, 2700);
}

TEST_F(Sensors, TheBoostOfASingleCoreIsNoFullClock) {
  write(0, "cpufreq/scaling_cur_freq", "2500000\n");
  write(0, "cpufreq/cpuinfo_max_freq", "3800000\n");
  EXPECT_EQ(sensors({0}).read().full_clock_mhz, std::nullopt);
  write(0, "acpi_cppc/nominal_freq", "0\n");
  EXPECT_EQ(sensors({0}).read().full_clock_mhz, std::nullopt) << "firmware that does not report it";
}

TEST_F(Sensors, NumbersThatAreNoneAreLeftOut) {
  write(0, "cpufreq/scaling_cur_freq", "<unknown>\n");
  write(0, "cpufreq/base_frequency", "2700000\n");
  EXPECT_EQ(sensors({0}).read(), Condition{});
}

TEST_F(Sensors, ThrottlesOfItsCoresAreSummed) {
  for (const int core : {0, 1, 2}) {
    write(core, "thermal_throttle/core_throttle_count", std::to_string(10 + core));
    write(core, "thermal_throttle/package_throttle_count", "7");
  }
  EXPECT_THAT(sensors({0, 2}).read().throttle_counters,
              ElementsAre(ThrottleCounter{"core temperature", 22},
                          ThrottleCounter{"package temperature", 14}));
  EXPECT_THAT(sensors({5}).read().throttle_counters, IsEmpty());
}

}  // namespace
}  // namespace parbench::cpu

// The reader of NVIDIA's management library against a stand-in: what it makes of the answers, and
// of a library that is old, broken or not there. What is said of GPUs and their links.
#include "kernels/cuda/device/nvml.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/core/condition.h"
#include "kernels/cuda/device/gpu_facts.h"
#include "tests/kernels/cuda/nvml_stand_in.h"
#include "tests/kernels/cuda/stand_ins.h"

namespace parbench::cuda {
namespace {

using test::NvmlScript;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* bus_id = "0000:17:00.0";

/// A stand-in, loaded, with a fresh script.
class StandIn {
 public:
  explicit StandIn(const std::string& name)
      : path_(test::stand_in(name)), library_(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ != nullptr) script() = {};
  }
  ~StandIn() {
    if (library_ != nullptr) dlclose(library_);
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  [[nodiscard]] bool is_there() const { return library_ != nullptr; }
  [[nodiscard]] NvmlScript& script() const {
    return *static_cast<NvmlScript*>(dlsym(library_, "nvml_script"));
  }
  [[nodiscard]] std::shared_ptr<const Nvml> load() const { return Nvml::load(path_); }
  [[nodiscard]] Condition condition() const { return load()->gpu(bus_id).value().condition(); }

 private:
  std::string path_;
  void* library_;
};

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(stand_in.is_there()) << dlerror(); }
  StandIn stand_in{"nvml_stand_in"};
  NvmlScript& script = stand_in.script();
};

TEST_F(NvmlTest, ReadsTheSensorsOfAGpu) {
  const Condition condition = stand_in.condition();
  EXPECT_EQ(condition.clock_mhz, 1980);
  EXPECT_EQ(condition.full_clock_mhz, 1980);
  EXPECT_EQ(condition.temperature_celsius, 41);
  EXPECT_EQ(condition.power_watts, 320.5);
  EXPECT_FALSE(condition.resting);
  EXPECT_THAT(condition.throttled_by, IsEmpty());
  EXPECT_THAT(condition.throttle_counters, IsEmpty());
}

TEST_F(NvmlTest, LeavesOutEachReadingThatIsNotSupported) {
  script.clock.status = NVML_ERROR_NOT_SUPPORTED;
  EXPECT_FALSE(stand_in.condition().clock_mhz.has_value());
  script.max_clock.status = NVML_ERROR_NOT_SUPPORTED;
  EXPECT_FALSE(stand_in.condition().full_clock_mhz.has_value());
  script.temperature.status = NVML_ERROR_NO_PERMISSION;
  EXPECT_FALSE(stand_in.condition().temperature_celsius.has_value());
  EXPECT_TRUE(stand_in.condition().power_watts.has_value());
  script.milliwatts.status = NVML_ERROR_NOT_SUPPORTED;
  script.reasons = {nvmlClocksEventReasonSwPowerCap, NVML_ERROR_GPU_IS_LOST};
  EXPECT_EQ(stand_in.condition(), Condition{});
}

TEST_F(NvmlTest, NamesWhatThrottles) {
  script.reasons.value = nvmlClocksEventReasonSwPowerCap | nvmlClocksThrottleReasonHwSlowdown |
                         nvmlClocksThrottleReasonHwPowerBrakeSlowdown;
  EXPECT_THAT(stand_in.condition().throttled_by,
              ElementsAre("power cap", "hardware slowdown", "power brake"));
  script.reasons.value = nvmlClocksEventReasonSwThermalSlowdown |
                         nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksEventReasonSyncBoost;
  EXPECT_THAT(stand_in.condition().throttled_by,
              ElementsAre("sync boost", "temperature limit", "hardware thermal slowdown"));
}

TEST_F(NvmlTest, RestAndChosenClocksAreNoThrottling) {
  script.reasons.value = nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonDisplayClockSetting;
  EXPECT_THAT(stand_in.condition().throttled_by, IsEmpty());
  EXPECT_TRUE(stand_in.condition().resting);
  EXPECT_EQ(stand_in.condition().full_clock_mhz, 1980);
  script.reasons.value = nvmlClocksEventReasonApplicationsClocksSetting;
  EXPECT_THAT(stand_in.condition().throttled_by, IsEmpty());
  EXPECT_FALSE(stand_in.condition().full_clock_mhz.has_value());
}

TEST_F(NvmlTest, CountsMillisecondsUnderAThrottle) {
  script.field = {NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, {7'999'999}};
  EXPECT_THAT(stand_in.condition().throttle_counters,
              ElementsAre(ThrottleCounter{"hardware thermal slowdown", 7}));
  script.field.nanoseconds.status = NVML_ERROR_NOT_SUPPORTED;
  EXPECT_THAT(stand_in.condition().throttle_counters, IsEmpty());
}

TEST_F(NvmlTest, FindsAGpuByItsPlaceOnTheBus) {
  const auto nvml = stand_in.load();
  EXPECT_TRUE(nvml->gpu(bus_id).has_value());
  EXPECT_FALSE(nvml->gpu("0000:18:00.0").has_value());
  EXPECT_EQ(nvml->driver_version(), "580.82.07");
}

TEST_F(NvmlTest, EndsTheLibraryWhenItsLastUserGoes) {
  {
    const std::optional<NvmlGpu> gpu = stand_in.load()->gpu(bus_id);
    EXPECT_EQ(script.running, 1);
    EXPECT_EQ(gpu->condition().clock_mhz, 1980);
  }
  EXPECT_EQ(script.running, 0);
}

TEST_F(NvmlTest, ALibraryThatDoesNotStartSaysWhy) {
  script.init = NVML_ERROR_DRIVER_NOT_LOADED;
  const auto nvml = stand_in.load();
  EXPECT_EQ(nvml->absence(), "NVML does not start: Driver Not Loaded");
  EXPECT_FALSE(nvml->gpu(bus_id).has_value());
  EXPECT_FALSE(nvml->driver_version().has_value());
}

TEST_F(NvmlTest, PcieLinkNeedsBothNumbers) {
  const auto link = stand_in.load()->gpu(bus_id)->pcie_link();
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(host_link_text(link), "PCIe 5 × 16");
  script.pcie_width.status = NVML_ERROR_NOT_SUPPORTED;
  EXPECT_FALSE(stand_in.load()->gpu(bus_id)->pcie_link().has_value());
}

TEST_F(NvmlTest, CountsNvLinksToTheOtherGpuOrToASwitch) {
  const auto nvml = stand_in.load();
  const NvmlGpu gpu = nvml->gpu(bus_id).value();
  script.links = 12;
  EXPECT_EQ(gpu.nvlinks_to(gpu, "0000:3A:00.0").count, 0) << "not joined by NVLink";
  script.nvlink_peer.value = NVML_P2P_STATUS_OK;
  EXPECT_EQ(gpu.nvlinks_to(gpu, "0000:3A:00.0").count, 12) << "all of them, by a switch";
  script.direct_links = 4;
  EXPECT_EQ(gpu.nvlinks_to(gpu, "0000:3A:00.0").count, 4);
  EXPECT_EQ(gpu.nvlinks_to(gpu, "00000000:3a:00.0").count, 4);
  EXPECT_EQ(gpu.nvlinks_to(gpu, "0000:3A:00.0").version, NVML_NVLINK_VERSION_4_0);
  EXPECT_EQ(gpu.common_ancestor(gpu), NVML_TOPOLOGY_NODE);
}

TEST(NvmlOfAnOldDriver, IsReadByItsOlderNames) {
  const StandIn old("nvml_old_stand_in");
  ASSERT_TRUE(old.is_there()) << dlerror();
  old.script().reasons.value = nvmlClocksEventReasonSwPowerCap;
  const Condition condition = old.condition();
  EXPECT_EQ(condition.temperature_celsius, 41);
  EXPECT_THAT(condition.throttled_by, ElementsAre("power cap"));
  EXPECT_THAT(condition.throttle_counters, IsEmpty());
  const NvmlGpu gpu = old.load()->gpu(bus_id).value();
  EXPECT_FALSE(gpu.pcie_link().has_value());
  EXPECT_FALSE(gpu.common_ancestor(gpu).has_value());
  EXPECT_EQ(gpu.nvlinks_to(gpu, bus_id).count, 0);
}

TEST(NvmlMissing, SaysWhy) {
  const auto missing = Nvml::load("libnvidia-ml-missing.so.1");
  EXPECT_THAT(missing->absence(),
              AllOf(HasSubstr("cannot be loaded"), HasSubstr("libnvidia-ml-missing.so.1")));
  EXPECT_FALSE(missing->gpu(bus_id).has_value());
  EXPECT_FALSE(missing->driver_version().has_value());
  EXPECT_THAT(Nvml::load("libm.so.6")->absence(), HasSubstr("lacks nvmlInit_v2"));
}

GpuDescription h200() {
  return {.compute_major = 9,
          .compute_minor = 0,
          .multiprocessors = 132,
          .own_multiprocessors = 132,
          .memory_kilohertz = 3201000,
          .memory_bus_bits = 6144,
          .l2_bytes = 60U << 20U,
          .ecc = true,
          .bus_id = bus_id,
          .pcie = PcieLink{5, 16},
          .without_sensors = {}};
}

TEST(GpuFacts, NameWhatTimesDependOn) {
  EXPECT_THAT(
      facts_of(h200()),
      ElementsAre(Pair("compute capability", "9.0"), Pair("multiprocessors", "132"),
                  Pair("memory clock", "3201 MHz"), Pair("memory bus", "6144 bit"),
                  Pair("memory bandwidth", "4917 GB/s"), Pair("L2 cache", "60 MiB"),
                  Pair("ECC", "on"), Pair("PCI bus", bus_id), Pair("host link", "PCIe 5 × 16")));
}

TEST(GpuFacts, LeaveOutWhatIsNotKnownAndSayWhatIsNotRead) {
  GpuDescription gpu = h200();
  gpu.own_multiprocessors = 64;
  gpu.memory_kilohertz = 0;
  gpu.l2_bytes = 0;
  gpu.ecc = false;
  gpu.bus_id.clear();
  gpu.pcie.reset();
  gpu.without_sensors = "NVML does not know this GPU";
  EXPECT_THAT(facts_of(gpu),
              ElementsAre(Pair("compute capability", "9.0"), Pair("multiprocessors", "64 of 132"),
                          Pair("memory bus", "6144 bit"), Pair("ECC", "off"),
                          Pair("clocks and throttling", "not read: NVML does not know this GPU")));
}

TEST(GpuFacts, APartOfAGpuIsOtherHardwareThanAllOfItOrAPartOfAnotherSize) {
  GpuDescription gpu = h200();
  EXPECT_EQ(hardware_of("NVIDIA H200", gpu), "NVIDIA H200");
  gpu.own_multiprocessors = 64;
  EXPECT_EQ(hardware_of("NVIDIA H200", gpu), "NVIDIA H200, 64 of 132 multiprocessors");
}

TEST(GpuLinks, AreNamedAsFarAsTheyAreKnown) {
  EXPECT_EQ(link_text({.nvlinks = {18, NVML_NVLINK_VERSION_4_0},
                       .common_ancestor = NVML_TOPOLOGY_SYSTEM,
                       .peer_access = true}),
            "NVLink 4.0 × 18, peer access");
  EXPECT_EQ(link_text({.nvlinks = {2, 99}}), "NVLink × 2");
  EXPECT_EQ(link_text({.common_ancestor = NVML_TOPOLOGY_SINGLE, .peer_access = false}),
            "PCIe, one switch, no peer access");
  EXPECT_EQ(link_text({}), "PCIe");
  EXPECT_EQ(host_link_text(std::nullopt), "PCIe");
}

}  // namespace
}  // namespace parbench::cuda

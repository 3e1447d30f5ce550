// Which reports come from machines of one class.
#include "reports/model/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Device gpu(const std::string& name, const std::string& multiprocessors) {
  return {"pipeline",
          name,
          "cuda",
          "NVIDIA H200",
          {},
          {},
          150'000'000'000,
          {{"compute capability", "9.0"}, {"multiprocessors", multiprocessors}}};
}

Report gpu_report() {
  Report report = sample_report();
  report.devices = {gpu("cuda:0", "132"), gpu("cuda:1", "132")};
  report.links = {{"pipeline", "cuda:0", "cuda:1", "NVLink 4.0 × 18, peer access"}};
  return report;
}

Fingerprint of(const Report& report) { return fingerprint(report, "pipeline"); }

TEST(Fingerprint, NamesTheHardwareInALine) {
  EXPECT_EQ(to_text(of(sample_report())),
            "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 2 cores, 32 GiB · 2 × cpu (1 core)");
  EXPECT_THAT(to_text(of(gpu_report())), HasSubstr(" · 2 × NVIDIA H200 (132 multiprocessors)"));
  Report mixed = gpu_report();
  mixed.devices = {sample_report().devices.front(), gpu("cuda:0/0", "64 of 132")};
  EXPECT_THAT(to_text(of(mixed)),
              HasSubstr(" · cpu (1 core) + NVIDIA H200 (64 of 132 multiprocessors)"));
}

TEST(Fingerprint, WhatIsUnknownIsNoDifference) {
  const Fingerprint known{.cpu_model = "A processor", .cores = 8, .memory_gibibytes = 16};
  const Fingerprint unknown{.cpu_model = std::string(unknown_cpu)};
  EXPECT_EQ(difference(known, unknown), "");
  EXPECT_EQ(difference(unknown, known), "");
  EXPECT_THAT(unknown_facts(unknown), ElementsAre("CPU", "number of cores"));
  EXPECT_THAT(unknown_facts(known), IsEmpty());
  EXPECT_EQ(to_text(unknown), "unknown CPU, unknown number of cores");
  const Fingerprint partly{.cpu_model = std::string(unknown_cpu), .cores = 4};
  EXPECT_EQ(difference(known, partly), "number of cores: 8 before, 4 now");
}

TEST(Fingerprint, HasAnIdThatNoBuildMayChange) {
  // Python: FNV-1a of json.dumps(fields, separators=(",", ":")), the memory in MiB.
  EXPECT_EQ(id_of(of(sample_report())), "00d9b1cf8fd38386");
  EXPECT_EQ(id_of(of(gpu_report())), "44b8c5703cdd6a1e");
}

TEST(Fingerprint, IsTheSameWhateverPeopleCompare) {
  Report other = sample_report();
  other.version = "9.9";
  other.machine.host = "bench-2";
  other.machine.kernel = "6.12";
  other.machine.operating_system = "Debian GNU/Linux 13 (trixie)";
  other.machine.libraries = {{"oneDNN", "3.0"}};
  other.machine.compiler = "Clang";
  other.machine.commit = "another";
  other.machine.cpu_mhz = 1200;
  other.machine.governor = "powersave";
  other.machine.memory_bytes -= 50'000'000;
  other.machine.cores_allowed = {4, 5};
  other.devices[0].cores = {4};
  other.devices[1].cores = {5};
  other.devices.push_back({"another", "cpu:0", "cpu", "x", {4, 5}, {}, 1, {}});
  other.links.push_back({"another", "cpu:0", "cpu:1", "a cable"});
  EXPECT_EQ(of(other), of(sample_report()));
  EXPECT_EQ(id_of(of(other)), id_of(of(sample_report())));
  EXPECT_THAT(difference(of(sample_report()), of(other)), IsEmpty());
  Report second_gpu = gpu_report();
  second_gpu.devices[0].name = "cuda:2";
  second_gpu.links[0].from = "cuda:2";
  EXPECT_EQ(of(second_gpu), of(gpu_report()));
}

TEST(Fingerprint, DiffersInEveryPartAndSaysInWhich) {
  struct Change {
    std::function<void(Report&)> make;
    std::string message;
  };
  const std::vector<Change> changes{
      {[](Report& r) { r.machine.cpu_model = "AMD EPYC"; },
       "CPU: Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz before, AMD EPYC now"},
      {[](Report& r) { r.machine.cores_allowed = {0}; }, "number of cores: 2 before, 1 now"},
      {[](Report& r) { r.machine.memory_bytes /= 2; }, "memory: 32 GiB before, 16 GiB now"},
      {[](Report& r) { r.devices.pop_back(); },
       "devices: 2 × NVIDIA H200 (132 multiprocessors) before, NVIDIA H200 (132 multiprocessors) "
       "now"},
      {[](Report& r) { r.devices[1].facts[1].second = "64 of 132"; },
       "devices: 2 × NVIDIA H200 (132 multiprocessors) before, NVIDIA H200 (132 multiprocessors) + "
       "NVIDIA H200 (64 of 132 multiprocessors) now"},
      {[](Report& r) { r.devices[0].backend = "hip"; }, "devices: "},
      {[](Report& r) { r.devices[0].model = "NVIDIA H100"; }, "NVIDIA H100"},
      {[](Report& r) { r.links[0].kind = "PCIe 5 × 16"; },
       "links: 0–1 NVLink 4.0 × 18, peer access before, 0–1 PCIe 5 × 16 now"},
      {[](Report& r) { r.links.clear(); }, "peer access before, none now"},
  };
  std::set<std::string> ids{id_of(of(gpu_report()))};
  for (const Change& change : changes) {
    Report other = gpu_report();
    change.make(other);
    EXPECT_THAT(difference(of(gpu_report()), of(other)), HasSubstr(change.message));
    EXPECT_TRUE(ids.insert(id_of(of(other))).second) << change.message;
  }
}

TEST(Fingerprint, CountsTheDevicesOfOldReportsForEveryScenario) {
  Report old = sample_report();
  for (Device& device : old.devices) device.scenario.clear();
  EXPECT_EQ(of(old), of(sample_report()));
}

TEST(Fingerprint, StatesMemoryAsItIsInstalled) {
  constexpr double gibibyte = 1U << 30U;
  const auto installed = [&](double usable) {
    return installed_gibibytes(static_cast<std::size_t>(usable * gibibyte));
  };
  for (const double size : {1.0, 3.75, 8.0, 24.0, 128.0, 1536.0}) {
    EXPECT_EQ(installed(size * 0.96), size);
    EXPECT_EQ(installed(size * 0.985), size);
  }
  EXPECT_EQ(installed_gibibytes(0), 0);
}

}  // namespace
}  // namespace parbench::report

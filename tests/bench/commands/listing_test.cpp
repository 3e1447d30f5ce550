// What `parbench devices` prints of devices that have facts and links.
#include "bench/commands/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/scenarios/fake_device.h"
#include "tests/support/widest_line.h"

namespace parbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two devices that are joined, the first with many facts.
class FakeBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::vector<Component> components() const override {
    return {{"driver", "1.2"}, {"library", "none", "cannot be loaded: " + std::string(90, 'x')}};
  }
  [[nodiscard]] int device_count() const override { return 2; }
  [[nodiscard]] std::string description() const override { return "two fakes"; }
  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(const std::vector<DeviceNumber>& numbers,
                                                          const DeviceOptions&) override {
    std::vector<std::unique_ptr<Device>> devices;
    for (const DeviceNumber& number : numbers) {
      auto device = std::make_unique<test::FakeDevice>(number.device);
      if (number.device == 0) {
        for (int i = 0; i < 12; ++i) device->add_fact("fact", "number " + std::to_string(i));
        device->link = "NVLink 4.0 × 18";
      }
      devices.push_back(std::move(device));
    }
    return devices;
  }
};

std::string listing() {
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<FakeBackend>());
  return device_listing(Machine(std::move(backends)));
}

TEST(ScenarioListing, DescribesStrategiesInOneColumn) {
  const std::string text = scenario_listing(built_in_scenarios());
  for (const auto& scenario : built_in_scenarios()) {
    for (const Strategy& strategy : scenario->strategies()) {
      std::string row = "\n    " + strategy.name;
      row.resize(std::string("\n").size() + 23, ' ');
      EXPECT_THAT(text, HasSubstr(row + strategy.description.substr(0, 5))) << strategy.name;
    }
  }
  EXPECT_LE(test::widest_line(text), 80U) << text;
}

TEST(ScenarioListing, ShowsTheScenariosThatAreNamed) {
  const std::string text = scenario_listing(built_in_scenarios(), {"overlap"});
  EXPECT_THAT(text, AllOf(testing::StartsWith("overlap\n  How much"),
                          HasSubstr("\n    sequential         one after the other"),
                          HasSubstr("\n    --prefetch       matrices in flight"),
                          HasSubstr("only for\n                     strategy overlapped\n"),
                          HasSubstr("\n                     quick:     1,4\n"),
                          HasSubstr("\nAn axis is a parameter")));
  EXPECT_THAT(text, AllOf(HasSubstr("one of d2h, h2d"), Not(HasSubstr("pipeline"))));
}

TEST(ScenarioListing, ShowsTheModelsWithTheirSizes) {
  const std::string text = scenario_listing(built_in_scenarios(), {"models"});
  EXPECT_THAT(text, HasSubstr("\n  resnet50          --image=128\n"));
  EXPECT_THAT(text, HasSubstr("\n  mlp               --hidden="));
  EXPECT_THAT(text, AllOf(HasSubstr("FILE.onnx"), Not(HasSubstr("strategies"))));
  EXPECT_LE(test::widest_line(text), 80U) << text;
}

TEST(DeviceListing, HasTheFactsOfADeviceOnReadableLines) {
  const std::string text = listing();
  EXPECT_THAT(text, HasSubstr("\n      fact number 0, fact number 1, "));
  EXPECT_THAT(text, HasSubstr("fact number 11\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("xxx") != std::string::npos) continue;  // one word
    EXPECT_LE(test::widest_line(line), 80U) << line;
  }
}

TEST(DeviceListing, HasTheDetailsOfAComponentBelowIt) {
  EXPECT_THAT(listing(),
              HasSubstr("\n  driver 1.2\n  library none\n    cannot be loaded:\n    xxx"));
}

TEST(DeviceListing, SaysWhatJoinsDevicesOnceForAPair) {
  EXPECT_THAT(listing(), HasSubstr("\n    fake:0 to fake:1: NVLink 4.0 × 18\n"));
  EXPECT_THAT(listing(), Not(HasSubstr("fake:1 to")));
}

}  // namespace
}  // namespace parbench

// Names of grids, and all grids of a number of devices.
#include "scenarios/plan/schedules/device_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <tuple>

namespace parbench {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_of(int devices) {
  std::vector<std::string> names;
  for (const DeviceGrid& grid : grids_of(devices)) names.push_back(to_string(grid));
  return names;
}

TEST(DeviceGrid, HasANameWithoutFactorsOfOne) {
  EXPECT_EQ(to_string(DeviceGrid{}), "dp1");
  EXPECT_EQ(to_string(DeviceGrid{.replicas = 2, .stages = 1, .shards = 3}), "dp2xtp3");
  EXPECT_EQ(to_string(DeviceGrid{.replicas = 1, .stages = 4, .shards = 1}), "pp4");
}

TEST(DeviceGrid, IsReadInAnyOrder) {
  const DeviceGrid grid{.replicas = 2, .stages = 4, .shards = 3};
  EXPECT_EQ(grid_named("dp2xpp4xtp3"), grid);
  EXPECT_EQ(grid_named("tp3xdp2xpp4"), grid);
  EXPECT_EQ(grid_named("dp1xpp2xtp1"), grid_named("pp2"));
}

TEST(DeviceGrid, RefusesOtherText) {
  for (const char* text : {"", "x", "dp", "dp0", "dp-1", "dp2x", "xdp2", "dp2xdp2", "ep2", "dp2 ",
                           "2dp", "dp2,pp2", "dp1025"}) {
    EXPECT_THROW(static_cast<void>(grid_named(text)), std::invalid_argument) << text;
  }
}

TEST(DeviceGrid, GridsOfDevicesAreTheirFactorisations) {
  EXPECT_THAT(names_of(1), ElementsAre("dp1"));
  EXPECT_THAT(names_of(2), ElementsAre("dp2", "pp2", "tp2"));
  EXPECT_THAT(names_of(4), ElementsAre("dp4", "pp4", "tp4", "dp2xpp2", "dp2xtp2", "pp2xtp2"));
  EXPECT_EQ(grids_of(8).size(), 10);
  for (int devices = 1; devices <= 24; ++devices) {
    for (const DeviceGrid& grid : grids_of(devices)) {
      EXPECT_EQ(grid.devices(), devices);
      EXPECT_EQ(grid_named(to_string(grid)), grid);
    }
  }
}

TEST(DeviceGrid, EveryPlaceHasADeviceOfItsOwn) {
  const DeviceGrid grid{.replicas = 2, .stages = 3, .shards = 2};
  std::set<int> devices;
  for (int replica = 0; replica < 2; ++replica) {
    for (int stage = 0; stage < 3; ++stage) {
      for (int shard = 0; shard < 2; ++shard) devices.insert(grid.device(replica, stage, shard));
    }
  }
  EXPECT_EQ(devices.size(), 12);
  EXPECT_EQ(*devices.begin(), 0);
  EXPECT_EQ(*devices.rbegin(), 11);
  EXPECT_EQ(grid.device(0, 0, 1), 1) << "shards exchange most and are neighbours";
}

}  // namespace
}  // namespace parbench

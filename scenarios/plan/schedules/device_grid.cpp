// Names of grids, and factorisations of a number of devices.
#include "scenarios/plan/schedules/device_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>

namespace parbench {
namespace {

struct Factor {
  std::string_view name;
  int DeviceGrid::*member;
};
constexpr std::array<Factor, 3> factors{
    {{"dp", &DeviceGrid::replicas}, {"pp", &DeviceGrid::stages}, {"tp", &DeviceGrid::shards}}};

constexpr int max_factor = 1024;

int divided_dimensions(const DeviceGrid& grid) {
  return static_cast<int>(std::ranges::count_if(
      factors, [&](const Factor& factor) { return grid.*factor.member > 1; }));
}

/// Returns the number in `digits` if it is from 1 to `max_factor`; 0 for other text.
int number_in(std::string_view digits) {
  int number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || number > max_factor) return 0;
    number = 10 * number + (digit - '0');
  }
  return number <= max_factor ? number : 0;
}

}  // namespace

std::vector<int> devices_of_stages(const DeviceGrid& grid) {
  std::vector<int> devices;
  for (int stage = 0; stage < grid.stages; ++stage) devices.push_back(grid.device(0, stage, 0));
  return devices;
}

std::string to_string(const DeviceGrid& grid) {
  std::string text;
  for (const Factor& factor : factors) {
    const int count = grid.*factor.member;
    if (count > 1) text += fmt::format("{}{}{}", text.empty() ? "" : "x", factor.name, count);
  }
  return text.empty() ? "dp1" : text;
}

DeviceGrid grid_named(std::string_view text) {
  DeviceGrid grid;
  std::vector<std::string_view> known;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const auto factor = std::ranges::find(factors, one.substr(0, 2), &Factor::name);
    const int count = one.size() > 2 ? number_in(one.substr(2)) : 0;
    const bool is_new =
        factor != factors.end() && std::ranges::find(known, factor->name) == known.end();
    if (!is_new || count < 1) {
      throw std::invalid_argument(fmt::format("'{}' is not a grid of devices", text));
    }
    known.push_back(factor->name);
    grid.*(factor->member) = count;
    begin = end + 1;
  }
  return grid;
}

std::vector<DeviceGrid> grids_of(int devices) {
  std::vector<DeviceGrid> all;
  for (int replicas = 1; replicas <= devices; ++replicas) {
    for (int stages = 1; devices % replicas == 0 && stages <= devices / replicas; ++stages) {
      if (devices / replicas % stages != 0) continue;
      all.push_back(
          {.replicas = replicas, .stages = stages, .shards = devices / replicas / stages});
    }
  }
  std::ranges::stable_sort(all, {}, [](const DeviceGrid& one) {
    return std::tuple(divided_dimensions(one), -one.replicas, -one.stages);
  });
  return all;
}

}  // namespace parbench

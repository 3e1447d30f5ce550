// Which GPU falls to each rank.
#include "bench/ranks/unit_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace parbench {
namespace {

using testing::ElementsAre;
using Visible = std::vector<std::vector<std::string>>;

std::vector<UnitShare> shares_of(const Visible& visible) {
  std::vector<UnitShare> shares;
  for (int rank = 0; rank < static_cast<int>(visible.size()); ++rank) {
    shares.push_back(unit_share(visible, rank).value_or(UnitShare{.number = -1}));
  }
  return shares;
}

TEST(UnitShare, RanksThatSeeAllUnitsTakeThemInTurn) {
  const std::vector<std::string> one{"a", "b"};
  const std::vector<std::string> other{"c", "d"};
  EXPECT_THAT(
      shares_of({one, one, other, other}),
      ElementsAre(UnitShare{0, 0, 1}, UnitShare{1, 0, 1}, UnitShare{0, 0, 1}, UnitShare{1, 0, 1}));
}

TEST(UnitShare, ALauncherMayShowEachRankItsOwnUnit) {
  EXPECT_THAT(shares_of({{"a"}, {"b"}}), ElementsAre(UnitShare{0, 0, 1}, UnitShare{0, 0, 1}));
}

TEST(UnitShare, MoreRanksThanUnitsShareThem) {
  EXPECT_THAT(shares_of({{"a", "b"}, {"a", "b"}, {"a", "b"}}),
              ElementsAre(UnitShare{0, 0, 2}, UnitShare{1, 0, 1}, UnitShare{0, 1, 2}));
}

TEST(UnitShare, ARankThatSeesNoneHasNone) {
  EXPECT_FALSE(unit_share({{}, {"a"}}, 0));
  EXPECT_EQ(unit_share({{}, {"a"}}, 1), (UnitShare{0, 0, 1}));
}

}  // namespace
}  // namespace parbench

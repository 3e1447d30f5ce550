// Which cases cannot be distinguished from the fastest.
#include "reports/statistics/fastest.h"

#include <gmock/gmock.h>

namespace parbench {
namespace {

using ::testing::ElementsAre;

std::vector<report::Sample> in_rounds(const std::vector<double>& seconds) {
  std::vector<report::Sample> samples;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    samples.push_back({.seconds = seconds[i], .round = static_cast<int>(i)});
  }
  return samples;
}

TEST(PossiblyFastest, LeavesOutWhatIsSlowerInEveryRound) {
  const auto fast = in_rounds({1.00, 2.00, 3.00, 1.50, 1.20, 1.10});
  const auto like = in_rounds({1.01, 1.99, 2.98, 1.52, 1.19, 1.11});
  const auto slow = in_rounds({1.10, 2.21, 3.29, 1.66, 1.31, 1.22});
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{slow, fast, like}), ElementsAre(1, 2))
      << "the machine's own drift is three times larger than the difference";
}

TEST(PossiblyFastest, KeepsAllWithoutEvidence) {
  const auto one = in_rounds({1.0});
  const auto other = in_rounds({9.0});
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{one, other}), ElementsAre(0, 1));
  const auto late =
      std::vector<report::Sample>{{.seconds = 9, .round = 7}, {.seconds = 9, .round = 8}};
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{in_rounds({1, 1}), late}), ElementsAre(0, 1));
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{one}), ElementsAre(0));
}

TEST(PossiblyFastest, DividesTheSignificanceAmongTheOthers) {
  // A one-sided p-value of 0.020 by the t-test, 0.0625 by the sign test.
  const auto base = in_rounds({1, 1, 1, 1});
  const auto slower = in_rounds({1.01, 1.03, 1.05, 1.06});
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{base, slower}), ElementsAre(0));
  const auto again = in_rounds({1.5, 1.5, 1.5, 1.5});
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{base, slower, again}), ElementsAre(0, 1));
}

TEST(PossiblyFastest, KeepsWhatIsFasterInMostRounds) {
  std::vector<double> now_and_then;
  for (int round = 0; round < 20; ++round) {
    now_and_then.push_back((round % 10 < 3 ? 2.0 : 1.0) + 1e-3 * round);
  }
  const auto bursts = in_rounds(now_and_then);
  const auto steady = in_rounds(std::vector<double>(20, 1.1));
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{bursts, steady}), ElementsAre(0, 1));
}

TEST(PossiblyFastest, KeepsAllWhereEachIsSlowerThanAnother) {
  const auto in = [](int first, double seconds, int second, double other_seconds) {
    return std::vector<report::Sample>{{.seconds = seconds, .round = first},
                                       {.seconds = seconds, .round = first + 1},
                                       {.seconds = other_seconds, .round = second},
                                       {.seconds = other_seconds, .round = second + 1}};
  };
  // Each shares two rounds with each other one.
  const auto a = in(0, 1, 4, 2);
  const auto b = in(0, 2, 2, 1);
  const auto c = in(2, 2, 4, 1);
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{a, b, c}), ElementsAre(0, 1, 2));
}

TEST(PossiblyFastest, TakesProcessesForIndependent) {
  const auto of_processes = [](double first, double second) {
    std::vector<report::Sample> samples;
    for (int round = 0; round < 20; ++round) {
      const int process = round / 10;
      const double noise = 1e-3 * (round % 10);
      samples.push_back(
          {.seconds = (process == 0 ? first : second) + noise, .round = round, .process = process});
    }
    return samples;
  };
  const auto base = of_processes(1.0, 1.0);
  const auto unlike = of_processes(1.3, 1.01);
  EXPECT_THAT(possibly_fastest(std::vector<Samples>{base, unlike}), ElementsAre(0, 1))
      << "twenty rounds are two processes";
}

TEST(PossiblyFastest, DropsEqualTimesWithoutNoise) {
  EXPECT_THAT(possibly_fastest(
                  std::vector<Samples>{in_rounds({1, 1}), in_rounds({1, 1}), in_rounds({2, 2})}),
              ElementsAre(0, 1));
}

}  // namespace
}  // namespace parbench

// Values that ranks exchange as bytes.
#include "bench/ranks/payload.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"

namespace parbench::test {
namespace {

using Values = std::pair<std::vector<std::string>, double>;

TEST(Payload, RestoresWhatWasPacked) {
  const Values values{{"conv1", "", "fc"}, 0.25};
  EXPECT_EQ(unpacked<Values>(packed(values)), values);
}

TEST(Payload, RefusesEveryTruncation) {
  const std::string bytes = packed(Values{{"conv1", "fc"}, 0.25});
  for (std::size_t count = 0; count < bytes.size(); ++count) {
    EXPECT_THROW((void)unpacked<Values>(bytes.substr(0, count)), Error) << count;
  }
}

}  // namespace
}  // namespace parbench::test

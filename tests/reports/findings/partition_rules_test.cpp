// Rules about where a model is cut into stages.
#include <gmock/gmock.h>

#include "reports/findings/rules.h"
#include "tests/reports/findings/made_case.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Rules, NameTheOnlyPlaceWhereAModelCanBeCut) {
  const auto divided = [] {
    return MadeCase("a", 10, {{.compute = 6}, {.compute = 9}})
        .streams(2, 15)
        .parameter("cut", "published");
  };
  const MadeCase forced = divided().note("only cut", "head");
  EXPECT_THAT(text("only-cut", {forced}),
              AllOf(HasSubstr("the model can only be cut at head, so that 2 stages have no other "
                              "partition"),
                    HasSubstr("try: data parallelism")));
  EXPECT_THAT(text("only-cut", {divided().note("only cut", "h.0+head")}),
              HasSubstr("at h.0+head, so that 3 stages"));
  EXPECT_THAT(found("only-cut", {divided()}), IsEmpty());
  EXPECT_THAT(text("unbalanced", {divided()}), HasSubstr("--cut even"));
  EXPECT_THAT(text("unbalanced", {forced}), AllOf(HasSubstr("20%"), Not(HasSubstr("--cut"))));
}

}  // namespace
}  // namespace parbench::report

// Names of benchmarks as strategies with parameters.
#include "reports/io/foreign/benchmark_name.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace parbench::report {
namespace {

TEST(BenchmarkName, IsAFamilyWithArguments) {
  const auto is = [](const std::string& name, const std::string& family,
                     const NamedValues& parameters) {
    const BenchmarkName divided = benchmark_name(name);
    EXPECT_EQ(divided.family, family) << name;
    EXPECT_EQ(divided.parameters, parameters) << name;
  };
  using Whole = std::int64_t;
  is("BM_copy", "BM_copy", {});
  is("BM_copy/8/-1", "BM_copy", {{"arg0", Whole{8}}, {"arg1", Whole{-1}}});
  is("BM_copy/n:1024/8", "BM_copy", {{"n", Whole{1024}}, {"arg1", Whole{8}}});
  is("Fixture/Method/8", "Fixture/Method", {{"arg0", Whole{8}}});
  is("BM_copy/8/min_time:0.500/threads:2/real_time", "BM_copy",
     {{"arg0", Whole{8}},
      {"min_time", std::string("0.500")},
      {"threads", Whole{2}},
      {"time", std::string("real_time")}});
  is("BM_sort<std::vector<int>>/8", "BM_sort<std::vector<int>>", {{"arg0", Whole{8}}});
  is("suite/ns::test", "suite/ns::test", {});
}

TEST(BenchmarkName, StaysWholeWhereItHasAnotherForm) {
  for (const std::string name :
       {"BM/8/more", "BM/n:1/n:2", "BM/08/x", "", "BM/8/", "BM/process_time/real_time"}) {
    EXPECT_EQ(benchmark_name(name).family, name);
    EXPECT_TRUE(benchmark_name(name).parameters.empty()) << name;
  }
  EXPECT_EQ(benchmark_name("BM/08").family, "BM/08");
  EXPECT_EQ(benchmark_name("/8").family, "");
}

}  // namespace
}  // namespace parbench::report

// The real binary: peaks that a command measured stand in the report of the next run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/io/file.h"
#include "reports/model/peaks.h"
#include "tests/cli/waiting.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class PeaksProcess : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, surroundings_);
  }

  /// A run of a few small products on one device, and its report.
  [[nodiscard]] report::Report measured() {
    last_ =
        parbench({"--scenario", "matmul", "--devices", "cpu:0", "--strategy", "alone", "--n", "64",
                  "--count", "2", "--report", "report.json", "--benchmark_repetitions=2"});
    EXPECT_EQ(last_.exit_code, 0) << last_.err;
    return report::read_report(folder_ / "report.json");
  }

  TemporaryFolder folder_;
  Surroundings surroundings_{folder_.path(),
                             {{"PARBENCH_HOME", folder_.path().string()},
                              {"PARBENCH_CACHE", (folder_ / "cache").string()}}};
  Finished last_;
};

TEST_F(PeaksProcess, StandInTheReportOfTheNextRun) {
  EXPECT_THAT(measured().devices, Each(Field(&report::Device::peaks, IsEmpty())))
      << "nothing is measured unless it is asked for";
  EXPECT_THAT(parbench({"show", "report.json", "--calls"}).out, Not(HasSubstr("of peak")));

  const Finished peaks =
      parbench({"peaks", "--devices", "cpu:0", "--dtype", "f32", "--precision", "1000"});
  ASSERT_EQ(peaks.exit_code, 0) << peaks.err;
  EXPECT_THAT(peaks.err, HasSubstr("parbench: measuring"));
  EXPECT_THAT(peaks.out, AllOf(ContainsRegex("gemm f32 +[0-9.]+ .?FLOP/s"), HasSubstr("kept in")));
  const Finished again =
      parbench({"peaks", "--devices", "cpu:0", "--dtype", "f32", "--precision", "1000"});
  EXPECT_EQ(again.out, peaks.out);
  EXPECT_THAT(again.err, IsEmpty());

  for (const report::Device& device : measured().devices) {
    std::vector<std::string> names;
    for (const report::Peak& peak : device.peaks) {
      names.push_back(peak.what);
      EXPECT_THAT(peaks.out, ContainsRegex(peak.what + " +" + report::rate_text(peak)));
    }
    EXPECT_THAT(names, UnorderedElementsAre("gemm f32", "memory", "copy")) << device.name;
  }
  EXPECT_THAT(parbench({"show", "report.json", "--calls", "--width", "120"}).out,
              AllOf(ContainsRegex("gemm .* 2 +[0-9.]+ (m|µ)?s "), HasSubstr("of peak")));
}

TEST_F(PeaksProcess, ThatAreNotKeptOrDamagedAreLeftOut) {
  const Finished peaks =
      parbench({"peaks", "--devices", "cpu:0", "--dtype", "f32", "--precision", "1000"});
  ASSERT_EQ(peaks.exit_code, 0) << peaks.err;
  const Finished refused = parbench(
      {"peaks", "--devices", "cpu:0", "--dtype", "f32", "--refresh", "--precision", "0.01"});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.out, AllOf(HasSubstr("! not stored: gemm f32"), ContainsRegex("\ngemm f32 ")))
      << "the old rate stays";
  EXPECT_THAT(refused.err,
              ContainsRegex("[12] rates? (was|were) not stored; see the table for the reason"));
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache" / "peaks")) {
    report::write_file(file.path(), "{}");
  }
  EXPECT_THAT(measured().devices, Each(Field(&report::Device::peaks, IsEmpty())));
  EXPECT_THAT(last_.err, HasSubstr("\"peaks_version\" is missing"));
}

TEST_F(PeaksProcess, SayAfterAnInterruptWhatWasKept) {
  Process process(
      {PARBENCH_BINARY, "peaks", "--devices", "cpu:0", "--dtype", "f32", "--precision", "1000"},
      surroundings_);
  const std::filesystem::path cache = folder_ / "cache" / "peaks";
  ASSERT_TRUE(wait_until(process, [&] {
    if (!std::filesystem::exists(cache)) return false;
    const std::filesystem::directory_iterator files(cache);
    return std::any_of(begin(files), end(files),
                       [](const auto& file) { return file.path().extension() == ".json"; });
  }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.out, AllOf(ContainsRegex("gemm f32 +[0-9.]+ .?FLOP/s"),
                                  HasSubstr("kept in " + cache.string())));
  EXPECT_THAT(finished.err, ContainsRegex("interrupted: [12] of 3 peaks measured and stored"));
}

TEST_F(PeaksProcess, RefuseWhatIsNotThere) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"peaks", "--devices", "tpu:0"},
        {"peaks", "--devices", "cpu:100000"},
        {"peaks", "--dtype", "tf64"},
        {"peaks", "--quiet"}}) {
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << words.back();
    EXPECT_THAT(finished.err, AllOf(StartsWith("parbench: error: "), HasSubstr(words.back())));
  }
}

TEST_F(PeaksProcess, NeedAFolder) {
  surroundings_.environment = {{"PARBENCH_CACHE", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}};
  const Finished finished = parbench({"peaks"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("set PARBENCH_CACHE"));
}

}  // namespace
}  // namespace parbench::test

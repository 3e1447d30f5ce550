// The command `peaks` on real cores, with products and copies so small that they take no time.
#include "bench/commands/peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/estimates/peak_objection.h"
#include "kernels/base/error.h"
#include "reports/model/fingerprint.h"
#include "reports/model/machine_info.h"
#include "reports/model/peaks.h"
#include "scenarios/framework/scenario.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/temporary_folder.h"

namespace parbench {
namespace {

using report::Peak;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

const PeakSizes tiny{.min_n = 16,
                     .max_n = 64,
                     .longest_product = 1e9,
                     .copied_bytes = 1 << 20,
                     .sample_seconds = 0,
                     .samples = 6};

PeakOptions options_of(const std::string& devices) {
  PeakOptions options;
  options.devices = devices;
  options.precision_percent = 1e9;  // so small sizes give noise
  return options;
}

/// The command with a cache of its own.
class PeaksCommand : public ::testing::Test {
 protected:
  std::string show(const PeakOptions& options) { return survey(options, tiny).text; }

  PeakSurvey survey(const PeakOptions& options, const PeakSizes& sizes) {
    notes_.clear();
    return survey_peaks(options, built_in_scenarios(), machine_, cache_, sizes,
                        [this](const std::string& text) { notes_.push_back(text); });
  }

  /// cpu:0 when it is alone and has so many cores.
  [[nodiscard]] report::Fingerprint cpu_of_cores(std::size_t cores) const {
    report::Device device;
    const auto devices = test::cpu_devices(1, machine_);
    const DeviceInfo& info = devices.front()->info();
    device.backend = info.backend;
    device.model = info.model;
    device.cores = info.cores;
    device.cores.resize(std::min(cores, device.cores.size()));
    return report::fingerprint(report::machine_info({}), device);
  }

  [[nodiscard]] std::size_t cores() const {
    return test::cpu_devices(1, machine_).front()->info().cores.size();
  }

  [[nodiscard]] report::Fingerprint cpu() const { return cpu_of_cores(cores()); }

  /// Replaces what the cache has of cpu:0 by a rate that nothing can measure.
  void plant(const std::string& what) {
    cache_.check_writable(cpu());
    cache_.keep(cpu(), {{what, planted, "FLOP/s", {}, "2001-01-01T00:00:00Z"}});
  }

  [[nodiscard]] Peak known(std::string_view what) const {
    const std::vector<Peak> peaks = cache_.find(cpu());
    const Peak* peak = report::find_peak(peaks, what);
    return peak == nullptr ? Peak{} : *peak;
  }

  static constexpr double planted = 1e24;
  Machine machine_;
  test::TemporaryFolder folder_;
  report::PeakCache cache_{folder_ / "peaks"};
  std::vector<std::string> notes_;
};

TEST_F(PeaksCommand, MeasuresAndKeepsWhatIsNotKnown) {
  const std::string text = show(options_of("cpu:0"));
  EXPECT_THAT(text, AllOf(HasSubstr("gemm f32"), HasSubstr("memory"), HasSubstr("copy"),
                          HasSubstr("kept in " + cache_.folder().string())));
  EXPECT_THAT(notes_, Contains(HasSubstr("measuring")));
  const std::vector<Peak> peaks = cache_.find(cpu());
  EXPECT_THAT(peaks, AllOf(SizeIs(Ge(3U)), Each(Field(&Peak::value, Gt(0)))));
  for (const Peak& peak : peaks) {
    ASSERT_TRUE(peak.interval.has_value()) << peak.what;
    EXPECT_THAT(peak.interval->low, Le(peak.value));
    EXPECT_THAT(peak.interval->high, Ge(peak.value));
    EXPECT_GE(peak.interval->confidence, 0.95) << peak.what;
    EXPECT_EQ(peak.unit, peak.what.starts_with("gemm") ? "FLOP/s" : "B/s") << peak.what;
    EXPECT_THAT(text, HasSubstr(rate_text(peak))) << peak.what;
  }
}

TEST_F(PeaksCommand, ShowsWhatIsKnownWithoutMeasuring) {
  const std::string text = show(options_of("cpu:0"));
  EXPECT_EQ(show(options_of("cpu:0")), text);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(PeaksCommand, MeasuresOnlyWhatIsMissing) {
  plant("gemm f32");
  static_cast<void>(show(options_of("cpu:0")));
  EXPECT_EQ(known("gemm f32").value, planted);
  EXPECT_EQ(known("memory").unit, "B/s");
}

TEST_F(PeaksCommand, RefreshMeasuresAnew) {
  plant("gemm f32");
  PeakOptions options = options_of("cpu:0");
  options.refresh = true;
  static_cast<void>(show(options));
  EXPECT_LT(known("gemm f32").value, planted);
  EXPECT_GT(known("gemm f32").measured_utc, "2026");
}

TEST_F(PeaksCommand, DoesNotKeepWhatIsTooWide) {
  PeakOptions options = options_of("cpu:0");
  options.precision_percent = 0;
  const PeakSurvey refused = survey(options, tiny);
  EXPECT_THAT(refused.text,
              AllOf(HasSubstr("! not kept: gemm f32 "), HasSubstr("! not kept: memory "),
                    HasSubstr("is wider than ± 0%")));
  EXPECT_GE(refused.refused, 3U);
  EXPECT_THAT(cache_.find(cpu()), IsEmpty());
  EXPECT_EQ(survey(options_of("cpu:0"), tiny).refused, 0U);
}

TEST_F(PeaksCommand, DoesNotKeepWhatIsSlowerThanFewerCores) {
  if (cores() < 2) GTEST_SKIP() << "one core: there are no fewer to compare with";
  cache_.check_writable(cpu_of_cores(1));
  cache_.keep(cpu_of_cores(1),
              {{"gemm f32", planted, "FLOP/s",
                report::Interval{0.99 * planted, 1.01 * planted, 0.96}, "2001-01-01T00:00:00Z"}});
  EXPECT_THAT(show(options_of("cpu:0")), HasSubstr("! not kept: gemm f32 "));
  EXPECT_EQ(known("gemm f32").value, 0);
  EXPECT_GT(known("memory").value, 0);
}

TEST_F(PeaksCommand, NamesADamagedFileOfOtherCoresOnce) {
  if (cores() < 2) GTEST_SKIP() << "one core: there are no others to compare with";
  cache_.check_writable(cpu_of_cores(1));
  folder_.write("peaks/" + cache_.file_of(cpu_of_cores(1)).filename().string(), "{");
  EXPECT_THAT(show(options_of("cpu:0")), HasSubstr("gemm f32"));
  const auto is_about_others = [](const std::string& note) {
    return note.find("is not compared") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(notes_, is_about_others), 1);
  EXPECT_THAT(notes_, Contains(AllOf(HasSubstr(cache_.file_of(cpu_of_cores(1)).string()),
                                     HasSubstr("is not compared"))));
}

TEST_F(PeaksCommand, KeepsWhatWasMeasuredBeforeAnInterrupt) {
  PeakSizes sizes = tiny;
  sizes.interrupted = [this] { return known("gemm f32").value > 0; };
  const PeakSurvey interrupted = survey(options_of("cpu:0"), sizes);
  EXPECT_TRUE(interrupted.interrupted);
  EXPECT_THAT(interrupted.text, AllOf(HasSubstr("gemm f32"), Not(HasSubstr("\nmemory  ")),
                                      HasSubstr("kept in " + cache_.folder().string())));
  EXPECT_THAT(notes_, Contains(HasSubstr("interrupted: 1 of ")));
  EXPECT_THAT(cache_.find(cpu()), SizeIs(1));
  EXPECT_FALSE(survey(options_of("cpu:0"), tiny).interrupted);
  EXPECT_GT(known("memory").value, 0);
}

TEST_F(PeaksCommand, KeepsAnOldRateWhereTheNewOneIsTooWide) {
  plant("gemm f32");
  PeakOptions options = options_of("cpu:0");
  options.precision_percent = 0;
  options.refresh = true;
  static_cast<void>(show(options));
  EXPECT_EQ(known("gemm f32").value, planted);
}

TEST(PeakObjection, IsThatFewerCoresAreFaster) {
  const auto peak = [](const std::string& what, double rate) {
    return Peak{what, rate, "FLOP/s", report::Interval{0.99 * rate, 1.01 * rate, 0.96}, ""};
  };
  const std::vector<PeaksOfCores> others{{1, {peak("gemm f32", 1e9), peak("copy", 1e9)}},
                                         {4, {peak("memory", 1e9)}}};
  EXPECT_EQ(objection_to(peak("gemm f32", 0.8e9), 2, 0.1, others),
            "2 cores cannot be slower than 1 core, which reached 1.00 GFLOP/s");
  EXPECT_EQ(objection_to(peak("gemm f32", 0.99e9), 2, 0.02, others), "") << "the intervals meet";
  EXPECT_EQ(objection_to(peak("gemm f32", 0.92e9), 2, 0.1, others), "") << "within the precision";
  EXPECT_EQ(objection_to(peak("gemm bf16", 0.5e9), 2, 0.1, others), "") << "of another format";
  EXPECT_EQ(objection_to(peak("copy", 0.5e9), 2, 0.1, others), "") << "one lane copies";
  EXPECT_EQ(objection_to(peak("memory", 0.5e9), 2, 0.1, others), "") << "more cores are known";
  EXPECT_THAT(objection_to(peak("gemm f32", 2e9), 2, 0.001, others), HasSubstr("wider than ± 0%"));
  EXPECT_EQ(objection_to(peak("gemm f32", 2e9), 2, 0.1, others, 0.4),
            "a CPU quota withheld 40% of the CPU time");
  EXPECT_EQ(objection_to(peak("gemm f32", 2e9), 2, 0.1, others, 0.009), "");
  EXPECT_EQ(objection_to(peak("gemm f32", 2e9), 2, 0.05, others, 0, 0.47),
            "other programs took 47% of the CPU time");
  EXPECT_EQ(objection_to(peak("gemm f32", 2e9), 2, 0.05, others, 0, 0.09), "");
  EXPECT_EQ(objection_to(peak("gemm f32", 2e9), 2, 0.5, others, 0, 0.47), "")
      << "within the precision";
}

TEST_F(PeaksCommand, OfOneFormatLeavesTheOthers) {
  plant("memory");
  PeakOptions first = options_of("cpu:0");
  first.format = NumberFormat{};
  first.refresh = true;
  static_cast<void>(show(first));
  EXPECT_EQ(known("memory").value, planted) << "it does not depend on the format";
  plant("gemm bf16");
  PeakOptions options = options_of("cpu:0");
  options.format = NumberFormat{};
  options.refresh = true;
  static_cast<void>(show(options));
  EXPECT_EQ(known("gemm bf16").value, planted);
  EXPECT_GT(known("gemm f32").value, 0);
}

TEST_F(PeaksCommand, NamesADamagedFileAndMeasuresAnew) {
  plant("gemm f32");
  folder_.write("peaks/" + cache_.file_of(cpu()).filename().string(), "{");
  static_cast<void>(show(options_of("cpu:0")));
  EXPECT_THAT(notes_, Contains(AllOf(HasSubstr(cache_.file_of(cpu()).string()),
                                     HasSubstr("measured anew"))));
  EXPECT_GT(known("gemm f32").value, 0);
}

TEST_F(PeaksCommand, RefusesDevicesThatAreNotThere) {
  EXPECT_THROW(static_cast<void>(show(options_of("cpu:100000"))), UsageError);
  EXPECT_THROW(static_cast<void>(show(options_of("tpu:0"))), UsageError);
  EXPECT_FALSE(std::filesystem::exists(cache_.folder()));
}

TEST_F(PeaksCommand, RefusesAFormatThatTheDeviceDoesNotCompute) {
  PeakOptions options = options_of("cpu:0");
  options.format = number_format_named("tf32");
  EXPECT_THROW(static_cast<void>(show(options)), UsageError);
}

TEST_F(PeaksCommand, RefusesACacheThatCannotBeWrittenBeforeMeasuring) {
  cache_ = report::PeakCache(folder_.write("file", "") / "peaks");
  EXPECT_THROW(static_cast<void>(show(options_of("cpu:0"))), UsageError);
  EXPECT_THAT(notes_, Each(Not(HasSubstr("measuring"))));
}

}  // namespace
}  // namespace parbench

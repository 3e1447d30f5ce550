// The command `peaks` on real cores, with products and copies so small that they take no time.
#include "bench/commands/peaks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/estimates/peak_objection.h"
#include "kernels/base/error.h"
#include "reports/model/fingerprint.h"
#include "reports/model/machine_info.h"
#include "reports/model/peaks.h"
#include "scenarios/framework/scenario.h"
#include "tests/scenarios/fake_device.h"
#include "tests/support/control_groups.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/temporary_folder.h"

namespace parbench {
namespace {

using report::Peak;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

const PeakSizes tiny_sizes{.min_n = 16,
                           .max_n = 64,
                           .longest_product = 1e9,
                           .copied_bytes = 1 << 20,
                           .sample_seconds = 0,
                           .samples = 6};

PeakOptions options_of(const std::string& devices) {
  PeakOptions options;
  options.devices = devices;
  options.precision_percent = 1e9;  // so small sizes give noise
  options.width = 1000;             // no sentence is broken
  return options;
}

/// The command with a cache of its own.
class PeaksCommand : public ::testing::Test {
 protected:
  std::string show(const PeakOptions& options) { return survey(options, tiny_sizes).text; }

  PeakSurvey survey(const PeakOptions& options, const PeakSizes& sizes) {
    notes_.clear();
    return survey_peaks(
        options, built_in_scenarios(), machine_, cache_, sizes,
        [this](const std::string& text) { notes_.push_back(text); }, made_.root());
  }

  /// Writes that the machine's cores were busy for this time since it was started.
  void set_busy(double seconds) const {
    const double ticks = seconds * static_cast<double>(sysconf(_SC_CLK_TCK));
    std::string text = "cpu  0 0 0 0\n";
    for (const int core : report::cores_allowed()) {
      text += fmt::format("cpu{} {:.0f} 0 0 0 0 0 0 0 0 0\n", core, ticks);
    }
    made_.write("proc/stat", text);
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

  /// A product of each format that the processor computes, and what it reads and copies.
  [[nodiscard]] std::vector<std::string> peaks_of_cpu() const {
    std::vector<std::string> names;
    const auto devices = test::cpu_devices(1, machine_);
    for (const std::string& name : number_format_names()) {
      const NumberFormat format = *number_format_named(name);
      try {
        static_cast<void>(devices.front()->prepare(
            Gemm{.m = 16, .n = 16, .k = 16, .dtype = format.dtype, .math = format.math}, 1));
        names.push_back("gemm " + name);
      } catch (const Unsupported&) {
        continue;
      }
    }
    names.insert(names.end(), {"memory", "copy"});
    return names;
  }

  /// Scenarios that copy beside computing leave a core to the copies, where there are several.
  [[nodiscard]] std::size_t kinds_of_cpu() const { return cores() > 1 ? 2 : 1; }

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
  test::MadeControlGroups made_;  // what shows other programs and quotas; none at first
  report::PeakCache cache_{folder_ / "peaks"};
  std::vector<std::string> notes_;
};

TEST_F(PeaksCommand, MeasuresAndKeepsWhatIsNotKnown) {
  const std::string text = show(options_of("cpu:0"));
  EXPECT_THAT(text, HasSubstr("kept in " + cache_.folder().string()));
  const std::vector<Peak> peaks = cache_.find(cpu());
  std::vector<std::string> names;
  for (const Peak& peak : peaks) names.push_back(peak.what);
  EXPECT_EQ(names, peaks_of_cpu());
  ASSERT_THAT(notes_, SizeIs(kinds_of_cpu()));
  EXPECT_EQ(notes_[0],
            fmt::format("measuring {} peaks of {}", names.size(), report::to_text(cpu())));
  for (const Peak& peak : peaks) {
    EXPECT_GT(peak.value, 0) << peak.what;
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
  const PeakSurvey refused = survey(options, tiny_sizes);
  for (const std::string& name : peaks_of_cpu()) {
    EXPECT_THAT(refused.text, HasSubstr("! not stored: " + name + " "));
  }
  EXPECT_THAT(refused.text, HasSubstr("is wider than ± 0%"));
  EXPECT_EQ(refused.refused, kinds_of_cpu() * peaks_of_cpu().size());
  EXPECT_THAT(cache_.find(cpu()), IsEmpty());
  EXPECT_EQ(survey(options_of("cpu:0"), tiny_sizes).refused, 0U);
}

TEST_F(PeaksCommand, DoesNotKeepWhatIsSlowerThanFewerCores) {
  if (cores() < 2) GTEST_SKIP() << "one core: there are no fewer to compare with";
  cache_.check_writable(cpu_of_cores(1));
  cache_.keep(cpu_of_cores(1),
              {{"gemm f32", planted, "FLOP/s", Interval{0.99 * planted, 1.01 * planted, 0.96},
                "2001-01-01T00:00:00Z"}});
  EXPECT_THAT(show(options_of("cpu:0")), HasSubstr("! not stored: gemm f32 "));
  EXPECT_EQ(known("gemm f32").value, 0);
  EXPECT_GT(known("memory").value, 0);
}

TEST_F(PeaksCommand, NamesADamagedFileOfOtherCoresOnce) {
  if (cores() < 2) GTEST_SKIP() << "one core: there are no others to compare with";
  cache_.check_writable(cpu_of_cores(1));
  folder_.write("peaks/" + cache_.file_of(cpu_of_cores(1)).filename().string(), "{");
  EXPECT_THAT(show(options_of("cpu:0")), HasSubstr("gemm f32"));
  const auto is_about_others = [](const std::string& note) {
    return note.find("are not compared") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(notes_, is_about_others), 1);
  EXPECT_THAT(notes_, Contains(AllOf(HasSubstr(cache_.file_of(cpu_of_cores(1)).string()),
                                     HasSubstr("are not compared"))));
}

TEST_F(PeaksCommand, KeepsWhatWasMeasuredBeforeAnInterrupt) {
  PeakSizes sizes = tiny_sizes;
  sizes.interrupted = [this] { return known("gemm f32").value > 0; };
  const PeakSurvey interrupted = survey(options_of("cpu:0"), sizes);
  EXPECT_TRUE(interrupted.interrupted);
  EXPECT_THAT(interrupted.text, AllOf(HasSubstr("gemm f32"), Not(HasSubstr("\nmemory  ")),
                                      HasSubstr("kept in " + cache_.folder().string())));
  EXPECT_THAT(
      notes_,
      Contains(fmt::format(
          "interrupted: 1 of {} peaks measured and stored; the same command measures the rest",
          peaks_of_cpu().size())));
  EXPECT_THAT(cache_.find(cpu()), SizeIs(1));
  EXPECT_FALSE(survey(options_of("cpu:0"), tiny_sizes).interrupted);
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

/// Other programs and quotas, as the system shows them, change with each execution, so that nothing
/// depends on how long it takes.
TEST_F(PeaksCommand, DoesNotKeepWhatWasMeasuredBesideOtherPrograms) {
  constexpr double much = 1e15;  // seconds of cores, a large share of any time
  set_busy(0);
  PeakSizes sizes = tiny_sizes;
  int executions = 0;
  sizes.interrupted = [&executions] { return ++executions == 0; };
  PeakOptions options = options_of("cpu:0");
  options.refresh = true;
  EXPECT_EQ(survey(options, sizes).refused, 0U);
  const int quiet = std::exchange(executions, 0);
  const std::vector<Peak> kept = cache_.find(cpu());

  sizes.interrupted = [&] {
    set_busy(much * ++executions);
    return false;
  };
  const PeakSurvey refused = survey(options, sizes);
  EXPECT_EQ(refused.refused, kinds_of_cpu() * peaks_of_cpu().size());
  EXPECT_THAT(refused.text, HasSubstr("other programs took"));
  EXPECT_EQ(executions, 3 * quiet) << "three attempts";
  EXPECT_EQ(cache_.find(cpu()), kept);

  executions = 0;
  sizes.interrupted = [&] {
    if (++executions == 1) set_busy(2 * much * quiet);
    return false;
  };
  set_busy(0);
  EXPECT_EQ(survey(options, sizes).refused, 0U);
  EXPECT_EQ(executions, quiet + 3 * (3 + tiny_sizes.samples)) << "the products of f32 again";
}

TEST_F(PeaksCommand, DoesNotKeepWhatAQuotaWithheld) {
  made_.make_job(0.5);
  PeakSizes sizes = tiny_sizes;
  int executions = 0;
  sizes.interrupted = [&] {
    ++executions;
    made_.set_core_time(3 * executions, executions);
    return false;
  };
  const PeakSurvey refused = survey(options_of("cpu:0"), sizes);
  EXPECT_EQ(refused.refused, kinds_of_cpu() * peaks_of_cpu().size());
  EXPECT_THAT(refused.text, HasSubstr("a CPU quota withheld 25% of the"));
  EXPECT_THAT(cache_.find(cpu()), IsEmpty());
}

/// Peaks of a device whose executions take the seconds that a test gives.
class MeasurablePeaks : public ::testing::Test {
 protected:
  static constexpr double second_trial = 0.004;

  /// The rate of `what`. `samples`: seconds of each of its measurements, in the order of these.
  Rate rate(std::string_view what, const std::vector<std::vector<double>>& samples,
            const PeakSizes& sizes) {
    std::vector<double> seconds;
    for (const auto& own : samples) {
      seconds.insert(seconds.end(), {9, second_trial, 9});  // verified, timed, warmed up
      seconds.insert(seconds.end(), own.begin(), own.end());
    }
    std::size_t at = 0;
    test::fake(context_, 0).on_elapsed = [&] { return seconds.at(at++); };
    const auto peaks = measurable_peaks(context_, 0, NumberFormat{}, sizes);
    const auto found = std::ranges::find(peaks, what, &MeasurablePeak::what);
    EXPECT_NE(found, peaks.end());
    const Rate rate = found->measure();
    EXPECT_EQ(at, seconds.size()) << "number of executions";
    return rate;
  }

  Context context_ = test::fake_context(1);
};

const std::vector<double> six_samples{4e-6, 1e-6, 3e-6, 2e-6, 6e-6, 5e-6};

std::vector<double> times(double factor, std::vector<double> seconds) {
  for (double& one : seconds) one *= factor;
  return seconds;
}

TEST_F(MeasurablePeaks, OfProductsAreTheBestMedianOfAllSizes) {
  const double flops = 2.0 * 32 * 32 * 32;
  const Rate best =
      rate("gemm f32", {six_samples, six_samples, times(100, six_samples)}, tiny_sizes);
  EXPECT_DOUBLE_EQ(best.value, flops / 3.5e-6);
  ASSERT_TRUE(best.interval.has_value());
  EXPECT_DOUBLE_EQ(best.interval->low, flops / 6e-6);
  EXPECT_DOUBLE_EQ(best.interval->high, flops / 1e-6);
  EXPECT_DOUBLE_EQ(best.interval->confidence, 1 - 2.0 / 64);
}

TEST_F(MeasurablePeaks, EndWithTheLongestProductAndRepeatShortOnes) {
  PeakSizes sizes = tiny_sizes;
  sizes.sample_seconds = 4.5 * second_trial;  // five products in a row
  const std::vector<double> sample(six_samples.size(), 5e-3);
  sizes.longest_product = 7.9e-3;  // of 1 ms for n = 16 follow 8 ms for n = 32
  EXPECT_DOUBLE_EQ(rate("gemm f32", {sample}, sizes).value, 2.0 * 16 * 16 * 16 / 1e-3);
  sizes.longest_product = 8.1e-3;
  EXPECT_DOUBLE_EQ(rate("gemm f32", {sample, times(8, sample)}, sizes).value,
                   2.0 * 16 * 16 * 16 / 1e-3);
}

TEST_F(MeasurablePeaks, OfMemoryCountBytesReadAndWritten) {
  const auto bytes = static_cast<double>(tiny_sizes.copied_bytes);
  EXPECT_DOUBLE_EQ(rate("copy", {six_samples}, tiny_sizes).value, 2 * bytes / 3.5e-6);
  EXPECT_DOUBLE_EQ(rate("h2d", {six_samples}, tiny_sizes).value, bytes / 3.5e-6);
  EXPECT_DOUBLE_EQ(rate("d2h", {six_samples}, tiny_sizes).value, bytes / 3.5e-6);
  const std::vector<double> slow = times(2, six_samples);
  EXPECT_DOUBLE_EQ(rate("memory", {slow, six_samples}, tiny_sizes).value, 2 * bytes / 3.5e-6)
      << "an operation is faster than a copy";
  EXPECT_DOUBLE_EQ(rate("memory", {six_samples, slow}, tiny_sizes).value, 2 * bytes / 3.5e-6);
}

TEST(PeakObjection, IsThatFewerCoresAreFaster) {
  const auto peak = [](const std::string& what, double rate) {
    return Peak{what, rate, "FLOP/s", Interval{0.99 * rate, 1.01 * rate, 0.96}, ""};
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
                                     HasSubstr("measured again"))));
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

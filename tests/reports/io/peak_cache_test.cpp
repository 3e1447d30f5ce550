// The cache of peaks, and the table of what is in it.
#include "reports/io/peak_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "reports/views/peak_table.h"
#include "tests/reports/sample.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

using ::parbench::test::TemporaryFolder;
using ::parbench::test::text_of;
using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Fingerprint one_core() {
  const Report report = sample_report();
  return fingerprint(report.machine, report.devices.front());
}

Fingerprint two_cores() {
  const Report report = sample_report();
  Device device = report.devices.front();
  device.cores = {0, 1};
  return fingerprint(report.machine, device);
}

std::vector<Peak> some_peaks() {
  return {{"gemm f32", 1.41e11, "FLOP/s", Interval{1.4e11, 1.42e11, 0.96}, "2026-01-02T03:04:05Z"},
          {"memory", 2.1e10, "B/s", {}, "2026-01-02T03:04:06Z"}};
}

/// A cache in a folder that is not there yet.
class Peaks : public ::testing::Test {
 protected:
  void keep(const Fingerprint& device) const {
    cache_.check_writable(device);
    cache_.keep(device, some_peaks());
  }

  [[nodiscard]] std::string refusal(const std::string& text) const {
    keep(one_core());
    write_file(cache_.file_of(one_core()), text);
    try {
      static_cast<void>(cache_.find(one_core()));
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(cache_.file_of(one_core()).string()));
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  PeakCache cache_{folder_ / "cache" / "peaks"};
};

TEST_F(Peaks, AreFoundAsTheyWereKept) {
  EXPECT_THAT(cache_.find(one_core()), IsEmpty());
  keep(one_core());
  EXPECT_THAT(cache_.find(one_core()), ElementsAreArray(some_peaks()));
}

TEST_F(Peaks, AreThoseOfSoManyCores) {
  keep(one_core());
  EXPECT_THAT(cache_.find(two_cores()), IsEmpty());
}

TEST_F(Peaks, OfAnotherMachineAreRefused) {
  keep(two_cores());
  EXPECT_THAT(refusal(text_of(cache_.file_of(two_cores()))),
              AllOf(HasSubstr("to another machine"), HasSubstr("2 cores")));
}

TEST_F(Peaks, OfADamagedFileAreRefused) {
  keep(one_core());
  const std::string good = text_of(cache_.file_of(one_core()));
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = good;
    return text.replace(text.find(part), part.size(), other);
  };
  EXPECT_NE(refusal(good.substr(0, good.size() / 2)), "no error");
  EXPECT_NE(refusal(""), "no error");
  EXPECT_THAT(refusal("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(refusal(with("\"peaks_version\": 1", "\"peaks_version\": 2")),
              HasSubstr("version 2 of peaks"));
  EXPECT_THAT(refusal(with("\"unit\"", "\"units\"")), HasSubstr("\"unit\" is missing"));
  EXPECT_THAT(refusal(with("141000000000.0", "-1.0")), HasSubstr("'gemm f32' is not a valid rate"));
  EXPECT_THAT(refusal(with("141000000000.0", "null")), HasSubstr("'gemm f32' is not a valid rate"));
  EXPECT_EQ(refusal(good), "no error");
}

TEST_F(Peaks, NeedAFolderThatCanBeMade) {
  const PeakCache under_a_file(folder_.write("file", "") / "peaks");
  EXPECT_THROW(under_a_file.check_writable(one_core()), UsageError);
}

/// Sets environment variables for as long as it lives; nullptr unsets one.
class Environment {
 public:
  Environment() {
    for (const char* name : names) {
      const char* value = std::getenv(name);
      former_.emplace_back(value == nullptr ? std::optional<std::string>() : value);
    }
  }
  ~Environment() {
    for (std::size_t i = 0; i < names.size(); ++i) {
      set(names[i], former_[i] ? former_[i]->c_str() : nullptr);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  static void set(const char* name, const char* value) {
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  }

 private:
  static constexpr std::array names{"PARBENCH_CACHE", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> former_;
};

TEST(PeakCacheFolder, FollowsTheEnvironment) {
  const Environment environment;
  Environment::set("PARBENCH_CACHE", "/own");
  Environment::set("XDG_CACHE_HOME", "/caches");
  Environment::set("HOME", "/home/me");
  EXPECT_EQ(PeakCache::of_environment()->folder(), "/own/peaks");
  Environment::set("PARBENCH_CACHE", nullptr);
  EXPECT_EQ(PeakCache::of_environment()->folder(), "/caches/parbench/peaks");
  Environment::set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(PeakCache::of_environment()->folder(), "/home/me/.cache/parbench/peaks");
  Environment::set("HOME", "");
  EXPECT_FALSE(PeakCache::of_environment().has_value());
}

TEST(PeakTable, HasARowForEachPeak) {
  const std::string text = to_table(one_core(), some_peaks());
  EXPECT_THAT(text, AllOf(HasSubstr("cpu (1 core)\n"), HasSubstr("gemm f32  141 GFLOP/s"),
                          HasSubstr("± 0.7%"), HasSubstr("2026-01-02T03:04:05Z"),
                          HasSubstr("memory      21.0 GB/s")));
}

TEST(PeakTable, LetsNoEscapeSequenceThrough) {
  std::vector<Peak> peaks = some_peaks();
  peaks.front().what = "\033[31mred";
  EXPECT_THAT(to_table(one_core(), peaks), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace parbench::report

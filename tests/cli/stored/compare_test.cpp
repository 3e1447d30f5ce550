// `parbench compare` through the real binary: answers, exit codes, bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "tests/support/process.h"
#include "tests/support/widest_line.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CompareCommand : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, surroundings_);
  }

  [[nodiscard]] Finished compare(std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"compare", "before.json", "after.json"});
    return parbench(std::move(flags));
  }

  /// What a run of two cases wrote, as the older report and as the newer one, but with times that
  /// do not depend on what else the machine does.
  void measure() const {
    const Finished finished =
        parbench({"--scenario", "selftest", "--strategy", "spin", "--duration", "100us,200us",
                  "--report", "before.json", "--benchmark_repetitions=3"});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    report::Report report = report::read_report(folder_ / "before.json");
    for (report::CaseResult& c : report.cases) {
      c.conditions.clear();
      for (report::Sample& sample : c.samples) {
        sample.seconds = 1 + 0.001 * sample.round;
        sample.conditions.clear();
      }
    }
    for (const std::string name : {"before.json", "after.json"}) {
      report::write_report(folder_ / name, report);
    }
  }

  /// Changes the newer report.
  void edit(const std::function<void(report::Report&)>& change) const {
    report::Report report = report::read_report(folder_ / "before.json");
    change(report);
    report::write_report(folder_ / "after.json", report);
  }

  /// Lets a case of the newer report take so many times as long.
  void slow_down(std::size_t index, double factor) const {
    edit([&](report::Report& report) {
      for (report::Sample& sample : report.cases.at(index).samples) sample.seconds *= factor;
    });
  }

  TemporaryFolder folder_;
  Surroundings surroundings_{folder_.path(), {{"PARBENCH_HOME", folder_.path().string()}}};
};

TEST_F(CompareCommand, Exits0WhenNothingRegressed) {
  measure();
  const Finished same = compare({"--threshold", "50"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, StartsWith("No regression found in 2 cases. 2 the same."));
  EXPECT_THAT(same.out, HasSubstr("one process"));
  slow_down(0, 0.4);
  const Finished improved = compare();
  EXPECT_EQ(improved.exit_code, 0) << "an improvement trips nothing";
  EXPECT_THAT(improved.out, HasSubstr("1 improved"));
}

TEST_F(CompareCommand, Exits3WhenACaseRegressed) {
  measure();
  slow_down(1, 2);
  const Finished finished = compare();
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.out, AllOf(StartsWith("1 of 2 cases regressed: "),
                                  HasSubstr("duration:200us 2.00× as long")));
}

TEST_F(CompareCommand, Exits1WhenACaseFailedInNew) {
  measure();
  edit([](report::Report& report) {
    report.cases[0].status = report::CaseStatus::failed;
    report.cases[0].error = "planted";
    for (report::Sample& sample : report.cases[1].samples) sample.seconds *= 2;
  });
  const Finished finished = compare();
  EXPECT_EQ(finished.exit_code, 1) << "though another regressed";
  EXPECT_THAT(finished.out, AllOf(HasSubstr("1 case failed in NEW"), HasSubstr("planted"),
                                  HasSubstr("1 of 1 case regressed")));
}

TEST_F(CompareCommand, Exits4WhenNothingCouldBeCompared) {
  measure();
  edit([](report::Report& report) { report.machine.cpu_model = "another"; });
  const Finished refused = compare();
  EXPECT_EQ(refused.exit_code, 4) << refused.err;
  EXPECT_THAT(refused.out, AllOf(StartsWith("Nothing could be compared"),
                                 HasSubstr("--allow-different-machine")));
  const Finished allowed = compare({"--allow-different-machine"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("machines differ: CPU"));
}

TEST_F(CompareCommand, Exits4WhenFewerCasesAreDecidedThanRequired) {
  measure();  // one process of each: too little to call a case the same
  const Finished undecided = compare();
  EXPECT_EQ(undecided.exit_code, 0) << "without a requirement";
  EXPECT_THAT(undecided.out, StartsWith("Undecided: 2 of 2 cases."));
  const Finished gate = compare({"--require-decided", "50"});
  EXPECT_EQ(gate.exit_code, 4) << gate.err;
  EXPECT_THAT(gate.out, StartsWith("Undecided: 2 of 2 cases; 50% must be decided"));
  EXPECT_EQ(compare({"--require-decided=100%", "--threshold", "50"}).exit_code, 0);
  slow_down(0, 0.4);
  EXPECT_EQ(compare({"--require-decided", "50"}).exit_code, 0) << "one of two has improved";
  EXPECT_EQ(compare({"--require-decided", "51"}).exit_code, 4);
  slow_down(0, 2);
  EXPECT_EQ(compare({"--require-decided", "51"}).exit_code, 3) << "a regression is decided";
}

TEST_F(CompareCommand, TakesAThresholdInPercent) {
  measure();
  slow_down(0, 2);
  EXPECT_EQ(compare({"--threshold", "150%"}).exit_code, 0);
  EXPECT_EQ(compare({"--threshold", "150"}).exit_code, 0);
  EXPECT_EQ(compare({"--threshold=50%"}).exit_code, 3);
  EXPECT_EQ(compare({"--threshold=0"}).exit_code, 3);
}

TEST_F(CompareCommand, WritesEveryFormatToStandardOutputAndToAFile) {
  measure();
  slow_down(0, 2);
  const std::vector<std::pair<std::string, std::string>> beginnings{
      {"table", "1 of 2 cases regressed"},
      {"markdown", "**1 of 2 cases regressed"},
      {"json", "{\n"}};
  for (const auto& [format, beginning] : beginnings) {
    const Finished printed = compare({"--format", format});
    EXPECT_EQ(printed.exit_code, 3) << printed.err;
    EXPECT_THAT(printed.out, StartsWith(beginning));
    const Finished written = compare({"--format", format, "-o", "verdicts"});
    EXPECT_EQ(written.exit_code, 3) << written.err;
    EXPECT_THAT(written.out, IsEmpty());
    EXPECT_EQ(folder_.read("verdicts"), printed.out) << format;
  }
  EXPECT_EQ(report::read_json(folder_ / "verdicts")["outcome"], "regressed");
}

TEST_F(CompareCommand, RefusesBadInputWithOneClearError) {
  measure();
  folder_.write("half.json", R"({"parbench": {"schema_ver)");
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, StartsWith("parbench: error: "));
    return finished.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("BASE"));
  EXPECT_THAT(refusal({"before.json"}), HasSubstr("NEW"));
  EXPECT_THAT(refusal({"before.json", "after.json", "third.json"}),
              AllOf(HasSubstr("two files, BASE and NEW"), HasSubstr("3 are given"),
                    HasSubstr("parbench compare BASE… --new NEW…")));
  EXPECT_THAT(refusal({"before.json", "before.json", "--new", "after.json"}),
              HasSubstr("before.json has the same samples as before.json"));
  EXPECT_THAT(refusal({"before.json", "after.json", "--assume-spread", "-1"}),
              HasSubstr("--assume-spread '-1'"));
  EXPECT_THAT(refusal({"before.json", "after.json", "--new", "third.json", "-o", "third.json"}),
              HasSubstr("-o 'third.json'"));
  EXPECT_THAT(refusal({"missing.json", "after.json"}),
              AllOf(HasSubstr("missing.json"), HasSubstr("no such file")));
  EXPECT_THAT(refusal({"before.json", "half.json"}),
              AllOf(HasSubstr("half.json"), HasSubstr("truncated")));
  EXPECT_THAT(refusal({"before.json", "after.json", "--threshold", "little"}),
              AllOf(HasSubstr("--threshold 'little'"), HasSubstr("0 to 1000")));
  EXPECT_THAT(refusal({"before.json", "after.json", "--threshold", "-2"}),
              HasSubstr("--threshold '-2'"));
  EXPECT_THAT(refusal({"before.json", "after.json", "--require-decided", "101"}),
              AllOf(HasSubstr("--require-decided '101'"), HasSubstr("0 to 100")));
  EXPECT_THAT(refusal({"before.json", "after.json", "--format", "tabel"}),
              AllOf(HasSubstr("--format 'tabel'"), HasSubstr("did you mean 'table'")));
  EXPECT_THAT(refusal({"before.json", "after.json", "--splt", "3"}), HasSubstr("--splt"));
  EXPECT_THAT(refusal({"before.json", "after.json", "-o", "before.json"}),
              AllOf(HasSubstr("-o 'before.json'"), HasSubstr("overwritten")));
}

TEST_F(CompareCommand, PoolsTheFilesOfASide) {
  measure();
  const auto write_run = [&](const std::string& name, double factor) {
    report::Report report = report::read_report(folder_ / "before.json");
    for (report::CaseResult& c : report.cases) {
      for (report::Sample& sample : c.samples) sample.seconds *= factor;
    }
    report::write_report(folder_ / name, report);
  };
  for (int i = 0; i < 5; ++i) {
    write_run("old" + std::to_string(i) + ".json", 1 + 0.002 * i);
    write_run("new" + std::to_string(i) + ".json", 1.03 + 0.002 * i);
  }
  const Finished single = parbench({"compare", "old0.json", "new0.json"});
  EXPECT_EQ(single.exit_code, 0) << "3% are too little for one run of each";
  const Finished pooled =
      parbench({"compare", "old0.json", "old1.json", "old2.json", "old3.json", "old4.json", "--new",
                "new0.json", "new1.json", "new2.json", "new3.json", "new4.json"});
  EXPECT_EQ(pooled.exit_code, 3) << pooled.err;
  EXPECT_THAT(pooled.out, AllOf(StartsWith("2 of 2 cases regressed"), HasSubstr("3.0% slower"),
                                HasSubstr("old0.json and 4 more"), HasSubstr("5 processes")));
  const Finished one_sided =
      parbench({"compare", "old0.json", "old1.json", "old2.json", "--new", "new0.json"});
  EXPECT_THAT(one_sided.out, AllOf(HasSubstr("old0.json and 2 more"), HasSubstr("one process")));
}

TEST_F(CompareCommand, TakesTheSpreadThatIsKnown) {
  measure();
  slow_down(0, 1.03);
  EXPECT_EQ(compare().exit_code, 0);
  const Finished known = compare({"--assume-spread", "0.2%"});
  EXPECT_EQ(known.exit_code, 3) << known.err;
  EXPECT_THAT(known.out, HasSubstr("0.2% is assumed (--assume-spread)"));
  EXPECT_EQ(compare({"--assume-spread", "10"}).exit_code, 0);
}

TEST_F(CompareCommand, AFileHasTheWidthThatFitsEverywhere) {
  measure();
  const auto width_of_file = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{PARBENCH_PYTHON, TERMINAL_PY,  "200", PARBENCH_BINARY, "compare",
                                   "before.json",   "after.json", "-o",  "verdicts.txt"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run(words, surroundings_).exit_code, 0);
    return widest_line(folder_.read("verdicts.txt"));
  };
  EXPECT_LE(width_of_file({}), 80U);
  EXPECT_GT(width_of_file({"--width", "100"}), 80U);
  surroundings_.environment.emplace_back("COLUMNS", "100");
  EXPECT_GT(width_of_file({}), 80U);
}

TEST_F(CompareCommand, ALostOutputIsAFailure) {
  measure();
  const Finished finished = run({"sh", "-c", "\"$@\" >/dev/full", "sh", PARBENCH_BINARY, "compare",
                                 "before.json", "after.json"},
                                surroundings_);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("standard output could not be written"));
}

TEST_F(CompareCommand, ExplainsItself) {
  const Finished finished = parbench({"compare", "--help"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("parbench compare BASE NEW"), HasSubstr("--threshold PERCENT"),
                    HasSubstr("--allow-different-machine"), HasSubstr("3 a case regressed"),
                    HasSubstr("--new NEW…"), HasSubstr("--assume-spread PERCENT"),
                    HasSubstr("--require-decided PERCENT")));
  EXPECT_THAT(parbench({"--help"}).out, HasSubstr("\n  compare BASE NEW  "));
}

}  // namespace
}  // namespace parbench::test

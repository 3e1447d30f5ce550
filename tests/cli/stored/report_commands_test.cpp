// The real binary and reports that are there: `show`, `export`, and files that are no reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/io/file.h"
#include "tests/support/process.h"
#include "tests/support/widest_line.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ReportCommands : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, surroundings_);
  }

  /// On a terminal of so many columns.
  [[nodiscard]] Finished on_terminal(int columns, std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {PARBENCH_PYTHON, TERMINAL_PY, std::to_string(columns), PARBENCH_BINARY});
    return run(words, surroundings_);
  }

  /// Flags of a run that takes no time and has a marked interval, a speedup and an answer.
  static std::vector<std::string> run_words() {
    return {"--scenario",
            "selftest,matmul",
            "--strategy",
            "spin,parallel,alone",
            "--duration",
            "100us",
            "--n",
            "8",
            "--count",
            "2",
            "--report",
            "report.json",
            "--benchmark_repetitions=3"};
  }

  void measure() const {
    const Finished finished = parbench(run_words());
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  [[nodiscard]] std::string refusal(const std::vector<std::string>& words) const {
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, StartsWith("parbench: error: "));
    return finished.err;
  }

  TemporaryFolder folder_;
  Surroundings surroundings_{folder_.path(),
                             {{"PARBENCH_HOME", folder_.path().string()}, {"TERM", "xterm"}}};
};

TEST_F(ReportCommands, ShowPrintsWhatTheRunPrinted) {
  const Finished measured = parbench(run_words());
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const Finished shown = parbench({"show", "report.json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out, measured.out);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("selftest"), HasSubstr("report: report.json\n")));
}

TEST_F(ReportCommands, ShowPrintsTheSameOnATerminal) {
  const Finished measured = on_terminal(60, run_words());
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("\033[1m")) << "in color";
  EXPECT_EQ(on_terminal(60, {"show", "report.json"}).out, measured.out);
  EXPECT_NE(on_terminal(100, {"show", "report.json"}).out, measured.out) << "wrapped otherwise";
  surroundings_.environment.emplace_back("NO_COLOR", "1");
  EXPECT_THAT(on_terminal(60, {"show", "report.json"}).out, Not(HasSubstr("\033[")));
}

TEST_F(ReportCommands, WrapAnErrorOnATerminalOnly) {
  const std::string command = "'" PARBENCH_BINARY "' --scenario nothing 2>&1";
  const Finished piped = run({"/bin/sh", "-c", command}, surroundings_);
  const Finished wrapped =
      run({PARBENCH_PYTHON, TERMINAL_PY, "40", "/bin/sh", "-c", command}, surroundings_);
  EXPECT_EQ(wrapped.exit_code, 2);
  EXPECT_GT(widest_line(piped.out), 40U);
  EXPECT_LE(widest_line(wrapped.out), 41U) << wrapped.out;  // a terminal adds a carriage return
  EXPECT_THAT(wrapped.out, StartsWith("parbench: error: "));
}

TEST_F(ReportCommands, FitTheirTablesIntoTheGivenWidth) {
  measure();
  const auto width_of = [&](const std::vector<std::string>& words) {
    const Finished shown = parbench(words);
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    return widest_line(shown.out.substr(0, shown.out.find("\nnext, ")));  // commands stay whole
  };
  EXPECT_LE(width_of({"show", "report.json"}), 80U) << "where nothing says how wide it may be";
  EXPECT_LE(width_of({"show", "report.json", "--calls"}), 80U);
  EXPECT_LE(width_of({"show", "report.json", "--width", "60"}), 60U);
  EXPECT_LE(width_of({"compare", "report.json", "report.json"}), 80U);
  EXPECT_LE(width_of({"compare", "report.json", "report.json", "--width=70"}), 70U);
  EXPECT_THAT(parbench({"show", "report.json", "--width", "60"}).out,
              HasSubstr("not shown at 60 columns: "));
  surroundings_.environment.emplace_back("COLUMNS", "200");
  EXPECT_THAT(parbench({"show", "report.json"}).out, Not(HasSubstr("not shown")));
  EXPECT_THAT(refusal({"show", "report.json", "--width", "59"}), HasSubstr("--width '59'"));
}

TEST_F(ReportCommands, LeaveADumbTerminalWithoutColor) {
  measure();
  surroundings_.environment.back().second = "dumb";
  EXPECT_THAT(on_terminal(100, {"show", "report.json"}).out, Not(HasSubstr("\033[")));
}

TEST_F(ReportCommands, ExportsEveryFormatToStandardOutputAndToAFile) {
  measure();
  for (const std::string format : {"google-benchmark", "github-action-benchmark", "bencher", "csv",
                                   "prometheus", "markdown"}) {
    const Finished printed = parbench({"export", "report.json", "--format", format});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("spin")) << format;
    const Finished written =
        parbench({"export", "--format=" + format, "-o", "exported", "report.json"});
    EXPECT_EQ(written.exit_code, 0) << written.err;
    EXPECT_THAT(written.out, IsEmpty());
    EXPECT_EQ(folder_.read("exported"), printed.out) << format;
  }
}

TEST_F(ReportCommands, ExportIsReadByComparePy) {
  measure();
  ASSERT_EQ(parbench({"export", "report.json", "--format", "google-benchmark", "-o", "gb.json"})
                .exit_code,
            0);
  const std::string path = (folder_ / "gb.json").string();
  const Finished compared =
      run({PARBENCH_PYTHON, "-B", PARBENCH_COMPARE_PY, "--no-color", "benchmarks", path, path});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  for (const report::CaseResult& known : report::read_report(folder_ / "report.json").cases) {
    EXPECT_THAT(compared.out, HasSubstr(known.name + "_median "));
  }
}

TEST_F(ReportCommands, DoWhatTheyWereAskedWhateverTheCasesCameTo) {
  measure();
  report::Json file = report::read_json(folder_ / "report.json");
  file["parbench"]["complete"] = false;
  for (report::Json& c : file["parbench"]["cases"]) {
    c["status"] = "failed";
    c["error"] = "planted";
  }
  report::write_file(folder_ / "report.json", report::to_text(file));
  EXPECT_EQ(parbench({"show", "report.json"}).exit_code, 0);
  EXPECT_EQ(parbench({"export", "report.json", "--format", "csv"}).exit_code, 0);
  EXPECT_THAT(refusal({"export", "report.json", "--format", "bencher"}),
              AllOf(HasSubstr("report.json"), HasSubstr("no case was measured")));
}

TEST_F(ReportCommands, RefuseFilesThatAreNoReports) {
  folder_.write("half.json", R"({"parbench": {"schema_ver)");
  folder_.write("foreign.json", R"({"context": {}})");
  folder_.write("newer.json", R"({"parbench": {"schema_version": 99}})");
  folder_.write("deep.json", std::string(1'000'000, '['));
  folder_.write("latin.json", "{\"caf\xE9\": 1}");
  folder_.write("escape.json", R"({"parbench": {"\u001b[2J": 1, "\u001b[2J": 1}})");
  const std::vector<std::vector<std::string>> commands{{"show"}, {"export", "--format", "csv"}};
  for (const std::vector<std::string>& command : commands) {
    const auto said = [&](const std::string& path) {
      std::vector<std::string> words = command;
      words.push_back(path);
      std::string error = refusal(words);
      EXPECT_THAT(error, HasSubstr(path));
      return error;
    };
    EXPECT_THAT(said("missing.json"), HasSubstr("no such file"));
    EXPECT_THAT(said("half.json"), HasSubstr("truncated"));
    EXPECT_THAT(said("foreign.json"), HasSubstr("not written by parbench"));
    EXPECT_THAT(said("newer.json"), HasSubstr("version 99"));
    EXPECT_THAT(said("deep.json"), HasSubstr("deeper than 64"));
    EXPECT_THAT(said("latin.json"), HasSubstr("not UTF-8"));
    EXPECT_THAT(said("escape.json"), AllOf(HasSubstr("twice"), Not(HasSubstr("\033"))));
    EXPECT_THAT(said("/dev/zero"), HasSubstr("not a regular file"));
  }
}

TEST_F(ReportCommands, HaveALimitOnTheSizeThatTheUserSets) {
  folder_.write("large.json", "{\"x\": \"" + std::string(1'000'001, 'x') + "\"}");
  surroundings_.environment.emplace_back("PARBENCH_MAX_REPORT_MB", "1");
  EXPECT_THAT(refusal({"show", "large.json"}),
              AllOf(HasSubstr("at most 1000000 are read"), HasSubstr("PARBENCH_MAX_REPORT_MB=N")));
  surroundings_.environment.back().second = "none";
  EXPECT_THAT(refusal({"show", "large.json"}), HasSubstr("PARBENCH_MAX_REPORT_MB='none'"));
}

TEST_F(ReportCommands, ExportWritesNothingOverItsReportOrIntoNowhere) {
  measure();
  const std::string before = folder_.read("report.json");
  std::filesystem::create_symlink("report.json", folder_ / "link.json");
  for (const std::string path : {"report.json", "./report.json", "link.json"}) {
    EXPECT_THAT(refusal({"export", "report.json", "--format", "csv", "-o", path}),
                AllOf(HasSubstr("-o '" + path + "'"), HasSubstr("overwritten")));
  }
  EXPECT_THAT(refusal({"export", "report.json", "--format", "csv", "-o", "missing/x.csv"}),
              AllOf(HasSubstr("-o missing/x.csv"), HasSubstr("mkdir -p")));
  EXPECT_EQ(folder_.read("report.json"), before);
}

TEST_F(ReportCommands, ALostOutputIsAFailure) {
  measure();
  const Finished finished =
      run({"sh", "-c", "\"$@\" >/dev/full", "sh", PARBENCH_BINARY, "show", "report.json"},
          surroundings_);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("standard output could not be written"));
}

}  // namespace
}  // namespace parbench::test

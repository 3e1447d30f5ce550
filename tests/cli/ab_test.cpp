// `parbench ab` through the real binary: pairs of real runs, commands that fail, hang and are
// interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "tests/cli/waiting.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A run that takes a fraction of a second.
std::string quick_run(const std::string& more = {}) {
  return "'" PARBENCH_BINARY
         "'"
         " --scenario selftest --strategy spin --devices cpu:0 --tasks 1 --benchmark_repetitions=2 "
         "--benchmark_min_time=0.001 " +
         more;
}

class AbCommand : public ::testing::Test {
 protected:
  AbCommand() { std::filesystem::create_directory(folder_ / "temporary"); }

  [[nodiscard]] Surroundings surroundings() const {
    return {folder_.path(), {{"TMPDIR", (folder_ / "temporary").string()}}};
  }
  [[nodiscard]] static Words words(const std::string& base, const std::string& now,
                                   const Words& more) {
    Words all{PARBENCH_BINARY, "ab", "--a", base, "--b", now};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Finished ab(const std::string& base, const std::string& now,
                            const Words& more = {}) const {
    return run(words(base, now, more), surroundings());
  }
  /// Standard error of a comparison that could not begin.
  [[nodiscard]] std::string refusal(const std::string& base, const std::string& now,
                                    const Words& more = {}) const {
    const Finished finished = ab(base, now, more);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, HasSubstr("parbench: error: "));
    return finished.err;
  }

  /// The JSON passes the schema by an independent validator.
  [[nodiscard]] report::Json valid_json() const {
    const std::filesystem::path path = folder_ / "verdicts.json";
    const std::string schema =
        std::string(SOURCE_FOLDER) + "/reports/schema/comparison-v2.schema.json";
    const Finished validated = run({PARBENCH_PYTHON, VALIDATOR, schema, path.string()});
    EXPECT_EQ(validated.out, "valid\n") << validated.err;
    return report::read_json(path);
  }

  TemporaryFolder folder_;
};

// Five times as long is more than any disturbance makes of it.
TEST_F(AbCommand, FindsATrueDifference) {
  const Finished finished = ab(quick_run(), quick_run("--slowdown 400"),
                               {"--format", "json", "-o", "verdicts.json", "--seed", "7"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, AllOf(HasSubstr("pair 1 "), HasSubstr("noise:0 regressed: ")));
  const report::Json json = valid_json();
  EXPECT_EQ(json.at("outcome"), "regressed");
  EXPECT_GT(json.at("cases").at(0).at("change").at("value").get<double>(), 1);
  EXPECT_EQ(json.at("base").at("name"), quick_run());
  const report::Json& pairs = json.at("ab").at("pairs");
  EXPECT_EQ(json.at("ab").at("end"), "settled");
  EXPECT_EQ(json.at("ab").at("seed"), 7);
  EXPECT_EQ(json.at("ab").at("looks_taken").back(), pairs.size());
  EXPECT_EQ(json.at("base").at("processes"), pairs.size());
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    EXPECT_NE(pairs[i].at("order"), pairs[i + 1].at("order"));
  }
  for (const report::Json& pair : pairs) EXPECT_EQ(pair.at("log_ratios").size(), 1U);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "temporary"));
}

TEST_F(AbCommand, AnImprovementIsNoFailure) {
  const Finished finished =
      ab(quick_run("--slowdown 400"), quick_run(), {"--keep", "kept", "--quiet"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, AllOf(HasSubstr("1 improved"), HasSubstr("verdict is settled")));
  for (const char* name : {"kept/pair-001-a.json", "kept/pair-005-b.json"}) {
    EXPECT_EQ(report::read_report(folder_ / name).cases.size(), 1U) << name;
  }
  EXPECT_THAT(refusal("true", "true", {"--keep", "kept"}),
              HasSubstr("--keep 'kept' is not empty; name a new folder"));
}

TEST_F(AbCommand, EndsWhenTheTimeIsSpent) {
  // Without a threshold no case can be the same.
  const Finished finished =
      ab(quick_run(), quick_run(),
         {"--threshold", "0", "--max-time", "5", "--format", "json", "-o", "verdicts.json"});
  EXPECT_NE(finished.exit_code, 2) << finished.err;
  const report::Json json = valid_json();
  EXPECT_EQ(json.at("ab").at("end"), "time spent");
  EXPECT_FALSE(json.at("ab").at("pairs").empty());
}

TEST_F(AbCommand, Exits4WhenFewerCasesAreDecidedThanRequired) {
  ASSERT_EQ(run(Words{"sh", "-c", quick_run("--report base.json")}, surroundings()).exit_code, 0);
  for (const auto& [name, factor] : {std::pair("fast.json", 0.5), std::pair("slow.json", 2.0)}) {
    report::Report report = report::read_report(folder_ / "base.json");
    for (report::Sample& sample : report.cases.at(0).samples) sample.seconds *= factor;
    report::write_report(folder_ / name, report);
  }
  const std::string by_turns =
      "sh -c 'if [ -e turn ]; then rm turn; cp fast.json \"$2\"; else touch turn; cp slow.json "
      "\"$2\"; fi' sh";
  const Finished gate = ab("sh -c 'cp base.json \"$2\"' sh", by_turns,
                           {"--require-decided", "50", "--format", "json", "-o", "verdicts.json"});
  EXPECT_EQ(gate.exit_code, 4) << gate.err;
  const report::Json json = valid_json();
  EXPECT_EQ(json.at("outcome"), "too_few_decided");
  EXPECT_EQ(json.at("sentence"),
            "Undecided: 1 of 1 case; 50% must be decided (--require-decided).");
}

TEST_F(AbCommand, ReportsCommandsThatFail) {
  const std::string broken = "sh -c 'echo it is broken >&2; exit 7'";
  EXPECT_THAT(
      refusal(broken, quick_run()),
      AllOf(HasSubstr("--a '" + broken + "' ended with exit code 7"), HasSubstr("it is broken")));
  EXPECT_THAT(refusal("no-such-program", quick_run()),
              AllOf(HasSubstr("exit code 127"), HasSubstr("not found")));
  EXPECT_THAT(refusal("true", quick_run()),
              HasSubstr("and wrote no report: parbench ab appends --report"));
  EXPECT_THAT(refusal(quick_run("--spilt 3"), quick_run()), HasSubstr("unknown flag --spilt"));
  EXPECT_THAT(refusal("kill -SEGV $$;", quick_run()), HasSubstr("was ended by signal 11"));
  std::ofstream(folder_ / "foreign.json") << "{\"benchmarks\": []}";
  EXPECT_THAT(refusal("cp foreign.json \"$2\" #", quick_run()),
              AllOf(HasSubstr("left no report that can be read"),
                    HasSubstr("was not written by parbench")));
}

TEST_F(AbCommand, ShowsThePairsBeforeAFailure) {
  const std::string second_fails =
      "sh -c 'echo >>runs; [ $(wc -l <runs) -lt 2 ] || exit 9; exec \"$@\"' sh " + quick_run();
  const Finished finished = ab(quick_run(), second_fails);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("ended with exit code 9"));
  EXPECT_THAT(finished.out, AllOf(HasSubstr("1 pair in "), HasSubstr("a command failed"),
                                  HasSubstr("undecided")));
}

TEST_F(AbCommand, ShowsThePairsBeforeItCanStartNoMoreCommands) {
  // From the end of the first pair on, as many descriptors as reading a report takes, but not
  // starting a command.
  const std::string starves =
      "echo >>runs; [ $(wc -l <runs) -lt 2 ] || prlimit --pid $PPID "
      "--nofile=$(ls /proc/$PPID/fd | wc -l); " +
      quick_run();
  const Finished finished = ab(starves, starves);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("no pipe can be created"));
  // A second pair may still start: how many descriptors are open beside depends on the moment.
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("A command failed: "), testing::ContainsRegex("[12] pairs? in ")));
}

TEST_F(AbCommand, WaitsForCommandsThoughItWasStartedWithoutThatWish) {
  Words all = words(quick_run("--duration 1ms"), quick_run("--duration 2ms"), {});
  all.insert(all.begin(), {"sh", "-c", "trap '' CHLD; exec \"$@\"", "sh"});
  const Finished finished = run(all, surroundings());
  EXPECT_EQ(finished.exit_code, 4) << finished.err;
}

TEST_F(AbCommand, CommandsMayChangeTheirFolder) {
  const Finished finished =
      ab("cd / && " + quick_run("--duration 1ms"), quick_run("--duration 2ms"), {"--keep", "kept"});
  EXPECT_EQ(finished.exit_code, 4) << finished.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "kept/pair-001-a.json"));
}

TEST_F(AbCommand, ACommandDoesNotOutliveItsTerminal) {
  const std::string marked = "touch begun; sleep 1004;";
  Process process(words(marked, marked, {}), surroundings());
  ASSERT_TRUE(wait_until(process, [&] { return std::filesystem::exists(folder_ / "begun"); }));
  process.signal(SIGHUP);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_NE(run({"pgrep", "-x", "-f", "sleep 1004"}).exit_code, 0) << "it still runs";
}

TEST_F(AbCommand, EndsAtOnceWhereNothingCanBeCompared) {
  const Finished finished = ab(quick_run("--duration 1ms"), quick_run("--duration 2ms"));
  EXPECT_EQ(finished.exit_code, 4) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("Nothing could be compared: no case is in both reports."),
                    HasSubstr("1 pair in ")));
}

TEST_F(AbCommand, EndsACommandThatHangs) {
  const std::string hangs = "sleep 1003;";
  EXPECT_THAT(refusal(hangs, quick_run(), {"--max-time", "1"}),
              AllOf(HasSubstr("did not end within 1 s"), HasSubstr("--max-time")));
  EXPECT_NE(run({"pgrep", "-x", "-f", "sleep 1003"}).exit_code, 0) << "it still runs";
}

TEST_F(AbCommand, CtrlCShowsTheVerdictsSoFar) {
  Process process(words(quick_run(), quick_run("--slowdown 400"),
                        {"--keep", "kept", "--format", "json", "-o", "verdicts.json"}),
                  surroundings());
  const auto second = folder_ / "kept/pair-002-a.json";
  ASSERT_TRUE(wait_until(process, [&] { return std::filesystem::exists(second); }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  const report::Json json = valid_json();
  EXPECT_EQ(json.at("ab").at("end"), "interrupted");
  EXPECT_EQ(json.at("exit_code"), 130);
  EXPECT_THAT(json.at("sentence").get<std::string>(), HasSubstr("Interrupted: "));
  EXPECT_THAT(json.at("ab").at("pairs").size(), AllOf(::testing::Ge(1U), ::testing::Le(3U)));
  EXPECT_EQ(json.at("counts").at("undecided"), 1);
}

TEST_F(AbCommand, TimesCommandsOfAnyKind) {
  const Finished finished = ab("sleep 0.01", "sleep 0.2; echo printed; true",
                               {"--measure", "wall", "--format", "json", "-o", "verdicts.json"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.out, IsEmpty());
  const report::Json json = valid_json();
  EXPECT_EQ(json.at("ab").at("measure"), "wall");
  EXPECT_EQ(json.at("cases").size(), 1U);
  const report::Json& row = json.at("cases").at(0);
  EXPECT_EQ(row.at("name"), "command/wall-time");
  EXPECT_GE(row.at("new").at("seconds").get<double>(), 0.2);
  EXPECT_GE(row.at("base").at("seconds").get<double>(), 0.01);
}

TEST_F(AbCommand, ATimedCommandHasNoCommitOfParbench) {
  Surroundings built = surroundings();
  built.environment.insert(built.environment.end(), {{"PARBENCH_COMMIT", std::string(40, 'a')},
                                                     {"PARBENCH_DIRTY", "1"},
                                                     {"PARBENCH_COMMIT_SUBJECT", "Mend it"},
                                                     {"PARBENCH_COMMIT_AUTHOR", "A. Author"}});
  const Finished finished =
      run(words("true", "sleep 0.2", {"--measure", "wall", "--keep", "kept", "--quiet"}), built);
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.out, Not(HasSubstr("aaaa")));
  const report::Machine kept = report::read_report(folder_ / "kept/pair-001-a.json").machine;
  EXPECT_FALSE(kept.commit || kept.dirty || kept.commit_subject || kept.commit_author);
  EXPECT_FALSE(kept.cpu_model.empty());
}

TEST_F(AbCommand, WarmsCommandsUpBeforeTheFirstPair) {
  const Words wall{"--measure", "wall", "--quiet", "--keep", "kept"};
  const auto with_runs = [&](const std::string& runs) {
    Words words = wall;
    words.insert(words.end(), {"--warmup", runs});
    return words;
  };
  // On a busy machine, a verdict may take more than five pairs.
  const auto pairs = [&] {
    const std::filesystem::directory_iterator kept(folder_ / "kept");
    return static_cast<std::size_t>(std::ranges::count_if(kept, [](const auto& file) {
      return file.path().filename().string().ends_with("-a.json");
    }));
  };
  const std::string counts = "echo >>runs; sleep 0.01";
  EXPECT_EQ(ab(counts, "sleep 0.3", wall).exit_code, 3);
  EXPECT_EQ(folder_.read("runs"), std::string(1 + pairs(), '\n'));
  std::filesystem::remove_all(folder_ / "kept");
  std::filesystem::remove(folder_ / "runs");
  EXPECT_EQ(ab(counts, "sleep 0.3", with_runs("0")).exit_code, 3);
  EXPECT_EQ(folder_.read("runs"), std::string(pairs(), '\n'));
  const report::Report kept = report::read_report(folder_ / "kept/pair-005-b.json");
  EXPECT_EQ(program_of(kept), "wall clock");
  EXPECT_GE(kept.cases.at(0).samples.at(0).seconds, 0.3);
  EXPECT_LT(kept.cases.at(0).samples.at(0).cpu_seconds, 0.3) << "it sleeps";
}

TEST_F(AbCommand, EveryFailureOfATimedCommandIsAnError) {
  const Words wall{"--measure", "wall"};
  EXPECT_THAT(refusal("echo it is broken >&2; exit 1", "true", wall),
              AllOf(HasSubstr("--a 'echo it is broken >&2; exit 1' ended with exit code 1"),
                    HasSubstr("\n  it is broken\n")));
  EXPECT_THAT(refusal("true", "sleep 1005", {"--measure", "wall", "--run-limit", "0.2"}),
              AllOf(HasSubstr("--b 'sleep 1005' did not end within"), HasSubstr("--run-limit")));
  EXPECT_NE(run({"pgrep", "-x", "-f", "sleep 1005"}).exit_code, 0) << "it still runs";
  EXPECT_THAT(refusal("true", "true", {"--measure", "cpu"}), HasSubstr("--measure 'cpu'"));
}

TEST_F(AbCommand, RefusesWhatItCannotDo) {
  EXPECT_THAT(run({PARBENCH_BINARY, "ab", "--a", "true"}).err, HasSubstr("--b is required"));
  EXPECT_THAT(refusal("true", "true", {"--max-time", "0"}), HasSubstr("--max-time '0'"));
  EXPECT_THAT(refusal("true", "true", {"--threshold", "x"}), HasSubstr("--threshold 'x'"));
  EXPECT_THAT(refusal("true", "true", {"--format", "xml"}), HasSubstr("--format 'xml'"));
  EXPECT_THAT(refusal("true", "true", {"-o", "nowhere/file"}), HasSubstr("-o nowhere/file"));
  EXPECT_THAT(refusal("true", "true", {"--scenario", "selftest"}), HasSubstr("'ab' does not take"));
  const Finished help = run({PARBENCH_BINARY, "ab", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--a COMMAND"), HasSubstr("5, 7, 10"),
                              HasSubstr("4 nothing could be compared"), Not(HasSubstr("REPORT"))));
}

}  // namespace
}  // namespace parbench::test

// Real programs that are started, watched and ended.
#include "bench/run/programs/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "bench/execution/interrupt.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;

ChildProgram shell(const std::string& script) { return {.words = {"sh", "-c", script}}; }

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// Not there any more, or dead and waiting to be reaped by another process.
bool is_gone(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

TEST(RunChild, ReturnsOutputAndExitCode) {
  std::vector<std::string> lines;
  ChildProgram program = shell("echo one; printf 'two\nthree'; echo words >&2; exit 3");
  program.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  const ChildEnd end = run_child(program);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
  EXPECT_EQ(end.error_output, "words\n");
  EXPECT_EQ(end.text(), "ended with exit code 3\nwords");
}

TEST(RunChild, ReportsTheSignalThatEndedIt) {
  const ChildEnd end = run_child(shell("kill -SEGV $$"));
  EXPECT_EQ(end.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(end.text(), "was ended by signal 11 (Segmentation fault)");
}

TEST(RunChild, CountsTheTimeOfTheProcessor) {
  const ChildEnd busy = run_child(shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"));
  EXPECT_GT(busy.cpu_seconds, 0.01);
  EXPECT_LE(busy.cpu_seconds, busy.seconds * 1.1 + 0.01) << "it has one thread";
  EXPECT_LT(run_child(shell("sleep 0.3")).cpu_seconds, 0.3);
}

TEST(RunChild, SeesTheEndOfAProcessThatClosedItsOutput) {
  const ChildEnd end = run_child(shell("exec >&- 2>&-; sleep 0.1; exit 4"));
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_GE(end.seconds, 0.1);
}

TEST(RunChild, TakesNoLargeExitCodeForASignal) {
  EXPECT_EQ(run_child(shell("exit 255")).text(), "ended with exit code 255");
}

TEST(RunChild, IsNotLeftWaitingWhereChildrenAreIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THROW((void)run_child(shell("true")), Error) << "its exit code is unknown";
  await_children();
  EXPECT_EQ(run_child(shell("exit 3")).exit_code, 3);
  std::signal(SIGCHLD, before);
}

TEST(RunChild, KeepsTheEndOfManyWords) {
  const ChildEnd end = run_child(shell("yes word | head -n 100000 >&2; echo last >&2"));
  EXPECT_THAT(end.error_output.size(), Lt(20'000));
  EXPECT_THAT(end.text(), HasSubstr("word\nlast"));
  EXPECT_THAT(end.text().size(), Lt(200)) << "a few lines are quoted";
}

TEST(RunChild, CannotStartWhatIsNotThere) {
  EXPECT_THROW((void)run_child({.words = {"/nothing/is/here"}}), Error);
}

TEST(RunChild, EndsAProgramThatTakesTooLong) {
  ChildProgram program = shell("while :; do echo busy; sleep 0.05; done");
  program.max_seconds = 0.3;
  const ChildEnd end = run_child(program);
  EXPECT_EQ(end.exit_code, 128 + SIGTERM);
  EXPECT_THAT(end.text(), HasSubstr("did not end within"));
}

TEST(RunChild, EndsAProgramThatSaysNothing) {
  ChildProgram program = shell("echo begun; exec sleep 1000");
  program.max_silent_seconds = 0.2;
  const ChildEnd end = run_child(program);
  EXPECT_EQ(end.exit_code, 128 + SIGTERM);
  EXPECT_THAT(end.text(), HasSubstr("reported no progress for"));
}

TEST(RunChild, LeavesNoProcessAndNoDescriptor) {
  const std::ptrdiff_t before = open_descriptors();
  pid_t left_behind = 0;
  // It holds the pipes for longer than anybody waits.
  ChildProgram program = shell("sleep 1000 & echo $!");
  program.on_line = [&](std::string_view line) { left_behind = std::stoi(std::string(line)); };
  EXPECT_EQ(run_child(program).exit_code, 0);
  while (!is_gone(left_behind)) std::this_thread::yield();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST(RunChild, HandsAnInterruptOn) {
  const InterruptHandler handler;
  ChildProgram program = shell("trap 'echo orderly; exit 7' INT; echo ready; sleep 1000 & wait");
  std::vector<std::string> lines;
  program.on_line = [&](std::string_view line) {
    lines.emplace_back(line);
    if (line == "ready") std::raise(SIGTERM);
  };
  EXPECT_EQ(run_child(program).exit_code, 7);
  EXPECT_THAT(lines, ElementsAre("ready", "orderly"));
  EXPECT_THROW((void)run_child(shell("true")), Interrupted) << "nothing is begun after it";
}

void interrupt_twice(const std::filesystem::path& id_file) {
  const InterruptHandler handler;
  ChildProgram program =
      shell("trap '' INT; echo $$ >" + id_file.string() + "; echo ready; exec sleep 1000");
  program.on_line = [&](std::string_view) {
    std::raise(SIGINT);
    std::raise(SIGINT);
  };
  (void)run_child(program);
}

TEST(RunChildDeathTest, ASecondInterruptKillsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::filesystem::path id_file =
      std::filesystem::path(testing::TempDir()) / "child_process_id";
  EXPECT_EXIT(interrupt_twice(id_file), testing::ExitedWithCode(130), "Ctrl-C again");
  pid_t process = 0;
  ASSERT_TRUE(std::ifstream(id_file) >> process);
  while (!is_gone(process)) std::this_thread::yield();
}

}  // namespace
}  // namespace parbench

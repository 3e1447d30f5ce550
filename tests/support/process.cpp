// fork, exec and files that take the output.
#include "tests/support/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/written_reports.h"

namespace parbench::test {
namespace {

void redirect(const std::filesystem::path& file, int descriptor) {
  const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(127);
}

[[noreturn]] void become(const std::vector<std::string>& words, const Surroundings& surroundings,
                         const std::filesystem::path& folder) {
  redirect(folder / "out", STDOUT_FILENO);
  redirect(folder / "err", STDERR_FILENO);
  if (!surroundings.directory.empty() && chdir(surroundings.directory.c_str()) != 0) _exit(127);
  // The child does not inherit this program's selection of tests and path of results.
  for (const char* name :
       {"GTEST_FILTER", "GTEST_OUTPUT", "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"}) {
    unsetenv(name);
  }
  for (const auto& [name, value] : surroundings.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const Surroundings& surroundings)
    : words_(words), directory_(surroundings.directory), pid_(fork()) {
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) become(words, surroundings, folder_.path());
}

Process::~Process() {
  if (running()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void Process::signal(int number) const { kill(pid_, number); }

bool Process::running() {
  if (exit_code_ >= 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == 0) return true;
  note_status(status);
  return false;
}

std::string Process::err() const { return text_of(folder_ / "err"); }

Finished Process::wait() {
  if (exit_code_ < 0) {
    int status = 0;
    waitpid(pid_, &status, 0);
    note_status(status);
  }
  expect_valid_reports(words_, directory_, begin_);
  return {exit_code_, text_of(folder_ / "out"), text_of(folder_ / "err")};
}

void Process::note_status(int status) {
  constexpr int killed = 128;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : killed + WTERMSIG(status);
}

Finished run(const std::vector<std::string>& words, const Surroundings& surroundings) {
  return Process(words, surroundings).wait();
}

}  // namespace parbench::test

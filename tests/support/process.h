// Runs other programs as a user would: their output, their exit codes, signals to them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace parbench::test {

/// A command line, the program first.
using Words = std::vector<std::string>;

struct Finished {
  int exit_code = -1;  // 128 + the signal where one ended it
  std::string out;
  std::string err;
};

struct Surroundings {
  std::filesystem::path directory;  // empty: the test's own
  std::vector<std::pair<std::string, std::string>> environment;
};

/// A program that runs beside the test. Killed when the object goes while it still runs. The
/// reports that it has written are validated once it has ended (written_reports.h).
class Process {
 public:
  /// Throws std::runtime_error when it cannot be started.
  explicit Process(const Words& words, const Surroundings& surroundings = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  [[nodiscard]] bool running();
  [[nodiscard]] std::string err() const;  // so far
  [[nodiscard]] Finished wait();

 private:
  void note_status(int status);

  TemporaryFolder folder_;  // takes the output
  Words words_;
  std::filesystem::path directory_;
  std::filesystem::file_time_type begin_ = std::filesystem::file_time_type::clock::now();
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

[[nodiscard]] Finished run(const Words& words, const Surroundings& surroundings = {});

}  // namespace parbench::test

// Runs other programs as a user would: their output, their exit codes, signals to them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace parbench::testing {

struct Finished {
  int exit_code = -1;  // 128 + the signal where one ended it
  std::string out;
  std::string err;
};

struct Surroundings {
  std::filesystem::path directory;  // empty: the test's own
  std::vector<std::pair<std::string, std::string>> environment;
};

/// A program that runs beside the test. Killed when the object goes while it still runs.
class Process {
 public:
  /// Throws std::runtime_error when it cannot be started.
  explicit Process(const std::vector<std::string>& words, const Surroundings& surroundings = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  [[nodiscard]] bool running();
  [[nodiscard]] std::string err() const;  // so far
  [[nodiscard]] Finished wait();

 private:
  void note_status(int status);

  std::filesystem::path folder_;
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

[[nodiscard]] Finished run(const std::vector<std::string>& words,
                           const Surroundings& surroundings = {});

/// A new empty folder below the system's temporary one, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string text_of(const std::filesystem::path& file);

}  // namespace parbench::testing

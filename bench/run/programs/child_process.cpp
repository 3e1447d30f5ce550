// Implementation with posix_spawn, two pipes and poll.
#include "bench/run/programs/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/execution/clock.h"
#include "bench/execution/interrupt.h"
#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "reports/text/exit_text.h"

namespace parbench {
namespace {

constexpr std::size_t kept_error_bytes = 16'384;
constexpr std::size_t longest_line = 1'000'000;
constexpr std::size_t max_quoted_lines = 12;
constexpr double grace_seconds = 5;

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(fmt::format("{}: {}", what, std::generic_category().message(error)));
}

/// A pipe that other programs do not inherit; reading does not block.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("no pipe can be created", errno);
    ::fcntl(reading(), F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int reading() const { return ends_[0]; }
  [[nodiscard]] int writing() const { return ends_[1]; }
  [[nodiscard]] bool open() const { return ends_[0] >= 0; }
  void close_writing() { ::close(std::exchange(ends_[1], -1)); }

  /// Returns the available output. Closes the pipe at the end of the output.
  [[nodiscard]] std::string take() {
    std::string text;
    std::array<char, 4096> buffer;
    while (open()) {
      const ssize_t count = ::read(reading(), buffer.data(), buffer.size());
      if (count > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0) {
        ::close(std::exchange(ends_[0], -1));
      } else if (errno != EINTR) {
        break;
      }
    }
    return text;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Blocks interrupt signals, so that none arrives between the start of a program and the moment
/// from which they are forwarded.
class InterruptsHeldBack {
 public:
  InterruptsHeldBack() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : InterruptHandler::signals) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &former_);
  }
  ~InterruptsHeldBack() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  InterruptsHeldBack(const InterruptsHeldBack&) = delete;
  InterruptsHeldBack& operator=(const InterruptsHeldBack&) = delete;

  [[nodiscard]] const sigset_t& former() const { return former_; }

 private:
  sigset_t former_ = {};
};

/// Attributes of a new process: streams, process group, and default signal handlers.
class SpawnSettings {
 public:
  SpawnSettings(const Pipe& out, const Pipe& err, const sigset_t& mask) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, out.writing(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, err.writing(), STDERR_FILENO);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  /// Starts the process and returns its id. Throws Error.
  [[nodiscard]] pid_t start(std::vector<std::string> words) const {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t process = -1;
    const int error =
        posix_spawnp(&process, pointers[0], &files_, &attributes_, pointers.data(), environ);
    if (error != 0) fail(fmt::format("{} cannot be started", words.front()), error);
    return process;
  }

 private:
  posix_spawn_file_actions_t files_ = {};
  posix_spawnattr_t attributes_ = {};
};

struct Reaped {
  int exit_code = 0;
  double cpu_seconds = 0;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// A running process with its group, which is killed when the process ends.
class Child {
 public:
  explicit Child(const ChildProgram& program) {
    const InterruptsHeldBack held_back;
    if (InterruptHandler::requested()) throw Interrupted();
    process_ = SpawnSettings(out_, err_, held_back.former()).start(program.words);
    // Becomes readable when the process ends. If not available (Linux before 5.3, no descriptor
    // left), `wait` polls instead.
    end_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
    InterruptHandler::hand_on_to(process_);
    out_.close_writing();
    err_.close_writing();
  }
  ~Child() {
    if (process_ > 0) (void)reap();
    if (end_ >= 0) ::close(end_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const { ::kill(-process_, number); }

  /// Returns whether the process has ended; until `reap` it can still be signalled.
  [[nodiscard]] bool has_ended() const {
    siginfo_t info = {};
    const int result =
        ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == process_ : errno == ECHILD;
  }

  /// Kills the rest of the group. Returns how the process ended; nothing if unknown.
  [[nodiscard]] std::optional<Reaped> reap() {
    signal(SIGKILL);
    int status = 0;
    rusage usage = {};
    pid_t reaped = 0;
    do {
      reaped = ::wait4(process_, &status, 0, &usage);
    } while (reaped < 0 && errno == EINTR);
    InterruptHandler::hand_on_to(0);
    process_ = -1;
    if (reaped < 0) return std::nullopt;
    const int code =
        WIFEXITED(status) ? WEXITSTATUS(status) : report::signal_exit_code + WTERMSIG(status);
    return Reaped{code, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
  }

  /// Waits for output or the end of the process, at most `seconds` or one second.
  void wait(double seconds) const {
    std::vector<pollfd> files;
    for (const Pipe* pipe : {&out_, &err_}) {
      if (pipe->open()) files.push_back({pipe->reading(), POLLIN, 0});
    }
    // The end of the process need not close the pipes, because other processes may hold them open.
    // So its pidfd is polled, too; without any descriptor, `wait` returns after 10 ms.
    const double longest = files.empty() && end_ < 0 ? 0.01 : 1;
    if (end_ >= 0) files.push_back({end_, POLLIN, 0});
    const auto milliseconds = static_cast<int>(1000 * std::clamp(seconds, 0.001, longest));
    ::poll(files.data(), files.size(), milliseconds);
  }

  [[nodiscard]] std::string take_output() { return out_.take(); }
  [[nodiscard]] std::string take_error_output() { return err_.take(); }

 private:
  Pipe out_;
  Pipe err_;
  pid_t process_ = -1;
  int end_ = -1;  // pidfd, or -1
};

class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  void add(std::string_view text) {
    rest_ += text;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      on_line_(std::string_view(rest_).substr(begin, end - begin));
    }
    rest_.erase(0, begin);
    if (rest_.size() > longest_line) finish();
  }
  void finish() {
    if (!rest_.empty()) on_line_(std::exchange(rest_, {}));
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
};

/// Reads the output of a child until it ends.
class Watch {
 public:
  explicit Watch(const ChildProgram& program)
      : program_(program), lines_(program.on_line), child_(program) {}

  ChildEnd operator()() {
    while (!child_.has_ended()) {
      child_.wait(seconds_left());
      take();
      program_.on_wait();
      if (seconds_left() <= 0) next_stage();
    }
    end_.seconds = steady_seconds() - begin_;
    take();
    lines_.finish();
    const std::optional<Reaped> reaped = child_.reap();
    if (!reaped) {
      throw Error(
          fmt::format("{} has ended with an unknown exit code: this process ignores SIGCHLD",
                      program_.words.front()));
    }
    end_.exit_code = reaped->exit_code;
    end_.cpu_seconds = reaped->cpu_seconds;
    return std::move(end_);
  }

 private:
  void take() {
    const std::string output = child_.take_output();
    std::string& error_output = end_.error_output;
    const std::size_t before = error_output.size();
    error_output += child_.take_error_output();
    if (!output.empty() || error_output.size() > before) latest_ = steady_seconds();
    if (error_output.size() > kept_error_bytes) {
      error_output.erase(0, error_output.size() - kept_error_bytes);
    }
    lines_.add(output);
  }

  [[nodiscard]] double seconds_left() const {
    const double now = steady_seconds();
    if (stopped_at_) return *stopped_at_ + grace_seconds - now;
    return std::min(begin_ + program_.max_seconds, latest_ + program_.max_silent_seconds) - now;
  }

  /// Sends SIGTERM, at the second call SIGKILL.
  void next_stage() {
    child_.signal(stopped_at_ ? SIGKILL : SIGTERM);
    if (stopped_at_) return;
    stopped_at_ = steady_seconds();
    const bool total = *stopped_at_ - begin_ >= program_.max_seconds;
    end_.passed_limit =
        total
            ? fmt::format("did not end within {}", format_wait(program_.max_seconds))
            : fmt::format("reported no progress for {}", format_wait(program_.max_silent_seconds));
  }

  const ChildProgram& program_;
  ChildEnd end_;
  Lines lines_;
  double begin_ = steady_seconds();
  double latest_ = begin_;
  std::optional<double> stopped_at_;
  Child child_;
};

/// Returns the last lines of the text, without line breaks at either end.
std::string last_lines(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::size_t begin = text.size();
  for (std::size_t lines = 0; begin > 0 && lines < max_quoted_lines; ++lines) {
    begin = text.rfind('\n', begin - 1);
    if (begin == std::string_view::npos) begin = 0;
  }
  text.remove_prefix(begin);
  while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  return std::string(text);
}

}  // namespace

std::string ChildEnd::text() const {
  const std::string text = passed_limit.empty() ? report::exit_text(exit_code) : passed_limit;
  const std::string words = last_lines(error_output);
  return words.empty() ? text : fmt::format("{}\n{}", text, words);
}

ChildEnd run_child(const ChildProgram& program) { return Watch(program)(); }

void await_children() { std::signal(SIGCHLD, SIG_DFL); }

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  pollfd output{STDOUT_FILENO, 0, 0};
  const bool too_late = ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
  if (too_late) _exit(interrupted_exit_code);
}

}  // namespace parbench

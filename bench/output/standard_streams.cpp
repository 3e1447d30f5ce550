// Implementation with stdio on descriptors 0 to 2.
#include "bench/output/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <ranges>
#include <system_error>
#include <utility>

#include "kernels/base/number.h"
#include "reports/text/paragraph.h"
#include "reports/text/text.h"

namespace parbench {
namespace {

/// Returns an environment variable; empty if not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): set by no thread
  return value == nullptr ? "" : value;
}

constexpr const char* error_lead = "parbench: error: ";

std::string& process_name() {
  static std::string name;
  return name;
}

/// Returns the indented lines of an error. They are wrapped if standard error is a terminal or
/// COLUMNS is set, otherwise whole, so that programs can search files and pipes for them.
std::string error_text(std::string_view message) {
  const std::string text = process_name() + error_lead + report::printable(message, true);
  const bool is_wrapped = isatty(STDERR_FILENO) == 1 || !variable("COLUMNS").empty();
  const auto width = static_cast<std::size_t>(terminal_columns(STDERR_FILENO));
  constexpr std::string_view indent = "  ";
  std::string lines;
  for (const auto part : std::views::split(std::string_view(text), '\n')) {
    const std::string line(part.begin(), part.end());
    lines += is_wrapped ? report::hanging(indent, line, {.width = width})
                        : std::string(indent) + line + '\n';
  }
  return lines.substr(indent.size());
}

}  // namespace

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // `open` returns the lowest free number, which is this one. The wrong mode makes every use
    // fail, as it would on the closed descriptor.
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int opened = ::open("/dev/null", mode);
  }
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

namespace {

/// Returns whether standard output is a pipe or socket without a reader.
bool is_reader_gone() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void require_printed() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (flushed && std::ferror(stdout) == 0) return;
  std::clearerr(stdout);
  const std::string why = error == 0 ? "" : ": " + std::generic_category().message(error);
  const std::string message =
      "standard output could not be written" + why +
      "\nnot everything was printed; send it to a terminal, a file or a pipe with a reader";
  if (is_reader_gone()) throw ReaderGone(message);
  throw Error(message);
}

int terminal_columns(int descriptor) {
  const auto columns = number_in<int>(variable("COLUMNS"));
  if (columns && *columns > 0) return *columns;
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool is_full_terminal(int descriptor) {
  const std::string_view kind = variable("TERM");
  return isatty(descriptor) == 1 && !kind.empty() && kind != "dumb";
}

bool takes_color(int descriptor) {
  return is_full_terminal(descriptor) && variable("NO_COLOR").empty();
}

void name_errors(std::string name) { process_name() = std::move(name); }

void print_error(std::string_view message) noexcept {
  try {
    std::fputs(error_text(message).c_str(), stderr);
  } catch (const std::bad_alloc&) {
    std::fputs(error_lead, stderr);  // allocates nothing: the message is lost
    std::fputc('\n', stderr);
  }
}

}  // namespace parbench

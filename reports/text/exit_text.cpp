// Describes exit codes and signals.
#include "reports/text/exit_text.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

namespace parbench::report {

std::string exit_text(int exit_code) {
  // Programs may use exit codes above those of signals, for example 255 by ssh.
  if (exit_code <= signal_exit_code || exit_code > signal_exit_code + SIGRTMAX) {
    return fmt::format("ended with exit code {}", exit_code);
  }
  const int signal = exit_code - signal_exit_code;
  return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
}

}  // namespace parbench::report

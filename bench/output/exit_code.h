// Exit codes of the program.
#pragma once

namespace parbench {

/// Exit codes. `measured` also means that a command such as `show` succeeded, whatever a report
/// says about its cases. `case_failed` also means that output was lost while it was written;
/// `bad_usage` also means that a check before any work found that the output cannot be written.
/// `compare` ends with `measured` if nothing regressed, otherwise with the first that applies of
/// `case_failed` (in the newer report, or its run ended early), `regressed` and `nothing_compared`.
/// A run that SIGTERM stopped ends with `terminated`, after any other signal with `interrupted`.
enum class ExitCode {
  measured = 0,
  case_failed = 1,
  bad_usage = 2,
  regressed = 3,
  nothing_compared = 4,
  interrupted = 130,
  terminated = 143
};

}  // namespace parbench

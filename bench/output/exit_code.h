// What the program ends with.
#pragma once

namespace parbench {

/// `measured` is also that of commands that did what they were asked, such as `show`: they say
/// nothing about the cases of a report. Output that is lost on its way is `case_failed`; a place
/// that cannot be written, which is known before any work, is `bad_usage`. Comparisons (`compare`)
/// end with `measured` when nothing regressed, and otherwise with the first of `case_failed` (in
/// the newer report, also where its run ended before its time), `regressed` and `nothing_compared`
/// that applies. A run that was asked to end by SIGTERM ends with `terminated`, after any other
/// signal with `interrupted`. None is ever a count.
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

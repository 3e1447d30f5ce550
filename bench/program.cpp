// Parses the command line, runs the command, turns exceptions into exit codes.
#include "bench/program.h"

#include <exception>

#include "bench/cli/parser.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"
#include "bench/run/child_process.h"
#include "kernels/base/error.h"

namespace parbench {

int run_program(const std::vector<std::string>& arguments, const ScenarioList& scenarios) {
  prepare_standard_streams();
  await_children();
  ExitCode code = ExitCode::case_failed;
  try {
    const Program program{scenarios, arguments};
    code = parse_command_line(program, all_commands(program))->run();
    require_printed();
  } catch (const ReaderGone&) {
    // The reader, such as `head`, has taken what it needs. A run that was measured has reported the
    // loss.
  } catch (const UsageError& error) {
    print_error(error.what());
    code = ExitCode::bad_usage;
  } catch (const std::exception& error) {
    print_error(error.what());
    code = ExitCode::case_failed;
  }
  return static_cast<int>(code);
}

}  // namespace parbench

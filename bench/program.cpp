// Parses the command line, runs the command, and maps exceptions to exit codes.
#include "bench/program.h"

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>

#include "bench/cli/parser.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"
#include "bench/ranks/rank_session.h"
#include "bench/run/programs/child_process.h"
#include "kernels/base/error.h"

namespace parbench {

int run_program(const std::vector<std::string>& arguments, const ScenarioList& scenarios) {
  prepare_standard_streams();
  await_children();
  ExitCode code = ExitCode::case_failed;
  const std::optional<Launched> launched = launched_ranks();
  const bool follows = launched && launched->rank > 0;
  // mpirun gives each rank a terminal, even if the output goes to a file.
  if (launched) setenv("NO_COLOR", "1", 0);  // NOLINT(concurrency-mt-unsafe): no other thread yet
  try {
    const Program program{scenarios, arguments};
    const std::unique_ptr<Command> command = parse_command_line(program, all_commands(program));
    // Commands other than a run are executed by rank 0 only.
    if (follows && command->text().name != default_command) return 0;
    code = command->run();
    require_printed();
  } catch (const RunEnded&) {
    code = ExitCode::measured;
  } catch (const RankSetupError& error) {
    print_error(error.what());
    return static_cast<int>(ExitCode::bad_usage);
  } catch (const ReaderGone&) {
    // The reader, such as `head`, has what it needs. Runs have already reported the loss.
  } catch (const UsageError& error) {
    if (!follows) print_error(error.what());
    code = ExitCode::bad_usage;
  } catch (const std::exception& error) {
    if (!follows) print_error(error.what());
    code = ExitCode::case_failed;
  }
  // Errors that end all ranks are reported by rank 0 only.
  return follows && code != ExitCode::measured ? 0 : static_cast<int>(code);
}

}  // namespace parbench

// The table of commands. To add a command, add a file that defines make_<name>, and a line here.
#include "bench/commands/commands.h"

#define PARBENCH_COMMANDS(COMMAND) \
  COMMAND(run)                     \
  COMMAND(list)                    \
  COMMAND(devices)                 \
  COMMAND(inspect)                 \
  COMMAND(peaks)                   \
  COMMAND(show)                    \
  COMMAND(export)                  \
  COMMAND(html)                    \
  COMMAND(dashboard)               \
  COMMAND(compare)                 \
  COMMAND(ab)                      \
  COMMAND(help)                    \
  COMMAND(version)

namespace parbench {

#define PARBENCH_DECLARE(name) std::unique_ptr<Command> make_##name(const Program& program);
PARBENCH_COMMANDS(PARBENCH_DECLARE)

CommandList all_commands(const Program& program) {
  CommandList commands;
#define PARBENCH_ADD(name) commands.push_back(make_##name(program));
  PARBENCH_COMMANDS(PARBENCH_ADD)
  return commands;
}

}  // namespace parbench

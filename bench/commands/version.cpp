// `version` and --version.
#include "bench/output/version.h"

#include <fmt/format.h>

#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"

namespace parbench {
namespace {

constexpr CommandText version_help{.name = "version",
                                   .summary = "The version of the program",
                                   .examples = {},
                                   .exit_codes = listing_exit_codes};

class Version final : public Command {
 public:
  Version() : Command(version_help) {}
  ExitCode run() override {
    print(fmt::format("parbench {}\n", version));
    return ExitCode::measured;
  }
};

}  // namespace

std::unique_ptr<Command> make_version(const Program&) { return std::make_unique<Version>(); }

}  // namespace parbench

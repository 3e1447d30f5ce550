// The default command: runs the cases of scenarios.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/command.h"
#include "bench/cli/run_options.h"

namespace parbench {

class RunCommand final : public Command {
 public:
  explicit RunCommand(const Program& program);

  [[nodiscard]] std::vector<FlagRow> flags() override;
  void read(const FlagTexts& texts, const std::vector<std::string>& benchmark_flags) override;
  [[nodiscard]] ExitCode run() override;

  [[nodiscard]] const RunOptions& options() const { return options_; }

 private:
  const Program& program_;
  RunOptions options_;
};

}  // namespace parbench

// Parsing command lines in tests, with scenarios that are only described.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cli/help.h"
#include "bench/cli/parser.h"
#include "bench/commands/commands.h"
#include "bench/commands/run.h"
#include "kernels/base/error.h"
#include "tests/bench/cli/described_scenarios.h"

namespace parbench::test {

inline const ScenarioList& fakes() {
  static const ScenarioList list = described_scenarios();
  return list;
}

inline const Program& program_of(std::vector<std::string> words) {
  static std::vector<std::unique_ptr<Program>> programs;  // commands refer to them
  words.insert(words.begin(), "parbench");
  return *programs.emplace_back(new Program{fakes(), std::move(words)});
}

inline std::unique_ptr<Command> command_of(const std::vector<std::string>& words) {
  const Program& program = program_of(words);
  return parse_command_line(program, all_commands(program));
}

inline RunOptions parse(const std::vector<std::string>& words) {
  return dynamic_cast<RunCommand&>(*command_of(words)).options();
}

inline std::string help_of(std::string_view command) {
  return help_page(all_commands(program_of({})), command);
}

/// The message of the error that the words cause.
inline std::string error_of(const std::vector<std::string>& words) {
  try {
    (void)command_of(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string file_with(const std::string& text) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string path = ::testing::TempDir() + "cli_" + info->name() + ".json";
  std::ofstream(path) << text;
  return path;
}

}  // namespace parbench::test

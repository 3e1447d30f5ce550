// Validates what programs write in tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace parbench::test {

/// Fails the test for each of these reports that does not pass the JSON Schema, by an independent
/// validator, which is started once.
void expect_valid(const std::vector<std::filesystem::path>& reports);

/// Fails the test for each report that a command line with those words has written since `begin`
/// and that does not pass the JSON Schema, by an independent validator: what --report names, and
/// what lies in reports/runs of the directory. An empty directory is the test's own.
void expect_valid_reports(const std::vector<std::string>& words,
                          const std::filesystem::path& directory,
                          std::filesystem::file_time_type begin);

}  // namespace parbench::test

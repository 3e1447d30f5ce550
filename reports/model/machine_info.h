// What the report says about the machine and the build.
#pragma once

#include <filesystem>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns facts of the machine this process runs on. What cannot be found is left empty.
/// `libraries` are the versions of what was linked.
///
/// The commit is that of the sources the binary was built from, known at build time only:
/// the launcher sets PARBENCH_COMMIT, PARBENCH_DIRTY to 1 or 0, PARBENCH_COMMIT_SUBJECT and
/// PARBENCH_COMMIT_AUTHOR. Without them it is unknown.
///
/// Files of the system are read below `root`.
[[nodiscard]] Machine machine_info(NamedTexts libraries, const std::filesystem::path& root = "/");

/// The cores that this process may run on; empty where the system does not report them.
[[nodiscard]] std::vector<int> cores_allowed();

}  // namespace parbench::report

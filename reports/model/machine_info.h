// Facts about the machine and the build.
#pragma once

#include <filesystem>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns facts about the machine of this process; facts that cannot be found are left empty.
/// `libraries`: the versions of the linked libraries.
///
/// The commit of the binary's sources comes from the environment variables PARBENCH_COMMIT,
/// PARBENCH_DIRTY (1 or 0), PARBENCH_COMMIT_SUBJECT and PARBENCH_COMMIT_AUTHOR, which the launcher
/// sets (scripts/lib.sh).
///
/// System files are read below `root`.
[[nodiscard]] Machine machine_info(NamedTexts libraries, const std::filesystem::path& root = "/");

/// Returns the cores that this process may use; empty if the system does not report them.
[[nodiscard]] std::vector<int> cores_allowed();

}  // namespace parbench::report

// What a run keeps of the project that it is part of: labels and a commit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/cli/flag.h"

namespace parbench {

struct ProjectOptions {
  std::vector<std::string> labels;  // "KEY=VALUE"
  std::string commit;               // empty: that of parbench's own sources, if it is known
  std::string commit_subject;
  std::string commit_author;
};

/// Returns the flags of these options.
[[nodiscard]] std::vector<FlagRow> project_flags(ProjectOptions& options);

/// Throws UsageError for a label of another form, a key that is given twice, a commit that is none,
/// and a subject or an author without a commit.
void check_project(const ProjectOptions& options);

/// Returns the labels by key, in the order in which they were given; they have been checked.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> labels_of(
    const ProjectOptions& options);

}  // namespace parbench

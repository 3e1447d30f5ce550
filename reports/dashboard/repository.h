// Where the commits of a dashboard can be read.
#pragma once

#include <string>

namespace parbench::report {

/// The web address of a repository; an empty one links nothing.
class Repository {
 public:
  Repository() = default;
  /// "https://github.com/owner/name", also with "/" or ".git" behind it. Throws UsageError for
  /// what is no address of http or https.
  explicit Repository(const std::string& url);

  /// The page of a commit, as GitHub, GitLab, Gitea and SourceHut have it: below /commit/. Empty
  /// without an address or a commit.
  [[nodiscard]] std::string commit_link(const std::string& commit) const;

 private:
  std::string url_;
};

}  // namespace parbench::report

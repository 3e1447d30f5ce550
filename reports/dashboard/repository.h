// Links from the commits of a dashboard to a repository's website.
#pragma once

#include <string>

namespace parbench::report {

/// The web address of a repository. With an empty address there are no links.
class Repository {
 public:
  Repository() = default;
  /// Takes "https://github.com/owner/name", optionally followed by "/" or ".git". Throws UsageError
  /// unless it is an http or https address.
  explicit Repository(const std::string& url);

  /// Returns the address of a commit's page, below /commit/ as in GitHub, GitLab, Gitea and
  /// SourceHut. Empty without an address or a commit.
  [[nodiscard]] std::string commit_link(const std::string& commit) const;

 private:
  std::string url_;
};

}  // namespace parbench::report

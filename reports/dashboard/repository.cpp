// Checks addresses of repositories and builds links.
#include "reports/dashboard/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/base/error.h"
#include "reports/text/text.h"

namespace parbench::report {
namespace {

bool is_one_of(char letter, std::string_view letters) {
  return letters.find(letter) != std::string_view::npos;
}

/// Returns whether the URL begins with http:// or https://, and has a host and only characters that
/// are valid in URLs.
bool is_web_address(std::string_view url) {
  constexpr std::array<std::string_view, 2> schemes{"https://", "http://"};
  const auto* const scheme =
      std::ranges::find_if(schemes, [&](std::string_view known) { return url.starts_with(known); });
  if (scheme == schemes.end()) return false;
  url.remove_prefix(scheme->size());
  return !url.empty() && is_alphanumeric(url.front()) && std::ranges::all_of(url, [](char letter) {
    return is_alphanumeric(letter) || is_one_of(letter, "-._~:/@%+");
  });
}

/// Percent-encodes all bytes of a path component except letters, digits and a few signs.
std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    if (is_alphanumeric(letter) || is_one_of(letter, "-._~")) {
      encoded += letter;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return encoded;
}

}  // namespace

Repository::Repository(const std::string& url) : url_(url) {
  if (!is_web_address(url)) {
    throw UsageError(
        fmt::format("--repository-url '{}' is not an address such as https://github.com/owner/name",
                    printable(shortened(url, 100))));
  }
  while (url_.ends_with('/')) url_.pop_back();
  if (url_.ends_with(".git")) url_.resize(url_.size() - std::string_view(".git").size());
}

std::string Repository::commit_link(const std::string& commit) const {
  if (url_.empty() || commit.empty()) return {};
  return fmt::format("{}/commit/{}", url_, percent_encoded(commit));
}

}  // namespace parbench::report
